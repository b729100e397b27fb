"""Which pieces totals of two geographies tell apart: the cuts of the graph in which areas overlap.

The areas of both geographies are nodes, and each piece joins the two areas in which it lies. A
combination of published totals gives each area a factor; a piece counts as often as its two
factors say. If all pieces count once or not at all, the factors part the nodes in two (or are
several such combinations one after the other), and what is left over are the pieces between the two
parts: a cut. Cuts whose both parts hold together cannot be divided, and all others are made of
them, without common pieces.

Counts are told by cuts whose pieces lie in an area of the first geography on one part, in one
of the second on the other, all the same way round. Where pieces may also be taken away, as in
sums of values, any cut will do. Two areas with so much in common that no small cut
parts them are one node; what remains falls into blocks, which have no cut in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diskret.spatial.pieces import Pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Steps of the search in one block, and small cuts of it, before it is given up.
_WORK = 200_000_000
_MOST = 100_000


@dataclass(frozen=True, eq=False)
class Cut:
    """Pieces that totals tell apart, and the areas that do.

    Parameters
    ----------
    pieces
        Positions of the pieces.
    areas
        The nodes on one side: areas of the first geography, then those of the second.
    """

    pieces: NDArray[np.int64]
    areas: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and what joins them, in the form that loops take.

    Parameters
    ----------
    begins, out
        Halves of edges that lead out of each node.
    head
        Shape (2 edges,): where each half leads.
    """

    begins: NDArray[np.int64]
    out: NDArray[np.int64]
    head: NDArray[np.int64]

    @classmethod
    def of(cls, tail: NDArray[np.int64], head: NDArray[np.int64], nodes: int) -> Graph:
        """From the ends of edges."""
        ends = np.stack([head, tail], axis=1).reshape(-1)
        origin = np.stack([tail, head], axis=1).reshape(-1)
        begins = np.concatenate([[0], np.cumsum(np.bincount(origin, minlength=nodes))])
        return cls(begins.astype(np.int64), np.argsort(origin, kind="stable"), ends)


@dataclass(frozen=True, eq=False)
class Overlaps:
    """What is left of the graph of areas where nodes that no small cut parts are one.

    Parameters
    ----------
    label
        Shape (areas,): the node of each area of either geography.
    edge
        Shape (pieces,): the edge of each piece; −1 inside of a node.
    forward
        Shape (edges,): whether the first geography's areas lie in `tail`; True where either way
        round will do.
    """

    label: NDArray[np.int64]
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    weight: NDArray[np.float64]
    forward: NDArray[np.bool_]
    edge: NDArray[np.int64]


def small_cuts(
    pieces: Pieces, bound: float, signed: bool, weight: NDArray[np.float64] | None = None
) -> tuple[list[Cut], bool]:
    """All cuts that cannot be divided and whose pieces weigh less than the bound.

    Parameters
    ----------
    pieces
        Of two geographies.
    bound
        Above the weight of a cut.
    signed
        Whether pieces may also be taken away.
    weight
        Shape (pieces,): what each piece weighs, ≥ 0; None: `Pieces.weight`.

    Returns
    -------
    cuts, complete
        And whether these are all.
    """
    overlaps = contracted(pieces, bound, signed, pieces.weight if weight is None else weight)
    nodes = int(overlaps.label.max(initial=-1)) + 1
    if not len(overlaps.tail):
        return [], True
    from diskret.spatial.cut_kernels import blocks, side_of

    graph = Graph.of(overlaps.tail, overlaps.head, nodes)
    size = np.bincount(overlaps.label, minlength=nodes)
    roots = np.argsort(-size, kind="stable")  # what is told hangs below the largest node
    block, met = blocks(graph.begins, graph.out, graph.head, roots)
    whole = together(pieces)
    members = grouped(overlaps.label)
    inside = grouped(overlaps.edge + 1)
    seen, severed = np.zeros(nodes, bool), np.zeros(len(block), bool)
    found, complete = list[Cut](), True
    for edges in grouped(block):
        here, finished = _in_block(overlaps, edges, met, bound, signed)
        complete &= finished
        for side, cut in here:
            reached = side_of(graph.begins, graph.out, graph.head, side, cut, seen, severed)
            areas = np.sort(np.concatenate([members[at] for at in reached]))
            within = whole(areas[0])
            if 2 * len(areas) > len(within):  # the other side says the same in fewer words
                areas = np.setdiff1d(within, areas)
            told = np.sort(np.concatenate([inside[at + 1] for at in cut]))
            found.append(Cut(told, areas))
    return found, complete


def together(pieces: Pieces) -> Callable[[int], NDArray[np.int64]]:
    """All areas that hang together with one."""
    label = parts_of(pieces)
    parts = grouped(label)
    return lambda area: parts[int(label[area])]


