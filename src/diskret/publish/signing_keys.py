"""Key pairs that an office signs releases with: made, rotated, revoked; and which keys are known.

A folder holds the private key in use (`PRIVATE`), which never leaves it, and the list of all
public keys that were ever in use (`KEYS`), which belongs on the office's web page. They have
nothing to do with `SecretKeys`: what only the office can check depends on these, what anyone
can check on the others.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import diskret.unrepeatable as unrepeatable
from diskret.disk import new_file
from diskret.errors import InputError, KeyFileError
from diskret.io.from_json import Form, check_form, read_json
from diskret.keys import key_file
from diskret.publish.ed25519 import new_pair, read_private, read_public
from diskret.publish.json_files import json_text

#: The private key, in PEM (PKCS #8), as other programs read it.
PRIVATE = "private.pem"
#: The list of public keys.
KEYS = "signing-keys.json"
SCHEMA = "diskret/signing-keys/1"
#: A public key: 32 bytes in hexadecimal digits.
PUBLIC = re.compile(r"[0-9a-f]{64}")
#: A time in UTC, as `diskret.unrepeatable.now` gives it; such times are in order as texts, too.
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\+00:00")
_FOLDER = "DISKRET_SIGNING"
_FORM: Form = {
    "schema": str,
    "office": str,
    "keys": [{"key": str, "from": str, "until": (str, None), "revoked": (str, None), "why": str}],
}
_LONGEST = 200


@dataclass(frozen=True)
class PublicKey:
    """A public key and when it counts.

    Parameters
    ----------
    key
        The Ed25519 key (RFC 8032), 64 hexadecimal digits.
    since
        The time in UTC from which it was in use.
    until
        The time at which another one took its place; None: in use.
    revoked
        The time at which it was revoked: since then nothing that it signed counts, whenever that
        was signed. None: it was not.
    why
        Why it was revoked.
    """

    key: str
    since: str
    until: str | None = None
    revoked: str | None = None
    why: str = ""

    @property
    def in_use(self) -> bool:
        """Whether releases are signed with it now."""
        return self.until is None and self.revoked is None


@dataclass(frozen=True)
class KnownKeys:
    """Whose keys they are, and which: what someone who checks signatures has to know before.

    Parameters
    ----------
    office
        Who signs; empty if only a key is known.
    keys
        The keys, in the order in which they came into use.
    """

    office: str
    keys: tuple[PublicKey, ...]

    @property
    def in_use(self) -> PublicKey | None:
        """The key that releases are signed with now, if there is one."""
        return next((one for one in self.keys if one.in_use), None)

    def named(self, start: str) -> PublicKey:
        """The one key that begins with these hexadecimal digits."""
        found = [one for one in self.keys if one.key.startswith(start.strip().lower())]
        if len(found) != 1:
            raise InputError(
                f"{len(found)} keys of the list begin with {start!r}; name one by its first digits"
            )
        return found[0]


def known_keys(signer: KnownKeys | str | os.PathLike[str]) -> KnownKeys:
    """The keys that signatures are checked with.

    `signer`: 64 hexadecimal digits, a file of one public key in PEM, or a list of keys as
    `create_keys` writes it. A key without a list is in use, whenever something was signed.

    >>> known_keys("d7" * 32).keys[0].in_use
    True
    """
    if isinstance(signer, KnownKeys):
        return signer
    if PUBLIC.fullmatch(str(signer).strip().lower()):
        return _only(str(signer).strip().lower())
    path = Path(signer)
    try:
        begin = path.read_bytes()[:64].lstrip()
    except OSError as error:
        raise InputError(
            f"{path}: no public key can be read there ({error.strerror}); give 64 hexadecimal "
            f"digits, a PEM file, or the office's {KEYS}"
        ) from None
    return _only(read_public(path)) if begin.startswith(b"-----BEGIN") else read_keys(path)


def _only(key: str) -> KnownKeys:
    return KnownKeys("", (PublicKey(key, "0000-01-01T00:00:00+00:00"),))


def read_keys(path: Path) -> KnownKeys:
    """The list of keys in a file.

    Raises
    ------
    InputError
        It is missing, or no such list; says what is wrong.
    """
    content = read_json(path)
    check_form(content, _FORM, str(path))
    parts = content.get("keys", []) if len(content) == len(_FORM) else []
    lines = [part for part in parts if len(part) == 5]
    if content.get("schema") != SCHEMA or not lines or len(lines) < len(parts):
        raise InputError(f"{path} is no list of keys that releases are signed with ({SCHEMA})")
    keys = tuple(
        PublicKey(one["key"], one["from"], one["until"], one["revoked"], one["why"])
        for one in lines
    )
    times = [t for one in keys for t in (one.since, one.until, one.revoked) if t is not None]
    odd = [one.key for one in keys if not PUBLIC.fullmatch(one.key)]
    odd += [time for time in times if not TIME.fullmatch(time)]
    if odd:
        raise InputError(f"{path}: {odd[0]!r} is no key of 64 hexadecimal digits or no time in UTC")
    if len({one.key for one in keys}) < len(keys) or sum(one.in_use for one in keys) > 1:
        raise InputError(f"{path}: a key is there twice, or several are in use at the same time")
    return KnownKeys(content["office"], keys)


# ── the office's own ────────────────────────────────────────────────────────────────


def signing_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Where the office's key pairs lie: the argument, ``DISKRET_SIGNING``, or beside its keys."""
    named = folder or os.environ.get(_FOLDER)
    return Path(named) if named else key_file().with_name("signing")


