"""Records stay in an engine; it answers a few questions about them."""

from diskret.engines.key_counts import KeyCounts, KeyQuestion
from diskret.engines.questions import LeafQuestion, Leaves, Listed, Mark, Straddlers

__all__ = [
    "KeyCounts",
    "KeyQuestion",
    "LeafQuestion",
    "Leaves",
    "Listed",
    "Mark",
    "Straddlers",
]
