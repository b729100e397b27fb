"""Values that are moved, least and additively, so that sensitive ones are not shown."""

from diskret.adjustment.adjust import adjusted
from diskret.adjustment.problem import Adjusted, Adjustment

__all__ = ["Adjusted", "Adjustment", "adjusted"]
