"""SAFE: a file in which every combination of values occurs not at all or often enough."""

from diskret.safe.problem import ControlTable, SafeFile, SafeProblem, SpecialCell

__all__ = ["ControlTable", "SafeFile", "SafeProblem", "SpecialCell"]
