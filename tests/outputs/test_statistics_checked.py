"""Every statistic is judged from its records, counted here one by one, in frames of any kind."""

from collections import Counter, defaultdict
from fractions import Fraction

import matplotlib.cbook
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError
from diskret.outputs import (
    Profile,
    Project,
    boxplot,
    chart,
    concentration,
    crosstab,
    density,
    describe,
    groupby,
    histogram,
    mode,
    pivot_table,
    quantile,
    ratio,
    scatter,
)

RULES = Profile(threshold=3, dominance=[1, 50], p_percent=10, group_percent=90)
FRAMES = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def records(seed, number=60):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": draw.choice(["N", "S", "W"], number, p=[0.6, 0.3, 0.1]),
            "job": draw.choice(["a", "b"], number, p=[0.8, 0.2]),
            "pay": draw.choice([1.0, 2.0, 2.0, 5.0, 80.0], number),
            "more": draw.integers(1, 9, number),
            "firm": draw.integers(0, number // 2, number),
        }
    )


# ── the oracle: what the rules say of the records of one cell ───────────────────────


def units(rows, condition=lambda row: True):
    return len({row["who"] for row in rows if condition(row)})


def contributions(rows, value):
    found = defaultdict(float)
    for row in rows:
        found[row["who"]] += row[value]
    return sorted(found.values(), reverse=True)


def few(rows, value):
    return units(rows) < 3


def dominance(rows, value):
    each = contributions(rows, value)
    return 100 * each[0] > 50 * sum(each)


def p_percent(rows, value):
    each = contributions(rows, value)
    return 100 * sum(each[2:]) < 10 * each[0]


def all_equal(rows, value):
    return len({row[value] for row in rows}) == 1


def shared(rows, value, number):
    return units(rows, lambda row: row[value] == number)


def extremes(pick):
    return lambda rows, value: shared(rows, value, pick(row[value] for row in rows)) < 3


def rank(share):
    def check(rows, value):
        numbers = sorted(row[value] for row in rows)
        place = Fraction(share) * (len(numbers) - 1)
        low = numbers[int(place)]
        high = numbers[min(int(place) + 1, len(numbers) - 1)]
        number = low + (high - low) * float(place - int(place))
        below = units(rows, lambda row: row[value] < number)
        above = units(rows, lambda row: row[value] > number)
        return min(below, above) < 3 and shared(rows, value, number) < 3

    return check


def squares(rows, value):
    """The second knows its own deviation; its estimate of the largest is within 10 %."""
    mean = sum(row[value] for row in rows) / len(rows)
    off = [{"who": row["who"], "off": (row[value] - mean) ** 2} for row in rows]
    each = contributions(off, "off")
    rest = sum(each[2:]) if sum(each[2:]) > 1e-9 * sum(each) else 0
    return each[0] > 0 and (each[0] + rest) ** 0.5 < 1.1 * each[0] ** 0.5


SUMS = {"threshold": few, "dominance": dominance, "p_percent": p_percent}
ORACLE = {
    "sum": SUMS,
    "mean": {**SUMS, "all_equal": all_equal},
    "std": {"threshold": few, "all_equal": all_equal, "squares": squares},
    "var": {"threshold": few, "all_equal": all_equal, "squares": squares},
    "min": {"threshold": few, "extremes": extremes(min)},
    "max": {"threshold": few, "extremes": extremes(max)},
    "median": {"threshold": few, "few_at_rank": rank("1/2")},
    "count": {"threshold": few},
}


def in_cells(frame, by, unit):
    found = defaultdict(list)
    for at, row in enumerate(frame.to_dict("records")):
        found[tuple(row[one] for one in by)].append({**row, "who": row[unit] if unit else at})
    return found


def expected(frame, by, value, checks, unit):
    found = {check: unsafe(frame, by, value, rule, unit) for check, rule in checks.items()}
    if "dominance" in checks:
        found["level"] = hidden_by_a_constant(frame, by, value, unit)
        found["level"] -= found["dominance"] | found["p_percent"]
    return {check: places for check, places in found.items() if places}


