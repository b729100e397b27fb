"""Groups, levels of a tree, classes, ends, rounding, dates: values become coarser as asked."""

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Hierarchy
from diskret.io import coded
from diskret.microdata.categories import grouped, raised, shortened
from diskret.microdata.numbers import chosen_breaks, classed, ended, rounded

INFINITE = float("inf")


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


# ── groups and trees ────────────────────────────────────────────────────────────────


def test_groups_of_whole_numbers_stay_whole_numbers():
    made = grouped(coded(column([1, 2, 3, None], pa.int8()), "x"), {"9": ["2", "3"]})
    assert made.type == pa.int8() and made.to_pylist() == [1, 9, 9, None]


def test_groups_with_a_label_are_text():
    made = grouped(coded(column([1.0, 2.0, None]), "x"), {"low": ["1"]}, missing="none")
    assert made.to_pylist() == ["low", "2", "none"]


def test_a_number_that_would_change_its_spelling_stays_text():
    made = grouped(coded(column([1, 2]), "x"), {"007": ["1"]})
    assert made.to_pylist() == ["007", "2"]


def test_missing_values_stay_missing():
    assert grouped(coded(column(["a", None]), "x"), {"b": ["a"]}).to_pylist() == ["b", None]


def test_a_value_is_in_one_group_only():
    with pytest.raises(DiskretError, match="puts 'a' of 'x' into 'p' and 'q'"):
        grouped(coded(column(["a"]), "x"), {"p": ["a"], "q": ["a"]})


def test_groups_of_other_values_are_refused():
    with pytest.raises(DiskretError, match=r"none of the values .*'c'.* is in 'x'.*'a', 'b'"):
        grouped(coded(column(["a", "b"]), "x"), {"p": ["c"]})


def test_codes_are_raised_to_a_level_and_higher_ones_stay():
    tree = Hierarchy.from_parents(
        {"code": ["A", "01", "011", "B"], "parent": ["All", "A", "01", "All"]}
    )
    values = coded(column(["011", "B", "01", "A", None]), "nace")
    assert raised(values, tree, 1).to_pylist() == ["A", "B", "A", "A", None]
    assert raised(values, tree, 2).to_pylist() == ["01", "B", "01", "A", None]
    assert raised(values, tree, 0).to_pylist() == ["All"] * 4 + [None]
    with pytest.raises(DiskretError, match="from 0 .* to 2, not 3"):
        raised(values, tree, 3)


def test_values_that_are_not_in_the_tree_are_named():
    with pytest.raises(DiskretError, match=r"2 of 3 values of 'x' are not in the tree \('b', 'c'"):
        raised(coded(column(["a", "b", "c"]), "x"), Hierarchy.flat(["a"]), 0)


# ── classes ─────────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(-30, 130), min_size=1), st.booleans())
def test_every_value_lies_in_the_class_it_is_put_into(values, right):
    breaks = [-INFINITE, 0, 20, 65, 80, INFINITE]
    names = ["a", "b", "c", "d", "e"]
    made = classed(column(values), "age", breaks, names, right).to_pylist()
    for value, name in zip(values, made, strict=True):
        low, high = breaks[names.index(name)], breaks[names.index(name) + 1]
        assert (low < value <= high) if right else (low <= value < high)


def test_classes_of_text_that_are_numbers():
    assert classed(column(["7", None, "12"]), "x", [0, 10, 20]).to_pylist() == [
        "0-9",
        None,
        "10-19",
    ]


def test_nan_is_missing():
    assert classed(column([1.5, float("nan")]), "x", [0, 1, 2]).to_pylist() == ["1 to < 2", None]


def test_values_outside_all_classes_are_named():
    with pytest.raises(DiskretError, match=r"3 values of 'age' lie outside the classes \(-1, 80\)"):
        classed(column([80, -1, 5, 80]), "age", [0, 40, 80])
    with pytest.raises(DiskretError, match=r"1 value of 'age' .*\(0\)"):
        classed(column([80, 0]), "age", [0, 40, 80], right=True)


@pytest.mark.parametrize("breaks", [[1], [1, 1], [2, 1], [1, float("nan")]])
def test_breaks_ascend(breaks):
    with pytest.raises(DiskretError, match="ascending"):
        classed(column([1]), "x", breaks)


