"""Records get their keys and stay what they were."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import diskret as dk

KEYS = dk.SecretKeys(bytes(range(32)))
PERSONS = {"person": ["7", "8", "9", "7", "10"], "house": ["a", "a", "b", "b", "b"]}


def keys_of(frame) -> list:
    return list(
        frame["record_key"].to_pylist() if isinstance(frame, pa.Table) else frame["record_key"]
    )


def test_every_kind_of_frame_comes_back_with_the_same_keys(tmp_path):
    expected = keys_of(dk.record_keys(pa.table(PERSONS), id="person", keys=KEYS))
    assert expected[0] == expected[3] != expected[1]
    indexed = pd.DataFrame(PERSONS, index=[5, 3, 3, 9, 0]).astype({"house": "category"})
    path = tmp_path / "persons.csv"
    path.write_text("person,house\n7,a\n8,a\n9,b\n7,b\n10,b\n", encoding="utf-8")
    frame = dk.record_keys(indexed, id="person", keys=KEYS)
    assert frame.index.tolist() == [5, 3, 3, 9, 0]
    assert frame["house"].dtype == "category"
    assert "record_key" not in indexed
    for records in (
        indexed,
        pl.DataFrame(PERSONS),
        pl.DataFrame(PERSONS).lazy(),
        pa.table({**PERSONS, "person": [7, 8, 9, 7, 10]}),
        path,
    ):
        found = dk.record_keys(records, id="person", keys=KEYS)
        assert keys_of(found) == expected


def test_relations_come_back_as_relations():
    connection = duckdb.connect()
    relation = connection.sql("SELECT unnest([7, 8]) AS person")
    found = dk.record_keys(relation, id="person", keys=KEYS)
    expected = keys_of(dk.record_keys(pa.table({"person": ["7", "8"]}), id="person", keys=KEYS))
    assert [row[1] for row in found.fetchall()] == expected


def test_a_house_has_the_keys_of_its_persons_once():
    own = keys_of(dk.record_keys(pa.table(PERSONS), id="person", keys=KEYS))
    twice = pa.table({k: v + v[:1] for k, v in PERSONS.items()})
    found = keys_of(dk.record_keys(twice, id="person", parent="house", keys=KEYS))
    a, b = (own[0] + own[1]) % 2**32, (own[2] + own[3] + own[4]) % 2**32
    assert found == [a, a, b, b, b, a]


def test_a_person_and_its_house_move_together():
    records = pa.table(
        {"person": ["1", "2", "3"], "house": ["a", "b", "b"], "area": ["N", "S", "S"]}
    )
    persons = dk.record_keys(records, id="person", keys=KEYS)
    houses = dk.record_keys(records, id="person", parent="house", keys=KEYS)
    by = {"area": None}
    one = dk.tabulate(persons, by=by, unit="person", record_key="record_key")
    other = dk.tabulate(houses, by=by, unit="house", record_key="record_key")
    assert one.key_sum.tolist() == other.key_sum.tolist()
    assert other.units.tolist() == [2, 1, 1]


def test_the_office_s_keys_are_the_default(private_keys):
    first = keys_of(dk.record_keys(pa.table(PERSONS), id="person"))
    assert private_keys.exists()
    assert keys_of(dk.record_keys(pa.table(PERSONS), id="person")) == first


def test_without_an_id_every_record_draws_a_key_of_its_own():
    table = pa.table({"x": np.arange(1000)})
    first, again = (keys_of(dk.record_keys(table, name="record_key")) for _ in range(2))
    assert len(set(first)) > 990
    assert first != again


def test_decimals_are_told_how_to_become_whole_numbers():
    records = pa.table({"area": ["N", "S"], "key": [0.25, 0.5]})
    with pytest.raises(dk.DiskretError, match="key_digits="):
        dk.tabulate(records, by={"area": None}, record_key="key", key_modulus=10**8)


@pytest.mark.parametrize("digits", [1, 2, 8, 12, 15, 18])
@pytest.mark.parametrize("kind", ["float", "text", "decimal"])
def test_decimal_keys_are_read_exactly(digits, kind):
    rng = np.random.default_rng(digits)
    whole = [0, 1, 10**digits - 1, *rng.integers(0, 10**digits, 40).tolist()]
    texts = [f"0.{number:0{digits}}" for number in whole]
    column = {
        "float": pa.array(map(float, texts)),
        "text": pa.array(texts),
        "decimal": pa.array(map(Decimal, texts), pa.decimal128(19, 18)),
    }[kind]
    records = pa.table({"area": [str(i % 3) for i in range(len(whole))], "key": column})
    asked = {"by": {"area": None}, "record_key": "key", "key_digits": digits}
    if kind == "float" and digits > 15:
        with pytest.raises(dk.DiskretError, match="at most 18 digits"):
            dk.tabulate(records, **asked)
        return
    table = dk.tabulate(records, **asked)
    assert table.key_modulus == 10**digits
    sums = [sum(whole[i::3]) % 10**digits for i in range(3)]
    assert table.key_sum.tolist() == [sum(whole) % 10**digits, *sums]
    lookup = dk.PerturbationTable.maximum_entropy(2, 1.0).lookup(10**digits)
    perturbed = dk.perturb(table, lookup).public["count"].to_pylist()
    in_one = dk.perturb_records(records, ptable=lookup, **asked)
    assert in_one.public["count"].to_pylist() == perturbed


@pytest.mark.parametrize("kind", [float, str])
@pytest.mark.parametrize("wrong", ["0.123", "1.0", "-0.1", "1.25", "7", "nan"])
def test_keys_with_more_digits_or_outside_are_refused(wrong, kind):
    records = pa.table({"area": ["N", "S"], "key": [kind("0.25"), kind(wrong)]})
    with pytest.raises(dk.DiskretError, match=r"record keys that are no decimals|no numbers"):
        dk.tabulate(records, by={"area": None}, record_key="key", key_digits=2)


def test_a_modulus_beside_the_digits_of_keys_is_theirs():
    records = pa.table({"area": ["N", "S"], "key": [0.25, 0.5]})
    asked = {"by": {"area": None}, "record_key": "key"}
    table = dk.tabulate(records, **asked, key_digits=2, key_modulus=100)
    assert table.key_sum.tolist() == [75, 25, 50]
    for wrong in ({"key_digits": 2, "key_modulus": 1000}, {"key_digits": 0}, {"key_digits": 19}):
        with pytest.raises(dk.DiskretError, match="key_digits=|key_modulus="):
            dk.tabulate(records, **asked, **wrong)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"id": "nobody"}, "no column 'nobody'"),
        ({"id": "person", "parent": "flat"}, "no column 'flat'"),
        ({"parent": "house"}, "name their column id="),
        ({"id": "person", "name": "house"}, "'house' already"),
        ({"id": "gap"}, "1 code in 'gap' is missing"),
    ],
)
def test_what_gives_no_keys_is_refused(arguments, says):
    table = pa.table({**PERSONS, "gap": ["1", None, "2", "3", "4"]})
    with pytest.raises(dk.DiskretError, match=says):
        dk.record_keys(table, keys=KEYS, **arguments)
