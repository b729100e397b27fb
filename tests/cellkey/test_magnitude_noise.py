"""Noise of sums: the formulas of Giessing and Tent, by hand and by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from diskret import Hierarchy, MagnitudeNoise
from diskret.cellkey import Lookup, PerturbationTable, perturbed_sums
from diskret.cellkey.magnitudes import flex, interpolated, separation_point
from diskret.errors import InputError
from diskret.tables import Dimension, Measure, Table

UP = Lookup(  # whatever the key: v = 0, 0, 0, 1 in the rows 0 to 3
    np.arange(4), 100, np.full((4, 1), 100, np.uint64), np.array([[0], [0], [0], [1]])
)
FAIR = PerturbationTable(  # v = −1 or 1 in every row
    np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5]])
)
WIDE = PerturbationTable(
    np.arange(4),
    np.arange(-3, 4),
    np.array(
        [
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0.5, 0.1, 0.3, 0.1, 0],
            [0, 0.1, 0.2, 0.4, 0.2, 0.1, 0],
            [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05],
        ]
    ),
)


def by_cell(table, **options):
    """Noise that is drawn with the keys of the cells, which a hand can follow."""
    return MagnitudeNoise(table, keys="cell", **options)


def sums(value, largest, keys, *, modulus=100, decimals=0, magnitude=None, count=None, weight=None):
    """A table whose first cell is the only total, whatever its leaves are."""
    value, keys = np.array(value), np.array(keys, dtype=np.uint64)
    region = Dimension("region", Hierarchy.flat([str(i) for i in range(1, len(value))]))
    size = value if magnitude is None else np.array(magnitude)
    measure = Measure("x", decimals, value, size, np.array(largest))
    count = np.where(size > 0, 3, 0) if count is None else np.array(count)
    return Table(
        (region,), count, measures=(measure,), key_sum=keys, key_modulus=modulus, weight=weight
    )


def noised(table, noise, *, sensitive=None, unit=1):
    mask = np.zeros(table.shape, bool) if sensitive is None else np.array(sensitive)
    return perturbed_sums(table, table.count, noise, mask, unit)


def test_the_example_of_the_handbook():
    """x = 300, largest 200, share 0.6: row 2.5, so v = 0.5 and 360 is published."""
    table = sums([300, 300], [[200], [200]], [0, 99])
    assert noised(table, MagnitudeNoise(UP, scale=0.6)).tolist() == [360, 360]


def test_rows_beyond_the_last_are_the_last():
    table = sums([3000], [[200]], [0])
    assert noised(table, MagnitudeNoise(UP, scale=0.6)).tolist() == [3120]


def test_the_share_falls_from_the_small_to_the_large_one():
    noise = MagnitudeNoise(UP, scale=(0.20, 0.03), flex_point=1000, flex_power=2)
    x = np.array([0.5, 1000.0, 2000.0, 9000.0, 1e12])
    # 0.03 + (0.2 · 2000 − 30) / 1000 · (2/3)²; 0.03 + (0.2 · 9000 − 30) / 1000 · (1/5)²
    expected = [0.2, 0.2, 0.03 + 0.37 * 4 / 9, 0.03 + 1.77 / 25, 0.03]
    assert flex(x, noise) == pytest.approx(expected, abs=1e-9)


def test_contributions_below_the_flex_point_have_their_shares_too():
    """Each contribution counts with its ε, below the flex point as well as beyond."""
    table = sums([300], [[100, 100]], [0])
    one = noised(table, MagnitudeNoise(UP, scale=0.5, shares=(1,)))
    two = noised(table, MagnitudeNoise(UP, scale=0.5, shares=(1, 0.5)))
    assert one.tolist() == [350]
    assert two.tolist() == [375]  # 50 and 25 are noise


def test_each_contribution_has_a_key_of_its_own():
    keys = [10, 90, 19, 91]  # turned: 1, 9, 91, 19
    table = sums([1000] * 4, [[100, 100]] * 4, keys)
    found = noised(table, by_cell(FAIR, scale=0.1, shares=(1, 0.5)))
    assert found.tolist() == [1000 - 10 - 5, 1000 + 10 - 5, 1000 - 10 + 5, 1000 + 10 - 5]


def test_own_keys_are_not_those_of_the_counts():
    table = sums([1000, 1000], [[100], [100]], [19, 91])
    assert noised(table, by_cell(FAIR, scale=0.1)).tolist() == [990, 1010]
    assert noised(table, by_cell(FAIR, scale=0.1, own_keys=True)).tolist() == [1010, 990]


def test_noise_may_be_in_proportion_to_the_mean_or_to_the_sum():
    table = sums([300, 300], [[200], [200]], [99, 0])
    assert noised(table, by_cell(FAIR, scale=0.1, of="mean")).tolist() == [310, 290]
    assert noised(table, by_cell(FAIR, scale=0.1, of="sum")).tolist() == [330, 270]


def test_extra_protection_moves_sensitive_cells_farther_on_the_same_side():
    table = sums([1000] * 4, [[100]] * 4, [0, 99, 0, 99])
    noise = by_cell(FAIR, scale=0.1, extra=0.7)
    found = noised(table, noise, sensitive=[True, True, False, False])
    assert found.tolist() == [983, 1017, 990, 1010]


def test_sensitive_cells_are_moved_even_where_the_noise_is_0():
    still = Lookup(np.arange(2), 100, np.full((2, 1), 100, np.uint64), np.zeros((2, 1), np.int64))
    keys = np.arange(100)
    table = sums([1000] * 100, [[100]] * 100, keys)
    noise = by_cell(still, scale=0.1, extra=2.0)
    found = noised(table, noise, sensitive=[True] * 100)
    assert sorted(set(found.tolist())) == [980, 1020]
    assert np.sum(found == 1020) == 50  # a further key takes each side equally often


def test_very_small_cells_are_treated_like_counts():
    noise = by_cell(FAIR, scale=0.25, small=FAIR)
    assert separation_point(noise, FAIR.lookup(100)) == 4.0
    table = sums([7, 7, 40, 40, 3], [[3], [3], [4], [4], [3]], [0, 99, 0, 99, 99], decimals=0)
    assert noised(table, noise).tolist() == [6, 8, 39, 41, 4]
    wider = by_cell(FAIR, scale=0.5, small=FAIR)  # now 4 lies above the separation point 2
    assert noised(table, wider).tolist() == [6, 9, 38, 42, 5]  # 7 - 1.5 and 7 + 1.5 rounded up


def test_a_unit_that_leaves_always_changes_the_sum():
    odd = PerturbationTable(
        np.array([0, 1]), np.array([-2, 0, 2]), np.array([[0, 1, 0], [0, 1, 0]])
    )
    noise = by_cell(FAIR, scale=0.1, odd=odd)
    for key in range(100):
        table = sums([1000, 1000], [[100], [100]], [key, (key * 37) % 100], count=[4, 3])
        with_unit, without = noised(table, noise)
        assert with_unit != without


def test_sums_do_not_cross_0():
    """Three contributions, each with noise down to minus the cell, and extra protection."""
    keys = np.random.default_rng(2).integers(0, 10**8, 50)
    table = sums([10] * 50, [[5, 3, 2]] * 50, keys, modulus=10**8)
    noise = MagnitudeNoise(WIDE, scale=2.0, shares=(1, 1, 1), extra=3.0)
    found = noised(table, noise, sensitive=[True] * 50)
    assert found.min() == 0


def test_one_contribution_never_needs_the_cut_at_0():
    """Noise in row a is at least −a, between rows too, so means are not shifted by cutting."""
    rows = np.linspace(0, 5, 101)
    for key in range(0, 100, 5):
        keys = np.full(101, key, np.uint64)
        assert np.all(interpolated(WIDE.lookup(100), rows, keys) >= -rows)


def test_cells_with_nothing_in_them_stay_0():
    table = sums([0, 0, 9], [[0], [0], [9]], [99, 0, 99], count=[0, 3, 3])
    assert noised(table, by_cell(FAIR, scale=0.5)).tolist()[:2] == [0, 0]


def test_half_a_unit_is_rounded_upwards():
    table = sums([105, 95, -105, -95], [[10]] * 4, [99, 99, 99, 99], magnitude=[105, 95, 105, 95])
    noise = by_cell(FAIR, scale=0.05)  # 0.5 upwards for positive, downwards for negative
    assert noised(table, noise).tolist() == [106, 96, -105, -95]
    assert noised(table, noise, unit=10).tolist() == [110, 100, -110, -100]


def test_negative_contributions_scale_noise_by_their_size():
    """1000 − 999 = 1 is not published as it is: it is looked up as the 1,999 that it is made of."""
    table = sums([1, 1, 0], [[1000]] * 3, [0, 99, 99], magnitude=[1999, 1999, 2000])
    assert noised(table, by_cell(FAIR, scale=0.1)).tolist() == [-99, 101, 100]


def test_values_are_in_the_measures_own_unit():
    """The flex point and the separation point are not in scaled units."""
    noise = by_cell(FAIR, scale=(0.2, 0.05), flex_point=100, small=FAIR)
    plain = sums([3000, 4], [[90], [2]], [99, 0])
    scaled = sums([300_000, 400], [[9000], [200]], [99, 0], decimals=2)
    assert (noised(plain, noise) * 100).tolist() == noised(scaled, noise).tolist()


@pytest.mark.parametrize(("row", "variance"), [(1, 1.0), (2, 1.2), (5, 2.1)])
def test_noise_has_mean_0_and_the_variance_of_its_row(row, variance):
    """By simulation: a cell of `row` times the largest contribution, within 4 standard errors."""
    cells = 4000
    keys = np.random.default_rng(row).integers(0, 2**32, cells, dtype=np.uint64)
    table = sums([1000 * row] * cells, [[1000]] * cells, keys, modulus=2**32)
    table = replace(table, key_sum=keys)
    noise = noised(table, MagnitudeNoise(WIDE, scale=1.0)) - 1000 * row
    assert abs(noise.mean()) < 4 * 1000 * np.sqrt(variance / cells)
    assert abs(noise.var() / 1e6 - variance) < 4 * np.sqrt(20 / cells)


def test_several_contributions_add_their_variances():
    """Turned keys are as good as independent ones: variances add up."""
    cells = 20_000
    keys = np.random.default_rng(8).integers(0, 2**32, cells, dtype=np.uint64)
    table = sums([10**6] * cells, [[1000, 1000, 1000]] * cells, keys, modulus=2**32)
    noise = noised(table, MagnitudeNoise(WIDE, scale=1.0, shares=(1, 0.5, 0.5))) - 10**6
    expected = 2.1e6 * 1.5
    assert abs(noise.mean()) < 4 * np.sqrt(expected / cells)
    assert noise.var() == pytest.approx(expected, rel=4 * np.sqrt(2 / cells))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scale": (0.05, 0.25)}, r"small contributions being at least"),
        ({"scale": 0.0}, r"scale= must be a number above 0 or a list"),
        ({"flex_point": 0}, r"flex_point= must be a number above 0, not 0"),
        ({"flex_power": 1.5}, r"flex_power= must be a whole number from 1"),
        ({"of": "range"}, r"'largest', 'mean' or 'sum', not 'range'"),
        ({"shares": ()}, r"shares= must be a list of values"),
        ({"shares": (0.5, 0.2)}, r"first of them 1"),
        ({"shares": (1, 0.2, 0.5)}, r"descending"),
        ({"shares": (1, -0.5)}, r"shares= must be a list of values, each a number above 0"),
        ({"extra": -1}, r"extra= must be a number from 0"),
        ({"of": "mean", "shares": (1, 0.5)}, r"leave shares= out"),
    ],
)
def test_impossible_parameters_are_refused(options, match):
    with pytest.raises(InputError, match=match):
        MagnitudeNoise(FAIR, **options)


def test_table_that_takes_sums_below_0_is_refused():
    wild = PerturbationTable(
        np.array([0, 1]), np.array([-2, 0, 2]), np.array([[0, 1, 0], [0.5, 0, 0.5]])
    )
    for table in (wild, wild.lookup(100)):
        with pytest.raises(InputError, match=r"in 1 row \(first of 1\)"):
            MagnitudeNoise(table)


def test_too_few_largest_contributions_are_refused():
    table = sums([300], [[200]], [0])
    with pytest.raises(InputError, match=r"3 largest.*knows 1; tabulate with largest=3"):
        noised(table, MagnitudeNoise(FAIR, shares=(1, 0.5, 0.2)))


def test_unknown_counts_and_weights_are_refused_where_they_matter():
    table = replace(sums([300], [[200]], [0]), count=None)
    mask = np.zeros(1, bool)
    with pytest.raises(InputError, match=r"does not know its counts"):
        perturbed_sums(table, None, MagnitudeNoise(FAIR, of="mean"), mask, 1)
    with pytest.raises(InputError, match=r"odd= is a table.*leave odd= out"):
        perturbed_sums(table, None, MagnitudeNoise(FAIR, odd=FAIR), mask, 1)
    with pytest.raises(InputError, match=r"has weights"):
        noised(sums([300], [[200]], [0], weight="w"), MagnitudeNoise(FAIR, of="mean"))


def test_lookup_for_other_keys_is_refused():
    with pytest.raises(InputError, match=r"below 100, the lookup is for keys below 256"):
        noised(sums([300], [[200]], [0]), MagnitudeNoise(FAIR.lookup(256)))
