"""What is left of a cell beside a filter: cells that nobody published, known by subtraction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import AllCells, Grid, all_cells, remembered
from diskret.attack.attacker import Attacker
from diskret.attack.equations import cell_name, equations
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.reduction import reduce
from diskret.attack.ties import apart, common_cells
from diskret.tables import Publication, Published


@dataclass(frozen=True, eq=False)
class Rests:
    """Cells of one table without the same cells of filters, all of the same tables. Confidential.

    tables: position of the table with the whole cells, then those of the filtered ones.
    cells: positions of the cells, ``(r, len(tables))``, int64.
    value: what is left, in scaled units, ``(r,)``, int64; not 0 for counts.
    """

    tables: tuple[int, ...]
    cells: NDArray[np.int64]
    value: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cells)

    def only(self, which: NDArray[np.bool_]) -> Rests:
        """Some of them."""
        return replace(self, cells=self.cells[which], value=self.value[which])

    def member(self, cells: int) -> sparse.csr_array:
        """Each as a sum of so many cells, entries 1 and -1."""
        r, k = self.cells.shape
        signs = np.tile(np.append(1, -np.ones(k - 1, dtype=np.int64)), r)
        at = np.repeat(np.arange(r), k), self.cells.ravel()
        return sparse.csr_array((signs, at), shape=(r, cells))

    def name(self, publication: Publication, rest: int) -> str:
        """A rest in words, e.g. ``everybody: region=N without women: region=N``."""
        whole, *parts = (cell_name(publication, int(cell)) for cell in self.cells[rest])
        return f"{whole} without {' and '.join(sorted(parts))}"


@remembered
def beside_filters(publication: Publication) -> bool:
    """Whether there are cells of one table of which a filter lets only a part through."""
    seen = all_cells(publication)
    return any(len(cells) for _, cells in _rests(seen))


def rests_beside(publication: Publication, original: NDArray[np.int64]) -> list[Rests]:
    """All that cells leave beside filters, as looked at by `revealed_rests`, hidden or not.

    Left out is what nothing is taken away from, and counts of nobody. Categories of what a filter
    asks for are no filters here.

    publication: only its structure matters.
    original: values of the cells of all tables.
    """
    found: list[Rests] = []
    nobody = np.concatenate([table.empty.ravel() for table in publication.tables])
    for of, cells in _rests(all_cells(publication)):
        rests = Rests(of, cells, original[cells[:, 0]] - original[cells[:, 1:]].sum(axis=1))
        which = np.logical_not(nobody[cells[:, 1:]].all(axis=1))
        if publication.tables[of[0]].frequency:
            which &= rests.value > 0
        if which.any():
            found.append(rests.only(which))
    return found


def revealed_rests(publication: Publication) -> list[Rests]:
    """What published cells leave of cells beside filters, where everybody can compute it.

    A filter lies beside a whole table if all its records belong to that, and the same cells are
    in both. Where its bounds are open it is taken to have nobody beyond those of the whole table.
    Looked at are single filters, two, and as many as have no records in common: what they leave
    together. Where the filtered table shows categories of what it filters by and hides their
    total, each published category is a filter, too.

    publication: what the world sees. Where it contradicts itself only differences of published
        cells are found.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.population import Population
    >>> from diskret.tables import Dimension, Published
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> def shown(name: str, counts: list[int], **where: str) -> Published:
    ...     value, no = np.array(counts), np.zeros(3, dtype=bool)
    ...     people = Published(name, (region,), "count", True, 0, value, no, no)
    ...     return replace(people, where=Population.of(where))
    >>> women = shown("women", [50, 20, 30], sex="f")
    >>> both = Publication((shown("everybody", [61, 21, 40]), women))
    >>> [rests] = revealed_rests(both)
    >>> rests.value.tolist(), rests.name(both, 1)
    ([11, 1, 10], 'everybody: region=N without women: region=N')
    """
    seen = all_cells(publication)
    found = [(of, cells) for of, cells in _rests(seen) if len(cells)]
    if not found:
        return []
    found += _within_filters(seen)
    value, unknown = seen.value, seen.unknown
    told = Told.of(publication, seen.public) if any(unknown[c].any() for _, c in found) else None
    rests: list[Rests] = []
    for of, cells in found:
        table = publication.tables[of[0]]
        own = Rests(of, cells, np.zeros(len(cells), dtype=np.int64))
        member = own.member(seen.public)
        left = member @ value[: seen.public]
        known = ~unknown[cells].any(axis=1)
        if told is not None:
            more, known = told.of_sums(member)
            left += more
        # a count of 0 is nobody; a sum of 0 may be that of somebody who has nothing
        somebody = left != 0
        if not table.frequency:
            somebody |= ~table.empty.ravel()[cells[:, 0] - publication.starts[of[0]]]
        which = known & somebody
        if which.any():
            rests.append(replace(own, value=left).only(which))
    return rests


@dataclass(frozen=True, eq=False)
class Told:
    """What all equations together tell of unknown cells: an offset, and open unknowns."""

    column: NDArray[np.int64]
    offset: NDArray[np.int64]
    link: sparse.csr_array

    @classmethod
    def of(cls, publication: Publication, public: int) -> Told | None:
        """From the attack's own equations; None if they have no solution."""
        known = equations(publication)
        lower, upper = unknown_bounds(publication, known, Attacker(), None)
        reduced = reduce(known.matrix, known.right, lower, upper)
        if len(reduced.impossible):
            return None
        own = np.flatnonzero(known.cell < public)
        return cls(known.cell[own], reduced.offset[own], sparse.csr_array(reduced.link[own]))

    def of_sums(self, member: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """What the unknown cells of sums of cells add to them, and whether that is told."""
        of = sparse.csr_array(member[:, self.column])
        left = sparse.csr_array(of @ self.link)
        left.eliminate_zeros()
        return np.asarray(of @ self.offset, dtype=np.int64), np.diff(left.indptr) == 0


# ── which cells lie beside each other ───────────────────────────────────────────────


def _rests(seen: AllCells) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Whole table and filtered ones, with the positions of the published cells they all have."""
    grids = seen.grids[: len(seen.publication.tables)]
    for at, whole in enumerate(grids):
        inside = [(i, how) for i, grid in enumerate(grids) for how in _narrower(whole, grid)]
        disjoint = np.array(
            [
                [not grids[i].table.where.overlaps(grids[j].table.where) for j, _ in inside]
                for i, _ in inside
            ],
            dtype=bool,
        )
        for chosen in apart(disjoint.reshape(len(inside), len(inside))):
            parts = [inside[c][0] for c in chosen]
            at_total = set[str]().union(*(inside[c][1].at_total for c in chosen))
            if at_total.isdisjoint(name for c in chosen for name in inside[c][1].by_code):
                cells = common_cells([whole, *(grids[i] for i in parts)], at_total)
                yield (at, *parts), cells[(cells < seen.public).all(axis=1)]


def _within_filters(seen: AllCells) -> list[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Whole cells and published categories of what a filter lets through, whose total is hidden.

    Where the total is published, what it leaves is a rest by itself, and what a category leaves of
    it a sum of cells of one table.
    """
    found: list[tuple[tuple[int, ...], NDArray[np.int64]]] = []
    grids = seen.grids[: len(seen.publication.tables)]
    for (i, whole), (j, part) in permutations(enumerate(grids), 2):
        ways = [way.at_total for way in _narrower(whole, part)]
        for (at, axis), names in product(enumerate(part.axes), ways):
            if axis.name not in names or axis.public == 1:
                continue
            cells = common_cells([whole, part], names)
            number = np.moveaxis(part.number, at, 0).reshape(len(axis.parent), -1)
            order = np.argsort(number[0])
            number = number[:, order[np.searchsorted(number[0], cells[:, 1], sorter=order)]]
            hidden = seen.unknown[number]
            if not hidden[0].any():
                continue
            above = hidden.copy()  # whether it and all that it is part of are hidden
            for code in range(1, axis.public):
                above[code] &= above[axis.parent[code]]
                told = ~hidden[code] & above[axis.parent[code]]
                pairs = np.stack((cells[:, 0], number[code]), axis=1)[told]
                pairs = pairs[(pairs < seen.public).all(axis=1)]
                if len(pairs):
                    found.append(((i, j), pairs))
    return found


@dataclass(frozen=True)
class _Way:
    """How cells of a filtered table lie in those of a whole one.

    at_total: variables by which the filter lets only a part through; its cells are those of all it
        lets through.
    by_code: variables that both filter by, of which cells with the same codes are compared.
    """

    at_total: set[str]
    by_code: set[str]


def _narrower(whole: Grid, part: Grid) -> Iterator[_Way]:
    """How a table's filter lets only a part of another one's records through.

    Not at all if it has records that the other one does not have, or by its filter all of them.
    """
    one, other = whole.table, part.table
    if _kind(one) != _kind(other):
        return
    # codes of variables that the tables show are compared one by one; a total alone is no code
    shown = {axis.name for axis in whole.axes if axis.public > 1}
    theirs = {d.name for d in other.dimensions} - shown
    both = sorted(theirs & {*one.where.asked} & {*other.where.asked})
    for number in range(len(both) + 1):
        for by_code in map(set, combinations(both, number)):
            whole_where = one.where.without(shown | (theirs - {*other.where.asked}) | by_code)
            own = other.where.without(shown | by_code).up_to(whole_where)
            if own != whole_where and own.inside(whole_where):
                names = {name for name, asked in own if whole_where.asked.get(name) != asked}
                yield _Way(names, by_code)


def _kind(table: Published) -> tuple[str, str]:
    return table.measure, table.vintage
