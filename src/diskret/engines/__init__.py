"""Records stay in an engine; it answers a few questions about them."""

from diskret.engines.protocol import Engine, LeafQuestion, Leaves, Straddlers

__all__ = ["Engine", "LeafQuestion", "Leaves", "Straddlers"]
