"""The risk by quadrature is the risk by other formulas, from one record to thousands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.attack.microdata.check import risk
from diskret.risk import individual_risk


def one(f, total):
    return float(risk(np.array([float(f)]), np.array([float(total)]))[0])


@pytest.mark.parametrize("total", [1.0001, 1.5, 17, 5_000, 1e7])
def test_sample_uniques_and_pairs_have_closed_forms(total):
    p = 1 / total
    assert one(1, total) == pytest.approx(p / (1 - p) * np.log(1 / p), rel=1e-9)
    odds = p / (1 - p)  # of two records that stand for twice as many
    pair = odds - odds**2 * np.log(1 / p)
    assert one(2, 2 * total) == pytest.approx(pair, rel=1e-6 if total < 2 else 1e-8)


@pytest.mark.parametrize(
    ("f", "total", "expected"),
    # today's reference package for one and two records; summation for more
    [(2, 110, 0.01714426), (1, 17, 0.17707583), (1, 8, 0.29706308), (3, 563, 0.0026507),
     (5, 60, 0.020295)],
)  # fmt: skip
def test_published_values(f, total, expected):
    assert one(f, total) == pytest.approx(expected, rel=3e-5)


@given(st.integers(1, 20_000), st.floats(1.0, 1e5))
def test_the_assessment_computes_the_same(f, ratio):
    own, other = one(f, f * ratio), individual_risk(np.array([float(f)]), np.array([f * ratio]))
    assert own == pytest.approx(float(other[0]), rel=1e-7)


@pytest.mark.parametrize("total", [1, 3, 7, 7 * (1 + 1e-15)])
def test_a_file_that_is_the_population_leaves_one_in_f(total):
    assert one(7, total) == 1 / 7


def test_many_pairs_keep_their_order():
    rng = np.random.default_rng(1)
    f, total = rng.integers(1, 9, 50_000).astype(float), rng.uniform(9, 500, 50_000)
    found = risk(f, total)
    expected = [one(f[i], total[i]) for i in (3, 49_999)]
    assert found[[3, 49_999]].tolist() == pytest.approx(expected, rel=1e-12)
