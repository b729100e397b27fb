"""Sums of cells are judged as a cell with the same contributors would be."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from diskret.errors import InputError
from diskret.rules import (
    PQ,
    Apriori,
    Dominance,
    GroupDisclosure,
    MarginalValue,
    MinimumFrequency,
    MissingSafe,
    PPercent,
    Shadow,
    ZeroCells,
)
from diskret.rules.unions import against, judge_unions, rules_for_unions
from diskret.tables import Table
from diskret.tables.unions import union_table

RULES = [
    MinimumFrequency(3),
    PPercent(10),
    PQ(10, 50),
    PPercent(10, coalition=2),
    Dominance(3, 70),
    ZeroCells(1),
    PPercent(10) | MinimumFrequency(4),
    Shadow(PPercent(10), "value"),
]


def a_table(cells, codes=None, kept=5):
    """A table of flat cells, each a list of contributions."""
    top = [sorted(cell, reverse=True)[:kept] for cell in cells]
    columns = {f"x{i}": [each[i] if i < len(each) else 0 for each in top] for i in range(kept)}
    frame = pa.table(
        {
            "code": codes or [f"{i:02}" for i in range(len(cells))],
            "firms": [len(cell) for cell in cells],
            "value": [sum(cell) for cell in cells],
            **columns,
        }
    )
    return Table.from_cells(
        frame,
        by={"code": None},
        total={"code": "Total"},  # a union may well be the sum of others
        value="value",
        count="firms",
        largest=list(columns),
    )


def pick(table, *sets):
    member = np.zeros((len(sets), int(np.prod(table.shape))), dtype=np.int64)
    for row, cells in enumerate(sets):
        member[row, list(cells)] = 1
    return sparse.csr_array(member)


contributions = st.lists(st.integers(0, 40), max_size=5)


@given(st.lists(contributions, min_size=2, max_size=4), st.integers(1, 3), st.sampled_from(RULES))
def test_a_union_is_judged_as_the_cell_it_would_be(cells, coalition, rule):
    table = a_table(cells)
    sets = [(1, 2), tuple(range(1, len(cells) + 1)), (2,)]
    wanted = [[x for i in cells_of for x in cells[i - 1]] for cells_of in sets]
    found = judge_unions(rule, union_table(table, pick(table, *sets)), coalition)
    alone = against(rule, coalition)(a_table(wanted))
    for name in ("unsafe", "lower", "upper", "sliding"):
        assert getattr(found, name)[1:].tolist() == getattr(alone, name)[1:].tolist(), name
    assert not found.unsafe[0]


def test_cells_that_are_safe_alone_can_be_unsafe_together():
    table = a_table([[40, 20, 20], [4000, 2000, 1900], [1]])
    rule = PPercent(10) | MinimumFrequency(3)
    assert not rule(table).unsafe[1:3].any()
    # beside the large ones, what three small firms have hides nobody
    found = judge_unions(PPercent(60), union_table(table, pick(table, (1, 2))))
    assert found.unsafe.tolist() == [False, True]
    assert found.upper.tolist() == [0, 2400 - 1980]


def test_a_coalition_can_take_more_of_itself_out():
    table = a_table([[1, 1], [1, 1]])
    unions = union_table(table, pick(table, (1, 2)))
    assert not judge_unions(MinimumFrequency(3), unions, 2).unsafe[1]
    assert judge_unions(MinimumFrequency(3), unions, 3).unsafe[1]


def test_nobody_is_safe():
    table = a_table([[], []])
    rule = MinimumFrequency(3) | PPercent(10) | ZeroCells(1)
    assert not judge_unions(rule, union_table(table, pick(table, (1, 2), ()))).unsafe.any()


def test_rules_about_neighbours_codes_and_single_cells_are_left_out():
    entries = pa.table({"code": ["00"], "status": ["safe"], "reason": ["consent"], "who": ["me"],
                        "date": ["2025-01-31"]})  # fmt: skip
    aside = [
        GroupDisclosure(90),
        MarginalValue(1),
        MissingSafe({"code": ["00"]}),
        Apriori(entries),
    ]
    rule = MinimumFrequency(3) | aside[0] | aside[1] | aside[2] | aside[3] | Dominance(3, 70)
    used, left = rules_for_unions(rule)
    assert used == (Dominance(3, 70), MinimumFrequency(3))
    assert set(map(id, left)) == set(map(id, aside))
    # safe by hand as a cell, but the sum is no matter of that decision
    table = a_table([[1], [1]])
    assert judge_unions(rule, union_table(table, pick(table, (1, 2)))).unsafe[1]


def test_with_no_rule_for_unions_all_are_safe():
    table = a_table([[1], [1]])
    found = judge_unions(MarginalValue(1), union_table(table, pick(table, (1, 2))))
    assert not found.unsafe.any()
    assert found.safe is not None
    assert not found.safe.any()


def test_a_shadow_is_taken_apart():
    used, left = rules_for_unions(Shadow(GroupDisclosure(90) | PPercent(5), "value"))
    assert used == (Shadow(PPercent(5), "value"),)
    assert left == (Shadow(GroupDisclosure(90), "value"),)


def test_a_rule_of_ones_own_can_say_that_it_judges_unions():
    @dataclass(frozen=True)
    class AtLeastThree:
        judges_unions: bool
        largest = 0

        def __call__(self, table):
            return MinimumFrequency(3)(table)

    table = a_table([[1], [1]])
    unions = union_table(table, pick(table, (1, 2)))
    assert judge_unions(AtLeastThree(True), unions).unsafe[1]
    assert not judge_unions(AtLeastThree(False), unions).unsafe[1]
    assert against(AtLeastThree(True), 3) == AtLeastThree(True)


def test_against_says_how_many_largest_are_needed():
    assert against(PPercent(5), 3).largest == 4
    assert against(PPercent(5, coalition=4), 3).largest == 5
    assert against(Shadow(PPercent(5) | MinimumFrequency(3), "value"), 2).largest == 3
    assert against(Dominance(3, 70), 2) == Dominance(3, 70)
    with pytest.raises(InputError, match="coalition is a whole number"):
        against(PPercent(5), 0)
