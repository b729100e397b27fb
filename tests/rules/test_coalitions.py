"""Coalitions: n contributors who pool what they know estimate better than one."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError
from diskret.rules import PQ, PPercent
from diskret.tables import Table

COLUMNS = ["x1", "x2", "x3", "x4"]


def one_cell(contributions):
    top = [*sorted(contributions, reverse=True), 0, 0, 0, 0]
    frame = pa.table({"b": ["A"], "v": [sum(contributions)]} | {c: [top[i]] for i, c in
                      enumerate(COLUMNS)})  # fmt: skip
    return Table.from_cells(frame, by={"b": None}, value="v", largest=COLUMNS)


def test_two_know_what_one_does_not():
    # 100 is hidden behind 30 from one, behind 4 from two
    cell = one_cell([100, 50, 26, 4])
    assert not PPercent(10)(cell).unsafe[1]
    sensitivity = PPercent(10, coalition=2)(cell)
    assert sensitivity.unsafe[1]
    assert (sensitivity.lower[1], sensitivity.upper[1]) == (6, 6)


def test_the_bound_itself_is_safe():
    assert not PPercent(10, coalition=2)(one_cell([100, 50, 26, 10])).unsafe[1]
    assert PPercent(10, coalition=2)(one_cell([100, 50, 26, 9])).unsafe[1]


@given(
    st.lists(st.integers(0, 10**12), max_size=7),
    st.integers(1, 3),
    st.integers(1, 99),
    st.integers(1, 99),
)
def test_it_judges_and_protects_as_defined(contributions, n, p, q):
    p, q = sorted((p, q if q != p else q + 1))
    x = [*sorted(contributions, reverse=True), 0, 0, 0, 0]
    rest = sum(x) - sum(x[: n + 1])
    cell = one_cell(contributions)
    for rule, share in (
        (PPercent(p, coalition=n), Fraction(p, 100)),
        (PQ(p, q, coalition=n), Fraction(p, q)),
    ):
        need = share * x[0] - rest
        sensitivity = rule(cell)
        assert sensitivity.unsafe[1] == (need > 0)
        if need > 0:
            level = -(-need.numerator // need.denominator)
            assert sensitivity.upper[1] == level
            assert sensitivity.lower[1] == min(level, sum(x))


@given(st.lists(st.integers(0, 10**6), max_size=6), st.integers(1, 2), st.integers(1, 99))
def test_a_larger_coalition_asks_for_no_less(contributions, n, p):
    cell = one_cell(contributions)
    small, large = (PPercent(p, coalition=m)(cell) for m in (n, n + 1))
    assert not (small.unsafe & ~large.unsafe).any()
    assert (small.upper <= large.upper).all()


def test_one_is_the_rule_without_a_coalition():
    cell = one_cell([100, 60, 3])
    assert PPercent(10, coalition=1) == PPercent(10)
    assert PPercent(10).largest == 2
    assert PPercent(10)(cell).upper[1] == 7


def test_tabulate_is_told_how_many_contributions_are_needed():
    records = pa.table({"b": ["A"] * 4, "v": [100, 50, 26, 4]})
    rule = PPercent(10, coalition=3)
    assert rule.largest == 4
    with pytest.raises(InputError, match="looks at the largest contributions.*use largest=4"):
        rule(dk.tabulate(records, by={"b": None}, value="v", largest=3))
    table = dk.tabulate(records, by={"b": None}, value="v", largest=rule.largest)
    assert rule(table).unsafe.all()


@pytest.mark.parametrize("coalition", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("make", [PPercent, lambda p, **k: PQ(p, 50, **k)])
def test_a_coalition_of_nobody_is_refused(make, coalition):
    with pytest.raises(InputError, match="coalition= must be a whole number from 1 upwards"):
        make(10, coalition=coalition)
