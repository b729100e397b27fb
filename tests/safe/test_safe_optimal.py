"""The best safe file of small problems, and the check that every engine makes."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from small_problems import best, made, score, small_problem

from diskret.errors import InputError, ProofError
from diskret.safe import ControlTable, SafeProblem, SpecialCell
from diskret.safe.cells import ExactCellsError, cells
from diskret.safe.check import check
from diskret.safe.optimal import candidates, optimal

SEEDS = st.integers(0, 10_000)


@examples(40)
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([2, 3, 4]))
def test_optimal_is_what_brute_force_finds(seed, counter, allowances, minimum):
    problem = small_problem(
        seed, most=5, counter=counter, allowances=allowances, minimum=minimum, largest=3
    )
    file = optimal(problem)
    assert file.optimal
    assert score(problem, file) == best(problem)


@examples(40)
@given(SEEDS, st.integers(1, 3))
def test_optimal_keeps_exact_cells_or_says_which_cannot_be_kept(seed, exact):
    problem = small_problem(seed, most=5, exact=exact, largest=3)
    wanted = best(problem)
    if wanted is None:
        with pytest.raises(ExactCellsError, match="cannot|keeps exactly"):
            optimal(problem)
        return
    assert score(problem, optimal(problem)) == wanted


@examples(25)
@given(SEEDS)
def test_optimal_opens_new_combinations(seed):
    problem = small_problem(seed, most=4, new=True, largest=3)
    codes, before = candidates(problem, cells(problem))
    if len(codes) > 6:
        return
    assert before.sum() == problem.count.sum()
    assert score(problem, optimal(problem)) == best(problem, codes)


def test_optimal_changes_the_order_of_what_matters():
    """Ages 1, 1, 1, 3: one deviation of 2 is worse than two of 1, unless it is allowed."""
    codes = np.array([[0], [1], [2], [3]], dtype=np.int32)
    count = np.array([1, 1, 1, 3])
    plain = SafeProblem(("age",), codes, count, (4,), (ControlTable((0,)),))
    total = ControlTable((), allowance=-5)
    assert score(plain, optimal(plain)) == (1, 3, 3)
    heavy = replace(plain, tables=(ControlTable((0,)), total))
    assert optimal(heavy).count.sum() == 6


def test_exact_cells_that_exclude_each_other_are_named_alone():
    """Ages 0 and 1 hold 1 and 3 of each region; the regions are kept, and age 0 must go."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    tables = (
        ControlTable((0,), exact=True),
        ControlTable((1,), special=()),
        ControlTable((0, 1), exact=True),
    )
    problem = SafeProblem(("region", "age"), codes, np.array([1, 3, 4, 5]), (2, 2), tables)
    with pytest.raises(ExactCellsError) as caught:
        optimal(problem)
    assert caught.value.cells == ((2, (0, 0)),)
    assert "region=0, age=0 (1 record)" in str(caught.value)


def test_a_set_of_exact_cells_is_irreducible():
    """A row of 4 and columns of 4 and 5: the row's 4 cannot be split into two columns."""
    codes = np.array([[0, 0], [0, 1], [1, 1], [2, 0]], dtype=np.int32)
    rows, columns = ControlTable((0,), exact=True), ControlTable((1,), exact=True)
    problem = SafeProblem(("row", "column"), codes, np.array([2, 2, 3, 3]), (3, 2), (rows, columns))
    with pytest.raises(ExactCellsError) as caught:
        optimal(problem)
    blamed = caught.value.cells
    assert len(blamed) > 1
    for left_out in range(len(blamed)):
        special = [[], []]
        for at, (table, cell) in enumerate(blamed):
            if at != left_out:
                special[table].append(cell)
        assert feasible(problem, special)


def feasible(problem, special):
    """Whether some exact cells can be kept together, by brute force."""
    tables = tuple(
        ControlTable((v,), special=tuple(SpecialCell(cell, exact=True) for cell in special[v]))
        for v in range(2)
    )
    return best(replace(problem, tables=tables), above=6) is not None


def test_no_proof_is_claimed_when_time_is_over():
    draw = np.random.default_rng(1)
    codes, count = np.unique(draw.integers(0, 7, (900, 4)), axis=0, return_counts=True)
    tables = tuple(ControlTable(pair) for pair in combinations(range(4), 2))
    problem = SafeProblem(tuple("abcd"), codes.astype(np.int32), count, (7,) * 4, tables)
    file = optimal(problem, time_limit=0.0)
    assert not file.optimal
    assert file.count.min() >= 3


def test_too_many_new_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["diskret.safe.optimal"], "_MOST", 0)
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=np.int32)
    problem = SafeProblem(("a", "b", "c"), codes, np.full(4, 3), (2, 2, 2), (), new=True)
    with pytest.raises(InputError, match="too many to write down"):
        optimal(problem)


def test_large_problems_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["diskret.safe.optimal"], "_LARGEST", 10)
    with pytest.raises(InputError, match="too many for a proof"):
        optimal(small_problem(1))


def test_a_file_of_rare_records_alone_can_vanish():
    codes = np.array([[0], [1]], dtype=np.int32)
    problem = SafeProblem(("age",), codes, np.array([1, 1]), (2,), (ControlTable((0,)),))
    file = optimal(problem)
    assert file.codes.shape == (0, 1) and file.optimal


def test_check_refuses_what_is_not_safe():
    codes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    tables = (ControlTable((0,)), ControlTable((1,), exact=True))
    problem = SafeProblem(("a", "b"), codes, np.array([3, 4, 3]), (2, 2), tables)
    fine = made(problem, codes, [6, 4, 0])
    assert check(problem, fine) is fine
    for wrong, why in (
        (made(problem, codes, [2, 4, 4]), "a=0 b=0 2 times"),
        (made(problem, codes, [3, 3, 3]), "b=1 \\(4 records\\) became 3"),
        (made(problem, codes[::-1], [3, 4, 3]), "ascending"),
        (made(problem, codes[[0, 0, 1]], [3, 3, 4]), "distinct"),
        (made(problem, [[0, 0], [0, 2]], [6, 4]), "codes that no variable has"),
        (made(problem, [[0, 0], [1, 1]], [6, 4]), "1 combination must not come up"),
    ):
        with pytest.raises(ProofError, match=why):
            check(problem, wrong)


def test_check_refuses_new_combinations_that_could_be_told():
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=np.int32)
    problem = SafeProblem(("a", "b", "c"), codes, np.full(4, 3), (2, 2, 3), (), new=True)
    check(problem, made(problem, [[0, 0, 1]], [3]))
    with pytest.raises(ProofError, match="must not come up"):
        check(problem, made(problem, [[0, 0, 2]], [3]))
    table = ControlTable((0, 1, 2))
    with pytest.raises(ProofError, match="1 cell is no longer empty"):
        check(replace(problem, tables=(table,)), made(problem, [[0, 0, 1]], [3]))
