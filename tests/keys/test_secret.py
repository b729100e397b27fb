"""Secret keys: created once, private, derived by purpose, never shown."""

import copy
import dataclasses
import os
import pickle
import pprint
import stat
import traceback

import pytest

from diskret.errors import KeyFileError
from diskret.keys import SecretKeys


def test_created_once_and_private(tmp_path, monkeypatch, caplog):
    path = tmp_path / "config" / "keys"
    monkeypatch.setenv("DISKRET_KEYS", str(path))
    first = SecretKeys.load()
    assert str(path) in caplog.text
    assert path.read_text(encoding="ascii").split("\n")[1] not in caplog.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SecretKeys.load() == first


def test_argument_goes_before_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "a"))
    assert SecretKeys.load(tmp_path / "b") != SecretKeys.load()
    keys = SecretKeys(bytes(range(32)))
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


def test_fingerprint_needs_the_key_and_sees_chunk_borders():
    keys, others = SecretKeys(bytes(range(32))), SecretKeys(bytes(31) + b"\1")
    mark = keys.fingerprint("table", [b"ab", b"c"])
    assert mark == keys.fingerprint("table", [b"ab", b"c"])
    assert mark != keys.fingerprint("table", [b"a", b"bc"])
    assert mark != others.fingerprint("table", [b"ab", b"c"])
    assert len(mark) == 64


MASTER = bytes(range(100, 132))


def holds(text: bytes, master: bytes = MASTER) -> bool:
    """Whether the secret stands in a text, as bytes, as digits, or as Python writes it."""
    spelt = (master, master.hex().encode(), repr(master)[2:-1].encode())
    return any(part in text for part in spelt)


@dataclasses.dataclass
class Holder:
    keys: SecretKeys
    name: str = "x"


def test_nothing_that_shows_or_copies_an_object_finds_the_secret():
    keys = SecretKeys(MASTER)
    holder = Holder(keys)
    shown = [repr(keys), str(keys), f"{keys}", pprint.pformat(holder), repr(vars(holder))]
    shown += [repr(dataclasses.asdict(holder)), repr(dataclasses.astuple(holder))]
    shown += [repr(getattr(keys, name)) for name in (*dir(keys), *SecretKeys.__slots__)]
    shown += [repr(keys.subkey("a"))]
    assert not any(holds(text.encode()) for text in shown)
    assert copy.deepcopy(holder).keys is keys and copy.copy(keys) is keys
    with pytest.raises(TypeError):
        vars(keys)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for one in (keys, holder, keys.subkey("a")):
            with pytest.raises(KeyFileError, match="cannot be pickled"):
                pickle.dumps(one, protocol)
    with pytest.raises(AttributeError):
        keys.master = b""


@pytest.mark.parametrize("text", [MASTER.hex()[:-2], MASTER.hex() + "00", "5a" * 32])
def test_no_traceback_shows_the_secret(tmp_path, text):
    path = tmp_path / "keys"
    path.write_text(f"diskret secret key, version 1\n{text}\n", encoding="ascii")
    path.chmod(0o600)
    inside = [f for f in failing(lambda: SecretKeys.load(path)) if "diskret" in f.filename]
    shown = repr([frame.locals for frame in inside])
    assert inside and text[:62] not in shown and not holds(shown.encode(), MASTER[:31])

    def broken():
        keys = SecretKeys(MASTER)
        keys.fingerprint("table", [b"a", None])

    shown = repr([frame.locals for frame in failing(broken)])
    assert "digest" in shown and not holds(shown.encode())


def failing(call):
    try:
        call()
    except Exception as error:
        return traceback.TracebackException.from_exception(error, capture_locals=True).stack
    raise AssertionError("nothing failed")


@pytest.mark.parametrize("byte", [0, 1, 255])
def test_a_key_that_is_no_secret_is_refused(tmp_path, byte):
    with pytest.raises(KeyFileError, match="no secret"):
        SecretKeys(bytes([byte]) * 32)
    path = tmp_path / "keys"
    path.write_text("diskret secret key, version 1\n" + f"{byte:02x}" * 32 + "\n", encoding="ascii")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="damaged"):
        SecretKeys.load(path)


@pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")
def test_new_folders_of_the_key_are_for_its_owner_only(tmp_path):
    was = os.umask(0)
    try:
        SecretKeys.load(tmp_path / "new" / "config" / "keys")
    finally:
        os.umask(was)
    for folder in (tmp_path / "new", tmp_path / "new" / "config"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new/config/keys").stat().st_mode) == 0o600


def test_what_is_made_already_needs_the_keys_it_was_made_with(tmp_path):
    with pytest.raises(KeyFileError, match="there is no key file"):
        SecretKeys.load(tmp_path / "keys", create=False)
    assert not (tmp_path / "keys").exists()
