"""What is sensitive: rules are callables that take a table and give its `Sensitivity`.

Rules are joined with ``|``: a cell is unsafe if any of them says so, and the largest
protection level of each kind counts.
"""

from collections.abc import Mapping
from typing import Any

from diskret.rules.apriori import Apriori
from diskret.rules.dominance import Dominance
from diskret.rules.group_disclosure import GroupDisclosure
from diskret.rules.marginal_value import MarginalValue
from diskret.rules.minimum_frequency import MinimumFrequency
from diskret.rules.missing_safe import MissingSafe
from diskret.rules.p_percent import PQ, PPercent
from diskret.rules.request import Request
from diskret.rules.sensitivity import NoRule, Rule, Sensitivity
from diskret.rules.shadow import Shadow
from diskret.rules.varying import Varying
from diskret.rules.zero_cells import ZeroCells

#: How job files call the rules.
BY_NAME: Mapping[str, type[Any]] = {
    "p_percent": PPercent,
    "pq": PQ,
    "minimum_frequency": MinimumFrequency,
    "dominance": Dominance,
    "request": Request,
    "marginal_value": MarginalValue,
    "group_disclosure": GroupDisclosure,
    "zero_cells": ZeroCells,
    "missing_safe": MissingSafe,
    "apriori": Apriori,
    "varying": Varying,
}

__all__ = [
    "Apriori",
    "BY_NAME",
    "Dominance",
    "GroupDisclosure",
    "MarginalValue",
    "MinimumFrequency",
    "MissingSafe",
    "NoRule",
    "PPercent",
    "PQ",
    "Request",
    "Rule",
    "Sensitivity",
    "Shadow",
    "Varying",
    "ZeroCells",
]
