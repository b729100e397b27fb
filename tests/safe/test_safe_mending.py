"""Mending: what deviates most comes down, and nothing else is lost."""

from itertools import count

import numpy as np
import pytest
from small_problems import small_problem
from test_safe_search import census, plan

from diskret.safe import mending
from diskret.safe.annealing import Run
from diskret.safe.cells import cells, deviations
from diskret.safe.layout import layout


def searched(problem, seed=1, sweeps=60) -> Run:
    """A search that was not mended."""
    run = Run(
        problem, layout(problem, cells(problem)), (seed,), plan(sweeps), lambda *_: None, None
    )
    run.anneal()
    return run


def largest(run) -> tuple[int, int]:
    """Largest deviation of all cells, and of tables of one variable, counted from the file."""
    found = deviations(run.problem, run.file())
    of_one = np.array([len(table.columns) < 2 for table in run.problem.tables])[found.table]
    off = np.abs(found.protected - found.original)
    return int(off.max()), int(off[of_one].max())


@pytest.mark.parametrize("new", [False, True])
def test_what_deviates_most_comes_down(new):
    run = searched(census(new=new), seed=3, sweeps=5)
    before = largest(run)
    mending.mend(run)
    assert largest(run) < before
    assert largest(run)[1] <= before[1]
    assert run.trace[-1] == run.figures()


def test_rounds_that_make_nothing_better_are_taken_back(monkeypatch):
    run = searched(census(new=True))
    before = run.count.copy(), run.values.copy(), run.state.copy()
    gone = []
    through = run.go_through

    def watched(*args):
        found = through(*args)
        gone.append((run.count != before[0]).any() or (run.values != before[1]).any())
        return found

    monkeypatch.setattr(run, "go_through", watched)
    worse = count()
    task = mending._of_all(run)._replace(score=lambda: (next(worse),))
    with run.pool() as pool:
        mending._mend(run, task, 1 << 40, 0, pool)
    assert len(gone) == mending._IN_VAIN
    assert any(gone)
    after = run.count, run.values, run.state
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_rounds_look_at_no_more_rows_than_they_may(monkeypatch):
    run = searched(census())
    looked = []
    monkeypatch.setattr(run, "go_through", lambda order, *_: looked.append(len(order)))
    with run.pool() as pool:
        mending._mend(run, mending._of_all(run), 1, 0, pool)
    assert len(looked) <= 2


def test_only_the_rows_of_the_worst_cells_and_those_around_them_are_looked_at():
    run = searched(census(new=False))
    off = np.abs(run.deviation)
    cell = run.laid.seen[[off.argmax()]]
    mine = mending._touching(run, cell)
    table = np.searchsorted(run.laid.maps.base, cell[0], side="right") - 1
    columns = list(run.problem.tables[table].columns)
    code = {tuple(row) for row in run.problem.codes[mine][:, columns].tolist()}
    assert len(code) == 1
    others = {tuple(row) for row in run.problem.codes[~mine][:, columns].tolist()}
    assert not code & others
    order = mending._around(run, cell, 1)
    assert mine[order].sum() == mine.sum()
    assert len(order) <= mine.sum() * (2 * mending._AROUND + 1)


@pytest.mark.parametrize("seed", range(6))
def test_cells_that_are_kept_exactly_stay(seed):
    run = searched(small_problem(seed, exact=2))
    broken = run.broken()
    mending.mend(run)
    assert run.broken() <= broken
