"""Tables that somebody wrote down are read exactly, and refused where they would mislead."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.cellkey import Lookup, PerturbationTable
from diskret.errors import InputError


def test_all_ways_to_write_a_number_mean_the_same():
    rows = [["0.14", "0.72", "0.14"]]
    first = PerturbationTable.from_matrix(rows, [-1, 0, 1])
    for write in (float, Decimal, Fraction, np.float64):
        again = PerturbationTable.from_matrix([[write(p) for p in rows[0]]], [-1, 0, 1])
        assert (again.probabilities == first.probabilities).all()
    assert first.lookup(100).bounds[1].tolist() == [14, 86, 100]


def test_targets_and_noise_say_the_same():
    one = PerturbationTable.from_matrix(
        [[0.5, 0.25, 0.25], [0.5, 0, 0.5]], targets=[0, 1, 3], tolerance=1
    )
    other = PerturbationTable.from_matrix(
        [[0, 0.5, 0.25, 0, 0.25], [0.5, 0, 0, 0.5, 0]], noise=[-2, -1, 0, 1, 2], tolerance=1
    )
    assert one.noise.tolist() == other.noise.tolist()
    assert (one.probabilities == other.probabilities).all()


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6))
def test_rounded_rows_are_scaled_to_one(weights):
    rounded = [round(w / sum(weights), 3) for w in weights]
    noise = list(range(len(weights)))
    table = PerturbationTable.from_matrix([rounded], noise, tolerance=9)
    assert abs(table.probabilities[1].sum() - 1) < 1e-15
    expected = np.array(rounded) / sum(rounded)
    got = [table.probability(1, v) for v in noise]
    assert np.abs(np.subtract(got, expected)).max() < 1e-15
    assert table.lookup().bounds[1, -1] == 2**32


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ([[0.3, 0.4, 0.2]], {}, r"row 1 sum up to 0\.9"),
        ([[0.3, 0.4, 0.4]], {"incomplete": True}, r"row 1 sum up to 1\.1"),
        ([[0.25, 0.5, 0.25], [0.2, 0.5, 0.3]], {}, r"mean 0; that of row 2 is 0\.1"),
        ([[-0.1, 1.2, -0.1]], {}, "not be negative; one of row 1"),
        ([[0.5, 0.5]], {}, "row 1 has 2 entries|2 columns need"),
        ([[0.25, 0.5, 0.25], [1]], {}, "row 2 has 1 entry"),
        ([["0,25", "0,5", "0,25"]], {}, "not a number"),
        ([[None, 1, 0]], {}, "not a number"),
    ],
)
def test_what_is_no_distribution_without_bias_is_refused(rows, options, says):
    with pytest.raises(InputError, match=says):
        PerturbationTable.from_matrix(rows, noise=[-1, 0, 1], **options)


def test_counts_never_fall_below_zero():
    with pytest.raises(InputError, match="a count of 1 would become -1"):
        PerturbationTable.from_matrix([[0.25, 0.5, 0.25]], noise=[-2, 0, 2])
    with pytest.raises(InputError, match="a count of 1 would become -1"):
        Lookup.from_cumulative([[0.25, 0.75, 1]], noise=[-2, 0, 2])
    assert Lookup.from_cumulative([[0, 0.75, 1]], noise=[-2, 0, 2])


@pytest.mark.parametrize("columns", [{}, {"noise": [0, 1], "targets": [1, 2]}])
def test_columns_are_noise_or_targets(columns):
    with pytest.raises(InputError, match="noise= or targets="):
        PerturbationTable.from_matrix([[0.5, 0.5]], **columns)


@pytest.mark.parametrize("noise", [[0, 1], [1, 0, 2], [0, 0, 1]])
def test_columns_ascend(noise):
    with pytest.raises(InputError, match="3 columns need as many ascending names"):
        PerturbationTable.from_matrix([[0.25, 0.5, 0.25]], noise=noise)


@pytest.mark.parametrize("row", [[0.5, 0.4, 1], [0.2, 0.5, 0.9], [-0.1, 0.5, 1], [0.5, 1, 1.1]])
def test_cumulative_rows_ascend_to_one(row):
    with pytest.raises(InputError, match="ascend to 1; not so in row 2"):
        Lookup.from_cumulative([[0.3, 0.7, 1], row], noise=[-1, 0, 1])


def test_check_tells_what_each_row_does():
    table = PerturbationTable.from_matrix(
        [[0.5, 0.25, 0.25, 0], [0.25, 0.5, 0, 0.25]], [-1, 0, 2, 3], tolerance=1
    )
    lines = table.check().to_pylist()
    assert lines[0] == {
        "count": 0,
        "sum": 1.0,
        "mean": 0.0,
        "variance": 0.0,
        "least_variance": 0.0,
        "largest_variance": 0.0,
        "stays": 1.0,
        "largest_noise": 0.0,
    }
    assert lines[1]["variance"] == 1.5
    assert lines[1]["largest_variance"] == pytest.approx(2)
    assert (lines[2]["mean"], lines[2]["largest_noise"], lines[2]["stays"]) == (0.5, 3, 0.5)


def test_check_has_no_bounds_where_no_mean_of_zero_is_possible():
    table = PerturbationTable.from_matrix([[0.5, 0.5]], noise=[1, 2], tolerance=2)
    assert table.check().to_pylist()[1]["least_variance"] is None
