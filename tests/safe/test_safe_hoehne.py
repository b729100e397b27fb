"""Höhne's heuristic: safe in any case, never better than the best, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from small_problems import best, score, small_problem

from diskret.errors import InputError
from diskret.safe import ControlTable, SafeProblem
from diskret.safe.cells import ExactCellsError, cells, deviations
from diskret.safe.hoehne import hoehne
from diskret.safe.optimal import optimal

SEEDS = st.integers(0, 10_000)


@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([2, 3, 5]))
def test_every_combination_is_safe_and_the_trace_tells_the_deviations(
    seed, counter, allowances, minimum
):
    problem = small_problem(seed, counter=counter, allowances=allowances, minimum=minimum)
    file = hoehne(problem, seed=seed)
    assert file.count.min(initial=minimum) >= minimum
    known = cells(problem)
    largest, _, total = score(problem, file)
    sweeps, told, mean = file.trace[-1]
    assert ((sweeps,), told) == (file.sweeps, largest)
    assert mean == pytest.approx(total / max((known.original > 0).sum(), 1))


@given(SEEDS, st.integers(1, 3))
def test_exact_cells_are_kept_or_named(seed, exact):
    problem = small_problem(seed, exact=exact)
    try:
        file = hoehne(problem, seed=1)
    except ExactCellsError as error:
        assert error.cells
        assert "fewer than 3 records" in str(error)
        return
    known = cells(problem)
    found = deviations(problem, file, known)
    assert known.exact.any()
    assert (found.protected == found.original)[known.exact].all()


def test_one_total_that_is_kept_needs_no_more_than_pairs():
    """Five combinations of one record: all five in one place, the only way besides 0."""
    codes = np.arange(5, dtype=np.int32)[:, None]
    tables = (ControlTable((0,)), ControlTable((), exact=True))
    problem = SafeProblem(("age",), codes, np.ones(5, dtype=np.int64), (5,), tables)
    file = hoehne(problem, seed=1)
    assert file.count.tolist() == [5]
    assert score(problem, file)[:2] == best(problem, above=4)[:2]


def test_groups_that_are_too_small_are_named():
    codes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    tables = (ControlTable((0,), exact=True),)
    problem = SafeProblem(("region", "age"), codes, np.array([1, 1, 5]), (2, 2), tables)
    with pytest.raises(ExactCellsError, match="1 group .*: region=0 \\(2 records\\)") as caught:
        hoehne(problem, seed=1)
    assert caught.value.cells == ((0, (0,)),)


@examples(30)
@given(SEEDS)
def test_it_is_never_better_than_the_best(seed):
    problem = small_problem(seed, most=14)
    assert score(problem, hoehne(problem, seed=1)) >= score(problem, optimal(problem))


def test_the_seed_alone_decides():
    """Frequencies of 2 with a minimum of 4: 0 and 4 are equally near."""
    codes = np.arange(12, dtype=np.int32)[:, None]
    tables = (ControlTable((0,)),)
    problem = SafeProblem(("age",), codes, np.full(12, 2), (12,), tables, minimum=4)
    first, again, other = (hoehne(problem, seed=seed).codes.ravel().tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_the_error_rises_from_where_it_is_told():
    problem = small_problem(11)
    slowly = hoehne(problem, seed=1, error=1)
    at_once = hoehne(problem, seed=1, error=50)
    assert len(slowly.trace) > 1 and len(at_once.trace) == 1
    assert [row[1] for row in slowly.trace] == sorted(row[1] for row in slowly.trace)
    assert all(row[1] <= 1 + at for at, row in enumerate(slowly.trace))


@pytest.mark.parametrize("option", [{"increment": 0}, {"passes": 0}, {"error": -1}])
def test_options_without_sense_are_refused(option):
    with pytest.raises(InputError, match="at least"):
        hoehne(small_problem(1), seed=1, **option)
