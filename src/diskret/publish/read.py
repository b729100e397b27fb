"""A release as anyone reads it: all its tables, from their public files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from diskret.errors import InputError
from diskret.io.from_json import anything, check_form, read_json
from diskret.tables import MeasureSum, Publication, Published
from diskret.tables.public_files import STRUCTURE

_CERTIFICATE = ".certificate.json"


def read_release(folder: str | PathLike[str]) -> Publication:
    """All tables of a release, and the sums that their certificates state.

    Parameters
    ----------
    folder
        A folder with ``public/``, or a folder of public files.

    Raises
    ------
    InputError
        There is no table, or a file is damaged.
    """
    inside = Path(folder) / "public"
    public = inside if inside.is_dir() else Path(folder)
    names = sorted(path.name.removesuffix(STRUCTURE) for path in public.glob(f"*{STRUCTURE}"))
    if not names:
        raise InputError(f"{public}: there is no published table here (no *{STRUCTURE} file)")
    sums: dict[MeasureSum, None] = {}
    for name in names:
        sums |= dict.fromkeys(MeasureSum.read(text) for text in _sums(public, name))
    return Publication(tuple(Published.read(public, name) for name in names), tuple(sums))


def _sums(public: Path, name: str) -> list[str]:
    """What a certificate says of sums; a table without one states none."""
    path = public / f"{name}{_CERTIFICATE}"
    if not path.exists():
        return []
    content = read_json(path)
    check_form(content, {"sums": [str], "*": anything}, str(path))
    return content.get("sums", [])
