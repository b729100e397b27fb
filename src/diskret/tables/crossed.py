"""How the categories of two variables and more lie in each other: a grid in municipalities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.engines import Leaves
from diskret.hierarchy import Hierarchy
from diskret.population import Bounds
from diskret.tables.boxes import Boxes, boxes_of_cells, leaves_in_boxes
from diskret.tables.made_of import ANYWHERE
from diskret.tables.rollup import roll_up
from diskret.tables.table import Table


@dataclass(frozen=True, eq=False)
class Grouping:
    """One of these variables, as the codes of a table group the pieces. Confidential.

    A variable that a table filters by has one code: what the filter asks for.

    table: position of the table.
    cells: flat positions of the cells of each code and context, the table's other variables at
        their total, ``(codes, contexts)``.
    pieces: which pieces lie in which code, ``(codes, pieces)``, entries 1.
    parent: of each code, −1 for the first, ``(codes,)``.
    total: whether the first code is that of all pieces.
    """

    table: int
    cells: NDArray[np.int64]
    pieces: sparse.csr_array
    parent: NDArray[np.int32]
    total: bool = True

    @property
    def some(self) -> NDArray[np.bool_]:
        """Which codes are no totals, ``(codes,)``."""
        return (self.parent >= 0) | (not self.total)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Records by variables that stand in different tables. Confidential.

    A piece is a combination of finest codes of these variables and of those that all tables
    have; a context is a combination of codes of the latter.

    contexts: which pieces lie in which context, ``(contexts, pieces)``, entries 1.
    records: the pieces as cells of one variable, behind their total.
    """

    groupings: tuple[Grouping, ...]
    contexts: sparse.csr_array
    records: Table


def crossed(
    tables: Sequence[Table], places: tuple[int, ...], names: tuple[str, ...], leaves: Leaves
) -> Crossed:
    """Put together what an engine counted by some variables, and by what their tables share.

    places: the position of two tables and more among them.
    names: of each a variable that the others do not have, or that it filters by with codes.
    leaves: the records of these tables by these variables and by all that the tables share.
    """
    finest = {n: tuple(t.codes[i] for i in t.leaves.tolist()) for n, t in leaves.by.items()}
    position = {n: i for i, n in enumerate(leaves.by)}
    leaf = np.stack(
        [
            (np.cumsum(tree.is_leaf) - 1)[leaves.position[:, i]]
            for i, tree in enumerate(leaves.by.values())
        ],
        axis=1,
    ).astype(np.int32)
    several = [tables[place] for place in places]
    shared = [name for name in leaves.by if name not in names]
    inside = [{n: _inside(t, n, finest[n]) for n in (own, *shared)} for t, own in
              zip(several, names, strict=True)]  # fmt: skip
    trees = [{d.name: d.hierarchy for d in table.dimensions} for table in several]
    group = [_common([own[name] for own in inside]) for name in shared]
    contexts = [
        [grid.ravel() for grid in np.meshgrid(*[g[:, at] for g in group], indexing="ij")]
        for at in range(len(several))
    ]
    boxes = Boxes(
        np.stack(contexts[0], axis=1) if shared else np.zeros((1, 0), dtype=np.int64),
        tuple(inside[0][name] for name in shared),
    )
    in_context = leaves_in_boxes(boxes, leaf[:, [position[n] for n in shared]])
    groupings = [
        Grouping(
            place,
            _cells(table, name, dict(zip(shared, at, strict=True))),
            sparse.csr_array(own[name][:, leaf[:, position[name]]]),
            tree[name].parent if name in tree else np.array([-1], dtype=np.int32),
            name in tree,
        )
        for table, tree, place, name, own, at in zip(
            several, trees, places, names, inside, contexts, strict=True
        )
    ]
    model = several[0]
    numbered = Hierarchy.flat(map(_number, range(len(leaf))))
    at = np.arange(1, len(leaf) + 1, dtype=np.int32)[:, None]
    alone = replace(leaves, by={"piece": numbered}, position=at)
    decimals = {
        measure.name: measure.decimals for measure in model.measures if measure.name in leaves.sums
    }
    records = roll_up(alone, decimals, vintage=model.vintage, where=model.where)
    records = replace(records, chosen=model.chosen, counted=model.counted, made_of=ANYWHERE)
    return Crossed(tuple(groupings), in_context, records)


def _number(piece: int) -> str:
    """Codes of pieces sort as their numbers do."""
    return f"{piece:09d}"


def _inside(table: Table, name: str, finest: tuple[str, ...]) -> sparse.csr_array:
    """Which finest codes each code of a variable of a table consists of, or its filter asks for."""
    dimension = next((d for d in table.dimensions if d.name == name), None)
    if dimension is None:
        asked = table.where.asked[name]
        chosen = [not isinstance(asked, Bounds) and code in asked for code in finest]
        return sparse.csr_array(np.array([chosen], dtype=np.int64))
    every = np.arange(len(dimension), dtype=np.int64)
    return boxes_of_cells([dimension], {name: finest}, every).inside[0]


def _common(inside: Sequence[sparse.csr_array]) -> NDArray[np.int64]:
    """The codes of tables that consist of the same finest codes, ``(codes, tables)``."""
    first, *others = inside
    places = [
        {frozenset(codes.tolist()): i for i, codes in reversed([*enumerate(_rows(other))])}
        for other in others
    ]
    found = [
        (i, *(place[key] for place in places))
        for i, codes in enumerate(_rows(first))
        if all((key := frozenset(codes.tolist())) in place for place in places)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, len(inside))


def _rows(matrix: sparse.csr_array) -> list[NDArray[np.int32]]:
    return np.split(matrix.indices, matrix.indptr[1:-1])


def _cells(table: Table, name: str, at: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """The cells of each code of a variable in each context; other variables at their total."""
    contexts = len(next(iter(at.values()))) if at else 1
    index = [
        np.arange(len(d))[:, None]
        if d.name == name
        else np.asarray(at.get(d.name, np.zeros(contexts, dtype=np.int64)))[None, :]
        for d in table.dimensions
    ]
    return np.ravel_multi_index(tuple(np.broadcast_arrays(*index)), table.shape)
