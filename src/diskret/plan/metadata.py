"""A metadata frame as rtauargus uses it: one row for each table that is to be published."""

from __future__ import annotations

import re
from collections import Counter

from diskret.errors import JobError
from diskret.plan.rows import Rows
from diskret.plan.values import Asked, Description, Note, Variable
from diskret.texts import Statement

_SPANNING = re.compile(r"spanning_(\d+)")
_MISSING = ("", "NA", "NaN", "nan", "None")


def is_metadata(rows: Rows) -> bool:
    """Whether the columns are those of a metadata frame."""
    return "table_name" in rows.columns or any(map(_SPANNING.fullmatch, rows.columns))


def read_metadata(rows: Rows) -> Asked:
    """The tables that a metadata frame describes."""
    numbers = _numbers(rows)
    tables: list[Description] = []
    for line, row in rows.each():
        tables.append(_described(rows, line, row, numbers))
    _check_names(rows, tables)
    notes = tuple(_alike(tables))
    return Asked(
        rows.file,
        tuple(tables),
        len(tables),
        says_flat=True,
        says_sums="hrc_indicator" in rows.columns,
        notes=notes,
        unit=rows.line,
    )


def _numbers(rows: Rows) -> list[str]:
    """The numbers of the variables: ``spanning_1`` is 1."""
    for name in ("table_name", "indicator"):
        if name not in rows.columns:
            raise JobError(
                f"{rows.file}: the column {name!r} is missing; a metadata frame has table_name, "
                "field, hrc_field, indicator, hrc_indicator, spanning_1, hrc_spanning_1 and so on"
            )
    found = [match[1] for name in rows.columns if (match := _SPANNING.fullmatch(name))]
    known = {"table_name", "field", "hrc_field", "indicator", "hrc_indicator"}
    known |= {f"{stem}_{number}" for number in found for stem in ("spanning", "hrc_spanning")}
    unknown = [name for name in rows.columns if name not in known]
    if unknown:
        raise JobError(
            f"{rows.file}: no column of a metadata frame is called {unknown[0]!r}; it has "
            "table_name, field, hrc_field, indicator, hrc_indicator, spanning_1, hrc_spanning_1 "
            "and so on"
        )
    return sorted(found, key=int)


def _described(rows: Rows, line: int, row: dict[str, str], numbers: list[str]) -> Description:
    given = {name: "" if value in _MISSING else value for name, value in row.items()}
    for name in ("table_name", "indicator"):
        if not given[name]:
            raise rows.error_at(line, f"the column {name!r} is empty; every table has one")
    by: list[Variable] = []
    for number in numbers:
        name = given[f"spanning_{number}"]
        hierarchy = given.get(f"hrc_spanning_{number}", "")
        if hierarchy and not name:
            raise rows.error_at(
                line,
                f"hrc_spanning_{number} is {hierarchy!r}, and spanning_{number} is empty; name the "
                "variable, or leave both empty",
            )
        if name:
            by.append(Variable(name, hierarchy or None))
    _check_variables(rows, line, by)
    return Description(
        name=given["table_name"],
        indicator=given["indicator"],
        by=tuple(by),
        field=given.get("field", ""),
        field_group=given.get("hrc_field") or None,
        indicator_group=given.get("hrc_indicator") or None,
        lines=(line,),
    )


def _check_variables(rows: Rows, line: int, by: list[Variable]) -> None:
    if not by:
        raise rows.error_at(line, "the table has no variable; name one in spanning_1")
    for what, names in {
        "the variable": [variable.name for variable in by],
        "the hierarchy": [variable.hierarchy for variable in by if variable.hierarchy],
    }.items():
        twice = next((name for name, often in Counter(names).items() if often > 1), None)
        if twice is not None:
            raise rows.error_at(
                line,
                f"{what} {twice!r} is there twice; two variables of one table, such as where "
                "people live and where they work, need names and hierarchies of their own",
            )


def _check_names(rows: Rows, tables: list[Description]) -> None:
    seen: dict[str, int] = {}
    for table in tables:
        (line,) = table.lines
        if table.name in seen:
            raise rows.error_at(
                line,
                f"the table {table.name!r} is there already in {rows.line} {seen[table.name]}; "
                "rename one",
            )
        seen[table.name] = line


def _alike(tables: list[Description]) -> list[Note]:
    """Tables that are asked for twice."""
    seen: dict[object, Description] = {}
    notes: list[Note] = []
    for table in tables:
        about = (table.field, table.indicator, frozenset(table.by))
        first = seen.setdefault(about, table)
        if first is not table:
            said = Statement.said("plan", "twice", name=table.name, first=first.name)
            notes.append(Note(said, (*first.lines, *table.lines)))
    return notes
