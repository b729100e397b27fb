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
    listed = [_long(rows, columns) for path in paths for rows in sheets(path)]
    columns = replace(columns, indicator=INDICATOR, varied=_varied(listed))
    return _together(folder, [(rows.lines[-1], read_template(rows, columns)) for rows in listed])


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


def _together(folder: Path, read: list[tuple[int, Asked]]) -> Asked:
    """What all sheets ask for; names of tables begin with the sheet where two are alike."""
    names = [table.name for _, asked in read for table in asked.tables]
    tables: list[Description] = []
    totals: dict[str, str] = {}
    fields: dict[str, Mapping[str, str]] = {}
    codes: dict[str, dict[str, int]] = {}
    passed: dict[str, dict[str, int]] = {}
    notes: list[Note] = []
    sheets: dict[int, str] = {}
    start = 0
    for last, asked in read:
        sheets[start] = asked.file
        for table in asked.tables:
            alone = names.count(table.name) == 1
            name = table.name if alone else f"{asked.file}: {table.name}"
            lines = tuple(start + line for line in table.lines)
            tables.append(replace(table, name=name, lines=lines))
        totals |= asked.totals
        fields |= asked.fields
        notes += asked.notes
        for found, of_sheet in ((codes, asked.codes_at), (passed, asked.passed)):
            for column, own in of_sheet.items():
                for code, line in own.items():
                    found.setdefault(column, {}).setdefault(code, start + line)
        start += last
    return Asked(
        folder.name,
        tuple(tables),
        sum(asked.rows for _, asked in read),
        totals,
        fields,
        codes,
        listed=True,
        notes=tuple(dict.fromkeys(notes)),
        passed=passed,
        unit="row",
        sheets=sheets,
    )
