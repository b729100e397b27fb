"""Local suppression: single values of records are hidden so that nobody stands out."""

from diskret.microdata.suppression.problem import Condition, Items, Problem, prices
from diskret.microdata.suppression.suppress import (
    Matches,
    Order,
    fewest_values,
    hidden_by_record,
    record_by_record,
    too_rare,
    visibly_rare,
)

__all__ = [
    "Condition",
    "Items",
    "Matches",
    "Order",
    "Problem",
    "fewest_values",
    "hidden_by_record",
    "prices",
    "record_by_record",
    "too_rare",
    "visibly_rare",
]
