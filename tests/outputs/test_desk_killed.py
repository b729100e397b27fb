"""The desk's releases, killed between any two steps: in place and in the history, or neither."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ledgers import in_child, kill_at

import diskret.outputs.bundle as bundle
import diskret.publish.store.store as store
from diskret import Ledger
from diskret.errors import VerificationError
from diskret.keys import SecretKeys
from diskret.outputs import Desk, Project, crosstab
from diskret.publish.store.sqlite import SqliteConnection
from diskret.publish.verify.folder import verify

pytestmark = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")

TIMES = ("before", "after")
KEYS = SecretKeys(bytes(range(32)))
#: In this order: say what is going to be written; write; say that it is written; move it into
#: place (twice, where there was a release before); remove the one before; enter it in the history.
STEPS = [
    *((SqliteConnection, "commit", when, call) for call in (1, 2, 3) for when in TIMES),
    *((bundle, name, when, 1) for name in ("write_public", "write_json") for when in TIMES),
    *((store, "move", when, 1) for when in TIMES),
    *((Path, "rename", when, 1) for when in TIMES),
]
FRESH = [step for step in STEPS if step[1] in ("commit", "rename")]
REPLACING = [
    *STEPS,
    *((Path, "rename", when, 2) for when in TIMES),
    *((shutil, "rmtree", when, 1) for when in TIMES),
]
#: From here on the folder is in place.
DONE = {
    False: [("rename", "after", 1), ("move", "after", 1), ("commit", "before", 3)],
    True: [
        ("rename", "after", 2),
        ("rmtree", "before", 1),
        ("rmtree", "after", 1),
        ("move", "after", 1),
        ("commit", "before", 3),
    ],
}


def label(step):
    return "-".join(str(part) for part in step[1:]) if isinstance(step, tuple) else None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with one accepted result, and one with two, the first of them released."""
    homes = {}
    frame = pd.DataFrame({"town": ["A"] * 11 + ["B"] * 30, "all": "x"})
    for replacing in (False, True):
        home = tmp_path_factory.mktemp("desk")
        Ledger.create(home / "ledger.db", keys=KEYS)
        project = Project.create("towns", home / "ledger.db", frame, keys=KEYS, who="Lee")
        project.accept(project.check(crosstab, frame.town, frame["all"]), "old", who="Lee")
        if replacing:
            Desk(home / "ledger.db", keys=KEYS).release("towns", home / "out", who="Lee")
            project.accept(project.check(crosstab, frame["all"], frame.town), "new", who="Lee")
        homes[replacing] = home
    return homes


@pytest.fixture
def home(made, tmp_path):
    def of(replacing):
        shutil.copytree(made[replacing], tmp_path / "home")
        return tmp_path / "home"

    return of


def killed_at(home, step):
    def work():
        kill_at(*step)
        Desk(home / "ledger.db", keys=KEYS).release("towns", home / "out", who="Lee")

    assert in_child(work)


def state_of(home):
    """Results in the folder, how often it was released by the history, what else lies beside it."""
    desk = Desk(home / "ledger.db", keys=KEYS)
    times = [one.happened for one in desk.history("towns")].count("released")
    results = set()
    if (home / "out").exists():
        verify(home / "out", keys=KEYS)
        results = {path.stem for path in (home / "out" / "public").glob("*.csv")}
    beside = {path.name for path in home.iterdir() if not path.name.startswith("ledger.db")}
    return results, times, beside - {"out"}


@pytest.mark.parametrize(
    ("replacing", "step"),
    [
        # what is killed before a step was killed after the last one, more or less
        pytest.param(replacing, step, marks=[pytest.mark.long] * ("before" in step))
        for replacing, steps in ((False, FRESH), (True, REPLACING))
        for step in steps
    ],
    ids=label,
)
def test_in_place_and_in_the_history_or_neither(home, replacing, step):
    place = home(replacing)
    killed_at(place, step)
    done = step[1:] in DONE[replacing] or step[1:] == ("commit", "after", 3)
    if done:
        assert state_of(place) == ({"old", "new"} if replacing else {"old"}, 1 + replacing, set())
    else:
        assert state_of(place) == ({"old"} if replacing else set(), int(replacing), set())
    if not replacing:  # and it can be released again
        Desk(place / "ledger.db", keys=KEYS).release("towns", place / "out", who="Lee")
        assert state_of(place)[0] == {"old"}


@pytest.mark.parametrize(
    "again",
    [
        (SqliteConnection, "commit", "after", 1),
        pytest.param((SqliteConnection, "commit", "before", 2), marks=pytest.mark.long),
        (Path, "rename", "after", 1),
    ],
    ids=label,
)
@pytest.mark.parametrize("first", [("commit", "after", 2), ("rename", "after", 2)], ids=str)
def test_killed_again_while_that_is_put_in_order(home, first, again):
    place = home(True)
    killed_at(place, (SqliteConnection if first[0] == "commit" else Path, *first))

    def recovery():
        kill_at(*again)
        Desk(place / "ledger.db", keys=KEYS)

    in_child(recovery)  # not every step is reached from everywhere
    done = first[0] == "rename"
    expected = ({"old", "new"}, 2, set()) if done else ({"old"}, 1, set())
    assert state_of(place) == expected


def test_what_fails_leaves_nothing_and_what_is_under_way_is_sealed(home, monkeypatch):
    place = home(False)
    desk = Desk(place / "ledger.db", keys=KEYS)
    with monkeypatch.context() as patch:
        patch.setattr(bundle, "write_public", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            desk.release("towns", place / "out", who="Lee")
    assert state_of(place) == (set(), 0, set())
    killed_at(place, (SqliteConnection, "commit", "before", 3))
    connection = SqliteConnection(place / "ledger.db")
    connection.ask("UPDATE diskret_unfinished SET text = replace(text, 'Lee', 'Kim')")
    connection.commit()
    connection.close()
    with pytest.raises(VerificationError, match="does not bear its seal"):
        Desk(place / "ledger.db", keys=KEYS)
