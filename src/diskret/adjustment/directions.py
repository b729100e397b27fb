"""In which direction sensitive cells move: a first choice that keeps totals where they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.adjustment.problem import Adjustment

_SWEEPS = 100
#: A total that must move and doesn't costs so many times what moving it would.
_SHORT = 20.0


def balanced_directions(problem: Adjustment) -> NDArray[np.int8]:
    """A direction for each sensitive cell, 1 or −1, ``(k,)``; 0 where it follows from others.

    Cells that are no totals are turned, the largest steps first, so that all totals together
    move least if nothing else moves; then one by one as long as that gets less.
    """
    from diskret.adjustment._kernels import choose_directions

    n = len(problem.cost)
    parts = below(problem.equations)
    inner = np.flatnonzero(~np.asarray(parts.sum(axis=1) > 0).ravel()[problem.cell])
    way = np.zeros(len(problem.cell), dtype=np.int8)
    way[problem.may_rise & ~problem.may_fall] = 1
    way[~problem.may_rise & problem.may_fall] = -1
    if len(inner) == 0:
        return way
    above = sparse.csr_array(_above(parts, problem.cell[inner]))
    rise = np.where(problem.may_rise, problem.upper, -1)[inner]
    fall = np.where(problem.may_fall, problem.lower, -1)[inner]
    need = np.full((2, n), -1, dtype=np.int64)
    need[0, problem.cell] = np.where(problem.may_rise, problem.upper, -1)
    need[1, problem.cell] = np.where(problem.may_fall, problem.lower, -1)
    found = np.zeros(len(inner), dtype=np.int8)
    moved = np.zeros(n, dtype=np.int64)
    choose_directions(
        np.argsort(-np.maximum(rise, fall), kind="stable"),
        above.indptr.astype(np.int64),
        above.indices.astype(np.int64),
        rise,
        fall,
        problem.cost,
        need[0],
        need[1],
        _SHORT,
        _SWEEPS,
        found,
        moved,
    )
    way[inner] = found
    total = np.setdiff1d(np.flatnonzero(way == 0), inner)
    there = moved[problem.cell[total]]
    way[total] = np.sign(there)
    return way


def below(equations: sparse.csr_array) -> sparse.csr_array:
    """The parts of each total by the first equation of it, ``(n, n)``; parts have empty rows."""
    n = equations.shape[1]
    entries = sparse.coo_array(equations)
    line, column = entries.coords
    total = np.full(equations.shape[0], -1, dtype=np.int64)
    total[line[entries.data > 0]] = column[entries.data > 0]
    first = np.zeros(equations.shape[0], dtype=bool)
    first[np.unique(total, return_index=True)[1]] = True
    kept = (entries.data < 0) & first[line] & (total[line] >= 0)
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    return sparse.csr_array((ones, (total[line[kept]], column[kept])), shape=(n, n))


def _above(parts: sparse.csr_array, cells: NDArray[np.int64]) -> sparse.csr_array:
    """Cells that move with each of some cells, themselves included, ``(len(cells), n)``."""
    n = parts.shape[0]
    at = np.arange(len(cells))
    step = sparse.csr_array((np.ones(len(cells), np.int64), (at, cells)), shape=(len(cells), n))
    upwards = sparse.csr_array(parts.T)
    found = step
    for _ in range(n):
        step = sparse.csr_array(step @ upwards)
        if step.nnz == 0:
            break
        found = found + step
    return sparse.csr_array(found)
