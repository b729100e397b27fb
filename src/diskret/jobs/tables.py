"""The tables of a job file: a ``[[tables]]`` for each, made of records or of a file of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from diskret.errors import InputError
from diskret.io.record_errors import RecordError
from diskret.jobs.files import FILE_KEYS, read_file
from diskret.jobs.noise import read_noise
from diskret.jobs.rules import judged
from diskret.jobs.schema import Section
from diskret.jobs.values import (
    FILE_STEM,
    FLAT,
    CellsFile,
    DatabaseRecords,
    Records,
    TableJob,
    Tree,
)
from diskret.population import Population
from diskret.protect.tabulate import Marking, record_marks
from diskret.tables import Table
from diskret.tables.cells import check_reserved
from diskret.texts import LANGUAGES

#: What a table is read with beside what its values say of themselves.
_OWN = (
    *("name", "by", "rules", "noise", "cells", "where", "recode", "request", "waiver", "title"),
    *("frozen", "previous"),
)
_OF_RECORDS = ("unit", "holding", "weight", "where", "request", "waiver", "waiver_note")


def read_table(
    section: Section,
    hierarchies: Mapping[str, Tree],
    records: Records | DatabaseRecords | None,
    columns: Sequence[str],
) -> TableJob:
    """One of ``[[tables]]``; `columns` are those that tables of the job are broken down by."""
    given_status = isinstance(section.values.get("cells"), dict) and "status" in section.section(
        "cells"
    )
    needed = ("by",) if "noise" in section or given_status else ("by", "rules")
    beside = (*_OWN, "rule", "total", "said")
    given = section.read(TableJob, required=needed, optional=_OWN, without=beside)
    by, total = _by(section.section("by"), hierarchies)
    cells = _cells(section)
    _check_columns(section, by, records if cells is None else None)
    value = section.text("value", None)
    for key in ("decimals", "round_values"):
        if key in section and value is None:
            raise section.error(f"'{key}' needs a 'value'; counts have none", key)
    _check_weight(section)
    _check_shadow(section, by)
    if given.get("previous_discount") and "previous" not in section:
        raise section.error("'previous_discount' needs a 'previous'", "previous_discount")
    table = TableJob(
        **given,
        name=section.text("name", value or "count"),
        by=by,
        rule=judged(section, by, cells, columns),
        total=total,
        cells=cells,
        where=_where(section.section("where")),
        recode=_recode(section.section("recode"), by),
        request=_marking(section, "request"),
        waiver=_marking(section, "waiver"),
        title=_title(section.section("title")),
        frozen=tuple(_frozen(cell, by) for cell in section.sections("frozen")),
        previous=_previous(section),
        noise=read_noise(section.section("noise"), section) if "noise" in section else None,
        said=section,
    )
    if not FILE_STEM.fullmatch(table.name):
        raise section.error(
            f"'{table.name}' cannot be the name of a file; give the table a 'name' of letters, "
            "digits, blanks and . _ -",
            "name" if "name" in section else "value",
        )
    return table


def _by(
    section: Section, hierarchies: Mapping[str, Tree]
) -> tuple[dict[str, Tree | None], dict[str, str]]:
    """Column → its tree, None for a flat one; and the codes of totals that are said."""
    if not section.values:
        raise section.error("'by' must name at least one column, e.g. by = { region = \"flat\" }")
    by: dict[str, Tree | None] = {}
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
        record_marks(**{"request": None, "waiver": None, key: marking})
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


# ── made of cells ───────────────────────────────────────────────────────────────────


def _cells(table: Section) -> CellsFile | None:
    """The file of cells that a table is made of, or None if it is made of records."""
    if "cells" not in table:
        return None
    for key in _OF_RECORDS:
        if key in table:
            raise table.error(f"'{key}' is for records, and the table has 'cells'", key)
    section = table.section("cells")
    of_sums = ("largest", "magnitude", "signed", "rounding", "count_within")
    own = ("file", "largest")
    given = section.read(
        CellsFile, required=("file",), optional=("largest", *FILE_KEYS), without=own
    )
    for key in of_sums:
        if key in section and "value" not in table:
            raise section.error(f"'{key}' is for sums, so the table needs a 'value'", key)
    if "value" not in table and "count" not in section:
        raise section.error("a table without a 'value' needs 'count', the column of its counts")
    if "rounding" in section and "rounding" in table:
        raise table.error("'rounding' is that of the cells already; leave one out", "rounding")
    if given.get("additivity") == "totals" and "rounding" in section:
        raise section.error(
            "rounded totals need not be the sum of their parts, so nothing is computed anew; leave "
            "'additivity' or 'rounding' out",
            "additivity",
        )
    return CellsFile(read_file(section, "file"), largest=section.texts("largest"), **given)


def table_of_cells(table: TableJob, cells: CellsFile) -> Table:
    """The table of a file of cells."""
    try:
        return Table.from_cells(
            cells.file,
            by={name: None if tree is None else tree.read() for name, tree in table.by.items()},
            total=table.total,
            value=table.value,
            count=cells.count,
            largest=cells.largest,
            magnitude=cells.magnitude,
            shadow=table.shadow,
            signed=cells.signed,
            decimals=table.decimals,
            round_values=table.round_values,
            vintage=table.vintage,
            rounding=cells.rounding,
            additivity=cells.additivity,
            count_within=cells.count_within,
        )
    except RecordError:
        raise  # which names its file
    except InputError as error:
        raise type(error)(f"{cells.file.file.name}: {error}") from error


# ── what keys must not say together ─────────────────────────────────────────────────


def _check_weight(section: Section) -> None:
    """Weights have a value, and no marks beside them."""
    if "weight_decimals" in section and "weight" not in section:
        raise section.error("'weight_decimals' needs a 'weight'", "weight_decimals")
    if "weight" in section and "value" not in section:
        raise section.error(
            "'weight' needs a 'value'; counts stay those of the sample. For a weighted count sum a "
            "column of ones",
            "weight",
        )
    for key in ("request", "waiver"):
        if "weight" in section and key in section:
            raise section.error(f"'weight' and '{key}' cannot be combined; leave one out", key)


def _check_shadow(section: Section, by: Mapping[str, object]) -> None:
    """A shadow variable has a value that it stands for, and is none of the others."""
    shadow = section.text("shadow", None)
    if shadow is None:
        return
    if "value" not in section:
        raise section.error("'shadow' needs a 'value': what is published", "shadow")
    if shadow in (*by, section.text("value", None)):
        raise section.error("'shadow' is a column of 'by', or the 'value' itself", "shadow")


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
    if not isinstance(records, Records) or not records.file.columns:
        return
    columns = records.file.names
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
