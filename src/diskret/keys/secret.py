"""One secret file of the office, and the keys and seeds derived from it."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from diskret.errors import KeyFileError

_BYTES = 32
_HEADER = "diskret secret key, version 1"
_log = logging.getLogger("diskret")


@dataclass(frozen=True)
class SecretKeys:
    """The office's master secret, from which a key for each purpose is derived.

    Parameters
    ----------
    master
        32 secret bytes. Never shown, logged or written anywhere but the key file.

    Examples
    --------
    >>> keys = SecretKeys(bytes(32))
    >>> keys
    SecretKeys()
    >>> keys.seed("demo") == keys.seed("demo") != keys.seed("other purpose")
    True
    """

    master: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.master) != _BYTES:
            raise KeyFileError(f"a secret key has {_BYTES} bytes, not {len(self.master)}")

    @classmethod
    def load(cls, keys: SecretKeys | str | os.PathLike[str] | None = None) -> SecretKeys:
        """The keys to use: the argument, else ``DISKRET_KEYS``, else the user's key file.

        The user's key file is created on first use, readable by its owner only. A file
        that is named, by argument or variable, and missing is created in the same way.

        Raises
        ------
        KeyFileError
            The file is damaged or readable by others.
        """
        if isinstance(keys, SecretKeys):
            return keys
        named = keys or os.environ.get("DISKRET_KEYS")
        path = Path(named) if named else _default_path()
        if not path.exists():
            _create(path)
        return cls(_read(path))

    def subkey(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose: keyed BLAKE2b (RFC 7693) of its name."""
        return hashlib.blake2b(purpose.encode(), key=self.master, digest_size=_BYTES).digest()

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


def _default_path() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "diskret" / "keys"


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = f"{_HEADER}\n{secrets.token_hex(_BYTES)}\n".encode("ascii")
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was faster; its key counts
        return
    with os.fdopen(handle, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _log.warning(
        "A new secret key was created in %s. Keep it safe and never publish it: "
        "fingerprints and noise made with it cannot be repeated without it.",
        path,
    )


def _read(path: Path) -> bytes:
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyFileError(f"{path} can be read by others; run: chmod 600 {path}")
    lines = path.read_text(encoding="ascii", errors="replace").split("\n")
    if len(lines) < 2 or lines[0] != _HEADER:
        raise KeyFileError(f"{path} is not a diskret key file; restore it from a backup")
    try:
        master = bytes.fromhex(lines[1])
    except ValueError:
        master = b""
    if len(master) != _BYTES:
        raise KeyFileError(f"the key in {path} is damaged; restore it from a backup")
    return master
