"""For every test and every example in a docstring: where files lie, away from the user's keys."""

import itertools
import os
from pathlib import Path

import pytest

NUMBER = itertools.count()
#: A folder in memory, and bytes that have to be free there.
MEMORY, ROOM = Path("/dev/shm"), 2**30


def pytest_configure():
    """Write to memory where there is room: releases, ledgers and keys wait for the disk."""
    if roomy(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def roomy(folder: Path) -> bool:
    """Whether a folder has room, may be written to, and programs in it may be run."""
    if not os.access(folder, os.W_OK):
        return False
    system = os.statvfs(folder)
    free = system.f_bavail * system.f_frsize
    return free > ROOM and not system.f_flag & os.ST_NOEXEC


@pytest.fixture(autouse=True)
def private_keys(tmp_path_factory, monkeypatch):
    """Path of a key file of this test's own (made on first use)."""
    # not in tmp_path: a folder for each of thousands of tests, most of which need none, takes time
    path = tmp_path_factory.getbasetemp() / f"{next(NUMBER)}.keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    return path
