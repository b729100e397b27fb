"""Old entries move out of the journal: nothing that counts is lost, and all is checked together."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from serving import KEYS, census
from test_journal import ask, changed, file, place, posix, tables

from diskret.errors import VerificationError
from diskret.publish.store.database import database, reading
from diskret.serve import journal as journals
from diskret.serve.allowance import Allowance
from diskret.serve.answers import Refused
from diskret.serve.journal import Journal
from diskret.serve.question import Family

__all__ = ["file", "place"]
#: As many different tables as are needed.
WHERE = [(f"{a}", f"{b}") for a in range(10) for b in range(a)]


def count(journal, numbers, who="anne"):
    """Count tables without computing them."""
    families = [Family("census", ("sex",), (("age", WHERE[number]),)) for number in numbers]
    allowance = Allowance(journal.turn)
    for family in families:
        allowance.ask([family], who, census(questions=10**6))
    return {(family, who) for family in families}


def rows(place):
    with reading(database(place)) as connection:
        return connection.ask("SELECT count(*) FROM diskret_serve_log")[0][0]


@pytest.fixture
def small(monkeypatch):
    """Files of a few entries."""
    monkeypatch.setattr(journals, "_SEGMENT", 10)


def test_what_was_counted_goes_on_to_count(place, tmp_path, small):
    archive, own = tmp_path / "archive", Journal(place, KEYS)
    first = ask(tables(place, questions=30), ["sex"])
    asked = count(own, range(12)) | count(own, range(5, 20), "bob")
    own.gather("refused", "eve", None, "why not")
    own.flush()
    assert own.roll(archive, "carl") == 29
    assert [path.name for path in sorted(archive.iterdir())] == [
        f"journal-{number:012d}.jsonl" for number in (1, 11, 21)
    ]
    # the three entries that say what was moved
    assert rows(place) == 3
    assert own.roll(archive) == 0 and rows(place) == 3
    entries = [*Journal(place, KEYS).entries(archive)]
    assert [one.number for one in entries] == [*range(1, 33)]
    noted = {(one.family, one.who) for one in entries if one.happened == "asked"}
    assert asked <= noted and len(noted) == len(asked) + 1
    assert [(one.who, one.times) for one in entries[-3:]] == [("carl", 10)] * 2 + [("carl", 9)]
    assert own.check(archive) == 32 and Journal(place, KEYS).check() == 3
    again = tables(place, questions=21)
    for family, who in asked:
        assert again.allowance.had(family, who)
    assert (ask(again, ["sex"]).value == first.value).all()
    with pytest.raises(Refused, match="all 21 tables"):
        ask(again, ["re"])


def test_where_nothing_was_entered_nothing_moves(file, tmp_path):
    own = Journal(file, KEYS)
    assert own.check() == own.check(tmp_path) == own.roll(tmp_path / "archive") == 0
    assert not (tmp_path / "archive").exists()


def test_a_process_that_runs_learns_what_others_counted_before_it_was_moved(place, tmp_path):
    running = tables(place, questions=6)
    ask(running, ["sex"])
    asked = count(Journal(place, KEYS), range(5), "bob")
    Journal(place, KEYS).roll(tmp_path / "archive")
    with pytest.raises(Refused):
        ask(running, ["re"])
    assert all(running.allowance.had(family, who) for family, who in asked)
    count(Journal(place, KEYS), range(5, 7), "bob")
    again = tables(place, questions=8)
    with pytest.raises(Refused):
        ask(again, ["re"])


def test_it_is_rolled_again_and_again(place, tmp_path, small):
    archive, own, asked, moved = tmp_path / "archive", Journal(place, KEYS), set(), 0
    for start in range(0, 40, 8):
        asked |= count(own, range(start, start + 8))
        moved += own.roll(archive)
        assert own.check(archive) == moved + rows(place)
    again = tables(place, questions=10**6)
    assert len(asked) == 40 and all(again.allowance.had(*one) for one in asked)
    # old files may be put elsewhere, the oldest first
    oldest, second, *_ = sorted(archive.iterdir())
    oldest.unlink()
    numbers = [one.number for one in Journal(place, KEYS).entries(archive)]
    assert numbers[0] > 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]
    own.check(archive)
    second.rename(tmp_path / "second")
    own.check(archive)
    (tmp_path / "second").rename(second)
    sorted(archive.iterdir())[1].unlink()
    with pytest.raises(VerificationError, match="a file is missing"):
        own.check(archive)


def sabotage(archive):
    """Ways to change what was moved out."""
    one, two, *_, last = sorted(archive.iterdir())
    text = two.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    yield lambda: two.write_text(text.replace("anne", "eve", 1), "utf-8")
    yield lambda: two.write_text("".join([*lines[:3], *lines[4:]]), "utf-8")
    yield lambda: two.write_text("".join([*lines[:2], lines[3], lines[2], *lines[4:]]), "utf-8")
    yield lambda: two.write_text("".join(lines[:-1]), "utf-8")
    yield lambda: two.write_text(text + lines[-1], "utf-8")
    yield lambda: two.write_text(text + "[1]\n", "utf-8")
    yield lambda: two.write_text("".join(lines[1:]), "utf-8")
    yield lambda: two.write_text(one.read_text("utf-8"), "utf-8")
    yield lambda: last.unlink()


def test_nobody_changes_what_was_moved(file, tmp_path, small):
    archive, own = tmp_path / "archive", Journal(file, KEYS)
    count(own, range(35))
    own.roll(archive)
    before = {path: path.read_bytes() for path in archive.iterdir()}
    assert len(before) == 4
    for change in sabotage(archive):
        change()
        with pytest.raises(VerificationError):
            own.check(archive)
        for path, content in before.items():
            path.write_bytes(content)
    assert own.check(archive) == 39


def test_nobody_changes_what_is_carried_over(file, tmp_path, small):
    own = Journal(file, KEYS)
    count(own, range(3))
    early = Path(file).read_bytes()
    count(own, range(3, 35))
    own.roll(tmp_path / "archive")
    head, log, kept = (f"diskret_serve_{name}" for name in ("head", "log", "kept"))
    with reading(database(file)) as connection:
        ends = {row[0]: row[1:] for row in connection.ask(f"SELECT id, text, seal FROM {head}")}
    Path(tmp_path / "early.db").write_bytes(early)
    with reading(database(tmp_path / "early.db")) as connection:
        old = connection.ask(f"SELECT text, seal FROM {head} WHERE id = 1")[0]
    last = f"(SELECT max(number) FROM {log})"
    for statement, *values in (
        (f"DELETE FROM {head} WHERE id = 2",),
        (f"DELETE FROM {head} WHERE id = 1",),
        (f"UPDATE {head} SET text = replace(text, ': 3', ': 2') WHERE id = 2",),
        (f"UPDATE {head} SET text = ?, seal = ? WHERE id = 2", *ends[1]),
        # an end from before anything was moved, with what is there now
        (f"UPDATE {head} SET text = ?, seal = ? WHERE id = 1", *old),
        (f"DELETE FROM {kept}",),
        (f"UPDATE {kept} SET arrays = x'00' WHERE number = {last}",),
        (f"UPDATE {kept} SET arrays = (SELECT arrays FROM {kept} LIMIT 1)",),
        (f"DELETE FROM {log} WHERE number = {last}",),
        (f"UPDATE {log} SET mark = '' WHERE number = {last}",),
    ):
        before = Path(file).read_bytes()
        changed(file, statement, *values)
        with pytest.raises(VerificationError):
            tables(file)
        Path(file).write_bytes(before)
    tables(file)


def test_what_goes_on_to_count_is_compared_with_the_archive(file, tmp_path, monkeypatch):
    own = Journal(file, KEYS)
    count(own, range(5))
    packed = journals._packed
    monkeypatch.setattr(journals, "_packed", lambda asked: packed(asked[1:]))
    own.roll(tmp_path / "archive")
    with pytest.raises(VerificationError, match="does not count"):
        own.check(tmp_path / "archive")


#: Counts tables and moves them out, one after the other, and says which were counted.
ROLLER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_rolling import KEYS, Family, Allowance, Journal, census, journals
journals._SEGMENT = 3
journal = Journal(sys.argv[2], KEYS)
allowance, data = Allowance(journal.turn), census(questions=10**6)
for at in range(100_000):
    allowance.ask([Family("census", ("sex",), (("age", (str(at), "x")),))], "anne", data)
    print(at, flush=True)
    if at % 4 == 3:
        journal.roll(sys.argv[3])
"""


