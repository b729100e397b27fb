"""Whoever means harm: filters that mean the same, names that are none, users who work together."""

import json
import re
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from serving import CODES, KEYS, census, people, tabulator

from diskret.cellkey import PerturbationTable
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.io import source
from diskret.keys import SecretKeys
from diskret.serve import Answer, Question, Tabulator
from diskret.serve.answers import Refused
from diskret.serve.noise import counted, shown_counts

PEOPLE = people(1500)
# columns that are in the records, but are no variables
HIDDEN = {"income": np.arange(1500) % 97, "name": np.array(["Ada", "Bob", "Eve"] * 500)}
DATA = census(PEOPLE | HIDDEN, questions=10_000)
TABLES = tabulator(DATA)

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


def asked_of(by, where, **other):
    return {"data": "census", "by": by, "where": where, **other}


def shown(answer):
    """Codes of a cell, by variable → what is shown."""
    rows = answer.cells().to_pylist()
    names = [name for name in rows[0] if name not in ("count", "status")]
    return {frozenset((name, row[name]) for name in names): row["count"] for row in rows}


# ── one question in other words ─────────────────────────────────────────────────────


def in_other_words(asked, draw):
    """A question that asks for the same cells: other orders and types, idle filters."""
    by = draw.sample(asked["by"], len(asked["by"]))
    where = {name: draw.sample(codes, len(codes)) for name, codes in asked["where"].items()}
    for name in draw.sample([*CODES], 2):
        where.setdefault(name, draw.sample(CODES[name], len(CODES[name])))
    names = draw.sample([*where], len(where))
    where = {name: tuple(where[name]) if draw.random() < 0.5 else where[name] for name in names}
    for name in names:
        if len(where[name]) == 1 and draw.random() < 0.5:
            where[name] = where[name][0]
    found = asked_of(tuple(by) if draw.random() < 0.5 else by, where)
    return found | {"measure": "count"} if draw.random() < 0.5 else found


def parts(asked, draw):
    """A question for some of its cells: a filter on a variable of the table, in it or instead."""
    if not asked["by"]:
        return asked_of(**asked)
    name = draw.choice(asked["by"])
    own = asked["where"].get(name, CODES[name])
    kept = draw.sample(own, draw.randint(1, len(own)))
    by = [*asked["by"]]
    if len(kept) == 1 and draw.random() < 0.5:
        by.remove(name)
    return asked_of(by, asked["where"] | {name: kept})


@given(QUESTIONS, st.randoms(use_true_random=False))
@examples(100)
def test_a_question_in_other_words_is_one_family_has_one_answer_and_costs_once(asked, random):
    tables = tabulator(DATA)
    first = tables.answer(asked_of(**asked), who="anne")
    left = tables.allowance.left("anne", DATA)
    family = first.question.family(DATA)
    for _ in range(4):
        again = tables.answer(in_other_words(asked, random), who="anne")
        assert again.question.family(DATA) == family
        assert shown(again) == shown(first)
        part = tables.answer(parts(asked, random), who="anne")
        assert part.question.family(DATA) == family
        assert Counter(shown(part).values()) <= Counter(shown(first).values())
    assert tables.allowance.left("anne", DATA) == left
    assert len(tables.memory) == 1


@given(QUESTIONS, QUESTIONS)
@examples(60)
def test_questions_of_one_family_ask_for_the_same_records(one, other):
    """The other way round: what is not the same is not taken for it."""
    families = [Question.of(asked_of(**asked)).family(DATA) for asked in (one, other)]
    keeps = []
    for asked in (one, other):
        names = {*asked["by"]} | {n for n, codes in asked["where"].items() if len(codes) == 1}
        keep = {
            (name, frozenset(codes))
            for name, codes in asked["where"].items()
            if name not in names and len(codes) < len(CODES[name])
        }
        names -= {n for n in asked["where"] if n not in asked["by"] and len(CODES[n]) == 1}
        keeps.append((names, keep))
    assert (families[0] == families[1]) == (keeps[0] == keeps[1])


