"""An attacker who has kept last period's release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from diskret.attack import Attacker
from diskret.io.from_json import anything, check_form, read_json
from diskret.tables import Publication

_SUFFIX = ".certificate.json"


def knowing_last_period(
    attacker: Attacker, folders: Mapping[str, Path], percent: float
) -> Attacker:
    """The same attacker, who also knows how much values may have changed since last period.

    Tables of last period that were attacked together then are read together.

    Parameters
    ----------
    attacker
        What else is known.
    folders
        Name of each table → the release of last period that holds a table of this name.
    percent
        By how much no value has changed.

    Raises
    ------
    InputError
        A release does not hold the table, or cannot be read.
    """
    read: dict[tuple[Path, tuple[str, ...]], Attacker] = {}
    lower: dict[str, Any] = {}
    upper: dict[str, Any] = {}
    for name, folder in folders.items():
        names, sums = _together(folder, name)
        if (folder, names) not in read:
            publication = Publication.read(folder, names, sums)
            read[folder, names] = Attacker.around(publication, percent)
        found = read[folder, names]
        lower[name], upper[name] = found.lower[name], found.upper[name]
    return replace(attacker, lower=lower, upper=upper)


def _together(folder: Path, name: str) -> tuple[tuple[str, ...], list[str]]:
    """The tables that a table was attacked together with, and the sums that tie them."""
    public = folder / "public" if (folder / "public").is_dir() else folder
    path = public / f"{name}{_SUFFIX}"
    if not path.is_file():
        return (name,), []
    content = read_json(path)
    check_form(content, {"tables": [str], "sums": [str], "*": anything}, str(path))
    return tuple(content.get("tables", [name])), content.get("sums", [])
