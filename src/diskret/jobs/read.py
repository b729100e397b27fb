"""The job file of the office: read, and checked line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, cast

from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.io import PostgresTable
from diskret.jobs.derived import read_derived_job
from diskret.jobs.editions import check_free, read_edition, with_last_patterns
from diskret.jobs.files import FILE_KEYS, read_file
from diskret.jobs.in_engine import check_in_engine
from diskret.jobs.places import GridPlaces, check_places, read_places
from diskret.jobs.schema import Section, open_job
from diskret.jobs.tables import read_table
from diskret.jobs.values import (
    FILE_STEM,
    FLAT,
    DatabaseRecords,
    DerivedJob,
    HierarchyFile,
    Job,
    Output,
    Records,
    TableJob,
)
from diskret.parameters import parameters
from diskret.protect.write import DEFAULT_FORMATS, FORMATS
from diskret.publish.formats.symbols import SymbolSet, symbol_sets
from diskret.tables import MeasureSum
from diskret.texts import LANGUAGES


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
    of_records = "records" in job or not _all_of_cells(job.values.get("tables"))
    job.check(
        required=("records", "tables") if of_records else ("tables",),
        optional=(
            "sums",
            "keyed_ties",
            "hierarchies",
            "places",
            "attacker",
            "derived",
            "edition",
            "output",
        ),
    )
    records = read_records(job.section("records")) if of_records else None
    places = read_places(job.section("places"))
    grids = {name: one for name, one in places.items() if isinstance(one, GridPlaces)}
    hierarchies = {**read_hierarchies(job.section("hierarchies")), **grids}
    sections = job.sections("tables")
    if not sections:
        raise job.error("there must be at least one [[tables]]", "tables")
    columns = _columns(sections)
    read = [(one, read_table(one, hierarchies, records, columns)) for one in sections]
    _check_distinct(read)
    tables = tuple(table for _, table in read)
    check_places(job.section("places"), places, tables)
    edition = None
    if "edition" in job:
        edition = read_edition(job.section("edition"))
        tables = with_last_patterns(job.section("edition"), edition, tables)
    figures = [(section, read_derived_job(section, tables)) for section in job.sections("derived")]
    _check_figures(figures, tables)
    derived = tuple(figure for _, figure in figures)
    names = [part.name for part in (*tables, *derived)]
    if edition is not None:
        check_free(job.section("edition"), tables, names)
    output = _output(job.section("output"), names)
    check_in_engine(job, tables, output)
    return Job(
        path=job.file,
        records=records,
        tables=tables,
        sums=_sums(job, tables),
        keyed_ties=job.flag("keyed_ties", False),
        places=places,
        **_attacker(job.section("attacker"), tables),
        output=output,
        derived=derived,
        edition=edition,
    )


# ── the sections, in the order of the file ──────────────────────────────────────────


def _all_of_cells(tables: Any) -> bool:
    """Whether what stands under ``tables`` needs no records."""
    if not isinstance(tables, list) or not tables:
        return False
    return all(isinstance(table, dict) and "cells" in table for table in tables)


def _columns(tables: Sequence[Section]) -> tuple[str, ...]:
    """The columns that some table is broken down by or filtered by."""
    asked = [one.section(key).values for one in tables for key in ("by", "where") if key in one]
    return tuple(dict.fromkeys(name for columns in asked for name in columns))


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


def _attacker(section: Section, tables: tuple[TableJob, ...]) -> dict[str, Any]:
    """What the attacker knows beside the published tables, and who it is: fields of `Job`."""
    given = section.read(Attacker, optional=("previous_within",), without=("lower", "upper"))
    if "mistaken" in section and "previous_within" not in section:
        raise section.error("'mistaken' is for bounds, so it needs 'previous_within'", "mistaken")
    if "previous_within" in section:
        if all(table.previous is None for table in tables):
            raise section.error(
                "'previous_within' needs last period's release: 'previous' in [[tables]]",
                "previous_within",
            )
        percent = parameters(Attacker.around)["percent"]
        given["previous_within"] = section.value("previous_within", percent)
    _check_contributor(section, given, tables)
    who = ("previous_within", "contributor", "coalition")
    own = {key: given.pop(key) for key in who if key in given}
    return {"attacker": Attacker(**given), **own}


def _check_contributor(
    section: Section, given: Mapping[str, Any], tables: tuple[TableJob, ...]
) -> None:
    """Whether contributors may attack as the file says, which may leave that open."""
    if "contributor" not in section:
        if "coalition" in section and all(t.value is None or t.weight for t in tables):
            raise section.error(
                "'coalition' is about contributors, and no table sums an unweighted value; add "
                "contributor = true",
                "coalition",
            )
        return
    contributor = given["contributor"]
    if "coalition" in section and not contributor:
        raise section.error("'coalition' needs contributor = true", "coalition")
    weighted = [table.name for table in tables if table.weight is not None]
    if contributor and weighted:
        raise section.error(
            f"'contributor' cannot be true: table '{weighted[0]}' is weighted, so what a "
            "contributor to several cells knows of their sum cannot be told; leave 'contributor' "
            "out",
            "contributor",
        )


def _output(section: Section, names: list[str]) -> Output:
    own = ("folder", "formats", "language", "symbols", "template", "combined", "ledger")
    given = section.read(Output, optional=own, without=own)
    if "release" in section and "ledger" not in section:
        raise section.error("'release' names an entry of a ledger: 'ledger' is missing", "release")
    return Output(
        **given,
        folder=section.file.parent / section.text("folder", "out"),
        formats=section.choices("formats", DEFAULT_FORMATS, FORMATS),
        language=section.choice("language", "en", LANGUAGES),
        symbols=_symbols(section),
        template=section.existing_file("template") if "template" in section else None,
        combined=_combined(section, names),
        ledger=_ledger(section),
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


def _check_figures(
    figures: Sequence[tuple[Section, DerivedJob]], tables: Sequence[TableJob]
) -> None:
    """Each figure has a name of its own that can be one of a file."""
    taken = [table.name.casefold() for table in tables]
    for section, figure in figures:
        if not FILE_STEM.fullmatch(figure.name) or figure.name.casefold() in taken:
            raise section.error(
                f"the name '{figure.name}' is taken, or cannot be that of a file; give the figure "
                "another 'name' of letters, digits, blanks and . _ -",
                "name",
            )
        taken.append(figure.name.casefold())


def _check_distinct(tables: Sequence[tuple[Section, TableJob]]) -> None:
    """Tables have names of their own, and those protected together one kind of search."""
    names: dict[str, Section] = {}
    for i, (section, table) in enumerate(tables):
        for first, earlier in tables[:i]:
            together = (earlier.measure, earlier.vintage) == (table.measure, table.vintage)
            suppressed = earlier.noise is None and table.noise is None
            if together and suppressed and earlier.search != table.search:
                raise section.error(
                    f"tables of '{table.measure}' are protected together, so they need the same "
                    f"'method', 'time_limit' and 'budget' as the first of them, in line "
                    f"{first.line()}"
                )
        name = table.name.casefold()
        if name in names:
            first = names[name]
            raise section.error(
                f"the name '{table.name}' is taken by the table in line {first.line()}", "name"
            )
        names[name] = section


# ── records and code trees ────────────────────────────────────────────────────────────


_ENGINES = ("duckdb", "spark")


def read_records(section: Section) -> Records | DatabaseRecords:
    """Where the records are, and how they are read."""
    section.check(optional=("path", *FILE_KEYS, "engine", "url", "table"))
    if "url" in section or "table" in section:
        return _database(section)
    section.check(required=("path",), optional=(*FILE_KEYS, "engine"))
    engine = cast(Literal["duckdb", "spark"], section.choice("engine", "duckdb", _ENGINES))
    return Records(read_file(section, "path"), engine)


def _database(section: Section) -> DatabaseRecords:
    for key in ("path", *FILE_KEYS, "engine"):
        if key in section:
            raise section.error(
                f"'{key}' is for records in a file, 'url' and 'table' for a database", key
            )
    section.check(required=("url", "table"))
    url, table = section.text("url", ""), section.text("table", "")
    try:
        return DatabaseRecords(PostgresTable(url, table))
    except InputError as error:
        wrong = "table" if repr(table) in str(error) else "url"
        raise section.error(f"'{wrong}': {error}", wrong) from error


def read_hierarchies(section: Section) -> dict[str, HierarchyFile]:
    """The code trees by the names that tables use for them."""
    found: dict[str, HierarchyFile] = {}
    for name in section.values:
        if name == FLAT:
            raise section.error(f"'{FLAT}' means no hierarchy; choose another name", name)
        found[name] = read_hierarchy(section.section(name))
    return found


def read_hierarchy(one: Section) -> HierarchyFile:
    """A code tree."""
    one.check(
        required=("file",),
        optional=("total", "lead", "encoding", "levels", "prefix", "column", "labels"),
    )
    path = one.existing_file("file")
    suffix = path.suffix.lower()
    if suffix not in (".hrc", ".csv"):
        raise one.error(f"'file': {path.name} must end in .hrc or .csv", "file")
    if "lead" in one and suffix == ".csv":
        raise one.error("'lead' is for .hrc files only", "lead")
    _check_way(one, suffix)
    return HierarchyFile(
        path,
        total=one.text("total", "Total"),
        lead=one.text("lead", "@"),
        encoding=one.text("encoding", "utf-8"),
        levels=one.texts("levels"),
        prefix=one.wholes("prefix", 1),
        column=one.text("column", None),
        labels=_labels(one),
    )


def _labels(one: Section) -> dict[str, Path]:
    """Language → file of labels; "" for a file that says the languages, or has none."""
    if "labels" not in one:
        return {}
    if isinstance(one.values["labels"], str):
        return {"": one.existing_file("labels")}
    files = one.section("labels")
    files.check(optional=LANGUAGES)
    return {language: files.existing_file(language) for language in files.values}


def _check_way(one: Section, suffix: str) -> None:
    """At most one way to read the tree out of a .csv file."""
    for key in ("levels", "prefix", "column"):
        if key in one and suffix == ".hrc":
            raise one.error(f"'{key}' is for .csv files only", key)
        if key != "levels" and key in one and "levels" in one:
            raise one.error(f"'levels' and '{key}' are two ways to read one tree; keep one", key)
    if ("prefix" in one) != ("column" in one):
        there, missing = ("prefix", "column") if "prefix" in one else ("column", "prefix")
        raise one.error(
            f"'{there}' needs '{missing}': the column of the codes and the widths of their levels",
            there,
        )