@pytest.mark.parametrize(
    "question",
    [
        Question("census", ("key",)),
        Question("census", ("sex", "sex")),
        Question("census", ("sex",), (("age", ()),)),
        Question("census", ("sex",), (("age", ("nobody",)),)),
        Question("census", ("sex",), (("age", ("0", "1")), ("age", ("0", "2")))),
        Question("census", ("sex",), (("age",),)),  # pyright: ignore[reportArgumentType]
        Question("census", 5),  # pyright: ignore[reportArgumentType]
        Question(["census"], ()),  # pyright: ignore[reportArgumentType]
        Question("census", (), 7),  # pyright: ignore[reportArgumentType]
    ],
)
def test_questions_that_were_not_read_are_read(question):
    with pytest.raises(InputError):
        TABLES.answer(question, who="anne")


def test_a_question_with_unsorted_codes_is_no_second_table():
    tables = tabulator(DATA)
    for codes in (("0", "3", "1"), ("3", "1", "0")):
        tables.answer(Question("census", ("sex",), (("age", codes),)), who="anne")
    assert tables.allowance.left("anne", DATA) == 9_999


# ── names and codes that are none ───────────────────────────────────────────────────

STRANGE = [
    "sex'; DROP TABLE records; --",
    'sex" FROM records --',
    "sex\x00",
    "sex\n",
    " sex",
    "SEX",
    "\u017fex",  # folds to sex
    "s\u0435x",  # Cyrillic
    "s\u200bex",
    "\u202exes",
    "\uff53ex",  # full width
    "\ud800",
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "read_csv('/etc/passwd')",
    "*",
    "COUNT(*)",
    "1=1",
    "{{7*7}}",
    "%s%n",
    "${jndi:ldap://x}",
    "<script>",
    "=cmd|' /C calc'!A0",
    "NULL",
    "nan",
    "-0",
    "1e0",
    "1",
    "key",
    "income",
    "name",
    "d0",
    "Total",
    "rowid",
    "a" * 200,
    "a" * 201,
    "",
]

#: All that may be said of what is no question: nothing of it comes from the records or an engine.
SAID = (
    r"a question is \{'data': name, 'by': \[variables\], 'where': \{…\}\}",
    r"'measure' must be 'count', 'sum', 'mean' or 'ratio'; quantiles, .* are not served",
    r"'of' names the measure of a sum or mean, the two of a ratio, and none of a count",
    r"'by' names variables, or \{'variable': name, 'level': number\}",
    r"a level is a whole number from 1 on",
    r"'where' must be \{variable: \[codes\]\}",
    r"'where' must name at least one code of each of its variables",
    r"names and codes are texts of 1 to 200 characters",
    r".{1,900} must be a list of texts",
    r".{1,900} names something twice",
    r"there is no data set .{1,900}",
    r"the data set 'census' has no variable .{1,900}",
    r"the variable '(region|re|sex|age)' has no code .{1,900}",
    r"'by' names variables, or \{'variable': name, 'level': number\}",
    r"a level is a whole number from 1 on",
    r"the variable '(region|re|sex|age)' has the levels 1 to \d+, and no level -?\d{1,20}",
    r"the table has \d+ variables, filters on one code among them; at most 5 are answered",
    r"the table has [\d,]+ cells; at most [\d,]+ are answered",
)


class Watched(DuckDBEngine):
    """Holds that only variables are asked for."""

    def leaves(self, question):
        assert {*question.by} <= {*CODES}
        return super().leaves(question)


def asks(asked, tables=None):
    """What comes of it: an answer of variables alone, or an error that says what is known."""
    tables = tables or tabulator(DATA, engine=Watched)
    try:
        answer = tables.answer(asked, who="anne")
    except InputError as error:
        text = str(error)
        assert any(re.fullmatch(form, text) for form in SAID), text
        assert text.isprintable() and error.__cause__ is None and error.__context__ is None
        return None
    except Refused as error:
        assert "sparse" in str(error)
        return None
    assert isinstance(answer, Answer)
    assert {*answer.codes} <= {*CODES}
    return answer


