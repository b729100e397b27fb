"""The shortest move from the original table that takes a cell or sum far enough."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.surroundings import Surroundings
from diskret.deadline import NEVER, Deadline
from diskret.errors import ContradictionError, ProofError
from diskret.graphs import connected

#: How many cells around a target may move at first.
_NEAR = 250
#: What one unit of the target is worth, in units that other cells move.
_WORTH = 2.0**12
#: Nodes of branch and bound for counts.
_NODES = 200


class Search:
    """Programmes near the original table, in windows first.

    known, bounds, truth: as in `withstand`.
    whole: only whole numbers count.
    deadline: questions that are not answered by then end with `OutOfTime`.
    """

    def __init__(
        self,
        known: Equations,
        bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
        truth: NDArray[np.int64],
        whole: bool,
        deadline: Deadline = NEVER,
    ):
        self.deadline = deadline
        self.known, self.bounds, self.truth, self.whole = known, bounds, truth, whole
        self._by_column = sparse.csc_array(known.matrix)
        self._near = Surroundings(known.matrix)
        graph = abs(known.matrix).T @ abs(known.matrix)
        self._label = connected(graph)
        latent = np.zeros(int(self._label.max(initial=-1)) + 1, dtype=bool)
        latent[self._label[known.latent]] = True
        self._unclear = latent

    def look(
        self,
        cells: NDArray[np.int64],
        side: int | NDArray[np.int64],
        need: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        near: bool = False,
    ) -> Point | None:
        """A table in which some cells together move by at least `need` within bounds, or None.

        `side` is the way they move, up (1) or down (−1), all alike or each its own.
        With `near` only the window around them is looked at. Where there are cells that nobody
        published, there is no table to begin with, even if nothing connects them with these.
        """
        labels = np.unique(self._label[cells])
        if self._unclear.any():
            return None if near else self._from_nowhere(cells, side, need, low, high)
        everything = np.flatnonzero(np.isin(self._label, labels))
        window = self._near.grown(cells, min(_NEAR, len(everything)))
        point = self._within(window, cells, side, need, low, high)
        if point is None and not near and len(window) < len(everything):
            point = self._within(everything, cells, side, need, low, high)
        return point

    def _signs(self, cells: NDArray[np.int64], side: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """How each cell counts in what moves."""
        signs = np.zeros(len(self.truth), dtype=np.int64)
        signs[cells] = side
        return signs

    def _within(
        self,
        window: NDArray[np.int64],
        cells: NDArray[np.int64],
        side: int | NDArray[np.int64],
        need: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
    ) -> Point | None:
        inside = sparse.csr_array(self._by_column[:, window])
        inside = sparse.csr_array(inside[np.flatnonzero(np.diff(inside.indptr))])
        n, base = len(window), self.truth[window]
        of = -self._signs(cells, side)[window]
        # how far they move is what is wanted, and what goes beyond it: counts may have to
        row = sparse.csr_array(np.concatenate((of, -of, [1, 1]))[None])
        none = sparse.csr_array((inside.shape[0], 2), dtype=np.int64)
        matrix = sparse.csr_array(
            sparse.vstack([sparse.hstack([inside, -inside, none]), row], format="csr"),
            dtype=np.int64,
        )
        up = np.where(high[window] < UNKNOWN, high[window] - base, UNKNOWN)
        down = np.where(low[window] > -UNKNOWN, base - low[window], UNKNOWN)
        zero = np.zeros(2 * n + 2, dtype=np.int64)
        programme = LinearProgramme(
            matrix,
            np.zeros(matrix.shape[0], dtype=np.int64),
            zero,
            np.concatenate((up, down, [need, UNKNOWN])),
            zero,
            self.deadline,
            bounded=True,
        )
        price = np.append(-np.ones(2 * n), (_WORTH, 0))
        only = np.append(np.zeros(2 * n), (1.0, 0))
        for direction in (price, only):
            with suppress(ContradictionError, ProofError):
                answer = programme.farthest(direction)
                if answer.vertex[2 * n] < need * (1 - 1e-9) - 1e-6:
                    continue
                point = answer.point
                if self.whole and (point is None or point.denominator > 1):
                    point = programme.whole_near(answer.vertex, {2 * n: need})
                    if point is None:
                        point = programme.farthest_whole(2 * n, 1, _NODES)
                if point is None or point.numerator[2 * n] < need * point.denominator:
                    continue
                step = point.numerator[:n] - point.numerator[n : 2 * n]
                return self._checked(window, step, point.denominator, low, high)
        return None

    def _checked(
        self,
        window: NDArray[np.int64],
        step: NDArray[np.int64],
        unit: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
    ) -> Point | None:
        if float(np.abs(self.truth).max(initial=0)) * unit >= 2.0**62:
            return None
        numerator = self.truth * unit
        numerator[window] += step
        point = Point(numerator, unit)
        return point if point.solves(self.known.matrix, self.known.right, low, high) else None

    def _from_nowhere(
        self,
        cells: NDArray[np.int64],
        side: int | NDArray[np.int64],
        need: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
    ) -> Point | None:
        """The same where unpublished cells leave open what the original table is."""
        window = np.flatnonzero(
            self._unclear[self._label] | np.isin(self._label, self._label[cells])
        )
        rows = np.flatnonzero(np.diff(self.known.matrix[:, window].indptr))
        inside = sparse.csr_array(self.known.matrix[rows][:, window])
        signs = self._signs(cells, side)
        of = -signs[window]
        value = int(self.truth[cells] @ signs[cells])
        matrix = sparse.block_array(
            [[inside, None], [of[None], np.ones((1, 2), dtype=np.int64)]],
            format="csr",
        )
        end = value + need
        programme = LinearProgramme(
            sparse.csr_array(matrix, dtype=np.int64),
            np.append(self.known.right[rows], 0),
            np.append(low[window], (-UNKNOWN, 0)),
            np.append(high[window], (end, UNKNOWN)),
            deadline=self.deadline,
            bounded=True,
        )
        direction = np.append(np.zeros(len(window)), (1.0, 0))
        with suppress(ContradictionError, ProofError):
            answer = programme.farthest(direction)
            point = answer.point
            if self.whole and (point is None or point.denominator > 1):
                point = programme.whole_near(answer.vertex, {len(window): end})
                if point is None:
                    point = programme.farthest_whole(len(window), 1, _NODES)
            if point is None or point.numerator[len(window)] < end * point.denominator:
                return None
            unit = point.denominator
            step = point.numerator[:-2] - self.truth[window] * unit
            return self._checked(window, step, unit, low, high)
        return None
