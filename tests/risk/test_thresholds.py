"""Thresholds hold what they promise, and are the largest that do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError
from diskret.risk import individual_threshold, person_thresholds


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20), st.floats(1e-4, 1))
def test_threshold_is_the_largest_that_keeps_the_target(risks, target):
    risk = np.array(risks)
    found = individual_threshold(risk, target)
    assert 0 < found <= 1
    assert np.minimum(risk, found).mean() <= target * (1 + 1e-12)
    if found < 1:
        assert np.minimum(risk, found * 1.001).mean() > target
    else:
        assert risk.mean() <= target


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.floats(1e-4, 1))
def test_households_of_persons_at_their_threshold_keep_the_target(households, target):
    _, of, size = np.unique(households, return_inverse=True, return_counts=True)
    allowed = person_thresholds(target, of, size)
    safe = np.ones(len(size))
    np.multiply.at(safe, of, 1 - allowed)
    assert (1 - safe <= target * (1 + 1e-12)).all()
    assert np.bincount(of, weights=allowed).tolist() == pytest.approx([target] * len(size))


@pytest.mark.parametrize("target", [0, -0.1, 1.5, float("nan")])
def test_targets_are_shares(target):
    with pytest.raises(DiskretError, match="global_risk= must lie above 0 and be at most 1"):
        individual_threshold(np.array([0.1]), target)
    with pytest.raises(DiskretError, match="household_risk= must lie above 0"):
        person_thresholds(target, np.array([0]), np.array([1]))
