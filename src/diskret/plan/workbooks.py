"""A folder of workbooks: each sheet lists the cells of tables, a row a cell, as a template does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from diskret.errors import JobError
from diskret.plan.rows import Rows, sheets
from diskret.plan.template import INDICATOR, Columns, read_template
from diskret.plan.values import Asked, Description, Note


def read_workbooks(folder: Path, columns: Columns) -> Asked:
    """The tables that the sheets of all workbooks of a folder list."""
    paths = sorted(p for p in folder.glob("*.xlsx") if not p.name.startswith("~$"))
    if not paths:
        raise JobError(f"{folder}: there are no workbooks (.xlsx) in this folder")
    read = [
        read_template(_long(rows, columns), replace(columns, indicator=INDICATOR))
        for path in paths
        for rows in sheets(path)
    ]
    return _together(folder, read)


def _long(rows: Rows, columns: Columns) -> Rows:
    """A row for each cell: columns with an empty or numeric body below a name are indicators."""
    name = columns.indicator or INDICATOR
    if name in rows.columns:
        named = tuple(INDICATOR if one == name else one for one in rows.columns)
        return replace(rows, columns=named)
    kept = columns.variables or tuple(
        one for one in rows.columns if not _measures(rows.column(one))
    )
    kept = tuple(dict.fromkeys([*(columns.fields or ()), *kept]))
    indicators = [one for one in rows.columns if one not in kept]
    missing = [one for one in kept if one not in rows.columns]
    if missing or not indicators or len(kept) == len(columns.fields or ()):
        raise JobError(
            f"{rows.file}: cannot tell variables from what is measured; write one row for each "
            "cell, codes as text in columns of variables, and a column that is empty or holds "
            "numbers for each indicator; or name the variables, [columns] variables = [...]"
        )
    values: list[tuple[str, ...]] = []
    lines: list[int] = []
    for line, row in rows.each():
        for indicator in indicators:
            values.append((indicator, *(row[one] for one in kept)))
            lines.append(line)
    return Rows(rows.file, (INDICATOR, *kept), tuple(values), tuple(lines), rows.line)


def _measures(values: list[str]) -> bool:
    """Whether a column is empty, or holds values with decimals or of many sizes: no codes."""
    filled = [value for value in values if value]
    return not filled or all(_is_number(value) for value in filled)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _together(folder: Path, read: list[Asked]) -> Asked:
    """What all sheets ask for; names of tables begin with the sheet where two are alike."""
    names = [table.name for asked in read for table in asked.tables]
    tables: list[Description] = []
    for asked in read:
        for table in asked.tables:
            alone = names.count(table.name) == 1
            tables.append(table if alone else replace(table, name=f"{asked.file}: {table.name}"))
    totals: dict[str, str] = {}
    fields: dict[str, Mapping[str, str]] = {}
    codes: dict[str, dict[str, int]] = {}
    notes: list[Note] = []
    for asked in read:
        totals |= asked.totals
        fields |= asked.fields
        notes += asked.notes
        for variable, own in asked.codes_at.items():
            for code, line in own.items():
                codes.setdefault(variable, {}).setdefault(code, line)
    rows = sum(asked.rows for asked in read)
    return Asked(
        folder.name, tuple(tables), rows, totals, fields, codes, listed=True, notes=tuple(notes)
    )