def unsafe(frame, by, value, rule, unit):
    return {cell for cell, rows in in_cells(frame, by, unit).items() if rule(rows, value)}


def hidden_by_a_constant(frame, by, value, unit):
    """Cells that are unsafe once a constant is taken off each record, or each off a constant."""
    moved = (frame[value] - frame[value].min(), frame[value].max() - frame[value])
    return {
        cell
        for own in moved
        for rule in (dominance, p_percent)
        for cell in unsafe(frame.assign(**{value: own}), by, value, rule, unit)
    }


def found(checked, *leave_out):
    return {one.check: {*one.places} for one in checked.findings if one.check not in leave_out}


SETTINGS = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from([5, 12, 40, 60]),
    st.sampled_from([None, "firm"]),
    st.sampled_from([["region"], ["region", "job"]]),
    st.sampled_from([*FRAMES]),
)


@pytest.mark.parametrize("statistic", [*ORACLE])
@given(SETTINGS)
@examples(12)
def test_groups_are_judged_by_their_records(statistic, setting):
    seed, number, unit, by, kind = setting
    frame = records(seed, number)
    checked = groupby(FRAMES[kind](frame), by, {"pay": statistic}, unit=unit, profile=RULES)
    # zeros and shares of rows are those of crosstab, which are tested there
    assert found(checked, "zero", "group") == expected(frame, by, "pay", ORACLE[statistic], unit)


@given(SETTINGS, st.sampled_from(["0", "1/10", "1/4", "9/10", "1"]))
@examples(25)
def test_percentiles_need_units_on_both_sides(setting, share):
    seed, number, unit, by, kind = setting
    frame = records(seed, number)
    kind = "pandas" if kind == "pyarrow" else kind
    checked = quantile(
        FRAMES[kind](frame), "pay", float(Fraction(share)), by, unit=unit, profile=RULES
    )
    checks = {"threshold": few, "few_at_rank": rank(share)}
    assert found(checked) == expected(frame, by, "pay", checks, unit)


def most_frequent(rows, value):
    times = Counter(row[value] for row in rows)
    return min(one for one, count in times.items() if count == max(times.values()))


@given(SETTINGS)
@examples(25)
def test_modes_ratios_and_concentration(setting):
    seed, number, unit, by, kind = setting
    frame = records(seed, number)
    given_frame = FRAMES[kind](frame)
    cells = in_cells(frame, by, unit)

    def nearly_all(rows, value):
        return 100 * shared(rows, value, most_frequent(rows, value)) > 90 * units(rows)

    def few_share(rows, value):
        return shared(rows, value, most_frequent(rows, value)) < 3

    checked = mode(given_frame, "pay", by, unit=unit, profile=RULES)
    checks = {"threshold": few, "few_share": few_share, "nearly_all": nearly_all}
    assert found(checked) == expected(frame, by, "pay", checks, unit)
    shown = pl.DataFrame(checked.output).to_dicts()
    assert shown == [
        {**dict(zip(by, cell, strict=True)), "pay": most_frequent(cells[cell], "pay")}
        for cell in sorted(cells)
    ]

    checked = ratio(given_frame, "pay", "more", by, unit=unit, profile=RULES)
    both = {
        (check, (*cell, value))
        for value in ("pay", "more")
        for check, places in expected(frame, by, value, SUMS, unit).items()
        for cell in places
    }
    by_itself = {check: places for check, places in found(checked).items() if check != "within"}
    assert {(check, one) for check, places in by_itself.items() for one in places} == both
    shown = pl.DataFrame(checked.output)["pay / more"].to_list()
    sums = [
        [sum(row[one] for row in cells[cell]) for one in ("pay", "more")] for cell in sorted(cells)
    ]
    assert shown == pytest.approx([above / below for above, below in sums])

    checked = concentration(
        given_frame, "pay", by, figures=["cr1", "cr3", "hhi", "gini"], unit=unit, profile=RULES
    )
    for cell, row in zip(sorted(cells), pl.DataFrame(checked.output).to_dicts(), strict=True):
        each = contributions(cells[cell], "pay")
        number, total = len(each), sum(each)
        gaps = sum(abs(one - other) for one in each for other in each)
        assert row["pay_cr1"] == pytest.approx(each[0] / total)
        assert row["pay_cr3"] == pytest.approx(sum(each[:3]) / total)
        assert row["pay_hhi"] == pytest.approx(sum((one / total) ** 2 for one in each))
        assert row["pay_gini"] == pytest.approx(gaps / (2 * number * total))
    unsafe = expected(frame, by, "pay", SUMS, unit)
    if unit:  # a constant is taken off contributions
        unsafe.pop("level", None)
    for figure in ("cr3", "hhi", "gini"):
        assert all(
            (*cell, f"pay {figure}") in found(checked)[check]
            for check, places in unsafe.items()
            for cell in places
        )
    largest = {
        cell
        for cell, rows in cells.items()
        if contributions(rows, "pay").count(contributions(rows, "pay")[0]) < 3
    }
    assert found(checked).get("extremes", set()) == {(*cell, "pay cr1") for cell in largest}


