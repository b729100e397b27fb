"""The attacker's own equations, built from the published structure alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import Grid, all_cells, remembered
from diskret.attack.exact import LIMIT
from diskret.attack.ties import Tie, ties
from diskret.errors import ContradictionError, InputError
from diskret.tables import Publication, Published, together
from diskret.texts.numbers import Count


@dataclass(frozen=True, eq=False)
class Equations:
    """What the published cells say about the ``k`` unknown ones: ``matrix @ x = right``.

    cell: positions of the unknown cells, ascending, ``(k,)``, int64: flat (C order) positions in
        the table, or in all tables one after the other; behind these come cells that nobody
        published but that tie tables together.
    matrix: a row for each equation total − parts = 0 with an unknown cell in it, a column for each
        unknown cell, ``(m, k)``, int64 CSR with entries 1 and −1.
    right: the published share of each equation, with the sign changed, ``(m,)``, int64.
    hidden: which of the unknown cells are suppressed cells of a table, ``(k,)``, bool; the others
        are rounded values and unpublished cells.
    latent: which of the unknown cells nobody published, ``(k,)``, bool.
    free: which of the unpublished cells may be negative, as many as `latent` has, bool.
    """

    cell: NDArray[np.int64]
    matrix: sparse.csr_array
    right: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    latent: NDArray[np.bool_]
    free: NDArray[np.bool_]


def equations(published: Published | Publication) -> Equations:
    """Derive every equation between unknown cells from what is published."""
    return _equations(together(published))


def every_equation(publication: Publication) -> Equations:
    """The equations between all cells, whatever is published: none of their values is used.

    Cells have the positions that they have in `equations` of the same tables.
    """
    hidden = tuple(replace(table.all_hidden(), rounding=1) for table in publication.tables)
    return _equations(replace(publication, tables=hidden))


@remembered
def _equations(publication: Publication) -> Equations:
    seen = all_cells(publication)
    value = seen.value
    terms = max(max(grid.number.shape, default=0) for grid in seen.grids)
    if float(np.abs(value).max(initial=0)) * (terms + len(publication.tables)) >= LIMIT:
        raise InputError(
            f"table {publication.name!r}: published values are too large to be added up in "
            "64-bit integers; publish fewer decimals"
        )
    unknown = seen.unknown
    tied = list(ties(seen))
    rests = sum(len(tie.cells) for tie in tied if tie.rest)
    unknown = np.concatenate((unknown, np.ones(rests, dtype=bool)))
    value = np.concatenate((value, np.zeros(rests, dtype=np.int64)))
    builder = _Builder(publication, value, unknown)
    blocks = [builder.along(grid, axis) for grid in seen.grids for axis in range(grid.number.ndim)]
    blocks += list(_tied(builder, tied, seen.public + seen.latent))
    wrong = [line for block in blocks for line in block.wrong]
    if wrong:
        number = Count(len(wrong))
        raise ContradictionError(
            f"table {publication.name!r}: {number} published {number:total is|totals are} not the "
            f"sum of their published parts, e.g. {'; '.join(wrong[:5])}. No table can have these "
            "values: correct the published values, then attack again"
        )
    cell = builder.cell
    inside = cell < seen.public
    hidden = np.zeros(len(cell), dtype=bool)
    hidden[inside] = publication.suppressed[cell[inside]]
    return Equations(
        cell,
        sparse.csr_array(sparse.vstack([block.matrix for block in blocks], format="csr")),
        np.concatenate([block.right for block in blocks]),
        hidden,
        ~inside,
        np.append(seen.free, np.zeros(rests, dtype=bool)),
    )


def neighbours(published: Published | Publication, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The suppressed cells that stand in an equation with chosen ones, and these, ``(k,)``.

    Both are in the order of the suppressed cells.
    """
    known = equations(published)
    between = abs(known.matrix[:, np.flatnonzero(known.hidden)])
    return chosen | (between.T @ (between @ chosen.astype(np.int64)) > 0)


def cell_name(published: Published | Publication, position: int) -> str:
    """The codes of a cell as readers know them, e.g. ``region=N, size=Total``."""
    publication = together(published)
    if position >= publication.starts[-1]:
        return "a cell that is not published"
    table, at = publication.at(position)
    codes = ", ".join(
        f"{d.name}={d.hierarchy.codes[i]}"
        for d, i in zip(table.dimensions, np.unravel_index(at, table.shape), strict=True)
    )
    return codes if len(publication.tables) == 1 else f"{table.name}: {codes}"


@dataclass(frozen=True, eq=False)
class _Block:
    matrix: sparse.csr_array
    right: NDArray[np.int64]
    wrong: list[str]


