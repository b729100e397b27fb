"""Releases as anyone reads them: their tables, from the public files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from diskret.errors import InputError
from diskret.io.from_json import anything, check_form, read_json
from diskret.publish.digests import CERTIFICATE
from diskret.tables import MeasureSum, Perturbed, Publication, Published
from diskret.tables.perturbed import stands_for, stands_for_anything
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
    """All tables of some releases, by name and by what they show, see `content_digest`.

    Changed values are the intervals that readers know them to stand for.
    """
    found: dict[tuple[str, str], Published] = {}
    for folder in releases:
        public = public_folder(folder)
        for path in sorted(public.glob(f"*{CERTIFICATE}")):
            name = path.name.removesuffix(CERTIFICATE)
            table = Published.read(public, name)
            found[name, content_digest(table)] = _as_readers_see(table, path)
    return found


def _as_readers_see(table: Published, certificate: Path) -> Published:
    if not table.changed:
        return table
    content = read_json(certificate)
    form = {"shown": {"method": str, "base": (int, float), "*": anything}, "*": anything}
    check_form(content, form, str(certificate))
    if table.changed == "rounding":
        shown = content.get("shown", {})
        how = Perturbed(shown.get("method", ""), base=shown.get("base"))
        if how.told:
            return stands_for(table, how)
    return stands_for_anything(table)


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
