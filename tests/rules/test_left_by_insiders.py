"""What contributors leave over, computed from contributors one by one, as it is defined."""

import random as randoms
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import diskret as dk
from diskret.rules import (
    Apriori,
    Dominance,
    GroupDisclosure,
    MinimumFrequency,
    PPercent,
    Shadow,
    Varying,
)
from diskret.rules.insiders import Known, by_hand, for_insiders, judged_by, largest_coalition
from diskret.tables.shares import Shares
from diskret.tables.unions import union_table


@dataclass(frozen=True)
class Someone:
    """A contributor to a set of cells."""

    who: int
    value: int
    protected: bool
    asked: bool

    @property
    def size(self):
        return abs(self.value)


def drawn(random):
    """Sets of contributors, and what each holds of those who are not listed: number and size."""
    names = random.choice([[2], [2, 4, 6, 8, 10]])
    sets = []
    for _ in range(random.randint(1, 3)):
        who = random.sample(names, random.randint(0, len(names)))
        some = [
            Someone(one, random.randint(-9, 9), random.random() < 0.6, random.random() < 0.3)
            for one in sorted(who)
        ]
        sets.append((some, random.choice([0, 0, 1, 2, -1]), random.randint(0, 5)))
    return sets


def known(sets, kept):
    flat = [(at, one) for at, (some, _, _) in enumerate(sets) for one in some]
    columns = [[getattr(one, name) for _, one in flat] for name in Someone.__annotations__]
    kinds = (np.uint64, np.int64, bool, bool)
    who, value, protected, asked = map(np.array, columns, kinds)
    number = [-1 if more < 0 else len(some) + more for some, more, _ in sets]
    size = [sum(one.size for one in some) + rest for some, _, rest in sets]
    listed = np.array([at for at, _ in flat], dtype=np.int64)
    return Known(
        Shares(listed, who, value, protected, asked, np.array(number), np.array(size)),
        False,
        2,
        kept,
    )


@pytest.mark.parametrize("kept", [1, 3])
def test_what_is_left_is_what_others_have(kept):
    for seed in range(80):
        random = randoms.Random(seed)
        sets = drawn(random)
        asked_of = [random.randrange(len(sets)) for _ in range(4)]
        # numbers that nobody has, too, in front of, between and behind the others
        groups = [random.sample(range(0, 14), 3) for _ in asked_of]
        used = [[random.random() < 0.7 for _ in range(3)] for _ in asked_of]
        at, who, mask = np.array(asked_of), np.array(groups, dtype=np.uint64), np.array(used)
        found = known(sets, kept)
        left, is_open = found.left(at, who, mask), found.open(at, who, mask)
        assert (left.frequency, left.decimals) == (False, 2)
        for q, place in enumerate(asked_of):
            some, more, rest = sets[place]
            coalition = {one for one, is_used in zip(groups[q], used[q], strict=True) if is_used}
            outside = [one for one in some if one.who not in coalition]
            inside = [one for one in some if one.who in coalition]
            largest = max((one.size for one in outside if one.protected), default=0)
            top = sorted((one.size for one in outside), reverse=True) + [0] * kept
            assert left.largest[q] == largest
            assert left.inside[q] == sum(one.size for one in inside)
            assert left.rest[q] == sum(one.size for one in outside) + rest - largest
            assert left.members[q] == len(inside)
            assert left.top[q].tolist() == top[:kept]
            assert left.asked[q] == any(one.asked for one in outside)
            assert is_open[q] == (more != 0 or any(one.protected for one in outside))


def test_of_more_decimals_all_amounts_are_told_and_nothing_else():
    some = [Someone(1, 7, True, True), Someone(2, 5, True, False), Someone(3, 2, True, False)]
    at, who = np.array([0]), np.array([[2]], dtype=np.uint64)
    left = known([(some, 0, 4)], 2).left(at, who, who > 0).times(100, 4)
    assert (left.largest, left.rest, left.inside, left.members) == (700, 600, 500, 1)
    assert left.top.tolist() == [[700, 200]] and left.asked and left.decimals == 4


# ── rules ───────────────────────────────────────────────────────────────────────────

#: Of a region: a has most of the employees, c most of the investment.
FIRMS = pa.table(
    {
        "region": ["N"] * 3 + ["S"],
        "firm": [*"abcd"],
        "staff": [80, 15, 5, 9],
        "sales": [1, 9, 690, 50],
    }
)


