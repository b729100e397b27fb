"""The journal of a service: what it keeps, whoever shares it, and that nobody changes it."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from serving import KEYS, census, people

import diskret as dk
from diskret.errors import InputError, KeyFileError, VerificationError
from diskret.publish.store.database import database, reading
from diskret.serve import Tabulator
from diskret.serve.answers import Refused
from diskret.serve.journal import Journal
from diskret.serve.question import Question

PEOPLE = people(800)
NUMBER = itertools.count()
posix = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.long)])
def place(request, tmp_path):
    place = str(tmp_path / "service.db")
    if request.param == "server":
        from engines.postgres_server import administrator, server

        name = f"service{next(NUMBER)}"
        connection = administrator()
        connection.run(f"CREATE DATABASE {name}")
        connection.close()
        place = f"postgresql://postgres@/{name}?host={server()}"
    dk.Ledger.create(place, keys=KEYS)
    return place


@pytest.fixture
def file(tmp_path):
    dk.Ledger.create(tmp_path / "service.db", keys=KEYS)
    return str(tmp_path / "service.db")


def tables(place, **limits):
    return Tabulator([census(PEOPLE, **limits)], KEYS, journal=Journal(place, KEYS))


def ask(tables, by, who="anne", **where):
    return tables.answer({"data": "census", "by": [*by], "where": where}, who=who)


def changed(place, statement, *values):
    with reading(database(place)) as connection:
        connection.ask(statement, *values)
        connection.commit()


def test_what_was_asked_counts_after_a_restart_and_has_the_same_answer(place):
    first = ask(tables(place, questions=1), ["sex", "age"])
    again = tables(place, questions=1)
    assert (ask(again, ["age", "sex"], "bob").value.T == first.value).all()
    with pytest.raises(Refused):
        ask(again, ["re"])
    assert again.allowance.left("anne", again.data["census"]) == 0


def test_processes_share_what_may_be_asked(place):
    several = [tables(place, questions=5) for _ in range(3)]
    given, refused = [], []

    def work(at):
        for name in ("re", "sex", "region"):
            for code in range(4):
                where = {"age": [f"{code}", f"{code + 1}"]}
                try:
                    given.append((name, code, ask(several[at], [name], f"user {at}", **where)))
                except Refused:
                    refused.append((name, code))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = census(PEOPLE)
    families = {one.question.family(data) for _, _, one in given}
    everybody = {f"{age}" for age in range(10)}
    for age in everybody:  # no record is in more tables than may count it
        assert sum(age in dict(family.where).get("age", everybody) for family in families) <= 5
    assert len(given) + len(refused) == 36 and refused
    fresh = tables(place, questions=5)
    for name, code, answer in given:
        where = {"age": [f"{code}", f"{code + 1}"]}
        assert (ask(fresh, [name], **where).value == answer.value).all()


ASKER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_journal import ask, tables
own = tables(sys.argv[2], questions=1000)
for at in range(1000):
    codes = [str(one) for one in range(10) if at + 1 >> one & 1]
    if 1 < len(codes) < 10:
        ask(own, ["sex"], age=codes)
        print(",".join(codes), flush=True)
"""


@posix
@pytest.mark.long
def test_what_was_acknowledged_is_there_after_a_kill(place):
    tests = Path(__file__).parent
    path = os.pathsep.join([*sys.path, str(tests)])
    process = subprocess.Popen(
        [sys.executable, "-c", ASKER, str(tests), place],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    said = [process.stdout.readline().strip() for _ in range(12)]
    os.kill(process.pid, signal.SIGKILL)
    said += process.stdout.read().split()
    process.wait()
    entries = [*Journal(place, KEYS).entries()]
    noted = {",".join(dict(one.family.where)["age"]) for one in entries}
    assert {*said} <= noted and len(noted) <= len(said) + 1
    # what was noted is answered on, and nothing else
    again = tables(place, questions=len(noted) - 1)
    for codes in said:
        ask(again, ["sex"], age=codes.split(","))


def test_the_journal_says_what_happened(file):
    journal = Journal(file, KEYS)
    own = Tabulator([census(PEOPLE, questions=1)], KEYS, journal=journal)
    ask(own, ["sex"])
    ask(own, ["sex"])
    question = Question("census", ("sex",))
    assert own.kept(question, who="anne") is not None and own.kept(question, who="bob") is None
    with pytest.raises(Refused):
        ask(own, ["re"], "bob")
    assert [one.happened for one in journal.entries()] == ["asked"]
    journal.flush()
    journal.flush()
    entries = [*Journal(file, KEYS).entries()]
    assert [(one.happened, one.who, one.times) for one in entries] == [
        ("asked", "anne", 1),
        ("answered", "anne", 3),
        ("refused", "bob", 1),
    ]
    assert entries[0].family == question.family(census(PEOPLE))
    assert "all 1 tables" in entries[2].why


def test_no_value_is_in_it(file):
    own = tables(file)
    answer = ask(own, ["re", "sex", "age"])
    own._journal.flush()
    text = " ".join(one.text for one in own._journal.entries())
    large = [value for value in answer.value.ravel().tolist() if value > 20]
    assert large and not any(f" {value}" in text for value in large)


def test_nobody_changes_it(file):
    own = tables(file)
    for name in ("re", "sex", "age"):
        ask(own, [name])
    rows = "diskret_serve_log"
    for statement in (
        f"UPDATE {rows} SET text = replace(text, 'anne', 'eve') WHERE number = 2",
        f"DELETE FROM {rows} WHERE number = 2",
        f"DELETE FROM {rows} WHERE number = 3",
        f"UPDATE {rows} SET text = (SELECT text FROM {rows} WHERE number = 1) WHERE number = 2",
        "UPDATE diskret_serve_head SET text = replace(text, '3', '2')",
        "DROP TABLE diskret_serve_head",
    ):
        before = Path(file).read_bytes()
        changed(file, statement)
        with pytest.raises(VerificationError):
            list(Journal(file, KEYS).entries())
        with pytest.raises(VerificationError):
            tables(file)
        Path(file).write_bytes(before)
    assert len([*Journal(file, KEYS).entries()]) == 3


def test_a_journal_that_was_put_back_is_noticed_while_the_service_runs(file):
    own = tables(file)
    ask(own, ["re"])
    before = Path(file).read_bytes()
    ask(own, ["sex"])
    Path(file).write_bytes(before)
    with pytest.raises(VerificationError):
        ask(own, ["age"])


def test_what_cannot_be_kept_is_not_answered(file, monkeypatch):
    own = tables(file)

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(own._journal, "enter", full)
    with pytest.raises(OSError):
        ask(own, ["sex"])
    assert len(own.memory) == 0 and own.allowance.left("anne", own.data["census"]) == 100


def test_there_is_a_ledger_and_these_are_its_keys(tmp_path, file):
    with pytest.raises(InputError, match="there is no ledger"):
        Journal(tmp_path / "no.db", KEYS)
    with pytest.raises(KeyFileError):
        Journal(file, dk.SecretKeys(bytes(range(1, 33))))
