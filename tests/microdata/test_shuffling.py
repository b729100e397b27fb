"""Data shuffling: values all stay, rank correlations nearly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy.stats import spearmanr

from diskret import DiskretError
from diskret.microdata.shuffle import (
    correlations,
    normal_scores,
    placed,
    shuffled_by_copula,
    shuffled_by_regression,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def related(n, seed=1):
    """Two log-normal variables that go together with each other and with a third."""
    common = rng(seed).normal(size=n)
    noise = rng(seed + 1).normal(size=(n, 2))
    return np.exp(common[:, None] + noise), common[:, None] * 1e4 + 5e4


def shuffled(values, scores):
    columns = range(values.shape[1])
    return np.column_stack([values[placed(values[:, j], scores[:, j]), j] for j in columns])


@pytest.mark.parametrize("method", [shuffled_by_copula, shuffled_by_regression])
@pytest.mark.parametrize("columns", [[0], [0, 1]])
def test_distributions_stay_exactly_and_rank_correlations_nearly(method, columns):
    values, given_ = related(4000)
    values = values[:, columns]
    made = shuffled(values, method(values, given_, rng(3)))
    assert (np.sort(made, axis=0) == np.sort(values, axis=0)).all()
    before, after = (correlations(np.hstack((one, given_))) for one in (values, made))
    # noise is uncorrelated with what is given exactly, so less than the standard error 0.016
    assert np.abs(before - after).max() < 0.015


def test_a_new_value_depends_on_what_is_given_only():
    values, given_ = related(4000)
    made = shuffled(values[:, :1], shuffled_by_copula(values[:, :1], given_, rng(3)))
    own = np.argsort(np.argsort(values[:, 0]))
    new = np.argsort(np.argsort(made[:, 0]))
    score = np.argsort(np.argsort(given_[:, 0]))
    r = np.asarray(np.corrcoef([own, new, score]))
    partial = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    assert abs(partial) < 4 / np.sqrt(4000)


def test_without_given_variables_only_relations_among_the_shuffled_stay():
    values, _ = related(4000)
    for method in (shuffled_by_copula, shuffled_by_regression):
        made = shuffled(values, method(values, np.empty((4000, 0)), rng(3)))
        assert abs(spearmanr(made)[0] - spearmanr(values)[0]) < 4 * 0.016
        assert abs(spearmanr(made[:, 0], values[:, 0])[0]) < 4 * 0.016


@examples(60)
@given(
    st.integers(2, 40),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(0, 1000),
    st.sampled_from([shuffled_by_copula, shuffled_by_regression]),
)
def test_few_records_ties_constants_and_copies_are_no_problem(n, p, q, seed, method):
    draw = rng(seed)
    columns = draw.integers(0, draw.integers(1, 6, size=p + q), size=(n, p + q)).astype(float)
    if q and p:
        columns[:, p] = columns[:, 0]
    values, given_ = columns[:, :p], columns[:, p:]
    scores = method(values, given_, draw)
    assert scores.shape == (n, p) and np.isfinite(scores).all()
    assert (np.sort(shuffled(values, scores), axis=0) == np.sort(values, axis=0)).all()


def test_impossible_correlations_are_moved_to_possible_ones():
    """2 sin(π r / 6) of a possible matrix of rank correlations can be none."""
    from diskret.microdata.shuffle import _possible

    like = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    assert np.linalg.eigvalsh(like).min() < -0.1
    made = _possible(like)
    assert np.linalg.eigvalsh(made).min() > -1e-12
    assert np.allclose(np.diagonal(made), 1) and (np.sign(made) == np.sign(like)).all()
    assert _possible(np.eye(2)).tolist() == np.eye(2).tolist()


def test_missing_values_stay_where_they_are():
    values, given_ = related(500)
    values[3, 0] = values[9, 1] = given_[20, 0] = np.nan
    made = shuffled(values, shuffled_by_copula(values, given_, rng()))
    assert (np.isnan(made) == np.isnan(values)).all()
    assert (np.sort(made, axis=0)[:-1] == np.sort(values, axis=0)[:-1]).all()


def test_too_few_complete_records_are_refused():
    values = np.array([[1.0, np.nan], [np.nan, 2], [3, 4]])
    for method in (shuffled_by_copula, shuffled_by_regression):
        with pytest.raises(DiskretError, match="1 of 3 records is complete"):
            method(values, np.empty((3, 0)), rng())


def test_normal_scores_are_those_of_ranks():
    values = rng(1).lognormal(size=(999, 1))
    scores = normal_scores(values)
    assert scores.std() == pytest.approx(1, abs=0.01) and abs(scores.mean()) < 1e-12
    assert (np.argsort(scores, axis=0) == np.argsort(values, axis=0)).all()
