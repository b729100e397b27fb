"""What a table holds: sums of variables, who contributes what, and how records are asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.arrays import from_lists
from diskret.io.same_records import same_records

if TYPE_CHECKING:
    from diskret.engines import LeafQuestion


@dataclass(frozen=True, eq=False)
class Measure:
    """The sums of one variable in all cells of a table, in units of 10**-decimals.

    name: column name, ``"count"`` for the number of records.
    decimals: decimals of the scaled integers below.
    sum: sum of all contributions, shape of the table, int64.
    magnitude: Σ|contribution|, each contributor counted once a cell: the X of the rules. Equal to
        `sum` where no contribution is negative.
    largest: the largest |contributions|, descending, padded with 0, shape ``(*table.shape, k)``. In
        a weighted table a contribution of weight w counts as w equal ones, the last of them partly:
        the i-th entry is what lies between i − 1 and i on the axis of weights.
    marked: mark → the largest |contribution| of a marked contributor, 0 if there is none, shape of
        the table; for the marks see `Table.marked`.
    source: the column that noise of the cell key method is named after: `name`, or the first by
        name of the columns of the records that are proportional to it; "": `name`.
    """

    name: str
    decimals: int
    sum: NDArray[np.int64]
    magnitude: NDArray[np.int64]
    largest: NDArray[np.int64]
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])
    signed: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        from_lists(self, dict.fromkeys(("sum", "magnitude", "largest"), np.int64))

    @cached_property
    def nonnegative(self) -> bool:
        """Whether no contribution is negative."""
        if self.signed:
            return False
        return self.magnitude is self.sum or np.array_equal(self.magnitude, self.sum)


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions to a table, a row for each contributor and leaf combination. Confidential.

    Leaf combinations are those the records were tabulated by, before any recoding; so a
    combined code, or a part of one, is a set of them. A unit with records in several leaf
    combinations has several rows.

    Parameters
    ----------
    by
        Variable → its leaf codes.
    leaf
        Position of each row's code in `by`, ``(rows, len(by))``, int32.
    unit, holding
        Who it is, ``(rows,)``, uint64: the same number is the same unit (or holding), also in
        other tables; None if the table does not know its units (or holdings).
    records
        Number of records, ``(rows,)``, int64.
    values
        Measure → exact scaled sum, ``(rows,)``, int64.
    marked
        Mark → number of marked records, ``(rows,)``, int64; see `Table.marked`.
    """

    by: Mapping[str, tuple[str, ...]]
    leaf: NDArray[np.int32]
    unit: NDArray[np.uint64] | None
    holding: NDArray[np.uint64] | None
    records: NDArray[np.int64]
    values: Mapping[str, NDArray[np.int64]]
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])

    def check_marked(self, marks: Iterable[str]) -> None:
        """Refuse marks that nobody listed: of single contributors they are not known."""
        unknown = [mark for mark in marks if mark not in self.marked]
        if unknown:
            raise InputError(
                "the contributions of the table do not say who asked for protection or consented "
                f"({', '.join(unknown)}); tabulate the records again with contributions=True"
            )


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked of which records. Confidential.

    A table keeps the frame alive that it was made from; results do not.

    question: what the engine was asked.
    engine: what aggregates, as in [`tabulate`][diskret.tabulate]; None: what suits the records.
    """

    question: LeafQuestion
    engine: Callable[..., Any] | None
    _held: Any

    @classmethod
    def of(cls, records: Any, question: LeafQuestion, engine: Callable[..., Any] | None) -> Asked:
        """Of records as `tabulate` takes them."""
        if isinstance(records, (str, PathLike)):
            return cls(question, engine, (str(records),))
        if isinstance(records, (list, tuple)):
            return cls(question, engine, tuple(map(str, records)))
        return cls(question, engine, records)

    @property
    def records(self) -> Any:
        """The records, or where they are."""
        return list(self._held) if isinstance(self._held, tuple) else self._held

    def same_records(self, other: Asked) -> bool:
        """Whether both tables are of the same records, as far as this can be told."""
        return same_records(self.records, other.records)
