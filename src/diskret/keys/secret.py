"""One secret file of the office, and the keys and seeds derived from it."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

from diskret.disk import new_file, open_to_others
from diskret.errors import KeyFileError

_BYTES = 32
_HEADER = "diskret secret key, version 1"
_log = logging.getLogger("diskret")


class SecretKeys:
    """The office's master secret, from which a key for each purpose is derived.

    The secret is in memory only: it is not shown, compared, copied, pickled or turned into a
    dictionary with what holds it.

    Parameters
    ----------
    master
        32 secret bytes. Never shown, logged or written anywhere but the key file.

    Raises
    ------
    KeyFileError
        These are not 32 bytes, or all of them are the same: that is no secret.

    Examples
    --------
    >>> keys = SecretKeys(bytes(range(32)))
    >>> keys
    SecretKeys()
    >>> keys.seed("demo") == keys.seed("demo") != keys.seed("other purpose")
    True
    """

    # no __dict__, so vars() and dataclasses.asdict() of what holds the keys find nothing
    __slots__ = ("_derive",)

    def __init__(self, master: bytes):
        if isinstance(master, str | int):
            raise KeyFileError(f"a secret key has {_BYTES} bytes; text and numbers are none")
        hidden = _Hidden(master)
        del master  # the locals of this call would be part of a traceback
        if len(hidden) != _BYTES:
            raise KeyFileError(f"a secret key has {_BYTES} bytes, not {len(hidden)}")
        if len(set(hidden)) == 1:
            raise KeyFileError(
                "a secret key of 32 times the same byte is no secret; use secrets.token_bytes(32), "
                "or leave keys= out for the office's own key file"
            )
        # a closure is not shown in a traceback and not followed by pickle
        object.__setattr__(self, "_derive", _deriver(hidden))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("secret keys cannot be changed")

    def __repr__(self) -> str:
        return "SecretKeys()"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SecretKeys):
            return NotImplemented
        return secrets.compare_digest(self.subkey("equality"), other.subkey("equality"))

    def __hash__(self) -> int:
        return hash(self.subkey("equality"))

    def __copy__(self) -> SecretKeys:
        return self

    def __deepcopy__(self, memo: object) -> SecretKeys:
        return self

    def __reduce__(self) -> NoReturn:
        raise KeyFileError(
            "secret keys cannot be pickled: they would lie wherever the pickle does; read them "
            "again from the key file with SecretKeys.load"
        )

    @classmethod
    def load(
        cls, keys: SecretKeys | str | os.PathLike[str] | None = None, *, create: bool = True
    ) -> SecretKeys:
        """The keys to use: the argument, else ``DISKRET_KEYS``, else the user's key file.

        The user's key file is created on first use, readable by its owner only. A file
        that is named, by argument or variable, and missing is created in the same way. What was
        made with keys before needs these: with ``create=False`` a missing file is an error.

        Raises
        ------
        KeyFileError
            The file is damaged or readable by others, or missing and not to be created.
        """
        if isinstance(keys, SecretKeys):
            return keys
        path = key_file(keys)
        if not path.exists():
            if not create:
                raise KeyFileError(
                    f"there is no key file {path}; give the office's own with keys= or the "
                    "variable DISKRET_KEYS, or restore it from a backup"
                )
            _create(path)
        return cls(_read(path))

    def subkey(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose: keyed BLAKE2b (RFC 7693) of its name."""
        return self._derive(purpose)

    def seed(self, purpose: str) -> int:
        """A secret seed below 2**64 for one purpose."""
        return int.from_bytes(self.subkey(f"seed: {purpose}")[:8], "big")

    def fingerprint(self, purpose: str, chunks: Iterable[bytes]) -> str:
        """A keyed hash that only the holder of the key can recompute, 64 hex digits.

        Each chunk is preceded by its length, so chunk borders count.
        """
        digest = hashlib.blake2b(key=self.subkey(f"fingerprint: {purpose}"), digest_size=32)
        for chunk in chunks:
            digest.update(len(chunk).to_bytes(8, "big"))
            digest.update(chunk)
        return digest.hexdigest()


class _Hidden(bytes):
    """Bytes that are not shown, pickled or copied into a text."""

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise KeyFileError("secret keys cannot be pickled")


def _deriver(hidden: _Hidden) -> Callable[[str], bytes]:
    def derive(purpose: str) -> bytes:
        return _Hidden(hashlib.blake2b(purpose.encode(), key=hidden, digest_size=_BYTES).digest())

    return derive


def key_file(keys: str | os.PathLike[str] | None = None) -> Path:
    """The file that keys are read from: the argument, ``DISKRET_KEYS``, or the user's own."""
    named = keys or os.environ.get("DISKRET_KEYS")
    return Path(named) if named else _default_path()


def _default_path() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "diskret" / "keys"


def _create(path: Path) -> None:
    # mkdir(parents=True) would leave new folders above the last one open to all
    for folder in (*reversed(path.parent.parents), path.parent):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    text = f"{_HEADER}\n{secrets.token_hex(_BYTES)}\n".encode("ascii")
    try:
        handle = new_file(path)
    except FileExistsError:  # another process was faster; its key counts
        return
    with os.fdopen(handle, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _log.warning(
        f"A new secret key was created in {path}. Keep it safe and never publish it: "
        "fingerprints and noise made with it cannot be repeated without it."
    )


def _read(path: Path) -> bytes:
    if open_to_others(path):
        raise KeyFileError(f"{path} can be read by others; run: chmod 600 {path}")
    master = _master(path)
    if master is None:
        raise KeyFileError(f"{path} is not a diskret key file; restore it from a backup")
    if len(master) != _BYTES or len(set(master)) == 1:
        raise KeyFileError(f"the key in {path} is damaged; restore it from a backup")
    return master


def _master(path: Path) -> bytes | None:
    """The bytes in a key file; none of them if they are damaged, None if it is another file."""
    lines = path.read_text(encoding="ascii", errors="replace").split("\n")
    if len(lines) < 2 or lines[0] != _HEADER:
        return None
    try:
        return _Hidden(bytes.fromhex(lines[1]))
    except ValueError:
        return _Hidden()
