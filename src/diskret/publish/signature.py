"""The office's signature of a release: a list of all public files with their digests, signed.

``public/signed.sha256`` is a text that ``sha256sum -c`` reads::

    # diskret/signature/1
    # office: Statistical Office of Somewhere
    # key: d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a
    # time: 2027-03-01T08:00:00+00:00
    93a2...  turnover.certificate.json
    0f4b...  turnover.csv
    # signature: e5564300c360ac72...

The signature (Ed25519, RFC 8032) is that of all bytes before its own line. It is put beside a
finished release and changes nothing of it; see ``docs/signature.md`` for what it says.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import diskret.unrepeatable as unrepeatable
from diskret.errors import InputError, VerificationError
from diskret.publish.digests import SIGNED, digest, is_lock
from diskret.publish.ed25519 import available, check_available, is_signature
from diskret.publish.read import public_folder
from diskret.publish.signing_keys import (
    PUBLIC,
    TIME,
    KnownKeys,
    PublicKey,
    known_keys,
    private_key,
    put,
)

_SCHEMA = "diskret/signature/1"
_FORM = re.compile(
    rf"# {_SCHEMA}\n"
    r"# office: (?P<office>[^\n]{1,200})\n"
    rf"# key: (?P<key>{PUBLIC.pattern})\n"
    rf"# time: (?P<time>{TIME.pattern})\n"
    r"(?P<files>(?:[0-9a-f]{64}  [^\n]+\n)+)"
    r"# signature: (?P<signature>[0-9a-f]{128})\n"
)
#: Bytes; a release has some hundred files at most.
_LARGEST = 10_000_000


@dataclass(frozen=True)
class Signature:
    """What `signed.sha256` says.

    Parameters
    ----------
    office
        Who signed, as it calls itself.
    key
        The public key, 64 hexadecimal digits.
    time
        When it was signed, in UTC, as the office's clock said.
    files
        Path in the public folder → SHA-256 digest.
    text
        The bytes that are signed.
    signature
        64 bytes.
    """

    office: str
    key: str
    time: str
    files: dict[str, str]
    text: bytes
    signature: bytes


def sign(folder: str | os.PathLike[str], keys: str | os.PathLike[str] | None = None) -> Signature:
    """Sign a release: put the signature of all public files beside them, as `signed.sha256`.

    Nothing else of the release is changed; a signature that is there already is replaced. Verify
    a release before it is signed: a signature says who, not that it is right.

    Parameters
    ----------
    folder
        A folder with ``public/``, or a folder of public files.
    keys
        The folder of the office's key pairs; default: that which ``DISKRET_SIGNING`` names, or
        `signing` beside the office's key file. ``diskret sign create`` makes it.

    Raises
    ------
    InputError
        There are no files to sign, or a name has more than one line; or `cryptography` is not
        installed.
    KeyFileError
        There is no key in use, or its private key cannot be used.
    """
    check_available()
    known, own, signed = private_key(keys)
    public = public_folder(folder)
    if not public.is_dir():
        raise InputError(f"{public} is not a folder")
    files = _digests(public)
    odd = [name for name in files if not name.isprintable() or "\\" in name]
    if odd or not files:
        what = f"the name {odd[0]!r} cannot be listed" if odd else "there are no files to sign"
        raise InputError(f"{public}: {what}")
    head = {"office": known.office, "key": own.key, "time": unrepeatable.now()}
    lines = [f"# {_SCHEMA}", *(f"# {name}: {value}" for name, value in head.items())]
    lines += [f"{mark}  {name}" for name, mark in files.items()]
    text = "".join(f"{line}\n" for line in lines).encode()
    mark = signed(text)
    put(public / SIGNED, text + f"# signature: {mark.hex()}\n".encode(), 0o644)
    return Signature(**head, files=files, text=text, signature=mark)


def read_signature(public: Path) -> Signature | None:
    """The signature beside public files; None if they are not signed.

    Raises
    ------
    VerificationError
        The file is none, e.g. because its lines were changed on the way.
    """
    path = public / SIGNED
    if not os.path.lexists(path):
        return None
    content = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
    found = _FORM.fullmatch(content.decode("utf-8", errors="replace"))
    lines = [] if found is None else found["files"].split("\n")[:-1]
    files = {line[66:]: line[:64] for line in lines}
    if found is None or len(files) < len(lines):
        raise VerificationError(
            f"{path} is no signature of a release ({_SCHEMA}); take the file byte by byte as the "
            "office published it: its lines end in LF"
        )
    text = content[: content.rindex(b"# signature: ")]
    signature = bytes.fromhex(found["signature"])
    return Signature(found["office"], found["key"], found["time"], files, text, signature)


def check_signature(
    public: Path, signer: KnownKeys | str | os.PathLike[str] | None = None
) -> list[str]:
    """Check the signature beside public files; lines on what it says, and on what it does not.

    Without a signature there are none, unless somebody's is asked for.

    Parameters
    ----------
    public
        The folder of public files.
    signer
        Whose signature it must be; see `known_keys`.

    Raises
    ------
    VerificationError
        The files are not signed, were changed since, or the key does not count.
    """
    known = None if signer is None else known_keys(signer)
    found = read_signature(public)
    if found is None:
        if known is not None:
            raise VerificationError(
                f"{public} is not signed: it holds no {SIGNED}; get the release anew from the "
                "office that published it"
            )
        return []
    if not available() and known is None:
        return [f"{SIGNED}: not checked, because cryptography is not installed (diskret[sign])"]
    there = _digests(public)
    differing = sorted(name for name, _ in there.items() ^ found.files.items())
    if differing:
        names = ", ".join(dict.fromkeys(differing))
        raise VerificationError(
            f"{public}: what is there is not what was signed; changed, missing or added: {names}"
        )
    if not is_signature(found.key, found.signature, found.text):
        raise VerificationError(
            f"{public / SIGNED}: the signature is not that of the key {found.key[:16]} under this "
            "list; it was changed, or made by somebody else"
        )
    if known is None:
        return [
            f"{SIGNED}: signed with the key {found.key[:16]}, {found.time}; whose key that is was "
            "not checked: nobody was named who must have signed"
        ]
    _check_key(found, known)
    return [f"{SIGNED}: signed by {known.office or found.key[:16]}, {found.time}"]


def _check_key(found: Signature, known: KnownKeys) -> None:
    """Refuse what a key has signed that is not known, not in use at that time, or revoked."""
    key: PublicKey | None = next((one for one in known.keys if one.key == found.key), None)
    if key is None:
        raise VerificationError(
            f"it was signed with the key {found.key[:16]}, which is none of those known; get the "
            "list of keys anew from the office, or do not trust this release"
        )
    short = key.key[:16]
    if key.revoked is not None:
        raise VerificationError(
            f"the key {short} was revoked, {key.revoked} ({key.why}): nothing counts that it "
            "signed; get the release signed anew from the office"
        )
    if found.time < key.since or (key.until is not None and found.time > key.until):
        raise VerificationError(f"it was signed {found.time}, when the key {short} was not in use")
    if known.office and found.office != known.office:
        raise VerificationError(
            f"it names {found.office!r}, but the key {short} is that of {known.office!r}"
        )


def _digests(public: Path) -> dict[str, str]:
    """Path → digest of all files, certificates too, in folders too; by path."""
    paths = (path for path in public.rglob("*") if not path.is_dir() and not is_lock(path))
    files = {path.relative_to(public).as_posix(): path for path in paths if path != public / SIGNED}
    return {name: digest(files[name]) for name in sorted(files)}