@posix
@pytest.mark.long
def test_nothing_is_lost_by_a_kill_while_entries_move(place, tmp_path):
    tests, archive = str(Path(__file__).parent), tmp_path / "archive"
    said = []
    for lines in (5, 12, 33):
        process = subprocess.Popen(
            [sys.executable, "-c", ROLLER, tests, place, str(archive)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, tests])},
        )
        said += [process.stdout.readline() for _ in range(lines)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
        process.wait()
        journal = Journal(place, KEYS)
        assert journal.check(archive) >= len({*said})
        allowance = Allowance(journal.turn)
        for at in {*said}:
            family = Family("census", ("sex",), (("age", (at.strip(), "x")),))
            assert allowance.had(family, "anne")


@pytest.mark.parametrize("where", ["write", "cut", "commit"])
def test_what_fails_half_way_is_done_by_the_next(place, tmp_path, small, monkeypatch, where):
    archive, own = tmp_path / "archive", Journal(place, KEYS)
    asked = count(own, range(25))

    def fail(*_):
        raise OSError("killed")

    with monkeypatch.context() as patch:
        if where == "write":
            patch.setattr("diskret.serve.archive.os.replace", fail)
        elif where == "cut":
            patch.setattr(journals.log, "cut", fail)
        else:  # all is said to the database, and nothing is kept of it
            patch.setattr(
                "diskret.publish.store.sqlite.SqliteConnection.commit"
                if "://" not in place
                else "diskret.publish.store.postgres.PostgresConnection.commit",
                fail,
            )
        with pytest.raises(Exception, match="killed|cannot be written"):
            own.roll(archive)
    assert Journal(place, KEYS).check(archive) == 25
    count(Journal(place, KEYS), range(25, 30))
    own = Journal(place, KEYS)
    assert own.roll(archive) == 30 and own.check(archive) == 33
    allowance = Allowance(Journal(place, KEYS).turn)
    assert all(allowance.had(*one) for one in asked)
