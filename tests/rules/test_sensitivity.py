"""What rules say, alone and joined: levels, reasons, and what noise has to do."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.rules import (
    Apriori,
    GroupDisclosure,
    MarginalValue,
    MinimumFrequency,
    MissingSafe,
    NoRule,
    PPercent,
)
from diskret.rules.sensitivity import Sensitivity
from diskret.tables import Table

#: Four firms in a, two in b.
FIRMS = {"c": [*"aaaabb"], "v": [100, 40, 5, 3, 60, 50], "firm": [*range(6)]}


@pytest.fixture
def table():
    return dk.tabulate(pa.table(FIRMS), by={"c": None}, value="v", unit="firm")


def said(unsafe, lower, upper, reason, reasons=("own",)):
    return Sensitivity(unsafe, lower, upper, [int(one) for one in unsafe], reason, reasons)


# ── one alone ───────────────────────────────────────────────────────────────────────


def test_lists_become_arrays_of_their_kinds():
    one = said([True, False], [3, 0], [4, 0], [0, -1], ["own"])
    assert one.unsafe.dtype == np.bool_ and one.lower.dtype == np.int64
    assert one.reason.dtype == np.int8 and one.reasons == ("own",)
    joined = one | said([False, True], [0, 5], [0, 0], [-1, 0], ["other"])
    assert joined.lower.tolist() == [3, 5] and joined.reason.tolist() == [0, 1]


def test_levels_are_nothing_where_a_cell_is_safe(table):
    found = PPercent(10)(table)
    # a: 10 less the 8 of the smallest two; the total has 98 beside its largest two
    assert found.unsafe.tolist() == [False, True, True]
    assert found.upper.tolist() == [0, 2, 6] == found.lower.tolist()
    assert found.sliding.tolist() == [0, 1, 1]
    assert found.below.tolist() == [0, 2 + 2 * 8, 6]
    found = GroupDisclosure(57, range=10)(table)
    assert found.unsafe.tolist() == [False, True, False], "4 of 6 firms"
    assert found.lower.tolist() == [0, 15, 0] and found.upper.tolist() == [0, 0, 0]


def test_the_lower_level_is_cut_where_nothing_can_be_negative():
    for values, lower in (([3, 2], 5), ([3, -2], 10)):
        frame = pa.table({"c": ["a", "a"], "v": values})
        table = dk.tabulate(frame, by={"c": None}, value="v")
        found = MinimumFrequency(3, range=200)(table)
        assert (found.lower[1], found.upper[1]) == (lower, 10), "200 % of 3 + 2"


def test_noise_goes_as_far_as_the_larger_of_both_levels_and_nowhere_else(table):
    found = GroupDisclosure(57, range=10)(table)
    assert found.noise_above.tolist() == [0, 15, 0] == found.noise_below.tolist()
    nothing = said([True, False], [0, 7], [0, 9], [0, -1])
    assert nothing.noise_above.tolist() == [0, 0] == nothing.noise_below.tolist()


def test_rules_of_groups_are_known_whatever_they_find(table):
    for rule, groups in (
        (GroupDisclosure(100), True),
        (MarginalValue(0), True),
        (PPercent(10), False),
        (MinimumFrequency(3) | MarginalValue(0), True),
    ):
        assert rule(table).looks_for_groups == groups


def test_no_rule_finds_nothing_and_keeps_others_from_nothing(table):
    found = NoRule()(table)
    for array in (found.unsafe, found.lower, found.upper, found.sliding, found.safe):
        assert not array.any()
    assert found.reason.tolist() == [-1, -1, -1] and found.reasons == ()
    assert (NoRule() | MinimumFrequency(3))(table).unsafe.tolist() == [False, False, True]


def test_a_rule_that_counts_needs_no_contributions():
    cells = pa.table({"c": ["a"], "n": [2]})
    table = Table.from_cells(cells, by={"c": None}, count="n")
    assert MinimumFrequency(3).largest == 0 == MarginalValue().largest
    assert MinimumFrequency(3)(table).unsafe.all()


# ── joined ──────────────────────────────────────────────────────────────────────────


def test_a_reason_is_the_first_and_each_stands_there_once(table):
    joined = MinimumFrequency(3)(table) | PPercent(10)(table) | MinimumFrequency(4)(table)
    assert joined.reasons == ("minimum_frequency", "p_percent")
    assert joined.reason.tolist() == [-1, 1, 0]
    assert joined.sliding.tolist() == [0, 1, 1]


def test_noise_does_what_the_stricter_rule_asks(table):
    joined = PPercent(10)(table) | MinimumFrequency(5)(table)
    # a: 10 % of 148 is 14.8; p% asks for 2, and for twice the 8 that nobody estimates
    assert joined.noise_above.tolist() == [0, 15, 11]
    assert joined.noise_below.tolist() == [0, 2 + 2 * 8, 11]
    spared = joined | MissingSafe({"c": ["a"]})(table)
    assert spared.unsafe.tolist() == [False, False, True]
    for array in (spared.lower, spared.upper, spared.sliding, spared.below):
        assert array[:2].tolist() == [0, 0] and array[2] > 0
    assert spared.reason.tolist() == [-1, -1, 0]


def test_one_rule_that_lets_zeros_hide_is_enough(table):
    groups, others = GroupDisclosure(57)(table), PPercent(10)(table)
    assert groups.zeros_may_hide and not others.zeros_may_hide
    assert (groups | others).zeros_may_hide and (others | groups).zeros_may_hide


def test_two_lists_by_hand_keep_all_their_rows(table):
    row = {"c": "a", "status": "unsafe", "reason": "asked", "who": "clerk", "date": "2025-12-31"}
    one = Apriori(pa.Table.from_pylist([row]))
    other = Apriori(pa.table({"c": ["b"], "cost": [2.0]}))
    joined = (one | other)(table)
    assert joined.entries["c"].to_pylist() == ["a", "b"]
    assert joined.unsafe.tolist() == [False, True, False] and joined.cost[2] == 2
