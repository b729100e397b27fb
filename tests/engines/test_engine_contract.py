"""Every engine answers as counting by hand does, whatever the records look like.

A further engine is a further entry of ENGINES.
"""

from decimal import Decimal
from fractions import Fraction
from math import floor

import pyarrow as pa
import pytest
from counted_by_hand import by_hand, plain, same
from engines.postgres_server import in_postgres
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.engines import LeafQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Source
from diskret.population import Population

ENGINES = {"duckdb": DuckDBEngine, "postgres": in_postgres, "spark": in_spark}
EACH = ["duckdb", "postgres", pytest.param("spark", marks=ONE_SPARK)]

NACE = Hierarchy.from_parents(
    {"code": ["T", "A", "B", "A1", "A2", "B1"], "parent": [None, "T", "T", "A", "A", "B"]}
)
SIZE = Hierarchy.flat(["01", "1", "2"])
MODULUS = 97

FIRMS = {
    "nace": ["A1", "A1", "A2", "A1", "B1", "B1", "B1"],
    "firm": [1, 1, 1, 2, 3, 4, 5],
    "group": ["g", "g", "g", None, "h", "h", None],
    "turnover": [10, -4, 7, 20, 5, -9, 3],
    "key": [90, 90, 90, 50, 60, 70, 80],
}


@pytest.fixture(params=EACH)
def ask(request):
    return lambda columns, **question: asked(ENGINES[request.param], columns, **question)


def asked(engine, columns, by, largest=2, **question):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    source = Source(tuple(table.column_names), "pyarrow", table)
    with engine(source) as opened:
        return opened.leaves(LeafQuestion(by=by, largest=largest, **question))


def test_every_record_is_a_unit_unless_named(ask):
    leaves = ask(FIRMS, by={"nace": NACE}, values={"turnover": 0})
    assert plain(leaves) == {
        "leaf": [("A1",), ("A2",), ("B1",)],
        "count": [3, 1, 3],
        "sums": {"turnover": [26, 7, -1]},
        "magnitudes": {"turnover": [34, 7, 17]},
        "largest": {"turnover": [[20, 10], [7, 0], [9, 5]]},
        "units": None,
        "holdings": None,
        "unit_straddlers": None,
        "holding_straddlers": None,
        "key_sum": None,
    }


def test_units_in_several_leaves_are_listed(ask):
    leaves = ask(
        FIRMS,
        by={"nace": NACE},
        values={"turnover": 0},
        unit="firm",
        record_key="key",
        key_modulus=MODULUS,
    )
    assert leaves.count.tolist() == [3, 1, 3]
    assert leaves.units.tolist() == [1, 0, 3]
    assert leaves.sums["turnover"].tolist() == [26, 7, -1]
    assert leaves.magnitudes["turnover"].tolist() == [20, 0, 17]
    assert leaves.largest["turnover"].tolist() == [[20, 0], [0, 0], [9, 5]]
    assert leaves.key_sum.tolist() == [50, 0, (60 + 70 + 80) % MODULUS]
    moving = leaves.unit_straddlers
    assert moving.contributor.tolist() == [0, 0]
    assert moving.leaf.tolist() == [0, 1]
    assert moving.sums["turnover"].tolist() == [6, 7]
    assert moving.key.tolist() == [90, 90]


def test_a_null_holding_is_a_holding_of_its_own(ask):
    leaves = ask(FIRMS, by={"nace": NACE}, values={"turnover": 0}, unit="firm", holding="group")
    assert leaves.units.tolist() == [1, 0, 3]
    assert leaves.holdings.tolist() == [1, 0, 2]
    assert leaves.largest["turnover"].tolist() == [[20, 0], [0, 0], [4, 3]]
    assert leaves.holding_straddlers.sums["turnover"].tolist() == [6, 7]


