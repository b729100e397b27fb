"""A crosstab that is filled from counted cells is the one that pandas makes, to the last digit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.outputs import crosstab
from diskret.outputs.fill import filled
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.records import axis_of

FUNCTIONS = [None, "sum", "mean", "median", "std", "var", "min", "max"]
KINDS = ["str", "object", "category", "ordered", "int64", "float64", "bool", "datetime64[ns]"]


def column(draw, kind, number, categories):
    codes = draw.integers(0, categories, number)
    if kind == "datetime64[ns]":
        return pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(codes, "D"))
    if kind == "bool":
        return pd.Series(codes % 2 == 0)
    if kind in ("int64", "float64"):
        return pd.Series(codes.astype(kind) * 3 - 5)
    texts = pd.Series([f"c{9 - code}" for code in codes])
    if kind == "ordered":  # one category never occurs
        order = [f"c{9 - code}" for code in reversed(range(categories + 1))]
        return texts.astype(pd.CategoricalDtype(order, ordered=True))
    return texts.astype(kind)


def both(sides, values, aggfunc, margins, normalize):
    axes = tuple(Axis.joined([axis_of(one) for one in side]) for side in sides)
    groups = Groups(axes, len(sides[0][0]))
    inner = groups.cells(None if values is None else values.to_numpy(float), None)
    totals = [inner.together(one.names, one.into) for one in groups.totals] if margins else []
    ours = filled(groups, sides, values, aggfunc, margins, normalize, [inner, *totals])
    theirs = pd.crosstab(
        *sides, values=values, aggfunc=aggfunc, margins=margins, normalize=normalize
    )
    return ours, theirs


@given(st.data())
@examples(80)
def test_is_what_pandas_makes(data):
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    number = data.draw(st.sampled_from([1, 5, 40, 300]))
    names = iter(["a", "b", "c", "d"] if data.draw(st.booleans()) else [None, 7, "x", "x2"])
    index = draw.permutation(number) + 10
    sides = [
        [
            column(draw, data.draw(st.sampled_from(KINDS)), number, data.draw(st.integers(1, 5)))
            .set_axis(index)
            .rename(next(names))
            for _ in range(data.draw(st.integers(1, 2)))
        ]
        for _ in range(2)
    ]
    aggfunc = data.draw(st.sampled_from(FUNCTIONS))
    values = None
    if aggfunc is not None:
        values = pd.Series(draw.lognormal(3, 2, number), index=index, name="v")
        values = values.round().astype("int64") if data.draw(st.booleans()) else values
    if data.draw(st.booleans()):  # some have no category, some no value
        for side in sides:
            for at, one in enumerate(side):
                if data.draw(st.booleans()):
                    side[at] = one.where(
                        draw.random(number) < data.draw(st.sampled_from([0.95, 0.5]))
                    )
        if values is not None and data.draw(st.booleans()):
            values = values.where(draw.random(number) < data.draw(st.sampled_from([0.95, 0.5])))
    margins = data.draw(st.booleans())
    normalize = False if aggfunc else data.draw(st.sampled_from([False, True, "index", "columns"]))
    try:
        pd.crosstab(*sides, values=values, aggfunc=aggfunc, margins=margins, normalize=normalize)
    except (ValueError, LookupError):  # pandas makes no totals of nothing, or beside two dates
        return
    ours, theirs = both(sides, values, aggfunc, margins, normalize)
    if ours is not None:
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.parametrize("aggfunc", FUNCTIONS)
def test_the_common_case_is_filled(aggfunc):
    draw = np.random.default_rng(1)
    sides = [[column(draw, "str", 1000, 3)], [column(draw, "int64", 1000, 4)]]
    values = None if aggfunc is None else pd.Series(draw.normal(size=1000))
    ours, theirs = both(sides, values, aggfunc, True, False)
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    sides[0][0] = sides[0][0].where(draw.random(1000) < 0.9)
    values = None if aggfunc is None else values.where(draw.random(1000) < 0.9)
    ours, theirs = both(sides, values, aggfunc, True, False)
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.assign(v=f.v.where(f.r == "a")),  # a cell without any value
        lambda f: f.assign(v=f.v.astype("float32")),
        lambda f: f.assign(v=f.v.astype("Int64")),
        lambda f: f[:0],
    ],
)
def test_what_is_not_known_is_left_to_pandas(change):
    frame = change(pd.DataFrame({"r": ["a", "b"] * 10, "c": "x", "v": range(20)}))
    axes = tuple(axis_of(frame[one]) for one in "rc")
    sides = [[frame.r], [frame.c]]
    assert filled(Groups(axes, len(frame)), sides, frame.v, "sum", False, False) is None
    by_function = filled(Groups(axes, len(frame)), sides, frame.v, max, False, False)
    assert by_function is None


def test_totals_beside_dates_that_pandas_makes_of_counts_alone():
    draw = np.random.default_rng(0)
    sides = [[column(draw, "str", 5, 2)], [column(draw, "str", 5, 1).rename("b")]]
    sides[1].append(column(draw, "datetime64[ns]", 5, 3).rename("c"))
    ours, theirs = both(sides, None, None, True, False)
    if ours is not None:
        pd.testing.assert_frame_equal(ours, theirs)
    found = crosstab(sides[0][0], sides[1], margins=True).output
    pd.testing.assert_frame_equal(found, theirs)
