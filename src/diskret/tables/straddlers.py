"""Contributors with records in several leaves: count each once in every total it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.engines import Straddlers
from diskret.hierarchy import Hierarchy

_PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Excess:
    """What straddlers add to the cells they touch; cells ascending.

    Parameters
    ----------
    cell
        Flat (C order) positions of the touched cells, ``(n,)``.
    number
        Distinct straddlers in each, ``(n,)``, int64.
    magnitude
        Measure → Σ|contribution| of the straddlers there, ``(n,)``, int64.
    largest
        Measure → their largest |contributions|, descending, ``(n, kept)``, int64.
    key_sum
        Sum of their record keys modulo the key modulus, ``(n,)``, uint64, or None.
    """

    cell: NDArray[np.int64]
    number: NDArray[np.int64]
    magnitude: Mapping[str, NDArray[np.int64]]
    largest: Mapping[str, NDArray[np.int64]]
    key_sum: NDArray[np.uint64] | None


def straddler_excess(
    straddlers: Straddlers,
    flat: NDArray[np.int64],
    trees: list[Hierarchy],
    kept: int,
    key_modulus: int,
) -> Excess:
    """What the straddlers add to every cell, leaf or total, that they touch.

    Parameters
    ----------
    straddlers
        Sorted by contributor.
    flat
        Flat position of each leaf combination in the dense table.
    trees
        The code tree of each dimension.
    kept
        How many largest contributions to keep.
    key_modulus
        What key sums are reduced by.
    """
    shape = tuple(len(t) for t in trees)
    chains = [_padded_ancestors(t) for t in trees]
    combinations = int(np.prod([c.shape[1] for c in chains]))
    total: Excess | None = None
    for rows in _blocks(straddlers.contributor, max(1, _PAIRS_AT_ONCE // combinations)):
        part = _block_excess(straddlers, rows, flat, chains, shape, kept, key_modulus)
        total = part if total is None else _merge(total, part, kept, key_modulus)
    if total is None:
        raise ValueError("there are no straddlers")
    return total


def _padded_ancestors(tree: Hierarchy) -> NDArray[np.int64]:
    """For each code all codes at or above it, padded with −1, ``(codes, depth)``."""
    depth = max(len(chain) for chain in tree.ancestors)
    padded = np.full((len(tree), depth), -1, dtype=np.int64)
    for code, chain in enumerate(tree.ancestors):
        padded[code, : len(chain)] = chain
    return padded


def _blocks(contributor: NDArray[np.int64], rows: int) -> list[slice]:
    """Slices of about `rows` rows that never cut a contributor in two."""
    blocks: list[slice] = []
    start, n = 0, len(contributor)
    while start < n:
        stop = min(start + rows, n)
        if stop < n:
            stop = int(np.searchsorted(contributor, contributor[stop - 1], side="right"))
        blocks.append(slice(start, stop))
        start = stop
    return blocks


def _block_excess(
    straddlers: Straddlers,
    rows: slice,
    flat: NDArray[np.int64],
    chains: list[NDArray[np.int64]],
    shape: tuple[int, ...],
    kept: int,
    key_modulus: int,
) -> Excess:
    codes = np.unravel_index(flat[straddlers.leaf[rows]], shape)
    n = len(codes[0])
    cell = np.zeros((n, 1), dtype=np.int64)
    for chain, code, size in zip(chains, codes, shape, strict=True):
        above = chain[code]
        step = np.where(above[:, None, :] < 0, -1, cell[:, :, None] * size + above[:, None, :])
        cell = np.where(cell[:, :, None] < 0, -1, step).reshape(n, -1)
    row, column = np.nonzero(cell >= 0)
    cells = cell[row, column]
    who = straddlers.contributor[rows][row]

    order = np.lexsort((who, cells))
    cells, who, row = cells[order], who[order], row[order]
    new = np.r_[True, (cells[1:] != cells[:-1]) | (who[1:] != who[:-1])]
    first = np.flatnonzero(new)  # one entry for each (cell, contributor)
    pair_cell = cells[first]
    starts = np.flatnonzero(np.r_[True, pair_cell[1:] != pair_cell[:-1]])
    touched = pair_cell[starts]
    number = np.diff(np.r_[starts, len(pair_cell)])

    magnitude: dict[str, NDArray[np.int64]] = {}
    largest: dict[str, NDArray[np.int64]] = {}
    for name, sums in straddlers.sums.items():
        contribution = np.abs(np.add.reduceat(sums[rows][row], first))
        magnitude[name] = np.add.reduceat(contribution, starts)
        largest[name] = _top(pair_cell, contribution, starts, number, kept)
    key_sum = None
    if straddlers.key is not None:
        keys = straddlers.key[rows][row[first]]
        key_sum = np.add.reduceat(keys, starts) % np.uint64(key_modulus)
    return Excess(touched, number, magnitude, largest, key_sum)


def _top(
    cell: NDArray[np.int64],
    contribution: NDArray[np.int64],
    starts: NDArray[np.intp],
    number: NDArray[np.int64],
    kept: int,
) -> NDArray[np.int64]:
    descending = contribution[np.lexsort((-contribution, cell))]
    top = np.zeros((len(starts), kept), dtype=np.int64)
    for rank in range(kept):
        have = number > rank
        top[have, rank] = descending[starts[have] + rank]
    return top


def _merge(a: Excess, b: Excess, kept: int, key_modulus: int) -> Excess:
    cell = np.union1d(a.cell, b.cell)
    at_a, at_b = np.searchsorted(cell, a.cell), np.searchsorted(cell, b.cell)

    def added(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        out = np.zeros((len(cell), *x.shape[1:]), dtype=x.dtype)
        out[at_a] += x
        out[at_b] += y
        return out

    def best(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        both = np.zeros((len(cell), 2 * kept), dtype=np.int64)
        both[at_a, :kept] = x
        both[at_b, kept:] = y
        return np.sort(both, axis=1)[:, ::-1][:, :kept]

    key_sum = None
    if a.key_sum is not None and b.key_sum is not None:
        key_sum = added(a.key_sum, b.key_sum) % np.uint64(key_modulus)
    return Excess(
        cell=cell,
        number=added(a.number, b.number),
        magnitude={m: added(x, b.magnitude[m]) for m, x in a.magnitude.items()},
        largest={m: best(x, b.largest[m]) for m, x in a.largest.items()},
        key_sum=key_sum,
    )