def test_what_a_unit_does_for_a_holding_is_not_its_own(ask):
    records = {
        "nace": ["A1", "A2", "A2", "B1"],
        "firm": [1, 1, 1, 1],
        "group": [None, None, "g", "g"],
        "turnover": [1, 2, 4, 8],
    }
    question = {"values": {"turnover": 0}, "unit": "firm", "holding": "group"}
    moving = ask(records, by={"nace": NACE}, **question).holding_straddlers
    assert moving.contributor.tolist() == [0, 0, 1, 1]
    assert moving.leaf.tolist() == [1, 2, 0, 1]
    assert moving.sums["turnover"].tolist() == [4, 8, 1, 2]


identities = st.sampled_from([1, 2, 3, 10])
record = st.fixed_dictionaries(
    {
        "Nace ": st.sampled_from(["A1", " A2", "B1", "A1 "]),
        "select": st.sampled_from(["01", "1", "2"]),
        "unit": identities,
        "group": st.none() | identities,
        "Value": st.integers(-3000, 3000).map(lambda i: Decimal(i).scaleb(-2)),
        "value": st.integers(-5, 5),
    }
)


counting = given(
    records=st.lists(record, min_size=1, max_size=14),
    has_unit=st.booleans(),
    has_holding=st.booleans(),
    has_key=st.booleans(),
    text=st.booleans(),
    largest=st.integers(0, 3),
)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@examples(60)
@counting
def test_agrees_with_counting_by_hand(
    engine, records, has_unit, has_holding, has_key, text, largest
):
    check_by_hand(engine, records, has_unit, has_holding, has_key, text, largest)


@ONE_SPARK
@examples(8)
@counting
def test_spark_agrees_with_counting_by_hand(records, has_unit, has_holding, has_key, text, largest):
    check_by_hand("spark", records, has_unit, has_holding, has_key, text, largest)


def check_by_hand(engine, records, has_unit, has_holding, has_key, text, largest):
    keyed = [r | {"key": r["unit"] * 41 % MODULUS} for r in records]
    columns = {name: [r[name] for r in keyed] for name in keyed[0]}
    if text:
        for name in ("group", "unit", "key", "Value", "value"):
            columns[name] = [None if v is None else f" {v} " for v in columns[name]]
            for r, v in zip(keyed, columns[name], strict=True):
                r[name] = v if v is None else v.strip()
    else:
        columns["group"] = pa.array(columns["group"], pa.int64())
    question = {
        "unit": "unit" if has_unit else None,
        "holding": "group" if has_holding else None,
        "values": {"Value": 2, "value": 0},
        "largest": largest,
    }
    leaves = asked(
        ENGINES[engine],
        columns,
        by={"Nace ": NACE, "select": SIZE},
        record_key="key" if has_key else None,
        key_modulus=MODULUS,
        **question,
    )
    assert plain(leaves) == by_hand(
        keyed,
        by=["Nace ", "select"],
        key="key" if has_key else None,
        modulus=MODULUS,
        **question,
    )


bound = st.none() | st.integers(-6, 6) | st.integers(-400, 400).map(lambda i: Decimal(i) / 100)
filters = st.fixed_dictionaries(
    {},
    optional={
        "select": st.lists(st.sampled_from(["01", "1", "2"]), min_size=1),
        "Nace ": st.sampled_from(["A1", "A2", "B1"]),
        "unit": st.sampled_from([1, 2, "10"]),
        "group": st.lists(st.integers(1, 3), min_size=1),
        "value": st.tuples(bound, bound),
        "Value": st.tuples(bound, bound),
    },
)


def satisfied(record, where):
    """Whether a record satisfies a filter, in plain Python."""
    for name, wanted in where.items():
        there = record[name]
        if there is None:
            return False
        if isinstance(wanted, dict):
            low, high = wanted["min"], wanted["max"]
            if (low is not None and there < low) or (high is not None and there > high):
                return False
        else:
            codes = wanted if isinstance(wanted, list) else [wanted]
            if str(there).strip() not in [str(code) for code in codes]:
                return False
    return True


