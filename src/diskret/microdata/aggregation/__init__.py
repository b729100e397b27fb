"""Microaggregation: groups of records, and what all of a group show instead of their values."""

from diskret.microdata.aggregation.aggregates import MEASURES, Measure, aggregate, median, mode
from diskret.microdata.aggregation.groups import METHODS, Groups, Method, groups

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