@pytest.mark.parametrize("name", STRANGE, ids=ascii)
def test_strange_names_and_codes(name):
    for asked in (
        asked_of([name], {}),
        asked_of(["sex", name], {}),
        asked_of(["sex"], {name: ["0"]}),
        asked_of(["sex"], {"sex": ["f", name]}),
        asked_of(["sex"], {"sex": name}),
        asked_of(["sex"], {}, measure=name),
        asked_of(["sex"], {}) | {"data": name},
        asked_of(["sex"], {}) | {name: 1},
        {name: asked_of(["sex"], {})},
    ):
        assert asks(asked) is None
    if name not in CODES["age"]:
        assert asks(asked_of([], {"age": ["0", name]})) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        1,
        -1,
        10**400,
        1.0,
        float("nan"),
        float("inf"),
        b"sex",
        bytearray(b"sex"),
        memoryview(b"sex"),
        range(3),
        [],
        [[]],
        [["sex"]],
        {},
        {"sex": ["f"]},
        {"$ne": None},
        object(),
        ["sex"] * 10_001,
        [f"{i}" for i in range(10_001)],
        np.array(["sex"]),
        pa.array(["sex"]),
        {"f"},
        ("f", None),
        ("f", 1),
        ("f", True),
    ],
    ids=lambda value: re.sub(r" at 0x\w+", "", repr(value))[:30],  # no address: it changes
)
def test_values_of_another_type(value):
    for asked in (
        value,
        [value],
        asked_of([value], {}),
        asked_of(["sex"], {"sex": value}),
        asked_of(["sex"], {"sex": [value]}),
        asked_of(["sex"], {}, measure=value),
        asked_of(["sex"], {}) | {"data": value},
    ):
        assert asks(asked) is None
    if not isinstance(value, list) or value:  # none: the total
        assert asks(asked_of(value, {})) is None


@pytest.mark.parametrize(
    "level",
    [0, -1, 2, 10**18, 10**5000, True, 1.0, float("nan"), "1", b"1", [1], {}, {"level": 1}],
    ids=lambda level: "huge" if level == 10**5000 else ascii(level),
)
def test_levels_that_are_none(level):
    for one in (
        {"variable": "sex", "level": level},
        {"variable": "key", "level": level},
        {"variable": ["sex"], "level": level},
        {"variable": "sex", "level": 1, "sql": level},
        {"level": level},
        {level: 1} if isinstance(level, str | bytes | int) else {},
    ):
        assert asks(asked_of([one], {})) is None
        assert asks(asked_of(["sex", one], {"age": ["0", "1"]})) is None
        assert asks(asked_of(one, {})) is None
    for levels in ((("sex", level),), (("sex", level), ("sex", level)), (("key", level),), level):
        question = Question("census", ("sex", "age"), (), levels)  # pyright: ignore
        if levels == (("key", level),):
            continue  # of no variable of the table: nothing is asked by it
        assert asks(question) is None


def test_deep_and_wide_json():
    deep = json.loads("[" * 500 + "]" * 500)
    wide = {f"v{i}": ["0"] for i in range(10_001)}
    for part in (deep, {"a": deep}, wide):
        assert asks(asked_of(["sex"], part)) is None
        assert asks(asked_of(part, {})) is None
        assert asks(part) is None


NAMES = st.sampled_from([*CODES, *HIDDEN, "key", "f", "0", "1", "census", "count", *STRANGE])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "data": st.just("census") | ANYTHING,
        "by": st.lists(NAMES, max_size=3) | ANYTHING,
        "where": st.dictionaries(NAMES, st.lists(NAMES, max_size=3) | ANYTHING, max_size=3)
        | ANYTHING,
        "measure": st.just("count") | ANYTHING,
    },
)


@given(NEARLY | ANYTHING)
@examples(300)
def test_whatever_is_sent_is_answered_or_refused_with_what_is_known(asked):
    asks(asked, TABLES)


# ── what is wrong behind the service ────────────────────────────────────────────────


def test_nothing_is_said_of_records_that_went_away_or_broke(tmp_path):
    path = tmp_path / "secret_place.parquet"
    pq.write_table(pa.table(PEOPLE), path)
    tables = tabulator(replace(DATA, records=str(path)))
    path.unlink()
    for content in (None, b"PAR1 and nothing of use", b""):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Refused, match="cannot be tabulated") as found:
            tables.answer(asked_of(["sex"], {}), who="anne")
        assert "secret_place" not in str(found.value) and found.value.__cause__ is None


