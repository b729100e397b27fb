"""The same question has the same answer for ever, however it is asked; and what is refused."""

import itertools
import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from serving import CODES, by_hand, census, people, tabulator

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.serve import Question
from diskret.serve.answers import Memory, Refused, Shown
from diskret.serve.engines import Until

PEOPLE = people()
DATA = census(PEOPLE, questions=10_000)
TABLES = tabulator(DATA)


def ask(by, where=None, tables=TABLES, who="anne"):
    asked = {"data": "census", "by": [*by], "where": where or {}}
    return tables.answer(asked, who=who)


def shown(answer):
    """Codes of a cell, by variable → what is shown."""
    rows = answer.cells().to_pylist()
    names = [name for name in rows[0] if name not in ("count", "status")]
    return {frozenset((name, row[name]) for name in names): row["count"] for row in rows}


QUESTIONS = st.fixed_dictionaries(
    {
        "by": st.lists(st.sampled_from([*CODES]), unique=True, max_size=3),
        "where": st.dictionaries(st.sampled_from([*CODES]), st.just(None), max_size=2).flatmap(
            lambda names: st.fixed_dictionaries(
                {
                    name: st.lists(st.sampled_from(CODES[name]), unique=True, min_size=1)
                    for name in names
                }
            )
        ),
    }
)


@given(QUESTIONS, st.data())
@examples(40)
def test_each_cell_is_what_its_records_say(asked, data):
    answer = ask(**asked)
    codes = [answer.codes[name] for name in asked["by"]]
    place = tuple(data.draw(st.integers(0, len(one) - 1)) for one in codes)
    cell = dict(asked["where"])
    for name, own, at in zip(asked["by"], codes, place, strict=True):
        cell[name] = [own[at]]
    assert int(answer.value[place]) == by_hand(PEOPLE, DATA, cell)


@given(QUESTIONS, st.randoms(use_true_random=False))
@examples(40)
def test_order_and_idle_filters_change_nothing(asked, random):
    first = shown(ask(**asked))
    by = random.sample(asked["by"], len(asked["by"]))
    where = {name: random.sample(codes, len(codes)) for name, codes in asked["where"].items()}
    for name in random.sample([*CODES], 2):
        where.setdefault(name, random.sample(CODES[name], len(CODES[name])))
    fresh = tabulator(DATA)
    for name in random.sample([*CODES], 2):  # other questions before it
        ask([name], tables=fresh)
    assert shown(ask(by, where, fresh, who="bob")) == first


def test_a_filter_on_one_code_is_a_part_of_the_larger_table():
    whole = shown(ask(["sex", "age"]))
    for code in CODES["sex"]:
        part = shown(ask(["age"], {"sex": [code]}))
        for cell, value in part.items():
            assert whole[cell | {("sex", code)}] == value
    question = Question.of({"data": "census", "by": ["age"], "where": {"sex": ["f"]}})
    larger = Question.of({"data": "census", "by": ["sex", "age"]})
    assert question.family(DATA) == larger.family(DATA)


def test_equal_sets_of_records_have_equal_noise_whatever_they_are_called():
    """A second variable that says the same in other codes."""
    records = PEOPLE | {"gender": np.where(PEOPLE["sex"] == "f", "x", "a")}
    variables = (*DATA.variables, type(DATA.variables[0])("gender", ("a", "x")))
    both = tabulator(census(records, variables=variables))
    one, other = ask(["sex", "age"], tables=both), ask(["gender", "age"], tables=both)
    assert one.value.tolist() == other.value[::-1].tolist()


def test_a_restart_and_a_file_give_the_same(tmp_path):
    pq.write_table(pa.table(PEOPLE), tmp_path / "p.parquet")
    shuffled = np.random.default_rng(3).permutation(len(PEOPLE["key"]))
    moved = {name: column[shuffled] for name, column in PEOPLE.items()}
    pq.write_table(pa.table(moved), tmp_path / "q.parquet")
    first = ask(["region", "age"]).value.tolist()
    for name in ("p.parquet", "q.parquet"):
        again = tabulator(_at(tmp_path / name))
        assert ask(["region", "age"], tables=again).value.tolist() == first
    other = tabulator(DATA, keys=SecretKeys(bytes(range(1, 33))))
    assert ask(["region", "age"], tables=other).value.tolist() != first


