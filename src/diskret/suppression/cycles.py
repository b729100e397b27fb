"""Cheapest cycles through one arc of a network.

What moves one cell and leaves every equation true is a sum of cycles through its arc. A cycle
costs what the cells on it that are not hidden yet cost; paths are shortest paths in the
residual network, so that a later cycle can undo what an earlier one does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.system.equations import RectangularCells

#: Shares of the distance that each of several cycles carries at least; 0: at least one unit.
_SHARES = (1 / 2, 1 / 8, 0)
#: Cycles of one sum at most: what needs more is left to other methods.
_MOST_CYCLES = 400


@dataclass(frozen=True, eq=False)
class Flow:
    """What groups of cells move, and what it costs to hide those that are not hidden.

    `group`: groups that move, int64 ascending, ``(s,)``.
    `distance`: how far, float64 whole numbers, ``(s,)``.
    `new`: those of the groups that were not hidden, int64.
    `cost`: prices of these.
    """

    group: NDArray[np.int64]
    distance: NDArray[np.float64]
    new: NDArray[np.int64]
    cost: float

    def times(self, factor: float) -> Flow:
        """The same groups, each so many times as far."""
        return Flow(self.group, self.distance * factor, self.new, self.cost)


class Cycles:
    """Cheapest cycles, given what is hidden already.

    `arcs`: the network.
    `group`: group of each cell, -1 for those that cannot change, ``(n,)``; the cells of a group lie
        on the same cycles.
    `down`, `up`: room of each group below and above, whole numbers ≥ 0 or inf, ``(g,)``.
    `price`: of hiding a cell, float64 > 0, ``(n,)``.
    `hidden`: groups that are free of charge, bool, ``(g,)``.
    """

    def __init__(
        self,
        arcs: Arcs,
        group: NDArray[np.int64],
        down: NDArray[np.float64],
        up: NDArray[np.float64],
        price: NDArray[np.float64],
        hidden: NDArray[np.bool_],
    ):
        # arcs whose cells can change, and their groups
        spare = arcs.cell < 0
        of = np.where(spare, -1, group[arcs.cell])
        usable = spare | (of >= 0)
        of, spare = of[usable], spare[usable]
        tail, head = arcs.tail[usable], arcs.head[usable]
        cost = np.where(spare, 0.0, price[arcs.cell[usable]])
        room_up, room_down = np.append(up, inf)[of], np.append(down, inf)[of]

        # every arc has two entries in a matrix of nodes by nodes, which shortest paths read
        nodes, a = arcs.nodes, len(of)
        key = np.concatenate((tail * nodes + head, head * nodes + tail))
        order = np.argsort(key, kind="stable")
        place = np.empty(2 * a, dtype=np.int64)
        place[order] = np.arange(2 * a)
        self._along, self._back = place[:a], place[a:]
        self._key = key[order]
        self._nodes = nodes
        self._to = (self._key % nodes).astype(np.int32)
        self._begin = np.searchsorted(self._key, np.arange(nodes + 1) * nodes).astype(np.int32)
        self._other = np.empty(2 * a, dtype=np.int64)
        self._other[self._along], self._other[self._back] = self._back, self._along
        self._room = np.empty(2 * a)
        self._room[self._along], self._room[self._back] = room_up, room_down
        self._group = np.concatenate((of, of))[order]
        self._rises = order < a
        self._price = np.concatenate((cost, cost))[order]
        free = np.append(hidden, True)[self._group]
        self._cost = np.where(free, 0.0, self._price)

        # one arc speaks for a group, but all of its cells cost
        self._first = np.full(len(up), -1)
        real = np.flatnonzero(of >= 0)[::-1]
        self._first[of[real]] = real
        self._entries_by_group = np.argsort(self._group, kind="stable")
        self._group_begin = np.searchsorted(
            self._group[self._entries_by_group], np.arange(len(up) + 1)
        )
        # how far to look at first; looking further than needed is what takes time
        self._guess = float(self._price[self._price > 0].min(initial=1.0))

    def hide(self, groups: NDArray[np.int64]) -> None:
        """Make these groups free of charge."""
        self._cost[self._entries_of(groups)] = 0

    def charge(self, groups: NDArray[np.int64]) -> None:
        """Make these groups cost their price again."""
        entries = self._entries_of(groups)
        self._cost[entries] = self._price[entries]

    def both_ways(self, group: int, up: float, down: float, most: float = inf) -> Flow | None:
        """The cheapest cycle on which a group can rise by `up` and fall by `down`.

        None if there is none that costs less than `most`. The flow given goes up by one unit.
        """
        entry = int(self._along[self._first[group]])
        fits = (self._room >= up) & (self._room[self._other] >= down)
        if not fits[entry]:
            return None
        path = self._path(entry, np.where(fits, self._cost, inf), most)
        if path is None:
            return None
        flow = np.zeros(len(self._room))
        flow[path] = 1.0
        flow[entry] = 1.0
        return self._sum(flow)

    def one_way(self, group: int, distance: float, most: float = inf) -> Flow | None:
        """The cheapest sum of cycles found that moves a group by `distance`, down if negative.

        None if nothing is found that costs less than `most`.
        """
        best: Flow | None = None
        for share in _SHARES:
            limit = most if best is None else best.cost
            found = self._together(group, distance, max(abs(distance) * share, 1.0), limit)
            if found is not None and found[1] == abs(distance) and found[0].cost < limit:
                best = found[0]
        return best

    def furthest(self, group: int, distance: float) -> Flow | None:
        """A flow that moves a group as far as possible towards `distance`."""
        found = self._together(group, distance, 1.0, inf)
        return None if found is None else found[0]

    def _together(
        self, group: int, distance: float, least: float, most: float
    ) -> tuple[Flow, float] | None:
        """Cycles of at least this much, each the cheapest after those before it; how far."""
        arc = self._first[group]
        entry = int(self._along[arc] if distance > 0 else self._back[arc])
        wanted = min(abs(distance), float(self._room[entry]))
        flow, room, cost = np.zeros(len(self._room)), self._room.copy(), self._cost.copy()
        carried, spent = 0.0, 0.0
        for _ in range(_MOST_CYCLES):
            if carried >= wanted or spent >= most:
                break
            need = min(least, wanted - carried)
            path = self._path(entry, np.where(room >= need, cost, inf), most - spent)
            if path is None:
                break
            amount = min(wanted - carried, float(room[path].min()))
            spent += float(cost[path].sum())
            flow[path] += amount
            flow[self._other[path]] -= amount
            room[path] -= amount
            room[self._other[path]] += amount
            # a cell that moves is hidden, however far it moves
            cost[path] = cost[self._other[path]] = 0
            carried += amount
        if carried == 0:
            return None
        flow[entry] += carried
        return self._sum(np.maximum(flow, 0)), carried

    def _path(
        self, entry: int, weights: NDArray[np.float64], most: float
    ) -> NDArray[np.int64] | None:
        """Entries of the cheapest path that closes a cycle with an entry; None if ≥ `most`."""
        from scipy.sparse.csgraph import dijkstra

        end = int(self._key[entry]) // self._nodes
        begin = int(self._to[entry])
        weights[entry] = weights[self._other[entry]] = inf
        graph = sparse.csr_array((weights, self._to, self._begin), shape=(self._nodes,) * 2)
        far = self._guess
        while True:
            distance, before = dijkstra(
                graph, indices=begin, return_predecessors=True, limit=min(far, most)
            )
            if np.isfinite(distance[end]):
                break
            if far >= most or far == inf:
                return None
            far = far * 8 if far < 1e15 else inf
        if distance[end] >= most:
            return None
        self._guess = max(2 * float(distance[end]), self._guess / 2)
        nodes = [end]
        while nodes[-1] != begin:
            nodes.append(int(before[nodes[-1]]))
        step = np.array(nodes[::-1], dtype=np.int64)
        return np.searchsorted(self._key, step[:-1] * self._nodes + step[1:])

    def _sum(self, flow: NDArray[np.float64]) -> Flow:
        """What the groups move, from what the entries carry."""
        entries = np.flatnonzero(flow)
        signed = np.where(self._rises[entries], flow[entries], -flow[entries])
        group, first = np.unique(self._group[entries], return_index=True)
        inside = group >= 0
        paid = entries[self._cost[entries] > 0]
        return Flow(
            group[inside],
            signed[first][inside],
            np.unique(self._group[paid]),
            float(self._cost[paid].sum()),
        )

    def _entries_of(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        begin, end = self._group_begin[groups], self._group_begin[groups + 1]
        length = end - begin
        return self._entries_by_group[
            np.repeat(begin - np.r_[0, np.cumsum(length)[:-1]], length) + np.arange(length.sum())
        ]


# ── a table with at most one hierarchy as a network: every cell an arc ────────────────


_INSTEAD = "use method='sequential' or method='optimal'"


@dataclass(frozen=True, eq=False)
class Arcs:
    """Arcs that carry the change of a cell from one node to another.

    A change of the table satisfies every equation if and only if at each node as much
    arrives as leaves. No two arcs join the same two nodes.

    `tail`, `head`: nodes that a rise of the cell leads from and to, int64, ``(a,)``. `cell`: the
    cell of each arc in C order of the table, -1 for arcs that stand for no cell and carry anything;
    int64, ``(a,)``. `nodes`: number of nodes.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    cell: NDArray[np.int64]
    nodes: int


