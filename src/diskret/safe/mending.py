"""The largest deviations come down at the end: sweeps over the rows near the worst cells."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.safe.annealing import STAGES, Run, mixed
from diskret.safe.costs import Raised

#: Height of the wall of raised cells at first, by how much it grows when nothing became better,
#: and at most.
_HEIGHT, _GROWTH, _HIGHEST = 500.0, 1.5, 20_000.0
#: So often in a row it may be in vain, and so many rounds are gone through at most.
_IN_VAIN, _ROUNDS = 40, 1000
#: Rounds look at no more rows than this share of all sweeps; of a limit of time they have as much.
SHARE = 0.15
#: But at so many.
_LEAST = 20_000
#: Smaller deviations of tables of one variable are left as they are; after so many rounds in vain
#: those that are smaller by one are looked at, too.
_SMALL, _WIDER = 2, 5
#: Rows of the worst cells are looked at with so many others before and behind.
_AROUND = 512
#: To sort a row, or to look it up in one table, is as much work as so many of `_ONE` rows that are
#: gone through.
_SORT, _ONE = 8, 400
#: How much more tables of one variable weigh, for each table: while all are mended, and while these
#: are.
_WEIGHT, _MARGIN = 0.1, 0.5


class _Task(NamedTuple):
    """What is mended.

    `score`: what has to become less, the first number first. The last one is about the mean: where
        it alone becomes less, walls stay as high as they are.
    `worst`: after so many rounds in vain, which of the cells that are looked at are raised,
        ``(C,)``.
    `weight`: how much more tables of one variable weigh, for each table.
    """

    score: Callable[[], tuple[int, ...]]
    worst: Callable[[int], NDArray[np.bool_]]
    weight: float


def mend(run: Run) -> None:
    """Bring down the largest deviations of a search that is over.

    At the end of a search a few cells deviate most, because the rows that would help are hardly
    looked at by then, and cost others too much. Here only rows of these cells and those around them
    are gone through, and the cells themselves are *raised*: a wall stands just below their
    deviation, which grows higher until it is worth while to bring them down. A round that makes
    nothing better is taken back. First come all tables, then those of one variable.
    """
    before = run.rates
    run.rates = np.where([True, True, True, run.rates[3] > 0], 1.0, 0.0)
    most = max(int(SHARE * sum(run.sweeps) * np.count_nonzero(run.count)), _LEAST)
    with run.pool() as pool:
        looked = _mend(run, _of_all(run), most // 2, 0, pool)
        _mend(run, _of_margins(run), most - looked, 1, pool)
    run.rates = before


def _of_all(run: Run) -> _Task:
    def worst(_: int) -> NDArray[np.bool_]:
        over = np.abs(run.deviation) - run.laid.allowance
        return over == over.max(initial=0)

    return _Task(lambda: (run.broken(), *run.score()), worst, _WEIGHT)


def _of_margins(run: Run) -> _Task:
    margin, bound = run.laid.margin, run.score()[:2]

    def over() -> NDArray[np.int64]:
        return (np.abs(run.deviation) - run.laid.allowance)[margin]

    def score() -> tuple[int, ...]:
        largest = run.largest_of_margins()
        others = max(run.score()[:2], bound)
        return run.broken(), *others, largest, int((over() == largest).sum()), int(over().sum())

    def worst(vain: int) -> NDArray[np.bool_]:
        # a cell that cannot be brought down must not keep others from it
        least = over().max(initial=0) - 1 - vain // _WIDER
        found = np.zeros(len(margin), dtype=np.bool_)
        found[margin] = over() >= max(least, _SMALL)
        return found

    return _Task(score, worst, _MARGIN)


def _mend(run: Run, task: _Task, most: int, part: int, pool: ThreadPoolExecutor) -> int:
    """Go through rounds of a task that look at so many rows at `most`; how many they were."""
    height, vain, looked = _HEIGHT, 0, 0
    now = task.score()
    for number in range(_ROUNDS):
        run.trace[-1] = run.figures()
        run.report(STAGES - 1)
        largest, margin = run.trace[-1][1], run.largest_of_margins()
        worst = run.laid.seen[task.worst(vain)]
        if largest < 1 or not len(worst) or vain == _IN_VAIN or looked > most:
            break
        # draws are those of no sweep
        again = sum(run.sweeps) + 1 + part * _ROUNDS + number
        order = _around(run, worst, again)
        looked += len(order) + len(run.count) * (_SORT + len(worst)) // _ONE
        costs, heat = run.prices(
            STAGES - 1, task.weight, Raised(height, largest - 1, max(margin - 1, 0))
        )
        kept = run.count[order], run.values[order], run.state.copy(), run.off.copy()
        run.state[worst] += run.laid.raised
        run.go_through(order, costs, heat, again, pool)
        run.state[worst] -= run.laid.raised
        found = task.score()
        if found < now:
            height, vain = (_HEIGHT, 0) if found[:-1] < now[:-1] else (height, vain)
            now = found
        else:
            run.count[order], values, run.state, run.off = kept
            if run.opened:
                run.values[order] = values
            height, vain = min(height * _GROWTH, _HIGHEST), vain + 1
    run.trace[-1] = run.figures()
    return looked


def _around(run: Run, cells: NDArray[np.int64], number: int) -> NDArray[np.intp]:
    """Rows of some cells, and those that come before and behind them in a drawn order."""
    order = mixed(run.values, np.arange(len(run.count)), run.laid, run.draws(number))
    at = np.flatnonzero(_touching(run, cells)[order])
    change = np.zeros(len(order) + 1, dtype=np.int64)
    np.add.at(change, np.maximum(at - _AROUND, 0), 1)
    np.add.at(change, np.minimum(at + _AROUND + 1, len(order)), -1)
    return order[np.cumsum(change)[:-1] > 0]


def _touching(run: Run, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows fall into one of these cells."""
    base = run.laid.maps.base
    table = np.searchsorted(base, cells, side="right") - 1
    found = np.zeros(len(run.count), dtype=np.bool_)
    for t in np.unique(table).tolist():
        found |= np.isin(run.laid.maps.cells(run.values, t), cells[table == t])
    return found
