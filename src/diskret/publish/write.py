"""Releases to files: public and internal apart, all or nothing, checked before anything leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.publish.contract import Look, Records, Release, Streamed, software
from diskret.publish.derived import COMBINED, DERIVED, combined_outline, derived_outline
from diskret.publish.difference import PREVIOUS, difference_outline
from diskret.publish.digests import digest
from diskret.publish.exchange import EXCHANGE
from diskret.publish.formats.cube import cube_of_figure, cube_of_several, public_cube
from diskret.publish.formats.data_files import (
    write_blocks,
    write_columns,
    write_csv,
    write_parquet,
    write_records,
)
from diskret.publish.formats.exchange import write_exchange
from diskret.publish.formats.maps.write import write_maps
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.statistical import STATISTICAL, write_statistical
from diskret.publish.formats.template.fill import fill_template, template_texts
from diskret.publish.guard.check import FilledTemplate, check_public
from diskret.publish.json_files import write_json
from diskret.publish.maps import MAPS
from diskret.publish.read import Releases
from diskret.publish.script import FORMAT, write_script
from diskret.publish.staging import Stage, staged
from diskret.tables import Derived, Difference, Published, SideBySide
from diskret.tables.public_files import check_file_name, structure
from diskret.texts import check_language

#: What Windows takes for a device, whatever follows a dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
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
    differences: Sequence[Difference] = (),
    elsewhere: Releases = (),
    staging: Staging | None = None,
) -> Path:
    """Write releases into one folder.

    `folder` is missing, empty, or holds releases written before, which are replaced. `keys` seal
    the list of all files. `template` is a workbook in the layout of the office to fill; `derived`
    and `combined` get a file of its own for each figure, and for tables side by side, and
    `differences` one for each table that the last delivery has, too. Derived figures and
    differences may refer to releases in the folders `elsewhere`. `staging` gets the files into the
    folder together with an entry in a ledger; None: all at once.

    `InputError`: two things would have the same file name, the folder holds other files, or a
    derived figure is made of something that is not published. `ProofError`: something that must not
    leave would have been written; nothing was.
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
        *((one, PREVIOUS, difference_outline(one, elsewhere)) for one in differences),
    ]
    _check_file_names([*public, *derived, *combined, *differences])
    with staging(folder) if staging else staged(folder, keys) as stage:
        filled = None
        if template is not None:
            filled = fill_into(stage.public, tables, Path(template), look)
        shared = [] if filled is None else [filled.name]
        if FORMAT in look.formats:
            shared.append(write_script(stage.public))
        for shown, ending, outline in outlines:
            shared += write_columns(
                shown, stage.public, look.formats, look.language, look.neutralise
            )
            shared += _exchanged(shown, stage.public, look)
            shared.append(f"{shown.name}{ending}")
            write_json(outline, stage.public / shared[-1])
        for release in releases:
            said = next((one for one in differences if one.now is release.public), None)
            certificate = _write_public(release, stage.public, look, shared, said)
            release.internal(stage.internal, look, certificate)
        check_public(
            stage.public,
            public,
            filled,
            derived=derived,
            combined=combined,
            differences=differences,
            releases=elsewhere,
        )
    return Path(folder)


def check_look(formats: Sequence[str], admissible: Sequence[str], language: str) -> None:
    """Refuse formats and languages that there are not."""
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
    release: Release,
    folder: Path,
    look: Look,
    shared: Sequence[str],
    difference: Difference | None,
) -> dict[str, Any]:
    """Data, page and certificate; the certificate lists the files that all have in common too."""
    name, title = release.name, look.titles.get(release.name)
    match release.public:
        case Published() as table:
            files = _write_table(table, folder, look)
        case Streamed() as table:
            files = _write_streamed(table, folder)
        case Records() as records:
            files = _write_records(records, folder, look)
    listed = {file: digest(folder / file) for file in (*shared, *files)}
    certificate = {
        **release.certificate,
        **(
            {}
            if difference is None
            else {"difference": {"name": difference.name, **difference.counts}}
        ),
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
    if set(look.formats) & set(EXCHANGE):
        cube = public_cube(published, title, look.language, look.symbols)
        files += write_exchange(cube, folder, name, look.formats, look.agency)
    return [*files, *write_maps(published, folder, look)]


def _write_streamed(table: Streamed, folder: Path) -> list[str]:
    files = [f"{table.name}.structure.json", f"{table.name}.parquet"]
    write_json(structure(table.outline), folder / files[0])
    write_blocks(table.blocks(), folder / files[1])
    return files


def _exchanged(shown: Derived | SideBySide | Difference, folder: Path, look: Look) -> list[str]:
    """Files for exchange of a figure or of tables side by side; a difference has none."""
    if isinstance(shown, Difference) or not set(look.formats) & set(EXCHANGE):
        return []
    made = cube_of_figure if isinstance(shown, Derived) else cube_of_several
    cube = made(shown, look.language, look.symbols)  # pyright: ignore[reportArgumentType]
    return write_exchange(cube, folder, shown.name, look.formats, look.agency)


def _write_records(records: Records, folder: Path, look: Look) -> list[str]:
    files = write_records(records.table, folder, records.name, look.formats, look.neutralise)
    for kind in STATISTICAL:
        if kind in look.formats:
            files.append(f"{records.name}.{kind}")
            write_statistical(records.table, records.book, folder / files[-1], records.missing)
    return files


def _check_file_names(
    written: Sequence[Published | Streamed | Records | Derived | SideBySide | Difference],
) -> None:
    """Refuse two things that would be written into the same file on some system."""
    seen: dict[str, str] = {}
    devices = [one.name for one in written if _DEVICE.fullmatch(one.name)]
    if devices:
        raise InputError(
            f"the name {devices[0]!r} is that of a device on Windows, like CON, AUX, NUL, COM1 or "
            "LPT1, where no file can be called so; give another name="
        )
    parts = tuple(ending.rpartition(".")[0] for ending in (*EXCHANGE.values(), *MAPS.values()))
    beside = {f"{one.name}{part}".casefold() for one in written for part in parts if part}
    for one in written:
        other = seen.setdefault(one.name.casefold(), one.name)
        twice = other is not one.name or [w.name for w in written].count(one.name) > 1
        if twice or one.name.casefold() in beside:
            raise InputError(
                f"the name {one.name!r} is taken by another table or figure of this release; "
                "give one of them another name="
            )


def fill_into(
    folder: Path,
    tables: Sequence[Published],
    template: Path,
    look: Look,
) -> FilledTemplate:
    """Fill a template into the public folder, under its own name; what the guard needs."""
    if not template.is_file():
        raise InputError(f"there is no template {template}; template= names a workbook (.xlsx)")
    check_file_name(template.stem)
    name = f"{template.stem}.xlsx"
    own = {f"{table.name}.xlsx".casefold() for table in tables}
    if name.casefold() in own:
        raise InputError(
            f"the template {template.name} is called like the workbook of a table "
            f"({', '.join(sorted(own))}); rename it, e.g. layout-{name}"
        )
    fill_template(
        tables,
        template,
        folder / name,
        language=look.language,
        symbols=look.symbols,
        titles=look.titles,
    )
    texts = template_texts(tables, look.language, look.symbols, look.titles)
    return FilledTemplate(name, template, texts)
