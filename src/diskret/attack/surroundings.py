"""Which unknowns are near each other, and bounds that the equations near each of them imply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import UNKNOWN
from diskret.attack.linear_programme import Answer, LinearProgramme
from diskret.attack.solver import doubt
from diskret.deadline import NEVER, Deadline
from diskret.errors import ProofError
from diskret.parallel import in_order

#: Unknowns whose bounds are computed together. More is slower and narrows them further.
_BLOCK = 60
#: Bounds that a random direction has to show for another one to be tried.
_WORTHWHILE = 4
#: Some unknowns, and no table goes beyond these values of them, float64.
Bounds = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


class Surroundings:
    """The unknowns and equations of a component as a graph to walk in.

    matrix: a row for each equation, a column for each unknown, ``(m, n)``.

    Three equations in a chain: 0 + 1, 1 + 2 and 2 + 3.

    >>> chain = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]))
    >>> near = Surroundings(chain)
    >>> near.rows(np.array([1])).tolist(), near.unknowns(np.array([0, 1])).tolist()
    ([0, 1], [0, 1, 2])
    >>> near.rows_among(np.array([0, 1, 2])).tolist()
    [0, 1]
    >>> near.grown(np.array([0]), 3).tolist()
    [0, 1, 2]
    >>> [block.tolist() for block in near.blocks(2)]
    [[0, 1], [2, 3]]
    """

    def __init__(self, matrix: sparse.csr_array):
        self._by_row = matrix
        self._by_column = sparse.csc_array(matrix)

    def rows(self, unknowns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The equations in which some of these stand, ascending."""
        return np.unique(_entries(self._by_column, unknowns))

    def unknowns(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The unknowns of these equations, ascending."""
        return np.unique(_entries(self._by_row, rows))

    def rows_among(self, unknowns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The equations in which nothing but these stands, ascending."""
        rows, inside = np.unique(_entries(self._by_column, unknowns), return_counts=True)
        return rows[inside == np.diff(self._by_row.indptr)[rows]]

    def grown(
        self, start: NDArray[np.int64], size: int, taken: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """So many unknowns around some, breadth first, or fewer if there are no more; ascending.

        Those that are `taken`, bool, ``(n,)``, are left out and not walked through.
        """
        inside = np.zeros(self._by_row.shape[1], dtype=bool) if taken is None else taken.copy()
        inside[start] = True
        found, ring = [start], start
        lacking = size - len(start)
        while lacking > 0 and len(ring):
            reached = _entries(self._by_row, self.rows(ring))
            reached = reached[~inside[reached]]
            _, first = np.unique(reached, return_index=True)
            ring = reached[np.sort(first)][:lacking]
            inside[ring] = True
            found.append(ring)
            lacking -= len(ring)
        return np.sort(np.concatenate(found))

    def blocks(self, size: int) -> list[NDArray[np.int64]]:
        """All unknowns in blocks of about `size`, most of them neighbours of each other."""
        taken = np.zeros(self._by_row.shape[1], dtype=bool)
        blocks: list[NDArray[np.int64]] = []
        first = 0
        while first < len(taken):
            if taken[first]:
                first += 1
                continue
            block = self.grown(np.array([first]), size, taken)
            taken[block] = True
            # what is left between blocks comes in crumbs, which are joined
            if blocks and len(blocks[-1]) + len(block) <= size:
                blocks[-1] = np.sort(np.concatenate((blocks[-1], block)))
            else:
                blocks.append(block)
        return blocks


def _entries(matrix: sparse.csr_array | sparse.csc_array, lines: NDArray[np.int64]):
    """The indices of some lines of a matrix, one line after the other, repetitions included."""
    start, stop = matrix.indptr[lines], matrix.indptr[lines + 1]
    length = (stop - start).astype(np.int64)
    skipped = np.repeat(start - np.append(0, np.cumsum(length)[:-1]), length)
    return matrix.indices[skipped + np.arange(int(length.sum()))].astype(np.int64)


def outer_bounds(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    asked: NDArray[np.bool_],
    deadline: Deadline = NEVER,
) -> Iterator[Bounds]:
    """Bounds that equations near each unknown imply: valid, but not always the narrowest.

    All tables satisfy the nearby equations, so none goes beyond what these allow. Nothing but
    what is public goes in, so that the bounds tell nothing else.

    asked: whose bounds are of interest, bool, ``(n,)``.
    deadline: raises `OutOfTime` then.

    >>> row = sparse.csr_array(np.array([[1, 1]]))
    >>> asked, zero = np.ones(2, dtype=bool), np.zeros(2, dtype=np.int64)
    >>> [found] = outer_bounds(row, np.array([7]), zero, zero + 7, asked)
    >>> [array.tolist() for array in found]
    [[0, 1], [0.0, 0.0], [7.0, 7.0]]
    """
    near = Surroundings(matrix)

    known = (
        np.where(lower > -UNKNOWN, lower.astype(np.float64), -np.inf),
        np.where(upper < UNKNOWN, upper.astype(np.float64), np.inf),
    )

    def of_block(block: NDArray[np.int64]) -> Bounds:
        if not asked[block].any():
            return block, known[0][block], known[1][block]
        window = np.union1d(near.unknowns(near.rows(block)), block)  # some stand in no equation
        rows = near.rows_among(window)
        inside = sparse.csr_array(matrix[rows][:, window])
        programme = LinearProgramme(
            inside,
            right[rows],
            lower[window],
            upper[window],
            deadline=deadline,
            bounded=True,
        )
        ends = _Ends(programme, asked[window] & np.isin(window, block))
        with suppress(ProofError):  # bounds stay as wide as they are where the solver gives up
            ends.narrow()
        low, high = -ends.bound[-1], ends.bound[1]
        place = np.searchsorted(window, block)
        return block, low[place], high[place]

    return in_order(of_block, near.blocks(_BLOCK))


class _Ends:
    """How far unknowns of a window can move; values that reach a bound settle it."""

    def __init__(self, programme: LinearProgramme, asked: NDArray[np.bool_]):
        self.programme = programme
        lower, upper = programme.lower, programme.upper
        #: the bounds upwards, and those downwards with the sign changed
        self.bound = {
            1: np.where(upper < UNKNOWN, upper.astype(np.float64), np.inf),
            -1: np.where(lower > -UNKNOWN, -lower.astype(np.float64), np.inf),
        }
        self.open = {sign: asked.copy() for sign in (1, -1)}
        self.random = np.random.default_rng(0)

    def narrow(self) -> None:
        """Settle every question, the cheap ones first."""
        self._see(self.programme.begin())
        for sign in (1, -1):
            self._endless(sign)
        gained = _WORTHWHILE
        while gained >= _WORTHWHILE:
            gained = self._sweep()
        for sign in (1, -1):
            for unknown in np.flatnonzero(self.open[sign]).tolist():
                if self.open[sign][unknown]:
                    self._ask(unknown, sign)

    def _see(self, answer: Answer) -> int:
        """Settle what a vertex shows; how much that is."""
        settled = 0
        for sign in (1, -1):
            value = sign * answer.vertex
            reached = self.open[sign] & (value >= self.bound[sign] - doubt(value))
            self.open[sign] &= ~reached
            settled += int(reached.sum())
        return settled

    def _endless(self, sign: int) -> None:
        """Unknowns that a ray shows to have no end on one side; one ray shows it for many."""
        while (endless := self.open[sign] & np.isinf(self.bound[sign])).any():
            answer = self.programme.farthest(sign * endless.astype(float))
            if answer.ray is None or not (endless & (sign * answer.ray > 0)).any():
                return
            self.open[sign] &= sign * answer.ray <= 0

    def _sweep(self) -> int:
        """Move many unknowns at once."""
        up, down = (self.open[sign] & np.isfinite(self.bound[sign]) for sign in (1, -1))
        if not (up | down).any():
            return 0
        either = self.random.choice([-1.0, 1.0], len(up))
        answer = self.programme.farthest(np.where(up & down, either, up.astype(float) - down))
        return self._see(answer) if answer.bounded else 0

    def _ask(self, unknown: int, sign: int) -> None:
        direction = np.zeros(len(self.open[sign]))
        direction[unknown] = sign
        answer = self.programme.farthest(direction)
        self.open[sign][unknown] = False
        if answer.bounded:
            end = sign * answer.vertex[unknown]
            whole = np.rint(end)
            outwards = whole if abs(end - whole) <= doubt(end) else np.ceil(end)
            self.bound[sign][unknown] = min(self.bound[sign][unknown], outwards)
            self._see(answer)
