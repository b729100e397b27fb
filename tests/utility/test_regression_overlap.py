"""Regressions before and after protection."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import diskret as dk
from diskret.utility import Regression, interval_overlap, least_squares


def drawn(n=80, seed=1):
    rng = np.random.default_rng(seed)
    job = rng.choice(["a", "b", "c"], n)
    age = rng.integers(20, 60, n)
    pay = 100 + 3 * age + 20 * (job == "c") + rng.normal(0, 10, n)
    return pa.table({"pay": pay, "age": age, "job": job})


def test_coefficients_and_errors_are_those_of_another_program():
    table = drawn()
    x, y = table.column("age").to_numpy(), table.column("pay").to_numpy()
    found = least_squares(y, x[:, None].astype(float), ["age"])
    other = stats.linregress(x, y)
    assert found.coefficients == pytest.approx([other.intercept, other.slope])
    assert found.errors == pytest.approx([other.intercept_stderr, other.stderr])
    assert (found.records, found.degrees) == (80, 78)


def test_weights_count_equal_records_and_errors_are_robust():
    rng = np.random.default_rng(2)
    x, weights = rng.normal(size=(50, 2)), rng.integers(1, 4, 50)
    y = x @ [1, 2] + rng.normal(size=50)
    found = least_squares(y, x, ["a", "b"], weights.astype(float))
    many = least_squares(np.repeat(y, weights), np.repeat(x, weights, axis=0), ["a", "b"])
    assert found.coefficients == pytest.approx(many.coefficients)
    halved = least_squares(y, x, ["a", "b"], weights / 2)
    assert halved.errors == pytest.approx(found.errors)  # the unit of weights does not matter
    design = np.column_stack([np.ones(50), x])
    inverse = np.linalg.inv(design.T @ (design * weights[:, None]))
    score = design * (weights * (y - design @ found.coefficients))[:, None]
    variance = inverse @ score.T @ score @ inverse * 50 / 47
    assert found.errors == pytest.approx(np.sqrt(np.diag(variance)))


@pytest.mark.parametrize(
    ("shift", "error", "overlap"),
    # intervals ±2 and shift ±2·error
    [(0, 1, 1), (2, 1, 0.5), (4, 1, 0), (9, 1, 0), (0, 0.5, 0.75), (0, 0, 0.5)],
)
def test_overlap_by_hand(shift, error, overlap):
    level = stats.t.cdf(2, 50) * 2 - 1
    one = Regression(("constant",), np.array([0.0]), np.array([1.0]), 51, 50)
    other = Regression(("constant",), np.array([float(shift)]), np.array([float(error)]), 51, 50)
    found = interval_overlap(one, other, "y", level)
    if error:
        assert found.overlap[0] == pytest.approx(overlap)
        assert found.mean_overlap == pytest.approx(overlap)
    assert found.standardised[0] == shift


def test_equal_files_overlap_fully_and_noise_moves_what_it_hits():
    table = drawn()
    same = dk.utility.compare(table, table).regression("pay", ["age", "job"])
    assert same.terms == ("constant", "age", "job=b", "job=c")
    assert same.overlap == pytest.approx(1) and not same.standardised.any()
    noise = np.random.default_rng(3).normal(0, 30, 80)
    noisy = table.set_column(0, "pay", pa.array(table.column("pay").to_numpy() + noise))
    moved = dk.utility.compare(table, noisy).regression("pay", ["age", "job"])
    assert 0 < moved.mean_overlap < 0.9 and "RegressionComparison(pay on 3 terms" in repr(moved)


def test_a_category_that_is_gone_has_no_coefficient():
    table = drawn()
    after = table.set_column(2, "job", pa.array(["a", "b"] * 40))
    found = dk.utility.compare(table, after).regression("pay", "job")
    assert found.terms == ("constant", "job=b", "job=c")
    assert np.isnan(found.after[2]) and np.isnan(found.overlap[2])
    assert not np.isnan(found.mean_overlap)


@pytest.mark.parametrize(
    ("response", "predictors", "level", "message"),
    [
        ("job", ["age"], 0.95, "not numbers"),
        ("pay", ["age", "twice"], 0.95, "'age', 'twice'; leave one"),
        ("pay", ["same"], 0.95, "'same' has the same value"),
        ("pay", ["age"], 95, "level="),
        ("pay", ["id"], 0.95, "needs more than 80 records"),
    ],
)
def test_models_that_cannot_be_fitted_are_refused(response, predictors, level, message):
    table = drawn()
    table = table.append_column("twice", pa.array(2 * table.column("age").to_numpy() + 1))
    table = table.append_column("same", pa.array(np.ones(80)))
    table = table.append_column("id", pa.array([f"{at:03}" for at in range(80)]))
    with pytest.raises(dk.DiskretError, match=message):
        dk.utility.compare(table, table).regression(response, predictors, level)
