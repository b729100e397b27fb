"""Rules: the seeds' examples, strictness, exact levels, joining."""

from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.rules import Dominance, MinimumFrequency, PPercent
from diskret.tables import Table


def one_cell(contributions, decimals=0):
    """A table with one inner cell and its total, from the contributions of its units."""
    top = sorted(contributions, reverse=True)[:3] + [0] * 3
    frame = pa.table(
        {"branch": ["A"], "v": [sum(contributions)], "n": [len(contributions)]}
        | {f"x{i}": [top[i]] for i in range(3)}
    )
    return Table.from_cells(
        frame,
        by={"branch": None},
        value="v",
        count="n",
        largest=["x0", "x1", "x2"],
        decimals=decimals,
    )


def unsafe(rule, contributions):
    return bool(rule(one_cell(contributions)).unsafe[1])


LECTURE = [25_000, 400_000, 35_000]  # sum 460,000


def test_lecture_dominance_1_80_suppresses():
    with pytest.warns(UserWarning, match="competitor"):
        rule = Dominance(1, 80)
    assert unsafe(rule, LECTURE)  # 87.0 %


def test_lecture_dominance_2_85_suppresses():
    with pytest.warns(UserWarning, match="obsolete"):
        rule = Dominance(2, 85)
    assert unsafe(rule, LECTURE)  # 94.6 %


def test_lecture_p_5_does_not_suppress():
    assert not unsafe(PPercent(5), LECTURE)  # 25,000 is not below 20,000


def test_rothe_p_10_suppresses():
    contributions = [15_000, 15_000, 200_000]  # sum 230,000: 15,000 < 20,000
    assert unsafe(PPercent(10), contributions)
    level = PPercent(10)(one_cell(contributions)).upper[1]
    assert level == 5_000


def test_minimum_frequency_of_three_is_included_in_p_percent():
    assert unsafe(PPercent(1), [700, 300])
    assert unsafe(PPercent(1), [700])
    assert not unsafe(PPercent(1), [])


@pytest.mark.parametrize(("contributions", "hit"), [([1, 1, 1, 1], False), ([1, 1, 1], True)])
def test_one_to_three_is_minimum_frequency_four(contributions, hit):
    assert unsafe(MinimumFrequency(4), contributions) is hit


def test_minimum_frequency_leaves_empty_cells_alone():
    assert not unsafe(MinimumFrequency(3), [])


def test_p_percent_is_strict():
    # remainder 20 equals 10 % of 200: safe; one less: unsafe
    assert not unsafe(PPercent(10), [200, 50, 20])
    assert unsafe(PPercent(10), [200, 50, 19])


def test_dominance_is_strict():
    assert not unsafe(Dominance(3, 75), [25, 25, 25, 25])
    assert unsafe(Dominance(3, 75), [25, 25, 26, 25])


@given(
    st.lists(st.integers(0, 10**12), max_size=6),
    st.decimals(1, 99, places=1),
    st.integers(1, 100),
)
def test_levels_are_what_the_rule_leaves_open(contributions, p, k):
    table = one_cell(contributions)
    x = sorted(contributions, reverse=True) + [0, 0, 0]
    total = sum(contributions)

    need = Fraction(str(p)) / 100 * x[0] - (total - x[0] - x[1])
    sensitivity = PPercent(float(p))(table)
    assert sensitivity.unsafe[1] == (need > 0)
    if need > 0:
        assert sensitivity.upper[1] == max(1, -(-need.numerator // need.denominator))
        assert sensitivity.lower[1] == min(sensitivity.upper[1], total)

    need = Fraction(100, k) * sum(x[:3]) - total
    sensitivity = Dominance(3, k)(table)
    assert sensitivity.unsafe[1] == (need > 0)
    if need > 0:
        assert sensitivity.upper[1] == max(1, -(-need.numerator // need.denominator))


def test_level_of_counts_is_one_and_of_sums_a_percentage():
    table = one_cell([400, 300])
    assert MinimumFrequency(3, range=20)(table).upper[1] == 140
    counts = MinimumFrequency(3)(table["count"])
    assert (counts.lower[1], counts.upper[1]) == (1, 1)


def test_minimum_level_is_in_published_units():
    table = one_cell([1000, 400, 99], decimals=2)  # 10.00, 4.00, 0.99 are too small
    assert PPercent(10, minimum_level=3)(table).upper[1] == 300


def test_joined_rules_take_the_largest_level_and_show_the_first_reason():
    table = one_cell([15_000, 15_000, 200_000])
    joined = (MinimumFrequency(4, range=50) | PPercent(10))(table)
    assert joined.reasons[joined.reason[1]] == "p_percent"
    assert joined.upper[1] == 115_000
    assert (PPercent(10) | MinimumFrequency(4) | Dominance(3, 70)).largest == 3


def test_joining_sensitivities_keeps_reasons_apart():
    table = one_cell([5, 4])
    a, b = MinimumFrequency(3)(table), PPercent(10)(table)
    both = a | b
    assert both.reasons == ("minimum_frequency", "p_percent")
    assert np.array_equal(both.unsafe, a.unsafe | b.unsafe)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: PPercent(0), "p= must be"),
        (lambda: PPercent(0.05), "p= must be a percentage from 1 upwards .5 for 5 %., not 0.05"),
        (lambda: PPercent(float("nan")), "p= must be"),
        (lambda: PPercent(5, minimum_level=-1), "minimum_level"),
        (lambda: Dominance(0, 80), "n= must be"),
        (lambda: Dominance(3, 101), "to 100"),
        (lambda: MinimumFrequency(1), "n= must be"),
        (lambda: MinimumFrequency(3, range=-5), "range"),
        (lambda: MinimumFrequency(3, of="persons"), "of= must be"),
        (lambda: PPercent(5) | cast(Any, 3), "joined with rules, not with 3"),
        (lambda: PPercent(5) | MinimumFrequency, "joined with rules"),
        (lambda: MinimumFrequency(3, of="holdings")(one_cell([1])), "holding="),
        (lambda: PPercent(5)(one_cell([1])["count"]), "frequency table"),
        (lambda: Dominance(4, 80)(one_cell([1])), "largest=4"),
    ],
)
def test_bad_parameters_are_named(make, what):
    with pytest.raises(InputError, match=what):
        make()
