"""Questions by coarser codes: one cell has one answer, on whatever road it is asked for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from serving import CODES, by_hand, census, people, tabulator

from diskret import Hierarchy
from diskret.errors import InputError
from diskret.serve import Question, Variable
from diskret.serve.answers import Refused
from diskret.serve.journal import _tuples  # pyright: ignore[reportPrivateUsage]
from diskret.serve.question import Family

# leaves on three levels, names that are those of other variables, and codes that are alone in one:
# "x" holds "f" alone, and "y", which "z" is all of, is a second name of the same leaves
TREE = Hierarchy.from_parents(
    {
        "code": ["all", "1", "01", "N", "n", "x", "f", "y", "z", "m", "0", "Total", "a'b"],
        "parent": ["", "all", "1", "1", "01", "all", "x", "all", "y", "z", "z", "all", "01"],
        "label": ["", "One", "", "", "", "", "", "", "", "", "zero", "", ""],
    }
)
LEAVES = ("n", "a'b", "N", "f", "m", "0", "Total")
ABOVE = {
    1: {"n": "1", "a'b": "1", "N": "1", "f": "x", "m": "y", "0": "y", "Total": "Total"},
    2: {"n": "01", "a'b": "01", "N": "N", "f": "f", "m": "z", "0": "z", "Total": "Total"},
    3: {leaf: leaf for leaf in LEAVES},
}
WITHIN = {
    code: {leaf for leaf in LEAVES if code in ("all", leaf, ABOVE[1][leaf], ABOVE[2][leaf])}
    for code in TREE.codes
}


def towns(number: int = 3000, seed: int = 4) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    share = 0.5 ** np.arange(len(LEAVES))
    return people(number, seed) | {"town": draw.choice(LEAVES, number, p=share / share.sum())}


PEOPLE = towns()
DATA = census(
    PEOPLE,
    questions=10_000,
    variables=(Variable("town", tree=TREE), *(Variable(n, codes) for n, codes in CODES.items())),
)
TABLES = tabulator(DATA)


def ask(by: Iterable[Any], where: Any = None, tables: Any = TABLES, who: str = "anne") -> Any:
    return tables.answer({"data": "census", "by": [*by], "where": where or {}}, who=who)


def town(level: int) -> dict[str, Any]:
    return {"variable": "town", "level": level}


@pytest.mark.parametrize("level", [1, 2, 3])
def test_each_cell_is_what_its_records_say(level: int):
    rows = ask([town(level), "sex"]).cells().to_pylist()
    assert {row["town"] for row in rows} == {*ABOVE[level].values()}
    for row in rows:
        leaves = [leaf for leaf in LEAVES if ABOVE[level][leaf] == row["town"]]
        cell = {"town": leaves, "sex": [row["sex"]]}
        assert row["count"] == by_hand(PEOPLE, DATA, cell)


@given(st.sampled_from([*TREE.codes]), st.sampled_from([None, "m"]))
@examples(30)
def test_a_code_has_one_answer_on_every_road(code: str, sex: str | None):
    """As a filter, as a list of its leaves in pieces, as a cell, and by hand."""
    where = {} if sex is None else {"sex": [sex]}
    leaves = sorted(WITHIN[code])
    expected = by_hand(PEOPLE, DATA, {"town": leaves} | where)
    roads = [ask([], where | {"town": [code]}), ask([], where | {"town": leaves})]
    inner = [c for c in TREE.codes if {*WITHIN[c]} <= {*leaves}]
    roads.append(ask([], where | {"town": inner}))
    for level in (1, 2, 3):
        if code in ABOVE[level].values():
            roads.append(ask([town(level)], where | {"town": [code]}))
    assert [int(road.value.item()) for road in roads] == [expected] * len(roads)
    families = {road.question.family(DATA) for road in roads[:3]}
    assert len(families) == 1


FILTERS = st.lists(st.sampled_from([*TREE.codes]), unique=True, min_size=1, max_size=4)


@given(FILTERS, st.integers(0, 3))
@examples(60)
def test_filters_are_the_leaves_below_them(codes: list[str], level: int):
    leaves = {leaf for code in codes for leaf in WITHIN[code]}
    above = ABOVE[level or 3]
    whole = all(above[leaf] != above[other] for leaf in leaves for other in {*LEAVES} - leaves)
    by = [town(level) if level else "town", "sex"]
    if not whole:
        with pytest.raises(InputError, match="a part of a code"):
            ask(by, {"town": codes})
        return
    rows = ask(by, {"town": codes}).cells().to_pylist()
    every = {(r["town"], r["sex"]): r["count"] for r in ask(by).cells().to_pylist()}
    found = {(r["town"], r["sex"]): r["count"] for r in rows}
    assert found == {key: every[key] for key in every if key[0] in {above[leaf] for leaf in leaves}}
    assert len(rows) == len(found)
    free = ask(["sex"], {"town": codes})
    for sex, value in zip(("f", "m"), free.value.tolist(), strict=True):
        assert value == by_hand(PEOPLE, DATA, {"town": leaves, "sex": [sex]})


def test_levels_that_are_the_same_cost_once():
    """y and z have the same leaves; a tree of one level has the level of its leaves."""
    tables = tabulator(DATA)
    for where in (["y"], ["z"], ["m", "0"], ["y", "z", "m"]):
        ask(["sex"], {"town": where}, tables)
    ask([town(1), "sex"], tables=tables)
    assert tables.allowance.left("anne", DATA) == 9_999
    flat = census(PEOPLE, variables=(Variable("town", tree=Hierarchy.flat(LEAVES, "every")),))
    families = {
        Question.of({"data": "census", "by": [by]}).family(flat) for by in ("town", town(1))
    }
    assert families == {Family("census", ("town",), ())}
    # the same groups with other names, on another level and in another order
    tree = Hierarchy.from_levels({"a": ["p", "q"], "b": ["z", "y"], "c": ["1", "2"]}, "All")
    records = {"v": np.array(["1", "2", "2"] * 50), "key": np.arange(150) * 7919}
    data = census(records, variables=(Variable("v", tree=tree),))
    found = tabulator(data)
    values = {
        level: ask([{"variable": "v", "level": level}], tables=found).cells().to_pylist()
        for level in (1, 2, 3)
    }
    own = {row["v"]: row["count"] for row in values[3]}
    assert {row["v"]: row["count"] for row in values[1]} == {"p": own["1"], "q": own["2"]}
    assert {row["v"]: row["count"] for row in values[2]} == {"z": own["1"], "y": own["2"]}
    assert found.allowance.left("anne", data) == data.questions - 1


@given(st.lists(st.tuples(FILTERS, st.integers(0, 3), st.booleans()), min_size=3, max_size=10))
@examples(25)
def test_no_record_is_in_more_tables_than_the_limit(asked: list[Any]):
    data = census(PEOPLE, questions=3, variables=DATA.variables)
    tables, given_ = tabulator(data), set()
    for codes, level, sex in asked:
        by = ([town(level)] if level else []) + (["sex"] if sex else [])
        try:
            answer = ask(by, {"town": codes}, tables)
        except (Refused, InputError):
            continue
        given_.add(answer.question.family(data))
    for leaf in LEAVES:
        inside = [f for f in given_ if all(leaf in codes for _, codes in f.where)]
        assert len(inside) <= 3


def test_a_coarser_code_is_impossible_if_all_below_it_are():
    nowhere = ({"town": ("01",), "sex": ("m",)},)
    kept = ~(np.isin(PEOPLE["town"], ["n", "a'b"]) & (PEOPLE["sex"] == "m"))
    records = {name: column[kept] for name, column in PEOPLE.items()}
    tables = tabulator(census(records, impossible=nowhere, variables=DATA.variables))
    tables.check()

    def empty(by: Any, where: Any = None) -> set[str]:
        rows = ask(by, where, tables).cells().to_pylist()
        return {row["town"] for row in rows if row["status"] == "empty"}

    assert empty(["town"], {"sex": ["m"]}) == {"n", "a'b"}
    assert empty([town(2)], {"sex": ["m"]}) == {"01"}
    assert empty([town(1)], {"sex": ["m"]}) == set()


def test_a_journal_keeps_levels():
    asked = {"data": "census", "by": [town(1), "sex"], "where": {"age": ["1", "2"]}}
    family = Question.of(asked).family(DATA)
    said = json.loads(json.dumps(asdict(family)))
    assert Family(**{key: _tuples(value) for key, value in said.items()}) == family
    assert family.levels == (("town", 1),)
    before = {key: said[key] for key in ("data", "variables", "where")}  # of earlier journals
    assert Family(**{key: _tuples(value) for key, value in before.items()}).levels == ()


def test_a_question_that_was_put_together_elsewhere_is_read():
    question = Question("census", ("town",), (), (("town", 1),))
    assert Question.of(question) == question
    assert ask([town(1)]).value.tolist() == TABLES.answer(question, who="bob").value.tolist()
    for levels in ((("town", "1"),), (("town",),), (("town", 1), ("town", 2)), "x", 7):
        with pytest.raises(InputError):
            Question.of(Question("census", ("town",), (), levels))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ([town(0)], "levels 1 to 3"),
        ([town(4)], "levels 1 to 3"),
        ([{"variable": "sex", "level": 2}], "levels 1 to 1"),
        ([{"variable": "town", "level": True}], "whole number"),
        ([{"variable": "town", "level": "1"}], "whole number"),
        ([{"level": 1}], "'by' names"),
        ([town(1) | {"sql": "1"}], "'by' names"),
        ([town(1), "town"], "twice"),
        ([town(1), town(2)], "twice"),
        ([{"variable": "key", "level": 1}], "no variable"),
    ],
)
def test_what_is_no_question(by: list[Any], said: str):
    with pytest.raises(InputError, match=said):
        ask(by)


def test_sizes_are_those_of_the_level():
    small = tabulator(census(PEOPLE, most_cells=4, variables=DATA.variables))
    assert ask([town(1)], tables=small).value.shape == (4,)
    with pytest.raises(InputError, match="5 cells"):
        ask([town(2)], tables=small)


def test_trees_that_are_none():
    with pytest.raises(InputError, match="not both"):
        Variable("town", ("a",), tree=TREE)
    with pytest.raises(InputError, match="leaves"):
        Variable("town", tree=Hierarchy.flat([]))
    assert Variable("town", tree=TREE).labels == {"1": "One", "0": "zero"}


def test_the_levels_of_a_large_tree():
    """40,000 codes, in the time of a few sorts."""
    codes = [f"{a:02}{b:02}{c}" for a, b, c in itertools.product(range(90), range(40), range(10))]
    one = Variable("code", tree=Hierarchy.from_prefix(codes, (2, 2, 1)))
    assert [len(one.level(n).codes) for n in (1, 2, 3)] == [90, 3600, 36_000]
    assert one.below("0102") == tuple(f"0102{c}" for c in range(10))
    assert one.level_of(one.below("01")) == 1 and one.standard(3) == 0
    records = pa.table({"code": codes, "key": np.arange(len(codes)) * 7919 % 2**32})
    data = census(records, variables=(one,))
    answer = ask([{"variable": "code", "level": 1}], tables=tabulator(data))
    assert np.abs(answer.value - 400).max() <= 4
