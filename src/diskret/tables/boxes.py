"""Which combinations of leaf codes a part of a table consists of.

A cell, or any other part that is restricted in each variable on its own, is a *box*: the
product of one group of leaf codes for each variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.tables.dimension import Dimension
from diskret.texts.numbers import Count

#: Restriction of each variable to some of its codes; None, or nothing said: all codes.
Restriction = Mapping[str, frozenset[str] | None]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Parts of a table, each a product of groups of leaf codes.

    group: the group of each box in each dimension, ``(boxes, d)``, int64.
    inside: for each dimension which leaf codes each group holds, ``(groups, leaf codes)``, of
        entries 1.
    """

    group: NDArray[np.int64]
    inside: tuple[sparse.csr_array, ...]


def boxes_of_cells(
    dimensions: Sequence[Dimension], by: Mapping[str, tuple[str, ...]], cells: NDArray[np.int64]
) -> Boxes:
    """The boxes of cells of a table.

    by: variable → the leaf codes, of this table or of the one that it was recoded from.
    cells: flat positions of the cells, ``(boxes,)``.
    """
    shape = tuple(len(d) for d in dimensions)
    group = np.stack(np.unravel_index(cells, shape), axis=1).astype(np.int64)
    return Boxes(group, tuple(_of_codes(d, by[d.name]) for d in dimensions))


def boxes_of_restrictions(
    dimensions: Sequence[Dimension],
    by: Mapping[str, tuple[str, ...]],
    parts: Sequence[Restriction],
    meaning: Mapping[str, Mapping[str, frozenset[str]]],
) -> Boxes:
    """The boxes of parts that no table shows, told by codes of each variable.

    parts: for each box the codes of each variable.
    meaning: variable → leaf code → the finer codes it stands for, where `parts` name these.
    """
    names = [d.name for d in dimensions]
    strange = {
        n for part in parts for n, codes in part.items() if n not in names and codes is not None
    }
    if strange:
        raise InputError(
            f"parts of the table are restricted by variables that it does not have: "
            f"{some(sorted(map(repr, strange)))}; it has {', '.join(map(repr, names))}"
        )
    group = np.empty((len(parts), len(names)), dtype=np.int64)
    inside: list[sparse.csr_array] = []
    for axis, dimension in enumerate(dimensions):
        name = dimension.name
        number: dict[frozenset[str] | None, int] = {}
        group[:, axis] = [number.setdefault(part.get(name), len(number)) for part in parts]
        finest = _finest(dimension.hierarchy, by[name], meaning.get(name, {}))
        inside.append(_of_sets(name, finest, list(number)))
    return Boxes(group, tuple(inside))


def leaves_in_boxes(boxes: Boxes, leaf: NDArray[np.int32]) -> sparse.csr_array:
    """Which combinations of leaf codes lie in which box, ``(boxes, combinations)``.

    Each combination is led through the dimensions together with the first groups of the
    boxes it may still be in, so the work goes with what is found and not with how many
    combinations of codes there could be.

    leaf: distinct combinations: the number of each leaf code, ``(combinations, d)``.
    """
    if not len(boxes.group):
        return sparse.csr_array((0, len(leaf)), dtype=np.int64)
    row = np.arange(len(leaf))
    prefix = np.zeros(len(leaf), dtype=np.int64)
    known = np.zeros(len(boxes.group), dtype=np.int64)
    wanted = np.zeros(1, dtype=np.int64)
    for axis, inside in enumerate(boxes.inside):
        groups = inside.shape[0]
        of_code = inside.tocsc()
        wanted, known = np.unique(known * groups + boxes.group[:, axis], return_inverse=True)
        at, again = ranges(of_code.indptr, leaf[row, axis])
        key = prefix[again] * groups + of_code.indices[at]
        found = np.minimum(np.searchsorted(wanted, key), len(wanted) - 1)
        there = wanted[found] == key
        row, prefix = row[again][there], found[there]
    shape = (len(wanted), len(leaf))
    ones = np.ones(len(row), dtype=np.int64)
    return sparse.csr_array((ones, (prefix, row)), shape=shape)[known]


