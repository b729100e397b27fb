"""Höhne's heuristic: step by step through the file, with an admissible error that rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parallel import meanwhile, nothing
from diskret.progress import Progress, silent
from diskret.safe.cells import Cells, ExactCellsError, cells
from diskret.safe.check import check
from diskret.safe.problem import SafeFile, SafeProblem
from diskret.texts.numbers import Count

#: Times through the file with the same admissible error.
_PASSES = 4
#: Partners tried for all combinations together that are not safe yet, and least for each.
_PAIRS, _PARTNERS = 200_000, 4
#: Partners tried for a combination that is safe already.
_FEW = 1


def hoehne(
    problem: SafeProblem,
    *,
    seed: int,
    error: int | None = None,
    increment: int = 1,
    passes: int = _PASSES,
    progress: Progress = silent,
    known: Cells | None = None,
) -> SafeFile:
    """Make a safe file as Höhne describes it, for comparison.

    Parameters
    ----------
    problem
        What is asked. New combinations never come up, even if they may.
    seed
        Decides between frequencies that are equally good.
    error
        Largest abs(d) − w that is admissible at first; None: the smallest that all allowances
        admit, and at least 1.
    increment
        By how much it rises when no more combinations become safe, at least 1.
    passes
        Times through the file with the same error at most.
    progress
        Told about the task ``"make safe"``: combinations that are safe.
    known
        The cells of the problem, if they are at hand.

    Returns
    -------
    SafeFile
        `trace` tells, for each time the error was left, the passes so far, the largest abs(d) −
        w, and the mean of abs(d).

    Raises
    ------
    ExactCellsError
        Some combinations that fall into the same exact cells are too few together to be changed
        in pairs.
    InputError
        Options that make no sense.

    Notes
    -----
    Höhne (2003), the four steps as the seed literature lists them: sort and merge equal records;
    admit an error; go through the file and change frequencies to 0 or 3, 4, … with the
    smallest possible errors of margins, within the admissible one; on stagnation admit more, and
    repeat. What is smallest is Σ d² here. Records of a combination in an exact cell are handed to
    another one in the same exact cells.

    Examples
    --------
    >>> from diskret.safe import ControlTable
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    >>> tables = ControlTable((0,)), ControlTable((1,))
    >>> problem = SafeProblem(("sex", "age"), codes, np.array([1, 2, 2, 1]), (2, 2), tables)
    >>> file = hoehne(problem, seed=1)
    >>> file.codes.tolist(), file.count.tolist(), file.trace
    ([[0, 1], [1, 0]], [3, 3], ((1, 0, 0.0),))
    """
    if increment < 1 or passes < 1 or (error is not None and error < 0):
        raise InputError("increment= and passes= are at least 1, and error= at least 0")
    known = cells(problem) if known is None else known
    state = _State(known, seed)
    lowest = max(0, -int(known.allowance.min(initial=0)))
    admitted = max(lowest, 1 if error is None else error)
    state.admit(admitted)
    trace: list[tuple[int, int, float]] = []

    def tell() -> None:
        progress("make safe", len(problem.count) - before, len(problem.count))

    while True:
        before = state.unsafe()
        for _ in range(passes):
            meanwhile(state.step, nothing if progress is silent else tell)
            left = state.unsafe()
            progress("make safe", len(problem.count) - left, len(problem.count))
            if left in (0, before):
                break
            before = left
        trace.append((state.sweeps, *state.deviations()))
        if not state.unsafe():
            break
        admitted += increment
        state.admit(admitted)
    y = state.y
    file = SafeFile(problem.codes[y > 0], y[y > 0], sweeps=(state.sweeps,), trace=tuple(trace))
    return check(problem, file, known)


class _State:
    """Frequencies and deviations on the way."""

    def __init__(self, known: Cells, seed: int):
        problem = known.problem
        self.known, self.count, self.minimum = known, problem.count, problem.minimum
        self.index, self.counted = known.index(), known.counted()
        self.y = problem.count.astype(np.int64)
        self.off = np.zeros(len(known), dtype=np.int32)
        self.limit = np.zeros(len(known), dtype=np.int32)
        draws = np.random.default_rng(seed)
        self.high = draws.integers(0, 2, len(self.y)).astype(np.bool_)
        group = _groups(known, self.index, self.counted)
        self.free = np.flatnonzero(group == 0)
        tied = np.flatnonzero(group > 0)
        self.member = tied[np.argsort(group[tied], kind="stable")]
        edges = np.flatnonzero(np.diff(group[self.member], prepend=0, append=-1))
        self.first = edges.astype(np.int64)
        self._refuse_small()
        self.sweeps = 0
        self._shift = 0

    def admit(self, error: int) -> None:
        """Let all cells that are not exact deviate so far."""
        limit = np.where(self.known.exact, 0, self.known.allowance + error)
        self.limit = limit.astype(np.int32)

    def step(self) -> None:
        """Go through the file once."""
        from diskret.safe.hoehne_kernels import alone, in_pairs

        shared = self.index, self.counted, self.known.unit
        now = self.limit, self.off, self.y
        alone(self.free, *shared, self.count, self.minimum, self.high, *now)
        if len(self.member):
            tries = max(_PARTNERS, _PAIRS // max(self.unsafe(), 1))
            reach = self.minimum, self._shift, tries, _FEW
            in_pairs(self.member, self.first, *shared, *reach, *now)
            self._shift += tries
        self.sweeps += 1

    def unsafe(self) -> int:
        """How many combinations still have a frequency that is not safe."""
        return int(((self.y > 0) & (self.y < self.minimum)).sum())

    def deviations(self) -> tuple[int, float]:
        """The largest abs(d) − w, and the mean of abs(d)."""
        largest, _, total = self.known.score(self.off.astype(np.int64))
        return largest, total / max(int((self.known.original > 0).sum()), 1)

    def _refuse_small(self) -> None:
        """Refuse exact cells that hold combinations which only others could help."""
        if not len(self.member):
            return
        total = np.add.reduceat(self.count[self.member], self.first[:-1])
        small = np.flatnonzero(total < self.minimum)
        if not len(small):
            return
        rows = self.member[self.first[small]]
        amount = self.counted[rows][:, self.known.unit]
        blamed = self.index[rows][(amount > 0) & self.known.exact[self.index[rows]]]
        number = Count(len(small))
        raise ExactCellsError(
            f"{number} {number:group|groups} of combinations that fall into the same exact cells "
            f"{number:has|have} fewer than {self.minimum} records, so that the heuristic cannot "
            "keep",
            self.known,
            list(dict.fromkeys(blamed.tolist())),
        )


def _groups(
    known: Cells, index: NDArray[np.int32], counted: NDArray[np.int32]
) -> NDArray[np.int64]:
    """A number for each set of exact cells, and what is added to them; 0: none."""
    group = np.zeros(len(index), dtype=np.int64)
    for t in np.unique(known.table[known.exact]).tolist():
        cell = index[:, t].astype(np.int64)
        amount = counted[:, known.unit[t]].astype(np.int64)
        own = np.where(known.exact[cell] & (amount > 0), 1 + cell * (1 + amount.max()) + amount, 0)
        group = _numbered(group * (1 + own.max()) + own)
    return group


def _numbered(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Small numbers in place of large ones, 0 for 0."""
    return np.unique(np.append(key, 0), return_inverse=True)[1].ravel()[:-1]
