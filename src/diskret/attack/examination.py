"""What an attack found out about the suppressed cells, and what it was to show; its intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.exact import LIMIT, Point
from diskret.attack.solver import doubt
from diskret.attack.witnesses import Witnesses
from diskret.tables import Publication, Published


@dataclass(frozen=True, eq=False)
class Targets:
    """How far a claim needs each suppressed cell to be able to move. All in scaled units.

    low, high: some consistent table must reach a value ≤ low, some a value ≥ high, ``(k,)``, int64,
        one for each suppressed cell in the order of `Examination.cell`.
    width: two consistent tables must differ by at least this much, ``(k,)``, int64.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    width: NDArray[np.int64]

    def at(self, cells: NDArray[np.int64]) -> Targets:
        """The same for some of the cells."""
        return Targets(self.low[cells], self.high[cells], self.width[cells])

    def reached(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which cells move far enough from a lowest to a highest value, ``(k,)`` float64 each.

        Compared exactly: whole numbers beyond 2**53 would be rounded to float64. Ends that are no
        numbers below `LIMIT` reach nothing.

        >>> targets = Targets(*(np.array([end]) for end in (2**53 + 3, 0, 0)))
        >>> targets.reached(np.array([2.0**53 + 4]), np.array([2.0**54]))
        array([False])
        """
        numbers = (np.abs(low) < LIMIT) & (np.abs(high) < LIMIT)
        low, high = np.where(numbers, low, 0), np.where(numbers, high, 0)
        from_, to = (np.floor(end).astype(np.int64) for end in (low, high))
        below, above = low - from_, high - to
        far = (from_ + (below > 0) <= self.low) & (to >= self.high)
        wide = (to - from_ > self.width) | ((to - from_ == self.width) & (above >= below))
        return numbers & far & wide


@dataclass(frozen=True, eq=False)
class Examination:
    """The result of an attack on all ``k`` suppressed cells. In scaled units.

    cell: positions of the suppressed cells, ascending, ``(k,)``, int64: flat (C order) in the
        table, or in all tables one after the other.
    lower, upper: the attacker's interval, ``(k,)``, float64; ``inf`` where nothing bounds it. For
        frequency tables rounded inwards to whole numbers.
    witness_lower, witness_upper: the smallest and largest value that an exactly checked witness
        shows, ``(k,)``, float64 (whole numbers for frequency tables); inf and −inf if there is no
        witness. Where `upper` is inf, a witness shows a value far beyond all published ones.
    witnesses: alternative tables of all that is unknown; each satisfies every equation and bound
        exactly. Of frequency tables all denominators are 1.
    exact: whether the interval is all that equations and bounds say of a cell, ``(k,)``, bool.
        Where it is false, equations connect so many cells that only those near each cell were used:
        the true interval lies within the stated one. None: everywhere.
    quick: whether only what single equations say was used for such intervals, as time was limited.
    """

    cell: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    witness_lower: NDArray[np.float64]
    witness_upper: NDArray[np.float64]
    witnesses: Witnesses
    exact: NDArray[np.bool_] | None = None
    quick: bool = False

    @property
    def outer(self) -> int:
        """Number of cells whose interval may be narrower than stated."""
        return 0 if self.exact is None else int((~self.exact).sum())

    @classmethod
    def of_witnesses(cls, cell: NDArray[np.int64], witnesses: Witnesses) -> Examination:
        """What witnesses alone show; the intervals are no wider than that."""
        low, high = witnesses.extremes()
        return cls(cell, low, high, low, high, witnesses)

    def with_tables(self, tables: Iterable[Point], start: Point | None = None) -> Examination:
        """The same with more witnesses, each told for all that is unknown.

        start: see `Witnesses.with_points`.
        """
        witnesses = self.witnesses.with_points(tables, start)
        low, high = witnesses.extremes(len(self.witnesses))
        return replace(
            self,
            lower=np.minimum(self.lower, low),
            upper=np.maximum(self.upper, high),
            witness_lower=np.minimum(self.witness_lower, low),
            witness_upper=np.maximum(self.witness_upper, high),
            witnesses=witnesses,
        )

    def narrowed(self, other: Examination) -> Examination:
        """The same with the intervals of another attack on the same cells."""
        return replace(
            self,
            lower=np.minimum(other.lower, self.witness_lower),
            upper=np.maximum(other.upper, self.witness_upper),
            exact=other.exact,
            quick=other.quick,
        )

    def of_tables(self, publication: Publication) -> list[Examination]:
        """What was found about each table alone, at the flat positions of its cells."""
        if len(publication.tables) == 1:
            return [self]
        return [
            self._only((self.cell >= start) & (self.cell < stop), start)
            for start, stop in pairwise(publication.starts.tolist())
        ]

    def _only(self, which: NDArray[np.bool_], shift: int) -> Examination:
        return Examination(
            self.cell[which] - shift,
            self.lower[which],
            self.upper[which],
            self.witness_lower[which],
            self.witness_upper[which],
            self.witnesses.among(
                np.flatnonzero(self.witnesses.hidden)[which], np.ones(int(which.sum()), dtype=bool)
            ),
            exact=None if self.exact is None else self.exact[which],
            quick=self.quick,
        )


# ── in published units ──────────────────────────────────────────────────────────────


def interval_frame(published: Published, examination: Examination) -> pa.Table:
    """The intervals of an examination as `intervals` returns them."""
    at = np.unravel_index(examination.cell, published.shape)
    columns = {
        dimension.name: pa.array(np.array(dimension.hierarchy.codes, dtype=object)[i], pa.string())
        for dimension, i in zip(published.dimensions, at, strict=True)
    }
    lower, upper = ends_in_units(examination.lower, examination.upper, published.decimals)
    return pa.table({**columns, "lower": lower, "upper": upper})


def ends_in_units(
    lower: NDArray[np.float64], upper: NDArray[np.float64], decimals: int
) -> tuple[pa.Array, pa.Array]:
    """Ends of intervals in scaled units as published ones, null where they are infinite.

    >>> lower, upper = ends_in_units(np.array([1.5, -np.inf]), np.array([7.0, np.inf]), 0)
    >>> lower.to_pylist(), upper.to_pylist()
    ([2, None], [7, None])
    """
    return (
        _in_units(np.ceil(_near_whole(lower)), decimals),
        _in_units(np.floor(_near_whole(upper)), decimals),
    )


def interval_columns(published: Published, examination: Examination) -> dict[str, list[Any]]:
    """The same as lists that survive being written as JSON."""
    return interval_frame(published, examination).to_pydict()


def _near_whole(bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds without the last digits of the solver."""
    with np.errstate(invalid="ignore"):
        near = np.abs(bound - np.rint(bound)) <= doubt(bound)
    return np.where(near, np.rint(bound), bound)


def _in_units(scaled: NDArray[np.float64], decimals: int) -> pa.Array:
    known = np.isfinite(scaled)
    whole = np.where(known, scaled, 0).astype(np.int64)
    return pa.array(whole if decimals == 0 else whole / 10**decimals, mask=~known)
