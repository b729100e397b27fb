"""Releases to files: public and internal apart, all or nothing, checked before anything leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.publish.contract import Look, Records, Release
from diskret.publish.derived import COMBINED, DERIVED, Releases, combined_outline, derived_outline
from diskret.publish.digests import digest
from diskret.publish.formats import write_columns, write_records
from diskret.publish.formats.csv import write_csv
from diskret.publish.formats.parquet import write_parquet
from diskret.publish.formats.xlsx import write_xlsx
from diskret.publish.guard.check import check_public
from diskret.publish.json_files import write_json
from diskret.publish.software import software
from diskret.publish.staging import Stage, staged
from diskret.publish.template import fill_into
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.public_files import structure
from diskret.texts import check_language

#: Opens the two folders that files are written into, and closes the release.
Staging = Callable[[str | PathLike[str]], AbstractContextManager[Stage]]


def write_releases(
    releases: Sequence[Release],
    folder: str | PathLike[str],
    look: Look,
    keys: SecretKeys,
    *,
    template: str | PathLike[str] | None = None,
    derived: Sequence[Derived] = (),
    combined: Sequence[SideBySide] = (),
    elsewhere: Releases = (),
    staging: Staging | None = None,
) -> Path:
    """Write releases into one folder.

    Parameters
    ----------
    releases
        What leaves.
    folder
        The target; missing, empty, or releases written before, which are replaced.
    look
        Formats, language, symbols, headings.
    keys
        The office's keys, which seal the list of all files.
    template
        A workbook in the layout of the office to fill.
    derived, combined
        Figures made of the tables, and tables side by side, a file of its own for each.
    elsewhere
        Folders of other releases that derived figures refer to.
    staging
        How the files get into the folder; None: all at once. Else together with an entry in a
        ledger.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        Two things would have the same file name, the folder holds other files, or a derived
        figure is made of something that is not published.
    ProofError
        Something that must not leave would have been written; nothing was.
    """
    if any(Path(release).resolve() == Path(folder).resolve() for release in elsewhere):
        raise InputError(
            f"{folder} cannot be replaced by a release that refers to it; write to another folder"
        )
    public = [release.public for release in releases]
    tables = [one for one in public if isinstance(one, Published)]
    outlines = [
        *((one, DERIVED, derived_outline(one, tables, elsewhere)) for one in derived),
        *((one, COMBINED, combined_outline(one)) for one in combined),
    ]
    _check_file_names([*public, *derived, *combined])
    with staging(folder) if staging else staged(folder, keys) as stage:
        filled = None
        if template is not None:
            filled = fill_into(stage.public, tables, Path(template), look)
        shared = [] if filled is None else [filled.name]
        for shown, ending, outline in outlines:
            shared += write_columns(
                shown, stage.public, look.formats, look.language, look.neutralise
            )
            shared.append(f"{shown.name}{ending}")
            write_json(outline, stage.public / shared[-1])
        for release in releases:
            certificate = _write_public(release, stage.public, look, shared)
            release.internal(stage.internal, look, certificate)
        check_public(
            stage.public, public, filled, derived=derived, combined=combined, releases=elsewhere
        )
    return Path(folder)


def check_look(formats: Sequence[str], admissible: Sequence[str], language: str) -> None:
    """Refuse formats and languages that there are not.

    Raises
    ------
    InputError
        Names them.
    """
    unknown = [one for one in formats if one not in admissible]
    if unknown and "xlsx" not in admissible:
        raise InputError(
            f"formats= must be some of {', '.join(admissible)}, not {unknown[0]!r}; records are "
            "too many for a workbook"
        )
    if unknown:
        raise InputError(f"formats= must be some of {', '.join(admissible)}, not {unknown[0]!r}")
    check_language(language)


def _write_public(
    release: Release, folder: Path, look: Look, shared: Sequence[str]
) -> dict[str, Any]:
    """Data, page and certificate; the certificate lists the files that all have in common too."""
    name, title = release.name, look.titles.get(release.name)
    write = _write_table if isinstance(release.public, Published) else _write_records
    files = write(release.public, folder, look)  # pyright: ignore[reportArgumentType]
    listed = {file: digest(folder / file) for file in (*shared, *files)}
    certificate = {
        **release.certificate,
        "files": listed,
        "inputs": release.inputs,
        "software": software(),
    }
    if "html" in look.formats:
        # the page shows the digests of the files before it, the certificate its own too
        page = folder / f"{name}.html"
        release.page(certificate, page, title=title, language=look.language)
        listed[page.name] = digest(page)
    write_json(certificate, folder / f"{name}.certificate.json")
    return certificate


def _write_table(published: Published, folder: Path, look: Look) -> list[str]:
    name, title = published.name, look.titles.get(published.name)
    files = [f"{name}.structure.json", f"{name}.csv"]
    write_json(structure(published), folder / files[0])
    write_csv(published, folder / files[1], look.neutralise)
    if "parquet" in look.formats:
        write_parquet(published, folder / f"{name}.parquet")
        files.append(f"{name}.parquet")
    if "xlsx" in look.formats:
        write_xlsx(
            published,
            folder / f"{name}.xlsx",
            title=title,
            language=look.language,
            symbols=look.symbols,
        )
        files.append(f"{name}.xlsx")
    return files


def _write_records(records: Records, folder: Path, look: Look) -> list[str]:
    return write_records(records.table, folder, records.name, look.formats, look.neutralise)


def _check_file_names(written: Sequence[Published | Records | Derived | SideBySide]) -> None:
    """Refuse two things that would be written into the same file on some system."""
    seen: dict[str, str] = {}
    for one in written:
        other = seen.setdefault(one.name.casefold(), one.name)
        if other is not one.name or [w.name for w in written].count(one.name) > 1:
            raise InputError(
                f"the name {one.name!r} is taken by another table or figure of this release; "
                "give one of them another name="
            )
