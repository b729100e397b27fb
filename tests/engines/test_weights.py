"""A contribution of weight w counts as w equal ones, in every cell and on every engine."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa
import pytest
from engines.postgres_server import in_postgres
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.rules import PQ, Dominance, MinimumFrequency, PPercent

ENGINES = {"duckdb": DuckDBEngine, "postgres": in_postgres, "spark": in_spark}
EACH = ["duckdb", "postgres", pytest.param("spark", marks=ONE_SPARK)]
BOTH = ["duckdb", "postgres"]
NACE = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "A1", "A2", "B1"], "parent": [None, "T", "T", "A", "A", "B"]}
)
SIZE = dk.Hierarchy.flat(["s", "m"])
BY = {"nace": NACE, "size": SIZE}
HOLDINGS = {0: "h", 1: "h", 2: None, 3: None, 4: "g", 5: None}
RULES = [PPercent(20), PPercent(40, coalition=2), PQ(20, 60), Dominance(3, 60)]

record = st.fixed_dictionaries(
    {
        "nace": st.sampled_from(["A1", "A2", "B1"]),
        "size": st.sampled_from(["s", "m"]),
        "unit": st.integers(0, 5),
        "v": st.integers(-200, 600).map(lambda i: Decimal(i).scaleb(-1)),
        "x": st.integers(0, 9),
    }
)
positive = record.map(lambda r: r | {"v": abs(r["v"])})
hundredths = st.integers(100, 450).map(lambda i: Decimal(i).scaleb(-2))


def weighted(records, weights, by_unit=True):
    """Records with the weight of their unit, or each with one of its own."""
    at = [r["unit"] if by_unit else i for i, r in enumerate(records)]
    return [r | {"w": weights[n % len(weights)]} for r, n in zip(records, at, strict=True)]


def tabulated(engine, records, unit, holding, places=2, largest=3, **question):
    columns = {name: [r[name] for r in records] for name in records[0]}
    groups = [HOLDINGS[r["unit"]] for r in records]
    return dk.tabulate(
        pa.table(columns | {"holding": pa.array(groups, pa.string())}),
        by=BY,
        value=["v", "x"],
        decimals={"v": 1},
        unit="unit" if unit else None,
        holding="holding" if holding else None,
        weight="w",
        weight_decimals=places,
        largest=largest,
        engine=ENGINES[engine],
        **question,
    )


def by_hand(records, unit, holding):
    """Cell → contributor → (values and weights of its records)."""
    found = defaultdict(lambda: defaultdict(list))
    for i, r in enumerate(records):
        who = ("unit", r["unit"]) if unit else ("record", i)
        if holding and HOLDINGS[r["unit"]]:
            who = ("holding", HOLDINGS[r["unit"]])
        for a in NACE.ancestors[NACE.position[r["nace"]]]:
            for b in SIZE.ancestors[SIZE.position[r["size"]]]:
                found[int(a), int(b)][who].append(r)
    return found


def pairs(contributors, name):
    """What each contributes for a weight of 1, and how many times it counts."""
    found = []
    for (kind, _), own in contributors.items():
        if kind == "holding":
            found.append((abs(sum(Fraction(r[name]) * Fraction(r["w"]) for r in own)), Fraction(1)))
        else:
            found.append((abs(sum(Fraction(r[name]) for r in own)), Fraction(own[0]["w"])))
    return sorted(found, reverse=True)


def largest_together(found, weight):
    """The most that contributors of this weight together contribute."""
    total, left = Fraction(0), Fraction(weight)
    for amount, own in found:
        total += amount * min(own, left)
        left -= min(own, left)
    return total


def check(engine, records, unit, holding, largest):
    table = tabulated(engine, records, unit, holding, largest=largest)
    cells = by_hand(records, unit, holding)
    for measure, scale in zip(table.measures, (1000, 100), strict=True):
        assert 10**measure.decimals == scale
        assert measure.largest.shape == (*table.shape, largest)
        for at in np.ndindex(table.shape):
            own = cells[at]
            found = pairs(own, measure.name)
            all_of = [r for rows in own.values() for r in rows]
            total = sum(Fraction(r[measure.name]) * Fraction(r["w"]) for r in all_of)
            assert measure.sum[at] == total * scale
            assert measure.magnitude[at] == sum(a * w for a, w in found) * scale
            assert table.count[at] == len(all_of)
            ends = [ceil(largest_together(found, i + 1) * scale) for i in range(largest)]
            assert measure.largest[at].cumsum().tolist() == ends
            if not holding:
                exact = [largest_together(found, i + 1) * scale for i in range(largest)]
                assert exact == ends


counting = given(
    records=st.lists(record, min_size=1, max_size=20),
    weights=st.lists(hundredths, min_size=6, max_size=6),
    unit=st.booleans(),
    holding=st.booleans(),
    largest=st.integers(0, 4),
)


@pytest.mark.long
@pytest.mark.parametrize("engine", BOTH)
@examples(50)
@counting
def test_fractional_weights_are_what_fractions_give(
    engine, records, weights, unit, holding, largest
):
    check(engine, weighted(records, weights, unit), unit, holding, largest)


@ONE_SPARK
@examples(6)
@counting
def test_so_they_are_on_spark(records, weights, unit, holding, largest):
    check("spark", weighted(records, weights, unit), unit, holding, largest)


@examples(60)
@given(
    records=st.lists(record, min_size=1, max_size=20),
    weights=st.lists(st.integers(1, 4), min_size=6, max_size=6),
    unit=st.booleans(),
)
def test_whole_weights_are_as_many_equal_contributors(records, weights, unit):
    sample = weighted(records, weights, unit)
    copies = [
        r | {"unit": f"{r['unit']} {copy}", "w": None} for r in sample for copy in range(r["w"])
    ]
    asked = {
        "by": BY,
        "value": "v",
        "decimals": 1,
        "unit": "unit" if unit else None,
        "largest": 4,
    }
    expanded = dk.tabulate(pa.Table.from_pylist(copies), **asked)
    table = dk.tabulate(pa.Table.from_pylist(sample), weight="w", **asked)
    for name in ("sum", "magnitude", "largest"):
        given_, wanted = getattr(table.measure, name), getattr(expanded.measure, name)
        assert np.array_equal(given_, wanted)
    for rule in RULES:
        given_, wanted = rule(table), rule(expanded)
        assert np.array_equal(given_.unsafe, wanted.unsafe)
        assert np.array_equal(given_.lower, wanted.lower)
        assert np.array_equal(given_.upper, wanted.upper)
    unweighted = dk.tabulate(pa.Table.from_pylist(sample), **asked)
    few = MinimumFrequency(3)
    assert np.array_equal(few(table).unsafe, few(unweighted).unsafe)
    assert np.array_equal(table.count, unweighted.count)


@examples(60)
@given(
    records=st.lists(positive, min_size=1, max_size=20),
    weights=st.lists(hundredths, min_size=6, max_size=6),
)
def test_holdings_never_make_a_concentration_rule_weaker(records, weights):
    sample = weighted(records, weights)
    units = tabulated("duckdb", sample, unit=True, holding=False, largest=4)["v"]
    holdings = tabulated("duckdb", sample, unit=True, holding=True, largest=4)["v"]
    for rule in RULES:
        assert not (rule(units).unsafe & ~rule(holdings).unsafe).any()


FIRMS = {"nace": ["A1", "A1", "A1"], "v": [100, 10, 1], "w": [1.5, 1.5, 1.5]}


def firms(engine="duckdb", places=1, largest=3, value="v", **changed):
    columns = {name: list(values) for name, values in (FIRMS | changed).items()}
    unit = "u" if "u" in columns else None
    return dk.tabulate(
        pa.table(columns),
        by={"nace": NACE},
        value=value,
        unit=unit,
        weight="w",
        weight_decimals=places,
        largest=largest,
        engine=ENGINES[engine],
    )


def test_weights_are_not_rounded_one_up_and_the_next_down():
    """X − x1 − x2 is 11.5; weights 2, 1, 2 would make it 12, and 1, 2, 1 would make it 11."""
    table = firms()
    at = NACE.position["A1"]
    assert table.measure.sum[at] == 1665
    assert table.measure.largest[at].tolist() == [1000, 550, 100]
    unsafe = PPercent(11.7)(table)
    assert unsafe.unsafe[at]
    assert unsafe.lower[at] == 2
    assert not PPercent(11.5)(table).unsafe[at]


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize(
    ("kind", "places"),
    [(pa.float64(), 2), (pa.decimal128(9, 3), 3), (pa.string(), 1), (pa.int32(), 0)],
    ids=str,
)
def test_weights_are_read_like_values(engine, kind, places):
    given_ = ["1", "3", "20"] if places == 0 else ["1.5", "3", "20.5"]
    weights = given_ if kind == pa.string() else pa.array(given_).cast(pa.float64()).cast(kind)
    columns = {"nace": ["A1", "A1", "B1"], "v": [100, 10, 1], "w": weights}
    table = dk.tabulate(
        pa.table(columns),
        by={"nace": NACE},
        value="v",
        weight="w",
        weight_decimals=places,
        engine=ENGINES[engine],
    )
    expected = sum(v * Fraction(w) for v, w in zip([100, 10, 1], given_, strict=True))
    assert table.measure.decimals == places
    assert table.measure.sum[0] == expected * 10**places


WRONG = {
    "null": ({"w": [1.5, None, 2]}, "1 record: nothing in column 'w'"),
    "zero": ({"w": [0, 0.5, 2]}, r"2 records: weights that are below 1.*\(.*0.5.*\)"),
    "negative": ({"w": [-2, 1, 2]}, "1 record: weights that are below 1"),
    "infinite": ({"w": [1, float("inf"), 2]}, "1 record: weights that are below 1, not finite"),
    "no number": ({"w": [1, float("nan"), 2]}, "1 record: weights that are below 1, not finite"),
    "finer": ({"w": [1, 1.25, 2]}, "with more than 1 decimal in column 'w'.*weight_decimals="),
    "two weights": (
        {"u": ["a", "a", "b"], "w": [1, 2.5, 3]},
        r"units with more than one weight: 1 \('a'\)",
    ),
    "too large a product": (
        {"v": [2**61, 1, 1], "w": [2.5, 1, 1]},
        "sums of 'v' leave the range of 64-bit integers",
    ),
    "too large a sum": (
        {"v": [2**58, 2**58, 2**58], "w": [2.5, 2.5, 2.5], "u": [1, 1, 1]},
        "'v' leave the range of 64-bit integers",
    ),
    "too large a total": (
        {"v": [2**58, 2**58, 2**58], "w": [2.5, 2.5, 2.5]},
        "'v' leave the range of 64-bit integers",
    ),
}


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("case", WRONG)
def test_weights_that_cannot_be_used_are_refused(engine, case):
    changed, said = WRONG[case]
    with pytest.raises(InputError, match=said):
        firms(engine, **changed)


@pytest.mark.parametrize("engine", EACH)
def test_equal_weights_of_a_straddling_unit_are_accepted(engine):
    table = firms(engine, nace=["A1", "B1", "B1"], u=[1, 1, 2], w=[2.5, 2.5, 1])
    assert table.measure.sum[0] == 2760
    assert table.measure.largest[0].tolist() == [1100, 1100, 555]
    assert table.units.tolist()[0] == 2


@pytest.mark.parametrize("engine", BOTH)
def test_weights_outside_the_filter_are_not_looked_at(engine):
    columns = {"nace": ["A1", "A1"], "year": ["1", "2"], "v": [7, 8], "w": [None, 2]}
    table = dk.tabulate(
        pa.table(columns),
        by={"nace": NACE},
        value="v",
        weight="w",
        where={"year": "2"},
        engine=ENGINES[engine],
    )
    assert table.measure.sum[0] == 16
    assert table.weight == "w"


def test_what_weights_cannot_do_is_said():
    records = pa.table({"nace": ["A1"], "v": [1], "w": [2], "asked": [True]})
    asked = {"by": {"nace": NACE}, "weight": "w"}
    with pytest.raises(InputError, match="a table of counts has none.*column of ones"):
        dk.tabulate(records, **asked)
    for mark in ("request", "waiver"):
        with pytest.raises(InputError, match="cannot be combined with request= or waiver="):
            dk.tabulate(records, value="v", **asked, **{mark: "asked"})
    with pytest.raises(InputError, match="weight_decimals= needs weight="):
        dk.tabulate(records, by={"nace": NACE}, value="v", weight_decimals=1)
    with pytest.raises(InputError, match="weight_decimals=10 for column 'w'; .* from 0 to 9"):
        dk.tabulate(records, value="v", weight_decimals=10, **asked)
    with pytest.raises(InputError, match="'v' has 12 decimals and 'w' 7; .* at most 18"):
        dk.tabulate(records, value="v", decimals=12, weight_decimals=7, **asked)
    with pytest.raises(InputError, match="no column 'ww'"):
        dk.tabulate(records, by={"nace": NACE}, value="v", weight="ww")
