"""Log-linear models: exact small examples, and populations drawn from a known model."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_files import files, keys_of
from scipy.integrate import quad

from diskret.errors import InputError
from diskret.risk.loglinear import (
    _match_slopes,
    cells_of,
    chances,
    fit,
    main_effects,
    search,
    table_of,
    two_way,
    with_margins,
)

FRACTION = 0.1


def drawn(seed: int, pairs, persons: float = 30_000, sizes=(8, 10, 6, 5)):
    """Population and sample counts of cells whose logarithms of expectations are sums."""
    random = np.random.default_rng(seed)
    size = np.array(sizes)
    height = np.zeros(sizes)
    for margin in [*((k,) for k in range(len(sizes))), *pairs]:
        shape = np.where(np.isin(np.arange(len(sizes)), margin), size, 1)
        height = height + random.normal(0, 0.7, shape)
    rate = np.exp(height)
    population = random.poisson(rate * persons / rate.sum())
    return population, random.binomial(population, FRACTION)


def estimates(made, sample):
    unique, match = chances(made.expected[sample == 1], FRACTION)
    return unique.sum(), match.sum()


def test_independence_by_hand():
    counts = np.array([[2, 0], [1, 1]])
    made = fit(counts, main_effects(2), 0.25)
    assert made.expected.tolist() == [[1.5, 0.5], [1.5, 0.5]]
    unique, match = chances(made.expected[counts == 1], 0.25)
    assert unique == pytest.approx(np.exp([-4.5, -1.5]))
    assert match == pytest.approx((1 - np.exp([-4.5, -1.5])) / [4.5, 1.5])


@given(st.floats(1e-6, 30), st.floats(0.01, 1))
def test_chances_are_those_of_the_persons_who_were_not_drawn(expected, fraction):
    """F = 1 + Poisson(ν): P(F = 1) and E(1/F), summed up."""
    unique, match = chances(np.array([expected]), fraction)
    nu = expected * (1 - fraction) / fraction
    assert unique[0] == pytest.approx(np.exp(-nu))
    # E(1/F) is the integral of z^(F-1) over z from 0 to 1
    width = min(1.0, 40 / nu) if nu else 1.0
    by_integral = quad(lambda z: np.exp(-nu * z), 0, width)[0]
    assert match[0] == pytest.approx(by_integral, rel=1e-6)


@given(files(most_rows=30, most_keys=4))
def test_a_model_reproduces_its_margins(file):
    keys = keys_of(file[0])
    counts = table_of(keys)
    assert counts.sum() == keys.n
    assert counts.ravel()[cells_of(keys)].tolist() == keys.classes.count.tolist()
    for model in (main_effects(counts.ndim), two_way(counts.ndim)):
        made = fit(counts, model, FRACTION)
        for margin in model:
            other = tuple(k for k in range(counts.ndim) if k not in margin)
            assert np.abs(made.expected.sum(axis=other) - counts.sum(axis=other)).max() < 0.5
    assert made.expected.min() >= 0


def test_a_two_way_model_of_two_keys_is_the_table_itself():
    counts = np.array([[3, 1, 0], [2, 0, 5]])
    assert fit(counts, two_way(2), 0.5).expected == pytest.approx(counts)


def test_missing_values_are_a_category_of_their_own():
    assert table_of(keys_of([[0, 1], [-1, 1], [-1, 1]], [1, 2])).tolist() == [[0, 1], [0, 2]]


def test_margins_are_completed():
    assert with_margins(4, [(2, 0), (0,)]) == ((0, 2), (1,), (3,))
    assert with_margins(3, [(0, 1, 2), (0, 1)]) == ((0, 1, 2),)


def test_too_many_cells_are_refused_with_a_remedy():
    keys = keys_of([[0, 0, 0]], [1000, 300, 200])
    with pytest.raises(InputError, match=r"60,000,000 combinations.*'k0' has 1,000"):
        table_of(keys)


@pytest.mark.parametrize("pairs", [[], [(0, 1), (2, 3)]])
def test_the_right_model_finds_how_many_uniques_the_population_has(pairs):
    """Over twelve populations the errors of both estimates lie within simulation error of 0."""
    errors, criteria = [], []
    for seed in range(12):
        population, sample = drawn(seed, pairs)
        made = fit(sample, with_margins(4, pairs), FRACTION)
        unique, match = estimates(made, sample)
        alone = sample == 1
        truth = (population[alone] == 1).sum(), (1 / population[alone]).sum()
        errors.append((unique / truth[0] - 1, match / truth[1] - 1))
        criteria.append((made.criterion.uniques, made.criterion.matches))
    errors, criteria = np.array(errors), np.array(criteria)
    deviation = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    assert (np.abs(errors.mean(axis=0)) < 3 * deviation).all()
    assert (deviation < 0.1).all()  # or the line above would promise nothing
    # fitted parameters take part of the variance, so that the criterion varies less than 1
    assert (np.abs(criteria.mean(axis=0)) < 0.9).all() and (criteria.std(axis=0) < 1.4).all()


def errors_of(persons: float):
    """Twelve populations with two dependent pairs: errors of independence, its criterion, errors
    of the model that the search finds; each for uniques and for correct matches."""
    simple, criteria, searched = [], [], []
    for seed in range(12):
        population, sample = drawn(seed, [(0, 1), (2, 3)], persons, (20, 20, 10, 5))
        alone = sample == 1
        truth = np.array([(population[alone] == 1).sum(), (1 / population[alone]).sum()])
        made = fit(sample, main_effects(4), FRACTION)
        simple.append(estimates(made, sample) - truth)
        criteria.append((made.criterion.uniques, made.criterion.matches))
        found, tried = search(sample, FRACTION)
        assert found.criterion.far == min(one.far for one in tried)
        searched.append(estimates(found, sample) - truth)
    return np.array(simple), np.array(criteria), np.array(searched)


def test_the_criterion_says_in_which_direction_a_model_errs_and_the_search_mends_it():
    simple, criteria, searched = errors_of(300_000)
    for of in (0, 1):
        assert np.corrcoef(simple[:, of], criteria[:, of])[0, 1] > 0.85
    assert (np.abs(criteria).max(axis=1) > 1.96).sum() >= 10
    assert ((searched**2).mean(axis=0) < (simple**2).mean(axis=0) / 9).all()


def test_independence_overestimates_the_risk_in_sparse_files():
    simple, criteria, searched = errors_of(40_000)
    assert (simple.mean(axis=0) > 0).all() and (criteria.mean(axis=0) > 2).all()
    assert (searched.mean(axis=0) < simple.mean(axis=0)).all()


def test_the_search_mostly_stops_at_independence_where_keys_are_independent():
    stopped = 0
    for seed in range(12):
        found, tried = search(drawn(seed, [])[1], FRACTION)
        stopped += len(tried) == 1 and found.criterion.model == main_effects(4)
    assert stopped >= 10


def test_the_search_goes_on_to_all_pairs_if_it_must():
    """Three keys that determine each other are no log-linear model of pairs."""
    counts = np.zeros((12, 12, 12), dtype=np.int64)
    random = np.random.default_rng(2)
    first, second = random.integers(0, 12, (2, 700))
    np.add.at(counts, (first, second, (first + second) % 12), 1)
    found, tried = search(counts, 0.3)
    assert tried[-1].model == tuple(combinations(range(3), 2))
    assert found.criterion.far > 1.96


@pytest.mark.parametrize("nu", [1e-9, 1e-4, 0.0099999, 0.0100001, 0.3, 4.0, 60.0])
def test_slopes_are_derivatives(nu):
    """z → exp(-νz) on [0, 1]: derivatives of its integral are integrals of its derivatives."""
    slope, curve = _match_slopes(np.array([nu]))
    assert slope[0] == pytest.approx(quad(lambda z: -z * np.exp(-nu * z), 0, 1)[0], rel=1e-8)
    assert curve[0] == pytest.approx(quad(lambda z: z * z * np.exp(-nu * z), 0, 1)[0], rel=1e-8)


def test_of_a_whole_population_everything_is_known():
    made = fit(np.array([[1, 2], [0, 1]]), main_effects(2), 1.0)
    assert (made.criterion.uniques, made.criterion.matches) == (0, 0)
    unique, match = chances(made.expected, 1.0)
    assert (unique == 1).all() and (match == 1).all()
