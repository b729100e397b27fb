"""Propensity scores: the fit, and what is expected of it."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from diskret import DiskretError
from diskret.utility import propensity
from diskret.utility.propensity import Categories

NONE = np.empty((40, 0))


def by_another_program(before, after):
    """pMSE of main effects, by a general optimiser."""
    x = np.vstack([before, after])
    x = np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / x.std(axis=0)])
    y = np.repeat([0, 1], len(before))

    def loss(b):
        return np.logaddexp(0, x @ b).sum() - y @ (x @ b)

    def slope(b):
        return x.T @ (1 / (1 + np.exp(-x @ b)) - y)

    b = optimize.minimize(loss, np.zeros(x.shape[1]), jac=slope, tol=1e-12).x
    return np.mean((1 / (1 + np.exp(-x @ b)) - 0.5) ** 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_that_of_another_program(seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(40, 3))
    after = before * 1.2 + rng.normal(size=(40, 3)) * [0.1, 0.5, 1] + [0.2, 0, 1]
    found = propensity(before, after, interactions="none")
    assert found.pmse == pytest.approx(by_another_program(before, after), rel=1e-3)
    assert found.parameters == 4 and found.records == 80


@given(st.lists(st.integers(1, 30), min_size=4, max_size=4))
def test_of_one_categorical_variable_it_is_what_shares_say(counts):
    a, b = counts[:2], counts[2:]
    n = max(sum(a), sum(b))
    a[0] += n - sum(a)
    b[0] += n - sum(b)
    codes = [np.repeat([0, 1], part) for part in (a, b)]
    found = propensity(np.empty((n, 0)), np.empty((n, 0)), [Categories(*codes)])
    exact = sum((x + y) * (y / (x + y) - 0.5) ** 2 for x, y in zip(a, b, strict=True)) / (2 * n)
    assert found.pmse == pytest.approx(exact, abs=1e-6)
    assert found.parameters == 2


def test_equal_files_have_exactly_0_whatever_the_size_of_blocks(monkeypatch):
    module = import_module("diskret.utility.propensity")
    monkeypatch.setattr(module, "_CELLS", 1)
    values = np.random.default_rng(1).lognormal(size=(1000, 2))
    values[5, 1] = np.nan
    assert propensity(values, values).pmse == 0
    whole = propensity(values, values[::-1] * [1, 1.1]).pmse
    monkeypatch.undo()
    assert propensity(values, values[::-1] * [1, 1.1]).pmse == pytest.approx(whole, rel=1e-6)


def test_files_that_a_variable_tells_apart_have_a_quarter():
    values = np.arange(40.0)[:, None]
    found = propensity(values, values + 100)
    assert found.pmse == pytest.approx(0.25, abs=1e-4)
    gaps = propensity(values, np.full((40, 1), np.nan))
    assert gaps.pmse == pytest.approx(0.25, abs=1e-4)
    hidden = [Categories(np.zeros(40, dtype=np.int64), np.full(40, -1))]
    assert propensity(NONE, NONE, hidden).pmse == pytest.approx(0.25, abs=1e-4)


def test_records_drawn_anew_have_the_expected_value_and_spread():
    rng = np.random.default_rng(4)
    before = rng.normal(size=(300, 3))
    drawn = [propensity(before, before[rng.integers(0, 300, 300)]) for _ in range(200)]
    assert {one.parameters for one in drawn} == {10}
    scores = np.array([one.standardised for one in drawn])
    # squares of normal variables have more spread than the asymptotic value, hence 5 and 25 %
    assert abs(scores.mean()) < 5 / np.sqrt(200)
    assert scores.std() == pytest.approx(1, rel=0.25)
    assert np.mean([one.ratio for one in drawn]) == pytest.approx(1, rel=0.15)


def test_columns_that_follow_from_others_are_no_parameters():
    rng = np.random.default_rng(5)
    before, after = rng.normal(size=(2, 60, 2))
    sums = [np.column_stack([x, x.sum(axis=1), np.ones(60)]) for x in (before, after)]
    found = propensity(*sums, interactions="none")
    assert found.parameters == 3
    assert found.pmse == pytest.approx(propensity(before, after, interactions="none").pmse)


def test_only_products_see_variances_and_associations():
    rng = np.random.default_rng(6)
    before = rng.normal(size=(400, 1))
    after = before.mean() + 1.5 * (before - before.mean())
    assert propensity(before, after, interactions="none").pmse == pytest.approx(0, abs=1e-12)
    assert propensity(before, after).ratio > 5
    one = rng.integers(0, 2, 400)
    pair = [Categories(one, one), Categories(one, rng.permutation(one))]
    empty = np.empty((400, 0))
    assert propensity(empty, empty, pair).pmse == pytest.approx(0, abs=1e-12)
    seen = propensity(empty, empty, pair, "all")
    assert seen.parameters == 4 and seen.ratio > 20


def test_rare_categories_stand_together():
    codes = np.arange(400) // 2
    found = propensity(np.empty((400, 0)), np.empty((400, 0)), [Categories(codes, codes[::-1])])
    assert found.parameters == 100
    same = [Categories(np.zeros(40, dtype=np.int64), np.zeros(40, dtype=np.int64))]
    constant = propensity(np.ones((40, 1)), np.ones((40, 1)), same, "all")
    assert constant.parameters == 1 and constant.pmse == 0
    assert np.isnan([constant.ratio, constant.standardised]).all()


def test_models_that_are_too_large_are_refused():
    values = np.random.default_rng(7).normal(size=(50, 50))
    with pytest.raises(DiskretError, match="1,326 columns"):
        propensity(values, values)
    with pytest.raises(DiskretError, match="interactions="):
        propensity(values, values, interactions="some")
