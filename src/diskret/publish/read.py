"""Releases as anyone reads them: their tables, from the public files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from diskret.errors import InputError
from diskret.io.from_json import anything, check_form, read_json
from diskret.publish.digests import CERTIFICATE
from diskret.tables import MeasureSum, Publication, Published
from diskret.tables.public_files import STRUCTURE, content_digest, tables_in

#: Folders of releases.
Releases = Sequence[str | PathLike[str]]


def read_release(folder: str | PathLike[str]) -> Publication:
    """All tables of a release, and the sums that their certificates state.

    `folder` has ``public/`` in it, or is a folder of public files.
    """
    public = public_folder(folder)
    names = tables_in(public)
    if not names:
        raise InputError(f"{public}: there is no published table here (no *{STRUCTURE} file)")
    sums: dict[MeasureSum, None] = {}
    for name in names:
        sums |= dict.fromkeys(MeasureSum.read(text) for text in _sums(public, name))
    return Publication(tuple(Published.read(public, name) for name in names), tuple(sums))


def published_in(releases: Releases) -> dict[tuple[str, str], Published]:
    """All tables of some releases, by name and by what they show, see `content_digest`."""
    found: dict[tuple[str, str], Published] = {}
    for folder in releases:
        public = public_folder(folder)
        for path in sorted(public.glob(f"*{CERTIFICATE}")):
            name = path.name.removesuffix(CERTIFICATE)
            table = Published.read(public, name)
            found[name, content_digest(table)] = table
    return found


def public_folder(folder: str | PathLike[str]) -> Path:
    """The folder ``public/`` in a folder, or the folder itself if it has none."""
    inside = Path(folder) / "public"
    return inside if inside.is_dir() else Path(folder)


def _sums(public: Path, name: str) -> list[str]:
    """What a certificate says of sums; a table without one states none."""
    path = public / f"{name}{CERTIFICATE}"
    if not path.exists():
        return []
    content = read_json(path)
    check_form(content, {"sums": [str], "*": anything}, str(path))
    return content.get("sums", [])
