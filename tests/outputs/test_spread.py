"""Combinations of regressors that rest on few units: proven against all sets of units by hand."""

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.outputs import Profile, model
from diskret.outputs.influence import influence, leverage
from diskret.outputs.spread import spread


def few_alone(x, owner, threshold):
    """Whether fewer units than the threshold can be taken away such that columns fall together."""
    whole = np.linalg.matrix_rank(x)
    for size in range(1, threshold):
        for some in combinations(np.unique(owner), size):
            if np.linalg.matrix_rank(x[~np.isin(owner, some)]) < whole:
                return True
    return False


@examples(60)
@given(st.data())
def test_proven_means_that_no_few_units_are_alone(data):
    seed = data.draw(st.integers(0, 10**6))
    draw = np.random.default_rng(seed)
    number, columns = int(draw.integers(6, 14)), int(draw.integers(1, 4))
    x = draw.integers(0, 3, (number, columns)).astype(float)
    x[:, 0] = 1
    owner = draw.integers(0, number, number).astype(np.int32) if seed % 2 else None
    threshold = int(draw.integers(2, 4))
    alone = few_alone(x, np.arange(number) if owner is None else owner, threshold)
    found = spread(x, owner, threshold)
    assert found.proven == (not alone)  # so few combinations are all tried
    if found.combination is not None:
        assert alone
        inside = np.abs(x @ found.combination) > 1e-8
        units = np.flatnonzero(inside) if owner is None else np.unique(owner[inside])
        assert 0 < len(units) < threshold


def test_large_designs_are_proven():
    draw = np.random.default_rng(1)
    x = draw.normal(size=(3000, 12))
    x[:, 4:] = draw.random((3000, 8)) < 0.02
    x[:, 0] = 1
    assert spread(x, None, 10).proven
    x[:, 5] = np.arange(3000) < 9
    found = spread(x, None, 10)
    assert not found.proven
    assert np.flatnonzero(found.combination).tolist() == [5]


def test_difference_of_continuous_regressors_is_found():
    draw = np.random.default_rng(2)
    x = draw.normal(size=(500, 3))
    x[:, 2] = x[:, 0] + 2 * x[:, 1] + 5 * (np.arange(500) < 4)
    found = spread(x, None, 10)
    np.testing.assert_allclose(found.combination / found.combination[2], [-1, -2, 1], atol=1e-9)


def test_leverage_has_the_weights_of_the_fit():
    draw = np.random.default_rng(3)
    x = sm.add_constant(draw.normal(size=(80, 3)))
    y, weights = draw.poisson(2, 80), draw.random(80)
    half = np.sqrt(weights)[:, None] * x
    hat = np.diag(half @ np.linalg.inv(half.T @ half) @ half.T)
    assert influence(x, weights, None, 10, 0.9).leverage == pytest.approx(hat.max())
    fitted = sm.GLM(y, x, family=sm.families.Poisson()).fit()
    hat = fitted.get_hat_matrix_diag()
    assert influence(x, fitted.mu, None, 10, 0.9).leverage == pytest.approx(hat.max())
    assert leverage(x).sum() == pytest.approx(4)


def test_leverage_of_a_unit_is_that_of_its_records_together():
    draw = np.random.default_rng(4)
    x = sm.add_constant(draw.normal(size=(60, 2)))
    x[:3, 1] += 40
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    owner = np.maximum(np.arange(60) - 2, 0).astype(np.int32)
    own = np.linalg.eigvalsh(hat[:3, :3])[-1]
    assert np.diag(hat).max() < 0.5 < 0.95 < own
    assert influence(x, None, owner, 10, 0.9).leverage == pytest.approx(own)