def _at(path):
    return replace(DATA, records=str(path))


def test_empty_cells_show_0_and_impossible_ones_nothing():
    records = {name: column[PEOPLE["sex"] == "f"] for name, column in PEOPLE.items()}
    impossible = ({"sex": ("m",), "age": ("8", "9")},)
    tables = tabulator(census(records, impossible=impossible))
    rows = ask(["sex", "age"], tables=tables).cells().to_pylist()
    men = {row["age"]: (row["count"], row["status"]) for row in rows if row["sex"] == "m"}
    assert men["0"] == (0, "published")
    assert men["9"] == (None, "empty")
    # a filter on no more than impossible ages says so, a wider one does not
    rows = ask(["sex"], {"age": ["8", "9"]}, tables).cells().to_pylist()
    assert [row["status"] for row in rows] == ["published", "empty"]
    rows = ask(["sex"], {"age": ["7", "9"]}, tables).cells().to_pylist()
    assert [row["status"] for row in rows] == ["published", "published"]


def test_nobody_satisfies_a_filter():
    records = {name: column[PEOPLE["re"] == "gion"] for name, column in PEOPLE.items()}
    tables = tabulator(census(records))
    assert ask(["sex"], {"re": ["';--", 'a"b']}, tables).value.tolist() == [0, 0]


def test_sparse_tables_are_refused_by_what_would_be_shown():
    records = {name: column[:300] for name, column in PEOPLE.items()}
    data = census(records, share=0.3, small=3)
    tables = tabulator(data)
    assert ask(["sex"], tables=tables).value.shape == (2,)
    with pytest.raises(Refused, match="sparse"):
        ask(["region", "re", "sex", "age"], tables=tables)
    free = tabulator(census(records))
    value = ask(["region", "re", "sex", "age"], tables=free).value
    assert ((value > 0) & (value <= 3)).sum() > 0.3 * (value > 0).sum()
    with pytest.raises(Refused, match="sparse"):  # a part of it is no way around
        ask(["region", "re", "sex"], {"age": ["9"]}, tables)


def test_what_is_wrong_with_records_is_told_to_the_owner_alone():
    records = PEOPLE | {"sex": np.where(PEOPLE["age"] == "9", "secret", PEOPLE["sex"])}
    tables = tabulator(census(records))
    with pytest.raises(Refused, match="cannot be tabulated") as found:
        ask(["sex"], tables=tables)
    assert "secret" not in str(found.value) and found.value.__cause__ is None
    with pytest.raises(InputError, match="secret"):
        tables.check()
    with pytest.raises(InputError, match="impossible"):
        tabulator(census(PEOPLE, impossible=({"sex": ("m",), "age": ("0",)},))).check()
    tabulator(DATA).check()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"data": "census", "by": ["key"]}, "no variable 'key'"),
        ({"data": "census", "by": ["sex; DROP TABLE source"]}, "no variable"),
        ({"data": "../census", "by": ["sex"]}, "no data set"),
        ({"data": "census", "by": ["sex"], "where": {"age": ["0' OR '1'='1"]}}, "no code"),
        ({"data": "census", "by": ["sex"], "where": {"age": []}}, "at least one code"),
        ({"data": "census", "by": ["sex", "sex"]}, "twice"),
        ({"data": "census", "by": ["sex"], "where": {"age": ["1", "1"]}}, "twice"),
        ({"data": "census", "by": [1]}, "texts"),
        ({"data": "census", "by": {"sex": 1}}, "list of texts"),
        ({"data": "census", "by": ["sex"], "where": ["age"]}, "'where'"),
        ({"data": "census", "by": ["x" * 201]}, "1 to 200"),
        ({"data": "census", "by": ["sex"], "sql": "SELECT 1"}, "a question is"),
        ({"data": "census", "by": ["sex"], "measure": "max"}, "'measure'"),
        (["census"], "a question is"),
        ({"data": "census", "by": ["sex"], "where": {"age": [None]}}, "texts"),
    ],
)
def test_what_is_no_question(asked, said):
    with pytest.raises(InputError, match=said):
        TABLES.answer(asked, who="anne")