@pytest.mark.filterwarnings("ignore:where=")
@pytest.mark.parametrize("engine", EACH)
@examples(50)
@given(
    records=st.lists(record, min_size=1, max_size=14),
    where=filters,
    text=st.booleans(),
    floats=st.booleans(),
)
def test_a_filter_counts_as_if_the_other_records_were_not_there(
    engine, records, where, text, floats
):
    for name in ("value", "Value"):
        if name in where:
            low, high = where[name]
            if low is None and high is None:
                low = 0
            if low is not None and high is not None and low > high:
                low, high = high, low
            where[name] = {"min": low, "max": high}
    left = [r for r in records if satisfied(r, where)]
    columns = {name: [r[name] for r in records] for name in records[0]}
    columns["group"] = pa.array(columns["group"], pa.int64())
    columns["key"] = [r["unit"] * 41 % MODULUS for r in records]
    if floats:
        columns["Value"] = [float(v) for v in columns["Value"]]
    if text:
        columns["value"] = [f" {v} " for v in columns["value"]]
        columns["unit"] = [f"{v} " for v in columns["unit"]]
    # what other records hold must not matter
    outside = [not satisfied(r, where) for r in records]
    columns["junk"] = ["no number" if out else "7" for out in outside]
    columns["code"] = [None if out else "01" for out in outside]
    question = {
        "by": {"Nace ": NACE, "select": SIZE, "code": SIZE},
        "values": {"Value": 2, "value": 0, "junk": 0},
        "unit": "unit",
        "record_key": "key",
        "key_modulus": MODULUS,
        "holding": "group",
        "where": Population.of(where),
    }
    if not left:
        with pytest.raises(InputError, match="where="):
            asked(ENGINES[engine], columns, **question)
        return
    keyed = [
        r
        | {"key": r["unit"] * 41 % MODULUS, "junk": 7, "code": "01"}
        | ({"unit": str(r["unit"])} if text else {})
        for r in left
    ]
    expected = by_hand(
        keyed,
        by=["Nace ", "select", "code"],
        values=question["values"],
        unit="unit",
        holding="group",
        key="key",
        largest=2,
        modulus=MODULUS,
    )
    assert plain(asked(ENGINES[engine], columns, **question)) == expected


def test_a_filter_that_fits_nothing_is_refused_and_says_why(ask):
    def filtered(**where):
        return ask(FIRMS, by={"nace": NACE}, where=Population.of(where))

    with pytest.raises(InputError, match="no record satisfies where=: firm = 5, turnover ≥ 10"):
        filtered(turnover={"min": 10}, firm=5)
    with pytest.raises(InputError, match=r"'group' holds no record with 'G'; it holds 'g', 'h'"):
        filtered(group="G ")
    with pytest.raises(InputError, match="there is no column 'nacf'.*did you mean 'nace'"):
        filtered(nacf="A1")
    with pytest.raises(InputError, match="2 records: no numbers below .* 'group'"):
        ask({"group": ["g", "1", " ", "x"], "c": ["1"] * 4}, by={"c": None}, where=BOUNDED)
    with pytest.warns(UserWarning, match="holds no record with 'A9'; did you mean 'A"):
        assert filtered(nace=["A2", "A9"]).count.tolist() == [1]


BOUNDED = Population.of({"group": {"min": 0}})


def test_numbers_that_are_not_there_lie_in_no_bounds(ask):
    numbers = pa.array([1.0, None, float("nan"), float("inf"), 0.1, 99.0])
    where = Population.of({"v": {"min": "0.1", "max": None}})
    leaves = ask({"v": numbers, "c": ["1"] * 6}, by={"c": None}, where=where)
    assert leaves.count.tolist() == [3]


def test_a_truth_value_can_be_asked_for(ask):
    records = {"c": ["1", "2", "2"], "b": ["true", "false", "true"]}
    assert ask(records, by={"c": None}, where=Population.of({"b": True})).count.tolist() == [1, 1]


