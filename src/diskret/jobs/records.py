"""The records and code trees that a job file names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from diskret.errors import InputError
from diskret.io import Column, PostgresTable
from diskret.jobs.schema import Section
from diskret.jobs.values import DatabaseRecords, HierarchyFile, Records
from diskret.texts import LANGUAGES

#: Stands for no hierarchy; no code tree can have this name.
FLAT = "flat"
_ENGINES = ("duckdb", "spark")
_FILE_KEYS = ("format", "encoding", "columns", "engine")
_SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".txt": "csv"}


def read_records(section: Section) -> Records | DatabaseRecords:
    """Where the records are, and how they are read."""
    section.check(optional=("path", *_FILE_KEYS, "url", "table"))
    if "url" in section or "table" in section:
        return _database(section)
    section.check(required=("path",), optional=_FILE_KEYS)
    path = section.existing_file("path")
    by_suffix = _SUFFIXES.get(path.suffix.lower())
    likely = "fixed" if "columns" in section else by_suffix
    kind = section.choice("format", likely, ("parquet", "csv", "fixed"))
    if kind is None:
        raise section.error(
            f"the suffix of {path.name} does not tell the format; add format = "
            '"parquet", "csv" or "fixed"',
            "path",
        )
    engine = cast(Literal["duckdb", "spark"], section.choice("engine", "duckdb", _ENGINES))
    if kind != "fixed":
        for key in ("encoding", "columns"):
            if key in section:
                raise section.error(f"'{key}' is for format = \"fixed\" only", key)
        if kind != by_suffix:
            suffixes = " or ".join(s for s, name in _SUFFIXES.items() if name == kind)
            raise section.error(f"a {kind} file must end in {suffixes}, not {path.name}", "path")
        return Records(path, cast(Literal["parquet", "csv"], kind), engine=engine)
    columns = tuple(_column(column) for column in section.sections("columns"))
    if not columns:
        raise section.error('format = "fixed" needs [[records.columns]]: name, start, width')
    names = [column.name for column in columns]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise section.error(f"the column '{name}' is there twice", "columns", position, "name")
    return Records(path, "fixed", columns, section.text("encoding", "utf-8"), engine)


def _database(section: Section) -> DatabaseRecords:
    for key in ("path", *_FILE_KEYS):
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


def _column(section: Section) -> Column:
    section.check(required=("name", "start", "width"))
    return Column(
        section.text("name", ""), section.whole("start", 1, 1), section.whole("width", 1, 1)
    )


def read_hierarchies(section: Section) -> dict[str, HierarchyFile]:
    """The code trees by the names that tables use for them."""
    found: dict[str, HierarchyFile] = {}
    for name in section.values:
        if name == FLAT:
            raise section.error(f"'{FLAT}' means no hierarchy; choose another name", name)
        one = section.section(name)
        one.check(
            required=("file",),
            optional=("total", "lead", "encoding", "levels", "prefix", "column", "labels"),
        )
        path = one.existing_file("file")
        suffix = path.suffix.lower()
        if suffix not in (".hrc", ".csv"):
            raise one.error(f"'file': {path.name} must end in .hrc or .csv", "file")
        for key in ("lead", "encoding"):
            if key in one and suffix == ".csv":
                raise one.error(f"'{key}' is for .hrc files only", key)
        _check_way(one, suffix)
        found[name] = HierarchyFile(
            path,
            total=one.text("total", "Total"),
            lead=one.text("lead", "@"),
            encoding=one.text("encoding", "utf-8"),
            levels=one.texts("levels"),
            prefix=one.wholes("prefix", 1),
            column=one.text("column", None),
            labels=_labels(one),
        )
    return found


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
