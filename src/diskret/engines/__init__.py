"""Records stay in an engine; it answers a few questions about them."""

from diskret.engines.contract import LeafQuestion, Leaves, Listed, Mark, Straddlers
from diskret.engines.key_counts import KeyCounts, KeyQuestion

__all__ = [
    "KeyCounts",
    "KeyQuestion",
    "LeafQuestion",
    "Leaves",
    "Listed",
    "Mark",
    "Straddlers",
]
