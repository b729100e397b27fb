"""Robust centre and covariance: outliers do not move them, dependent variables do not stop them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from pyarrow import csv
from scipy.stats import chi2

from diskret.risk.robust import robust_scale, robust_scatter
from diskret.risk.robust_kernels import moments, squared_distances

FRANCDAT = np.array(
    [
        [0.3, 0.4, 4],
        [0.12, 0.22, 22],
        [0.18, 0.8, 8],
        [1.9, 9, 91],
        [1, 1.3, 13],
        [1, 1.4, 14],
        [0.1, 0.01, 1],
        [0.15, 0.5, 5],
    ]
)


def correlated(seed, n, p=3):
    generator = np.random.default_rng(seed)
    shape = generator.normal(size=(p, p))
    return generator.normal(size=(n, p)) @ shape, shape.T @ shape


def whitened(covariance, shape):
    """The unit matrix if both are the same."""
    root = np.linalg.inv(np.linalg.cholesky(shape))
    return root @ covariance @ root.T


def exact(values, h):
    """By trying every set of h records: consistent at the median, then estimated once more."""
    p = values.shape[1]

    def squared(center, covariance):
        away = values - center
        return (away @ np.linalg.inv(covariance) * away).sum(axis=1)

    tightest = min(
        combinations(range(len(values)), h),
        key=lambda chosen: np.linalg.det(np.cov(values[list(chosen)].T, bias=True)),
    )
    half = values[list(tightest)]
    raw = squared(half.mean(axis=0), np.cov(half.T, bias=True))
    factor = np.median(raw) / chi2.ppf(0.5, p)
    kept = values[raw <= factor * chi2.ppf(0.975, p)]
    consistent = 0.975 / chi2.cdf(chi2.ppf(0.975, p), p + 2)
    return kept.mean(axis=0), np.cov(kept.T, bias=True) * consistent


@pytest.mark.parametrize("seed", range(8))
def test_the_tightest_half_is_found_as_by_trying_every_half(seed):
    values, _ = correlated(seed, 13, 2)
    values[:4] += 40 * np.array([1, -1 if seed % 2 else 1])
    found = robust_scatter(values)
    center, covariance = exact(values, 8)
    assert found.center == pytest.approx(center, abs=1e-9)
    assert found.covariance == pytest.approx(covariance, rel=1e-9, abs=1e-9)
    assert (found.rank, found.agreeing) == (2, 0)


@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("distance", [10, 1e6])
def test_outliers_up_to_nearly_half_move_neither_centre_nor_covariance(share, distance):
    values, shape = correlated(5, 4000)
    outliers = int(share * 4000)
    values[:outliers] += distance * np.sqrt(np.diag(shape))
    found = robust_scatter(values)
    clean = robust_scatter(values[outliers:])
    # the same up to the few records near the limit
    assert whitened(found.covariance, shape) == pytest.approx(np.eye(3), abs=0.25)
    assert np.abs(found.center - clean.center).max() < 0.05 * np.sqrt(np.diag(shape).max())
    assert found.distances(values[:outliers]).min() > found.distances(values[outliers:]).max()


def test_normally_distributed_values_give_their_covariance():
    values, shape = correlated(1, 50_000)
    found = robust_scatter(values)
    assert whitened(found.covariance, shape) == pytest.approx(np.eye(3), abs=0.03)
    # squared distances follow chi-square: 97.5 % of them lie below its quantile
    assert np.mean(found.distances(values) ** 2 <= chi2.ppf(0.975, 3)) == pytest.approx(
        0.975, abs=0.005
    )


@given(
    st.integers(0, 1000),
    st.lists(st.sampled_from([1e-6, 0.001, 7.0, 1e5]), min_size=3, max_size=3),
    st.permutations(range(30)),
)
def test_units_and_the_order_of_records_do_not_matter(seed, units, order):
    values, _ = correlated(seed, 30)
    values[:5] += 20
    once = robust_scatter(values)
    again = robust_scatter((values * units - 3.0 * np.array(units))[order])
    assert again.distances(values * units - 3.0 * np.array(units)) == pytest.approx(
        once.distances(values), rel=1e-6
    )
    assert again.center == pytest.approx((once.center - 3) * units, rel=1e-6)


def test_a_sum_beside_its_parts_changes_no_distance():
    values, _ = correlated(3, 200)
    values[:30] -= 15
    plain = robust_scatter(values)
    with_sum = robust_scatter(np.column_stack((values, values.sum(axis=1), np.full(200, 7.0))))
    assert (plain.rank, with_sum.rank, with_sum.agreeing) == (3, 3, 0)
    assert with_sum.covariance.shape == (5, 5)
    everything = np.column_stack((values, values.sum(axis=1), np.full(200, 7.0)))
    inverse = np.linalg.pinv(with_sum.covariance, rcond=1e-12, hermitian=True)
    away = everything - with_sum.center
    assert np.sqrt((away @ inverse * away).sum(axis=1)) == pytest.approx(
        with_sum.distances(everything), rel=1e-6
    )
    assert with_sum.distances(everything) == pytest.approx(plain.distances(values), rel=1e-6)


def test_a_variable_that_is_mostly_zero_is_judged_by_the_variance_of_all():
    values, _ = correlated(4, 300, 2)
    rare = np.where(np.arange(300) % 4 == 0, 5.0, 0.0)
    found = robust_scatter(np.column_stack((values, rare)))
    assert (found.rank, found.agreeing) == (3, 1)
    distances = found.distances(np.column_stack((values, rare)))
    away = np.abs(distances[rare > 0].min())
    assert 5 / rare.std() <= away < 2 * 5 / rare.std()
    assert found.covariance[2] == pytest.approx(np.zeros(3), abs=1e-9)


def test_records_that_are_all_alike_have_distance_0():
    found = robust_scatter(np.full((5, 2), 3.0))
    assert (found.rank, found.agreeing) == (0, 0)
    assert found.center.tolist() == [3, 3]
    assert found.distances(np.full((5, 2), 3.0)).tolist() == [0] * 5
    assert robust_scatter(np.array([[1.0, 2.0]])).rank == 0


def test_the_farthest_record_of_the_lecture_is_the_fourth_or_second():
    # the two records that stand apart there: 4 is far from all, 2 breaks the relation of the rest
    distances = robust_scatter(FRANCDAT).distances(FRANCDAT)
    assert set(np.argsort(distances)[-2:]) == {1, 3}
    assert sorted(distances)[-2] > 10 * sorted(distances)[-3]


def test_the_enterprises_whose_total_is_the_sum_of_two_columns(reference_data):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    values = np.column_stack([c.to_numpy().astype(float) for c in table.columns])
    found = robust_scatter(values)
    assert found.rank == 12
    assert np.isfinite(found.distances(values)).all()
    without = [i for i, name in enumerate(table.column_names) if name != "PTOTVAL"]
    assert robust_scatter(values[:, without]).rank == 12


def test_median_and_deviation_by_hand():
    center, scale = robust_scale(np.array([[1.0], [2], [3], [4], [100]]))
    assert center.tolist() == [3]
    assert scale == pytest.approx([1 / chi2.ppf(0.5, 1) ** 0.5])


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 4))
@examples(60)
def test_compiled_loops_give_what_matrices_give(seed: int, n: int, p: int):
    random = np.random.default_rng(seed)
    rows, sphere = random.normal(size=(n, p)), random.normal(size=(p, random.integers(1, p + 1)))
    center = random.normal(size=p)
    columns = np.ascontiguousarray(rows.T)
    squared = squared_distances(columns, center, sphere)
    assert np.allclose(squared, np.square((rows - center) @ sphere).sum(axis=1), rtol=1e-12)
    limit = float(np.median(squared))
    near = rows[squared <= limit]
    mean, covariance = moments(columns, squared, limit)
    assert np.allclose(mean, near.mean(axis=0), rtol=1e-12, atol=1e-12)
    expected = np.cov(near, rowvar=False, bias=True).reshape(p, p)
    assert np.allclose(covariance, expected, rtol=1e-12, atol=1e-12)
