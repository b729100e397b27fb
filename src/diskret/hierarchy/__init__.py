"""Code trees: how the categories of a variable add up to its total."""

from diskret.hierarchy.tree import Hierarchy

__all__ = ["Hierarchy"]