class _Builder:
    """Makes equations between the unknown cells among all there are."""

    def __init__(
        self, publication: Publication, value: NDArray[np.int64], unknown: NDArray[np.bool_]
    ):
        self.publication, self.value, self.unknown = publication, value, unknown
        self.cell = np.flatnonzero(unknown).astype(np.int64)
        self.column = np.cumsum(unknown) - 1

    # ── the equations of one dimension ──────────────────────────────────────────────

    def along(self, grid: Grid, axis: int) -> _Block:
        """Equations total − parts = 0 along an axis, for each combination of other codes.

        They are numbered ``(number of the inner code, combination of the others)``.
        """
        shape, parent = grid.number.shape, grid.axes[axis].parent
        inner, sums = _total_minus_parts(parent)
        known = sums @ np.moveaxis(self.value[grid.number], axis, 0).reshape(len(parent), -1)
        others = known.shape[1]

        # an unknown cell stands in the equation of its own code and in that of its parent
        number = np.full(len(parent) + 1, -1)  # the last entry answers for parent -1
        number[inner] = np.arange(len(inner))
        cell = np.flatnonzero(self.unknown[grid.number.ravel()])
        at = np.unravel_index(cell, shape)
        code = at[axis]
        line = np.concatenate((number[code], number[parent[code]]))
        stands = line >= 0
        place = line * others + np.tile(_combination(at, shape, axis), 2)
        used, row = np.unique(place[stands], return_inverse=True)
        column = np.tile(self.column[grid.number.ravel()[cell]], 2)[stands]
        sign = np.repeat(np.array([1, -1]), len(cell))[stands]

        right = -known.ravel()[used]
        known.ravel()[used] = 0
        return _Block(
            sparse.csr_array(
                (sign, (row, column)), shape=(len(used), len(self.cell)), dtype=np.int64
            ),
            right,
            [
                self._wrong(grid, axis, int(inner[i]), int(j), int(known[i, j]))
                for i, j in np.argwhere(known)
            ],
        )

    def _wrong(self, grid: Grid, axis: int, code: int, other: int, excess: int) -> str:
        shape = grid.number.shape
        rest = tuple(n for i, n in enumerate(shape) if i != axis)
        at = [int(i) for i in np.unravel_index(other, rest)] if rest else []
        at.insert(axis, code)
        position = int(grid.number[tuple(at)])
        total = int(self.value[position])
        return (
            f"{cell_name(self.publication, position)} is {self._shown(total)}, but its parts by "
            f"{grid.axes[axis].name} add up to {self._shown(total - excess)}"
        )

    def _shown(self, value: int) -> str:
        decimals = self.publication.tables[0].decimals
        return f"{value / 10**decimals:.{decimals}f}"

    # ── the equations between tables ────────────────────────────────────────────────

    def tied(self, tie: Tie, cells: NDArray[np.int64], signs: NDArray[np.int64]) -> _Block:
        """Equations ``Σ sign · cell = 0``, one for each row of `cells`."""
        open_ = self.unknown[cells]
        known = np.where(open_, 0, self.value[cells]) @ signs
        used = np.flatnonzero(open_.any(axis=1))
        line, term = np.nonzero(open_[used])
        column = self.column[cells[used][line, term]]
        wrong = np.flatnonzero(~open_.any(axis=1) & (known != 0))
        return _Block(
            sparse.csr_array(
                (signs[term], (line, column)), shape=(len(used), len(self.cell)), dtype=np.int64
            ),
            -known[used],
            [self._untied(cells[row], tie.why) for row in wrong.tolist()],
        )

    def _untied(self, cells: NDArray[np.int64], why: str) -> str:
        first, *others = (
            f"{cell_name(self.publication, int(cell))} ({self._shown(int(self.value[cell]))})"
            for cell in cells
        )
        return f"{first} {why} {', '.join(others)}"


def _tied(builder: _Builder, tied: Sequence[Tie], rest: int) -> Iterator[_Block]:
    """The equations between tables; the rests are unpublished cells from `rest` onwards."""
    for tie in tied:
        cells, signs = tie.cells, tie.signs
        if tie.rest:
            own = np.arange(rest, rest + len(cells))
            rest += len(cells)
            cells, signs = np.column_stack((cells, own)), np.append(signs, -1)
        yield builder.tied(tie, cells, signs)


def _total_minus_parts(
    parent: NDArray[np.int32],
) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Codes that are totals, and a row for each of them: 1 at the code, −1 at its children."""
    above = parent[1:]
    inner = np.unique(above).astype(np.int64)
    row = np.concatenate((np.arange(len(inner)), np.searchsorted(inner, above)))
    column = np.concatenate((inner, np.arange(1, len(parent))))
    sign = np.concatenate((np.ones(len(inner), np.int64), -np.ones(len(above), np.int64)))
    return inner, sparse.csr_array((sign, (row, column)), shape=(len(inner), len(parent)))


def _combination(at: tuple[NDArray[np.intp], ...], shape: tuple[int, ...], axis: int):
    """Flat position of cells among the combinations of all codes but those of `axis`."""
    rest = [i for i in range(len(shape)) if i != axis]
    if not rest:
        return np.zeros_like(at[0])
    return np.ravel_multi_index(tuple(at[i] for i in rest), tuple(shape[i] for i in rest))