def test_sizes_are_limited_and_single_codes_count_as_variables():
    tables = tabulator(census(PEOPLE, most_variables=2, most_cells=30))
    with pytest.raises(InputError, match="3 variables"):
        ask(["sex", "age"], {"region": ["N"]}, tables)
    with pytest.raises(InputError, match="40 cells"):
        ask(["region", "age"], tables=tables)
    assert ask(["sex", "age"], {"region": ["N", "n"]}, tables).value.shape == (2, 10)


# ── how many tables are given ───────────────────────────────────────────────────────


def test_tables_are_counted_for_each_and_for_all():
    tables = tabulator(census(PEOPLE, questions=3, questions_each=2))
    ask(["sex"], tables=tables, who="anne")
    for by in (["sex"], ["sex"]):
        ask(by, tables=tables, who="anne")  # again costs nothing
    ask(["age"], tables=tables, who="anne")
    with pytest.raises(Refused, match="one user"):
        ask(["re"], tables=tables, who="anne")
    ask(["re"], tables=tables, who="bob")
    with pytest.raises(Refused, match="resists"):  # together with anne's
        ask(["region"], tables=tables, who="carl")
    assert ask(["age"], tables=tables, who="bob").value.shape == (10,)
    assert tables.allowance.left("carl", tables.data["census"]) == 0


def test_tables_of_other_records_are_counted_apart():
    tables = tabulator(census(PEOPLE, questions=2))
    ask(["sex"], {"age": ["0", "1"]}, tables)
    ask(["re"], {"age": ["0", "1"]}, tables)
    ask(["sex"], {"age": ["2", "3"]}, tables)
    ask(["re"], {"age": ["2", "3"]}, tables)
    with pytest.raises(Refused):
        ask(["region"], {"age": ["3", "4"]}, tables)
    with pytest.raises(Refused):
        ask(["region"], tables=tables)


def test_one_record_is_not_counted_by_two_data_sets():
    other = replace(DATA, name="other")
    with pytest.raises(InputError, match="'census' and 'other' are of the same records"):
        tabulator(DATA, other)
    # copies and extracts of columns are told by their keys
    copied = tabulator(DATA, replace(other, records=pa.table(PEOPLE)))
    with pytest.raises(InputError, match="'census' and 'other' are of the same records"):
        copied.check()
    tabulator(DATA, replace(other, records=pa.table(people(seed=2)))).check()


@given(st.lists(QUESTIONS, min_size=3, max_size=12))
@examples(15)
def test_no_record_is_in_more_tables_than_the_limit(questions):
    """Counted record by record, by a reader of the filters."""
    data = census(PEOPLE, questions=3)
    tables, given_ = tabulator(data), set()
    for asked in questions:
        question = Question.of({"data": "census", **asked})
        try:
            tables.answer(question, who="anne")
        except Refused:
            continue
        given_.add(question.family(data))
    for record in itertools.product(*CODES.values()):
        of = dict(zip(CODES, record, strict=True))
        inside = [f for f in given_ if all(of[name] in codes for name, codes in f.where)]
        assert len(inside) <= 3


def test_memory_is_bounded_and_what_was_let_go_comes_back_the_same():
    small = tabulator(census(PEOPLE, questions=100), memory=1500)
    first = {}
    for by in itertools.combinations(CODES, 2):
        first[by] = ask(by, tables=small).value.tolist()
        assert small.memory.bytes <= 1500
    assert len(small.memory) < len(first)
    for by, value in first.items():
        assert ask(by, tables=small).value.tolist() == value
    nothing = Memory(0)
    assert nothing.bytes == 0


def test_small_tables_take_no_more_memory_than_is_counted():
    """Names and objects, too: there is room for as many small tables as the limit has bytes for."""
    memory, small = Memory(), census()
    asked = [
        json.dumps({"data": "census", "by": ["sex"], "where": {"age": [f"{a}", f"{b}", f"{c}"]}})
        for a, b, c in itertools.combinations(range(10), 3)
    ]
    tracemalloc.start()
    for text in asked:
        value = np.zeros(2, dtype=np.int64)
        family = Question.of(json.loads(text)).family(small)
        memory.keep(family, Shown(value, value > 0, sparse=False))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(memory) == len(asked) and 0.7 < used / memory.bytes < 1.3


def test_closing_does_not_wait_for_what_is_computed():
    own = tabulator()
    with own._engines["census"].turn(Until()):
        own.close()  # in this thread, so it would wait for ever
    own.close()