# ── just what the library makes ─────────────────────────────────────────────────────


def test_pandas_output_is_that_of_pandas():
    frame = records(1)
    frame.loc[:3, "pay"] = np.nan
    frame.loc[9, "job"] = None
    table = frame.pivot_table(["pay", "more"], "region", "job", "mean", margins=True)
    checked = pivot_table(frame, ["pay", "more"], "region", "job", "mean", margins=True)
    pd.testing.assert_frame_equal(checked.output, table)
    functions = {"pay": ["mean", "max"], "more": len}
    checked = pivot_table(frame, index=["region", "job"], aggfunc=functions, fill_value=0)
    pd.testing.assert_frame_equal(
        checked.output, frame.pivot_table(index=["region", "job"], aggfunc=functions, fill_value=0)
    )
    groups = frame.groupby(["region", "job"])
    for figures in ({"pay": ["mean", "count"]}, {"pay": "sum", "more": ["min"]}):
        checked = groupby(frame, ["region", "job"], figures)
        pd.testing.assert_frame_equal(checked.output, groups.agg(figures))
    checked = groupby(frame, ["region", "job"], {"average": ("pay", "mean")})
    pd.testing.assert_frame_equal(checked.output, groups.agg(average=("pay", "mean")))
    pd.testing.assert_series_equal(groupby(frame, "region").output, frame.groupby("region").size())
    pd.testing.assert_frame_equal(
        describe(frame, ["pay"], "region").output, frame.groupby("region")[["pay"]].describe()
    )
    pd.testing.assert_series_equal(
        quantile(frame, "pay", [0.1, 0.9], "region", interpolation="lower").output,
        frame.groupby("region")["pay"].quantile([0.1, 0.9], interpolation="lower"),
    )


def test_polars_output_is_that_of_polars():
    frame = pl.from_pandas(records(1))
    table = frame.pivot(on="job", index="region", values="pay", aggregate_function="mean")
    assert pivot_table(frame, "pay", "region", "job", "mean").output.equals(table)
    groups = frame.group_by("region").agg(
        pl.col("pay").mean().alias("pay_mean"), pl.col("pay").std().alias("pay_std")
    )
    checked = groupby(frame, "region", {"pay": ["mean", "std"]})
    assert checked.output.equals(groups.sort("region"))
    assert describe(frame, "pay").output.equals(frame.select("pay").describe())
    ranks = frame.select(pl.col("pay").quantile(0.4, "nearest").alias("pay_0.4"))
    assert quantile(frame, "pay", 0.4, interpolation="nearest").output.equals(ranks)


@given(SETTINGS, st.booleans())
@examples(10)
def test_a_pivot_table_is_judged_as_the_crosstab(setting, margins):
    seed, number, unit, _, _ = setting
    frame = records(seed, number)
    who = None if unit is None else frame[unit]
    table = crosstab(
        frame.region, frame.job, values=frame.pay, aggfunc="mean", margins=margins, unit=who,
        profile=RULES,
    )  # fmt: skip
    pivot = pivot_table(frame, "pay", "region", "job", margins=margins, unit=unit, profile=RULES)
    assert found(pivot) == found(table)
    if number > 30:
        pd.testing.assert_frame_equal(pivot.output, table.output)


