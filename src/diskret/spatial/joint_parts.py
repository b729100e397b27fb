"""What several geographies leave to be tried: small parts of the map that heavy pieces part.

A combination of totals gives each area a factor, and a piece counts as often as the factors of its
areas add up to. A piece of many never counts in a sum of few, so its factors add up to
nothing. Two areas of one geography that have such a piece each with the same areas of the others
have one factor, so they become one node; pieces with the same nodes become one, too, and may be
heavy then. What is added to all factors of one geography and taken from all of another changes
nothing; so the nodes of one heavy piece have the factor 0, for most of the map as a rule. What
is left falls into parts that are tied to each other by nodes of factor 0 only, and to look at
each of these by itself is enough. In a part each heavy piece that is left says what a factor is by
others; when all are used up, parts fall into smaller ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.row_space import RowSpace, factors
from diskret.graphs import connected
from diskret.solver import Solver, Status, pivots_for
from diskret.spatial.cuts import grouped
from diskret.spatial.elimination import Rows, without
from diskret.spatial.pieces import Pieces, distinct

#: Areas are named by a programme that finds the fewest where there are no more nodes.
_FEW_NODES = 200
_SCALES = 12
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class JointPart:
    """Pieces that are looked at by themselves, and what totals tell of them.

    Parameters
    ----------
    atoms
        Positions of the pieces that are one, of each.
    told
        Shape (combinations, atoms), whole numbers: all that is told of them, and not of others,
        is a combination of these.
    areas
        How many areas it is told by.
    """

    atoms: list[NDArray[np.int64]]
    told: sparse.csr_array
    areas: int
    _nodes: list[NDArray[np.int64]]
    _cells: sparse.csr_array
    _column: NDArray[np.int64]
    _row: NDArray[np.int64]
    _left: Rows

    def by_areas(
        self, vector: NDArray[np.int64], space: RowSpace | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """How a vector over atoms is computed: areas and factors; None: not found exactly."""
        every = np.zeros(self._cells.shape[1], np.int64)
        every[self._column] = vector
        factor = None
        if len(self._nodes) <= _FEW_NODES or space is None:
            factor = _few(self._cells, every)
        if factor is None and space is not None:
            own = np.zeros(len(self._left.row))
            own[self._row] = factors(self.told, space, vector)
            factor = _exact(self._cells, every, self._left.factors(own))
        if factor is None:
            return None
        used = np.flatnonzero(np.abs(factor) > _CLOSE)
        areas = [self._nodes[at] for at in used.tolist()]
        times = np.repeat(factor[used], [len(own) for own in areas])
        every_area = np.concatenate([np.zeros(0, np.int64), *areas])
        order = np.argsort(every_area)
        return every_area[order], times[order]


def joint_parts(
    pieces: Pieces,
    weight: NDArray[np.float64],
    bound: float,
    untold: NDArray[np.bool_] | None = None,
) -> Iterator[JointPart]:
    """The parts of a map in which sums below a bound may lie.

    Parameters
    ----------
    weight
        Shape (pieces,): what each piece adds at least to a sum that it counts in, ≥ 0.
    bound
        No sum that matters weighs so much.
    untold
        Shape (areas,): areas whose totals nobody knows, those of one geography after another.
    """
    ends = np.cumsum([0, *(len(codes) for codes in pieces.codes)])
    area = pieces.place + ends[:-1]
    label = np.arange(int(ends[-1]))
    while True:
        node, which = distinct(label[area])
        heavy = np.bincount(which, weight, len(node)) >= bound * (1 - 1e-12)
        joined = _joined(label, node[heavy])
        if (joined == label).all():
            break
        label = joined
    if untold is None or not untold.any():
        nothing = _without_factor(label, node, heavy)
    else:
        nothing = np.bincount(label, untold, len(label)) > 0
    atom, place = np.nonzero(~nothing[node])
    own, at = np.unique(node[atom, place], return_inverse=True)
    tied = sparse.csr_array((np.ones(len(at), np.int64), (at, atom)), shape=(len(own), len(node)))
    areas, inside = grouped(label), grouped(which)
    for rows, columns in _apart(tied):
        if heavy[columns].all():
            continue
        cells = sparse.csr_array(tied[rows][:, columns])
        nodes = [areas[int(own[row])] for row in rows.tolist()]
        sizes = np.array([len(some) for some in nodes])
        left = without(cells, heavy[columns])
        for some, those in _apart(left.told):
            yield JointPart(
                [inside[int(columns[one])] for one in those.tolist()],
                sparse.csr_array(left.told[some][:, those]),
                int(sizes[left.row[some]].sum()),
                nodes,
                cells,
                those,
                some,
                left,
            )


def _apart(matrix: sparse.csr_array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows and columns that entries tie to each other."""
    rows = matrix.shape[0]
    links = sparse.block_array([[None, abs(matrix)], [abs(matrix).T, None]], format="csr")
    label = connected(links).astype(np.int64)
    of_row, of_column = grouped(label[:rows]), grouped(label[rows:])
    for number in range(min(len(of_row), len(of_column))):
        if len(of_row[number]) and len(of_column[number]):
            yield of_row[number], of_column[number]


