"""Records stay in an engine; it answers a few questions about them."""

from diskret.engines.keys import KeyCounts, KeyQuestion
from diskret.engines.marks import Mark
from diskret.engines.protocol import Engine, LeafQuestion, Leaves, Listed, Straddlers

__all__ = [
    "Engine",
    "KeyCounts",
    "KeyQuestion",
    "LeafQuestion",
    "Leaves",
    "Listed",
    "Mark",
    "Straddlers",
]
