"""Tables that were published earlier, as a part of the problem of protecting new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import examine
from diskret.attack.earlier_tables import read_beside
from diskret.deadline import NEVER, Deadline
from diskret.errors import ContradictionError, InputError
from diskret.graphs import connected
from diskret.progress import Progress, silent
from diskret.system import System, joint_system
from diskret.tables import (
    NO_BOUND,
    Contributions,
    Earlier,
    Measure,
    MeasureSum,
    Publication,
    Published,
    Table,
)
from diskret.tables.meanings import tied_by_unknowns
from diskret.tables.ties import tied_groups, tied_pairs


@dataclass(frozen=True, eq=False)
class Group:
    """Tables that say something of each other: positions of new ones, and earlier ones."""

    new: tuple[int, ...]
    earlier: tuple[Earlier, ...]

    @property
    def sums(self) -> tuple[MeasureSum, ...]:
        """The sums of measures that were published with the earlier tables."""
        return tuple(dict.fromkeys(total for e in self.earlier for total in e.sums))


def groups(
    tables: Sequence[Published], sums: Sequence[MeasureSum], earlier: Sequence[Earlier]
) -> list[Group]:
    """New tables with all that is tied to them, perhaps through earlier tables only.

    Of many earlier tables those are left out that say
    nothing of the new ones, see `tied_by_unknowns`.
    """
    everything = [*tables, *(e.published for e in earlier)]
    known = [*sums, *(total for e in earlier for total in e.sums)]
    pairs = tied_pairs([table.about for table in everything], known)
    first = len(tables)
    found: list[Group] = []
    for group in tied_groups(len(everything), pairs):
        new = sum(i < first for i in group)
        if new:
            kept = tied_by_unknowns([everything[i] for i in group], new, known)
            before = (group[i] - first for i in kept if i >= new)
            found.append(Group(tuple(group[:new]), tuple(earlier[i] for i in before)))
    return found


def with_records(one: Earlier, tables: Sequence[Table]) -> Earlier:
    """The same, to be asked of the records of new tables of its vintage: cells of both are one.

    So these tell how its variables lie in theirs. Where the records do not have its variables, or
    other codes, the answer is none.
    """
    seen = one.published
    for table in tables:
        own = table.asked
        if one.asked is None and own is not None and table.vintage == seen.vintage:
            by = {d.name: d.hierarchy for d in seen.dimensions}
            question = replace(own.question, by=by, where=seen.where)
            return replace(one, asked=replace(own, question=question))
    return one


# ── as a part of a problem ──────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class EarlierTables:
    """Earlier tables as parts of a problem, each with its original or with possible values."""

    earlier: tuple[Earlier, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def pairs(self) -> list[tuple[Earlier, Table]]:
        """Each earlier table with its values."""
        return list(zip(self.earlier, self.tables, strict=True))

    def named_alike(
        self, who: Contributions | None, earlier: Earlier | None = None
    ) -> Contributions | None:
        """Who contributes what to a new or an earlier table, called as in all others.

        A ledger names contributors by keyed fingerprints; beside such a table all others do.
        """
        keyed = next((e.keyed for e in self.earlier if e.keyed is not None), None)
        named = earlier is not None and earlier.keyed is not None
        return who if who is None or keyed is None or named else keyed(who)


def with_values(
    tables: Sequence[Published],
    sums: Sequence[MeasureSum],
    earlier: Sequence[Earlier],
    progress: Progress = silent,
    deadline: Deadline = NEVER,
) -> EarlierTables:
    """Earlier tables with their original values, or with possible ones where these are unknown.

    tables: the new tables with nothing suppressed: their values are true.
    deadline: raises `OutOfTime` if possible values were not found by then.
    """
    how = progress, deadline
    try:
        values = _values(tables, sums, earlier, *how)
    except (ContradictionError, InputError) as error:
        for one in earlier:
            with naming(one):
                _values(tables, sums, [one], *how)
        raise InputError(f"earlier releases contradict the new tables: {error}") from error
    made = (
        replace(as_table(e.published, value), asked=e.asked)
        for e, value in zip(earlier, values, strict=True)
    )
    return EarlierTables(tuple(earlier), tuple(made))


class naming:
    """Says of contradictions which earlier release they are with."""

    def __init__(self, earlier: Earlier):
        self.earlier = earlier

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ContradictionError | InputError):
            raise InputError(
                f"table {self.earlier.published.name!r} of release {self.earlier.release!r} "
                f"contradicts the new tables: {error}. Revised values are other cells: give "
                "the new tables another vintage=, or correct them"
            ) from error


def _values(
    tables: Sequence[Published],
    sums: Sequence[MeasureSum],
    earlier: Sequence[Earlier],
    progress: Progress,
    deadline: Deadline,
) -> list[NDArray[np.int64]]:
    unknown = [e for e in earlier if e.original is None]
    possible: dict[str, NDArray[np.int64]] = {}
    if unknown:
        known = [_shown(e.published, e.original) for e in earlier if e.original is not None]
        publication = read_beside([*tables, *known], sums, unknown)
        found = _possible(publication, progress, deadline)
        start = int(publication.starts[len(publication.own)])
        for e in unknown:
            size = e.published.value.size
            possible[e.name] = found[start : start + size].reshape(e.published.shape)
            start += size
    return [possible[e.name] if e.original is None else e.original for e in earlier]


def _shown(published: Published, value: NDArray[np.int64]) -> Published:
    """The table with nothing suppressed."""
    nothing = np.zeros(published.shape, dtype=bool)
    return replace(
        published, value=value, suppressed=nothing, empty=nothing, lower=None, upper=None,
        rounding=1, name=f"original/{published.name}",
    )  # fmt: skip


def _possible(
    publication: Publication, progress: Progress, deadline: Deadline
) -> NDArray[np.int64]:
    """Values of all cells that agree with all that is published, whole scaled units."""
    value = publication.value.copy()
    bounded = replace(publication, tables=tuple(map(_as_intervals, publication.tables)))
    found = examine(bounded, progress=progress, deadline=deadline)
    if len(found.cell):
        whole = np.flatnonzero(found.witnesses.denominator == 1)
        if not len(whole):
            deadline.check()
            raise ContradictionError(
                "no values with the published decimals were found that agree with all of them"
            )
        table = found.witnesses[int(whole[0])]
        value[found.cell] = table.numerator[found.witnesses.hidden]
    return value


def _as_intervals(published: Published) -> Published:
    """Rounded values as hidden ones with an interval."""
    if published.rounding == 1:
        return published
    half, shown = published.half_unit, ~published.suppressed
    low, high = published.value - half, published.value + half
    if published.lower is not None and published.upper is not None:
        low, high = np.where(shown, low, published.lower), np.where(shown, high, published.upper)
    else:
        low, high = np.where(shown, low, -NO_BOUND), np.where(shown, high, NO_BOUND)
    hidden = ~published.empty
    return replace(published, rounding=1, suppressed=hidden, lower=low, upper=high)


def as_table(published: Published, value: NDArray[np.int64]) -> Table:
    """An earlier table with these values."""
    value, shape = value.reshape(published.shape), published.shape
    about: dict[str, Any] = {
        "vintage": published.vintage, "where": published.where, "recorded": published.recorded
    }  # fmt: skip
    if published.frequency:
        return Table(published.dimensions, value, **about)
    measure = Measure(
        published.measure,
        published.decimals,
        sum=value,
        magnitude=np.abs(value),
        largest=np.empty((*shape, 0), dtype=np.int64),
        signed=not published.nonnegative,
    )
    return Table(published.dimensions, None, measures=(measure,), **about)


def system_with_earlier(
    tables: Sequence[Table],
    sums: Sequence[MeasureSum],
    before: EarlierTables,
    combined: bool = False,
    deadline: Deadline = NEVER,
) -> System:
    """The equations of new tables and earlier ones; `combined`, `deadline` as in `plan`."""
    if not before.tables:
        if len(tables) == 1:
            return System.of_table(tables[0])
        return joint_system(tables, sums, combined, deadline)
    try:
        return joint_system([*tables, *before.tables], sums, combined, deadline)
    except InputError:
        for one, table in zip(before.earlier, before.tables, strict=True):
            with naming(one):
                joint_system([*tables, table], sums, deadline=deadline)
        raise


def known_before(
    system: System, own: int, before: EarlierTables
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells of new tables that an earlier release published, as they are defined.

    Returns positions of the new cells, and of the cells of earlier tables; both count
        through all tables, of which the new ones have `own` cells.
    """
    shown = np.zeros(len(system.value), dtype=bool)
    start = own
    for e in before.earlier:
        stop = start + e.published.value.size
        shown[start:stop] = ~e.published.suppressed.ravel()
        start = stop
    two = system.equations[np.flatnonzero(np.diff(system.equations.indptr) == 2)]
    first, second = two.indices[0::2], two.indices[1::2]
    alike = two.data[0::2] == -two.data[1::2]
    n = len(system.value)
    links = sparse.coo_array((np.ones(int(alike.sum())), (first[alike], second[alike])), (n, n))
    label = connected(links)
    of_label = np.full(n, -1, dtype=np.int64)
    of_label[label[shown]] = np.flatnonzero(shown)
    where = of_label[label[:own]]
    known = np.flatnonzero(where >= 0)
    return known, where[known]
