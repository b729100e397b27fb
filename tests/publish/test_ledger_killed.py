"""Killed at any moment: files in place and entered, or neither."""

import json
import os
import shutil
from pathlib import Path

import pytest
from ledgers import die, in_child, kill_at, names, opened, publish

from diskret.publish.store import store as ledger
from diskret.publish.store.sqlite import SqliteConnection

pytestmark = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")

TIMES = ("before", "after")
# In this order: say what is going to be written; write; enter; move (twice, where there was a
# release before); remove the one before; count the entry.
COMMITS = [(SqliteConnection, "commit", when, call) for call in (1, 2, 3) for when in TIMES]
FRESH = [(Path, "rename", when, 1) for when in TIMES]
REPLACING = [(Path, "rename", when, call) for call in (1, 2) for when in TIMES] + [
    (shutil, "rmtree", when, 1) for when in TIMES
]
IN_PLACE = {
    False: [("rename", "after", 1), ("commit", "before", 3), ("commit", "after", 3)],
    True: [
        *[("rename", "after", 2), ("rmtree", "before", 1), ("rmtree", "after", 1)],
        *[("commit", "before", 3), ("commit", "after", 3)],
    ],
}


def label(step):
    return "-".join(str(part) for part in step[1:]) if isinstance(step, tuple) else None


def state_of(home: Path):
    """Releases of the ledger, the text of the target, and what else lies beside it."""
    store = opened(home)
    text = None
    if (home / "out").exists():
        texts = {p.read_text(encoding="utf-8") for p in (home / "out").rglob("t.*")}
        assert len(texts) == 1
        text = texts.pop()
        mark = json.loads((home / "out/internal/ledger.json").read_text(encoding="utf-8"))
        with ledger.read(store) as connection:
            ledger.verify(connection, store, [home / "out"])
        assert mark["release"] == names(store)[-1]
    beside = {path.name for path in home.iterdir()} - {"out", "releases.db", "releases.db.lock"}
    return names(store), text, {name for name in beside if not name.startswith("releases.db")}


def prepared(home: Path, replacing: bool):
    store = opened(home)
    if replacing:
        publish(store, home / "out", "first", "old")
    return store


def expected(replacing: bool, in_place: bool):
    before = ["first"] if replacing else []
    if in_place:
        return [*before, "second"], "new", set()
    return before, "old" if replacing else None, set()


def killed_at(home: Path, step):
    def work():
        kill_at(*step)
        publish(opened(home), home / "out", "second", "new")

    assert in_child(work)


@pytest.mark.parametrize(
    ("replacing", "step"),
    [
        # what is killed before a step was killed after the last one, more or less
        pytest.param(replacing, step, marks=[pytest.mark.long] * ("before" in step))
        for replacing, steps in ((False, COMMITS + FRESH), (True, COMMITS + REPLACING))
        for step in steps
    ],
    ids=label,
)
def test_both_or_neither(tmp_path, replacing, step):
    prepared(tmp_path, replacing)
    killed_at(tmp_path, step)
    assert state_of(tmp_path) == expected(replacing, step[1:] in IN_PLACE[replacing])


@pytest.mark.parametrize("replacing", [False, True])
def test_killed_while_files_are_written(tmp_path, replacing):
    prepared(tmp_path, replacing)
    assert in_child(lambda: publish(opened(tmp_path), tmp_path / "out", "second", "new", die))
    assert any(path.suffix == ".stage" for path in tmp_path.iterdir())
    assert state_of(tmp_path) == expected(replacing, in_place=False)


@pytest.mark.long
@pytest.mark.parametrize(
    "first",
    [
        (SqliteConnection, "commit", "after", 2),
        *((Path, "rename", "after", call) for call in (1, 2)),
    ],
    ids=label,
)
@pytest.mark.parametrize(
    "second",
    [(SqliteConnection, "commit", when, call) for call in (1, 2) for when in TIMES]
    + [
        (Path, "rename", "after", 1),
        (shutil, "rmtree", "after", 1),
        (shutil, "rmtree", "after", 2),
    ],
    ids=label,
)
def test_killed_again_while_that_is_put_in_order(tmp_path, first, second):
    prepared(tmp_path, replacing=True)
    killed_at(tmp_path, first)

    def recovery():
        kill_at(*second)
        opened(tmp_path)

    in_child(recovery)  # not every step is reached from everywhere
    assert state_of(tmp_path) == expected(True, first[1:] in IN_PLACE[True])


@pytest.mark.parametrize("replacing", [False, True])
def test_a_failing_write_leaves_nothing(tmp_path, replacing):
    store = prepared(tmp_path, replacing)

    def fail():
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        publish(store, tmp_path / "out", "second", "new", fail)
    assert state_of(tmp_path) == expected(replacing, in_place=False)


def test_a_target_that_appears_meanwhile_leaves_nothing(tmp_path):
    store = prepared(tmp_path, replacing=False)
    out = tmp_path / "out"

    def meanwhile():
        out.mkdir()
        (out / "foreign.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(Exception, match="not part of a release"):
        publish(store, out, "second", "new", meanwhile)
    assert names(store) == []
    assert [path.name for path in out.iterdir()] == ["foreign.txt"]


def test_files_that_were_changed_after_the_move_stay_entered(tmp_path, caplog):
    """Who has seen them is not known: the ledger must not forget them."""
    prepared(tmp_path, replacing=False)
    killed_at(tmp_path, (SqliteConnection, "commit", "before", 3))
    (tmp_path / "out/public/t.csv").write_text("edited", encoding="utf-8")
    store = opened(tmp_path)
    assert names(store) == ["second"]
    assert "changed or removed since" in caplog.text
