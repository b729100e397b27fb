"""The pq rule: p/q in the place of p/100, exactly."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError
from diskret.rules import PQ, PPercent
from diskret.tables import Table


def one_cell(contributions, decimals=0):
    top = sorted(contributions, reverse=True) + [0, 0]
    frame = pa.table({"branch": ["A"], "v": [sum(contributions)], "x1": top[:1], "x2": top[1:2]})
    return Table.from_cells(
        frame, by={"branch": None}, value="v", largest=["x1", "x2"], decimals=decimals
    )


def test_who_knows_half_of_it_must_not_learn_a_tenth():
    # the remainder 40 is what 20 % of 200 ask for: safe; one less: unsafe
    assert not PQ(10, 50)(one_cell([200, 50, 40])).unsafe[1]
    sensitivity = PQ(10, 50)(one_cell([200, 50, 39]))
    assert sensitivity.unsafe[1]
    assert (sensitivity.lower[1], sensitivity.upper[1]) == (1, 1)
    assert sensitivity.reasons == ("pq",)


def test_a_third_is_not_rounded():
    # 10/30 of 300 is exactly 100
    assert not PQ(10, 30)(one_cell([300, 200, 100])).unsafe[1]
    assert PQ(10, 30)(one_cell([301, 200, 100])).unsafe[1]


@given(
    st.lists(st.integers(0, 10**12), max_size=6),
    st.integers(10, 998),
    st.integers(10, 1000),
)
def test_it_judges_and_protects_as_defined(contributions, p, q):
    p, q = sorted((p, q if q != p else q + 1))
    x = sorted(contributions, reverse=True) + [0, 0]
    need = Fraction(p, q) * x[0] - (sum(x) - x[0] - x[1])
    sensitivity = PQ(p / 10, q / 10)(one_cell(contributions))
    assert sensitivity.unsafe[1] == (need > 0)
    if need > 0:
        level = -(-need.numerator // need.denominator)
        assert sensitivity.upper[1] == level
        assert sensitivity.lower[1] == min(level, sum(x))


@given(st.lists(st.integers(0, 10**6), max_size=5), st.integers(1, 99))
def test_no_prior_knowledge_is_the_p_percent_rule(contributions, p):
    table = one_cell(contributions)
    ours, theirs = PQ(p, 100)(table), PPercent(p)(table)
    assert ours.unsafe.tolist() == theirs.unsafe.tolist()
    assert ours.upper.tolist() == theirs.upper.tolist()


def test_minimum_level_is_in_published_units():
    table = one_cell([1000, 400, 99], decimals=2)  # 10.00, 4.00, 0.99 are too small
    assert PQ(5, 50, minimum_level=3)(table).upper[1] == 300


def test_it_is_shown_before_minimum_frequency():
    frame = pa.table({"branch": ["A"], "v": [9], "n": [2], "x1": [8], "x2": [1]})
    table = Table.from_cells(frame, by={"branch": None}, value="v", count="n", largest=["x1", "x2"])
    joined = (dk.rules.MinimumFrequency(3) | PQ(5, 50))(table)
    assert joined.reasons[joined.reason[1]] == "pq"


def test_a_table_is_protected_by_it():
    frame = pa.table({"b": ["A", "B", "C"], "v": [460, 900, 800], "x1": [400, 300, 300],
                      "x2": [35, 300, 300]})  # fmt: skip
    table = Table.from_cells(frame, by={"b": None}, value="v", largest=["x1", "x2"])
    result = dk.suppress(table, PQ(10, 50))  # 80 − 25 = 55 for A
    hidden = {c["b"]: c for c in dk.attack.intervals(result.published).to_pylist()}
    assert hidden["A"]["lower"] <= 460 - 55
    assert hidden["A"]["upper"] >= 460 + 55


def counted():
    return Table.from_cells(pa.table({"b": ["A"], "n": [1]}), by={"b": None}, count="n")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: PQ(0, 50), "p= must be"),
        (lambda: PQ(5, 0), "q= must be"),
        (lambda: PQ(5, 101), "q= must be .*to 100"),
        (lambda: PQ(50, 5), "p must be below q"),
        (lambda: PQ(5, 5), "p must be below q"),
        (lambda: PQ(5, 50, minimum_level=-1), "minimum_level"),
        (lambda: PQ(5, 50)(counted()), "the pq rule judges sums"),
    ],
)
def test_bad_parameters_are_named(make, what):
    with pytest.raises(InputError, match=what):
        make()
