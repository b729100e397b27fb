"""Entries of a journal that were moved out of its database, in files that nobody writes again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from diskret.disk import flush, new_file
from diskret.errors import InputError, VerificationError
from diskret.io.from_json import check_form, parse_json
from diskret.keys import SecretKeys
from diskret.publish.store.log import SERVE, Logged, Place, follow

_SCHEMA = "diskret/journal/1"
_FORM = {"schema": str, "entries": int, "last": str}


def write(folder: Path, after: Place, entries: Sequence[Logged]) -> Path:
    """Write entries that follow a place into a file of their own, which is on disk when this ends.

    It is named by the first of them. A file of this name is of entries that were not taken out of
    the database when the process was killed; they are among these, and it is replaced.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    path = folder / f"journal-{after[0] + 1:012d}.jsonl"
    beside = path.with_suffix(".part")
    head = {"schema": _SCHEMA, "entries": after[0], "last": after[1]}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        with os.fdopen(new_file(beside), "w", encoding="utf-8", newline="") as file:
            file.write(json.dumps(head) + "\n")
            file.writelines(f"{json.dumps(astuple(one), ensure_ascii=False)}\n" for one in entries)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        flush(folder)
    except OSError as error:
        raise InputError(
            f"the archive {path} cannot be written ({error.strerror}); nothing was moved into it"
        ) from None
    return path


def read(folder: Path, until: Place, keys: SecretKeys) -> Iterator[Logged]:
    """What was moved out of a journal that begins at `until`, in order, each entry checked.

    The oldest files may have been put elsewhere.

    Raises
    ------
    VerificationError
        Something was changed, removed, added or reordered, or files are missing in between.
    """
    at: Place | None = None
    for path in sorted(folder.glob("journal-*.jsonl")):
        with open(path, encoding="utf-8") as file:
            after = _place(path, file.readline())
            if after[0] >= until[0]:
                break  # still in the database: the process that wrote it was killed
            if at is not None and at != after:
                raise _gap(folder, at[0], after[0])
            at = after
            for one in follow(map(_logged, file), keys, str(path), after, SERVE):
                at = one.number, one.seal
                yield one
    if at is not None and at != until:
        raise _gap(folder, at[0], until[0])


def _place(path: Path, line: str) -> Place:
    said = parse_json(line, str(path), VerificationError)
    check_form(said, _FORM, str(path), VerificationError)
    if said.get("schema") != _SCHEMA or len(said) < len(_FORM):
        raise VerificationError(f"{path} is no file of a journal")
    return said["entries"], said["last"]


def _logged(line: str) -> Logged:
    said = parse_json(line, "an entry of the journal of a service", VerificationError)
    if not isinstance(said, list) or [*map(type, said)] != [int, str, str, str]:
        raise VerificationError("a line of a file of a journal is no entry")
    return Logged(*said)


def _gap(folder: Path, last: int, next_after: int) -> VerificationError:
    return VerificationError(
        f"the archive {folder} ends with entry {last:,}, and the journal goes on behind entry "
        f"{next_after:,}: a file is missing or was changed"
    )
