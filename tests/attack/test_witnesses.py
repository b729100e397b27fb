"""Witnesses that are told as changes give back the very tables that were given."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

from diskret.attack.exact import LIMIT, Point
from diskret.attack.witnesses import Witnesses

WIDTH = 5
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([10**9, 2**53 + 1, 2**60, 2**61, LIMIT - 1, 1 - LIMIT]),
)
POINTS = st.builds(
    lambda numerator, unit: Point(np.array(numerator, dtype=np.int64), unit),
    st.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH),
    st.sampled_from([1, 1, 1, 2, 3, 4, 6, 10**9]),
)
HIDDEN = st.lists(st.booleans(), min_size=WIDTH, max_size=WIDTH).map(np.array)


@given(st.lists(POINTS), st.lists(POINTS), st.none() | POINTS, HIDDEN)
@examples(200)
def test_nothing_is_lost(first, more, start, hidden):
    found = Witnesses.gathered(first, hidden).with_points(more, start)
    points = [*first, *more]
    assert not found.problem() and len(found) == len(points)
    assert len(found.unit) <= len(points)  # no start that nothing starts from
    for told, point in zip(found, points, strict=True):
        assert told.denominator == point.denominator
        assert told.numerator.tolist() == point.numerator.tolist()
    columns = np.array([3, 1])
    shown = [point.numerator[columns].tolist() for point in points]
    possible = {
        tuple(Fraction(n, p.denominator) for n in row) for p, row in zip(points, shown, strict=True)
    }
    for most in (len(points) + 1, 2):
        seen = [
            tuple(Fraction(int(n), p.denominator) for n in p.numerator)
            for p in found.different(columns, most)
        ]
        assert possible >= {*seen} and len(seen) <= most
        assert most == 2 or possible == {*seen}
    part = found.among(columns, hidden[columns])
    assert not part.problem() and [point.numerator.tolist() for point in part] == shown

    for place in (0, len(first)):
        low, high = found.extremes(place)
        seen = [
            [Fraction(int(n), point.denominator) for n in point.numerator[hidden]]
            for point in points[place:]
        ]
        if not seen:
            assert np.all(low == np.inf) and np.all(high == -np.inf)
            continue
        cells = zip(*seen, strict=True)
        for least, most, cell in zip(low.tolist(), high.tolist(), cells, strict=True):
            # rounded inwards, never claimed too far
            assert Fraction(least) >= min(cell) and Fraction(most) <= max(cell)
            assert abs(Fraction(least) - min(cell)) <= abs(min(cell)) / 2**50
            assert abs(Fraction(most) - max(cell)) <= abs(max(cell)) / 2**50


def test_tables_near_the_original_values_start_there():
    """What insiders need is near the original values; the outsider's tables may be elsewhere."""
    base, truth = np.arange(100), np.arange(100)[::-1].copy()
    found = Witnesses.gathered([Point(base, 1)], np.ones(100, dtype=bool))
    moved = truth.copy()
    moved[[3, 7]] += [1, -1]
    found = found.with_points([Point(moved, 1), Point(2 * moved, 2)], Point(truth, 1))
    assert found.start.tolist() == [base.tolist(), truth.tolist()]
    assert found.of.tolist() == [0, 1, 1] and found.step.nnz == 4


def test_changes_of_fractions_are_told_in_their_own_unit():
    first = [Point(np.array([3, 5]), 2), Point(np.array([3, 7]), 2), Point(np.array([9, 14]), 6)]
    found = Witnesses.gathered(first, np.array([True, True]))
    assert found.unit.tolist() == [2] and found.step.nnz == 2
    low, high = found.extremes()
    assert low == pytest.approx([3 / 2, 14 / 6]) and high == pytest.approx([3 / 2, 7 / 2])
    # one change is enough for a start to be computed with
    large = replace(Witnesses.gathered(first[:2], found.hidden), start=np.array([[3, 2**61]]))
    assert large.problem() == "the numbers of a table are too large"
    none = replace(large, step=sparse.csr_array((2, 2), dtype=np.int64))
    assert not none.problem()
