"""Heinzl, lecture "Statistische Geheimhaltung": the matrix of the ABS method and plain ±1."""

import numpy as np
import pytest

import diskret as dk

TARGETS = [0, 3, 4, 5, 6, 7, 8, 9, 10]
# as printed for the counts 1 to 7; the page ends at the target 10, which cuts rows 6 and 7
PRINTED = [
    [0.667, 0.333, 0, 0, 0, 0, 0, 0, 0],
    [0.333, 0.667, 0, 0, 0, 0, 0, 0, 0],
    [0.119, 0.700, 0.082, 0.050, 0.028, 0.014, 0.007, 0, 0],
    [0.062, 0.076, 0.704, 0.075, 0.037, 0.020, 0.014, 0.012, 0],
    [0.025, 0.068, 0.068, 0.700, 0.059, 0.027, 0.019, 0.018, 0.017],
    [0, 0.057, 0.057, 0.057, 0.700, 0.041, 0.023, 0.021, 0.021],
    [0, 0.025, 0.035, 0.035, 0.062, 0.700, 0.060, 0.028, 0.020],
]


def test_complete_rows_have_the_stated_properties():
    table = dk.PerturbationTable.from_matrix(PRINTED[:5], targets=TARGETS, tolerance=0.002)
    assert table.max_noise == 5
    assert not [(n, j) for n in range(1, 6) for j in (1, 2) if table.probability(n, j - n)]
    assert all(table.probability(n, -n - 1) == 0 for n in range(6))
    assert np.abs(table.means).max() <= 0.002
    assert table.probability(3, 0) == 0.7
    assert table.lookup().table().probability(3, 5) == pytest.approx(0.007, abs=1e-9)
    # the lecture asks for a constant variance; to the printed digits it is about 2
    assert table.variances[1:] == pytest.approx([2, 2, 2.03, 2.02, 1.99], abs=0.1)


def test_rounded_rows_are_refused_unless_they_may_be():
    with pytest.raises(dk.DiskretError, match=r"mean 0; that of row 5 is -0\.002"):
        dk.PerturbationTable.from_matrix(PRINTED[:5], targets=TARGETS)
    scaled = dk.PerturbationTable.from_matrix(PRINTED[:5], targets=TARGETS, tolerance=0.002)
    assert sum(PRINTED[4]) == pytest.approx(1.001)
    assert scaled.probabilities.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-12)


def test_rows_that_were_not_printed_in_full_need_consent_and_cannot_perturb():
    with pytest.raises(dk.DiskretError, match=r"row 6 sum up to 0\.977; .*incomplete=True"):
        dk.PerturbationTable.from_matrix(PRINTED, targets=TARGETS, tolerance=0.002)
    table = dk.PerturbationTable.from_matrix(
        PRINTED, targets=TARGETS, tolerance=0.002, incomplete=True
    )
    assert table.probability(7, 3) == 0.02
    sums = table.check()["sum"].to_numpy()
    assert sums[-2:] == pytest.approx([0.977, 0.965])
    with pytest.raises(dk.DiskretError, match=r"2 rows \(6, 7\) do not sum up to 1"):
        table.lookup()


def test_plain_one_up_or_down():
    table = dk.PerturbationTable.from_matrix([[0.5, 0, 0.5]], noise=[-1, 0, 1])
    assert table.variances.tolist() == [0, 1]
    lookup = table.lookup(2)
    key = np.array([0, 1, 0, 1], dtype=np.uint64)
    assert lookup(np.array([1, 1, 100, 100]), key).tolist() == [-1, 1, -1, 1]
