"""Contributors with records in several leaves: count each once in every total it reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.engines import Straddlers
from diskret.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Excess:
    """What straddlers add to the cells of a table, all combinations of codes in C order.

    number: distinct straddlers, ``(cells,)``, int64.
    magnitude: Σ|contribution| of the straddlers, ``(measures, cells)``, int64.
    largest: their largest |contributions|, descending, ``(measures, cells, kept)``, int64.
    key_sum: sum of their record keys, ``(cells,)``, uint64; empty without record keys.
    marked_largest: the largest |contribution| of a straddler that is marked there, ``(marks,
        measures, cells)``, int64.
    largest_weight: with weights `largest` is for a weight of 1, and this, of the same shape, says
        how many times it counts; empty without.
    """

    number: NDArray[np.int64]
    magnitude: NDArray[np.int64]
    largest: NDArray[np.int64]
    key_sum: NDArray[np.uint64]
    marked_largest: NDArray[np.int64]
    largest_weight: NDArray[np.int64]


def count_straddlers(
    straddlers: Straddlers,
    position: NDArray[np.int32],
    trees: list[Hierarchy],
    measures: list[str],
    kept: int,
    weight_unit: int | None = None,
) -> Excess:
    """What the straddlers add to every cell, leaf or total.

    position: for each leaf combination the positions of its codes, ``(leaves, d)``.
    weight_unit: scaled weight that means 1, or None without weights.
    """
    from diskret.tables.straddler_kernels import add_straddlers

    sizes = np.array([len(tree) for tree in trees], dtype=np.int64)
    cells = int(np.prod(sizes))
    keyed = straddlers.key is not None
    rows = len(straddlers.contributor)
    excess = Excess(
        number=np.zeros(cells, dtype=np.int64),
        magnitude=np.zeros((len(measures), cells), dtype=np.int64),
        largest=np.zeros((len(measures), cells, kept), dtype=np.int64),
        key_sum=np.zeros(cells if keyed else 0, dtype=np.uint64),
        marked_largest=np.zeros((len(straddlers.marked), len(measures), cells), dtype=np.int64),
        largest_weight=np.zeros(
            (len(measures), 0 if weight_unit is None else cells, kept), dtype=np.int64
        ),
    )
    sums = [straddlers.sums[name] for name in measures]
    add_straddlers(
        straddlers.contributor,
        position[straddlers.leaf].astype(np.int64),
        _padded_ancestors(trees),
        sizes,
        _side_by_side(sums, rows),
        _side_by_side(list(straddlers.marked.values()), rows),
        excess.number,
        excess.magnitude,
        excess.largest,
        straddlers.key if straddlers.key is not None else np.empty(0, dtype=np.uint64),
        excess.key_sum,
        excess.marked_largest,
        straddlers.weight if straddlers.weight is not None else np.empty(0, dtype=np.int64),
        weight_unit or 1,
        excess.largest_weight,
    )
    return excess


def _side_by_side(columns: list[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0), dtype=np.int64)


def _padded_ancestors(trees: list[Hierarchy]) -> NDArray[np.int64]:
    """For each dimension and code all codes at or above it, padded with −1."""
    depth = max(len(chain) for tree in trees for chain in tree.ancestors)
    padded = np.full((len(trees), max(map(len, trees)), depth), -1, dtype=np.int64)
    for d, tree in enumerate(trees):
        for code, chain in enumerate(tree.ancestors):
            padded[d, code, : len(chain)] = chain
    return padded
