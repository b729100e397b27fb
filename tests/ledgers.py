"""Small releases for the tests of ledgers."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np

from diskret.attack import Requirements
from diskret.hierarchy import Hierarchy
from diskret.keys import SecretKeys
from diskret.population import Population
from diskret.publish.store import store as ledger
from diskret.publish.store.cells import note_of, row_of
from diskret.publish.store.entry import Entry
from diskret.tables import Dimension, Earlier, Published

KEYS = SecretKeys(bytes(range(32)))


def published(name="t", vintage="2025", **others):
    suppressed = np.array([False, False, True, True])
    tree = Hierarchy(
        ("Total", "N", "S+W", "O"),
        np.array([-1, 0, 0, 0]),
        labels={"N": "North"},
        translations={"de": {"N": "Norden"}},
        members={"S+W": ("S", "W")},
    )
    given = {
        "name": name,
        "dimensions": (Dimension("region", tree),),
        "measure": "turnover",
        "frequency": False,
        "decimals": 1,
        "value": np.array([100, 70, 0, 0]),
        "suppressed": suppressed,
        "empty": np.zeros(4, dtype=bool),
        "vintage": vintage,
        "where": Population.of({"size": ["10+", "20+"]}),
    }
    return Published(**given | others)


def earlier(release="first", **others):
    found = Earlier(
        release,
        published(),
        np.array([100, 70, 10, 20]),
        Requirements(np.array([2]), np.array([3]), np.array([4]), np.array([5])),
    )
    return replace(found, **others)


def described(one, keys=KEYS):
    """An entry for one table, and the row that is kept of it."""
    row = row_of(one)
    note = note_of(one, row, keys, fingerprint="0" * 64, how="")
    entry = Entry(0, "publish", one.release, "clerk", "2025-11-21T10:00:00+00:00", tables=(note,))
    return entry, [row]


def opened(folder: Path, wait=5.0):
    path = folder / "releases.db"
    if not path.exists():
        ledger.create_store(path, KEYS, wait)
    return ledger.open_store(path, KEYS, wait)


def add(store, one):
    with ledger.change(store) as connection:
        return ledger.add(connection, store, *described(one))


def publish(store, folder: Path, release: str, text: str, writing=lambda: None):
    """A release of one file each, through the ledger."""
    with (
        ledger.change(store) as connection,
        ledger.entering(
            connection, store, release, folder, lambda: described(earlier(release))
        ) as stage,
    ):
        (stage.public / "t.csv").write_text(text, encoding="utf-8")
        writing()
        (stage.internal / "t.cells.csv").write_text(text, encoding="utf-8")


def names(store):
    with ledger.read(store) as connection:
        return [entry.release for entry in ledger.entries(connection, store)]


def kill_at(owner, name, when, call):
    """From now on this process is killed before or after the n-th call of a function."""
    real, calls = getattr(owner, name), 0

    def watched(*arguments, **named):
        nonlocal calls
        calls += 1
        if (calls, when) == (call, "before"):
            die()
        answer = real(*arguments, **named)
        if (calls, when) == (call, "after"):
            die()
        return answer

    setattr(owner, name, watched)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(work) -> bool:
    """Do something in another process; whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