def _few(cells: sparse.csr_array, vector: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Factors of nodes that make a vector, few of them; None: none were found exactly."""
    number = cells.shape[0]
    solver = Solver()
    both = sparse.csr_array(sparse.hstack([cells.T, -cells.T], format="csr"))
    solver.load(np.ones(2 * number), both, columns=(0, np.inf), rows=(vector, vector))
    if solver.run(pivots=pivots_for(2 * number)) is not Status.OPTIMAL:
        return None
    x = solver.x
    return _exact(cells, vector, x[:number] - x[number:])


def _exact(
    cells: sparse.csr_array, vector: NDArray[np.int64], factor: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The fractions that factors are; None if they do not make the vector exactly."""
    for scale in range(1, _SCALES + 1):
        whole = np.round(factor * scale)
        if (cells.T @ whole == scale * vector).all():
            return whole / scale
    return None


def _joined(label: NDArray[np.int64], heavy: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes of one geography are one that have heavy pieces with the same nodes of the others."""
    one, other = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for at in range(heavy.shape[1]):
        rest = np.delete(heavy, at, axis=1)
        rows, which = distinct(rest)
        some = np.empty(len(rows), np.int64)
        some[which] = heavy[:, at]
        one.append(heavy[:, at])
        other.append(some[which])
    ends = np.concatenate(one), np.concatenate(other)
    size = len(label)
    links = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(size, size))
    joined = connected(links)
    # each node is called as its first area
    _, first = np.unique(joined[label], return_index=True)
    return first[np.unique(joined[label], return_inverse=True)[1]].astype(np.int64)


def _without_factor(
    label: NDArray[np.int64], node: NDArray[np.int64], heavy: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Nodes whose factor may be taken to be 0, in each part of the map.

    Those of its largest heavy piece; where there is none the largest ones of all geographies but
    the last.
    """
    size = np.bincount(label, minlength=len(label))
    atoms = np.repeat(np.arange(len(node)), node.shape[1])
    shape = len(node), len(label)
    inside = sparse.csr_array((np.ones(node.size), (atoms, node.reshape(-1))), shape=shape)
    links = sparse.block_array([[None, inside], [inside.T, None]], format="csr")
    part = connected(links)[: len(node)]
    nothing = np.zeros(len(label), bool)
    largest = np.where(heavy, size[node].sum(axis=1), -1)
    order = np.lexsort((-largest, part))
    first = order[np.unique(part[order], return_index=True)[1]]
    some = first[heavy[first]]
    nothing[node[some].reshape(-1)] = True
    bare = ~np.isin(part, part[some])
    for at in range(node.shape[1] - 1):
        rows = np.flatnonzero(bare)
        order = rows[np.lexsort((-size[node[rows, at]], part[rows]))]
        nothing[node[order[np.unique(part[order], return_index=True)[1]], at]] = True
    return nothing
