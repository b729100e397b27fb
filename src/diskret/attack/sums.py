"""Sums of suppressed cells that published totals reveal, and tables in which they move enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.attack_equations import attack_equations
from diskret.attack.attacker import Attacker
from diskret.attack.equations import Equations, equations
from diskret.attack.exact import UNKNOWN, product
from diskret.attack.examination import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.ties import shown_somewhere
from diskret.attack.witnesses import ends
from diskret.deadline import NEVER, Deadline
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together
from diskret.tables.requirements import UnsafeSums

#: Pairs are judged in lines with at most so many suppressed parts.
LARGEST_LINE = 10


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of suppressed cells of one table each.

    member: a row for each sum, a column for each cell of all tables, ``(s, n)``, int64 CSR with
        entries 1; no two rows are the same, and each has at least two cells.
    known: whether everybody knows the sum exactly, as the difference of published values, bool,
        ``(s,)``.
    """

    member: sparse.csr_array
    known: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.member.shape[0]


def sum_targets(sums: UnsafeSums, original: NDArray[np.int64]) -> Targets:
    """How far each sum has to be able to move, from the original values of all cells."""
    value = sums.member @ np.asarray(original).ravel()
    return Targets(value - sums.lower, value + sums.upper, np.maximum(sums.sliding, 1))


def shown(
    examination: Examination, member: sparse.csr_array
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest value of each sum that witnesses show, float64."""
    column = sparse.csr_array(member[:, examination.cell])
    low, high = np.full(len(column.indptr) - 1, np.inf), np.full(len(column.indptr) - 1, -np.inf)
    hidden = examination.witnesses.hidden
    for point in examination.witnesses:
        numerator = product(column, point.numerator[hidden])
        if numerator.dtype == object:  # beyond int64: such a witness shows nothing here
            continue
        inside = ends(numerator, point.denominator)
        low, high = np.minimum(low, inside[0]), np.maximum(high, inside[1])
    return low, high


def unmet_sums(
    examination: Examination, unsafe: UnsafeSums, original: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which sums miss what is required of them, as far as witnesses show, ``(s,)``."""
    return ~sum_targets(unsafe, original).reached(*shown(examination, unsafe.member))


# ── which sums are judged ───────────────────────────────────────────────────────────


def revealed_sums(published: Published | Publication) -> Sums:
    """The sums of suppressed cells that are judged like a cell of their own.

    In each table, along each variable with all other codes fixed:

    - the suppressed parts of a published total;
    - the suppressed cells without parts whose nearest published ancestor is the same total:
      what is left of it when every published cell below is subtracted;
    - two suppressed parts of one total, if no more than `LARGEST_LINE` of its parts are
      suppressed.

    published: what the world sees; values do not matter, only what is suppressed. A suppressed cell
        that another table publishes is not: everybody knows it.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> value = np.array([9, 0, 0, 4])
    >>> hidden = value == 0
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> table = Published("t", (region,), "n", True, 0, value, hidden, hidden & False)
    >>> sums = revealed_sums(table)
    >>> sums.member.toarray().tolist(), sums.known.tolist()
    ([[0, 1, 1, 0]], [True])
    """
    publication = together(published)
    starts = publication.starts
    unknown = _unknown(publication)
    rows: list[NDArray[np.int64]] = []
    cells: list[NDArray[np.int64]] = []
    known: list[NDArray[np.bool_]] = []
    number = 0
    for table, start in zip(publication.tables, starts.tolist(), strict=False):
        hidden = unknown[start : start + table.value.size].reshape(table.shape)
        for row, cell, exact in _of_table(table, hidden):
            _, own = np.unique(row, return_inverse=True)
            rows.append(own + number)
            cells.append(cell + start)
            lines = int(own.max(initial=-1)) + 1
            known.append(np.full(lines, exact and table.rounding == 1))
            number += lines
    column = np.concatenate([np.empty(0, np.int64), *cells])
    entries = np.ones(len(column), np.int64), (np.concatenate([column[:0], *rows]), column)
    member = sparse.csr_array(entries, shape=(number, int(starts[-1])))
    return _distinct(member, np.concatenate([np.empty(0, bool), *known]))


def _unknown(publication: Publication) -> NDArray[np.bool_]:
    """The suppressed cells that no table publishes under the same definition, flat."""
    hidden = publication.suppressed
    if len(publication.tables) == 1:
        return hidden
    return hidden & ~shown_somewhere(publication)


def _of_table(
    table: Published, suppressed: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], bool]]:
    """Numbers of sums and their cells, and whether these sums are known exactly."""
    flat = np.arange(table.value.size, dtype=np.int64).reshape(table.shape)
    along = list[tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]]()
    for axis, dimension in enumerate(table.dimensions):
        parent = dimension.hierarchy.parent.astype(np.int64)
        hidden = np.moveaxis(suppressed, axis, 0).reshape(len(parent), -1)
        cell = np.moveaxis(flat, axis, 0).reshape(len(parent), -1)
        along.append((hidden, cell, parent))
    for hidden, cell, parent in along:
        yield *_lines(hidden & ~hidden[parent], parent, cell), True
        yield *_differences(hidden, cell, parent), True
    for hidden, cell, parent in along:
        yield *_pairs(*_lines(hidden, parent, cell)), False


