"""Several processes answer from one journal: together they give no more than the limits."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from serving import KEYS, census, people
from test_journal import ask, changed, file, place, posix, tables

from diskret.errors import InputError, VerificationError
from diskret.publish.store.connection import Busy
from diskret.publish.store.database import Line, database
from diskret.serve.allowance import Allowance, _Counted
from diskret.serve.answers import Refused
from diskret.serve.journal import Journal
from diskret.serve.limits import Rate
from diskret.serve.question import Family

__all__ = ["file", "place"]
PEOPLE = people(500)

#: Asks for tables with several threads once it is told to begin, and says what it was given.
WORKER = """
import sys, json
sys.path.insert(0, sys.argv[1])
from concurrent.futures import ThreadPoolExecutor
from serving import CODES
from test_journal import Refused, ask, tables
own = tables(sys.argv[2], questions=6, questions_each=3)
print("ready", flush=True)
sys.stdin.readline()

def one(at):
    by = [name for bit, name in enumerate(CODES) if at % 16 >> bit & 1]
    try:
        return by, f"u{at % 5}", ask(own, by, f"u{at % 5}").value.tolist()
    except Refused:
        return by, f"u{at % 5}", None

with ThreadPoolExecutor(4) as pool:
    print(json.dumps([*pool.map(one, range(48)[:: int(sys.argv[3])])]), flush=True)
"""


@contextmanager
def running(source, *arguments):
    tests = str(Path(__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", source, tests, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, tests])},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_processes_together_keep_the_limits(place):
    with running(WORKER, place, "1") as one, running(WORKER, place, "-1") as two:
        for process in (one, two):
            assert process.stdout.readline() == "ready\n"
        for process in (one, two):
            process.stdin.write("begin\n")
            process.stdin.flush()
        said = [json.loads(process.stdout.readline()) for process in (one, two)]
    answers, given = {}, {}
    for by, who, value in (one for told in said for one in told):
        if value is not None:
            assert answers.setdefault(tuple(by), value) == value
            given.setdefault(who, set()).add(tuple(sorted(by)))
    # all of these tables count every record
    assert len(answers) == 6
    assert max(map(len, given.values())) == 3
    noted = [one for one in Journal(place, KEYS).entries() if one.happened == "asked"]
    entered = [(one.who, one.family.variables) for one in noted if one.family is not None]
    assert sorted(entered) == sorted((who, by) for who, own in given.items() for by in own)


#: Counts many tables at the same time, and says so of each once it is counted.
COUNTER = """
import sys
sys.path.insert(0, sys.argv[1])
from concurrent.futures import ThreadPoolExecutor
from serving import KEYS, census
from diskret.serve.allowance import Allowance, _Counted
from diskret.serve.journal import Journal
from diskret.serve.limits import Rate
from diskret.serve.question import Family
allowance, data = Allowance(Journal(sys.argv[2], KEYS).turn), census(questions=10**6)

def one(at):
    allowance.ask([Family("census", ("sex",), (("age", (str(at), "x")),))], "anne", data)
    sys.stdout.write(f"{at}\\n")
    sys.stdout.flush()

with ThreadPoolExecutor(8) as pool:
    list(pool.map(one, range(100_000)))
