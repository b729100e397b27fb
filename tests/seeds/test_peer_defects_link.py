"""Defects of the peer's risk of numeric variables that we must not share (10, 11, 16)."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from diskret.risk.intervals import deviation_intervals, regions
from diskret.risk.linkage import linked
from diskret.risk.neighbours import Seen


@pytest.fixture(scope="module")
def casc(reference_data):
    table = pd.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    return table.to_numpy(dtype=np.float64)


def test_10_a_total_beside_its_parts_stops_nothing(casc):
    noisy = casc + np.random.default_rng(1).normal(scale=0.1, size=casc.shape) * casc.std(axis=0)
    found = regions(casc, noisy)
    assert found.singular == 1
    assert np.isfinite(found.outlying).all()
    assert 0 < found.second.all <= found.first.all < found.first.any
    assert 0 < linked(Seen(casc), Seen(noisy), "robust_mahalanobis").share <= 1


def test_11_both_files_are_put_on_the_scale_of_the_original(casc):
    higher = 1.2 * casc
    found = regions(casc, higher)
    assert found.first.all < 0.5
    assert regions(casc[:, :2], higher[:, :2]).first.any < 0.5
    # with the k = (0.05, 0.05) of the seed the file itself is fully at risk, the raised one is not
    assert regions(casc, casc, (0.05, 0.05)).first.all == 1
    shares = deviation_intervals(casc, higher).shares
    assert (shares < 1).all()
    # scaling both files by themselves would link all
    assert linked(Seen(casc), Seen(higher)).share < 0.9


def test_11_intervals_have_the_width_of_the_original_not_of_the_noise():
    rng = np.random.default_rng(2)
    original = rng.normal(size=(5_000, 1))
    wild = original + rng.normal(scale=10, size=original.shape)
    # P(|N(0, 10)| <= 0.05) = 0.004; with the deviation of the masked file it would be 0.04
    assert deviation_intervals(original, wild).share == pytest.approx(0.004, abs=0.003)


def test_11_more_variables_do_not_hide_the_risk_of_each(casc):
    noisy = casc + np.random.default_rng(3).normal(scale=0.1, size=casc.shape) * casc.std(axis=0)
    few = deviation_intervals(casc[:, :2], noisy[:, :2])
    many = deviation_intervals(casc, noisy)
    assert many.share_all < 0.01 < few.share_all  # the peer's only figure
    assert many.share_any > few.share_any
    assert many.share == pytest.approx(few.share, abs=0.02)


def test_16_no_matrix_of_all_pairs():
    rng = np.random.default_rng(4)
    original = rng.normal(size=(20_000, 3))
    noisy = original + rng.normal(scale=0.05, size=original.shape)
    tracemalloc.start()
    linked(Seen(original), Seen(noisy), candidates=5)
    regions(original, noisy)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6  # n x n distances would be 3,200 MB
