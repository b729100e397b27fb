"""Derived figures: exact, made of published values alone, refused where they make no sense."""

from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.population import Population
from diskret.tables import Derived, Dimension, Published, SideBySide
from diskret.tables.side_by_side import derived_text, side_by_side_text

REGION = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
SIZE = Dimension("size", Hierarchy.flat(["big", "small"]))


def a_table(value, name="sales", hidden=(), dimensions=(REGION,), **more):
    value = np.array(value, dtype=np.int64).reshape([len(d) for d in dimensions])
    suppressed = np.zeros(value.size, dtype=bool)
    suppressed[list(hidden)] = True
    suppressed = suppressed.reshape(value.shape)
    values = {"measure": name, "frequency": False, "decimals": 0, **more}
    return Published(
        name=name,
        dimensions=dimensions,
        value=np.where(suppressed, 0, value),
        suppressed=suppressed,
        empty=(value == 0) & ~suppressed,
        **values,
    )


FIRMS = a_table([12, 8, 4, 0], "firms", frequency=True)


def figures(derived):
    """The figures as exact text, "." where suppressed and "x" where not meaningful."""
    marks = {"suppressed": ".", "empty": "x"}
    rows = derived_text(derived).to_pylist()
    assert all((row[derived.name] == "") == (row["status"] in marks) for row in rows)
    return [row[derived.name] or marks[row["status"]] for row in rows]


# ── by hand ─────────────────────────────────────────────────────────────────────────


def test_a_mean_is_sum_by_count():
    mean = Derived("mean", "mean", (a_table([100, 70, 30, 0]), FIRMS), decimals=2)
    # 100/12 = 8.333…, 70/8 = 8.75, 30/4 = 7.5, no firms
    assert figures(mean) == ["8.33", "8.75", "7.50", "x"]
    assert mean.frame.to_pydict()["mean"] == [8.33, 8.75, 7.5, None]


def test_half_a_unit_is_rounded_upwards():
    firms = a_table([2, 2, 2, 8], "firms")
    sums = a_table([1, 3, -1, -20])
    # 0.5 → 1, 1.5 → 2, -0.5 → 0, -2.5 → -2: ties go up, as everywhere in diskret
    assert figures(Derived("m", "mean", (sums, firms), decimals=0)) == ["1", "2", "0", "-2"]


@pytest.mark.parametrize("hidden", [({1}, set()), (set(), {1}), ({1}, {1})])
def test_one_suppressed_input_suppresses_the_figure(hidden):
    sums = a_table([100, 70, 30, 5], hidden=hidden[0])
    firms = a_table([12, 7, 4, 1], "firms", hidden=hidden[1])
    assert figures(Derived("m", "mean", (sums, firms))) == ["8.3", ".", "7.5", "5.0"]


def test_a_share_of_the_total_along_a_dimension():
    table = a_table(
        [100, 60, 40, 50, 20, 30, 30, 30, 0, 20, 10, 10],
        dimensions=(REGION, SIZE),
        hidden=[4],
    )
    of_size = Derived("share", "share", (table,), of=("size",))
    assert figures(of_size)[:3] == ["100.0", "60.0", "40.0"]
    assert figures(of_size)[3:] == ["100.0", ".", "60.0", "100.0", "100.0", "0.0"] + [
        "100.0",
        "50.0",
        "50.0",
    ]
    of_region = Derived("share", "share", (table,), of=("region",))
    assert figures(of_region)[6:9] == ["30.0", "50.0", "0.0"]  # 30/100, 30/60, 0/40
    of_both = Derived("share", "share", (table,), of=("region", "size"))
    assert figures(of_both)[9:] == ["20.0", "10.0", "10.0"]


def test_a_suppressed_total_suppresses_every_share_of_it():
    table = a_table([100, 60, 40, 0], hidden=[0])
    assert figures(Derived("s", "share", (table,), of=("region",))) == ["."] * 4


def test_a_share_of_another_measure():
    exports = a_table([25, 20, 5, 0], "exports", decimals=1)
    share = Derived("s", "share", (exports, a_table([10, 4, 3, 0])))
    # 2.5 of 10, 2.0 of 4, 0.5 of 3
    assert figures(share) == ["25.0", "50.0", "16.7", "x"]


def test_growth_against_the_earlier_period():
    now = a_table([110, 45, 0, 7], vintage="2025")
    before = a_table([100, 60, 10, 0], vintage="2024")
    assert figures(Derived("g", "growth", (now, before))) == ["10.0", "-25.0", "-100.0", "x"]
    negative = a_table([-10, 60, 10, 4], vintage="2024", nonnegative=False)
    # against a loss a rate of growth says nothing
    assert figures(Derived("g", "growth", (now, negative)))[0] == "x"


def test_an_index_has_a_row_for_each_period():
    first = a_table([80, 60, 20, 0], vintage="2023")
    second = a_table([90, 75, 15, 0], vintage="2024", hidden=[2])
    index = Derived("i", "index", (first, second), base="2023")
    assert index.frame.to_pydict()["period"] == ["2023"] * 4 + ["2024"] * 4
    assert index.frame.to_pydict()["region"] == ["Total", "N", "S", "W"] * 2
    assert figures(index) == ["100.0", "100.0", "100.0", "x", "112.5", "125.0", ".", "x"]
    other = replace(index, base="2024")
    assert figures(other) == ["88.9", "80.0", ".", "x", "100.0", "100.0", ".", "x"]


def test_rounded_inputs_are_taken_as_published():
    rounded = a_table([1000, 1000, 0, 0], rounding=1000)
    assert figures(Derived("m", "mean", (rounded, FIRMS)))[:2] == ["83.3", "125.0"]


