"""The cell key method of a published case study: what was designed is what is measured.

*Guidelines for Statistical Disclosure Control Methods Applied on Geo-Referenced Data* (2024),
persons in grid cells: mean squared and mean absolute deviation of two variants.
"""

import numpy as np
import pytest

from diskret.cellkey import PerturbationTable
from diskret.utility import deviations, zeros


@pytest.mark.parametrize(
    ("max_noise", "variance", "small_counts", "absolute"),
    [(4, 1.8, 1, 1.04), (6, 2.5, 2, 1.25)],
    ids=["variant I", "variant II"],
)
def test_mean_square_is_the_variance_asked_for(max_noise, variance, small_counts, absolute):
    noise = PerturbationTable.maximum_entropy(
        max_noise=max_noise, variance=variance, small_counts=small_counts
    )
    random = np.random.default_rng(1)
    # skewed, as persons in cells of a grid are
    original = np.maximum(np.rint(np.exp(random.normal(2, 1.5, 400_000))), 1).astype(np.int64)
    keys = random.integers(0, 2**32, len(original)).astype(np.uint64)
    protected = original + noise.lookup()(original, keys)
    found = deviations(original, protected)
    assert found.mse == pytest.approx(variance, rel=0.01)
    # depends on how large cells are, by a few percent
    assert found.mean == pytest.approx(absolute, rel=0.03)
    assert found.bias == pytest.approx(0, abs=0.01)
    assert found.largest == max_noise
    assert zeros(original, protected).false_nonzeros == 0
    assert not np.isin(protected, np.arange(1, small_counts + 1)).any()