def test_totals_of_a_pivot_table_leave_out_what_lacks_any_value():
    frame = pd.DataFrame({"r": ["N", "S"] * 10, "v": 1.0, "w": [1.0] * 5 + [np.nan] * 15})
    checked = pivot_table(frame, ["v", "w"], "r", aggfunc="count", margins=True, profile=RULES)
    assert checked.output.loc["All", "v"] == 5
    assert checked.verdict == "fail"  # two of S have w, and 5 of all have both
    assert found(checked)["threshold"] == {("S", "w count")}


def test_categories_without_records_are_zeros():
    frame = pd.DataFrame({"r": pd.Categorical(["N"] * 20, ["N", "S"]), "v": 1.0})
    shown = pivot_table(frame, "v", "r", aggfunc="count", observed=False)
    assert found(shown)["zero"] == {("S",)}
    assert "zero" not in found(pivot_table(frame, "v", "r", aggfunc="count"))


def test_a_group_of_those_without_a_category_is_shown_by_polars():
    frame = pl.DataFrame({"r": ["N"] * 20 + [None] * 2, "v": [1.0] * 22})
    checked = groupby(frame, "r", {"v": "count"})
    assert checked.output.height == 2
    assert found(checked)["threshold"] == {("None",)}
    assert found(groupby(frame.to_pandas(), "r", {"v": "count"})) == {"missing": {("r",)}}


@pytest.mark.parametrize(
    "call",
    [
        lambda f: groupby(f, "region", {"pay": "mean"}),
        lambda f: quantile(f, "pay", 0.5, "region"),
        lambda f: ratio(f, "more", "pay", "region"),
        lambda f: concentration(f, "pay", "region"),
        lambda f: mode(f, "pay", "region"),
        lambda f: pivot_table(f, "pay", "region"),
        lambda f: boxplot(f, "pay", "region"),
    ],
)
def test_missing_values_are_told(call):
    frame = pd.DataFrame({"region": ["N"] * 60 + ["S"] * 60, "pay": [1.0, 2.0, 3.0] * 40})
    frame["more"] = frame.pay + 1
    assert "missing" not in found(call(frame))
    frame.loc[70, "pay"] = np.nan
    assert {place[0] for place in found(call(frame))["missing"]} == {"S"}


def test_what_is_not_known_is_for_a_person():
    frame = records(1)
    for function in ("first", "nunique", lambda values: values.max()):
        checked = groupby(frame, "region", {"pay": function})
        assert checked.verdict == "review"
        assert {one.check for one in checked.findings} == {"unknown"}
    assert groupby(frame, "region", {"job": "max"}).verdict == "review"
    assert groupby(pl.from_pandas(frame), "region", {"job": "n_unique"}).verdict == "review"


