"""Values that are moved, least and additively: to protect them, or to make noise add up."""

from diskret.adjustment.additive import AdditiveFit, make_additive
from diskret.adjustment.adjust import adjusted
from diskret.adjustment.problem import Adjusted, Adjustment

__all__ = ["AdditiveFit", "Adjusted", "Adjustment", "adjusted", "make_additive"]
