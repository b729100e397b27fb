"""Microaggregation: groups of records, and what all of a group show instead of their values."""

from diskret.microdata.aggregation.groups import (
    MEASURES,
    METHODS,
    Groups,
    Measure,
    Method,
    aggregate,
    groups,
    median,
    mode,
)

__all__ = [
    "MEASURES",
    "METHODS",
    "Groups",
    "Measure",
    "Method",
    "aggregate",
    "groups",
    "median",
    "mode",
]
