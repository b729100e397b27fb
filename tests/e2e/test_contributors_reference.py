"""A generated reference table of counts: no suppressed remainder is small for a contributor."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import diskret as dk
from diskret.attack import revealed_sums
from diskret.tables import Table

#: What the secondaries cost at least against an outsider, where 1 to 3 are unsafe.
OUTSIDER = 188


def test_every_suppressed_remainder_exceeds_three(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DISKRET_REFERENCE_DATA", str(reference_data))
    build = run_path(str(Path(__file__).parents[2] / "benchmarks" / "suppression.py"))["build"]
    system = build("t2_1k", "count", tmp_path).system
    [dimensions] = system.tables
    table = Table(dimensions, system.value.reshape([len(d) for d in dimensions]))
    rule = dk.rules.MinimumFrequency(4)
    result = dk.suppress(table, rule, attacker=dk.Attacker(contributor=True))
    sums = revealed_sums(result.published)
    remainders = sums.member @ system.value
    assert sums.known.sum() > 100
    assert (remainders[sums.known] > 3).all()
    cost = int(system.value[np.flatnonzero(result.status == "secondary")].sum())
    # 255 is the least for remainders alone; single cells and pairs withstand insiders, too
    assert result.bound is not None and OUTSIDER < result.bound <= 255 < cost <= 420
    plain = dk.suppress(table, rule, attacker=dk.Attacker())
    left = revealed_sums(plain.published)
    assert ((left.member @ system.value)[left.known] <= 3).any()
