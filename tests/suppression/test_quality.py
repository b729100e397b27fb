"""What patterns cost, as multiples of the optimum: the script of the benchmarks on its tables."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: Mean cost of the default method on the 500 tables, as a multiple of the optimum.
AUTO = 1.02


@pytest.fixture
def quality(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("quality")


def ratios(quality: Any, method: str, cases: list[Any]) -> list[float]:
    return [ratio for found in quality.compare(method, cases).values() for ratio in found]


@pytest.mark.long
@pytest.mark.parametrize("method", ["sequential", "hypercube", "network"])
def test_no_method_undercuts_the_optimum(quality: Any, method: str):
    """Tables of one variable, and of a list and a tree; counts and values."""
    cases = [quality.case(seed, 60) for seed in (0, 1, 2, 3)]
    assert all(own.proven and own.best > 0 for own in cases)
    found = ratios(quality, method, cases)
    assert len(found) == 4
    assert min(found) >= 1 - 1e-4
    assert quality.compare("optimal", cases).keys() == {"count", "value"}


@pytest.mark.slow
def test_500_small_tables_cost_little_more_than_the_optimum(quality: Any):
    cases = [quality.case(seed, 10) for seed in range(500)]
    found = ratios(quality, "auto", cases)
    assert len(found) >= 450
    assert np.mean(found) <= AUTO
