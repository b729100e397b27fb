"""The job file of the office: read, and checked line by line."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, cast

from diskret.errors import InputError
from diskret.jobs.attacker import read_attacker, read_contributor
from diskret.jobs.cells import all_of_cells, read_cells
from diskret.jobs.checks import (
    FILE_STEM,
    check_distinct,
    check_figures,
    check_shadow,
    check_weight,
)
from diskret.jobs.derived import read_derived_job
from diskret.jobs.noise import read_noise
from diskret.jobs.records import FLAT, read_hierarchies, read_records
from diskret.jobs.rules import read_rule
from diskret.jobs.schema import Section, open_job
from diskret.jobs.values import (
    CellsFile,
    DatabaseRecords,
    DerivedJob,
    HierarchyFile,
    Job,
    Output,
    Records,
    TableJob,
)
from diskret.population import Population
from diskret.protect.marked_records import Marking, marks
from diskret.publish.formats.symbols import SymbolSet, symbol_sets
from diskret.rules import NoRule
from diskret.tables import MeasureSum
from diskret.tables.cells import check_reserved
from diskret.texts import LANGUAGES

__all__ = [
    "CellsFile",
    "DatabaseRecords",
    "DerivedJob",
    "HierarchyFile",
    "Job",
    "Output",
    "Records",
    "TableJob",
    "read_job",
]

_FORMATS = ("csv", "parquet", "xlsx", "html")
_METHODS = ("auto", "sequential", "modular", "optimal", "hypercube", "network")


def read_job(path: str | PathLike[str]) -> Job:
    """Read and check a job file.

    Parameters
    ----------
    path
        A TOML file; the files and folders it names are seen from its own folder.

    Raises
    ------
    JobError
        The file cannot be read or is not TOML; a key is unknown or missing; a value is not
        admissible; a file that it names does not exist; two tables have the same name.
        The message names the line, the key and what is admissible.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "firms.csv").write_text("region,turnover", encoding="utf-8")
    >>> _ = (folder / "job.toml").write_text('''
    ... [records]
    ... path = "firms.csv"
    ... [[tables]]
    ... by = { region = "flat" }
    ... value = "turnover"
    ... rules = { p_percent = { p = 10 } }
    ... ''', encoding="utf-8")
    >>> read_job(folder / "job.toml").tables[0].name
    'turnover'
    """
    job = open_job(Path(path))
    of_records = "records" in job or not all_of_cells(job.values.get("tables"))
    job.check(
        required=("records", "tables") if of_records else ("tables",),
        optional=("sums", "keyed_ties", "hierarchies", "attacker", "derived", "output"),
    )
    records = read_records(job.section("records")) if of_records else None
    hierarchies = read_hierarchies(job.section("hierarchies"))
    sections = job.sections("tables")
    if not sections:
        raise job.error("there must be at least one [[tables]]", "tables")
    tables = tuple(_table(section, hierarchies, records) for section in sections)
    check_distinct(sections, tables)
    figures = job.sections("derived")
    derived = tuple(read_derived_job(section, tables) for section in figures)
    check_figures(figures, derived, tables)
    return Job(
        path=job.file,
        records=records,
        tables=tables,
        sums=_sums(job, tables),
        keyed_ties=job.flag("keyed_ties", False),
        attacker=read_attacker(job.section("attacker"), tables),
        previous_within=job.section("attacker").number("previous_within", None, above=0),
        contributor=read_contributor(job.section("attacker"), tables),
        coalition=job.section("attacker").whole("coalition", 1, 1),
        output=_output(job.section("output"), [part.name for part in (*tables, *derived)]),
        derived=derived,
    )


# ── the sections, in the order of the file ──────────────────────────────────────────


def _table(
    section: Section,
    hierarchies: Mapping[str, HierarchyFile],
    records: Records | DatabaseRecords | None,
) -> TableJob:
    section.check(
        required=("by",) if "noise" in section else ("by", "rules"),
        optional=(
            *("rules", "noise"),
            *("name", "value", "cells", "decimals", "unit", "holding", "vintage", "where", "title"),
            "round_values",
            *("request", "waiver", "waiver_note", "recode", "rounding", "shadow"),
            *("weight", "weight_decimals"),
            *("method", "cost", "time_limit", "budget", "frozen"),
            *("previous", "previous_discount"),
        ),
    )
    by, total = _by(section.section("by"), hierarchies)
    cells = read_cells(section)
    _check_columns(section, by, records if cells is None else None)
    value = section.text("value", None)
    for key in ("decimals", "round_values"):
        if key in section and value is None:
            raise section.error(f"'{key}' needs a 'value'; counts have none", key)
    check_weight(section)
    check_shadow(section, by)
    table = TableJob(
        name=section.text("name", value or "count"),
        by=by,
        rule=read_rule(section.section("rules"), section) if "rules" in section else NoRule(),
        total=total,
        value=value,
        cells=cells,
        decimals=section.whole("decimals", 0, 0, 12),
        round_values=section.flag("round_values", False),
        unit=section.text("unit", None),
        holding=section.text("holding", None),
        weight=section.text("weight", None),
        weight_decimals=section.whole("weight_decimals", 0, 0, 9),
        vintage=section.text("vintage", ""),
        where=_where(section.section("where")),
        recode=_recode(section.section("recode"), by),
        rounding=section.number("rounding", None, above=0),
        shadow=section.text("shadow", None),
        request=_marking(section, "request"),
        waiver=_marking(section, "waiver"),
        waiver_note=section.text("waiver_note", ""),
        title=_title(section.section("title")),
        method=section.choice("method", "auto", _METHODS),
        cost=section.text("cost", "value"),
        time_limit=section.number("time_limit", None, above=0),
        budget=section.whole("budget", None, 1),
        frozen=tuple(_frozen(cell, by) for cell in section.sections("frozen")),
        previous=_previous(section),
        previous_discount=_discount(section),
        noise=read_noise(section.section("noise"), section) if "noise" in section else None,
    )
    if not FILE_STEM.fullmatch(table.name):
        raise section.error(
            f"'{table.name}' cannot be the name of a file; give the table a 'name' of letters, "
            "digits, blanks and . _ -",
            "name" if "name" in section else "value",
        )
    return table


def _by(
    section: Section, hierarchies: Mapping[str, HierarchyFile]
) -> tuple[dict[str, HierarchyFile | None], dict[str, str]]:
    """Column → its tree, None for a flat one; and the codes of totals that are said."""
    if not section.values:
        raise section.error("'by' must name at least one column, e.g. by = { region = \"flat\" }")
    by: dict[str, HierarchyFile | None] = {}
    said: dict[str, str] = {}
    for column, asked in section.values.items():
        if not isinstance(asked, dict):
            by[column] = hierarchies.get(section.choice(column, "", (FLAT, *hierarchies)))
            continue
        one = section.section(column)
        one.check(optional=("flat", "hierarchy", "total"))
        if one.flag("flat", False) == ("hierarchy" in one):
            raise one.error("give either flat = true or 'hierarchy', the name of a code tree")
        tree = one.choice("hierarchy", None, tuple(hierarchies))
        by[column] = None if tree is None else hierarchies[tree]
        if total := one.text("total", None):
            said[column] = total
    return by, said


def _where(section: Section) -> Population:
    wanted: dict[str, Any] = {}
    for column, asked in section.values.items():
        try:
            wanted |= Population.of({column: asked}).asked
        except InputError as error:
            raise section.error(str(error), column) from error
    return Population.of(wanted)


def _marking(section: Section, key: str) -> Marking | None:
    if key not in section:
        return None
    asked = section.values[key]
    if not isinstance(asked, (str, dict)) or not asked:
        raise section.unfit(key, "a column in quotes or { column = code or list of codes }")
    marking = cast(Marking, asked)
    try:
        marks(**{"request": None, "waiver": None, key: marking})
    except InputError as error:
        raise section.error(str(error), key) from error
    return marking


def _recode(section: Section, by: Mapping[str, object]) -> dict[str, dict[str, tuple[str, ...]]]:
    section.check(optional=tuple(by))
    return {
        column: {
            code: section.section(column).texts(code) for code in section.section(column).values
        }
        for column in section.values
    }


def _sums(job: Section, tables: tuple[TableJob, ...]) -> tuple[str, ...]:
    sums = job.texts("sums")
    measures = [table.measure for table in tables]
    for text in sums:
        try:
            equation = MeasureSum.read(text)
        except InputError as error:
            raise job.error(f"'sums': {error}", "sums") from error
        for measure in (equation.total, *equation.parts):
            if measure not in measures:
                raise job.unknown(f"'sums': no table of '{text}':", measure, measures, "sums")
    if sums and len({table.search for table in tables}) > 1:
        raise job.error(
            "'sums' tie tables together, so all need the same 'method', 'time_limit' and 'budget'",
            "sums",
        )
    return sums


def _title(section: Section) -> dict[str, str]:
    section.check(optional=LANGUAGES)
    return {language: section.text(language, "") for language in section.values}


def _frozen(section: Section, by: Mapping[str, object]) -> dict[str, str]:
    section.check(required=("at",))
    at = section.section("at")
    at.check(required=tuple(by))
    return {column: at.text(column, "") for column in by}


def _previous(section: Section) -> Path | None:
    if "previous" not in section:
        return None
    folder = section.file.parent / section.text("previous", "")
    if not folder.is_dir():
        raise section.error(f"'previous': the folder {folder} does not exist", "previous")
    return folder


def _discount(section: Section) -> float:
    discount = section.number("previous_discount", 0, low=0)
    if discount >= 100:
        raise section.unfit("previous_discount", "a number of percent from 0 to below 100")
    if discount and "previous" not in section:
        raise section.error("'previous_discount' needs a 'previous'", "previous_discount")
    return discount


def _output(section: Section, names: list[str]) -> Output:
    section.check(
        optional=(
            *("folder", "formats", "language", "symbols"),
            *("template", "intervals", "combined", "ledger", "release", "neutralise"),
        )
    )
    if "release" in section and "ledger" not in section:
        raise section.error("'release' names an entry of a ledger: 'ledger' is missing", "release")
    return Output(
        folder=section.file.parent / section.text("folder", "out"),
        formats=section.choices("formats", ("csv", "xlsx"), _FORMATS),
        language=section.choice("language", "en", LANGUAGES),
        symbols=_symbols(section),
        intervals=section.flag("intervals", False),
        template=section.existing_file("template") if "template" in section else None,
        combined=_combined(section, names),
        ledger=_ledger(section),
        release=section.text("release", None),
        neutralise=section.flag("neutralise", False),
    )


def _ledger(section: Section) -> str | None:
    """A file, seen from the folder of the job file, or a url."""
    place = section.text("ledger", None)
    return place if place is None or "://" in place else str(section.file.parent / place)


def _combined(section: Section, names: list[str]) -> str | dict[str, tuple[str, ...]] | None:
    """The name of a file with all tables, or name → the tables in it."""
    if not isinstance(section.values.get("combined"), dict):
        return section.text("combined", None)
    files = section.section("combined")
    return {name: files.choices(name, (), names) for name in files.values}


def _symbols(section: Section) -> str | SymbolSet:
    """The name of a set, or a set of the office's own with its legend in both languages."""
    if not isinstance(section.values.get("symbols"), dict):
        return section.choice("symbols", "de-classic", tuple(symbol_sets()))
    own = section.section("symbols")
    own.check(required=("suppressed", "nothing", *LANGUAGES))
    suppressed, nothing = own.text("suppressed", ""), own.text("nothing", "")
    legend: dict[str, dict[str, str]] = {}
    for language in LANGUAGES:
        meaning = own.section(language)
        meaning.check(required=("suppressed", "nothing"))
        legend[language] = {
            suppressed: meaning.text("suppressed", ""),
            nothing: meaning.text("nothing", ""),
        }
    try:
        return SymbolSet("own", suppressed, nothing, legend)
    except InputError as error:
        raise section.error(f"'symbols': {error}", "symbols") from error