def _lines(
    chosen: NDArray[np.bool_], above: NDArray[np.int64], cell: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The chosen parts with the number of their total: code above, then other codes."""
    chosen = chosen.copy()
    chosen[0] = False  # the total of all is part of nothing
    code, other = np.nonzero(chosen)
    return above[code] * chosen.shape[1] + other, cell[code, other]


def _differences(
    hidden: NDArray[np.bool_], cell: NDArray[np.int64], parent: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Suppressed cells without parts, with the number of their nearest published ancestor."""
    nearest = np.full(hidden.shape, -1, dtype=np.int64)
    for code in range(1, len(parent)):  # parents stand before their parts
        above = parent[code]
        nearest[code] = np.where(hidden[above], nearest[above], above)
    leaf = ~np.isin(np.arange(len(parent)), parent)
    code, other = np.nonzero(hidden & leaf[:, None] & (nearest >= 0))
    return nearest[code, other] * hidden.shape[1] + other, cell[code, other]


def _pairs(
    line: NDArray[np.int64], cell: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every two cells of a line with few, with the number of the pair."""
    order = np.argsort(line, kind="stable")
    line, cell = line[order], cell[order]
    _, at, size = np.unique(line, return_inverse=True, return_counts=True)
    few = size[at] <= LARGEST_LINE
    line, cell = line[few], cell[few]
    pairs = [
        np.column_stack((cell[:-apart], cell[apart:]))[line[:-apart] == line[apart:]]
        for apart in range(1, min(LARGEST_LINE, len(line)))
    ]
    both = np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])
    return np.repeat(np.arange(len(both)), 2), both.ravel()


def _distinct(member: sparse.csr_array, known: NDArray[np.bool_]) -> Sums:
    """Every sum of two or more cells once; known exactly if one of its copies is."""
    large = np.flatnonzero(np.diff(member.indptr) > 1)
    member, known = sparse.csr_array(member[large]), known[large]
    mark = np.random.default_rng(0).integers(0, 2**62, size=member.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        hashes = member @ mark
    _, first, back = np.unique(hashes, return_index=True, return_inverse=True)
    # a hash may lie: only rows that equal their representative are dropped
    same = np.diff(sparse.csr_array(member - member[first[back]]).indptr) == 0
    same[first] = False
    exact = known.copy()
    np.logical_or.at(exact, first[back[same]], known[same])
    kept = np.flatnonzero(~same)
    return Sums(sparse.csr_array(member[kept]), exact[kept])


def show_sums(
    published: Published | Publication,
    examination: Examination,
    attacker: Attacker,
    unsafe: UnsafeSums,
    original: NDArray[np.int64],
    progress: Progress = silent,
    deadline: Deadline = NEVER,
) -> Examination:
    """The same examination, with more witnesses where sums need them.

    Sums that its witnesses do not show to be uncertain enough become unknowns of an attack of
    their own: one equation more for each, ``sum − cells = 0``. A sum that everybody knows
    stays as it is.
    """
    publication = together(published)
    missed = unmet_sums(examination, unsafe, original)
    if not missed.any():
        return examination
    asked = unsafe.only(missed)
    known = equations(publication)
    lower, upper = unknown_bounds(publication, known, attacker, original)
    far = np.full(len(asked), UNKNOWN)
    found = attack_equations(
        publication,
        _with_sums(known, asked.member),
        (np.append(lower, -far), np.append(upper, far)),
        sum_targets(asked, original),
        progress,
        original=original,
        deadline=deadline,
        quick=deadline.limited,
    )
    # what its witnesses tell of every unknown cell stands before the sums
    tables = found.witnesses.among(np.arange(len(known.cell)), known.hidden)
    return examination.with_tables(tables, next(iter(tables), None))


def _with_sums(known: Equations, member: sparse.csr_array) -> Equations:
    """The equations with the sums as further unknowns, the only ones that are asked for."""
    number, k = member.shape[0], len(known.cell)
    place = np.full(max(member.shape[1], int(known.cell.max(initial=-1)) + 1), -1)
    place[known.cell] = np.arange(k)
    row = np.repeat(np.arange(number), np.diff(member.indptr))
    own = sparse.csr_array(
        (-np.ones(len(row), np.int64), (row, place[member.indices])), shape=(number, k)
    )
    matrix = sparse.block_array(
        [[known.matrix, None], [own, sparse.eye_array(number, dtype=np.int64)]], format="csr"
    )
    last = len(place)
    return Equations(
        cell=np.append(known.cell, np.arange(last, last + number)),
        matrix=sparse.csr_array(matrix),
        right=np.append(known.right, np.zeros(number, dtype=np.int64)),
        hidden=np.append(np.zeros(k, dtype=bool), np.ones(number, dtype=bool)),
        latent=np.append(known.latent, np.ones(number, dtype=bool)),
        free=np.append(known.free, np.ones(number, dtype=bool)),
    )
