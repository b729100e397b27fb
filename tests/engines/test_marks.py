"""Marks on records reach every cell on every engine, totals and straddlers included."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from engines.postgres_server import in_postgres
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.rules import Dominance, MinimumFrequency, PPercent, Request

ENGINES = {"duckdb": DuckDBEngine, "postgres": in_postgres}
NACE = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "A1", "A2", "B1"], "parent": [None, "T", "T", "A", "A", "B"]}
)
SIZE = dk.Hierarchy.flat(["s", "m"])
HOLDINGS = {0: "h", 1: "h", 2: None, 3: None, 4: "g", 5: None}

record = st.fixed_dictionaries(
    {
        "nace": st.sampled_from(["A1", "A2", "B1"]),
        "size": st.sampled_from(["s", "m"]),
        "unit": st.integers(0, 5),
        "v": st.integers(-20, 60),
        "w": st.integers(0, 9),
        "asked": st.sampled_from([None, "0", "1", " 2"]),
        "consents": st.sampled_from(["yes", "no", "yes ", None]),
    }
)


def tabulated(engine, records, unit, holding, largest):
    columns = {name: [r[name] for r in records] for name in records[0]}
    holdings = [HOLDINGS[r["unit"]] for r in records]
    frame = pa.table(
        columns
        | {
            "holding": pa.array(holdings, pa.string()),
            "asked": pa.array(columns["asked"], pa.string()),
            "consents": pa.array(columns["consents"], pa.string()),
        }
    )
    return dk.tabulate(
        frame,
        by={"nace": NACE, "size": SIZE},
        value=["v", "w"],
        unit="unit" if unit else None,
        holding="holding" if holding else None,
        request={"asked": [1, 2]},
        waiver={"consents": "yes"},
        largest=largest,
        engine=ENGINES[engine],
    )


def cells(records, unit, holding):
    """Every cell with its records by contributor, counted record by record."""
    found = defaultdict(lambda: defaultdict(list))
    for i, r in enumerate(records):
        who = ("unit", r["unit"]) if unit else ("record", i)
        if holding and HOLDINGS[r["unit"]]:
            who = ("holding", HOLDINGS[r["unit"]])
        for a in NACE.ancestors[NACE.position[r["nace"]]]:
            for b in SIZE.ancestors[SIZE.position[r["size"]]]:
                found[int(a), int(b)][who].append(r)
    return found


MARKS = {
    "request": lambda r: r["asked"] == "1",
    "request 2": lambda r: r["asked"] == " 2",
    "no_waiver": lambda r: (r["consents"] or "").strip() != "yes",
}


@pytest.mark.parametrize("engine", ENGINES)
@examples(50)
@given(
    records=st.lists(record, min_size=1, max_size=24),
    unit=st.booleans(),
    holding=st.booleans(),
    largest=st.integers(0, 2),
)
def test_marks_are_what_counting_by_hand_gives(engine, records, unit, holding, largest):
    table = tabulated(engine, records, unit, holding, largest)
    expected = cells(records, unit, holding)
    for at in np.ndindex(table.shape):
        for mark, bears in MARKS.items():
            there = expected[at].values()
            number = sum(bears(r) for each in there for r in each)
            assert table.marked[mark][at] == number
            for name in ("v", "w"):
                sizes = [abs(sum(r[name] for r in each)) for each in there if any(map(bears, each))]
                assert table[name].measure.marked[mark][at] == max(sizes, default=0)


@examples(60)
@given(
    records=st.lists(record, min_size=1, max_size=16),
    unit=st.booleans(),
    holding=st.booleans(),
    percent=st.sampled_from([1, 10, 60, 100, 250]),
)
def test_rules_protect_those_without_a_waiver(records, unit, holding, percent):
    table = tabulated("duckdb", records, unit, holding, 3)["v"]
    share = min(percent, 99)
    p, k = PPercent(percent)(table), Dominance(3, share)(table)
    frequency = MinimumFrequency(4, of="records")(table)
    request = Request(share, second=30, minimum=2)(table)
    for at, contributors in cells(records, unit, holding).items():
        known = [
            (abs(sum(r["v"] for r in each)), any(map(MARKS["no_waiver"], each)), each)
            for each in contributors.values()
        ]
        known.sort(key=lambda one: one[:2], reverse=True)
        total = sum(size for size, _, _ in known)
        sizes = [size for size, _, _ in known]
        free = any(open_ for _, open_, _ in known)
        # the p% rule, for every contributor without a waiver
        levels = [
            Fraction(percent, 100) * size
            - (total - size - max(sizes[:i] + sizes[i + 1 :], default=0))
            for i, (size, open_, _) in enumerate(known)
            if open_
        ]
        worst = max(levels, default=Fraction(0))
        assert p.unsafe[at] == (worst > 0)
        if worst > 0:
            assert p.upper[at] == -(-worst.numerator // worst.denominator)
        top = known[:3]
        dominated = 100 * sum(size for size, _, _ in top) > share * total
        assert k.unsafe[at] == (dominated and any(open_ for _, open_, _ in top))
        count = sum(len(each) for _, _, each in known)
        assert frequency.unsafe[at] == (free and count < 4)
        asks = False
        units = {r["unit"] for each in contributors.values() for r in each}
        for mark, limit in (("request", share), ("request 2", 30)):
            asking = [size for size, _, each in known if any(map(MARKS[mark], each))]
            asks |= bool(asking) and max(asking) == sizes[0] and 100 * sizes[0] > limit * total
            asks |= bool(asking) and (len(units) if unit else count) < 2
        assert request.unsafe[at] == (asks and free)


def small(**columns):
    return pa.table({"c": ["1", "1", "1"], "v": [70, 20, 10]} | columns)


def judged(rule, **options):
    table = dk.tabulate(small(y=[True, False, None]), by={"c": None}, value="v", **options)
    return bool(rule(table).unsafe[1])


def test_who_asked_gets_protection_above_its_share_only():
    assert judged(Request(69), request="y")
    assert not judged(Request(70), request="y")
    with pytest.raises(InputError, match="request= when it is made"):
        judged(Request(70))
    with pytest.raises(InputError, match="frequency table"):
        Request(70)(dk.tabulate(small(), by={"c": None}))
    with pytest.raises(InputError, match="share= must be .* to 100 .*, not 101"):
        Request(101)
    with pytest.raises(InputError, match="minimum= must be"):
        Request(70, minimum=-1)


def test_the_largest_contributor_may_consent():
    assert judged(PPercent(20)) and not judged(PPercent(20), waiver="y")
    # 20 is estimated by 70: 10 remain, which is not below 50 % of 20, but below 60 %
    assert not judged(PPercent(50), waiver="y") and judged(PPercent(60), waiver="y")


def test_a_count_is_safe_only_if_everybody_consents():
    def unsafe(consents):
        frame = small(y=consents)
        return MinimumFrequency(5)(dk.tabulate(frame, by={"c": None}, waiver="y")).unsafe.any()

    assert unsafe([1, 1, 0]) and unsafe([1, None, 1]) and not unsafe([1, 1, 1])


def test_the_reason_shown_follows_the_order_of_the_rules():
    table = dk.tabulate(small(y=[1, 0, 0]), by={"c": None}, value="v", request="y")
    both = (MinimumFrequency(9) | Request(50) | PPercent(1))(table)
    assert both.reasons[both.reason[1]] == "request"


def test_the_note_on_waivers_stays_in_the_office(tmp_path):
    frame = pa.table({"c": ["1", "1", "2", "2"], "v": [90, 1, 5, 5], "y": [1, 1, 0, 0]})
    note = "letter of 3 March 2025, Ms Example"
    table = dk.tabulate(frame, by={"c": None}, value="v", waiver="y", waiver_note=note)
    result = dk.suppress(table, PPercent(1))
    result.write(tmp_path / "out", formats=["csv", "html"])
    there = {p for p in tmp_path.rglob("*.*") if p.is_file() and note.encode() in p.read_bytes()}
    assert {p.parent.name for p in there} == {"internal"}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_of_yes_and_no_says_nothing_else(engine):
    def marked(values):
        frame = pa.table({"c": ["1"] * 4, "y": values})
        opened = ENGINES[engine]
        return dk.tabulate(frame, by={"c": None}, waiver="y", engine=opened).marked["no_waiver"]

    assert marked(["true", " FALSE", "1", None]).tolist() == [2, 2]
    assert marked([1, 0, 1, 1]).tolist() == [1, 1]
    with pytest.raises(InputError, match=r"2 records: neither yes .* column 'y' \('J', 'x'\)"):
        marked(["1", "J", "x", "0"])


def test_what_marks_nothing_is_refused():
    for request in ({}, {"y": []}, {"y": [1.5]}, {"y": ["1", "1"]}, {"y": "1", "z": "1"}):
        with pytest.raises(InputError, match="request="):
            dk.tabulate(small(y=[1, 1, 1]), by={"c": None}, request=request)
    with pytest.raises(InputError, match="3 codes are given"):
        dk.tabulate(small(y=[1, 1, 1]), by={"c": None}, request={"y": [1, 2, 3]})
    with pytest.raises(InputError, match="no column 'yes'"):
        dk.tabulate(small(y=[1, 1, 1]), by={"c": None}, waiver="yes")


def test_marks_follow_a_recoding():
    frame = pa.table({"c": list("aabbcd"), "v": [5, 4, 3, 9, 1, 2], "y": [1, 0, 1, 0, 1, 1]})
    fine = dk.tabulate(frame, by={"c": None}, value="v", request="y")
    made = fine.recode("c", {"a+b": ["a", "b"]})
    frame = frame.set_column(0, "c", pa.array(["a+b"] * 4 + ["c", "d"]))
    direct = dk.tabulate(frame, by={"c": None}, value="v", request="y")
    assert made.marked["request"].tolist() == direct.marked["request"].tolist()
    tops = [t.measure.marked["request"].tolist() for t in (made, direct)]
    assert tops[0] == tops[1] == [5, 5, 1, 2]
