"""For every test and example in a docstring: where files lie, and keys that are not the user's."""

import itertools
import os
import secrets
from hashlib import blake2b
from pathlib import Path

import pytest

NUMBER = itertools.count()
#: Bytes of a key.
KEY = 32
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
def private_keys(request, tmp_path_factory, monkeypatch):
    """Path of a key file of this test's own (made on first use).

    Noise follows from keys: each test has the same ones on each run, drawn from its name.
    """
    drawn, own = itertools.count(), secrets.token_hex

    def token_hex(nbytes=None):
        if nbytes != KEY:  # names of files, which processes may make at the same time
            return own(nbytes)
        name = f"{request.node.nodeid} {next(drawn)}"
        return blake2b(name.encode(), digest_size=nbytes).hexdigest()

    monkeypatch.setattr(secrets, "token_hex", token_hex)
    # not in tmp_path: a folder for each of thousands of tests, most of which need none, takes time
    path = tmp_path_factory.getbasetemp() / f"{next(NUMBER)}.keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    return path
