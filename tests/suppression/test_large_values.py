"""Sums of any size are protected alike, until the numbers themselves are too large."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.PPercent(10)


def turnover(seed, times, beside=0):
    """150 records of 25 cells, up to a few hundred thousand, times so much and a little more."""
    rng = np.random.default_rng(seed)
    value = [int(v) * times for v in np.rint(rng.lognormal(6, 1.6, 150))]
    codes = {name: rng.choice(list("abcde"), 150).tolist() for name in ("row", "column")}
    more = rng.integers(0, beside + 1, 150).tolist()
    frame = pa.table(
        {**codes, "v": [v + m for v, m in zip(value, more, strict=True)], "unit": list(range(150))}
    )
    return dk.tabulate(frame, by=dict.fromkeys(codes), value="v", unit="unit", largest=3)


def pattern(table, method):
    result = dk.suppress(table, RULE, method=method, attacker=dk.Attacker())
    return np.flatnonzero(result.published.suppressed).tolist()


@pytest.mark.parametrize("method", ["auto", "sequential", "modular", "hypercube", "network"])
def test_the_pattern_does_not_depend_on_the_unit(method):
    """From 10**5 to 10**17 units."""
    expected = pattern(turnover(0, 1), method)
    assert expected
    for power in (3, 6, 9, 10, 11, 12):
        assert pattern(turnover(0, 10**power), method) == expected, power


@pytest.mark.parametrize("seed", range(4))
def test_large_numbers_without_a_common_divisor_are_protected(seed, tmp_path):
    expected = pattern(turnover(seed, 1), "auto")
    table = turnover(seed, 10**12, beside=10**6)
    result = dk.suppress(table, RULE, attacker=dk.Attacker())
    assert np.flatnonzero(result.published.suppressed).tolist() == expected
    folder = result.write(tmp_path / "out", ["csv"], keys=KEYS, intervals=True)
    assert verify(folder, keys=KEYS).checked_internal


def test_numbers_that_are_too_large_are_named_so():
    with pytest.raises(InputError, match="too large"):
        dk.suppress(turnover(0, 10**13), RULE)


def test_small_cells_beside_huge_ones_are_protected():
    """Levels of a few units beside levels of 10**9."""
    sizes = {("a", "x"): 40, ("a", "y"): 10**13, ("b", "x"): 3 * 10**12, ("b", "y"): 10**11}
    cells = [(r, c, v) for (r, c), v in sizes.items()]
    rows, columns, values = zip(*cells, strict=True)
    frame = pa.table({"r": rows, "c": columns, "v": values, "n": [1, 5, 5, 1]})
    table = dk.Table.from_cells(frame, by={"r": None, "c": None}, value="v", count="n")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), attacker=dk.Attacker())
    assert result.published.suppressed.any()
