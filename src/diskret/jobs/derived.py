"""The derived figures of a job file: a ``[[derived]]`` for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from diskret.jobs.schema import Section
from diskret.jobs.values import DerivedJob, TableJob
from diskret.protect import derive
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.tables import Derived, Published

# key → the kinds it is for
_ONLY_FOR = {"of": ("share",), "base": ("index",), "earlier": ("growth", "index")}


def read_derived_job(section: Section, tables: Sequence[TableJob]) -> DerivedJob:
    """What is to be derived from the tables of a job."""
    own = ("name", "of", "earlier", "tables")
    given = section.read(DerivedJob, required=("tables",), optional=own, without=own)
    kind = given["kind"]
    for key, kinds in _ONLY_FOR.items():
        if key in section and kind not in kinds:
            raise section.error(f"'{key}' is for {' and '.join(kinds)} only", key)
    if kind == "index" and "base" not in section:
        raise section.error("an index needs a 'base', the vintage that is 100, e.g. \"2020\"")
    by_name = {table.name: table for table in tables}
    names = section.texts("tables")
    for position, name in enumerate(names):
        if name not in by_name:
            raise section.unknown("no such table:", name, list(by_name), "tables", position)
    of = section.texts("of")
    for position, column in enumerate(of):
        columns = list(by_name[names[0]].by)
        if column not in columns:
            raise section.unknown("no such column:", column, columns, "of", position)
    derived = DerivedJob(
        **given,
        name=section.text("name", f"{names[0]}_{kind}"),
        tables=names,
        of=of,
        earlier=_folders(section),
    )
    _check_number(section, derived)
    return derived


def derived_of(
    wanted: Sequence[DerivedJob], results: Sequence[Result | PerturbedResult]
) -> tuple[list[Derived], tuple[Path, ...]]:
    """The figures, and the folders of the earlier releases they need."""
    named = {result.name: result.published for result in results}
    releases = dict.fromkeys(folder for figure in wanted for folder in figure.earlier)
    return [_figure(figure, named) for figure in wanted], tuple(releases)


def _figure(wanted: DerivedJob, results: Mapping[str, Published]) -> Derived:
    first, *others = (results[name] for name in wanted.tables)
    earlier = [Published.read(folder, first.name) for folder in wanted.earlier]
    name, decimals = wanted.name, wanted.decimals
    match wanted.kind:
        case "mean":
            return derive.mean(first, others[0], name=name, decimals=decimals)
        case "share":
            of = wanted.of or others[0]
            return derive.share(first, of, name=name, decimals=decimals)
        case "growth":
            return derive.growth(first, [*others, *earlier][0], name=name, decimals=decimals)
        case _:
            series = [*earlier, first, *others]
            return derive.index(series, wanted.base, name=name, decimals=decimals)


def _folders(section: Section) -> tuple[Path, ...]:
    """Folders of releases, seen from the job file."""
    folders: list[Path] = []
    for position, text in enumerate(section.texts("earlier")):
        folders.append(section.file.parent / text)
        if not folders[-1].is_dir():
            raise section.error(
                f"'earlier': the folder {folders[-1]} does not exist", "earlier", position
            )
    return tuple(folders)


def _check_number(section: Section, derived: DerivedJob) -> None:
    here, before = len(derived.tables), len(derived.earlier)
    fits, needed = {
        "mean": (here == 2, "two tables: the sum and the count"),
        "share": (
            (here == 1 and bool(derived.of)) or (here == 2 and not derived.of),
            "one table and 'of', or two tables: the part and the whole",
        ),
        "growth": (
            here + before == 2,
            "two tables: now and before; or one and 'earlier' with one folder",
        ),
        "index": (here + before >= 2, "at least two periods: tables, or folders in 'earlier'"),
    }[derived.kind]
    if not fits:
        raise section.error(f"a {derived.kind} is made of {needed}", "tables")
