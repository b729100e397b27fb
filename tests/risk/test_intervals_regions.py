"""Interval disclosure and regions that grow with how outlying a record is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError
from diskret.risk.intervals import deviation_intervals, rank_intervals, regions
from diskret.risk.robust import robust_scatter


def test_small_file_by_hand():
    # standard deviation 2 and 20
    original = np.array([[1.0, 10.0], [5.0, 50.0], [1.0, np.nan], [5.0, 50.0], [np.nan, np.nan]])
    original[2, 1] = 10.0
    shown = original + [[0.1, 0.0], [0.11, 0.9], [-0.1, np.nan], [9, 9], [1, 1]]
    found = deviation_intervals(original, shown, 0.05)
    assert found.inside.tolist() == [
        [True, True],
        [False, True],
        [True, False],
        [False, False],
        [False, False],
    ]
    assert found.shares.tolist() == [2 / 4, 2 / 3]
    assert found.share == 4 / 7
    assert found.any.tolist() == [True, True, True, False, False]
    # the third record is judged by what is there, the last shows nothing
    assert found.all.tolist() == [True, False, True, False, False]
    assert found.share_any == 0.6 and found.share_all == 0.4


def test_intervals_of_ranks_are_those_of_sorting_by_hand():
    original = np.array([[10.0], [20.0], [30.0], [40.0], [50.0]])
    shown = np.array([[20.0], [20.0], [60.0], [5.0], [np.nan]])
    # 5 20 20 60: one place around 20 is 5 to 60, around 60 is 20 to 60, around 5 is 5 to 20
    found = rank_intervals(original, shown, 0.25)
    assert found.inside[:, 0].tolist() == [True, True, True, False, False]
    # no place around: the value itself
    assert rank_intervals(original, shown, 0.2).inside[:, 0].tolist() == [False, True] + 3 * [False]


@given(st.integers(0, 10**6), st.floats(0, 0.5))
def test_wider_intervals_hold_more_and_unchanged_values_are_in_all(seed, k):
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(40, 2))
    shown = original + rng.normal(scale=0.2, size=original.shape)
    for made in (deviation_intervals, rank_intervals):
        assert (made(original, shown, k).inside <= made(original, shown, 1.5 * k).inside).all()
        assert made(original, original, k).inside.all()


def brute_regions(original, shown, k):
    deviation = original.std(axis=0)
    outlying = robust_scatter(original).distances(original)
    inside = np.abs(original - shown) <= k[0] * outlying[:, None] * deviation
    away = np.linalg.norm((shown[:, None] - shown) / deviation, axis=2)
    np.fill_diagonal(away, np.inf)
    return inside, away.min(axis=1) > k[1]


@pytest.mark.parametrize("seed", range(4))
def test_regions_are_those_of_looking_at_every_pair(seed):
    rng = np.random.default_rng(seed)
    original = rng.lognormal(size=(150, 2))
    shown = original + rng.normal(scale=0.05, size=original.shape)
    shown[:20] = shown[20:40]
    found = regions(original, shown, (0.05, 0.05))
    inside, alone = brute_regions(original, shown, (0.05, 0.05))
    assert (found.inside.inside == inside).all()
    assert (found.alone == alone).all()
    assert found.first.any == inside.any(axis=1).mean() > found.first.all
    assert found.second.all == (inside.all(axis=1) & alone).mean() < found.first.all
    weight = found.outlying
    expected = weight[inside.any(axis=1)].sum() / weight.sum()
    assert found.first.weighted_any == pytest.approx(expected)
    assert found.first.weighted_any > found.first.any  # outliers stay in their large regions


def test_groups_of_equal_records_are_safe_from_the_second_measure_only():
    rng = np.random.default_rng(1)
    original = np.repeat(rng.normal(size=(50, 2)), 3, axis=0) + rng.normal(
        scale=1e-4, size=(150, 2)
    )
    grouped = np.repeat(original.reshape(50, 3, 2).mean(axis=1), 3, axis=0)
    found = regions(original, grouped)
    assert found.first.all == 1
    assert found.second.any == 0


def test_distances_of_incomplete_records_come_from_their_other_values():
    rng = np.random.default_rng(2)
    original = rng.normal(size=(400, 2))
    original[0] = [50.0, np.nan]
    original[1] = [0.0, np.nan]
    original[2] = np.nan
    found = regions(original, original)
    assert found.outlying[0] > 40 > 1 > found.outlying[1]
    assert found.outlying[2] == 0
    assert not found.inside.all[2] and found.inside.all[[0, 1, 3]].all()
    with pytest.raises(DiskretError, match="no record has a value in all numeric variables"):
        regions(original[:3], original[:3])


def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    original = rng.lognormal(size=(300, 2))
    shown = original * rng.normal(1, 0.05, original.shape)
    unit = np.array([1e-3, 1e5])
    for made in (deviation_intervals, rank_intervals):
        plain, other = made(original, shown), made(original * unit, shown * unit)
        assert (plain.inside == other.inside).all() and plain.inside.any()
    plain, other = regions(original, shown), regions(original * unit, shown * unit)
    assert plain.first.any == other.first.any and plain.second.all == other.second.all


def test_what_cannot_be_compared_is_told():
    with pytest.raises(DiskretError, match="same records and variables"):
        deviation_intervals(np.zeros((3, 1)), np.zeros((3, 2)))
    with pytest.raises(DiskretError, match="k= must be a number from 0"):
        rank_intervals(np.zeros((3, 1)), np.zeros((3, 1)), -0.1)
    with pytest.raises(DiskretError, match="k= must be 2 values, each a number from 0 upwards"):
        regions(np.zeros((3, 1)), np.zeros((3, 1)), (0.05,))
