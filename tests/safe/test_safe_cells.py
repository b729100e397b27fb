"""Controlled cells: numbered once, found again by combinations of any file."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_problems import made, small_problem

from diskret.errors import InputError, ProofError
from diskret.safe import ControlTable, SafeFile, SafeProblem, SpecialCell
from diskret.safe import cells as module
from diskret.safe import check as check_module
from diskret.safe.cells import cells, deviations

SEEDS = st.integers(0, 10_000)


def counted(problem, codes, count):
    """Every controlled cell with its count, by plain Python."""
    found = {}
    for t, table in enumerate(problem.tables):
        for row, n in zip(codes.tolist(), count.tolist(), strict=True):
            cell = t, tuple(row[c] for c in table.columns)
            amount = n if table.counter is None else n * row[table.counter]
            found[cell] = found.get(cell, 0) + amount
    return found


@given(SEEDS, st.booleans())
def test_cells_are_those_of_the_records(seed, dense):
    problem = small_problem(seed, counter=True)
    kept, module._DENSE = module._DENSE, module._DENSE if dense else 0
    try:
        known = cells(problem)
        index = known.index()
    finally:
        module._DENSE = kept
    mine = {
        (int(known.table[c]), known.codes(c)): int(known.original[c]) for c in range(len(known))
    }
    assert mine == counted(problem, problem.codes, problem.count)
    sums = np.zeros(len(known), dtype=np.int64)
    np.add.at(sums, index, known.counted()[:, known.unit] * problem.count[:, None])
    np.testing.assert_array_equal(sums, known.original)


@given(SEEDS)
def test_a_block_has_the_same_cells_as_the_whole(seed):
    problem = small_problem(seed)
    known = cells(problem)
    np.testing.assert_array_equal(known.index(problem.codes[3:7]), known.index()[3:7])


@given(SEEDS)
def test_deviations_list_cells_of_both_files(seed):
    problem, other = small_problem(seed, counter=True), np.random.default_rng(seed)
    codes = np.unique(
        np.column_stack([other.integers(0, s, 12) for s in problem.sizes]).astype(np.int32), axis=0
    )
    file = SafeFile(codes, np.full(len(codes), 3))
    found = deviations(problem, file)
    before = counted(problem, problem.codes, problem.count)
    after = counted(problem, file.codes, file.count)
    new = [cell for cell, n in after.items() if cell not in before and n]
    assert len(found.original) == len(before) + len(new)
    known = cells(problem)
    for c in range(len(known)):
        cell = int(known.table[c]), known.codes(c)
        assert (found.original[c], found.protected[c]) == (before[cell], after.get(cell, 0))
    opened = sorted((cell[0], after[cell]) for cell in new)
    rest = slice(len(known), None)
    mine = zip(found.table[rest].tolist(), found.protected[rest].tolist(), strict=True)
    assert sorted(mine) == opened
    assert not found.original[rest].any()


def test_special_cells_have_their_own_allowance():
    codes = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    special = (SpecialCell((1,), allowance=5, exact=True), SpecialCell((2,), exact=True))
    tables = (ControlTable((1,), allowance=2, special=special), ControlTable((), exact=True))
    problem = SafeProblem(("a", "b"), codes, np.array([4, 5, 6]), (2, 3), tables)
    known = cells(problem)
    assert known.allowance.tolist() == [2, 5, 0]
    assert known.exact.tolist() == [False, True, True]
    assert [known.named(c) for c in range(3)] == [
        "b=0 (4 records)",
        "b=1 (11 records)",
        "the total (15 records)",
    ]


def test_score_leaves_out_what_is_not_counted():
    """Region 1 has no buildings: its cell is there, with a count of 0, and never deviates."""
    codes = np.array([[0, 1], [1, 0]], dtype=np.int32)
    tables = (ControlTable((0,), counter=1, allowance=-4),)
    problem = SafeProblem(("region", "buildings"), codes, np.array([2, 5]), (2, 2), tables)
    known = cells(problem)
    assert known.original.tolist() == [2, 0]
    assert known.score(np.array([1, 0])) == (5, 1, 1)


def test_more_cells_than_can_be_numbered_are_refused():
    codes = np.zeros((1, 10), dtype=np.int32)
    problem = SafeProblem(
        tuple("abcdefghij"), codes, np.array([3]), (100,) * 10, (ControlTable(tuple(range(10))),)
    )
    with pytest.raises(InputError, match="a, b, c.* 1.0e\\+20 possible cells"):
        cells(problem)


@given(SEEDS, st.booleans())
def test_many_combinations_are_counted_as_few_are(seed, narrow):
    """The compiled loop for large files against the sums for small ones."""
    problem = small_problem(seed, counter=True, exact=2)
    if narrow:
        problem = replace(problem, codes=np.asfortranarray(problem.codes.astype(np.int8)))
    file = made(problem, problem.codes, 3 * (problem.count > 1))
    with pytest.MonkeyPatch.context() as patch:
        few = cells(problem), deviations(problem, file)
        patch.setattr(module, "_MANY", 0)
        many = cells(problem), deviations(problem, file)
    for name in ("start", "key", "original", "allowance", "exact"):
        assert np.array_equal(getattr(few[0], name), getattr(many[0], name))
    for name in ("table", "original", "protected"):
        assert np.array_equal(getattr(few[1], name), getattr(many[1], name))


@given(SEEDS, st.integers(1, 9))
def test_what_the_original_does_not_have_is_found_block_by_block(seed, block):
    draw = np.random.default_rng(seed)
    every = np.array(list(product(range(4), range(3), range(3))), dtype=np.int16)
    one, other = (np.sort(draw.permutation(36)[: draw.integers(1, 37)]) for _ in range(2))
    problem = SafeProblem(("a", "b", "c"), every[one], np.full(len(one), 3), (4, 3, 3), ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_module, "_BLOCK", block)
        found = check_module.unknown(problem, SafeFile(every[other], np.full(len(other), 3)))
        assert found.tolist() == (~np.isin(other, one)).tolist()
        swapped = every[other][::-1]
        if len(other) > 1:
            with pytest.raises(ProofError, match="ascending order"):
                check_module.check(problem, SafeFile(swapped, np.full(len(other), 3)))
