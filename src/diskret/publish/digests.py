"""SHA-256 digests of files: anyone can check that the public ones are those that were certified.

The office can check more: its part of a release lists the digests of all files, public and
internal, certificates included, under a seal that only its key makes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import VerificationError
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys

#: How the names of certificates end. A certificate cannot hold its own digest.
CERTIFICATE = ".certificate.json"
#: The office's signature of all public files, which may be put beside them when they are finished.
SIGNED = "signed.sha256"
#: Bytes that the lock file of an office program has at most.
_LOCK = 1024


#: The file among the office's own that lists all files of a release.
CONTENT = "content.json"
#: What is put beside a finished release, or lists it.
_BESIDE = {("internal", CONTENT), ("public", SIGNED)}
_SCHEMA = "diskret/content/2"
_FORM = {"schema": str, "files": {"*": str}, "seal": str}


def digest(path: str | PathLike[str]) -> str:
    """The SHA-256 digest of a file as hexadecimal text, as ``sha256sum`` prints it."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_mark(text: str) -> bool:
    """Whether a text can be a digest or a keyed fingerprint."""
    return re.fullmatch(r"[0-9a-f]{64}", text) is not None


def public_digests(folder: str | PathLike[str]) -> dict[str, str]:
    """File name → digest of every plain file in a folder but the certificates, by name."""
    return {path.name: digest(path) for path in _listed(Path(folder)) if plain(path)}


def plain(path: Path) -> bool:
    """Whether this is a file itself: no link to one, no folder, no device."""
    return path.is_file() and not path.is_symlink()


def check_digests(folder: str | PathLike[str], expected: Mapping[str, str]) -> None:
    """Compare the files in a folder with the digests that a certificate lists, file name → digest.

    Refused are files that are missing, changed, not listed, or no plain files: a link shows
    tomorrow what it does not show today.
    """
    check_plain(Path(folder))
    _compare(str(folder), public_digests(folder), expected, "the certificate was made for")


def listed_files(certificates: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """File name → digest of all files that certificates list; `certificates`: name → its list.

    Refused are two that list a file with different digests: each is a proof of its own, and one of
    them is about a file that is not here.
    """
    found: dict[str, str] = {}
    for name, files in certificates.items():
        for file, mark in files.items():
            if found.setdefault(file, mark) != mark:
                raise VerificationError(
                    f"{name}{CERTIFICATE} lists another digest of {file} than another certificate "
                    "beside it; get the files anew from the office that published them"
                )
    return found


def check_files(folder: Path, expected: Mapping[str, str]) -> None:
    """Compare all files in a folder, certificates too, with the digests that a ledger keeps."""
    if not folder.is_dir():
        raise VerificationError(f"{folder}: the public files are missing")
    check_plain(folder)
    files = (path for path in sorted(folder.iterdir()) if path.name != SIGNED)
    actual = {path.name: digest(path) for path in files}
    _compare(str(folder), actual, expected, "that the ledger keeps the digests of")


def check_plain(folder: Path, parts: Collection[str] = ()) -> None:
    """Refuse a folder that holds links, folders or anything else but plain files.

    `parts`: names of folders that belong there; they are not looked into.
    """
    inside = (path for path in folder.iterdir() if not _part(path, parts))
    odd = sorted(path.name for path in inside if not plain(path))
    if odd:
        raise VerificationError(
            f"{folder}: a release holds plain files only, no links or folders: {', '.join(odd)}"
        )


def _part(path: Path, parts: Collection[str]) -> bool:
    return path.name in parts and path.is_dir() and not path.is_symlink()


def _compare(
    where: str, actual: Mapping[str, str], expected: Mapping[str, str], of_what: str
) -> None:
    found = {
        "missing": sorted(set(expected) - set(actual)),
        "changed": sorted(n for n in actual if expected.get(n, actual[n]) != actual[n]),
        "not listed": sorted(set(actual) - set(expected)),
    }
    problems = [f"{what}: {', '.join(names)}" for what, names in found.items() if names]
    if problems:
        raise VerificationError(
            f"{where}: the files are not the ones {of_what} ({'; '.join(problems)}); get them anew "
            "from the office that published them"
        )


def _listed(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if not is_lock(path) and path.name != SIGNED)
    return sorted(path for path in files if not path.name.endswith(CERTIFICATE))


def is_lock(path: Path) -> bool:
    """Whether an office program put this file beside one that somebody has opened.

    It holds the name of that person, hardly more, so a larger file is none.
    """
    name = path.name
    named = (name.startswith(".~lock.") and name.endswith("#")) or name.startswith("~$")
    return named and path.is_file() and not path.is_symlink() and path.stat().st_size <= _LOCK


# ── the seal ────────────────────────────────────────────────────────────────────────


def sealed_content(public: Path, internal: Path, keys: SecretKeys) -> dict[str, Any]:
    """What `content.json` says of a release: every file with its digest, and the seal."""
    files = _digests(public, internal)
    return {"schema": _SCHEMA, "files": files, "seal": _seal(keys, files)}


def check_content(
    public: Path, internal: Path, keys: SecretKeys | None, parts: Collection[str] = ()
) -> None:
    """Compare all files of a release with the list that the office keeps, and that with its seal.

    Without `keys` the list is used, but nobody knows whether it was changed. `parts`: folders of
    files that the public part holds.
    """
    path = internal / CONTENT
    check_plain(public, parts)
    for name in parts:
        check_plain(public / name)
    check_plain(internal)
    content = read_json(path, VerificationError)
    check_form(content, _FORM, str(path), VerificationError)
    if content.get("schema") != _SCHEMA or len(content) < len(_FORM):
        raise VerificationError(f"{path} is no list of the files of a release ({_SCHEMA})")
    files: dict[str, str] = content["files"]
    if keys is not None and content["seal"] != _seal(keys, files):
        raise VerificationError(
            f"{path} does not bear the office's seal: it was changed, or this is not the key that "
            "the release was written with"
        )
    _compare(str(internal.parent), _digests(public, internal), files, f"that {path} lists")


def _digests(public: Path, internal: Path) -> dict[str, str]:
    parts = {"public": public, "internal": internal}
    parts |= {f"public/{path.name}": path for path in sorted(public.iterdir()) if path.is_dir()}
    return {
        f"{part}/{path.name}": digest(path)
        for part, folder in parts.items()
        for path in sorted(folder.iterdir())
        if (part, path.name) not in _BESIDE and not path.is_dir() and not is_lock(path)
    }


def _seal(keys: SecretKeys, files: Mapping[str, str]) -> str:
    text = json.dumps(files, sort_keys=True, ensure_ascii=True)
    return keys.fingerprint("release", [text.encode()])