def arcs_of(table: RectangularCells) -> Arcs:
    """The network of a table.

    A leaf r of the hierarchy is one node (its equation over the flat variable), any other code
    p one for each column c (its equation over the children), and one more node, the ground,
    stands for the equation of the total row, which follows from the others like those of
    all rows that are no leaves. A cell in row r leads from the node of r to that of its
    parent in the same column, from the total row to the ground, and in the column of totals
    the other way round.
    """
    tree, columns, stride = _oriented(table)
    rows = len(tree)
    ground = rows * columns
    # a leaf needs no node for each column: with a flat variable all its cells meet in one
    node = np.arange(ground, dtype=np.int64).reshape(rows, columns)
    node[tree.leaves] = node[tree.leaves, :1]
    above = np.where(tree.parent[:, None] < 0, ground, node[tree.parent])
    back = np.arange(columns) == 0
    tail, head = np.where(back, above, node), np.where(back, node, above)
    row, column = np.indices((rows, columns))
    cell = row * stride[0] + column * stride[1]
    arcs = tail.ravel(), head.ravel(), cell.ravel()
    if columns == 1:
        # leaves are in no second equation: what they carry comes from the ground, by way of one
        # more node, so that no two arcs join the same nodes even where a total is all there is
        leaf = node[tree.leaves, 0]
        spare = (
            np.append(leaf, ground),
            np.full(len(leaf) + 1, ground + 1),
            np.full(len(leaf) + 1, -1),
        )
        arcs = tuple(np.concatenate(both) for both in zip(arcs, spare, strict=True))
    used, numbered = np.unique(np.stack(arcs[:2]), return_inverse=True)
    ends = numbered.reshape(2, -1).astype(np.int64)
    return Arcs(ends[0], ends[1], arcs[2].astype(np.int64), len(used))