def parts_of(pieces: Pieces) -> NDArray[np.int64]:
    """Which part of the map each area lies in; parts have no common pieces."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    first = len(pieces.codes[0])
    nodes = first + len(pieces.codes[1])
    ends = pieces.place[:, 0], pieces.place[:, 1] + first
    matrix = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(nodes, nodes))
    return connected_components(matrix, directed=False)[1].astype(np.int64)


def contracted(pieces: Pieces, bound: float, signed: bool, weight: NDArray[np.float64]) -> Overlaps:
    """The graph of areas, where those that no cut below the bound parts are one node."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    first = len(pieces.codes[0])
    nodes = first + len(pieces.codes[1])
    ends = pieces.place[:, 0], pieces.place[:, 1] + first
    label = np.arange(nodes)
    while True:
        tail, head = label[ends[0]], label[ends[1]]
        low, high = np.minimum(tail, head), np.maximum(tail, head)
        pair, edge = np.unique(low * nodes + high, return_inverse=True)
        total = np.bincount(edge, weight).astype(np.float64)
        tail_is_low = np.bincount(edge, tail == low, len(pair)) > 0
        head_is_low = np.bincount(edge, head == low, len(pair)) > 0
        heavy = total >= bound * (1 - 1e-12)
        ahead, back = (heavy, heavy) if signed else (tail_is_low | heavy, head_is_low | heavy)
        a, b = pair // nodes, pair % nodes
        arcs = np.concatenate([a[ahead], b[back]]), np.concatenate([b[ahead], a[back]])
        matrix = sparse.csr_array((np.ones(len(arcs[0])), arcs), shape=(nodes, nodes))
        number, joined = connected_components(matrix, directed=True, connection="strong")
        if number == nodes:
            break
        label, nodes = joined[label].astype(np.int64), number
    apart = a != b
    edge = np.where(apart, np.cumsum(apart) - 1, -1)[edge]
    forward = np.ones(int(apart.sum()), bool) if signed else tail_is_low[apart]
    return Overlaps(label, a[apart], b[apart], total[apart], forward, edge)


def _in_block(
    overlaps: Overlaps,
    edges: NDArray[np.int64],
    met: NDArray[np.int64],
    bound: float,
    signed: bool,
) -> tuple[list[tuple[NDArray[np.int64], NDArray[np.int64]]], bool]:
    """The cuts of one block: nodes on the side away from the largest node, edges between."""
    tail, head = overlaps.tail[edges], overlaps.head[edges]
    if len(edges) == 1:
        return [(np.where(met[tail] > met[head], tail, head), edges)], True
    nodes = np.unique(np.concatenate([tail, head]))
    nodes = nodes[np.argsort(met[nodes], kind="stable")]
    place = dict(zip(nodes.tolist(), range(len(nodes)), strict=True))
    a, b = (np.array([place[at] for at in ends.tolist()]) for ends in (tail, head))
    order = _from_first(a, b, len(nodes))
    rank = np.empty(len(nodes), np.int64)
    rank[order] = np.arange(len(nodes))
    a, b, nodes = rank[a], rank[b], nodes[order]
    from diskret.spatial.cut_kernels import cuts_below

    graph = Graph.of(a, b, len(nodes))
    weight, forward = overlaps.weight[edges], overlaps.forward[edges]
    found, complete = list[tuple[NDArray[np.int64], NDArray[np.int64]]](), True
    for outward in (True,) if signed else (True, False):
        # of a half that may not be cut the room is endless
        costs = np.stack([forward == outward, forward != outward], axis=1) | signed
        room = np.where(costs, weight[:, None], np.inf).reshape(-1)
        finished, ends, told, _ = cuts_below(
            graph.begins, graph.out, graph.head, room, float(bound), _MOST, _WORK
        )
        complete &= bool(finished)
        for i in range(len(ends) - 1):
            side = told[ends[i] : ends[i + 1]]
            here = np.zeros(len(nodes), bool)
            here[side] = True
            found.append((nodes[side], edges[here[a] != here[b]]))
    return found, complete


def _from_first(a: NDArray[np.int64], b: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """Nodes by their distance from node 0, so that what was looked at stays together."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order

    matrix = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(nodes, nodes))
    order = breadth_first_order(matrix, 0, directed=False, return_predecessors=False)
    return np.asarray(order, np.int64)


class Groups:
    """Positions of each number from 0 on."""

    def __init__(self, which: NDArray[np.int64], number: int):
        self._order = np.argsort(which, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=number))])

    def __getitem__(self, number: int) -> NDArray[np.int64]:
        return self._order[self._ends[number] : self._ends[number + 1]]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return (self[number] for number in range(len(self)))


def grouped(which: NDArray[np.int64], number: int = 0) -> Groups:
    """Positions of each number from 0 on, at least so many."""
    return Groups(which, number)
