"""The attacker's own equations, built from the published structure alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT
from diskret.errors import ContradictionError, InputError
from diskret.tables import Dimension, Published


@dataclass(frozen=True, eq=False)
class Equations:
    """What the published cells say about the ``k`` suppressed ones: ``matrix @ x = right``.

    Parameters
    ----------
    cell
        Flat (C order) positions of the suppressed cells, ascending, ``(k,)``, int64.
    matrix
        A row for each equation total − parts = 0 with a suppressed cell in it, a column for
        each suppressed cell, ``(m, k)``, int64 CSR with entries 1 and −1.
    right
        The published share of each equation, with the sign changed, ``(m,)``, int64.
    """

    cell: NDArray[np.int64]
    matrix: sparse.csr_array
    right: NDArray[np.int64]


def equations(published: Published) -> Equations:
    """Derive every equation between suppressed cells from a published table.

    Raises
    ------
    ContradictionError
        Published totals that are not the sum of their published parts.
    InputError
        Values so large that sums leave the range of 64-bit integers.
    """
    cell = np.flatnonzero(published.suppressed).astype(np.int64)
    value = np.where(published.suppressed, 0, published.value)
    if float(np.abs(value).max(initial=0)) * max(published.shape, default=0) >= LIMIT:
        raise InputError(
            f"table {published.name!r}: published values are too large to be added up in 64-bit "
            "integers; publish fewer decimals"
        )
    blocks = [_equations_along(published, value, cell, axis) for axis in range(value.ndim)]
    wrong = [line for block in blocks for line in block.wrong]
    if wrong:
        raise ContradictionError(
            f"table {published.name!r}: {len(wrong)} published totals are not the sum of their "
            f"published parts, e.g. {'; '.join(wrong[:5])}. No table can have these values: "
            "correct the published values, then attack again"
        )
    return Equations(
        cell,
        sparse.csr_array(sparse.vstack([block.matrix for block in blocks], format="csr")),
        np.concatenate([block.right for block in blocks]),
    )


def cell_name(published: Published, position: int) -> str:
    """The codes of a cell as readers know them, e.g. ``region=N, size=Total``."""
    at = np.unravel_index(position, published.shape)
    return ", ".join(
        f"{d.name}={d.hierarchy.codes[i]}" for d, i in zip(published.dimensions, at, strict=True)
    )


# ── the equations of one dimension ───────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Block:
    matrix: sparse.csr_array
    right: NDArray[np.int64]
    wrong: list[str]


def _equations_along(
    published: Published, value: NDArray[np.int64], cell: NDArray[np.int64], axis: int
) -> _Block:
    """Equations total − parts = 0 along `axis`, for each combination of the other codes.

    They are numbered ``(number of the inner code, combination of the others)``.
    """
    dimension = published.dimensions[axis]
    inner, sums = _total_minus_parts(dimension)
    known = sums @ np.moveaxis(value, axis, 0).reshape(len(dimension), -1)
    others = known.shape[1]

    # a suppressed cell stands in the equation of its own code and in that of its parent
    number = np.full(len(dimension) + 1, -1)  # the last entry answers for parent -1
    number[inner] = np.arange(len(inner))
    at = np.unravel_index(cell, published.shape)
    code = at[axis]
    line = np.concatenate((number[code], number[dimension.hierarchy.parent[code]]))
    stands = line >= 0
    place = line * others + np.tile(_combination(at, published.shape, axis), 2)
    used, row = np.unique(place[stands], return_inverse=True)
    column = np.tile(np.arange(len(cell)), 2)[stands]
    sign = np.repeat(np.array([1, -1]), len(cell))[stands]

    right = -known.ravel()[used]
    known.ravel()[used] = 0
    return _Block(
        sparse.csr_array((sign, (row, column)), shape=(len(used), len(cell)), dtype=np.int64),
        right,
        [
            _wrong(published, axis, int(inner[i]), int(j), int(known[i, j]))
            for i, j in np.argwhere(known)
        ],
    )


def _total_minus_parts(dimension: Dimension) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Codes that are totals, and a row for each of them: 1 at the code, −1 at its children."""
    parent = dimension.hierarchy.parent[1:]
    inner = np.unique(parent).astype(np.int64)
    row = np.concatenate((np.arange(len(inner)), np.searchsorted(inner, parent)))
    column = np.concatenate((inner, np.arange(1, len(dimension))))
    sign = np.concatenate((np.ones(len(inner), np.int64), -np.ones(len(parent), np.int64)))
    return inner, sparse.csr_array((sign, (row, column)), shape=(len(inner), len(dimension)))


def _combination(at: tuple[NDArray[np.intp], ...], shape: tuple[int, ...], axis: int):
    """Flat position of cells among the combinations of all codes but those of `axis`."""
    rest = [i for i in range(len(shape)) if i != axis]
    if not rest:
        return np.zeros_like(at[0])
    return np.ravel_multi_index(tuple(at[i] for i in rest), tuple(shape[i] for i in rest))


def _wrong(published: Published, axis: int, code: int, other: int, excess: int) -> str:
    rest = tuple(n for i, n in enumerate(published.shape) if i != axis)
    at = [int(i) for i in np.unravel_index(other, rest)] if rest else []
    at.insert(axis, code)
    position = int(np.ravel_multi_index(at, published.shape))
    total = int(published.value.ravel()[position])
    unit = 10**published.decimals
    return (
        f"{cell_name(published, position)} is {total / unit:.{published.decimals}f}, but its "
        f"parts by {published.dimensions[axis].name} add up to "
        f"{(total - excess) / unit:.{published.decimals}f}"
    )
