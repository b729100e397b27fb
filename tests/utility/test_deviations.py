"""Deviations, zeros and the Hellinger distance, against what they are defined as."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.utility import by_group, deviation_table, deviations, hellinger, size_class, zeros
from diskret.utility.deviations import QUANTILES, RELATIVE_BOUNDS
from diskret.utility.groups import size_bounds

VALUES = st.integers(-50, 2000) | st.just(0)
PAIRS = st.lists(st.tuples(VALUES, VALUES), max_size=40)
COUNTS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=40)


def arrays(pairs):
    both = np.array(pairs, dtype=np.int64)
    return both[:, 0], both[:, 1]


@given(PAIRS.filter(lambda pairs: any(x for x, _ in pairs)), st.sampled_from([0, 2]))
def test_figures_are_what_they_are_defined_as(pairs, decimals):
    found = deviations(*arrays(pairs), decimals)
    unit = 10**decimals
    there = [(Fraction(x, unit), Fraction(y, unit)) for x, y in pairs if x]
    size = sorted(abs(y - x) for x, y in there)
    relative = sorted(abs(y - x) / abs(x) for x, y in there)
    n = len(there)
    assert (found.cells, found.unchanged) == (n, sum(x == y for x, y in there))
    assert found.mean == pytest.approx(float(sum(size) / n))
    assert found.largest == float(size[-1])
    assert found.bias == pytest.approx(float(sum(y - x for x, y in there) / n))
    assert found.mse == pytest.approx(float(sum(d**2 for d in size) / n))
    assert found.relative == pytest.approx(float(sum(relative) / n))
    for share, at_most in zip(QUANTILES, found.quantiles, strict=True):
        enough = [d for d in size if sum(e <= d for e in size) >= Fraction(str(share)) * n]
        assert at_most == float(enough[0])
    for bound, share in zip(RELATIVE_BOUNDS, found.relative_shares, strict=True):
        assert share == pytest.approx(sum(d <= Fraction(str(bound)) for d in relative) / n)
    if min(min(x, y) for x, y in there) < 0:
        assert math.isnan(found.root)
    else:
        roots = [abs(math.sqrt(y) - math.sqrt(x)) for x, y in there]
        assert found.root == pytest.approx(sum(roots) / n)


def test_a_cell_that_was_set_to_zero_counts():
    original, protected = np.array([1, 1, 50]), np.array([0, 0, 50])
    found = deviations(original, protected)
    assert (found.cells, found.mean, found.relative) == (3, 2 / 3, 2 / 3)
    # told by the published value, nothing would have happened
    kept = protected != 0
    assert deviations(original[kept], protected[kept]).mean == 0
    assert zeros(original, protected).false_zeros == 2


def test_without_any_cell_there_is_no_figure():
    found = deviations(np.zeros(3, dtype=np.int64), np.array([0, 2, 0]))
    assert found.cells == 0
    assert math.isnan(found.mean) and math.isnan(found.rmse) and math.isnan(found.share_unchanged)
    assert zeros(np.zeros(3, dtype=np.int64), np.array([0, -2, 0])).largest == 2


@given(COUNTS)
def test_hellinger_is_within_its_bounds(pairs):
    original, protected = arrays(pairs)
    found = hellinger(original, protected)
    squares = [(math.sqrt(x) - math.sqrt(y)) ** 2 for x, y in pairs]
    assert found.distance == pytest.approx(math.sqrt(sum(squares) / 2))
    assert found.distance <= found.bound + 1e-9
    assert 0 <= found.scaled <= 1
    assert hellinger(original, original).utility == 1
    assert hellinger(3 * original, original).scaled == pytest.approx(0, abs=1e-7)


def test_hellinger_of_tables_without_anything_in_common_is_its_bound():
    found = hellinger(np.array([16, 0, 9]), np.array([0, 25, 0]))
    assert found.distance == pytest.approx(5.0)
    assert found.bound == pytest.approx(5.0)
    assert found.scaled == 1
    assert found.utility == pytest.approx(0.0)
    assert math.isnan(hellinger(np.array([1, -1]), np.array([1, 1])).distance)


def test_mean_square_is_the_variance_of_the_design():
    """The matrix of Höhne and Höninger (2019) as the seed paper quotes it, rows from 7 on."""
    noise = np.arange(-4, 5)
    probability = [0.02, 0.04, 0.085, 0.105, 0.5, 0.105, 0.085, 0.04, 0.02]
    random = np.random.default_rng(1)
    original = random.integers(7, 5_000, 500_000)
    protected = original + random.choice(noise, len(original), p=probability)
    found = deviations(original, protected)
    assert found.mse == pytest.approx(2.25, rel=0.01)
    assert found.mean == pytest.approx(0.95, rel=0.01)
    assert found.share_unchanged == pytest.approx(0.5, rel=0.01)
    assert found.bias == pytest.approx(0, abs=0.01)
    assert found.largest == 4


@given(PAIRS)
def test_groups_are_the_whole_taken_apart(pairs):
    if not pairs:
        return
    original, protected = arrays(pairs)
    groups = by_group(size_class(original), original, protected)
    for i, number in enumerate(groups.group.tolist()):
        low, high = (bound[0] for bound in size_bounds(np.array([number])))
        inside = (np.abs(original) >= low) & (np.abs(original) <= high)
        alone = deviations(original[inside], protected[inside])
        assert groups.cells[i] == alone.cells
        assert groups.largest[i] == alone.largest
        assert groups.mean[i] == pytest.approx(alone.mean)
        assert groups.bias[i] == pytest.approx(alone.bias)
        assert groups.relative[i] == pytest.approx(alone.relative)
        assert groups.unchanged[i] == pytest.approx(alone.share_unchanged)
    assert groups.cells.sum() == np.count_nonzero(original)


def test_sizes_of_sums_with_decimals():
    # 0.09, 9.99, 10.00 and -123.40
    classes = size_class(np.array([9, 999, 1_000, -12_340]), decimals=2)
    assert classes.tolist() == [0, 1, 2, 3]
    assert size_bounds(np.array([0, 1, 3]), decimals=2) == ([0.01, 1, 100], [0.99, 9.99, 999.99])


@given(PAIRS, st.sampled_from([0, 1]), st.integers(1, 100))
def test_every_cell_stands_in_the_row_of_its_deviation(pairs, decimals, stretch):
    if not pairs:
        return
    original, protected = arrays(pairs)
    protected = original + stretch * (protected - original)
    table = deviation_table(np.ones(len(original), dtype=np.int64), original, protected, decimals)
    size = np.abs(protected - original)[original != 0] / 10**decimals
    below = np.concatenate(([-1], table.bound[:-1]))
    expected = [
        int(((size > low) & (size <= high)).sum())
        for low, high in zip(below, table.bound, strict=True)
    ]
    assert table.cells.sum(axis=1).tolist() == expected
    assert table.cells.sum() == len(size)
    assert not len(size) or table.shares[-1].tolist() == [1.0]
