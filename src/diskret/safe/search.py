"""The search for a safe file with small deviations: many small changes, ever more choosy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from diskret.errors import InputError
from diskret.parallel import meanwhile, nothing
from diskret.progress import Progress, silent
from diskret.safe.annealing import STAGES, Plan, Run
from diskret.safe.cells import Cells, ExactCellsError, cells, deviations
from diskret.safe.check import check
from diskret.safe.checkpoint import Checkpoint, task
from diskret.safe.layout import layout
from diskret.safe.mending import SHARE, mend
from diskret.safe.problem import SafeFile, SafeProblem
from diskret.texts.numbers import Count

#: Sweeps if neither a number nor a limit of time is given.
SWEEPS = 150
#: Small files are searched several times, so that about so many combinations are looked at.
_ROWS = 1_000
_ROUNDS = 8


def search(
    problem: SafeProblem,
    *,
    seed: int,
    sweeps: int | Sequence[int] | None = None,
    time_limit: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Progress = silent,
    known: Cells | None = None,
) -> SafeFile:
    """Make a safe file whose controlled tables lie as near to the original ones as can be found.

    Parameters
    ----------
    problem
        What is asked.
    seed
        Of all draws. Same problem, seed and sweeps: same file, on any number of cores.
    sweeps
        How often the whole file is gone through; or how often in each of the `STAGES` stages,
        which is what `SafeFile.sweeps` tells. Small files are searched several times.
    time_limit
        Seconds; as many sweeps are done in each stage as fit in, and one in all at least.
    checkpoint
        A file that keeps where the search stands: every minute, and when it is interrupted. If it
        exists the search goes on from there. It is removed at the end. Confidential.
    progress
        Told about the task ``"prepare the search"`` while that takes long, and about ``"search"``,
        with the largest and the mean deviation, in stages.
    known
        The cells of the problem, if they are at hand.

    Returns
    -------
    SafeFile
        `trace` tells, at the start and after each stage, the sweeps so far, the largest
        abs(d) - w and the mean of abs(d).

    Raises
    ------
    ExactCellsError
        Cells that are to be kept exactly were not reached.
    InputError
        Options make no sense, the tables have too many possible cells, or the checkpoint belongs
        to another search.

    Notes
    -----
    Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) on Σ d² and a wall beyond an
    admissible error that comes down. A sweep sorts the rows by the groups of variables in a drawn
    order, and looks at pairs that come near each other: one hands some of its records to the
    other, or, if new combinations may come up, they exchange their values in one group. The
    second leaves all counts as they are but those of tables that hold this group and another one
    in which the two differ, which makes it by far the most fruitful change.

    At the end the cells that deviate most are mended one after the other; see
    `diskret.safe.mending.mend`.

    Changes are proposed by all cores at once in blocks of rows, for the counts before; then one
    after the other is carried out if it costs no more than it seemed to. So neither the number
    of cores nor their speed matters, and cells are looked up for a block at a time only.

    Examples
    --------
    >>> from diskret.safe import ControlTable
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    >>> tables = ControlTable((0,)), ControlTable((1,))
    >>> problem = SafeProblem(("sex", "age"), codes, np.array([1, 2, 2, 1]), (2, 2), tables)
    >>> file = search(problem, seed=1, sweeps=60)
    >>> file.count.tolist(), file.trace[-1]
    ([3, 3], (60, 0, 0.0))
    """
    rounds = max(1, min(_ROUNDS, _ROWS // max(1, len(problem.count))))
    share = None if time_limit is None else time_limit / rounds * (1 - SHARE)
    plan = Plan(_sweeps(sweeps, time_limit), share)
    known = cells(problem) if known is None else known
    few = known.exact & (known.original > 0) & (known.original < problem.minimum)
    if few.any():
        number = Count(few.sum())
        why = (
            f"{number} {number:cell|cells} that {number:is|are} to be kept exactly "
            f"{number:is|are} too small for that"
        )
        raise ExactCellsError(why, known, np.flatnonzero(few).tolist())

    def tell() -> None:
        progress("prepare the search", 0, 1)

    waiting = nothing if progress is silent else tell
    laid = meanwhile(lambda: layout(problem, known), waiting)
    kept = None
    if checkpoint is not None and rounds == 1:
        kept = Checkpoint(Path(checkpoint), task(problem, seed, plan))
    runs: list[tuple[tuple[int, ...], SafeFile]] = []
    for again in range(rounds):
        begin = partial(Run, problem, laid, (seed, again), plan, progress, kept)
        run = meanwhile(begin, waiting)
        run.anneal()
        mend(run)
        runs.append(((run.broken(), *run.score()), run.file()))
        plan = Plan(tuple(run.sweeps), None)
    file = min(runs, key=lambda one: one[0])[1]
    _refuse_broken(file, known)
    check(problem, file, known)
    if kept is not None:
        kept.remove()
    return file


def _sweeps(sweeps: int | Sequence[int] | None, limit: float | None) -> tuple[int, ...] | None:
    """Sweeps in each stage, or None if time decides."""
    if limit is not None:
        if sweeps is not None:
            raise InputError("give sweeps= or time_limit=, not both")
        if not limit > 0:
            raise InputError(f"time_limit= is a number of seconds above 0, not {limit!r}")
        return None
    if sweeps is None or isinstance(sweeps, int):
        number = SWEEPS if sweeps is None else sweeps
        if number < 1:
            raise InputError(f"sweeps= is at least 1, not {number}")
        return tuple((s + 1) * number // STAGES - s * number // STAGES for s in range(STAGES))
    if len(sweeps) != STAGES or any(n < 0 for n in sweeps) or not any(sweeps):
        raise InputError(f"sweeps= is one number, or {STAGES} numbers of sweeps, one a stage")
    return tuple(int(n) for n in sweeps)


def _refuse_broken(file: SafeFile, known: Cells) -> None:
    if not known.exact.any():
        return
    found = deviations(known.problem, file, known)
    wrong = np.flatnonzero((found.protected != found.original)[: len(known)] & known.exact)
    if len(wrong):
        number = Count(len(wrong))
        raise ExactCellsError(
            f"{number} {number:cell|cells} could not be kept exactly by the search",
            known,
            wrong.tolist(),
        )