# ── what no section can see alone ───────────────────────────────────────────────────


def _check_columns(
    section: Section, by: Mapping[str, object], records: Records | DatabaseRecords | None
) -> None:
    """Columns of fixed-format records are known here, so a wrong name has a line."""
    if section.text("value", None) in by:
        raise section.error("'value' is a column of 'by' at the same time", "value")
    shown = [name for name in (section.text("value", None),) if name is not None]
    for names, place in (((by, ()), "by"), (((), shown), "value")):
        try:
            check_reserved(*names, changed="noise" in section)
        except InputError as error:
            raise section.error(str(error), place) from None
    if not isinstance(records, Records) or records.format != "fixed":
        return
    columns = [column.name for column in records.columns]
    for column in by:
        if column not in columns:
            raise section.unknown("no such column:", column, columns, "by", column)
    for key in ("value", "unit", "holding", "weight", "shadow"):
        column = section.text(key, None)
        if column is not None and column not in columns:
            raise section.unknown(f"'{key}' is no such column:", column, columns, key)
    for key in ("request", "waiver"):
        marking = _marking(section, key) or {}
        for column in [marking] if isinstance(marking, str) else marking:
            if column not in columns:
                raise section.unknown(f"'{key}' is no such column:", column, columns, key)
    for column in section.section("where").values:
        if column not in columns:
            raise section.unknown("no such column:", column, columns, "where", column)
    section.choice("cost", None, ("value", "count", "cells", *columns))
