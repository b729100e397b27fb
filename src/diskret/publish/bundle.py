"""A folder of researchers' results that may leave, as ACRO and the SACRO viewer lay it out.

`results.json` names every result and its files; `checksums/NAME.txt` holds the SHA-256 digest of
each. The file of ACRO also has places for what the checks found, cell by cell, and for comments:
they stay empty here, for they would tell limits, which cells are unsafe, and names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from diskret.errors import InputError, VerificationError
from diskret.io.from_json import Form, check_form, read_json
from diskret.publish.digests import SIGNED, check_plain, digest, is_lock
from diskret.publish.json_files import write_json
from diskret.publish.staging import Stage

RESULTS = "results.json"
CHECKSUMS = "checksums"
#: The version of ACRO whose files these are like.
_VERSION = "1.0.1"
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)+")
_SDC: Form = {"summary": {}, "cells": {}}
_RESULT: Form = {
    **dict.fromkeys(("uid", "status", "type", "command", "summary", "timestamp", "exception"), str),
    "properties": {},
    "files": [{"name": str, "sdc": _SDC}],
    "outcome": {},
    "comments": [str],
    "fair": {},
}
_FORM: Form = {"version": str, "results": {"*": _RESULT}}


@dataclass(frozen=True)
class Leaving:
    """A result that leaves.

    Parameters
    ----------
    name
        Its name.
    kind
        What it is called in `results.json`: ``"table"``, ``"regression"`` or ``"custom"``.
    files
        Name → content.
    when
        When it was accepted.
    excepted
        Whether by exception.
    """

    name: str
    kind: str
    files: Mapping[str, bytes]
    when: str
    excepted: bool


def write_public(stage: Stage, leaving: list[Leaving]) -> None:
    """Write all files of the public part."""
    results: dict[str, Any] = {}
    for one in leaving:
        if SIGNED in one.files:
            raise InputError(f"{one.name}: no file of a result can be called {SIGNED}; rename it")
        for name, content in one.files.items():
            (stage.public / name).write_bytes(content)
        results[one.name] = {
            "uid": one.name,
            "status": _status(one.excepted),
            "type": one.kind,
            "properties": {},
            "files": [{"name": name, "sdc": {"summary": {}, "cells": {}}} for name in one.files],
            "outcome": {},
            "command": "",
            "summary": _status(one.excepted),
            "timestamp": one.when,
            "comments": [],
            "exception": "granted" if one.excepted else "",
            "fair": {},
        }
    write_json({"version": _VERSION, "results": results}, stage.public / RESULTS)
    for path in sorted(stage.public.iterdir()):
        if path.is_file():
            target = stage.public / CHECKSUMS / f"{path.name}.txt"
            target.write_text(digest(path), encoding="utf-8", newline="\n")


def _status(excepted: bool) -> str:
    return "review" if excepted else "pass"


def check_public(public: Path) -> list[str]:
    """Check what anyone can: every file is named and has its checksum, and nothing else is there.

    Returns the names of the results.

    Raises
    ------
    VerificationError
        Something was changed, added or removed, or `results.json` holds what does not leave.
    """
    check_plain(public, (CHECKSUMS,))
    if not (public / CHECKSUMS).is_dir():
        raise VerificationError(f"{public}: the folder {CHECKSUMS} is missing")
    check_plain(public / CHECKSUMS)
    path = public / RESULTS
    content = read_json(path, VerificationError)
    check_form(content, _FORM, str(path), VerificationError)
    if {*content} != {*_FORM} or not _RELEASE.fullmatch(content["version"]):
        raise VerificationError(f"{path}: names no version of ACRO, or no results; it was changed")
    named = {RESULTS}
    for uid, result in content["results"].items():
        whole = {*result} == {*_RESULT} and all(
            {*one} == {"name", "sdc"} for one in result["files"]
        )
        if not whole or result["uid"] != uid or not result["files"]:
            raise VerificationError(f"{path}: the result {uid!r} lacks a part")
        fixed = {
            "status": ("pass", "review"),
            "summary": (result["status"],),
            "type": TYPES,
            "command": ("",),
            "exception": ("granted" if result["status"] == "review" else "",),
            "comments": ([],),
        }
        for key, values in fixed.items():
            if result[key] not in values:
                raise VerificationError(f"{path}: {key} of the result {uid!r} was changed")
        if not _is_time(result["timestamp"]):
            raise VerificationError(f"{path}: timestamp of the result {uid!r} was changed")
        named |= {one["name"] for one in result["files"]}
    inside = [*public.iterdir(), *(public / CHECKSUMS).iterdir()]
    files = {path for path in inside if path.is_file() and not is_lock(path)} - {public / SIGNED}
    wanted = {public / name for name in named}
    wanted |= {public / CHECKSUMS / f"{name}.txt" for name in named}
    for path in sorted(wanted - files):
        raise VerificationError(f"{path} is missing")
    for path in sorted(files - wanted):
        raise VerificationError(f"{path} is not named in {RESULTS}")
    for name in sorted(named):
        said = (public / CHECKSUMS / f"{name}.txt").read_text(encoding="utf-8", errors="replace")
        if said.strip() != digest(public / name):
            raise VerificationError(f"{public}: {name} does not have its checksum: it was changed")
    return [*content["results"]]


def _is_time(text: str) -> bool:
    """Whether this is a time as an event of a result has it: UTC, ISO 8601."""
    try:
        return datetime.fromisoformat(text).isoformat(timespec="seconds") == text
    except ValueError:
        return False


#: What results are called in `results.json`.
TYPES = ("table", "regression", "custom")
