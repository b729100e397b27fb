"""Estimates from randomised records are unbiased, with the variance they state."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import DiskretError
from diskret.microdata import TransitionMatrix, pram_estimate

JOB = TransitionMatrix("ab", [[0.8, 0.2], [0.3, 0.7]])
SEX = TransitionMatrix("fm", [[0.9, 0.1], [0.25, 0.75]])


def every_outcome(records, weights):
    """All files that randomisation can make of a few records, with their probabilities."""
    cells = list(product("ab", "fm"))
    for published in product(cells, repeat=len(records)):
        likely = 1.0
        for (job, sex), (job_, sex_) in zip(records, published, strict=True):
            likely *= JOB.probabilities["ab".index(job), "ab".index(job_)]
            likely *= SEX.probabilities["fm".index(sex), "fm".index(sex_)]
        jobs, sexes = zip(*published, strict=True)
        yield likely, pa.table({"job": jobs, "sex": sexes, "w": weights})


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), (2.0, 0.5, 3.0, 1.0)])
def test_over_all_outcomes_the_mean_is_the_truth_and_the_variance_as_stated(weights):
    records = [("a", "f"), ("a", "m"), ("b", "m"), ("b", "m")]
    true = np.zeros((2, 2))
    for (job, sex), weight in zip(records, weights, strict=True):
        true["ab".index(job), "fm".index(sex)] += weight
    likely, estimates, variances, covariances = [], [], [], []
    for chance, file in every_outcome(records, weights):
        found = pram_estimate(file, {"job": JOB, "sex": SEX}, weight="w")
        likely.append(chance)
        estimates.append(found.estimate.ravel())
        variances.append(found.variance.ravel())
        covariances.append(found.covariance())
    assert sum(likely) == pytest.approx(1)
    mean = np.average(estimates, axis=0, weights=likely)
    np.testing.assert_allclose(mean, true.ravel(), atol=1e-12)
    spread = np.array(estimates) - mean
    exact = np.einsum("o,oi,oj->ij", likely, spread, spread)
    np.testing.assert_allclose(np.average(covariances, axis=0, weights=likely), exact, atol=1e-10)
    np.testing.assert_allclose(np.average(variances, axis=0, weights=likely), np.diag(exact))


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3), st.floats(0.5, 1))
def test_one_variable_has_the_variance_of_the_published_formula(counts, stay):
    matrix = TransitionMatrix.staying("abc", stay)
    true = np.array(counts, dtype=float)
    found = matrix.estimate(matrix.published(true))
    np.testing.assert_allclose(found.estimate, true, atol=1e-6)
    likely, back = matrix.probabilities, np.linalg.inv(matrix.probabilities)
    noise = sum(t * (np.diag(p) - np.outer(p, p)) for t, p in zip(true, likely, strict=True))
    np.testing.assert_allclose(found.covariance(), back.T @ noise @ back, atol=1e-6)
    np.testing.assert_allclose(found.variance, np.diag(found.covariance()), atol=1e-6)


def test_means_and_intervals_of_simulated_files_cover_the_truth():
    rng = np.random.default_rng(3)
    true = np.array([700, 250, 50])
    matrix = TransitionMatrix.staying("abc", 0.8).balanced(true)
    draws = 2_000
    moved = [
        rng.multinomial(t, p, size=draws) for t, p in zip(true, matrix.probabilities, strict=True)
    ]
    published = np.sum(moved, axis=0)
    found = [matrix.estimate(one) for one in published]
    estimates = np.array([one.estimate for one in found])
    errors = np.array([one.standard_error for one in found])
    assert (np.abs(estimates.mean(axis=0) - true) <= 4 * errors.mean(axis=0) / draws**0.5).all()
    covered = (np.abs(estimates - true) <= 1.96 * errors).mean(axis=0)
    assert (np.abs(covered - 0.95) <= 4 * (0.95 * 0.05 / draws) ** 0.5 + 0.01).all()
    ratio = estimates.var(axis=0) / (errors**2).mean(axis=0)
    assert (np.abs(ratio - 1) <= 4 * (2 / draws) ** 0.5).all()


@examples(40)
@given(st.lists(st.integers(0, 40), min_size=3, max_size=3), st.floats(0.4, 0.95))
def test_the_nonnegative_estimate_is_the_likeliest(counts, stay):
    published = np.array(counts, dtype=float)
    found = TransitionMatrix.staying("abc", stay).estimate(published)
    made = found.nonnegative
    assert made.min() >= 0 and made.sum() == pytest.approx(published.sum())
    if found.estimate.min() >= 0:
        assert made is found.estimate

    def likelihood(true):
        reached = found.matrices[0].published(true)
        there = published > 0
        return (published[there] * np.log(np.maximum(reached[there], 1e-300))).sum()

    rng = np.random.default_rng(1)
    for other in rng.dirichlet(np.ones(3), size=50) * published.sum():
        nearby = 0.9 * made + 0.1 * other
        assert likelihood(made) >= likelihood(nearby) - 1e-4


def test_a_negative_estimate_has_a_nonnegative_one_beside_it():
    found = TransitionMatrix.staying("ab", 0.8).estimate([1, 99])
    assert found.estimate.round(3).tolist() == [-31.667, 131.667]
    assert found.nonnegative.round(3).tolist() == [0, 100]


def test_records_with_missing_values_are_left_out_and_others_counted():
    records = pa.table({"job": ["a", None, "b", "a"], "sex": ["f", "f", None, "m"]})
    found = pram_estimate(records, {"job": JOB, "sex": None})
    assert found.published.tolist() == [[1, 1], [0, 0]]
    assert found.frame.column("job").to_pylist() == ["a", "a", "b", "b"]
    assert found.frame.column("published").to_pylist() == [1, 1, 0, 0]


def test_variables_that_changed_together_are_one_axis():
    cells = list(product("ab", "fm"))
    both = TransitionMatrix(cells, np.kron(JOB.probabilities, SEX.probabilities))
    records = pa.table({"job": list("aabba"), "sex": list("fmmff")})
    together = pram_estimate(records, {("job", "sex"): both})
    apart = pram_estimate(records, {"job": JOB, "sex": SEX})
    np.testing.assert_allclose(together.estimate, apart.estimate.ravel())
    np.testing.assert_allclose(together.variance, apart.variance.ravel())
    assert together.condition == pytest.approx(apart.condition)
    assert together.frame.column("job x sex").to_pylist()[1] == "a x m"


def test_frames_come_back_in_the_kind_of_the_records():
    pandas = pytest.importorskip("pandas", reason="optional: pandas")
    found = pram_estimate(pandas.DataFrame({"job": ["a", "b"]}), {"job": JOB.frame("polars")})
    assert isinstance(found.frame, pandas.DataFrame)
    assert repr(found) == "PramEstimate(job: 2 cells, condition 2.03)"


RECORDS = pa.table({"job": ["a", "b"], "n": [1, 2], "w": [1.0, None], "t": ["x", "y"]})


@pytest.mark.parametrize(
    ("matrices", "weight", "message"),
    [
        ({}, None, "names no variable"),
        ({"job": TransitionMatrix("ab", [[0.5, 0.5], [0.5, 0.5]])}, None, "'a' and 'b' become the"),
        ({"job": TransitionMatrix("ax", np.eye(2))}, None, "value 'b', which its matrix"),
        ({"n": TransitionMatrix(["1", "2"], np.eye(2))}, None, "Text and numbers are different"),
        ({"nace": JOB}, None, "no column 'nace'"),
        ({"job": JOB}, "w", "1 weight in 'w' is missing"),
        ({"job": JOB}, "t", "not numbers"),
    ],
)
def test_what_cannot_be_estimated_is_refused(matrices, weight, message):
    with pytest.raises(DiskretError, match=message):
        pram_estimate(RECORDS, matrices, weight=weight)


def test_covariances_of_very_many_cells_are_refused():
    many = TransitionMatrix.staying(range(71), 0.9)
    found = pram_estimate(pa.table({"x": [1], "y": [2]}), {"x": many, "y": many})
    with pytest.raises(DiskretError, match="5,041 cells, so 25,411,681 covariances"):
        found.covariance()
