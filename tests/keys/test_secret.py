"""Secret keys: created once, private, derived by purpose, never shown."""

import os
import stat

import pytest

from diskret.errors import KeyFileError
from diskret.keys import SecretKeys


def test_created_once_and_private(tmp_path, monkeypatch, caplog):
    path = tmp_path / "config" / "keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    first = SecretKeys.load()
    assert str(path) in caplog.text
    assert first.master.hex() not in caplog.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SecretKeys.load() == first


def test_argument_goes_before_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "a"))
    assert SecretKeys.load(tmp_path / "b") != SecretKeys.load()
    keys = SecretKeys(bytes(32))
    assert SecretKeys.load(keys) is keys


def test_user_configuration_folder_is_the_default(tmp_path, monkeypatch):
    monkeypatch.delenv("DISKRET_KEYS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    SecretKeys.load()
    assert (tmp_path / "diskret" / "keys").exists()


def test_file_readable_by_others_is_refused(tmp_path):
    path = tmp_path / "keys"
    SecretKeys.load(path)
    os.chmod(path, 0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        SecretKeys.load(path)


@pytest.mark.parametrize("text", ["", "hello\n", "diskret secret key, version 1\nzz\n"])
def test_damaged_file_is_refused(tmp_path, text):
    path = tmp_path / "keys"
    path.write_text(text, encoding="ascii")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="backup"):
        SecretKeys.load(path)


def test_purposes_have_different_keys_and_nothing_is_shown():
    keys = SecretKeys(bytes(range(32)))
    assert keys.subkey("a") != keys.subkey("b")
    assert keys.seed("a") != keys.seed("b")
    assert keys.master.hex() not in repr(keys) and str(keys.master) not in repr(keys)


def test_fingerprint_needs_the_key_and_sees_chunk_borders():
    keys, others = SecretKeys(bytes(32)), SecretKeys(bytes(31) + b"\1")
    mark = keys.fingerprint("table", [b"ab", b"c"])
    assert mark == keys.fingerprint("table", [b"ab", b"c"])
    assert mark != keys.fingerprint("table", [b"a", b"bc"])
    assert mark != others.fingerprint("table", [b"ab", b"c"])
    assert len(mark) == 64
