"""Loops over contributors that straddle leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def add_straddlers(
    contributor: NDArray[np.int64],
    position: NDArray[np.int64],
    above: NDArray[np.int64],
    sizes: NDArray[np.int64],
    sums: NDArray[np.int64],
    marked: NDArray[np.int64],
    number: NDArray[np.int64],
    magnitude: NDArray[np.int64],
    largest: NDArray[np.int64],
    key: NDArray[np.uint64],
    key_sum: NDArray[np.uint64],
    marked_largest: NDArray[np.int64],
    weight: NDArray[np.int64],
    weight_unit: int,
    largest_weight: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Add each contributor once to every cell it touches; see `count_straddlers`.

    `position` are the codes of each row, ``(rows, d)``; `above` the codes at or above each
    code, padded with −1, ``(d, codes, depth)``; `sizes` the numbers of codes; `marked` the
    numbers of marked records, ``(rows, marks)``. Everything after `marked` but `key` is
    added to, by cell: ``(cells,)``, ``(m, cells)``, ``(m, cells, k)``, ``(marks, m, cells)``;
    `key` and `key_sum` are empty where there are no record keys, `weight` and
    `largest_weight` where there are no weights. With weights `sums` are weighted and `largest`
    is for a weight of 1, which is `weight_unit`.
    """
    rows, dimensions = position.shape
    measures, cells, kept = largest.shape
    depth = above.shape[2]
    seen = np.full(cells, -1, dtype=np.int64)  # the contributor that touched a cell last
    here = np.zeros((measures, cells), dtype=np.int64)  # what it contributes there
    marks = marked.shape[1]
    borne = np.zeros((marks, cells), dtype=np.int64)  # how many of its records are marked there
    touched = np.empty(cells, dtype=np.int64)
    paths = np.empty((2, depth**dimensions), dtype=np.int64)
    row = 0
    while row < rows:
        who = contributor[row]
        first = row
        many = 0
        while row < rows and contributor[row] == who:
            # all combinations of codes at or above this row's, one dimension after the other
            now, paths[0, 0], found = 0, 0, 1
            for d in range(dimensions):
                grown = 0
                for i in range(found):
                    for level in range(depth):
                        code = above[d, position[row, d], level]
                        if code < 0:
                            break
                        paths[1 - now, grown] = paths[now, i] * sizes[d] + code
                        grown += 1
                now, found = 1 - now, grown
            for i in range(found):
                cell = paths[now, i]
                if seen[cell] != who:
                    seen[cell] = who
                    touched[many] = cell
                    many += 1
                    for m in range(measures):
                        here[m, cell] = 0
                    for j in range(marks):
                        borne[j, cell] = 0
                for m in range(measures):
                    here[m, cell] += sums[row, m]
                for j in range(marks):
                    borne[j, cell] += marked[row, j]
            row += 1
        for i in range(many):
            cell = touched[i]
            number[cell] += 1
            if len(key):
                key_sum[cell] += key[first]
            for m in range(measures):
                size = abs(here[m, cell])
                for j in range(marks):
                    if borne[j, cell] > 0 and size > marked_largest[j, m, cell]:
                        marked_largest[j, m, cell] = size
                magnitude[m, cell] += size
                load = 0
                if len(weight):
                    load = weight[first]
                    if load != weight_unit:
                        size = size // load * weight_unit  # exact: a sum, load times
                for rank in range(kept):
                    if size > largest[m, cell, rank]:
                        size, largest[m, cell, rank] = largest[m, cell, rank], size
                        if len(weight):
                            load, largest_weight[m, cell, rank] = (
                                largest_weight[m, cell, rank],
                                load,
                            )
