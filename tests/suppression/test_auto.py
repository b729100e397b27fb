"""The method for those who do not choose one is never dearer than one that is quicker."""

import sys

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret import parallel
from diskret.effort import counted
from diskret.errors import ProtectionError
from diskret.suppression import auto, sequential


def skewed(seed, sizes):
    """Sums of lognormal values: a few cells hold most of the total."""
    rng = np.random.default_rng(seed)
    n = 2 * int(np.prod(sizes))
    codes = {f"d{i}": rng.integers(0, size, n).astype(str).tolist() for i, size in enumerate(sizes)}
    value = np.rint(rng.lognormal(5, 2, n)).astype(np.int64) + 1
    frame = pa.table({**codes, "v": value, "unit": np.arange(n)})
    return dk.tabulate(frame, by=dict.fromkeys(codes), value="v", unit="unit", largest=3)


def cost(table, method, **options):
    result = dk.suppress(
        table, dk.rules.PPercent(10), method=method, attacker=dk.Attacker(), **options
    )
    return int(table.measure.sum[result.status == "secondary"].sum())


@pytest.mark.parametrize("sizes", [(5, 6), (3, 3, 4), (2, 3, 3, 2)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(at, marks=pytest.mark.long) for at in (1, 2))])
def test_auto_is_never_dearer_than_sequential(sizes, seed):
    table = skewed(seed, sizes)
    limit = cost(table, "sequential")
    assert cost(table, "auto", budget=100) <= limit
    if len(sizes) < 4:
        assert cost(table, "auto") <= limit


def test_a_budget_too_small_for_a_proof_leaves_the_quick_pattern():
    table = skewed(1, (2, 3, 3, 2))
    with pytest.raises(ProtectionError, match="budget"):
        cost(table, "optimal", budget=1)
    assert cost(table, "auto", budget=1) <= cost(table, "sequential")


def work_of(table, method):
    """What the programmes of a method took."""
    with counted() as effort:
        cost(table, method)
    return effort.done


def test_a_cheaper_pattern_is_looked_for_with_no_more_work_than_the_first_one_took(monkeypatch):
    own = sys.modules["diskret.suppression.optimal"]
    table = skewed(4, (4, 4, 5))
    first = work_of(table, sequential)
    monkeypatch.setattr(own, "_LEAST", 0)
    assert first < work_of(table, auto) < 2 * first
    monkeypatch.setattr(own, "_SHARE", 100.0)
    assert work_of(table, auto) > 2 * first


def test_the_pattern_does_not_depend_on_the_number_of_cores(monkeypatch):
    table = skewed(2, (3, 4, 5))
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        found.append(dk.suppress(table, dk.rules.PPercent(10), attacker=dk.Attacker()).status)
    assert np.array_equal(*found)


def test_larger_tables_are_left_to_sequential(monkeypatch):
    monkeypatch.setattr(sys.modules["diskret.suppression.optimal"], "_SEARCHED", 10)
    table, rule = skewed(4, (3, 3, 4)), dk.rules.PPercent(10)
    for limit, method in ((None, "sequential"), (100, "optimal")):
        assert dk.suppress(table, rule, budget=limit).settings["method"] == method


def test_large_tables_are_left_to_modular(monkeypatch):
    monkeypatch.setattr(sys.modules["diskret.suppression.optimal"], "_LARGEST", 10)
    table, rule = skewed(4, (3, 3, 4)), dk.rules.PPercent(10)
    for limit, method in ((None, "modular"), (100, "optimal")):
        assert dk.suppress(table, rule, budget=limit).settings["method"] == method