@pytest.mark.parametrize("wrong", [OSError("/secret is full"), MemoryError("secret")])
def test_nothing_is_said_of_an_engine_that_fails(wrong):
    def broken(_):
        raise wrong

    with pytest.raises(Refused, match="cannot be tabulated") as found:
        tabulator(DATA, engine=broken).answer(asked_of(["sex"], {}), who="anne")
    assert "secret" not in str(found.value) and found.value.__cause__ is None


def test_nothing_is_said_of_noise_that_does_not_fit():
    """A table that takes counts below 0: what it does is confidential, in a refusal, too."""
    rows = np.array([[0.0, 0, 0, 1, 0], [0.5, 0, 0, 0, 0.5]])
    noise = PerturbationTable(np.arange(2), np.arange(-3, 2), rows / rows.sum(1)[:, None])
    few = {name: column[:3] for name, column in PEOPLE.items()}
    tables = tabulator(census(few, noise=noise))
    with pytest.raises(Refused, match="cannot be tabulated") as found:
        for name in CODES:
            tables.answer(asked_of([name], {}), who="anne")
    assert "below" not in str(found.value)


# ── differences, and users who work together ────────────────────────────────────────


def test_the_difference_of_two_questions_has_the_noise_of_both():
    """Cells that differ by one record: over 2,000 keys, as if drawn each for itself."""
    draw = np.random.default_rng(4)
    records = {name: np.full(31, codes[0]) for name, codes in CODES.items()}
    records["age"] = np.array(["0"] * 30 + ["1"])
    records["key"] = draw.integers(2**32, size=31)
    data = census(records)
    lookup = tabulator(data)._lookups["census"]
    pair = []
    with DuckDBEngine(source(data.records)) as engine:
        for by, place in ((["age"], 0), ([], 0)):
            family = Question.of(asked_of(by, {})).family(data)
            pair.append((counted(family, data, engine), family, place))
    seen = Counter(
        int(shown_counts(whole, total, data, lookup, keys).ravel()[0])
        - int(shown_counts(cells, ages, data, lookup, keys).ravel()[place])
        for keys in (SecretKeys(i.to_bytes(32, "big")) for i in range(1, 2001))
        for (cells, ages, place), (whole, total, _) in [pair]
    )
    row = data.noise.probabilities[-1]
    expected = np.convolve(row, row[::-1])
    found = np.array([seen[1 + i - len(row) + 1] / 2000 for i in range(len(expected))])
    assert abs(found - expected).sum() / 2 < 0.06


def test_users_who_share_their_answers_have_no_more_than_one():
    limited = replace(DATA, questions=6)
    names = [*CODES]
    pairs = [[a, b] for i, a in enumerate(names) for b in names[:i]]
    alone, shared = tabulator(limited), tabulator(limited)
    given_ = {"one": {}, "three": {}}
    for at, by in enumerate(pairs * 2 + [[name] for name in names] * 2):
        for kind, tables, who in (("one", alone, "x"), ("three", shared, f"u{at % 3}")):
            try:
                answer = tables.answer(asked_of(by[:: 1 - 2 * (at % 2)], {}), who=who)
            except Refused:
                continue
            family = answer.question.family(DATA)
            assert given_[kind].setdefault(family, shown(answer)) == shown(answer)
    assert given_["one"] == given_["three"] and len(given_["one"]) == 6


def test_many_at_once_get_no_more_than_the_limit():
    tables = Tabulator([replace(DATA, questions=4)], KEYS)
    asked = [asked_of([name], {"age": [f"{i}", "9"]}) for name in ("sex", "re") for i in range(8)]
    given_, refused = [], []

    def ask(one, who):
        try:
            given_.append(tables.answer(one, who=who))
        except Refused:
            refused.append(one)

    threads = [
        threading.Thread(target=ask, args=(one, f"user {at % 3}")) for at, one in enumerate(asked)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given_) == 4 and len(refused) == 12
