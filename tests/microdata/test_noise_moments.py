"""Noise: which moments stay exactly, which in expectation, and that something is added."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import DiskretError
from diskret.microdata import noise
from diskret.microdata.noise import additive, correlated, exact_draws, outliers, restricted, romm

EXACT = {"restricted": restricted, "romm": romm}


def rng(seed=0):
    return np.random.default_rng(seed)


def incomes(n, seed=1):
    """Skewed and correlated, of very different sizes; the last is the sum of two others."""
    made = np.exp(rng(seed).normal(size=(n, 3)) @ [[1, 0.5, 0.2], [0, 1, 0.5], [0, 0, 0.7]])
    made *= [1, 1e3, 1e6]
    return np.column_stack((made, made[:, 0] + made[:, 1]))


def moments(values):
    return values.mean(axis=0), np.atleast_2d(np.cov(values.T))


def same_moments(one, other):
    (m, c), (m2, c2) = moments(one), moments(other)
    scale = np.sqrt(np.diagonal(c))
    return (
        np.abs((m - m2) / np.where(scale > 0, scale, 1)).max() < 1e-9
        and np.abs((c - c2) / np.where(scale > 0, np.outer(scale, scale), 1)).max() < 1e-9
    )


@pytest.mark.parametrize("method", EXACT)
@examples(40)
@given(
    n=st.integers(10, 130),
    columns=st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 1000),
    share=st.sampled_from([0.01, 0.3, 1.0, 5.0, math.inf]),
)
def test_means_and_covariances_stay_exactly_and_every_record_changes(
    method, n, columns, seed, share
):
    values = incomes(n, seed)[:, columns]
    made = EXACT[method](values, share, rng(seed))
    assert same_moments(values, made)
    assert (np.abs(made - values).max(axis=1) > 1e-9 * values.std(axis=0).max()).all()
    if set(columns) == {0, 1, 3}:  # a total and its parts
        by = {name: made[:, at] for at, name in enumerate(columns)}
        assert np.abs(by[3] - by[0] - by[1]).max() < 1e-9 * np.abs(made).max()


@pytest.mark.parametrize("share", [0.1, 0.5, 2.0])
def test_exact_methods_add_as_much_noise_as_is_asked_for(share):
    values = incomes(3000)
    expected = 1 / math.sqrt(1 + share**2)
    for column in range(4):
        before = values[:, column]
        after = restricted(values, share, rng(2))[:, column]
        assert np.corrcoef(before, after)[0, 1] == pytest.approx(expected, abs=1e-9)
        within = romm(values[:25], share, rng(2))[:, column]  # a single block
        assert np.corrcoef(before[:25], within)[0, 1] == pytest.approx(expected, abs=1e-9)
        after = romm(values, share, rng(2))[:, column]  # means of blocks stay
        assert expected - 1e-9 <= np.corrcoef(before, after)[0, 1] < expected + 0.1


def test_with_infinite_share_nothing_of_the_values_remains_but_their_moments():
    values = incomes(500)
    made = restricted(values, math.inf, rng(1))
    assert same_moments(values, made)
    for column in range(4):
        assert abs(np.corrcoef(values[:, column], made[:, column])[0, 1]) < 1e-9


@examples(40)
@given(n=st.integers(3, 120).filter(lambda n: n != 4), seed=st.integers(0, 100))
def test_romm_is_an_orthogonal_matrix_that_keeps_the_mean(n, seed):
    """Applied to unit vectors, it shows itself."""
    matrix = romm(np.eye(n), 0.7, rng(seed))
    assert np.abs(matrix.T @ matrix - np.eye(n)).max() < 1e-10
    assert np.abs(matrix.sum(axis=0) - 1).max() < 1e-10
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-10


def test_romm_mixes_blocks_and_needs_no_matrix_of_all_records():
    import tracemalloc

    values = incomes(200_000)
    tracemalloc.start()
    romm(values, 0.1, rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * values.nbytes  # a matrix of all records would need 50,000 times that


@pytest.mark.parametrize("n", [1, 2, 4])
def test_romm_refuses_as_many_records_as_it_cannot_turn(n):
    with pytest.raises(DiskretError, match=f"{n} complete records? cannot be turned"):
        romm(incomes(n), 0.1, rng())


def test_restricted_refuses_too_few_records():
    assert restricted(incomes(8), 0.1, rng()).shape == (8, 4)  # 3 variables are independent
    with pytest.raises(DiskretError, match="7 complete records are too few.* 3 variables.*needs 8"):
        restricted(incomes(7), 0.1, rng())


def test_additive_noise_has_the_deviation_and_no_correlation():
    values = incomes(40_000)
    added = additive(values, 0.25, rng(3)) - values
    deviation = values.std(axis=0, ddof=1)
    n = len(values)
    assert (np.abs(added.mean(axis=0)) < 4 * 0.25 * deviation / math.sqrt(n)).all()
    # a normal standard deviation has a standard error of 1 / sqrt(2 n)
    assert (np.abs(added.std(axis=0) / (0.25 * deviation) - 1) < 4 / math.sqrt(2 * n)).all()
    off = np.asarray(np.corrcoef(added.T))[np.triu_indices(4, 1)]
    assert np.abs(off).max() < 4 / math.sqrt(n)


def test_correlated_noise_has_the_covariances_of_the_values_times_share_squared():
    values = incomes(40_000)
    added = correlated(values, 0.25, rng(3)) - values
    expected = np.cov(values.T)
    scale = np.sqrt(np.diagonal(expected))
    off = (np.cov(added.T) / 0.25**2 - expected) / np.outer(scale, scale)
    assert np.abs(off).max() < 4 * math.sqrt(2 / len(values))
    assert np.abs(added[:, 3] - added[:, 0] - added[:, 1]).max() < 1e-9 * scale[3]


@pytest.mark.parametrize("method", [additive, correlated])
def test_rescaled_noise_keeps_variances_in_expectation(method):
    values = incomes(300, 4)
    before = values.var(axis=0, ddof=1)
    runs = np.array(
        [method(values, 0.8, rng(seed), True).var(axis=0, ddof=1) for seed in range(200)]
    )
    error = runs.std(axis=0) / math.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - before) < 4 * error).all()
    plain = method(values, 0.8, rng(1)).var(axis=0)
    assert (plain > 1.2 * before).all()


@pytest.mark.parametrize("method", [additive, correlated])
def test_missing_values_stay_and_others_of_the_record_change(method):
    values = incomes(200)
    values[3, 1] = values[8, 0] = values[8, 2] = np.nan
    made = method(values, 0.1, rng())
    assert (np.isnan(made) == np.isnan(values)).all()
    assert (made != values).all()


def test_a_constant_stays_and_noise_needs_two_values():
    assert additive(np.full((4, 1), 7.0), 0.5, rng()).tolist() == [[7.0]] * 4
    for method in (correlated, outliers):
        with pytest.raises(DiskretError, match="1 of 2 records is complete"):
            method(
                np.array([[1.0, 2], [np.nan, 3]]), 0.5, *([rng()] if method is correlated else [])
            )
    with pytest.raises(DiskretError, match="fewer than 2 values"):
        additive(np.array([[1.0], [np.nan]]), 0.5, rng())


def test_outliers_are_found_also_where_values_are_missing():
    values = rng(1).normal(size=(2000, 3)) @ [[1, 0.9, 0], [0, 0.4, 0], [0, 0, 5]]
    values[5] = [3, -3, 0]  # far off the relation, but not far in any variable
    values[6] = [np.nan, 0, 80]
    values[7] = [np.nan, 0, 1]
    values[8] = np.nan
    found = outliers(values, 0.999)
    assert found[[5, 6]].all() and not found[[7, 8]].any()
    assert found.sum() < 2000 * 0.001 + 2 + 4 * math.sqrt(2000 * 0.001)


def test_a_total_beside_its_parts_does_not_hinder_outliers():
    parts = rng(1).normal(size=(500, 2))
    parts[7] = 30
    values = np.column_stack((parts, parts.sum(axis=1)))
    assert np.flatnonzero(outliers(values, 1 - 1e-9)).tolist() == [7]


def test_exact_draws_are_orthonormal_and_orthogonal_to_basis_and_constant():
    basis = np.linalg.qr(incomes(60) - incomes(60).mean(axis=0))[0][:, :3]
    made = exact_draws(basis, 5, rng(3))
    assert np.abs(made.T @ made - np.eye(5)).max() < 1e-12
    assert np.abs(basis.T @ made).max() < 1e-12 and np.abs(made.sum(axis=0)).max() < 1e-12


def test_noise_that_is_not_made_exact_is_noticed(monkeypatch):
    def careless(basis, columns, rng):
        return rng.standard_normal((len(basis), columns)) / math.sqrt(len(basis))

    values = incomes(300)
    assert same_moments(values, restricted(values, 0.5, rng()))
    monkeypatch.setattr(noise, "exact_draws", careless)
    assert not same_moments(values, restricted(values, 0.5, rng()))
