"""A ledger gives back what was entered, and finds out what was not."""

import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from ledgers import KEYS, add, described, earlier, names, opened, publish, published

import diskret as dk
from diskret.attack import Requirements
from diskret.errors import InputError, KeyFileError, VerificationError
from diskret.keys import SecretKeys
from diskret.publish.store import store as ledger
from diskret.publish.store.cells import earlier_of, keyed_contributions
from diskret.publish.store.database import changing
from diskret.publish.store.entry import as_text, from_text
from diskret.tables import Contributions, MeasureSum
from diskret.tables.public_files import same_published

WHOLE = arrays.arrays(np.int64, 4, elements=st.integers(-(2**62), 2**62))
FLAGS = arrays.arrays(np.bool_, 4)
NUMBERS = arrays.arrays(np.uint64, 3, elements=st.integers(0, 2**64 - 1))


def contributions(unit=None, holding=None):
    return Contributions(
        by={"region": ("N", "S", "W", "O"), "größe": ("a", "b", "c")},
        leaf=np.array([[0, -1], [1, 2], [3, 0]], np.int32),
        unit=unit,
        holding=holding,
        records=np.array([1, 2, 3]),
        values={"turnover": np.array([5, -6, 7])},
    )


# ── what was entered comes back ─────────────────────────────────────────────────────


@given(value=WHOLE, suppressed=FLAGS, empty=FLAGS, bounds=st.none() | st.tuples(WHOLE, WHOLE))
def test_a_table_comes_back_as_it_was(value, suppressed, empty, bounds):
    lower, upper = bounds or (None, None)
    kept = earlier(
        published=published(
            value=value, suppressed=suppressed, empty=empty, lower=lower, upper=upper
        ),
        original=value[::-1].copy(),
    )
    found = round_trip(kept)
    assert same_published(found.published, kept.published) or not suppressed.any()
    for name in ("value", "suppressed", "empty", "lower", "upper"):
        np.testing.assert_array_equal(getattr(found.published, name), getattr(kept.published, name))
    np.testing.assert_array_equal(found.original, kept.original)
    for name in ("cell", "lower", "upper", "sliding"):
        np.testing.assert_array_equal(
            getattr(found.requirements, name), getattr(kept.requirements, name)
        )


def test_the_structure_comes_back_as_it_was():
    kept = published()
    found = round_trip(earlier()).published
    assert (found.name, found.measure, found.decimals) == ("t", "turnover", 1)
    assert (found.vintage, found.where) == (kept.vintage, kept.where)
    [mine], [its] = kept.dimensions, found.dimensions
    assert mine == its
    assert its.hierarchy.members == {"S+W": ("S", "W")}
    assert its.hierarchy.label("N", "de") == "Norden"


def test_what_is_not_known_comes_back_as_none():
    none = np.empty(0, np.int64)
    found = round_trip(earlier(original=None, requirements=Requirements(none, none, none, none)))
    assert found.original is None
    assert found.contributions is None
    assert not len(found.requirements.cell)


@given(unit=st.none() | NUMBERS, holding=st.none() | NUMBERS)
def test_contributions_come_back_as_they_were(unit, holding):
    kept = contributions(unit, holding)
    found = round_trip(earlier(contributions=kept)).contributions
    assert found.by == kept.by
    assert found.leaf.dtype == np.int32
    for name in ("leaf", "unit", "holding", "records"):
        np.testing.assert_array_equal(getattr(found, name), getattr(kept, name))
    np.testing.assert_array_equal(found.values["turnover"], kept.values["turnover"])


def round_trip(kept):
    entry, [row] = described(kept)
    return earlier_of(row, entry, entry.tables[0])


def test_an_entry_comes_back_as_it_was():
    entry, _ = described(earlier())
    entry = replace(entry, files={"t.csv": "00"}, sums=(MeasureSum("a", ("b", "c")),), why="ß")
    assert from_text(as_text(entry)) == entry


def test_numbers_of_units_are_fingerprints_that_can_be_compared():
    unit, holding = np.array([7, 8, 7], np.uint64), np.array([7, 9, 7], np.uint64)
    found = keyed_contributions(contributions(unit, holding), KEYS)
    assert found.unit[0] == found.unit[2] == found.holding[0]  # a unit that is its own holding
    assert not np.isin(found.unit, unit).any()
    other = keyed_contributions(contributions(unit), SecretKeys(bytes(range(1, 33))))
    assert other.holding is None
    assert not np.isin(found.unit, other.unit).any()