@pytest.mark.parametrize("labels", [["a"], ["a", "a"]])
def test_each_class_has_a_label_of_its_own(labels):
    with pytest.raises(DiskretError, match="2 different names"):
        classed(column([1]), "x", [0, 1, 2], labels)


def test_text_is_no_number():
    with pytest.raises(DiskretError, match="'job' are not numbers"):
        classed(column(["cook"]), "job", [0, 1])


@given(
    st.lists(st.integers(1, 1000), min_size=2).filter(lambda v: min(v) < max(v)),
    st.sampled_from(["equal_width", "equal_log", "equal_number"]),
    st.integers(2, 6),
    st.booleans(),
)
def test_chosen_classes_hold_every_value_and_tell_no_end(values, method, classes, right):
    breaks = chosen_breaks(column(values), "x", method, classes, right)
    assert breaks[0] == -INFINITE and breaks[-1] == INFINITE
    assert 2 <= len(breaks) <= classes + 1
    assert len(classed(column(values), "x", breaks, right=right)) == len(values)


def test_classes_with_equal_numbers():
    breaks = chosen_breaks(column(list(range(100))), "x", "equal_number", 4)
    made = classed(column(list(range(100))), "x", breaks).to_pylist()
    assert breaks == [-INFINITE, 25, 50, 75, INFINITE]
    assert [made.count(name) for name in dict.fromkeys(made)] == [25] * 4
    assert chosen_breaks(column([1, 1, 1, 2]), "x", "equal_number", 3) == [-INFINITE, 2, INFINITE]
    assert chosen_breaks(column(list(range(4))), "x", "equal_number", 2, True) == [
        -INFINITE,
        1,
        INFINITE,
    ]


@given(st.lists(st.floats(-1e6, 1e9), min_size=4, unique=True), st.integers(2, 4), st.booleans())
def test_short_breaks_do_not_move_the_limits_of_equal_numbers(values, classes, right):
    breaks = chosen_breaks(column(values), "x", "equal_number", classes, right)
    names = [str(i) for i in range(len(breaks) - 1)]
    made = classed(column(values), "x", breaks, names, right).to_pylist()
    numbers = [made.count(name) for name in names]
    assert len(numbers) == classes and max(numbers) - min(numbers) <= 1


def test_chosen_breaks_are_rounded():
    incomes = column([1234.56, 9876.54, 5000.0, 1e9])
    assert chosen_breaks(incomes, "x", "equal_number", 2) == [-INFINITE, 9000, INFINITE]
    incomes = column([1234.56, 9876.54, 5000.0])
    assert chosen_breaks(incomes, "x", "equal_width", 3) == [-INFINITE, 4120, 7000, INFINITE]


@pytest.mark.parametrize(
    ("values", "method", "classes", "message"),
    [
        ([1, 2], "equal", 2, "method= must be"),
        ([1, 2], "equal_width", 1, "classes= must be a whole number from 2"),
        ([1, 1], "equal_width", 2, "fewer than two different values"),
        ([0, -1, 2], "equal_log", 2, "2 values of 'x' are not above 0"),
    ],
)
def test_classes_cannot_be_chosen(values, method, classes, message):
    with pytest.raises(DiskretError, match=message):
        chosen_breaks(column(values), "x", method, classes)


# ── ends ────────────────────────────────────────────────────────────────────────────


def test_ends_keep_numbers_numbers():
    assert ended(column([1, 5, 9, None]), "x", (7, 7), (2, 2)).to_pylist() == [2, 5, 7, None]
    made = ended(column([1, 9], pa.int16()), "x", (7, 8.5))
    assert made.type == pa.float64() and made.to_pylist() == [1.0, 8.5]
    assert ended(column([1.25, 9.5]), "x", (7, 7)).to_pylist() == [1.25, 7.0]


def test_whole_numbers_with_gaps_are_written_plainly():
    values = column([31.0, 90.0, float("nan")])
    assert ended(values, "age", (80, "≥ 80")).to_pylist() == ["31", "≥ 80", None]


def test_text_of_numbers_is_compared_as_numbers():
    assert ended(column(["9", "10", "11"]), "x", (10, 10)).to_pylist() == ["9", "10", "10"]


