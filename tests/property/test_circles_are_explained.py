"""Tables in a circle: whatever is proven can be written, and its reasons are found."""

from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.protect import result as results
from diskret.publish.verify.folder import verify

AROUND = [("x", "y"), ("y", "z"), ("x", "z")]
KEYS = dk.SecretKeys(bytes(range(32)))


def around(seed, size):
    """Three tables of sums that form a circle, protected, from 60 records."""
    rng = np.random.default_rng(seed)
    records = {name: rng.choice(list("abcd"), 60).tolist() for name in "xyz"}
    value = np.rint(size * np.rint(1000 * rng.lognormal(0, 1.5, 60))).astype(np.int64)
    frame = pa.table({**records, "v": value, "unit": np.arange(60)})
    tables = [
        dk.tabulate(frame, by=dict.fromkeys(by), value="v", unit="unit", largest=2) for by in AROUND
    ]
    rule = dk.rules.PPercent(10)
    return dk.suppress(tables, rule, name=list("abc"), attacker=dk.Attacker())


def kinds(folder):
    found = [(folder / "internal" / f"{name}.explanations.csv").read_text() for name in "abc"]
    header = found[0].splitlines()[0].split(",")
    rows = [line.split(",") for text in found for line in text.splitlines()[1:]]
    return Counter(row[header.index("kind")] for row in rows)


@pytest.mark.parametrize("seed", [0, *(pytest.param(at, marks=pytest.mark.long) for at in (1, 2))])
def test_circles_of_large_sums_are_written_with_their_reasons(seed, tmp_path):
    told = []
    for size in (1, 10**3, 10**7):
        made = around(seed, size)
        folder = dk.write(made, tmp_path / str(size), ["csv"], keys=KEYS)
        assert verify(folder, keys=KEYS).checked_internal
        told.append(kinds(folder))
    assert told[0].total() > 5 and "not examined" not in told[0]
    assert told[0] == told[1] == told[2]


def test_a_release_is_never_refused_for_want_of_an_explanation(tmp_path, monkeypatch):
    made = around(0, 1000)
    monkeypatch.setattr(import_module("diskret.attack.explain"), "_possible", lambda *_: None)
    folder = dk.write(made, tmp_path / "without", ["csv", "html"], keys=KEYS)
    assert set(kinds(folder)) == {"not examined"}
    assert verify(folder, keys=KEYS).checked_internal

    def fail(*_args, **_options):
        raise dk.DiskretError("the solver gave no answer")

    monkeypatch.setattr(results, "explain", fail)
    folder = dk.write(made, tmp_path / "failing", ["csv", "html"], keys=KEYS)
    assert set(kinds(folder)) == {"not examined"}