def _oriented(table: RectangularCells) -> tuple[Hierarchy, int, tuple[int, int]]:
    """The hierarchy, the number of columns and the strides of rows and columns."""
    trees = [dimension.hierarchy for dimension in table.dimensions if len(dimension.hierarchy) > 1]
    deep = [int(tree.level.max()) > 1 for tree in trees]
    if len(trees) > 2 or sum(deep) > 1:
        raise InputError(_no_network(table))
    if not trees:
        return table.dimensions[0].hierarchy, 1, (1, 0)
    if len(trees) == 1:
        return trees[0], 1, (1, 0)
    first, second = trees
    if deep[1]:
        return second, len(first), (1, len(second))
    return first, len(second), (len(second), 1)


def _no_network(table: RectangularCells) -> str:
    trees = [
        f"{dimension.name!r} ({int(dimension.hierarchy.level.max())} level(s) below the total)"
        for dimension in table.dimensions
    ]
    return (
        "method='network' protects tables of at most two variables of which at most one has "
        f"more than one level below the total; this one has {len(trees)}: {', '.join(trees)}; "
        + _INSTEAD
    )


def refuse_several(cells: int) -> InputError:
    """The error for cells of several tables that are tied to each other."""
    return InputError(
        f"method='network' protects one table alone, but {cells:,} cells of several tables that "
        f"are tied to each other are to be protected together; {_INSTEAD}"
    )