@pytest.mark.parametrize("kind", [*FRAMES])
@pytest.mark.parametrize(
    ("places", "unit", "classes"),
    [
        ([*range(10, 190)], None, {(k, k + 1) for k in range(10, 189)}),  # each value but ends
        ([50, 61, 70, 80], None, {(61, 70)}),  # 9 records; 11 and 10 are enough
        ([50, 61, 70, 80], "own", {(50, 61), (61, 70), (70, 80)}),  # of two records each
        ([50, 70, 91], "own", set()),  # 10 and 11 units
        ([50.3, 50.6], None, {(50.3, 50.6)}),  # both between two values, and tell them
    ],
)
def test_percentiles_make_classes(kind, places, unit, classes):
    """Of 200 different values in their order, so that percentiles are at places known by hand."""
    frame = pd.DataFrame({"pay": np.arange(200.0) ** 1.5, "own": np.arange(200) // 2})
    ranks = [at / 199 for at in places]
    named = {at: f"pay {100 * rank:g} %" for at, rank in zip(places, ranks, strict=True)}
    checked = quantile(FRAMES[kind](frame), "pay", ranks, unit=unit)
    wanted = {("All", f"{named[low]} – {named[high]}") for low, high in classes}
    assert found(checked).get("threshold", set()) == wanted
    if unit is None:  # each by itself tells nothing
        assert all(quantile(frame, "pay", rank).verdict == "pass" for rank in ranks[:3])


def test_percentiles_of_a_description_make_classes():
    frame = pd.DataFrame({"pay": np.arange(201.0)})
    assert "threshold" not in found(describe(frame, "pay", percentiles=[0.25, 0.45]))
    close = describe(pl.from_pandas(frame), "pay", percentiles=[0.25, 0.29])  # places 50 to 58
    assert found(close)["threshold"] == {("All", "pay 25 % – pay 29 %")}


# ── figures ─────────────────────────────────────────────────────────────────────────


@given(SETTINGS)
@examples(10)
def test_histograms_are_those_of_numpy(setting):
    seed, number, unit, _, kind = setting
    frame = records(seed, number)
    edges = [0, 2, 5, 100]
    checked = histogram(FRAMES[kind](frame), "pay", edges, "region", unit=unit, profile=RULES)
    shown = pl.DataFrame(checked.output).to_dicts()
    for region in sorted(set(frame.region)):
        own = [row for row in shown if row["region"] == region]
        counted = np.histogram(frame.pay[frame.region == region], edges)[0]
        assert [row["count"] for row in own] == counted.tolist()
    classes = [(0, 2, "0 – 2"), (2, 5, "2 – 5"), (5, 101, "5 – 100")]
    cells = in_cells(frame, ["region"], unit)
    unsafe = {
        (*cell, name)
        for cell, rows in cells.items()
        for low, high, name in classes
        if 0 < units(rows, lambda row, low=low, high=high: low <= row["pay"] < high) < 3
    }
    assert found(checked).get("threshold", set()) == unsafe


def test_classes_from_the_smallest_to_the_largest_show_both():
    frame = pd.DataFrame({"age": range(100)})
    checked = histogram(frame, "age", 4)
    assert found(checked)["extremes"] == {("All", "min"), ("All", "max")}
    assert pl.DataFrame(checked.output)["count"].to_list() == [25] * 4


@pytest.mark.parametrize(
    ("ages", "bins", "told"),
    [
        (range(1, 100), [0, 50, 100], set()),
        (range(1, 100), [1, 50, 99], {"min", "max"}),  # as np.linspace(min, max) makes them
        (range(1, 100), np.array([1.0, 50, 120]), {"min"}),
        (range(1, 100), "fd", {"min", "max"}),
        (range(1, 100), np.int64(2), {"min", "max"}),
        ([5] * 9, 2, {"min", "max"}),  # numpy makes ends 4.5 and 5.5
        ([0] * 10 + [7.5] * 10, [0, 5, 7.5], set()),  # ends that ten units have
        ([3, 4, None] * 20 + [9], [3, 8, 9], {"max"}),
        ([None] * 20, 4, set()),
        (range(7, 100), [0, 7, 50, 120], {"min"}),  # an empty class is put before it
        (range(7, 100), [0, 7.0000001, 50, 120], {"min"}),
        ([*range(7, 90), *[99] * 12], [0, 50, 99, 120], set()),
    ],
)
def test_an_end_of_classes_that_is_the_value_of_a_unit_is_one(ages, bins, told):
    checked = histogram(pd.DataFrame({"age": pd.Series(ages, dtype=float)}), "age", bins)
    assert found(checked).get("extremes", set()) == {("All", one) for one in told}


def test_an_end_of_classes_may_be_the_smallest_value_of_a_group():
    frame = pd.DataFrame({"town": ["A"] * 40 + ["B"] * 40, "pay": np.arange(80.0) + 0.25})
    rules = Profile(verdicts={"zero": "pass"})
    assert histogram(frame, "pay", [0, 20, 40, 60, 90], "town", profile=rules).verdict == "pass"
    ends = histogram(frame, "pay", [0, 20, 40.25, 60, 90], "town", profile=rules)
    assert found(ends) == {"extremes": {("B", "min")}}


def test_an_end_that_is_the_smallest_value_of_all_is_judged_by_all_who_have_it():
    """Firms have one employee at least: whoever names that end has looked at no region."""
    firms = pd.DataFrame({"staff": np.arange(200) % 19 + 1, "region": ["A"] * 100 + ["B"] * 100})
    assert (firms[firms.region == "A"].staff == 1).sum() < 10
    assert histogram(firms, "staff", [1, 10, 30], "region").verdict == "pass"
    firms.loc[firms.staff == 1, "staff"] = [1] + [2] * 10
    told = histogram(firms, "staff", [1, 10, 30], "region")
    assert found(told) == {"extremes": {("All", "min")}}


def test_whiskers_and_boxes_make_classes():
    frame = pd.DataFrame({"pay": np.arange(201.0) ** 1.5})
    assert boxplot(frame, "pay", whis=(5, 95), showfliers=False).verdict == "pass"
    near = boxplot(frame, "pay", whis=(24.5, 95), showfliers=False)  # places 49 and 50
    assert found(near) == {"threshold": {("All", "whislo – q1")}}


@pytest.mark.parametrize("whis", [1.5, 0.5, (5, 95)])
def test_a_box_plot_is_that_of_matplotlib(whis):
    frame = records(7, 300).assign(pay=np.random.default_rng(7).lognormal(size=300))
    checked = boxplot(frame, "pay", "region", whis=whis)
    for row in checked.output.to_dict("records"):
        own = frame.pay[frame.region == row["region"]]
        [stats] = matplotlib.cbook.boxplot_stats(own, whis=whis)
        for name in ("whislo", "q1", "med", "q3", "whishi"):
            assert row[name] == pytest.approx(stats[name])
        assert sorted(row["fliers"]) == sorted(stats["fliers"])
    assert found(checked)["points"]


def test_a_whisker_is_a_percentile():
    frame = pd.DataFrame({"age": np.arange(300.0)})
    assert boxplot(frame, "age", whis=(5, 95), showfliers=False).verdict == "pass"
    assert found(boxplot(frame, "age"))["few_at_rank"] == {("All", "whislo"), ("All", "whishi")}
    beyond = boxplot(frame, "age", whis=(5, 95))
    assert len(found(beyond)["points"]) == 30  # points of 30 units are values of each


def test_points_of_many_pass_and_densities_do_not():
    frame = pd.DataFrame({"x": [1, 2] * 10, "y": [1, 2] * 10})
    assert scatter(frame, "x", "y").verdict == "pass"
    frame.loc[19, "y"] = 3
    assert found(scatter(frame, "x", "y"))["points"] == {("2", "2"), ("2", "3")}
    from scipy.stats import gaussian_kde

    checked = density(frame, "y", [0.5, 1.5])
    assert checked.verdict == "review"
    assert checked.output["density"].tolist() == list(gaussian_kde(frame.y)([0.5, 1.5]))


def test_a_chart_is_judged_as_its_table():
    frame = records(3)
    table = groupby(frame, "region", {"pay": "mean"}, profile=RULES)
    bars = chart(frame, "region", {"pay": "mean"}, profile=RULES)
    assert bars.findings == table.findings
    assert bars.kind == "figure"
    forbidden = Profile(forbidden=["figure"])
    assert "forbidden" in found(chart(frame, "region", profile=forbidden))
    several = Profile(forbidden=["extremes"])
    checked = groupby(frame, "region", {"pay": ["mean", "max"]}, profile=several)
    assert found(checked)["forbidden"] == {("extremes",)}


# ── in a project ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (groupby, ["region", {"pay": ["mean", "count"]}]),
        (pivot_table, ["pay", "region"]),
        (quantile, ["pay", 0.5, "region"]),
        (histogram, ["pay", [0, 3, 100], "region"]),
        (concentration, ["pay", "region"]),
        (ratio, ["pay", "more", "region"]),
        (mode, ["pay", "region"]),
        (boxplot, ["pay", "region"]),
        (chart, ["region"]),
        (describe, ["pay", "region"]),
    ],
)
def test_every_result_is_attacked_beside_the_others(function, arguments):
    """Of all records and of all but one of a region: one record is singled out."""
    frame = records(5, 200).assign(pay=np.random.default_rng(5).lognormal(size=200))
    project = Project(frame, profile=Profile(threshold=3, excepting=["head"]))
    whole = project.check(function, frame, *arguments)
    project.accept(whole, "whole", who="head", why="a test")
    rest = frame.drop(index=frame.index[frame.region == "N"][0])
    beside = project.check(function, rest, *arguments)
    assert "difference" in found(beside)
    assert "difference" not in found(project.check(function, frame, *arguments))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: groupby(f, "nobody"), "by= must name columns of the records, not 'nobody'"),
        (lambda f: groupby(f, "region", {"x": "mean"}), "figures= must name columns"),
        (lambda f: groupby(pl.from_pandas(f), "region", {"pay": "first"}), "must be one of"),
        (lambda f: groupby(pl.from_pandas(f).lazy(), "region"), "say .collect"),
        (lambda f: groupby(f, None, {"a": ("pay", "mean"), "pay": "sum"}), "names of their own"),
        (lambda f: groupby(f.assign(pay=np.inf), None, {"pay": "sum"}), "an infinite number"),
        (lambda f: groupby(f, "region", unit="x"), "unit='x' is no column"),
        (lambda f: quantile(f, "job", 0.5), "'job' holds no numbers"),
        (lambda f: quantile(f, "pay", 50), "must be a share from 0 to 1, not 50"),
        (lambda f: quantile(f, "pay", 0.5, interpolation="x"), "interpolation= must be one of"),
        (lambda f: pivot_table(f, "pay"), "index= or columns= must name a variable"),
        (lambda f: pivot_table(pl.from_pandas(f), "pay", "region", "job", "std"), "aggfunc="),
        (lambda f: pivot_table(pl.from_pandas(f), "pay", "region"), "name values="),
        (
            lambda f: pivot_table(pl.from_pandas(f), "pay", "region", "job", margins=True),
            "are for pandas frames",
        ),
        (lambda f: quantile(pa.Table.from_pandas(f), "pay", 0.5, "region"), "pyarrow does not"),
        (lambda f: concentration(f.assign(pay=-1.0), "pay"), "a negative contribution"),
        (lambda f: concentration(f, "pay", figures=["cr0"]), "not 'cr0'"),
        (lambda f: histogram(f, "pay", [3, 2]), "ends that increase"),
        (lambda f: histogram(f, "pay", [3]), "two ends"),
        (lambda f: histogram(f, "pay", [0, np.nan]), "none that is missing"),
        (lambda f: boxplot(f, "pay", whis=(5,)), "whis= must be a number"),
        (lambda f: density(f, "pay", [1, np.nan]), "none of them missing or infinite"),
        (lambda f: density(f.assign(pay=1.0), "pay", [1]), "fewer than two different values"),
        (lambda f: describe(pl.from_pandas(f), "pay", "region"), "no describe by groups"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(InputError, match=said):
        call(records(1))


def test_mean_and_deviation_tell_the_largest_firm():
    """The sum is far from dominated; no firm can deviate more than all squares are (Samuelson)."""
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({"sales": draw.normal(1, 0.1, 200), "all": "x"})
    frame.loc[7, "sales"] = 20.0
    means = groupby(frame, "all", {"sales": "mean"}, profile="acro")
    assert means.verdict == "pass"  # 200 units; one with 9 % of the sum
    shown = groupby(frame, "all", {"sales": ["count", "mean", "std"]}, profile="acro")
    number, mean, deviation = (float(one) for one in shown.output.iloc[0, -3:])
    bound = mean + deviation * (number - 1) / number**0.5
    assert frame.sales.max() <= bound < 1.01 * frame.sales.max()
    assert shown.verdict == "fail"
    assert [one.check for one in shown.findings] == ["squares"]
    checked = dk.check.ols("sales ~ size", frame.assign(size=draw.normal(size=200)))
    assert "squares" in {one.check for one in checked.findings}
    easy = dk.check.Profile(p_percent=None)
    assert groupby(frame, "all", {"sales": "std"}, profile=easy).verdict == "pass"
    # what lies far from zero but has no outlier tells nobody
    tall = pd.DataFrame({"height": draw.normal(175, 9, 30), "all": "x"})
    assert groupby(tall, "all", {"height": ["mean", "std"]}).verdict == "pass"
