"""What is offered in place of a sparse table: as far as its shown counts tell, and no farther."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from over_http import ask as send_question
from over_http import listening
from profiles import examples
from serving import CODES, census, people, tabulator

from diskret import Hierarchy
from diskret.errors import InputError
from diskret.serve import Measure, Question, Variable
from diskret.serve.answers import Refused
from diskret.serve.coarser import _added, as_text  # pyright: ignore[reportPrivateUsage]

TREE = Hierarchy.from_levels(
    {
        "half": ["young"] * 4 + ["old"] * 6,
        "part": ["0", "0", "1", "1", "2", "2", "3", "3", "3", "3"],
        "age": ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"],
    }
)
AGES = {
    3: {f"a{i}": f"a{i}" for i in range(10)},
    2: {f"a{i}": f"{min(i // 2, 3)}" for i in range(10)},
    1: {f"a{i}": "young" if i < 4 else "old" for i in range(10)},
}
PEOPLE = people(600, 3)
PEOPLE["age"] = np.char.add("a", PEOPLE["age"].astype(str))
VARIABLES = (
    Variable("age", tree=TREE),
    *(Variable(name, codes) for name, codes in CODES.items() if name != "age"),
)
SMALL, SHARE = 12, 0.3
DATA = census(PEOPLE, variables=VARIABLES, share=SHARE, small=SMALL, questions=10_000)
FREE = tabulator(census(PEOPLE, variables=VARIABLES, share=1.0, questions=10_000))
SPARSE = tabulator(DATA)


def asked_of(by: Any, where: Any = None) -> dict[str, Any]:
    return {"data": "census", "by": [*by], "where": where or {}}


def offers(asked: Any, tables: Any = SPARSE) -> tuple[Question, ...]:
    with pytest.raises(Refused, match="sparse") as found:
        tables.answer(asked, who="anne")
    return found.value.coarser


def shown_cells(question: Question) -> Any:
    """The whole table that a question is a part of, cell by cell, as the service would show it."""
    family = question.family(DATA)
    by = [
        {"variable": name, "level": family.level(name)} if family.level(name) else name
        for name in family.variables
    ]
    whole = FREE.answer(asked_of(by, dict(family.where)), who="anne")
    return whole.cells().to_pylist()


def hardly_sparse(cells: Any, small: int) -> bool:
    somebody = [value for value in cells if value > 0]
    return sum(value <= small for value in somebody) <= SHARE * len(somebody)


def added_up(cells: Any, question: Question, one: Question) -> list[int]:
    """Cells of a coarser question from those of the finer table, by a reader of both."""
    family, wanted = question.family(DATA), one.family(DATA)
    total: dict[tuple[str, ...], int] = {}
    for row in cells:
        key: list[str] = []
        for name in family.variables:
            own = row[name]
            if name == "age":
                level = family.level(name) or 3
                leaf = next(leaf for leaf in AGES[3] if AGES[level][leaf] == own)
                above = AGES[wanted.level(name) or 3][leaf]
            else:
                leaf = above = own
            if name in wanted.variables:
                key.append(above)
            elif leaf not in dict(wanted.where).get(name, (leaf,)):
                break
        else:
            total[tuple(key)] = total.get(tuple(key), 0) + row["count"]
    return [*total.values()]


BY = st.lists(st.sampled_from(["region", "re", "sex"]), unique=True, min_size=1, max_size=3)
AGE = st.sampled_from([None, {"variable": "age", "level": 2}, "age"])
FILTERS = [
    {},
    {"age": ["young"]},
    {"age": ["a0", "a1", "a2"]},
    {"age": ["0", "3"]},
    {"region": ["N", "n", "1"]},
    {"region": ["n"]},
    {"sex": ["m"], "re": ["gion", "';--"]},
]
WHERE = st.sampled_from(FILTERS)


@given(BY, AGE, WHERE, st.integers(3, 60))
@examples(60)
def test_offers_follow_from_what_would_be_shown(by: list[str], age: Any, where: Any, small: int):
    tables = tabulator(replace(DATA, small=small))
    asked = asked_of(by + ([age] if age else []), where)
    try:
        question = tables.read(asked)
    except InputError:
        assume(False)
        raise
    cells = shown_cells(question)
    if hardly_sparse([row["count"] for row in cells], small):
        assert tables.answer(asked, who="anne").question == question
        return
    found = offers(asked, tables)
    assert len(found) <= 3
    for one in found:
        assert {*one.by} <= {*question.by} and one.where == question.where
        assert hardly_sparse(added_up(cells, question, one), small)
    # and every other one is sparse, no finer than an offer, or a fourth
    if len(found) < 3:
        for kept in itertools.product(*([True, False] for _ in question.by)):
            names = tuple(itertools.compress(question.by, kept))
            levels = tuple(one for one in question.levels if one[0] in names)
            one = Question("census", names, question.where, levels)
            if one != question and hardly_sparse(added_up(cells, question, one), small):
                assert any({*names} <= {*offer.by} for offer in found)


@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("age", [[], [{"variable": "age", "level": 2}], ["age"]])
def test_cells_are_added_up_as_a_reader_does(age: Any, where: Any):
    compared = 0
    for names in (["region", "sex"], ["region"], ["sex"], []):
        for level in (1, 2) if age else (0,):
            coarse: Any = [{"variable": "age", "level": level}] if level else []
            for own in (coarse, []):
                compared += added_up_alike(["region", "sex", *age], [*names, *own], where)
    cut = where == {"age": ["a0", "a1", "a2"]} and age not in ([], ["age"])
    assert compared >= (0 if cut else 4)


def added_up_alike(by: Any, coarser: Any, where: Any) -> bool:
    try:
        question, one = (FREE.read(asked_of(each, where)) for each in (by, coarser))
    except InputError:  # the filter takes a part of a code
        return False
    family = question.family(DATA)
    by_axis = [
        {"variable": name, "level": family.level(name)} if family.level(name) else name
        for name in family.variables
    ]
    value = FREE.answer(asked_of(by_axis, dict(family.where)), who="anne").value
    found = _added(value, family, one.family(DATA), DATA).ravel().tolist()
    expected = added_up(shown_cells(question), question, one)
    assert sorted(found) == sorted(expected)
    return True


def test_the_largest_tables_come_first_and_none_lies_in_another():
    found = offers(asked_of(["age", "region", "sex"]))
    assert len(found) == 3
    sizes = [FREE.answer(one, who="x").value.size for one in found]
    assert sizes == sorted(sizes, reverse=True)
    for one, other in itertools.permutations(found, 2):
        finer = {*one.by} >= {*other.by} and all(
            (one.level(name) or 9) >= (other.level(name) or 9) for name in other.by
        )
        assert not finer


def test_offers_cost_nothing_until_they_are_asked_for():
    tables = tabulator(DATA)
    found = offers(asked_of(["age", "region", "sex"]), tables)
    assert tables.allowance.left("anne", DATA) == 9_999
    assert len(tables.memory) == 1  # nothing else was computed
    tables.answer(found[-1], who="anne")
    assert tables.allowance.left("anne", DATA) == 9_998


def test_a_reader_is_told_as_json_in_his_language():
    found = offers(asked_of(["age", "region"]))
    text = as_text(found)
    asked = [json.loads(one) for one in text.split("; ")]
    assert [Question.of(asked_of(by)) for by in asked] == [*found]
    with listening(tabulator(DATA)) as url:
        said = send_question(url, ["age", "region"], query="?language=de")
        assert said.status == 403 and said.json["detail"].endswith(f"gefragt werden: {text}")


def test_offers_keep_what_is_measured_and_where_nothing_helps_there_are_none():
    records = {**PEOPLE, "pay": np.arange(600)}
    data = census(
        records,
        variables=VARIABLES,
        share=SHARE,
        small=SMALL,
        measures=(Measure("pay"),),
        presence="public",
    )
    asked = asked_of(["age", "region"]) | {"measure": "mean", "of": "pay"}
    found = offers(asked, tabulator(data))
    assert found and {(one.measure, one.measures) for one in found} == {("mean", ("pay",))}
    lonely = {name: column[:1] for name, column in PEOPLE.items()}
    few = census(
        {name: np.repeat(column, 3) for name, column in lonely.items()}
        | {"key": np.array([5, 70_000, 900_000])},
        variables=VARIABLES,
        share=0.0,
        small=20,
    )
    assert offers(asked_of(["sex", "region"]), tabulator(few)) == ()