@pytest.mark.parametrize("p", [5, 10, 20])
def test_limit_of_leverage_follows_from_p(p):
    """The fit is off from the unit's own value by 1 - h times what it is off without the unit."""
    draw = np.random.default_rng(p)
    x = sm.add_constant(draw.normal(size=(60, 2)))
    x[7, 1] = 1000.0 / p
    y = draw.normal(100, 15, 60)
    lever = leverage(x)
    with_it = sm.OLS(y, x).fit()
    for row in range(60):
        others = np.arange(60) != row
        without = sm.OLS(y[others], x[others]).fit().predict(x[row : row + 1])[0]
        off = y[row] - with_it.fittedvalues[row]
        assert off == pytest.approx((1 - lever[row]) * (y[row] - without))
        if lever[row] >= Profile(p_percent=p).own_share:
            assert abs(off) <= p / 100 * abs(y[row] - without)
    assert Profile(p_percent=p).own_share == pytest.approx(1 - p / 100)
    # few units together as one: their own coefficient and that of the rest, by shares of weight
    z = x[:, 1] - x[:, 1].mean()
    few = np.arange(60) % 7 == 0
    own, rest = ((z[at] @ y[at]) / (z[at] @ z[at]) for at in (few, ~few))
    share = (z[few] @ z[few]) / (z @ z)
    slope = (z @ y) / (z @ z)
    assert slope - own == pytest.approx((1 - share) * (rest - own))


def test_where_there_is_no_p_dominance_says_how_much_is_too_much():
    assert Profile(p_percent=None, dominance=(1, 50)).own_share == 0.5
    assert Profile(p_percent=None, dominance=None).own_share == 0.9
    assert Profile(p_percent=20, leverage=0.7).own_share == 0.7


def test_few_units_that_determine_a_coefficient():
    """A dummy of three firms with a little noise has no zeros, and no firm has much leverage."""
    draw = np.random.default_rng(5)
    x = sm.add_constant(draw.normal(size=(200, 2)))
    x[:, 2] = (np.arange(200) < 3) + 1e-3 * draw.normal(size=200)
    found = influence(x, None, None, 10, 0.9)
    assert found.leverage < 0.9
    assert found.few.tolist() == [False, False, True]
    # the coefficient is a sum over records with these weights
    apart = x[:, 2] - x[:, :2] @ np.linalg.lstsq(x[:, :2], x[:, 2], rcond=None)[0]
    assert np.sort(apart**2)[::-1][:9].sum() / (apart**2).sum() > 0.9


def test_regressors_too_close_to_tell():
    """Their difference is a dummy that only the last digits hold, and the fit returns the value."""
    draw = np.random.default_rng(6)
    x = sm.add_constant(draw.normal(size=(200, 1)))
    x = np.column_stack([x, x[:, 1] + 1e-7 * (np.arange(200) == 17)])
    y = draw.normal(100, 15, 200)
    assert sm.OLS(y, x).fit().fittedvalues[17] == pytest.approx(y[17], abs=1e-3)
    assert influence(x, None, None, 10, 0.9).close
    assert not influence(np.column_stack([x[:, :2], x[:, 1]]), None, None, 10, 0.9).close


@examples(100)
@given(st.integers(0, 10**6))
def test_no_model_passes_that_few_units_are_alone_in(seed):
    """All sets of units are tried by hand; noise, dummies, products and sums of regressors."""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(14, 24))
    columns = [np.ones(number)]
    for kind in draw.integers(0, 4, draw.integers(1, 4)):
        other = columns[draw.integers(len(columns))]
        columns.append(
            {
                0: draw.normal(size=number),
                1: (draw.random(number) < draw.choice([0.1, 0.3, 0.5])) * 1.0,
                2: other * (draw.random(number) < 0.8),
                3: other + (draw.random(number) < 0.1),
            }[int(kind)]
        )
    x, owner = np.column_stack(columns), draw.integers(0, number, number)
    fitted = sm.OLS(draw.normal(100, 10, number), x).fit()
    rules = Profile(threshold=3, freedom=3, dominance=None, p_percent=None)
    if few_alone(x, owner, 3):
        assert model(fitted, unit=owner, profile=rules).verdict != "pass"