def test_categories_end_in_their_order():
    made = ended(column(["E", "C", None, "A"]), "x", ("C", "C+"), order=["E", "C", "A"])
    assert made.to_pylist() == ["E", "C+", None, "C+"]
    with pytest.raises(DiskretError, match="no order of its own"):
        ended(column(["A", "C", None, "E"]), "x", ("C", "C+"))
    with pytest.raises(DiskretError, match="value 'B' of 'x' does not stand in its order"):
        ended(column(["A", "C"]), "x", ("B", "B"), order=["A", "C"])
    with pytest.raises(DiskretError, match="cannot end at the text"):
        ended(column([1, 2]), "x", ("C", "C"))


def test_ends_that_cross_or_reach_nothing_are_refused():
    with pytest.raises(DiskretError, match="bottom=5 must lie below top=5"):
        ended(column([1, 9]), "x", (5, 5), (5, 5))
    with pytest.raises(DiskretError, match="no value of 'x' lies at top=10"):
        ended(column([1, 9]), "x", (10, 10))


# ── rounding ────────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(1, 1000))
def test_rounding_moves_by_half_a_width_at_most(values, width):
    made = rounded(column(values), "x", width)
    assert made.type == pa.int64()
    for before, after in zip(values, made.to_pylist(), strict=True):
        assert (
            after % width == 0
            and -width < 2 * (before - after) < width
            or (after - before) * 2 == width
        )


def test_coordinates_have_the_decimals_of_the_width():
    made = rounded(column([11.57549, float("nan"), -0.004]), "lon", 0.01).to_pylist()
    assert made == [11.58, None, 0.0]
    assert rounded(column(["13", None]), "x", 5).to_pylist() == ["15", None]
    assert rounded(column([3], pa.int8()), "x", 0.5).to_pylist() == [3.0]
    assert str(rounded(column([-0.004]), "x", 0.01)[0]) == "0.0"


def test_a_rounded_number_may_need_a_larger_type():
    assert rounded(column([127, 3], pa.int8()), "x", 5).to_pylist() == [125, 5]
    assert rounded(column([127, 3], pa.int8()), "x", 10).to_pylist() == [130, 0]
    assert rounded(column([120, 3], pa.int8()), "x", 5).type == pa.int8()


@pytest.mark.parametrize("width", [0, -1, INFINITE, True, "5"])
def test_widths_are_above_0(width):
    with pytest.raises(DiskretError, match="width= must be a number above 0"):
        rounded(column([1]), "x", width)


# ── dates ───────────────────────────────────────────────────────────────────────────


@given(st.dates(date(1900, 1, 1), date(2030, 12, 31)), st.dates(date(2031, 1, 1), date(2040, 1, 1)))
def test_ages_are_completed_years(born, then):
    age = shortened(column([born]), "born", "age", then.isoformat()).to_pylist()[0]

    def birthday(years):  # a birthday on 29 February is reached on 1 March of other years
        try:
            return born.replace(year=born.year + years)
        except ValueError:
            return date(born.year + years, 3, 1)

    assert birthday(age) <= then < birthday(age + 1)


def test_periods_of_dates_times_and_text():
    values = column([datetime(2024, 12, 31, 23, 59), None])
    assert shortened(values, "x", "month").to_pylist() == ["2024-12", None]
    assert shortened(values, "x", "quarter").to_pylist() == ["2024-Q4", None]
    assert shortened(values, "x", "year").to_pylist() == [2024, None]
    assert shortened(column(["2024-02-29"]), "x", "month").to_pylist() == ["2024-02"]


@pytest.mark.parametrize(
    ("values", "period", "at", "message"),
    [
        (["x"], "month", None, "text that is no date"),
        ([1], "month", None, "holds no dates"),
        (["2024-01-01"], "week", None, "period= must be"),
        (["2024-01-01"], "age", None, "give it as at="),
        (["2024-01-01"], "month", "2024-01-01", "for period='age' only"),
        (["2024-01-01"], "age", "2023-12-31", "1 date in 'x' lies after"),
    ],
)
def test_dates_that_cannot_be_shortened(values, period, at, message):
    with pytest.raises(DiskretError, match=message):
        shortened(column(values), "x", period, at)


def test_large_numbers_are_not_rounded_in_secret():
    with pytest.raises(DiskretError, match="not numbers"):
        rounded(column(np.array([2**60 + 1])), "x", 10)
