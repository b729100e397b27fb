"""Records in cells: by the categories of some variables, with the totals over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells

_MOST = 1_000_000  # cells


@dataclass(frozen=True, eq=False)
class Axis:
    """One side of a table: the category of each record.

    Parameters
    ----------
    codes
        Shape (records,): the number of the category; -1: it is missing.
    labels
        What each category is called, one text for each variable of the side.
    """

    codes: NDArray[np.int64]
    labels: Sequence[tuple[str, ...]]

    @classmethod
    def joined(cls, axes: Sequence[Axis]) -> Axis:
        """The combinations of categories of some axes that occur, in their order."""
        if len(axes) == 1:
            return axes[0]
        codes, inside = _mixed(axes)
        seen, where = np.unique(codes[inside], return_inverse=True)
        dense = np.full(len(codes), -1, np.int64)
        dense[inside] = where
        at = np.unravel_index(seen, [max(len(one.labels), 1) for one in axes])
        labels = [
            tuple(
                text for one, own in zip(axes, place, strict=True) for text in one.labels[int(own)]
            )
            for place in zip(*at, strict=True)
        ]
        return cls(dense, labels)


@dataclass(frozen=True, eq=False)
class Groups:
    """The cells that all combinations of some axes make; no axis: one cell of all records.

    Parameters
    ----------
    axes
        The sides of the table.
    records
        How many records there are.
    all_name
        What totals are called.
    """

    axes: tuple[Axis, ...]
    records: int
    all_name: str = "All"

    def __post_init__(self) -> None:
        if prod(self.shape) > _MOST:
            raise InputError(
                f"the table has {prod(self.shape):,} cells, and {_MOST:,} can be checked: take "
                "fewer or coarser variables"
            )

    def check_totals(self) -> None:
        """No category may be called as the totals are."""
        names = {text for axis in self.axes for label in axis.labels for text in label}
        if self.all_name in names:
            raise InputError(
                f"a category is called {self.all_name!r}, as the totals are: rename it, or use "
                "pivot_table with another margins_name="
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each axis has."""
        return tuple(len(one.labels) for one in self.axes)

    @cached_property
    def at(self) -> NDArray[np.int32]:
        """Shape (records,): the cell of each record, in the order of the axes; -1: in none."""
        if not self.axes:
            return np.zeros(self.records, np.int32)
        codes, inside = _mixed(self.axes)
        return (codes if inside.all() else np.where(inside, codes, -1)).astype(np.int32)

    @cached_property
    def names(self) -> list[tuple[str, ...]]:
        """Labels of each cell."""
        if not self.axes:
            return [(self.all_name,)]
        return _names([one.labels for one in self.axes])

    def cells(
        self,
        values: NDArray[np.float64] | None,
        unit: NDArray[np.int32] | None,
        counted: NDArray[np.bool_] | None = None,
    ) -> Cells:
        """The cells with their values.

        `counted`: which records count at all; None: all.
        """
        at = self.at if counted is None else np.where(counted, self.at, np.int32(-1))
        return Cells(self.names, at, values, unit)

    @property
    def totals(self) -> Iterator[Total]:
        """The totals over every combination of axes."""
        for kept in list(product([True, False], repeat=len(self.axes)))[1:]:
            labels = [
                one.labels if stays else [(self.all_name,)]
                for one, stays in zip(self.axes, kept, strict=True)
            ]
            shape = [len(one) for one in labels]
            strides = np.cumprod([1, *shape[:0:-1]])[::-1]
            into = np.zeros(self.shape, np.int64)
            for axis, stays in enumerate(kept):
                if stays:
                    own = np.arange(shape[axis]) * strides[axis]
                    into += own.reshape([-1 if one == axis else 1 for one in range(len(kept))])
            yield Total(kept, _names(labels), into.reshape(-1))


@dataclass(frozen=True, eq=False)
class Total:
    """Totals over some axes: which axes stay, what each is called, which total a cell is in."""

    kept: tuple[bool, ...]
    names: list[tuple[str, ...]]
    into: NDArray[np.int64]


def _names(sides: Sequence[Sequence[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    return [tuple(text for one in place for text in one) for place in product(*sides)]


def _mixed(axes: Sequence[Axis]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One number for each combination of categories, and where none of them is missing."""
    codes = axes[0].codes
    inside = codes >= 0
    for one in axes[1:]:
        codes = codes * len(one.labels) + one.codes
        inside &= one.codes >= 0
    return codes, inside