# ── opening ─────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")
def test_a_new_ledger_is_for_its_owner_only(tmp_path, caplog):
    opened(tmp_path)
    assert "A new ledger was created" in caplog.text
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "releases.db").chmod(0o640)
    with pytest.raises(InputError, match="can be read by others; run: chmod 600"):
        opened(tmp_path)


def test_other_keys_are_told_from_a_damaged_ledger(tmp_path):
    add(opened(tmp_path), earlier())
    with pytest.raises(KeyFileError, match="made with other secret keys"):
        ledger.open_store(tmp_path / "releases.db", SecretKeys(bytes(range(1, 33))), 1)


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    path = tmp_path / "releases.db"
    path.write_text("release,date\n" * 100, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(InputError, match="cannot be used: file is not a database"):
        opened(tmp_path)
    assert path.read_text(encoding="utf-8").startswith("release,date")


def test_a_ledger_is_not_created_by_mistake(tmp_path):
    with pytest.raises(InputError, match="there is no ledger .*no such file.* ledger create"):
        ledger.open_store(tmp_path / "typo.db", KEYS, 1)
    assert list(tmp_path.iterdir()) == []


def test_an_emptied_ledger_is_no_new_one(tmp_path):
    add(opened(tmp_path), earlier())
    path = tmp_path / "releases.db"
    os.truncate(path, 0)
    with pytest.raises(InputError, match="there is no ledger .*the file is empty.* backup"):
        opened(tmp_path)
    assert path.stat().st_size == 0
    ledger.create_store(path, KEYS, 1)  # on purpose
    assert opened(tmp_path)


def test_a_ledger_is_created_once_and_nowhere_else(tmp_path):
    opened(tmp_path)
    with pytest.raises(InputError, match="there is a ledger .* already"):
        ledger.create_store(tmp_path / "releases.db", KEYS, 1)
    other = tmp_path / "records.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE records (id INTEGER)")
    connection.close()
    other.chmod(0o600)
    with pytest.raises(InputError, match="database without a ledger"):
        ledger.open_store(other, KEYS, 1)
    with pytest.raises(InputError, match="another database .it holds records"):
        ledger.create_store(other, KEYS, 1)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        ledger.open_store(tmp_path / "folder", KEYS, 1)


def test_opening_does_not_make_the_keys_it_needs(tmp_path):
    opened(tmp_path)
    with pytest.raises(KeyFileError, match="there is no key file"):
        dk.Ledger(tmp_path / "releases.db", keys=tmp_path / "keys")
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("url", ["mysql://clerk:secret@host/db", "sqlite:///releases.db"])
def test_other_databases_are_refused_without_showing_the_url(url):
    with pytest.raises(InputError, match="begins with postgresql://") as refused:
        ledger.open_store(url, KEYS, 1)
    assert "secret" not in str(refused.value)


def test_waiting_for_others_ends(tmp_path):
    store = opened(tmp_path, wait=0.1)
    with changing(store.database, 1), pytest.raises(InputError, match="by another process"):
        add(store, earlier())
    add(store, earlier())


def test_a_reader_does_not_wait_for_files_to_be_written(tmp_path):
    store = opened(tmp_path, wait=0)
    seen = []
    publish(store, tmp_path / "out", "first", "new", lambda: seen.extend([names(store)]))
    assert seen == [[]]
    assert names(store) == ["first"]


# ── nothing can be changed ──────────────────────────────────────────────────────────

