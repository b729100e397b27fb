"""A disk without space: what is not noted is not answered, and the service goes on afterwards."""

import errno
from itertools import combinations

import pytest
from hiding import hidden_data, persons, releasing
from over_http import listening, send
from serving import KEYS, census, people, tabulator

import diskret as dk
from diskret.publish.store.connection import Full
from diskret.publish.store.sqlite import SqliteConnection
from diskret.serve.answers import Refused
from diskret.serve.journal import Journal
from diskret.serve.question import Question

PEOPLE = people(300)
SETS = [list(ages) for size in (2, 3) for ages in combinations("0123456789", size)]


@pytest.fixture
def disk(monkeypatch):
    """SQLite on a disk that holds no page more as long as it is full."""
    ask, state = SqliteConnection.ask, {"full": False}

    def limited(self, statement, *values):
        # SQLite takes what there is for the least
        ask(self, f"PRAGMA max_page_count = {1 if state['full'] else 10**9}")
        return ask(self, statement, *values)

    monkeypatch.setattr(SqliteConnection, "ask", limited)
    return state


def told(address, ages, language="en"):
    body = {"data": "census", "by": ["sex"], "where": {"age": ages}}
    return send(address, "POST", f"/v1/tables?language={language}", body)


def noted(place):
    entries = Journal(place, KEYS).entries()
    return [dict(one.family.where)["age"] for one in entries if one.happened == "asked"]


def test_nothing_is_answered_that_is_not_noted(tmp_path, disk, caplog):
    place = str(tmp_path / "service.db")
    dk.Ledger.create(place, keys=KEYS)
    tables = tabulator(census(PEOPLE, questions=10_000), journal=Journal(place, KEYS))
    with listening(tables) as address:
        first = told(address, SETS[0])
        assert first.status == 200
        disk["full"] = True
        given = [SETS[0]]
        while (got := told(address, SETS[len(given)])).status == 200:
            given.append(SETS[len(given)])
        ages = SETS[len(given)]
        assert got.status == 503 and got.headers["retry-after"] == "60"
        assert got.problem.startswith("the service cannot note just now what it answers")
        german = told(address, ages, "de").problem
        assert german.startswith("der Dienst kann zurzeit nicht vermerken")
        # the office is told where; readers are not
        assert f"no space left for the ledger {place}" in caplog.text
        assert place not in got.problem and place not in german
        # what is in memory needs no space
        assert told(address, SETS[0]).json == first.json
        assert noted(place) == [tuple(one) for one in given]
        disk["full"] = False
        assert told(address, ages).status == 200
        assert noted(place) == [tuple(one) for one in (*given, ages)]
    assert Journal(place, KEYS).check() == len(given) + 1


def test_a_table_without_space_for_its_files_is_no_refusal(tmp_path, monkeypatch):
    data = hidden_data(persons())
    tables = releasing(tmp_path, data)
    question = Question.of({"data": "persons", "by": ["sex", "age"]})

    def full(*_args, **_more):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("diskret.publish.staging.os.fsync", full)
        with pytest.raises(Full, match="no space left"):
            tables.answer(question, who="anne")
    assert not dk.Ledger(tmp_path / "ledger.db", KEYS).releases()
    tables.answer(question, who="anne")
    assert len(dk.Ledger(tmp_path / "ledger.db", KEYS).releases()) == 1


def test_records_that_cannot_be_tabulated_stay_a_refusal(monkeypatch):
    tables = tabulator()
    monkeypatch.setattr(tables, "_counted", lambda *_: (_ for _ in ()).throw(OSError(5, "broken")))
    with pytest.raises(Refused, match="cannot be tabulated"):
        tables.answer(Question.of({"data": "census", "by": ["sex"]}), who="anne")
