"""Several publish at once, on a file and on a server; some are killed."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.publish.store.database import database, reading

posix = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")
KEYS = dk.SecretKeys(bytes(range(32)))
NUMBER = itertools.count()

#: Publishes a table as NAME in a folder of its own; is killed at a step, if one is named.
PUBLISHER = """
import os, signal, sys
from pathlib import Path
import pyarrow as pa
import diskret as dk
from diskret.publish.store import store

place, home, name, step = sys.argv[1:]
cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
ledger = dk.Ledger(place, keys=dk.SecretKeys(bytes(range(32))))
result = dk.suppress(table, dk.rules.MinimumFrequency(3), name="firms", ledger=ledger)
if step:
    when, where = step.split()
    real = getattr(store, where)
    def killed(*arguments):
        if when == "after":
            real(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(store, where, killed)
ledger.publish(result, Path(home) / name, formats=["csv"], who="clerk")
"""


@pytest.fixture(params=["file", "server"])
def place(request, tmp_path):
    if request.param == "file":
        place = str(tmp_path / "releases.db")
        dk.Ledger.create(place, keys=KEYS)
        return place
    from engines.postgres_server import administrator, server

    name = f"ledger{next(NUMBER)}"
    connection = administrator()
    connection.run(f"CREATE DATABASE {name}")
    connection.close()
    place = f"postgresql://postgres@/{name}?host={server()}"
    with pytest.raises(InputError, match="there is no ledger.*database without a ledger"):
        dk.Ledger(place, keys=KEYS)
    dk.Ledger.create(place, keys=KEYS)
    return place


def start(place: str, home: Path, name: str, step: str = ""):
    return subprocess.Popen(
        [sys.executable, "-c", PUBLISHER, place, str(home), name, step],
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    _, said = process.communicate(timeout=120)
    return process.returncode, said


def beside(home: Path):
    return {path.name for path in home.iterdir() if path.is_dir()}


@pytest.mark.long
def test_publishers_go_one_after_the_other(tmp_path, place):
    names = ["a", "b"]
    for process in [start(place, tmp_path, name) for name in names]:
        code, said = end(process)
        assert code == 0, said
    ledger = dk.Ledger(place, keys=KEYS)
    assert ledger.verify([tmp_path / name for name in names]) == 2
    assert sorted(release.name for release in ledger.releases()) == names
    assert [release.entry.number for release in ledger.releases()] == [1, 2]
    assert beside(tmp_path) == set(names)


@pytest.mark.long
@posix
@pytest.mark.parametrize(("step", "in_place"), [("before move", False), ("after move", True)])
def test_a_killed_publisher_leaves_both_or_neither(tmp_path, place, step, in_place):
    code, said = end(start(place, tmp_path, "a", step))
    assert code == -signal.SIGKILL, said
    ledger = dk.Ledger(place, keys=KEYS, wait=10)
    found = [release.name for release in ledger.releases()]
    assert found == (["a"] if in_place else [])
    assert beside(tmp_path) == set(found)
    ledger.verify([tmp_path / name for name in found])
    if in_place:
        assert dk.Published.read(tmp_path / "a").suppressed.any()


@pytest.mark.long
def test_what_a_team_shares_is_there_for_all(tmp_path, place):
    code, said = end(start(place, tmp_path, "a"))
    assert code == 0, said
    ledger = dk.Ledger(place, keys=KEYS)
    ledger.withdraw("a", "wrong", who="head")
    [release] = dk.Ledger(place, keys=KEYS).releases()
    assert release.withdrawn.why == "wrong"
    [kept] = ledger.tables("a")
    assert kept.original.tolist() == [14, 7, 2, 5]
    assert "@" not in repr(ledger)


def test_what_is_not_committed_is_undone(place):
    found = database(place)
    for end in ("commit", "rollback", "close"):
        with reading(found) as connection:
            connection.ask("INSERT INTO diskret_unfinished VALUES (?, ?, ?)", 1, "", "")
            getattr(connection, end)()
        with reading(found) as connection:
            kept = connection.ask("SELECT id FROM diskret_unfinished")
            connection.ask("DELETE FROM diskret_unfinished")
            connection.commit()
        assert len(kept) == (end == "commit")


def test_a_server_that_is_not_there_is_said_without_the_password():
    url = "postgresql://clerk:secret@localhost:1/nowhere"
    with pytest.raises(dk.DiskretError, match=r"the ledger postgresql://localhost:1/nowhere") as no:
        dk.Ledger(url, keys=KEYS)
    assert "secret" not in str(no.value)