SWAP = """
UPDATE diskret_entries SET number = 9 WHERE number = 1;
UPDATE diskret_entries SET number = 1 WHERE number = 2;
UPDATE diskret_entries SET number = 2 WHERE number = 9;
"""
OTHER_TEXT = "SELECT text FROM diskret_entries WHERE number = 3"
BY_HAND = {
    "the text of an entry": (
        "UPDATE diskret_entries SET text = replace(text, 'clerk', 'klerk') WHERE number = 2",
        r"entry 2 \(publish 'second'\) does not follow entry 1 \(publish 'first'\)",
    ),
    "a seal": (
        "UPDATE diskret_entries SET seal = 'x' WHERE number = 1",
        r"entry 1 \(publish 'first'\) does not follow the beginning",
    ),
    "another entry's place": (
        f"UPDATE diskret_entries SET text = ({OTHER_TEXT}) WHERE number = 2",
        r"at place 2: entry 3 \(publish 'third'\) does not follow entry 1",
    ),
    "the order": (SWAP, r"at place 1: entry 2 \(publish 'second'\) does not follow the beginning"),
    "an entry taken out": (
        "DELETE FROM diskret_entries WHERE number = 2",
        r"entry 3 \(publish 'third'\) does not follow entry 1",
    ),
    "the end": (
        "DELETE FROM diskret_entries WHERE number = 3",
        r"was cut off: it had 3 entries, the last was entry 3 \(publish 'third'\)",
    ),
    "the head": (
        """UPDATE diskret_head SET text = replace(text, '"entries": 3', '"entries": 2')""",
        "does not bear its seal",
    ),
    "no head": ("DELETE FROM diskret_head", "has lost its head"),
    "an unfinished publication": (
        "INSERT INTO diskret_unfinished VALUES (1, '{}', 'x')",
        "unfinished publication does not bear its seal",
    ),
}
CELLS = {
    "cells": (
        "UPDATE diskret_tables SET cells = (SELECT cells FROM diskret_tables WHERE entry = 3) "
        "WHERE entry = 2",
        r"table 't' of entry 2 \(publish 'second'\) was changed",
    ),
    "the structure": (
        "UPDATE diskret_tables SET structure = replace(structure, '2025', '2026') WHERE entry = 2",
        r"table 't' of entry 2 .* was changed",
    ),
    "contributions": (
        "UPDATE diskret_tables SET contributions = x'00' WHERE entry = 2",
        r"table 't' of entry 2 .* was changed",
    ),
    "a table taken out": (
        "DELETE FROM diskret_tables WHERE entry = 2",
        r"table 't' of entry 2 .* is missing",
    ),
    "a table more": (
        "INSERT INTO diskret_tables SELECT entry, 7, structure, cells, contributions "
        "FROM diskret_tables WHERE entry = 2",
        r"1 table was added to entry 2",
    ),
}


def filled(folder):
    store = opened(folder)
    for number, name in enumerate(["first", "second", "third"]):
        add(store, earlier(name, original=np.array([100, 70, 10, number])))
    return store


def by_hand(folder, statements):
    with closing(sqlite3.connect(folder / "releases.db")) as connection:
        connection.executescript(statements)
        connection.commit()


def verified(store):
    with ledger.read(store) as connection:
        return ledger.verify(connection, store)


def test_an_untouched_ledger_is_fine(tmp_path):
    assert verified(filled(tmp_path)) == 3


@pytest.mark.parametrize(("statements", "message"), BY_HAND.values(), ids=BY_HAND)
def test_a_changed_entry_is_found_on_opening(tmp_path, statements, message):
    filled(tmp_path)
    by_hand(tmp_path, statements)
    with pytest.raises(VerificationError, match=message):
        opened(tmp_path)


@pytest.mark.parametrize(("statements", "message"), CELLS.values(), ids=CELLS)
def test_a_changed_table_is_found_by_verify(tmp_path, statements, message):
    filled(tmp_path)
    by_hand(tmp_path, statements)
    with pytest.raises(VerificationError, match=message):
        verified(opened(tmp_path))


@pytest.mark.parametrize("what", [name for name in CELLS if name != "a table more"])
def test_a_changed_table_is_never_used(tmp_path, what):
    store = filled(tmp_path)
    by_hand(tmp_path, CELLS[what][0])
    with ledger.read(store) as connection:
        first, second, _ = ledger.entries(connection, store)
        assert ledger.load(connection, store, [(first, 0)])
        with pytest.raises(VerificationError, match=CELLS[what][1]):
            ledger.load(connection, store, [(second, 0)])


def test_an_old_copy_is_found_by_a_release_that_it_has_forgotten(tmp_path):
    store = filled(tmp_path)
    copy = (tmp_path / "releases.db").read_bytes()
    publish(store, tmp_path / "out", "fourth", "new")
    with ledger.read(store) as connection:
        assert ledger.verify(connection, store, [tmp_path / "out"]) == 4
    (tmp_path / "releases.db").write_bytes(copy)
    old = opened(tmp_path)
    with (
        ledger.read(old) as connection,
        pytest.raises(VerificationError, match="release 'fourth' is entry 4 .* an old copy"),
    ):
        ledger.verify(connection, old, [tmp_path / "out"])


def test_a_release_of_another_ledger_is_told(tmp_path):
    (tmp_path / "other").mkdir()
    publish(opened(tmp_path / "other"), tmp_path / "out", "first", "new")
    store = filled(tmp_path)
    with (
        ledger.read(store) as connection,
        pytest.raises(VerificationError, match="belongs to another ledger"),
    ):
        ledger.verify(connection, store, [tmp_path / "out"])