# ── exact for all numbers ───────────────────────────────────────────────────────────

LARGE = st.integers(-(2**63) + 1, 2**63 - 1)
CASES = st.tuples(LARGE | st.integers(-50, 50), LARGE | st.integers(-3, 50))


@given(
    st.lists(CASES, min_size=4, max_size=4),
    st.sampled_from(["mean", "share", "growth"]),
    *[st.integers(0, 6)] * 3,
)
def test_figures_are_the_exact_quotients_rounded_once(cases, kind, decimals, first, second):
    tops, bottoms = zip(*cases, strict=True)
    inputs = (
        a_table(tops, vintage="now", decimals=first),
        a_table(bottoms, decimals=second, vintage="before" if kind == "growth" else "now"),
    )
    expected = []
    for top, bottom in cases:
        quotient = Fraction(top, 10**first) / Fraction(bottom, 10**second) if bottom > 0 else 0
        exact = {"mean": quotient, "share": 100 * quotient, "growth": 100 * (quotient - 1)}
        scaled = floor(exact[kind] * 10**decimals + Fraction(1, 2)) if bottom > 0 else 0
        expected.append(scaled)
    derived = Derived("figure", kind, inputs, decimals=decimals)
    if max(map(abs, expected)) < 2**61:
        assert derived.value.tolist() == expected
    elif max(map(abs, expected)) > 2**63:
        with pytest.raises(InputError, match=r"more digits than can be held; use fewer decimals="):
            _ = derived.value


# ── refusals ────────────────────────────────────────────────────────────────────────

OTHER = Dimension("region", Hierarchy.flat(["N", "S", "X"]))
SALES = a_table([6, 3, 2, 1], vintage="2025")
EARLIER = a_table([6, 3, 2, 1], vintage="2024")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "median"}, "'median' is no derived figure; made of published sums and counts"),
        ({"inputs": (SALES,)}, "a mean is made of 2 tables"),
        ({"inputs": (SALES, EARLIER)}, "'2025', 'sales' of '2024'; use tables of the same vint"),
        (
            {"inputs": (SALES, a_table([6, 3, 2, 1], dimensions=(OTHER,), vintage="2025"))},
            "do not have the same dimensions and codes",
        ),
        (
            {"inputs": (SALES, replace(SALES, where=Population((("size", ("1",)),))))},
            "are about different populations",
        ),
        ({"decimals": 13}, "decimals= must be 0 to 12, not 13"),
        ({"name": "a/b"}, "cannot be used for files"),
        ({"name": "region"}, "more than one column would be called 'region'"),
        ({"kind": "share", "inputs": (SALES,), "of": ("size",)}, "'size' is no dimension of"),
        ({"kind": "share", "inputs": (SALES,)}, "of= names no dimension"),
        ({"kind": "share", "of": ("region",)}, "not of both"),
        ({"kind": "growth"}, "must have different names, but they are '2025', '2025'"),
        (
            {"kind": "growth", "inputs": (SALES, replace(EARLIER, measure="exports"))},
            "compares one measure over time, not 'exports', 'sales'",
        ),
        (
            {"kind": "growth", "inputs": (SALES, replace(EARLIER, vintage=""))},
            "must have different names",
        ),
        (
            {"kind": "index", "inputs": (SALES, EARLIER), "base": "2020"},
            "the base '2020' is none of the periods '2025', '2024'",
        ),
        ({"kind": "index", "inputs": (SALES,), "base": "2025"}, "made of at least 2 tables"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    usual = {"name": "figure", "kind": "mean", "inputs": (SALES, SALES)}
    with pytest.raises(InputError, match=message):
        Derived(**{**usual, **change})


def test_periods_of_one_file_may_be_told_apart_by_one_filter():
    this = replace(SALES, where=Population((("size", ("1",)), ("year", ("2025",)))))
    last = replace(EARLIER, where=Population((("size", ("1",)), ("year", ("2024",)))))
    assert figures(Derived("g", "growth", (this, last))) == ["0.0"] * 4
    other = replace(last, where=Population((("size", ("2",)), ("year", ("2024",)))))
    with pytest.raises(InputError, match="different populations"):
        Derived("g", "growth", (this, other))


# ── side by side ────────────────────────────────────────────────────────────────────


def test_tables_stand_side_by_side_each_with_its_status():
    sales = a_table([100, 70, 30, 0], hidden=[1], decimals=1)
    mean = Derived("mean", "mean", (sales, FIRMS))
    rows = side_by_side_text(SideBySide("all", (FIRMS, sales, mean))).to_pylist()
    assert list(rows[1].values()) == ["N", "8", "published", "", "suppressed", "", "suppressed"]
    assert list(rows[3].values()) == ["W", "0", "empty", "0.0", "empty", "", "empty"]
    assert list(rows[0]) == [
        "region",
        *("firms", "firms_status"),
        *("sales", "sales_status"),
        *("mean", "mean_status"),
    ]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "has no tables to show"),
        ((FIRMS, a_table([1] * 4, dimensions=(OTHER,))), "name the tables that do, e.g. comb"),
        ((FIRMS, FIRMS), "more than one column would be called 'firms'"),
        (
            (SALES, Derived("i", "index", (EARLIER, SALES), base="2024")),
            "the index 'i' has a row for each period",
        ),
    ],
)
def test_what_cannot_stand_side_by_side_is_refused(parts, message):
    with pytest.raises(InputError, match=message):
        SideBySide("all", parts)
