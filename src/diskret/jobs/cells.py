"""Tables of a job that are made of a file of cells in place of records."""

from __future__ import annotations

from typing import Any, cast

from diskret.errors import InputError
from diskret.jobs.schema import Section
from diskret.jobs.values import CellsFile, TableJob
from diskret.tables import Table
from diskret.tables.add_up import Additivity

_OF_RECORDS = ("unit", "holding", "weight", "where", "request", "waiver", "waiver_note")


def all_of_cells(tables: Any) -> bool:
    """Whether what stands under ``tables`` needs no records."""
    if not isinstance(tables, list) or not tables:
        return False
    return all(isinstance(table, dict) and "cells" in table for table in tables)


def read_cells(table: Section) -> CellsFile | None:
    """The file of cells that a table is made of, or None if it is made of records.

    Raises
    ------
    JobError
        A key is unknown, for records only or for sums only, or the file does not exist.
    """
    if "cells" not in table:
        return None
    for key in _OF_RECORDS:
        if key in table:
            raise table.error(f"'{key}' is for records, and the table has 'cells'", key)
    section = table.section("cells")
    of_sums = ("largest", "magnitude", "signed", "rounding")
    section.check(required=("file",), optional=("count", "additivity", *of_sums))
    for key in of_sums:
        if key in section and "value" not in table:
            raise section.error(f"'{key}' is for sums, so the table needs a 'value'", key)
    if "value" not in table and "count" not in section:
        raise section.error("a table without a 'value' needs 'count', the column of its counts")
    if "rounding" in section and "rounding" in table:
        raise table.error("'rounding' is that of the cells already; leave one out", "rounding")
    additivity = section.choice("additivity", "check", ("check", "totals"))
    if additivity == "totals" and "rounding" in section:
        raise section.error(
            "rounded totals need not be the sum of their parts, so nothing is computed anew; leave "
            "'additivity' or 'rounding' out",
            "additivity",
        )
    return CellsFile(
        section.existing_file("file"),
        count=section.text("count", None),
        largest=section.texts("largest"),
        magnitude=section.text("magnitude", None),
        signed=section.flag("signed", False) if "signed" in section else None,
        rounding=section.number("rounding", None, above=0),
        additivity=cast(Additivity, additivity),
    )


def table_of_cells(table: TableJob, cells: CellsFile) -> Table:
    """The table of a file of cells.

    Raises
    ------
    InputError
        The file cannot be used as it is, see [`Table.from_cells`][diskret.Table.from_cells].
    """
    try:
        return Table.from_cells(
            cells.path,
            by={name: tree and tree.read() for name, tree in table.by.items()},
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
        )
    except InputError as error:
        raise type(error)(f"{cells.path.name}: {error}") from error
