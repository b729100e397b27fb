"""Tables as sums of short moves: taken apart, and put together again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import Point, times
from diskret.attack.insider_moves import entries
from diskret.attack.moves import Moves, packed
from diskret.attack.shortest import Move
from diskret.graphs import connected

#: Moves of more cells that tables at hand consist of are not used: a shorter one is found sooner.
_SHORT = 40
#: Denominators of tables at hand that are taken apart.
_UNITS = 60


def taken_apart(
    matrix: sparse.csr_array,
    label: NDArray[np.int64],
    truth: NDArray[np.int64],
    tables: Sequence[Point],
    longest: int = _SHORT,
) -> dict[int, list[Move]]:
    """The moves that tables consist of, by the piece they belong to, none of too many cells."""
    small = [t for t in tables if t.numerator.dtype == np.int64 and t.denominator <= _UNITS]
    steps = [t.numerator - times(truth, t.denominator) for t in small]
    moved = [np.flatnonzero(step) for step in steps]
    cell = np.concatenate([np.zeros(0, np.int64), *moved])
    table = np.repeat(np.arange(len(small)), [len(cells) for cells in moved])
    step = np.concatenate(
        [np.zeros(0, np.int64), *(s[m] for s, m in zip(steps, moved, strict=True))]
    )
    # a piece that moves nearly as a whole is not one of them
    key, inverse, number = np.unique(
        table * (int(label.max(initial=0)) + 1) + label[cell],
        return_inverse=True,
        return_counts=True,
    )
    size = np.bincount(label)[key % (int(label.max(initial=0)) + 1)]
    kept = ((number <= longest) | (2 * number <= size))[inverse]
    cell, table, step = cell[kept], table[kept], step[kept]
    part = _connected(matrix, table, cell)
    order = np.lexsort((cell, part))
    found: defaultdict[int, dict[bytes, Move]] = defaultdict(dict)
    inside = np.empty(len(label), dtype=np.int64)
    by_label = np.argsort(label, kind="stable")
    inside[by_label] = np.arange(len(label)) - np.searchsorted(label[by_label], label[by_label])
    for rows in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if 0 < len(rows) <= longest:
            unit = small[int(table[rows[0]])].denominator
            move = Move(inside[cell[rows]], step[rows], unit)
            mark = move.cell.tobytes() + move.step.tobytes() + bytes([unit])
            found[int(label[cell[rows[0]]])].setdefault(mark, move)
    return {piece: list(moves.values()) for piece, moves in found.items()}


def _connected(
    matrix: sparse.csr_array, table: NDArray[np.int64], cell: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Which entries of tables are connected by equations in which both move, ``(e,)``."""
    entry, again = entries(sparse.csc_array(matrix), cell)
    row = sparse.csc_array(matrix).indices[entry]
    _, node = np.unique(table[again] * matrix.shape[0] + row, return_inverse=True)
    nodes = len(cell) + int(node.max(initial=-1)) + 1
    links = sparse.coo_array((np.ones(len(again)), (again, len(cell) + node)), (nodes, nodes))
    return connected(links)[: len(cell)].astype(np.int64)


def put_together(
    moves: Sequence[Move], matrix: sparse.csr_array, truth: NDArray[np.int64]
) -> list[Point]:
    """Few tables of all cells that consist of these moves, and can be taken apart again."""
    return packed(as_moves(moves, len(truth)), matrix).points(truth)[1:]


def as_moves(moves: Sequence[Move], n: int) -> Moves:
    """The same moves of ``n`` cells, in one matrix."""
    start = np.cumsum([0, *(len(move.cell) for move in moves)])
    none = np.zeros(0, dtype=np.int64)
    steps = sparse.csr_array(
        (
            np.concatenate([none, *(move.step for move in moves)]),
            np.concatenate([none, *(move.cell for move in moves)]),
            start,
        ),
        shape=(len(moves), n),
    )
    return Moves(steps, np.array([move.unit for move in moves], dtype=np.int64))
