"""SHA-256 digests of the public files: anyone can check that they are the certified ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from diskret.errors import VerificationError

#: How the names of certificates end. A certificate cannot hold its own digest.
CERTIFICATE = ".certificate.json"
#: Bytes that the lock file of an office program has at most.
_LOCK = 1024


def digest(path: str | PathLike[str]) -> str:
    """The SHA-256 digest of a file as hexadecimal text, as ``sha256sum`` prints it."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def public_digests(folder: str | PathLike[str]) -> dict[str, str]:
    """File name → digest of every file in a folder but the certificates, by name."""
    return {path.name: digest(path) for path in _listed(Path(folder)) if path.is_file()}


def check_digests(folder: str | PathLike[str], expected: Mapping[str, str]) -> None:
    """Compare the files in a folder with the digests that a certificate lists.

    Parameters
    ----------
    folder
        The folder with the public files.
    expected
        File name → digest.

    Raises
    ------
    VerificationError
        Names the files that are missing, changed, or not listed.
    """
    actual = public_digests(folder)
    # folders and the like count as files that are not listed
    there = {path.name for path in _listed(Path(folder))}
    missing = sorted(set(expected) - set(actual))
    changed = sorted(name for name in actual if expected.get(name, actual[name]) != actual[name])
    unlisted = sorted(there - (set(expected) & set(actual)))
    found = {"missing": missing, "changed": changed, "not listed": unlisted}
    problems = [f"{what}: {', '.join(names)}" for what, names in found.items() if names]
    if problems:
        raise VerificationError(
            f"{folder}: the files are not the ones the certificate was made for ("
            + "; ".join(problems)
            + "); get them anew from the office that published them"
        )


def _listed(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if not is_lock(path))
    return sorted(path for path in files if not path.name.endswith(CERTIFICATE))


def is_lock(path: Path) -> bool:
    """Whether an office program put this file beside one that somebody has opened.

    It holds the name of that person, hardly more, so a larger file is none.
    """
    name = path.name
    named = (name.startswith(".~lock.") and name.endswith("#")) or name.startswith("~$")
    return named and path.is_file() and not path.is_symlink() and path.stat().st_size <= _LOCK