def create_keys(office: str, folder: str | os.PathLike[str] | None = None) -> KnownKeys:
    """Make the first key pair of an office, and the list that names it.

    The variable ``DISKRET_SIGNING_PASSWORD`` holds a password that encrypts the private key.

    Raises
    ------
    InputError
        `office` is empty or longer than a line; or there are keys already.
    """
    if not office.strip() or len(office) > _LONGEST or not office.isprintable():
        raise InputError(f"the name of the office has 1 to {_LONGEST} characters, in one line")
    home = signing_folder(folder)
    if (home / KEYS).exists():
        raise InputError(f"{home} holds keys already; use rotate for a new one")
    home.mkdir(parents=True, mode=0o700, exist_ok=True)
    return _renewed(home, KnownKeys(office.strip(), ()))


def rotate_keys(folder: str | os.PathLike[str] | None = None) -> KnownKeys:
    """Take a new key pair into use; what the one before has signed until now still counts.

    The private key before is deleted: nothing is signed with it any more.
    """
    home = signing_folder(folder)
    return _renewed(home, read_keys(home / KEYS))


def revoke_key(start: str, why: str, folder: str | os.PathLike[str] | None = None) -> KnownKeys:
    """Note that nothing counts that a key has signed, e.g. because somebody else may have it.

    Whoever has a private key can sign with any time, so the time of a signature saves nothing.
    `start`: the first digits of the key. If it is the one in use, `rotate_keys` makes a new one.

    Raises
    ------
    InputError
        `why` is empty, no or several keys begin so, or it is revoked already.
    """
    home = signing_folder(folder)
    known = read_keys(home / KEYS)
    gone = known.named(start)
    if gone.revoked is not None:
        raise InputError(f"the key {gone.key[:16]} was revoked already, {gone.revoked}")
    if not why.strip() or not why.isprintable():
        raise InputError("say in one line why the key is revoked")
    done = replace(gone, revoked=unrepeatable.now(), why=why.strip())
    changed = KnownKeys(known.office, tuple(done if one == gone else one for one in known.keys))
    _write_keys(home, changed)
    if gone.in_use:
        (home / PRIVATE).unlink(missing_ok=True)
    return changed


def private_key(
    folder: str | os.PathLike[str] | None = None,
) -> tuple[KnownKeys, PublicKey, Callable[[bytes], bytes]]:
    """The list of keys, the one in use, and what signs with its private key.

    Raises
    ------
    KeyFileError
        There is none in use, it is damaged or of another key, others can read it, or the password
        is wrong.
    """
    home = signing_folder(folder)
    if not (home / KEYS).exists():
        raise KeyFileError(f"{home} holds no keys to sign with; make them: diskret sign create")
    known = read_keys(home / KEYS)
    own = known.in_use
    if own is None:
        raise KeyFileError(f"no key in {home} is in use; make a new one: diskret sign rotate")
    public, sign = read_private(home / PRIVATE)
    if public != own.key:
        raise KeyFileError(
            f"{home / PRIVATE} is not the key that {KEYS} says is in use; restore both from a "
            "backup, or make a new one: diskret sign rotate"
        )
    return known, own, sign


def _renewed(home: Path, known: KnownKeys) -> KnownKeys:
    """Put a new pair in the place of the one in use."""
    (public, text), now = new_pair(), unrepeatable.now()
    before = tuple(replace(one, until=now) if one.in_use else one for one in known.keys)
    changed = KnownKeys(known.office, (*before, PublicKey(public, now)))
    # where this is cut short between the two, nothing can be signed, and rotating again mends it
    _write_keys(home, changed)
    put(home / PRIVATE, text, 0o600)
    return changed


def _write_keys(home: Path, known: KnownKeys) -> None:
    keys: Sequence[dict[str, Any]] = [
        {"key": one.key, "from": one.since, "until": one.until, "revoked": one.revoked}
        | {"why": one.why}
        for one in known.keys
    ]
    text = json_text({"schema": SCHEMA, "office": known.office, "keys": keys})
    put(home / KEYS, f"{text}\n".encode(), 0o644)


def put(path: Path, content: bytes, mode: int) -> None:
    """Write a file in one step: it holds what it held before, or all that is new."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = new_file(beside, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