def test_the_order_of_records_does_not_matter(ask):
    by, size = {"nace": NACE}, len(FIRMS["nace"])
    question = {"values": {"turnover": 0}, "unit": "firm", "holding": "group"}
    one = ask(FIRMS, by=by, **question)
    for step in (3, 5, 6):
        order = [i * step % size for i in range(size)]
        shuffled = {name: [column[i] for i in order] for name, column in FIRMS.items()}
        assert same(one, ask(shuffled, by=by, **question))


def test_a_type_of_numbers_makes_no_difference(ask):
    amounts = ["0.1", "-1234567.89", "2.50", "1e2"]
    types = {
        "text": pa.array([f" {a} " for a in amounts]),
        "decimal": pa.array([Decimal(a) for a in amounts], pa.decimal128(12, 3)),
        "float": pa.array([float(a) for a in amounts]),
    }
    for column in types.values():
        leaves = ask({"v": column, "c": ["1", "1", "2", "2"]}, by={"c": None}, values={"v": 2})
        assert leaves.sums["v"].tolist() == [-123456779, 10250]


def test_sums_are_exact_to_the_last_of_64_bits(ask):
    big = 2**62 - 1
    leaves = ask({"v": [big, big, 1], "c": ["1"] * 3}, by={"c": None}, values={"v": 0})
    assert leaves.sums["v"].tolist() == [2**63 - 1]
    with pytest.raises(InputError, match="'v' leave the range of 64-bit"):
        ask({"v": [big, big, 2], "c": ["1"] * 3}, by={"c": None}, values={"v": 0})


# ── decimals on purpose: of record keys, and rounded ones of values ─────────────────

#: Column types in which decimals come.
DECIMALS = {
    "float": lambda texts: pa.array(map(float, texts)),
    "text": pa.array,
    "decimal": lambda texts: pa.array(map(Decimal, texts), pa.decimal128(25, 10)),
}


@pytest.mark.parametrize("kind", DECIMALS)
def test_decimal_keys_are_whole_numbers_of_their_digits(ask, kind):
    texts = ["0.25", "0.1", "0.99999999", "0.00000001", "0.57"]
    records = pa.table({"region": [*"NNNSS"], "key": DECIMALS[kind](texts)})
    digits = {"record_key": "key", "key_digits": 8, "key_modulus": 10**8}
    leaves = ask(records, by={"region": None}, **digits)
    whole = [int(Decimal(text).scaleb(8)) for text in texts]
    assert leaves.key_sum.tolist() == [sum(whole[:3]) % 10**8, sum(whole[3:]) % 10**8]
    for wrong in ("0.123456789", "1.0", "-0.1"):
        bad = pa.table({"region": ["N"], "key": DECIMALS[kind]([wrong])})
        with pytest.raises(InputError, match="record keys that are no decimals|no numbers"):
            ask(bad, by={"region": None}, **digits)


@pytest.mark.parametrize("kind", DECIMALS)
@pytest.mark.parametrize("places", [0, 2])
def test_values_are_rounded_half_a_unit_upwards_on_purpose(ask, kind, places):
    texts = ["2305598.5354999998", "-0.5", "0.5", "1.5", "-2.25", "7", "-0.125", "0.375"]
    records = pa.table({"region": [f"{i}" for i in range(8)], "v": DECIMALS[kind](texts)})
    values = {"values": {"v": places}}
    leaves = ask(records, by={"region": None}, round_values=True, **values)
    exact = [Fraction(float(t)) if kind == "float" else Fraction(t) for t in texts]
    expected = [floor(value * 10**places + Fraction(1, 2)) for value in exact]
    assert leaves.sums["v"].tolist() == expected
    with pytest.raises(InputError, match="decimals"):
        ask(records, by={"region": None}, **values)


