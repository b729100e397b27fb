"""Records that cannot be used are refused, counted and shown, with what to do about them."""

from decimal import Decimal

import pyarrow as pa
import pytest

from diskret.engines import LeafQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Source


def refusal(columns, **question):
    table = pa.table({"a": ["x"] * len(next(iter(columns.values()))), **columns})
    question = {"by": {"a": None}, **question}
    with (
        DuckDBEngine(Source(tuple(table.column_names), "pyarrow", table)) as engine,
        pytest.raises(InputError) as error,
    ):
        engine.leaves(LeafQuestion(**question))
    return str(error.value)


def test_an_unknown_column_is_told_with_the_nearest_name():
    told = refusal({"turnover": [1]}, values={"turnovr": 0})
    assert told == (
        "there is no column 'turnovr'; the columns are 'a', 'turnover'; did you mean 'turnover'?"
    )


VALUES = {
    "more decimals": (["0.125", "1", "0.005"], 2, "2 records", "more than 2 decimals", "'0.125'"),
    "a comma": (["1,5", "2"], 2, "1 record:", "texts that are no numbers", "'1,5'"),
    "underscores": (["1_000"], 0, "1 record:", "texts that are no numbers", "'1_000'"),
    "words": (["n/a", "n/a", "x"], 0, "3 records", "texts that are no numbers", "'n/a', 'x'"),
    "text NaN": (["nan"], 0, "1 record:", "texts that are no numbers", "'nan'"),
    "endless digits": (["9" * 30], 0, "1 record:", "texts that are no numbers", "999"),
    "blank": ([" ", "1"], 0, "1 record:", "nothing in column 'v'", "fill it in"),
    "too long text": (
        ["99999999999999999999"],
        0,
        "1 record:",
        "too large",
        "99999999999999999999",
    ),
    "too large text": (["92233720368547758.08"], 2, "1 record:", "too large", "758.08"),
    "float decimals": ([0.125, 0.1], 2, "1 record:", "more than 2 decimals", "0.125"),
    "float noise": ([1.00001], 2, "1 record:", "more than 2 decimals", "1.00001"),
    "float halves": ([1234567.5], 0, "1 record:", "with decimals", "1234567.5"),
    "NaN": ([float("nan"), 1.0], 0, "1 record:", "not finite", "'nan'"),
    "infinity": ([float("-inf"), 1.0], 0, "1 record:", "not finite", "'-inf'"),
    "floats beyond their precision": ([2.0**53], 0, "1 record:", "too large", "9007199254740992"),
    "integers": ([2**62, -(2**62)], 1, "2 records", "too large", "4611686018427387904"),
    "the least integer": ([-(2**63)], 0, "1 record:", "too large", "9223372036854775808"),
    "decimals": ([Decimal("1.05"), Decimal("1.10")], 1, "1 record:", "1 decimal", "'1.05'"),
    "truth": ([True], 0, "column 'v'", "holds no numbers", "BOOLEAN"),
    "lists": ([[1]], 0, "column 'v'", "gives no numbers", "BIGINT[]"),
    "decimals out of range": ([1], 19, "decimals=19", "'v'", "from 0 to 18"),
}


@pytest.mark.parametrize(
    ("values", "decimals", "count", "problem", "example"), VALUES.values(), ids=VALUES
)
def test_values_that_are_not_exact(values, decimals, count, problem, example):
    told = refusal({"v": values}, values={"v": decimals})
    assert count in told
    assert problem in told
    assert example in told


CODES = {
    "floats": ([1.0, 2.0], "holds floating point numbers (DOUBLE)"),
    "bytes": ([b"1"], "has the type BLOB, which gives no codes"),
    "nothing at all": (pa.nulls(2), "2 records: no code"),
    "the total's code": (["A", " Total "], "'Total', which would be mistaken for the total"),
}


@pytest.mark.parametrize(("codes", "problem"), CODES.values(), ids=CODES)
def test_codes_that_are_none(codes, problem):
    told = refusal({"c": codes}, by={"c": None})
    assert "column 'c'" in told
    assert problem in told


KEYS = {
    "too large": [0, 7],
    "negative": ["-1"],
    "fractions": [0.5],
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_record_keys_outside_their_modulus(keys):
    told = refusal({"k": keys}, record_key="k", key_modulus=7)
    assert told.startswith("1 record: record keys that are no whole numbers from 0 to 6 in 'k'")


def test_a_modulus_that_cannot_be():
    assert "modulus" in refusal({"k": [0]}, record_key="k", key_modulus=0)
    assert "modulus" in refusal({"k": [0]}, record_key="k", key_modulus=2**63)


def test_floats_that_identify_nothing():
    told = refusal({"u": [1.5, 2.0, 1e300]}, unit="u")
    assert told.startswith("2 records: floating point numbers that identify nothing in column 'u'")


def test_sums_of_straddlers_that_leave_the_range():
    half = 2**62
    records = {"c": ["1", "2", "1", "2"], "u": [1, 1, 2, 2], "v": [half, 1, half, 1]}
    assert "sums of 'v' leave the range" in refusal(
        records, by={"c": None}, values={"v": 0}, unit="u"
    )
    wrapping = {"c": ["1", "2"] * 5, "u": [i // 2 for i in range(10)], "v": [half, 1] * 5}
    assert "sums of 'v' leave the range" in refusal(
        wrapping, by={"c": None}, values={"v": 0}, unit="u"
    )


def test_sums_of_two_kinds_of_holdings_that_leave_the_range():
    half = 2**62
    records = {"h": [1, None], "u": ["x", "x"], "v": [half, half]}
    told = refusal(records, values={"v": 0}, holding="h")
    assert "sums of 'v' leave the range" in told


def test_more_combinations_than_numbers():
    tree = Hierarchy.flat(range(2**16))
    by = dict.fromkeys(("c", "d", "e", "f"), tree)
    told = refusal({name: ["1"] for name in by}, by=by)
    assert "65,536 × 65,536 × 65,536 × 65,536 combinations" in told
