"""The tables of deviations published of SAFE: same numbers, same form.

Höhne, *SAFE – a method for anonymising the German Census* (UNECE/Eurostat work session on
statistical data confidentiality, Tarragona): tests with the census of 1987. The last row of the
second housing table repeats the totals of the persons' table; the sums of its columns are
tested here.
"""

import numpy as np
import pytest

from diskret.utility import by_group, deviation_table, deviations, size_class
from diskret.utility.groups import size_bounds

# dimension → number of cells with the deviation 0, 1, 2, …; 4 stands for 4 or 5
PERSONS = {
    1: [7_730, 4_600, 1_210, 104, 0, 0, 0, 0, 0, 0],
    2: [41_472, 86_008, 73_607, 60_243, 47_035, 26_310, 10_077, 1_823, 80, 2],
    3: [429_058, 1_053_292, 840_969, 594_461, 411_153, 202_569, 66_662, 8_954, 155, 0],
    4: [764_471, 2_034_970, 1_523_732, 954_158, 608_160, 274_847, 81_715, 9_489, 154, 0],
}
PERSONS_PERCENT = {
    1: [56.7, 90.4, 99.2, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0],
    2: [12.0, 36.8, 58.0, 75.4, 89.0, 96.5, 99.5, 100.0, 100.0, 100.0],
    3: [11.9, 41.1, 64.4, 80.9, 92.3, 97.9, 99.7, 100.0, 100.0, 100.0],
    4: [12.2, 44.8, 69.2, 84.4, 94.1, 98.5, 99.8, 100.0, 100.0, 100.0],
}
HOUSING = {
    1: [4_391, 5_250, 223, 0, 0, 0, 0],
    2: [37_980, 84_913, 64_154, 27_290, 8_555, 425, 0],
    3: [155_866, 420_560, 260_389, 86_197, 27_912, 1_195, 0],
    4: [278_551, 752_125, 471_625, 165_421, 51_211, 1_996, 5],
}
HOUSING_PERCENT = {
    1: [44.5, 97.7, 100.0, 100.0, 100.0, 100.0, 100.0],
    2: [17.0, 55.0, 83.8, 96.0, 99.8, 100.0, 100.0],
    3: [16.4, 60.5, 87.9, 96.9, 99.9, 100.0, 100.0],
    4: [16.2, 59.9, 87.3, 96.9, 99.9, 100.0, 100.0],
}
# from, to, cells, largest and mean deviation
PERSONS_SIZES = [
    (1, 9, 3_787_507, 8, 1.64),
    (10, 99, 3_246_990, 8, 2.22),
    (100, 999, 2_022_537, 8, 2.29),
    (1_000, 9_999, 887_972, 9, 2.33),
    (10_000, 99_999, 233_991, 9, 2.38),
    (100_000, 999_999, 37_507, 8, 2.45),
    (1_000_000, 9_999_999, 2_727, 8, 2.61),
    (10_000_000, 99_999_999, 39, 4, 1.31),
]


def cells_of(frequencies):
    """Dimension, original and published value of cells with these deviations, of both signs."""
    dimension, size = [], []
    for number, cells in frequencies.items():
        dimension.append(np.full(sum(cells), number))
        size.append(np.repeat(np.arange(len(cells)), cells))
    deviation = np.concatenate(size)
    deviation[::2] *= -1
    original = np.full(len(deviation), 60)
    return np.concatenate(dimension), original, original + deviation


@pytest.mark.long
@pytest.mark.parametrize(
    ("frequencies", "percent", "totals", "means", "mean", "exact"),
    [
        (
            PERSONS,
            PERSONS_PERCENT,
            [13_644, 346_657, 3_607_273, 6_251_696],
            [0.54, 2.33, 2.12, 1.97],
            2.03,
            12.2,
        ),
        (
            HOUSING,
            HOUSING_PERCENT,
            [9_864, 223_317, 952_119, 1_720_934],
            [0.58, 1.48, 1.38, 1.40],
            1.40,
            16.4,
        ),
    ],
    ids=["persons", "housing"],
)
def test_cells_by_deviation_and_dimension(frequencies, percent, totals, means, mean, exact):
    dimension, original, protected = cells_of(frequencies)
    table = deviation_table(dimension, original, protected)
    assert table.bound.tolist() == list(range(len(frequencies[1])))
    assert table.dimension.tolist() == [1, 2, 3, 4]
    assert table.cells.T.tolist() == list(frequencies.values())
    assert table.totals.tolist() == totals
    np.testing.assert_allclose(100 * table.shares.T, list(percent.values()), atol=0.05001)

    groups = by_group(dimension, original, protected)
    np.testing.assert_allclose(groups.mean, means, atol=0.00501)
    found = deviations(original, protected)
    assert found.cells == sum(totals)
    assert found.mean == pytest.approx(mean, abs=0.005)
    assert 100 * found.share_unchanged == pytest.approx(exact, abs=0.05)


def test_persons_over_all_cells():
    table = deviation_table(*cells_of(PERSONS))
    assert int(table.totals.sum()) == 10_219_270
    assert 100 * table.all_shares[3] == pytest.approx(82.9, abs=0.05)
    assert 100 * table.all_shares[5] == pytest.approx(98.2, abs=0.05)


@pytest.mark.long
def test_deviations_by_size_of_the_cell():
    original, deviation = [], []
    for i, (low, high, cells, largest, mean) in enumerate(PERSONS_SIZES):
        size = np.full(cells, int(mean))
        size[0] = largest
        size[1 : 1 + round(cells * mean) - int(size.sum())] += 1
        original.append(np.where(np.arange(cells) % 2 == 0, low, high))
        deviation.append(size * (-1) ** i)
    before = np.concatenate(original)
    after = before + np.concatenate(deviation)
    groups = by_group(size_class(before), before, after)
    low, high = size_bounds(groups.group)
    rows = zip(low, high, groups.cells, groups.largest, groups.mean.round(2), strict=True)
    assert list(rows) == PERSONS_SIZES
    assert deviations(before, after).mean == pytest.approx(2.03, abs=0.005)
    np.testing.assert_array_equal(np.sign(groups.bias), [1, -1] * 4)


def test_zeros_have_no_row():
    dimension, original, protected = cells_of({1: [3, 2]})
    zeros = np.zeros(4, dtype=np.int64)
    with_zeros = deviation_table(
        np.concatenate((dimension, zeros + 1)),
        np.concatenate((original, zeros)),
        np.concatenate((protected, zeros + 7)),
    )
    assert with_zeros.cells.tolist() == [[3], [2]]
