"""What the reports on released microdata show: values that the verbs fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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
    "sampled",
    "changed",
]
Kind = Literal["text", "whole", "decimal", "date", "logical"]


@dataclass(frozen=True)
class Variable:
    """A released column, as anyone can see it.

    `listed` are its values, ascending, if they are few; `ends` the smallest and the largest, if it
    has an order and many values.
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

    `families`: what was done → the variables it was done to, never how. `weight`: whether weights
    are among the columns. `shuffled`: whether the order of the records says nothing.
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

    `keys` are the released ones; `weighted`: risks take sampling weights into account; `before` and
    `after` are None where the risk could not be computed. `changes`: changed variable → distinct
    values and missing values, before and after. `riskiest`: combinations with the largest risks
    that remain. `roles`, `release`: what each column is for, and how the file was released.
    `deviations`: of the controlled tables of a safe file.
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


#: Up to so many categories are listed.
LISTED = 12


def variable(
    name: str, values: pa.ChunkedArray, codes: NDArray[np.bool_] | None = None
) -> Variable:
    """What any reader can see of a released column; `codes`: distinct values that mean missing."""
    there = pc.unique(values).drop_null()
    kind = _kind(values.type)
    if kind in ("whole", "decimal", "date") and len(there) > LISTED:
        ends = pc.min_max(there if codes is None else there.filter(pa.array(~codes)))
        shown = tuple(str(ends[end].cast(pa.string())) for end in ("min", "max"))
        return Variable(name, kind, len(there), values.null_count, ends=shown)
    listed: tuple[str, ...] = ()
    if len(there) <= LISTED:
        order = pc.sort_indices(there)
        listed = tuple(there.take(order).cast(pa.string()).to_pylist())
    return Variable(name, kind, len(there), values.null_count, listed=listed)


def _kind(type_: pa.DataType) -> Kind:
    types = pa.types
    if types.is_boolean(type_):
        return "logical"
    if types.is_integer(type_):
        return "whole"
    if types.is_floating(type_) or types.is_decimal(type_):
        return "decimal"
    return "date" if types.is_temporal(type_) else "text"