def test_codes_of_the_data_make_a_flat_tree(ask):
    leaves = ask({"c": [" 2", "10 ", "02", "2"], "d": [7, -7, 7, 7]}, by={"c": None, "d": None})
    assert leaves.by["c"].codes == ("Total", "02", "10", "2")
    assert leaves.by["d"].codes == ("Total", "-7", "7")
    assert plain(leaves)["leaf"] == [("02", "7"), ("10", "-7"), ("2", "7")]
    assert leaves.count.tolist() == [1, 1, 2]


def test_codes_that_are_no_leaves_are_counted_and_named(ask):
    wrong = {"nace": ["A1", "X", "X ", "Y", "A1"]}
    with pytest.raises(HierarchyError, match=r"3 records: 2 codes in column 'nace' \('X', 'Y'\)"):
        ask(wrong, by={"nace": NACE})
    with pytest.raises(HierarchyError, match=r"2 records: 1 code .*\('A'\) with further codes"):
        ask({"nace": ["A", "A1", " A"]}, by={"nace": NACE})


def test_missing_codes_units_and_values_are_counted(ask):
    by = {"nace": NACE}
    with pytest.raises(InputError, match="2 records: no code in column 'nace'"):
        ask({"nace": ["A1", None, " "]}, by=by)
    with pytest.raises(InputError, match="2 records: nothing in column 'u'"):
        ask({"nace": ["A1"] * 3, "u": ["1", None, " "]}, by=by, unit="u")
    with pytest.raises(InputError, match="1 record: nothing in column 'v'"):
        ask({"nace": ["A1"] * 2, "v": [1, None]}, by=by, values={"v": 0})


def test_a_unit_has_one_record_key(ask):
    records = {"nace": ["A1", "A2", "A1"], "u": ["x", "x", "y"], "k": [1, 2, 3]}
    with pytest.raises(InputError, match=r"1 unit has more than one record key \('x'\)"):
        ask(records, by={"nace": NACE}, unit="u", record_key="k")


def test_no_records_are_an_error(ask):
    empty = pa.table({"nace": pa.array([], pa.string()), "v": pa.array([], pa.int64())})
    with pytest.raises(InputError, match="there are no records"):
        ask(empty, by={"nace": NACE}, values={"v": 0}, unit="v", holding="v")


PRICES = {
    "nace": ["A1", "A1", "A2", "B1"],
    "net": [100, 250, 0, -30],
    "gross": [119.0, 297.5, 0.0, -35.7],
    "Cents": ["10000", "25000", "0", " -3000"],
    "almost": [100, 250, 0, -31],
    "zeros": [0, 0, 0, 0],
    "gap": [100, None, 0, -30],
    "key": [1, 2, 3, 4],
}


@pytest.mark.parametrize("where", [{}, {"nace": "B1"}])
def test_of_proportional_columns_one_is_named(ask, where):
    """All records count, whatever is asked for: the same in every table of them."""
    names = {"net": 0, "gross": 1, "Cents": 0, "almost": 0, "zeros": 0}
    options = {"record_key": "key", "where": Population.of(where)}
    leaves = ask(PRICES, by={"nace": NACE}, values=names, **options)
    first = {"net": "Cents", "gross": "Cents", "Cents": "Cents", "almost": "almost"}
    assert leaves.sources == {**first, "zeros": "zeros"}
    alone = ask(PRICES, by={"nace": NACE}, values={"net": 0}, **options)
    assert alone.sources == {"net": "Cents"}
    assert ask(PRICES, by={"nace": NACE}, values={"net": 0}).sources == {}


def test_one_record_among_many_can_tell_columns_apart(ask):
    """Beyond what is looked at first."""
    number = 3000
    values = list(range(1, number + 1))
    other = [3 * v for v in values]
    other[-1] += 1
    records = {"nace": ["A1"] * number, "x": values, "b": other, "a": [5 * v for v in values]}
    leaves = ask({**records, "key": values}, by={"nace": NACE}, values={"x": 0}, record_key="key")
    assert leaves.sources == {"x": "a"}
