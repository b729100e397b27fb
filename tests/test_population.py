"""A filter is understood one way, and so is whether two populations can share a record."""

from decimal import Decimal
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.engines import LeafQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.io import source
from diskret.population import EVERYBODY, Bounds, Population, pieces


def test_equal_filters_are_equal_values():
    asked = {"size": ["2", "1", 1], "year": 2025, "v": {"min": 10, "max": None}}
    one = Population.of(asked)
    other = Population.of({"v": {"min": "10.0"}, "year": " 2025 ", "size": ("1", "2")})
    assert one == other and hash(one) == hash(other) and one.to_lists() == other.to_lists()
    assert one.conditions == (
        ("size", ("1", "2")),
        ("v", Bounds(Decimal(10), None)),
        ("year", ("2025",)),
    )
    assert Population.of(one.asked) == Population.of(one) == one
    assert Population.of(None) == Population.of({}) == EVERYBODY
    assert Population.of({"size": "1"}) != Population.of({"size": "2"})


def test_a_filter_is_told_in_words():
    asked = {"v": {"min": 1, "max": "2.5"}, "w": {"max": 10**19}, "c": ["b", "a"]}
    assert str(Population.of(asked)) == "c = a or b, v 1 to 2.5, w ≤ 10000000000000000000"
    assert Population.of(asked).words(" oder ", "bis").startswith("c: a oder b, v: 1 bis 2.5")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (None, "None is no code for column 'c'"),
        (1.5, "1.5 is no code"),
        (["a", ""], "'' is no code"),
        ([], "no code is given for column 'c'"),
        ({}, "at least one"),
        ({"min": None}, "at least one"),
        ({"low": 1, "min": 0}, "bounds of column 'c' are"),
        ({"min": 2, "max": 1}, "both ≥ 2 and ≤ 1"),
        ({"min": True}, "the bound True"),
        ({"max": "1,5"}, "the bound '1,5'"),
        ({"max": float("inf")}, "the bound inf"),
        ({"max": 10**20}, "below 10\\^20"),
        ({"max": "1e-19"}, "18 decimals"),
    ],
)
def test_what_is_no_filter_is_refused(asked, why):
    with pytest.raises(InputError, match=f"where=: .*{why}"):
        Population.of({"c": asked})
    with pytest.raises(InputError, match="where= must be"):
        Population.of("year")  # pyright: ignore[reportArgumentType]


# ── brute force: records on an engine, asked one by one ───────────────────────────────

#: Values of the column `v` in records: text, as an engine finds it.
NUMBERS = ["4", "5", "05", "5.0", " 5 ", "+5", "5e0", "5.5", "6", "-1", "0.1", "1e2", "100", ""]
WORDS = ["x", "5 men", "one", " x"]
CODES = sorted({text.strip() for text in (*NUMBERS, *WORDS)} - {""})

conditions = st.one_of(
    st.lists(st.sampled_from(CODES), min_size=1, max_size=3),
    st.sampled_from(["≤ 4", "≥ 5", "5 to 5", "5.1 to 99", "≥ 100", "-1 to 0.1"]).map(
        lambda words: Population.from_lists({"v": [words]}).asked["v"]
    ),
)
populations = st.fixed_dictionaries({"v": conditions}, optional={"w": conditions}).map(
    Population.of
)


def _satisfied(asked):
    """The values of a record that an engine lets through, of those that it can read."""
    bounded = isinstance(asked, Bounds)
    values = NUMBERS if bounded else NUMBERS + WORDS
    records = pa.table({"v": values, "c": [str(i) for i in range(len(values))]})
    try:
        with DuckDBEngine(source(records)) as engine:
            question = LeafQuestion(by={"c": None}, where=Population((("v", asked),)))
            found = engine.leaves(question)
    except InputError:
        return set()
    tree = found.by["c"]
    return {values[int(tree.codes[i])] for i in found.position[:, 0].tolist()}


_KNOWN = {}


def satisfied(asked):
    if asked not in _KNOWN:
        _KNOWN[asked] = _satisfied(asked)
    return _KNOWN[asked]


def records_of(population):
    """Which of all records (v, w) belong to it."""
    every = set(NUMBERS + WORDS)
    v, w = (
        satisfied(population.asked[name]) if name in population.asked else every for name in "vw"
    )
    return set(product(v, w))


@pytest.mark.filterwarnings("ignore:where=")
@examples(60)
@given(populations, populations)
def test_overlap_is_what_brute_force_finds(one, other):
    mine, theirs = records_of(one), records_of(other)
    assert one.overlaps(other) == other.overlaps(one) == bool(mine & theirs)
    if one.inside(other):
        assert mine <= theirs


def test_codes_are_compared_with_bounds_as_numbers():
    five = Population.of({"staff": {"min": 5, "max": 5}})
    for code in ("5", "05", "5.0", "+5", "5e0", 5):
        assert five.overlaps(Population.of({"staff": [code]}))
        assert Population.of({"staff": [code]}).inside(five)
    for code in ("6", "5 men", "NaN", "inf", "five"):
        assert not five.overlaps(Population.of({"staff": [code]}))
    assert not Population.of({"staff": "5"}).overlaps(Population.of({"staff": "05"}))
    assert not five.inside(Population.of({"staff": "5"}))  # who is spelled 05 is not


def test_a_code_that_older_files_cannot_tell_from_bounds_meets_them():
    written = Population.of({"staff": "≥ 10"})
    bounds = Population.of({"staff": {"min": 10}})
    assert Population.from_lists(written.to_lists()) == written != bounds
    assert written.overlaps(bounds) and bounds.overlaps(written)


def test_bounds_that_are_one_float_are_refused_for_floats():
    """As floats a number would be on both sides of 0.1, and on no side of what is published."""
    records = pa.table({"v": [0.1], "c": ["a"]})
    low = Population.of({"v": {"max": "0.1"}})
    high = Population.of({"v": {"min": "0.100000000000000001"}})
    assert not low.overlaps(high)
    with DuckDBEngine(source(records)) as engine:
        assert engine.leaves(LeafQuestion(by={"c": None}, where=low)).count.tolist() == [1]
        with pytest.raises(InputError, match="more than 15 digits"):
            engine.leaves(LeafQuestion(by={"c": None}, where=high))


def test_pieces_meet_where_conditions_do():
    asked = [
        Population.from_lists({"v": [words]}).asked["v"]
        for words in ("≤ 9", "≥ 10", "10 to 19", "≥ 15", "5", "12", "x")
    ]
    found = pieces(asked)
    for (one, mine), (other, theirs) in product(zip(asked, found, strict=True), repeat=2):
        overlap = Population((("v", one),)).overlaps(Population((("v", other),)))
        assert overlap == bool(mine & theirs)


# ── at a file's edge ──────────────────────────────────────────────────────────────────


@given(st.dictionaries(st.sampled_from(["v", "w", "año"]), conditions).map(Population.of))
def test_a_file_gives_the_same_population_back(population):
    assert Population.from_lists(population.to_lists()) == population


def test_older_files_are_read():
    old = {"size": ["1", "2"], "staff": ["≥ 10"], "year": ["2025"]}
    read = Population.from_lists(old)
    assert read == Population.of({"size": ["1", "2"], "staff": {"min": 10}, "year": 2025})
    assert read.to_lists() == old
    with pytest.raises(InputError, match="'size' is no list of codes"):
        Population.from_lists({"size": "1"})
