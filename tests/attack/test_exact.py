"""What proofs rest on: sums, products and bounds without any rounding, however large."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from diskret.attack.exact import (
    LIMIT,
    UNKNOWN,
    Point,
    broken_bounds,
    broken_equations,
    common_denominator,
    product,
    times,
)

SIZES = [3, 2**30, 2**40, 2**59, 2**61, LIMIT - 1]


def vector(draw, n, size):
    return draw.integers(-size, size + 1, n) * (draw.random(n) < 0.8)


@pytest.mark.parametrize("size", SIZES)
def test_products_are_those_of_whole_numbers(size):
    for seed in range(30):
        draw = np.random.default_rng(seed)
        m, n = int(draw.integers(1, 5)), int(draw.integers(1, 5))
        matrix = draw.integers(-3, 4, (m, n)) * (draw.random((m, n)) < 0.6)
        x, factor = vector(draw, n, size), int(draw.integers(1, 70))
        found = product(sparse.csr_array(matrix), x)
        rows = [sum(a * b for a, b in zip(row, x.tolist(), strict=True)) for row in matrix.tolist()]
        assert found.tolist() == rows
        assert times(x, factor).tolist() == [factor * one for one in x.tolist()]
        assert (times(x, factor).dtype == object) <= (max(map(abs, x.tolist())) * factor >= LIMIT)


def test_small_numbers_stay_in_64_bits():
    """Millions of cells would take too long otherwise."""
    row = sparse.csr_array(np.array([[1, -1]]))
    assert product(row, np.array([LIMIT // 2 - 2**20, 1])).dtype == np.int64
    assert product(row, np.array([LIMIT // 2, 1])).dtype == object
    assert product(sparse.csr_array((2, 2), dtype=np.int64), np.array([1, 2])).tolist() == [0, 0]
    assert product(sparse.csr_array((0, 2), dtype=np.int64), np.array([1, 2])).tolist() == []
    assert times(np.array([LIMIT // 4 - 2**20]), 4).dtype == np.int64
    assert times(np.array([LIMIT // 4]), 4).dtype == object
    assert times(np.zeros(0, np.int64), 4).tolist() == []


@pytest.mark.parametrize("size", SIZES)
def test_points_are_judged_as_fractions_are(size):
    kept = np.zeros(4, dtype=int)
    for seed in range(60):
        draw = np.random.default_rng(seed)
        m, n, unit = int(draw.integers(1, 4)), int(draw.integers(2, 5)), int(draw.integers(1, 7))
        matrix = draw.integers(-1, 2, (m, n))
        x = vector(draw, n, size // 8)
        exact = [Fraction(a, unit) for a in x.tolist()]
        left = [sum(a * b for a, b in zip(row, exact, strict=True)) for row in matrix.tolist()]
        # at the value, or beside it
        right = np.array([int(one) + int(draw.integers(2)) * (seed % 2) for one in left])
        ends = [[int(one // 1) + int(draw.integers(0, 2)) for one in exact] for _ in range(2)]
        low = np.where(draw.random(n) < 0.8, ends[0], -UNKNOWN) - draw.integers(0, 2)
        low = np.maximum(low, -UNKNOWN)
        high = np.where(draw.random(n) < 0.8, ends[1], UNKNOWN)
        wrong = [i for i, one in enumerate(left) if one != int(right[i])]
        outside = [
            i
            for i, one in enumerate(exact)
            if (low[i] > -UNKNOWN and one < int(low[i]))
            or (high[i] < UNKNOWN and one > int(high[i]))
        ]
        point = Point(x, unit)
        assert broken_equations(sparse.csr_array(matrix), right, point).tolist() == wrong
        assert broken_bounds(low, high, point).tolist() == outside
        fits = point.solves(sparse.csr_array(matrix), right, low, high)
        assert fits == (not wrong and not outside)
        kept[2 * bool(wrong) + bool(outside)] += 1
    assert kept[1:].all()


def test_a_table_that_keeps_everything_is_one_and_no_other():
    row, nine = sparse.csr_array(np.array([[1, 1]])), np.full(2, 9)
    for numerator, unit, fits in (
        ([3, 4], 1, True), ([7, 7], 2, True), ([3, 5], 1, False), ([-1, 8], 1, False),
        ([20, -6], 2, False), ([0, 7], 1, True),
    ):  # fmt: skip
        point = Point(np.array(numerator), unit)
        assert point.solves(row, np.array([7]), 0 * nine, nine) == fits


def test_no_bound_is_none_at_all():
    point = Point(np.array([LIMIT + 1, -1 - LIMIT]), 1)
    nothing = np.full(2, UNKNOWN)
    assert not len(broken_bounds(-nothing, nothing, point))
    assert broken_bounds(-nothing, nothing - 2, point).tolist() == [0]
    assert broken_bounds(2 - nothing, nothing, point).tolist() == [1]


def test_denominators_of_computed_fractions():
    """The smallest one for all of them, for any that is small; none for what is no fraction."""
    for units in ([1], [2], [3, 4], [5, 7, 9], [11, 13], [60], [997], [4096]):
        numbers = np.array([k / unit for unit in units for k in (1, unit + 1, -1, 3 * unit)])
        numbers += 1e-12
        assert common_denominator(numbers) == int(np.lcm.reduce(units))
    assert common_denominator(np.array([1.0, -5, 2e6])) == 1
    assert common_denominator(np.zeros(0)) == 1
    assert common_denominator(np.array([2e7 + 1 / 3, 0.5 - 6e-9])) == 6
    assert common_denominator(np.array([1e-7])) == 1
    assert common_denominator(np.array([2e-7])) is None
    assert common_denominator(np.array([1 / 4097])) is None
    assert common_denominator(np.array([2**0.5])) is None
    # beyond what fits beside numerators
    assert common_denominator(1 / np.array([4093.0, 4091, 4079])) is None
    assert common_denominator(1 / np.array([997.0, 991, 983])) == 997 * 991 * 983
