"""Local suppression: single values of records are hidden so that nobody stands out."""

from diskret.microdata.suppression.problem import Condition, Items, Problem, prices
from diskret.microdata.suppression.suppress import (
    Matches,
    Order,
    fewest_values,
    record_by_record,
    too_rare,
)

__all__ = [
    "Condition",
    "Items",
    "Matches",
    "Order",
    "Problem",
    "fewest_values",
    "prices",
    "record_by_record",
    "too_rare",
]
