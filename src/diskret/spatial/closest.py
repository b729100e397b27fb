"""Which units sums of two geographies tell too closely, and the sum that tells most of each.

Whoever combines published sums so that a unit counts once knows it but for what else counts. The
pieces that count are a cut (`diskret.spatial.cuts`); those that are taken away hide as much as
those that are added. So what others contribute to the smallest cut through the unit's piece is what
stays uncertain at least. It is a largest flow: found exactly, however many areas it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from diskret.spatial.cuts import Cut, Graph, Groups, grouped, small_cuts
from diskret.spatial.limits import Share
from diskret.spatial.pieces import Pieces

#: Steps for one unit before it is given up.
_WORK = 50_000_000
#: Sets of those who are left out of account, for one unit.
_VISITS = 200


def closest(pieces: Pieces, limit: Share, tied: int | None = None) -> tuple[list[Cut], bool]:
    """For each unit and piece of it a sum that tells too much of the unit, if there is one.

    Parameters
    ----------
    pieces
        Of two geographies, with units.
    limit
        When a sum tells too much.
    tied
        A piece that no sum can hold.

    Returns
    -------
    cuts, complete
        And whether all units were looked at to the end.
    """
    search = _Search.over(pieces, limit, tied)
    found, complete = dict[bytes, Cut](), True
    for unit, piece in search.possible():
        cut, finished = search.closest(unit, piece)
        complete &= finished
        if cut is not None:
            found[cut.pieces.tobytes()] = cut
    return list(found.values()), complete


@dataclass(eq=False)
class _Search:
    """What flows need, kept from one to the next."""

    pieces: Pieces
    limit: Share
    amount: NDArray[np.float64]
    weight: NDArray[np.float64]
    total: NDArray[np.float64]
    graph: Graph
    of_piece: Groups
    of_unit: Groups
    left: NDArray[np.float64]
    state: NDArray[np.int64]
    queue: NDArray[np.int64]
    came: NDArray[np.int64]

    @classmethod
    def over(cls, pieces: Pieces, limit: Share, tied: int | None) -> _Search:
        first = len(pieces.codes[0])
        nodes = first + len(pieces.codes[1])
        amount = np.abs(pieces.amount)
        weight = np.bincount(pieces.piece, amount, len(pieces.count)).astype(np.float64)
        if tied is not None:
            weight[tied] = 4.0 * weight.sum() + 1.0
        graph = Graph.of(pieces.place[:, 0], pieces.place[:, 1] + first, nodes)
        total = np.bincount(pieces.unit, amount).astype(np.float64)
        left, came = np.repeat(weight, 2), np.full(nodes, -1)
        state, queue = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
        pairs = grouped(pieces.piece, len(weight)), grouped(pieces.unit)
        return cls(pieces, limit, amount, weight, total, graph, *pairs, left, state, queue, came)

    def bound(self, unit: int) -> float:
        """A rest that is enough beside the unit, whoever the others are."""
        of = float(self.limit.share) * (1 + self.limit.together * self.limit.others)
        return of * float(self.total[unit]) * (1 + 1e-12)

    def possible(self) -> Iterator[tuple[int, int]]:
        """Units and their pieces in which others leave less than enough."""
        piece, amount = self.pieces.piece, self.amount
        order = np.lexsort((-amount, piece))
        begins = np.searchsorted(piece[order], piece[order])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - begins
        beyond = rank > self.limit.others
        spare = np.bincount(piece[beyond], amount[beyond], len(self.pieces.count))
        of = float(self.limit.share) * (1 + self.limit.together * self.limit.others)
        enough = of * self.total[self.pieces.unit] * (1 + 1e-12)
        for at in np.flatnonzero((amount > 0) & (spare[piece] < enough)).tolist():
            yield int(self.pieces.unit[at]), int(piece[at])

    def closest(self, unit: int, piece: int) -> tuple[Cut | None, bool]:
        """An unsafe cut through a piece that holds the unit."""
        visits, waiting = 0, [frozenset[int]()]
        seen = set(waiting)
        while waiting:
            aside = waiting.pop()
            visits += 1
            if visits > _VISITS:
                return None, False
            cut, finished, others = self._flow(unit, piece, aside)
            if not finished:
                return None, False
            if cut is not None:
                if self._tells(cut, unit):
                    return cut, True
                every, complete = small_cuts(
                    self.pieces, self.bound(unit), True, weight=self._without({unit, *aside})
                )
                for one in every:
                    if piece in one.pieces and self._tells(one, unit):
                        return one, True
                if not complete:
                    return None, False
            if len(aside) < self.limit.others:
                for other in others:
                    if (more := aside | {other}) not in seen:
                        seen.add(more)
                        waiting.append(more)
        return None, True

    def _tells(self, cut: Cut, unit: int) -> bool:
        at = np.concatenate([self.of_piece[one] for one in cut.pieces.tolist()])
        units, which = np.unique(self.pieces.unit[at], return_inverse=True)
        amounts = np.bincount(which, self.amount[at], len(units)).astype(np.float64)
        return self.limit.tells(float(amounts[units == unit].sum()), amounts[units != unit])

    def _without(self, units: set[int]) -> NDArray[np.float64]:
        """What others contribute to each piece."""
        weight = self.weight.copy()
        for unit in units:
            at = self.of_unit[unit]
            weight[self.pieces.piece[at]] -= self.amount[at]
        return weight

    def _flow(
        self, unit: int, piece: int, aside: frozenset[int]
    ) -> tuple[Cut | None, bool, list[int]]:
        """The smallest cut if it is below the bound; if all was tried; who else could hide it."""
        from diskret.spatial.cut_kernels import parted

        bound = self.bound(unit)
        lowered = np.concatenate([self.of_unit[one] for one in (unit, *aside)])
        at = self.pieces.piece[lowered]
        for half in (2 * at, 2 * at + 1):
            np.subtract.at(self.left, half, self.amount[lowered])
        room = {int(one): float(self.left[2 * one]) for one in at}
        own = room[piece]
        self.left[2 * piece : 2 * piece + 2] = 0.0
        source = int(self.graph.head[2 * piece + 1])
        target = int(self.graph.head[2 * piece])
        flow, side, changed, steps = parted(
            self.graph.begins, self.graph.out, self.graph.head, self.left, source, target,
            2 * bound - own, self.state, self.queue, self.came, _WORK,
        )  # fmt: skip
        through = {piece: own}
        for one in np.unique(changed >> 1).tolist():
            whole = room.get(one, float(self.weight[one]))
            through[one] = whole - float(self.left[2 * one : 2 * one + 2].min())
        cut = None
        if flow + own < bound and steps >= 0:
            cut = self._cut(side, target)
        others = self._others(unit, aside, through, room, flow + own, bound)
        touched = np.concatenate([changed >> 1, at])
        self.left[2 * touched] = self.left[2 * touched + 1] = self.weight[touched]
        return cut, steps >= 0, others

    def _others(
        self,
        unit: int,
        aside: frozenset[int],
        through: dict[int, float],
        room: dict[int, float],
        flow: float,
        bound: float,
    ) -> list[int]:
        """Units without which less than the bound might flow."""
        more = self.limit.others - len(aside)
        if more <= 0:
            return []
        loss = dict[int, float]()
        for piece, used in through.items():
            slack = room.get(piece, float(self.weight[piece])) - used
            for at in self.of_piece[piece].tolist():
                other = int(self.pieces.unit[at])
                if other == unit or other in aside:
                    continue
                lost = float(self.amount[at]) - slack
                if lost > 0:
                    loss[other] = loss.get(other, 0.0) + lost
        largest = sorted(loss.values(), reverse=True)[: more - 1]
        return [one for one, lost in loss.items() if flow - lost - fsum(largest) < bound]

    def _cut(self, side: NDArray[np.int64], target: int) -> Cut:
        """The cut nearest to a side, whose other part holds together."""
        from diskret.spatial.cut_kernels import side_of

        begins, out, head = self.graph.begins, self.graph.out, self.graph.head
        nodes = len(begins) - 1
        inside = np.zeros(nodes, bool)
        inside[side] = True
        edges = np.flatnonzero(inside[head[::2]] != inside[head[1::2]])
        marks = np.zeros(nodes, bool), np.zeros(len(head) // 2, bool)
        across = side_of(begins, out, head, np.array([target]), edges, *marks)
        there = np.zeros(nodes, bool)
        there[across] = True
        cut = edges[there[head[2 * edges]] != there[head[2 * edges + 1]]]
        near = side_of(begins, out, head, head[2 * cut[:1] + there[head[2 * cut[:1]]]], cut, *marks)
        smaller = near if len(near) <= len(across) else across
        return Cut(cut, np.sort(smaller))
