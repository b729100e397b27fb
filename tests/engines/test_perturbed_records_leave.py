"""Counts perturbed in the engine are written, verified and remembered like all others."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack.cell_key_certificate import certify_unseen
from diskret.cellkey import PerturbationTable
from diskret.errors import InputError, ProofError, VerificationError
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
CHANGES = np.arange(-2, 3)
SHARES = np.array([[0, 0, 1, 0, 0], [0, 0.5, 0, 0.5, 0], [0.25, 0, 0.5, 0, 0.25]])
NOISE = PerturbationTable(np.arange(3), CHANGES, SHARES)
OTHER = PerturbationTable(np.arange(3), CHANGES, SHARES[[0, 1, 1]])
random = np.random.default_rng(3)
PERSONS = pa.table(
    {
        "region": random.choice(["N", "S", "W"], 90),
        "sex": random.choice(["f", "m"], 90),
        "key": random.integers(0, 2**32, 90),
        "person": np.arange(90) // 2,
    }
)
ASKED = {"by": {"region": None, "sex": None}, "ptable": NOISE, "record_key": "key"}


def made(**more):
    return dk.perturb_records(PERSONS, **(ASKED | more))


def test_the_files_are_those_of_any_table_with_noise(tmp_path):
    result = made(threshold=3, name="persons")
    result.write(tmp_path / "out", ["csv", "xlsx", "html"], keys=KEYS, title="Persons")
    assert sorted(path.name for path in (tmp_path / "out" / "internal").iterdir()) == [
        "content.json",
        "persons.certificate.json",
    ]
    report = verify(tmp_path / "out", keys=KEYS)
    assert report.sealed and report.checked_internal
    assert any("no true count was fetched" in line for line in report.lines)
    again = dk.Published.read(tmp_path / "out" / "public", "persons")
    assert np.array_equal(again.value[~again.suppressed], result.published.value[~again.suppressed])
    public = json.loads((tmp_path / "out/public/persons.certificate.json").read_text("utf-8"))
    assert "No true count was fetched" in " ".join(public["claimed"]["en"])
    assert public["inputs"] == {}
    assert "threshold" not in json.dumps(public) and "max_noise" not in json.dumps(public)


def test_it_is_what_tabulating_and_perturbing_publishes():
    table = dk.tabulate(PERSONS, by=ASKED["by"], record_key="key")
    seen = dk.perturb(table, NOISE).published
    assert np.array_equal(made().published.value, seen.value)


def test_a_ledger_remembers_the_values_and_what_they_stand_for(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(made(name="first"), tmp_path / "first", ["csv"], who="clerk")
    (earlier,) = ledger.tables("first")
    table = dk.tabulate(PERSONS, by=ASKED["by"], record_key="key")
    low, high = earlier.published.intervals.values()
    assert (low <= table.count.ravel()).all() and (table.count.ravel() <= high).all()
    # the same cells once more, and the same with other noise
    ledger.publish(made(name="again"), tmp_path / "again", ["csv"], who="clerk")
    with pytest.raises((InputError, ProofError)):
        ledger.publish(made(name="other", ptable=OTHER), tmp_path / "o", ["csv"], who="clerk")
    assert not (tmp_path / "o").exists()


def test_units_have_no_bound_to_rely_on(tmp_path):
    keyed = dk.record_keys(PERSONS.drop_columns(["key"]), id="person", keys=KEYS, name="key")
    result = dk.perturb_records(keyed, **ASKED, unit="person", name="units")
    assert result.known is None
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(result, tmp_path / "units", ["csv"], who="clerk")
    assert "without a bound" in ledger.release("units").entry.why


def test_an_engine_that_gives_other_counts_is_found_out():
    shown, lookup = made().published, NOISE.lookup(2**32)
    certify_unseen(shown, lookup, 0)
    negative = shown.value.copy()
    negative[-1, -1] = -1
    for wrong, least in ((negative, 0), (shown.value, 10**6)):
        with pytest.raises(ProofError):
            certify_unseen(dk.Published(**(vars(shown) | {"value": wrong})), lookup, least)


def test_a_changed_file_is_found_out(tmp_path):
    made(name="persons").write(tmp_path / "out", ["csv"], keys=KEYS)
    path = Path(tmp_path / "out" / "internal" / "persons.certificate.json")
    path.write_text(path.read_text("utf-8").replace("cell_key", "other"), encoding="utf-8")
    with pytest.raises(VerificationError):
        verify(tmp_path / "out", keys=KEYS)