def ranges(
    start: NDArray[np.integer], which: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some rows of a compressed matrix, and which of the rows each belongs to.

    >>> at, again = ranges(np.array([0, 2, 3]), np.array([1, 0]))
    >>> at.tolist(), again.tolist()
    ([2, 0, 1], [0, 1, 1])
    """
    first = start[which].astype(np.int64)
    number = start[which + 1].astype(np.int64) - first
    again = np.repeat(np.arange(len(which)), number)
    before = np.cumsum(number) - number
    return np.arange(len(again)) + (first - before)[again], again


def _of_codes(dimension: Dimension, by: tuple[str, ...]) -> sparse.csr_array:
    """Which leaf codes each code of a dimension consists of."""
    tree = dimension.hierarchy
    number = {code: i for i, code in enumerate(by)}
    below: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(tree)
    for i in range(len(tree) - 1, -1, -1):
        inner = tree.children[i].tolist()
        if i == 0:
            below[i] = np.arange(len(by))
        elif inner:
            below[i] = np.concatenate([below[j] for j in inner])
        else:
            below[i] = np.array(_leaves_of(tree, i, number, dimension.name), dtype=np.int64)
    start = np.concatenate(([0], np.cumsum([len(codes) for codes in below])))
    column = np.concatenate(below)
    ones = np.ones(len(column), dtype=np.int64)
    return sparse.csr_array((ones, column, start), shape=(len(tree), len(by)))


def _leaves_of(tree: Hierarchy, leaf: int, number: Mapping[str, int], name: str) -> list[int]:
    """What a leaf was combined from, or itself."""
    code = tree.codes[leaf]
    members = tree.members.get(code, ())
    if members and all(member in number for member in members):
        return [number[member] for member in members]
    if code in number:
        return [number[code]]
    raise InputError(
        f"it is not known which records belong to {name}={code}: its code was combined from "
        f"codes by which the table was not tabulated ({some(list(map(repr, members)))}); tabulate "
        "the records again by the tree as it is now"
    )


def _finest(
    tree: Hierarchy, by: tuple[str, ...], meaning: Mapping[str, frozenset[str]]
) -> list[frozenset[str]]:
    """The finest codes known of each leaf code."""
    own = set(by)

    def known(code: str) -> frozenset[str]:
        members = tree.members.get(code, (code,))
        if own.issuperset(members):
            members = (code,)
        return frozenset[str]().union(*(meaning.get(member, {member}) for member in members))

    return [known(code) for code in by]


def _of_sets(
    name: str, finest: Sequence[frozenset[str]], sets: Sequence[frozenset[str] | None]
) -> sparse.csr_array:
    """Which leaf codes each set of finest codes consists of."""
    holding: dict[str, list[int]] = {}
    for i, codes in enumerate(finest):
        for code in codes:
            holding.setdefault(code, []).append(i)
    size = np.array([len(codes) for codes in finest], dtype=np.int64)
    rows: list[NDArray[np.int64]] = []
    for codes in sets:
        if codes is None:
            rows.append(np.arange(len(finest)))
            continue
        hit = np.array([i for code in codes for i in holding.get(code, ())], dtype=np.int64)
        found, often = np.unique(hit, return_counts=True)
        cut = found[often < size[found]]
        if len(cut):
            examples = some([some(sorted(map(repr, finest[int(i)]))) for i in cut[:3]])
            number = Count(len(cut))
            raise InputError(
                f"{number} {number:category|categories} of {name!r} by which the table was "
                f"tabulated {number:lies|lie} partly in a part that is to be judged: {examples}; "
                "tabulate it by finer codes"
            )
        rows.append(found)
    start = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    column = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    ones = np.ones(len(column), dtype=np.int64)
    return sparse.csr_array((ones, column, start), shape=(len(sets), len(finest)))
