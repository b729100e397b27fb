"""What has to stay uncertain of a table, and tables that were published before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.tables.cells import NO_BOUND
from diskret.tables.contributions import Asked, Contributions
from diskret.tables.perturbed import Perturbed, stands_for, stands_for_anything
from diskret.tables.published import Publication, Published
from diskret.tables.ties import MeasureSum


@dataclass(frozen=True, eq=False)
class Requirements:
    """Protection levels of the primary cells. Confidential.

    The attacker's interval ``[lo, up]`` of primary cell ``cell[i]`` with value ``a`` must
    satisfy ``lo <= a - lower[i]``, ``up >= a + upper[i]`` and ``up - lo >= sliding[i]``.
    Every other suppressed cell must satisfy ``up - lo >= 1`` (no exact value).

    cell: flat (C order) positions of the primary cells, ascending, shape ``(n,)``, int64.
    lower, upper, sliding: levels in scaled integers (units of 10**-decimals), ≥ 0, shape ``(n,)``,
        int64.
    """

    cell: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    sliding: NDArray[np.int64]

    def between(self, start: int, stop: int) -> Requirements:
        """Those of the cells from one position up to another, counted from the first."""
        own = (self.cell >= start) & (self.cell < stop)
        return Requirements(
            self.cell[own] - start, self.lower[own], self.upper[own], self.sliding[own]
        )

    def only(self, kept: NDArray[np.bool_]) -> Requirements:
        """Those of some cells."""
        return Requirements(self.cell[kept], self.lower[kept], self.upper[kept], self.sliding[kept])


NO_LEVELS = Requirements(*[np.empty(0, dtype=np.int64)] * 4)


@dataclass(frozen=True, eq=False)
class UnsafeSums:
    """Sums that a rule finds unsafe, and what must stay uncertain about each. Confidential.

    member: a row for each sum, a column for each cell of all tables, ``(s, n)``, int64 CSR with
        entries 1, or −1 for what is taken away.
    lower, upper, sliding: levels in scaled integers as in `Requirements`, ``(s,)``, int64.
    judged: number of sums that were judged, safe ones included.
    signed: which sums may be below zero although no cell may, ``(s,)``; None: none.
    """

    member: sparse.csr_array
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    sliding: NDArray[np.int64]
    judged: int = 0
    signed: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return self.member.shape[0]

    def only(self, which: NDArray[np.bool_]) -> UnsafeSums:
        """Some of them."""
        rows = np.flatnonzero(which)
        return UnsafeSums(
            sparse.csr_array(self.member[rows]),
            self.lower[rows],
            self.upper[rows],
            self.sliding[rows],
            self.judged,
            None if self.signed is None else self.signed[rows],
        )

    def of_table(self, publication: Publication, place: int) -> UnsafeSums:
        """Those of one table; columns are its own cells. How many were judged is left open."""
        start, stop = publication.starts[place : place + 2].tolist()
        own = self.member[:, np.arange(start, stop)]
        rows = np.flatnonzero(np.diff(own.indptr))
        there = np.isin(np.arange(len(self)), rows)
        return replace(self.only(there), member=sparse.csr_array(own[rows]), judged=0)

    def among(self, start: int, cells: int) -> UnsafeSums:
        """The same sums of one table as sums of its cells among those of several."""
        member = sparse.csr_array(
            (self.member.data, self.member.indices + start, self.member.indptr),
            shape=(len(self), cells),
        )
        return replace(self, member=member)


def stacked(parts: Sequence[UnsafeSums], cells: int) -> UnsafeSums:
    """The sums of all parts, each of which has this many columns."""
    none = sparse.csr_array((0, cells), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)

    def joined(of: str) -> NDArray[np.int64]:
        return np.concatenate([nothing, *(getattr(part, of) for part in parts)])

    return UnsafeSums(
        sparse.csr_array(sparse.vstack([none, *(part.member for part in parts)], format="csr")),
        joined("lower"),
        joined("upper"),
        joined("sliding"),
        sum(part.judged for part in parts),
        np.concatenate([np.zeros(0, bool), *map(_signed, parts)]),
    )


def _signed(sums: UnsafeSums) -> NDArray[np.bool_]:
    return np.zeros(len(sums), bool) if sums.signed is None else sums.signed


@dataclass(frozen=True, eq=False)
class Earlier:
    """One table of an earlier release: what the world saw, and what has to stay uncertain.

    release: name of the release, unique in its ledger.
    published: what the world saw. A table that was perturbed has all cells "suppressed", with the
        interval that each published value stands for in `Published.lower` and `upper`.
    original: original values in scaled integers, shape of the table; None if they are not known (a
        release from elsewhere). Confidential.
    requirements: the levels of its primary cells, flat positions in this table. Confidential.
    contributions: who contributed what, or None; units and holdings by their keyed fingerprints.
        Confidential.
    unsafe: sums of its suppressed cells that stay uncertain for contributors, flat positions in
        this table; None if it was not protected against them. Confidential.
    sums: equations between measures that the release stated.
    weight: column of the sampling weights, or None; see `Table.weight`.
    keyed: gives other lists of contributions the keyed fingerprints that `contributions` uses;
        None: they use the same numbers as it is.
    asked: how the records that it was made from can be asked again; None: they are gone.
    """

    release: str
    published: Published
    original: NDArray[np.int64] | None
    requirements: Requirements
    contributions: Contributions | None = None
    unsafe: UnsafeSums | None = None
    sums: tuple[MeasureSum, ...] = ()
    weight: str | None = None
    keyed: Callable[[Contributions], Contributions] | None = field(default=None, repr=False)
    asked: Asked | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the table is called among tables of several releases."""
        return f"{self.release}/{self.published.name}"

    @property
    def perturbed(self) -> bool:
        """Whether `published` holds intervals that changed values stand for."""
        return self.published.of_changed is not None

    @property
    def shown(self) -> NDArray[np.int64]:
        """The values that the world saw, `NO_BOUND` where none."""
        changed = self.published.of_changed
        seen = self.published if changed is None else changed.shown
        return np.where(seen.suppressed, NO_BOUND, seen.value)


def earlier_of(
    release: str,
    published: Published,
    noise: Perturbed | None,
    original: NDArray[np.int64] | None = None,
    requirements: Requirements = NO_LEVELS,
    sums: tuple[MeasureSum, ...] = (),
) -> Earlier:
    """What later tables have to know of a table, changed by `noise` or as it is."""
    shown = published if noise is None else stands_for(published, noise)
    return Earlier(release, shown, original, requirements, sums=sums)


def changed_earlier(
    release: str,
    published: Published,
    known: Perturbed | None,
    original: NDArray[np.int64] | None = None,
) -> Earlier:
    """The same of changed values; without a bound `known` nothing but themselves is known."""
    if known is not None:
        return earlier_of(release, published, known, original)
    return Earlier(release, stands_for_anything(published), None, NO_LEVELS)
