"""The best safe file of a small problem, with a proof that none is better."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parallel import meanwhile, nothing
from diskret.progress import Progress, silent
from diskret.safe.cells import Cells, ExactCellsError, cells
from diskret.safe.check import check
from diskret.safe.problem import SafeFile, SafeProblem
from diskret.safe.programme import Programme

#: Cells times combinations beyond which the programmes are no longer small.
_LARGEST = 20_000_000
_ENDLESS = 1 << 40
_STAGES = 3
#: More new combinations are not written down.
_MOST = 5_000


def optimal(
    problem: SafeProblem, *, time_limit: float | None = None, progress: Progress = silent
) -> SafeFile:
    """Find the best safe file by integer programmes, and prove that none is better.

    Parameters
    ----------
    problem
        A small one: some dozens of combinations take seconds, more of them minutes and hours. If
        new combinations may come up, all admissible ones are written down first.
    time_limit
        Seconds after which the best file so far is taken.
    progress
        Told about the task ``"smallest deviations"``, in programmes, as long as it takes.

    Returns
    -------
    SafeFile
        `optimal` says whether all is proven.

    Raises
    ------
    ExactCellsError
        No safe file keeps the exact cells; names some that exclude each other.
    InputError
        The problem is not small, or no file that keeps the exact cells was found in time.

    Notes
    -----
    The programme of Höhne ("SAFE – a method for anonymising the German Census", Joint
    UNECE/Eurostat Work Session on Statistical Data Confidentiality, Tarragona): min max(abs(d) −
    w) with A y = a + d and y in {0, m, m + 1, …}. A second programme keeps the largest deviation
    and makes the cells that have it fewest, a third one keeps both and makes the sum of
    deviations smallest.

    Examples
    --------
    Four ages with one person, one with five; the total stays.

    >>> from diskret.safe import ControlTable
    >>> codes = np.array([[0], [1], [2], [3], [4]], dtype=np.int32)
    >>> tables = ControlTable((0,)), ControlTable((), exact=True)
    >>> problem = SafeProblem(("age",), codes, np.array([1, 1, 1, 1, 5]), (5,), tables)
    >>> file = optimal(problem)
    >>> file.codes.ravel().tolist()[-1], int(file.count.sum()), file.optimal
    (4, 9, True)
    """
    until = None if time_limit is None else time.monotonic() + time_limit
    known = cells(problem)
    codes, before = candidates(problem, known)
    if len(known) * len(codes) > _LARGEST:
        raise InputError(
            f"{len(codes):,} combinations and {len(known):,} controlled cells are too many for a "
            'proof; take method="search"'
        )
    model = _Model.of(known, codes, before)
    stages = _STAGES if len(model.original) else 0

    def waiting(stage: int) -> Callable[[], None]:
        tell = partial(progress, "smallest deviations", stage, stages)
        return nothing if progress is silent else tell

    y, proven = meanwhile(partial(_kept, model, known, until), waiting(0)), True
    for stage in range(stages):
        programme = _programme(model, y, stage)
        solved = meanwhile(partial(programme.solve, until), waiting(stage))
        if solved.y is not None and model.holds(solved.y):
            y = min(y, solved.y, key=model.score)
        proven = proven and solved.least >= model.score(y)[stage]
    file = SafeFile(codes[y > 0], y[y > 0], optimal=proven)
    return check(problem, file, known)


@dataclass(frozen=True, eq=False)
class _Model:
    """Cells as sums of frequencies; equal ones are one row.

    `matrix`: what one record adds to each cell, ``(R, n)``.
    `original`, `allowance`: of each row.
    `times`: how many controlled cells each row is.
    `keep`, `kept`: the same for cells that keep their counts.
    `cell`: a controlled cell for each of these.
    `near`: the safe frequency nearest to the original one, ``(n,)``.
    `minimum`: the smallest frequency.
    """

    matrix: NDArray[np.int64]
    original: NDArray[np.int64]
    allowance: NDArray[np.int64]
    times: NDArray[np.int64]
    keep: NDArray[np.int64]
    kept: NDArray[np.int64]
    cell: NDArray[np.int64]
    near: NDArray[np.int64]
    minimum: int

    @classmethod
    def of(cls, known: Cells, codes: NDArray[np.int32], before: NDArray[np.int64]) -> _Model:
        """What is asked, over the combinations that may occur."""
        index, amount = known.index(codes), known.counted(codes)[:, known.unit]
        row, table = np.nonzero(amount)
        every = np.zeros((len(known), len(codes)), dtype=np.int64)
        every[index[row, table], row] = amount[row, table]
        shown = np.flatnonzero(known.original > 0)
        alike = np.column_stack([every[shown], known.allowance[shown]])
        _, first, times = np.unique(alike, axis=0, return_index=True, return_counts=True)
        exact = np.flatnonzero(known.exact & (known.original > 0))
        _, once = np.unique(every[exact], axis=0, return_index=True)
        row, cell, minimum = shown[first], exact[np.sort(once)], known.problem.minimum
        small = np.where(2 * before < minimum, 0, minimum)
        return cls(
            matrix=every[row],
            original=known.original[row],
            allowance=known.allowance[row],
            times=times.astype(np.int64),
            keep=every[cell],
            kept=known.original[cell],
            cell=cell,
            near=np.where(before < minimum, small, before).astype(np.int64),
            minimum=minimum,
        )

    def score(self, y: NDArray[np.int64]) -> tuple[int, int, int]:
        """Largest abs(d) − w, the number of cells that have it, Σ abs(d)."""
        off = np.abs(self.matrix @ y - self.original)
        over = off - self.allowance
        largest = int(over.max())
        return largest, int(self.times[over == largest].sum()), int(off @ self.times)

    def holds(self, y: NDArray[np.int64]) -> bool:
        """Whether frequencies are safe and keep what is exact."""
        safe = bool(np.all((y == 0) | (y >= self.minimum)))
        return safe and np.array_equal(self.keep @ y, self.kept)


def _programme(model: _Model, y: NDArray[np.int64], stage: int) -> Programme:
    """What could be better than `y` in one respect, and no worse in those before."""
    largest, number, _ = model.score(y)
    limit = model.original + model.allowance + largest
    most = np.minimum(_most(model.matrix, limit), _most(model.keep, model.kept))
    # combinations outside all tables stay
    free = most == _ENDLESS
    programme = Programme(model.minimum, np.where(free, y, 0), np.where(free, y, most))
    programme.rows(model.keep, model.kept, model.kept)
    a, w, rows = model.original, model.allowance, np.eye(len(model.times), dtype=np.int64)
    if stage == 0:
        programme.columns(np.array([1]), largest, low=-int(w.min()))
        one = np.ones((len(a), 1), dtype=np.int64)
        programme.rows(model.matrix, -np.inf, a + w, -one)
        programme.rows(model.matrix, a - w, np.inf, one)
        return programme
    # 1 for the cells that have the largest deviation
    programme.columns(model.times if stage == 1 else 0 * model.times, 1)
    programme.rows(model.matrix, -np.inf, a + w + largest - 1, -rows)
    programme.rows(model.matrix, a - w - largest + 1, np.inf, rows)
    if stage == 2:
        nothing = np.zeros((1, len(y)), dtype=np.int64)
        programme.rows(nothing, -np.inf, number, model.times[None, :])
        programme.columns(model.times, np.inf, whole=False)
        programme.rows(model.matrix, -np.inf, a, -rows)
        programme.rows(model.matrix, a, np.inf, rows)
    return programme


def _most(matrix: NDArray[np.int64], limit: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest frequencies with which no cell is beyond its limit."""
    room = np.where(matrix > 0, limit[:, None] // np.maximum(matrix, 1), _ENDLESS)
    return room.min(axis=0, initial=_ENDLESS)


def _kept(model: _Model, known: Cells, until: float | None) -> NDArray[np.int64]:
    """Any safe frequencies that keep what is exact."""
    if model.holds(model.near):
        return model.near
    y, impossible = _keeping(model, np.arange(len(model.cell)), until)
    if impossible:
        blamed = _to_blame(model, until)
        raise ExactCellsError(
            "no safe file keeps exactly", known, [int(cell) for cell in model.cell[blamed]]
        )
    if y is None or not model.holds(y):
        raise InputError(
            "no file that keeps the exact cells was found in time; allow more with time_limit=, or "
            "keep fewer cells exactly"
        )
    return y


def _keeping(
    model: _Model, rows: NDArray[np.int64], until: float | None
) -> tuple[NDArray[np.int64] | None, bool]:
    """Frequencies that keep some cells, and whether there are none."""
    keep, kept = model.keep[rows], model.kept[rows]
    most = _most(keep, kept)
    free = most == _ENDLESS
    programme = Programme(
        model.minimum, np.where(free, model.near, 0), np.where(free, model.near, most)
    )
    programme.rows(keep, kept, kept)
    solved = programme.solve(until)
    return solved.y, solved.impossible


def _to_blame(model: _Model, until: float | None) -> NDArray[np.int64]:
    """Cells that cannot be kept even alone; else a set that can be kept without any one of it."""
    every = np.arange(len(model.cell))
    alone = [row for row in every.tolist() if _keeping(model, every[row : row + 1], until)[1]]
    if alone:
        return np.array(alone)
    blamed = every
    for row in every.tolist():
        fewer = blamed[blamed != row]
        if _keeping(model, fewer, until)[1]:
            blamed = fewer
    return blamed


def candidates(problem: SafeProblem, known: Cells) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Combinations that may occur, in ascending order, and how often they occur now.

    New ones, where the problem allows them, have no two values that never occur together, and
    fall into no controlled cell that is empty.

    >>> from diskret.safe import ControlTable
    >>> from diskret.safe.cells import cells
    >>> codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]], dtype=np.int32)
    >>> names, one = ("region", "age", "sex"), np.ones(3, dtype=np.int64)
    >>> problem = SafeProblem(names, codes, one, (2, 2, 2), (ControlTable((0,)),), new=True)
    >>> rows, before = candidates(problem, cells(problem))
    >>> rows.tolist(), before.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1]], [1, 0, 1, 1])
    """
    if not problem.new:
        return problem.codes, problem.count
    found = np.zeros((1, 0), dtype=np.int32)
    for v in range(len(problem.names)):
        values = np.unique(problem.codes[:, v])
        found = np.column_stack(
            [np.repeat(found, len(values), axis=0), np.tile(values, len(found))]
        ).astype(np.int32)
        for w in range(v):
            together = np.zeros((problem.sizes[w], problem.sizes[v]), dtype=np.bool_)
            together[problem.codes[:, w], problem.codes[:, v]] = True
            found = found[together[found[:, w], found[:, v]]]
        if len(found) > _MOST + len(problem.codes):
            raise InputError(
                f"more than {_MOST:,} new combinations may come up, too many to write down; take "
                'method="search", or allow no new ones'
            )
    index, amount = known.index(found), known.counted(found)[:, known.unit]
    empty = (index < 0) | (known.original[index] == 0)
    found = found[~(empty & (amount > 0)).any(axis=1)]
    rows, place, before = _joined(problem, found)
    before[place] = problem.count
    return rows, before


def _joined(
    problem: SafeProblem, found: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """All combinations once, and where those of the problem are."""
    every = np.concatenate([problem.codes, found])
    rows, place = np.unique(every, axis=0, return_inverse=True)
    return rows, place.ravel()[: len(problem.codes)], np.zeros(len(rows), dtype=np.int64)
