"""New tables beside earlier ones: what is narrowed down too far, and which new cells do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    UnsafeSums,
    ends_in_units,
    examine,
    show_sums,
    targets_of,
    unmet,
    unmet_sums,
)
from diskret.attack.culprits import Culprits, Need, Opened
from diskret.attack.earlier_tables import (
    joined_requirements,
    read_beside,
    required_beside,
    unclaimed_cells,
)
from diskret.attack.ties import same_cells, shown_somewhere
from diskret.errors import ContradictionError
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import naming
from diskret.tables import NO_BOUND, Earlier, MeasureSum, Publication, Published
from diskret.tables.dimension import describe
from diskret.tables.requirements import stacked

_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class BrokenCell:
    """A hidden cell that can be narrowed down too far. Confidential.

    `release` is the earlier release that hides it, empty if a new table does; `codes` the cell in
    its table: ``region=N, size=Total``. `primary`: it is unsafe itself, else its exact value would
    be known. `lower` and `upper` are what an outsider would know, in published units, None: no end.
    `blamed` are new cells, each with its table: publishing all of them leaves the cell too little
    room; none if `already`, or if work ended the search. `irreducible`: without any one of them the
    cell would have enough room. `already`: it is not protected even without the new tables.
    `contributors`: it is they who would know too much, each of what is theirs.
    """

    release: str
    table: str
    codes: str
    primary: bool
    lower: float | None
    upper: float | None
    blamed: tuple[tuple[str, str], ...] = ()
    irreducible: bool = False
    already: bool = False
    contributors: bool = False
    cells: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """Positions among all tables that were attacked: of the cell itself, then of the blamed."""


class contradictions_named:
    """Says of a contradiction which earlier release it is with."""

    def __init__(
        self, tables: Sequence[Published], sums: Sequence[MeasureSum], earlier: Sequence[Earlier]
    ):
        self.tables, self.sums, self.earlier = tables, sums, earlier

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ContradictionError):
            for one in self.earlier:
                with naming(one):
                    examine(read_beside(self.tables, self.sums, [one]))


class JointAttack:
    """New tables and the earlier ones that are tied to them, attacked as one.

    `new` is what would be known of each new table if it were published.
    """

    def __init__(
        self,
        publication: Publication,
        new: Sequence[Earlier],
        earlier: Sequence[Earlier],
        attacker: Attacker,
    ):
        self.publication, self.earlier, self.attacker = publication, earlier, attacker
        every = [*new, *earlier]
        starts = publication.starts.tolist()
        own = joined_requirements([n.requirements for n in new], starts[: len(new)])
        self.required = required_beside(own, publication, earlier, attacker)
        # an original value that is not known is only one that nothing can start from
        self.original = np.concatenate(
            [
                (table.value if known.original is None else known.original).ravel()
                for table, known in zip(publication.tables, every, strict=True)
            ]
        )
        sums = [
            known.unsafe.among(start, starts[-1])
            for known, start in zip(every, starts[:-1], strict=True)
            if known.unsafe is not None
        ]
        self.unsafe = stacked(sums, starts[-1])
        self.first = starts[len(publication.own)]
        self.earlier_starts = starts[len(publication.own) : -1]

    def broken(
        self,
        limit: float,
        unclaimed: NDArray[np.int64] = _NOTHING,
        progress: Progress = silent,
    ) -> list[BrokenCell]:
        """The cells that are narrowed down too far, and which new ones are to blame.

        `limit` is the largest amount of work for the latter: unknown cells in all linear
        programmes together.
        """
        label = same_cells(self.publication)
        opened = self._opened(label)
        touched = opened.touched(self.first)
        unsafe = self._unsafe_now(label, touched)
        # a sum is known from all of its cells
        seen = self._narrowed(np.union1d(touched, unsafe.member.indices))
        hidden = seen.suppressed
        needed = self.required.only(hidden[self.required.cell])
        free = unclaimed_cells(self.publication, self.earlier, self.required, label)
        free = np.union1d(free, unclaimed)
        targets = targets_of(seen, self.original, needed, free[hidden[free]])
        found = examine(seen, self.attacker, targets, original=self.original, progress=progress)
        missed = np.flatnonzero(unmet(found, targets))
        already = self._already(found.cell[missed])
        news = dict(zip(label[opened.chosen].tolist(), opened.chosen.tolist(), strict=True))
        answers: list[BrokenCell] = []
        for i in missed.tolist():
            cell = int(found.cell[i])
            culprits = Culprits((), irreducible=False)
            if cell not in already and label[cell] in news:
                culprits = Culprits((news[int(label[cell])],))  # it is published itself
            elif cell not in already and opened.work < limit:
                need = Need(*map(float, (targets.low[i], targets.high[i], targets.width[i])))
                culprits = opened.blame(cell, need, limit)
            answers.append(self._told(cell, found, i, culprits, cell in already))
        return answers + self._broken_sums(seen, found, unsafe, progress)

    def _unsafe_now(self, label: NDArray[np.int64], touched: NDArray[np.int64]) -> UnsafeSums:
        """The unsafe sums that new tables have to do with, of cells that are still hidden."""
        shown = shown_somewhere(self.publication, label)
        near = np.zeros(len(label), dtype=np.int64)
        near[: self.first] = 1
        near[touched[touched < len(near)]] = 1
        return self.unsafe.only(
            (self.unsafe.member @ shown.astype(np.int64) == 0) & (self.unsafe.member @ near > 0)
        )

    def _broken_sums(
        self, seen: Publication, found: Examination, unsafe: UnsafeSums, progress: Progress
    ) -> list[BrokenCell]:
        """Sums that a contributor would know too closely; nobody is sought to blame for them."""
        if not len(unsafe):
            return []
        found = show_sums(seen, found, self.attacker, unsafe, self.original, progress)
        missed = unsafe.only(unmet_sums(found, unsafe, self.original))
        rows = np.split(missed.member.indices, missed.member.indptr[1:-1])[: len(missed)]
        return [self.told_together(row.tolist()) for row in rows]

    def told_together(self, cells: Sequence[int], contributors: bool = False) -> BrokenCell:
        """A cell or sum that is known too closely, to contributors alone perhaps."""
        table, _ = self.publication.at(cells[0])
        place = next(n for n, other in enumerate(self.publication.tables) if other is table)
        own = len(self.publication.own)
        release, name = ("", table.name) if place < own else self.publication.beside[place - own]
        codes = " + ".join(self._new(cell)[1] for cell in cells)
        return BrokenCell(
            release,
            name,
            codes,
            primary=True,
            lower=None,
            upper=None,
            contributors=contributors,
            cells=tuple(cells[:1]),
        )

    def _opened(self, label: NDArray[np.int64]) -> Opened:
        """The attack in which new cells can be taken back, but those that were known before."""
        before = np.zeros(len(label), dtype=bool)
        exact = [table.rounding == 1 for table in self.publication.tables]
        shown = ~self.publication.suppressed & np.repeat(exact, np.diff(self.publication.starts))
        before[label[self.first :][shown[self.first :]]] = True
        news = ~self.publication.suppressed & ~before[label]
        news[self.first :] = False
        tables: list[Published] = []
        half: list[NDArray[np.int64]] = []
        for table, start in zip(
            self.publication.own, self.publication.starts.tolist(), strict=False
        ):
            own = news[start : start + table.value.size].reshape(table.shape)
            tables.append(_without(table, own))
            half.append(np.full(int(own.sum()), table.half_unit))
        earlier = self.publication.tables[len(tables) :]
        chosen = np.flatnonzero(news)
        value, around = self.publication.value[chosen], np.concatenate(half)
        around[_of(self.publication.own, "empty")[chosen]] = 0
        return Opened(
            replace(self.publication, tables=(*tables, *earlier)),
            chosen,
            value - around,
            value + around,
            self.attacker,
            self.original,
        )

    def _narrowed(self, touched: NDArray[np.int64]) -> Publication:
        """The publication with all hidden cells shown that no equation connects with new ones.

        What is published now says nothing of them, so their values do not matter.
        """
        open_ = np.zeros(len(self.original), dtype=bool)
        open_[touched[touched < len(open_)]] = True
        tables = list(self.publication.tables)
        starts = self.publication.starts.tolist()
        for i, e in enumerate(self.earlier, start=len(self.publication.own)):
            table = tables[i]
            if e.original is not None and table.rounding == 1:
                closed = ~open_[starts[i] : starts[i + 1]].reshape(table.shape) & table.suppressed
                tables[i] = replace(
                    table,
                    value=np.where(closed, e.original.reshape(table.shape), table.value),
                    suppressed=table.suppressed & ~closed,
                )
        return replace(self.publication, tables=tuple(tables))

    def _already(self, cells: NDArray[np.int64]) -> set[int]:
        """Those of some cells that are not protected even without anything new."""
        cells = cells[cells >= self.first] - self.first
        if not len(cells):
            return set()
        before = replace(
            self.publication, tables=self.publication.tables[len(self.publication.own) :]
        )
        required = self.required.between(self.first, len(self.original))
        others = np.setdiff1d(np.flatnonzero(before.suppressed), cells)
        needed = required.only(np.isin(required.cell, cells))
        original = self.original[self.first :]
        targets = targets_of(before, original, needed, others)
        found = examine(before, self.attacker, targets, original=original)
        return set((found.cell[unmet(found, targets)] + self.first).tolist())

    def _told(
        self, cell: int, found: Examination, i: int, culprits: Culprits, already: bool
    ) -> BrokenCell:
        table, at = self.publication.at(cell)
        place = next(n for n, other in enumerate(self.publication.tables) if other is table)
        new = place < len(self.publication.own)
        release, name = (
            ("", table.name) if new else self.publication.beside[place - len(self.publication.own)]
        )
        lower, upper = ends_in_units(found.lower[i : i + 1], found.upper[i : i + 1], table.decimals)
        return BrokenCell(
            release,
            name,
            describe(table.dimensions, at),
            cell in self.required.cell,
            lower[0].as_py(),
            upper[0].as_py(),
            tuple(self._new(one) for one in culprits.cells),
            culprits.irreducible and bool(culprits.cells),
            already,
            cells=(cell, *culprits.cells),
        )

    def _new(self, cell: int) -> tuple[str, str]:
        table, at = self.publication.at(cell)
        return table.name, describe(table.dimensions, at)


def _without(table: Published, chosen: NDArray[np.bool_]) -> Published:
    """A table with more cells hidden, of which no interval is published."""
    hidden = table.suppressed | chosen
    low, high = table.lower, table.upper
    if low is not None and high is not None:
        low, high = np.where(chosen, -NO_BOUND, low), np.where(chosen, NO_BOUND, high)
    return replace(
        table,
        value=np.where(hidden, 0, table.value),
        suppressed=hidden,
        empty=table.empty & ~hidden,
        lower=low,
        upper=high,
    )


def _of(tables: Sequence[Published], field: str) -> NDArray[np.bool_]:
    return np.concatenate([getattr(table, field).ravel() for table in tables])
