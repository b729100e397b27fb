"""For every test and every example in a docstring: keep away from the user's secret keys."""

import itertools

import pytest

NUMBER = itertools.count()


@pytest.fixture(autouse=True)
def private_keys(tmp_path_factory, monkeypatch):
    """Path of a key file of this test's own (made on first use)."""
    # not in tmp_path: a folder for each of thousands of tests, most of which need none, takes time
    path = tmp_path_factory.getbasetemp() / f"{next(NUMBER)}.keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    return path
