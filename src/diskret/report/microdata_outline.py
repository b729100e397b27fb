"""What the reports on released microdata show: values that the workflow fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from diskret.risk.summary import Combination, RiskSummary
from diskret.utility.table_deviations import TableDeviations

#: What methods do to values, in general words.
Family = Literal[
    "recoded",
    "suppressed",
    "randomised",
    "exchanged",
    "aggregated",
    "noisy",
    "cut",
    "replaced",
    "changed",
]
Kind = Literal["text", "whole", "decimal", "date", "logical"]


@dataclass(frozen=True)
class Variable:
    """A released column, as anyone can see it.

    Parameters
    ----------
    name
        Its name.
    kind
        Of its values.
    distinct, missing
        Number of distinct values, and of missing ones.
    listed
        The values, ascending, if they are few.
    ends
        Smallest and largest value, if it has an order and many values.
    """

    name: str
    kind: Kind
    distinct: int
    missing: int
    listed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outline:
    """What any reader may know of released microdata.

    Parameters
    ----------
    name
        Of the file.
    records
        Their number.
    variables
        The columns, in the order of the file.
    families
        What was done → the variables it was done to; never how.
    weight
        Whether weights are among the columns.
    shuffled
        Whether the order of the records says nothing.
    """

    name: str
    records: int
    variables: tuple[Variable, ...]
    families: Mapping[Family, tuple[str, ...]]
    weight: bool
    shuffled: bool


@dataclass(frozen=True)
class StepNote:
    """One step of protection: the method, its arguments, what it reported."""

    verb: str
    arguments: Mapping[str, Any]
    found: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class InsideOutline:
    """What only the office may know. Confidential.

    Parameters
    ----------
    keys
        The released key variables.
    weighted
        Whether risks take sampling weights into account.
    before, after
        The risk; None where it could not be computed.
    steps
        What was done, in order.
    changes
        Changed variable → distinct values and missing values, before and after.
    riskiest
        The combinations of keys with the largest risks that remain.
    roles, release
        What each column is for, and how the file was released.
    deviations
        How far the controlled tables of a safe file deviate; None: it is none.
    """

    keys: tuple[str, ...]
    weighted: bool
    before: RiskSummary | None
    after: RiskSummary | None
    steps: tuple[StepNote, ...]
    changes: Mapping[str, tuple[tuple[int, int], tuple[int, int]]]
    riskiest: tuple[Combination, ...]
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    release: Mapping[str, Any] = field(default_factory=dict[str, Any])
    deviations: TableDeviations | None = None