def asked(rule, decimals=0):
    """Each rule, what it asks of N and of S: against nobody, and against each of the firms."""
    table = dk.tabulate(
        FIRMS, by={"region": None}, value=["sales", "staff"], unit="firm", contributions=True,
        decimals={"sales": decimals, "staff": 0},
    )["sales"]  # fmt: skip
    member = sparse.csr_array(np.eye(3, dtype=np.int64)[1:])
    names = table.contributions.unit
    values = table.contributions.values["sales"].tolist()
    who = [0, *(names[values.index(one * 10**decimals)] for one in FIRMS["sales"].to_pylist())]
    group, used = np.array(who, dtype=np.uint64)[:, None], np.array([[False], *[[True]] * 4])
    return {
        type(one.rule).__name__: [one.level(np.full(5, at), group, used).tolist() for at in (0, 1)]
        for one in judged_by(rule, table, union_table(table, member), member)
    }


def test_each_firm_leaves_what_the_others_have():
    rule = PPercent(10) | MinimumFrequency(4, range=10) | Dominance(2, 80, quiet=True)
    assert asked(rule) == {
        # 10 % of 690 less the 10 of others, or less the 9 or the 1 that a or b leaves; without c
        # 10 % of 9 less 1. Of S only d has something
        "PPercent": [[59, 60, 68, 0, 59], [5, 5, 5, 5, 0]],
        # 10 % of what is not theirs, at least one unit
        "MinimumFrequency": [[70, 70, 70, 1, 70], [5, 5, 5, 5, 1]],
        # the largest two, one of them the firm itself: 699, with a 691, of 80 %, less the 700
        "Dominance": [[174, 164, 174, 174, 174], [13] * 5],
    }
    # with one largest only nobody else is estimated by a firm of the region
    assert asked(Dominance(1, 90, quiet=True)) == {"Dominance": [[67, 0, 0, 0, 67], [6] * 4 + [0]]}


def test_the_level_by_a_shadow_is_the_same_share_of_what_is_published():
    # 16 of 100 employees less 20, less 20 of whom 80 is not, less 5 without b, less 15 without c
    assert asked(Shadow(PPercent(20), "staff")) == {
        "PPercent": [[0, 0, 77, 7, 0], [10, 10, 10, 10, 0]]
    }
    # of 100, 20, 85 and 95 employees a tenth, of 9 the same; nobody's tenth is one unit of sales
    assert asked(Shadow(MinimumFrequency(4, range=10), "staff")) == {
        "MinimumFrequency": [[70, 14, 60, 67, 70], [5, 5, 5, 5, 1]]
    }


def test_the_smallest_level_by_a_shadow_is_in_its_units():
    rule = Shadow(PPercent(20, minimum_level=3), "staff")
    # c leaves 1 of 100 employees, which becomes 3; of the 9 in S they are a third
    assert asked(rule) == {"PPercent": [[0, 0, 77, 21, 0], [17, 17, 17, 17, 0]]}
    levels = [[0, 0, 7700, 2100, 0], [1667, 1667, 1667, 1667, 0]]
    assert asked(rule, decimals=2) == {"PPercent": levels}


def test_a_rule_asks_where_it_holds_and_by_what_it_looks_at():
    rule = Varying("region", {"S": Shadow(PPercent(20), "staff"), "*": None})
    assert asked(rule) == {"PPercent": [[0] * 5, [10, 10, 10, 10, 0]]}
    rule = Shadow(Varying("region", {"N": PPercent(20), "*": None}), "staff")
    assert asked(rule) == {"PPercent": [[0, 0, 77, 7, 0], [0] * 5]}


def test_rules_that_judge_no_unions_ask_nothing():
    assert asked(GroupDisclosure(90)) == {}
    table = dk.tabulate(FIRMS, by={"region": None}, value="sales", unit="firm", largest=2)
    unions = union_table(table, sparse.csr_array(np.eye(3, dtype=np.int64)))
    (told,) = for_insiders(GroupDisclosure(90) | MinimumFrequency(2), unions)
    rule, unsafe, held, shadow = told
    assert (rule, shadow) == (MinimumFrequency(2), "")
    assert unsafe.tolist() == [False, False, True] and held.tolist() == [True] * 3


def test_the_largest_coalition_is_the_attackers_or_a_rules():
    rule = Shadow(PPercent(10, coalition=3), "staff") | MinimumFrequency(3)
    assert [largest_coalition(rule, m) for m in (1, 3, 5)] == [3, 3, 5]
    assert largest_coalition(MinimumFrequency(3), 1) == 1


def test_levels_by_hand_are_the_largest_of_all_lists():
    table = dk.tabulate(FIRMS, by={"region": None}, value="sales", unit="firm", largest=2)

    def given(lower, upper):
        row = {"region": "N", "status": "unsafe", "lower": lower, "upper": upper}
        row |= {"who": "clerk", "date": "2025-12-31", "reason": "asked"}
        return Apriori(pa.Table.from_pylist([row]))

    rule = given(30.0, 4.0) | PPercent(10) | given(20.0, 8.0)
    limits = by_hand(rule, table)
    assert limits is not None
    lower, upper = limits
    assert lower.tolist() == [0, 30, 0] and upper.tolist() == [0, 8, 0]
    assert by_hand(PPercent(10), table) is None
