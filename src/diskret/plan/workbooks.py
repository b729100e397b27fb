"""A folder of workbooks: each sheet lists the cells of tables, a row a cell, as a template does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from diskret.errors import JobError
from diskret.plan.rows import Rows, sheets
from diskret.plan.template import INDICATOR, PERIOD, Columns, read_template
from diskret.plan.values import Asked, Description


def read_workbooks(folder: Path, columns: Columns) -> Asked:
    """The tables that the sheets of all workbooks of a folder list."""
    paths = sorted(p for p in folder.glob("*.xlsx") if not p.name.startswith("~$"))
    if not paths:
        raise JobError(f"{folder}: there are no workbooks (.xlsx) in this folder")
    listed = [_long(rows, columns) for path in paths for rows in sheets(path)]
    if not listed:
        raise JobError(f"{folder}: all sheets of all workbooks are empty")
    columns = replace(columns, indicator=INDICATOR, varied=_varied(listed))
    return _together(folder, [read_template(rows, columns) for rows in _joined(folder, listed)])


def _joined(folder: Path, listed: list[Rows]) -> list[Rows]:
    """The rows of sheets with the same columns, one below the other; lines count over all."""
    by_columns: dict[frozenset[str], Rows] = {}
    start = 0
    for rows in listed:
        alike = frozenset(rows.columns)
        first = by_columns.setdefault(alike, Rows(folder.name, rows.columns, (), (), rows.line))
        order = [rows.columns.index(name) for name in first.columns]
        by_columns[alike] = replace(
            first,
            values=(*first.values, *(tuple(row[i] for i in order) for row in rows.values)),
            lines=(*first.lines, *(start + line for line in rows.lines)),
            sheets={**first.sheets, start: rows.file},
        )
        start += rows.lines[-1]
    return [*by_columns.values()]


def _varied(listed: list[Rows]) -> frozenset[str]:
    """Columns that have other values on other sheets, such as a region that has a sheet each."""
    values: dict[str, set[str]] = {}
    for rows in listed:
        for name in rows.columns:
            values.setdefault(name, set()).update(rows.column(name))
    alike = {name for rows in listed for name in rows.columns if len({*rows.column(name)}) == 1}
    return frozenset(name for name in alike if len(values[name] - {""}) > 1)


def _long(rows: Rows, columns: Columns) -> Rows:
    """A row for each cell: columns with an empty or numeric body below a name are indicators."""
    name = columns.indicator or INDICATOR
    if name in rows.columns:
        named = tuple(INDICATOR if one == name else one for one in rows.columns)
        return replace(rows, columns=named)
    kept = columns.variables or tuple(
        one for one in rows.columns if one == PERIOD or not _measures(rows, one)
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


def _measures(rows: Rows, name: str) -> bool:
    """Whether a column is empty, zero, or holds values with decimals or all different: no codes."""
    filled = [value for value in rows.column(name) if value]
    if not all(map(_is_number, filled)):
        return False
    values = {*filled}
    if values <= {"0"} or len(values) == len(filled) or any("." in one for one in values):
        return True
    raise JobError(
        f"{rows.file}: the numbers in column {name!r} may be codes or values; name the variables "
        "in a publication file, [columns] variables = [...]"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _together(folder: Path, read: list[Asked]) -> Asked:
    """What sheets with different columns ask for; tables of one name are numbered."""
    tables: list[Description] = []
    totals: dict[str, str] = {}
    fields: dict[str, Mapping[str, str]] = {}
    codes: dict[str, dict[str, int]] = {}
    passed: dict[str, dict[str, int]] = {}
    sheets: dict[int, str] = {}
    taken: dict[str, int] = {}
    for asked in read:
        for table in asked.tables:
            often = taken[table.name] = taken.get(table.name, 0) + 1
            name = table.name if often == 1 else f"{table.name} ({often})"
            tables.append(replace(table, name=name))
        totals |= asked.totals
        fields |= asked.fields
        sheets |= asked.sheets
        for found, of_sheets in ((codes, asked.codes_at), (passed, asked.passed)):
            for column, own in of_sheets.items():
                for code, line in own.items():
                    found.setdefault(column, {}).setdefault(code, line)
    return Asked(
        folder.name,
        tuple(tables),
        sum(asked.rows for asked in read),
        totals,
        fields,
        codes,
        listed=True,
        notes=tuple(dict.fromkeys(note for asked in read for note in asked.notes)),
        passed=passed,
        unit="row",
        sheets=sheets,
    )