"""


@posix
@pytest.mark.long
def test_nothing_that_was_counted_together_is_lost_by_a_kill(place):
    with running(COUNTER, place) as process:
        said = [process.stdout.readline() for _ in range(40)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
    acknowledged = {line.strip() for line in said if line.endswith("\n")}
    noted = {dict(one.family.where)["age"][0] for one in Journal(place, KEYS).entries()}
    assert acknowledged <= noted and len(noted) <= len(acknowledged) + 8


FAMILIES = st.builds(
    Family,
    st.sampled_from(["census", "other"]),
    st.sampled_from([(), ("sex",)]),
    st.dictionaries(
        st.sampled_from(["age", "re"]),
        st.lists(st.sampled_from("abc"), min_size=2, max_size=2, unique=True).map(tuple),
    ).map(lambda kept: tuple(sorted(kept.items()))),
)


@given(st.sets(FAMILIES), FAMILIES)
@examples(100)
def test_tables_that_meet_are_counted(families, family):
    counted = _Counted()
    for one in families:
        counted.add(one)
    assert counted.meeting(family) == sum(map(family.meets, families))


def test_who_asks_at_the_same_time_is_kept_together_and_judged_apart():
    class Slow:
        """Keeps one batch at a time, and remembers them."""

        news = ()

        def __init__(self):
            self.kept, self.full, self.go = [], False, threading.Event()

        @contextmanager
        def turn(self):
            assert self.go.wait(10)
            yield self

        def add(self, asked):
            if self.full:
                raise OSError("no space")
            self.kept.append(asked)

    slow = Slow()
    slow.go.set()
    allowance = Allowance(slow.turn)
    slow.go.clear()
    data, refused = census(PEOPLE, questions=5), []

    def one(at):
        try:
            allowance.ask([Family("census", (f"v{at % 8}",), ())], f"u{at}", data)
        except (Refused, OSError) as error:
            refused.append((at, error))

    threads = [threading.Thread(target=one, args=(at,)) for at in range(16)]
    for thread in threads:
        thread.start()
    slow.go.set()
    for thread in threads:
        thread.join()
    kept = [asked for batch in slow.kept for asked in batch]
    assert len({asked.family for asked in kept}) == 5 and len(kept) == 10
    assert sorted(at for at, _ in refused) == sorted(
        at for at in range(16) if f"u{at}" not in {asked.who for asked in kept}
    )
    assert len(slow.kept) < 10  # some were kept together
    slow.full = True
    with pytest.raises(OSError):
        allowance.ask([kept[0].family], "late", data)
    assert not allowance.had(kept[0].family, "late")


def test_tables_that_are_asked_for_together_are_counted_all_or_none(file):
    allowance, data = Allowance(Journal(file, KEYS).turn), census(PEOPLE, questions=3)
    one, two, three, four = (Family("census", (f"v{at}",), ()) for at in range(4))
    allowance.ask([one, two, one], "anne", data)
    with pytest.raises(Refused):
        allowance.ask([three, four], "anne", data)
    assert allowance.left("anne", data) == 1
    assert not allowance.had(three, "anne") and not allowance.had(four, "anne")
    allowance.ask([one, three], "bob", data)
    assert Journal(file, KEYS).check() == 4


def test_a_table_that_another_process_gave_costs_nothing(place):
    first, second = (tables(place, questions=1) for _ in range(2))
    value = ask(first, ["sex"]).value.tolist()
    assert ask(second, ["sex"], "bob").value.tolist() == value
    for own in (first, second):
        with pytest.raises(Refused):
            ask(own, ["age"])
    assert Journal(place, KEYS).check() == 2


def test_what_is_answered_again_enters_nothing(place, monkeypatch):
    own = tables(place)
    ask(own, ["sex"])
    monkeypatch.setattr(own._journal._line, "transaction", None)  # nothing can be entered any more
    assert ask(own, ["sex"]).value.tolist() == ask(own, ["sex"]).value.tolist()


# ── the connection that stays open ──────────────────────────────────────────────────


def test_others_wait_and_not_for_ever(place):
    one, other = (Line(database(place), "serve", wait) for wait in (10, 0.05))
    with one.transaction() as connection:
        connection.ask("INSERT INTO diskret_unfinished VALUES (1, '', '')")
        with pytest.raises(Busy), other.transaction():
            pass
        with pytest.raises(Busy), Line(database(place), "serve", 0.05).transaction():
            pass
    with other.transaction() as connection:  # what was not committed is undone
        assert connection.ask("SELECT id FROM diskret_unfinished") == []


def test_a_line_that_was_cut_is_opened_again(place):
    line = Line(database(place), "serve", 5)
    with line.transaction() as connection:
        connection.ask("SELECT 1")
        connection.commit()
    connection.close()
    with line.transaction() as connection:
        assert [*connection.ask("SELECT 1")[0]] == [1]
    line.close()
    with pytest.raises(InputError, match="cannot be used"), line.transaction() as connection:
        connection.ask("SELECT nothing FROM nowhere")
    with line.transaction() as connection:
        assert [*connection.ask("SELECT 1")[0]] == [1]


def test_a_file_that_another_took_the_place_of_is_not_written_any_more(file, tmp_path):
    own = tables(file)
    ask(own, ["sex"])
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(file).read_bytes())
    copy.chmod(0o600)
    os.replace(copy, file)
    ask(own, ["age"])
    assert Journal(file, KEYS).check() == 2


def test_what_could_not_be_entered_stays_gathered(file):
    journal = Journal(file, KEYS, wait=0.05)
    journal.gather("refused", "anne", None, "too many")
    with Line(database(file), "serve", 5).transaction(), pytest.raises(Busy):
        journal.flush()
    journal.gather("refused", "anne", None, "too many")
    journal.flush()
    journal.note("users changed", "root", "added anne")
    found = [(one.happened, one.who, one.times, one.why) for one in journal.entries()]
    assert found == [
        ("refused", "anne", 2, "too many"),
        ("users changed", "root", 1, "added anne"),
    ]


def test_what_is_gathered_is_bounded(file, monkeypatch):
    monkeypatch.setattr("diskret.serve.journal._GATHERED", 3)
    journal = Journal(file, KEYS)
    for at in range(10):
        journal.gather("not let in", f"10.0.0.{at}", None)
    journal.flush()
    found = {one.who: one.times for one in journal.entries()}
    assert found == {"10.0.0.0": 1, "10.0.0.1": 1, "10.0.0.2": 1, "": 7}


def test_who_is_not_let_in_is_told_but_not_without_end():
    pytest.importorskip("fastapi", reason="optional: needs diskret[web]")
    from diskret.serve.web.gate import Gate
    from diskret.serve.web.problems import Unanswered

    noted = []
    rates = Rate(1, 1), Rate(0.1, 3)
    gate = Gate(lambda *_: None, *rates, clock=lambda: 0.0, noted=noted.append)
    for _ in range(5):
        with pytest.raises(Unanswered):
            gate.let_in("Bearer dsk_guessed", "10.0.0.1")
    assert noted == ["10.0.0.1"] * 3


def test_a_check_finds_an_end_that_was_cut_off(file):
    own = tables(file)
    for name in ("sex", "age"):
        ask(own, [name])
    assert own._journal.check() == 2
    changed(file, "DELETE FROM diskret_serve_log WHERE number = 2")
    with pytest.raises(VerificationError, match="2 entries, and there is 1"):
        own._journal.check()
