"""For every test and every example in a docstring: keep away from the user's secret keys."""

import pytest


@pytest.fixture(autouse=True)
def private_keys(tmp_path, monkeypatch):
    """Path of a key file of this test's own (made on first use)."""
    path = tmp_path / "diskret.keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    return path
