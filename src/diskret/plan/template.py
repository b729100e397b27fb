"""Eurostat's template: a row for each cell; the tables are found that hold these cells, no others.

A cell is broken down by the variables that are not at their totals. Cells with the same
indicator, field and variables are written as tables of all combinations of some codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from diskret.errors import JobError
from diskret.plan.rows import Rows
from diskret.plan.values import SDMX_TOTAL, Asked, Description, Note, Variable
from diskret.texts import Statement

#: What Eurostat's templates call the columns that are no variables.
INDICATOR, PERIOD = "INDICATOR", "TIME_PERIOD"

Codes = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """What the columns of a template are.

    indicator: None: as Eurostat calls it. `fields`, `variables`: None: as Eurostat calls them, and
    all others that tell cells apart. `totals`: variable → the code of its total, as the office says
    it; `roots`: what its tree calls it, if the template does, too. `varied`: columns with one value
    here and another one elsewhere in the publication, which are variables.
    """

    indicator: str | None = None
    fields: tuple[str, ...] | None = None
    variables: tuple[str, ...] | None = None
    totals: Mapping[str, str] = field(default_factory=dict[str, str])
    roots: Mapping[str, str] = field(default_factory=dict[str, str])
    varied: frozenset[str] = frozenset()


def read_template(rows: Rows, columns: Columns | None = None) -> Asked:
    """The tables whose cells a template lists."""
    asked = columns or Columns()
    indicator = _indicator(rows, asked)
    fields = _fields(rows, asked)
    taken = (indicator, *fields)
    _check_there(rows, (*taken, *(asked.variables or ())))
    variables, notes = _variables(rows, asked, taken)
    at_total = _totals(rows, variables, asked)
    cells: dict[tuple[str, str], dict[Codes, int]] = {}
    of_field: dict[str, dict[str, str]] = {}
    seen: dict[str, dict[str, int]] = {name: {} for name in variables}
    for line, row in rows.each():
        if not row[indicator]:
            raise rows.error_at(line, f"the column {indicator!r} is empty; every cell has one")
        codes = tuple(_code(rows, line, row, name, at_total) for name in variables)
        for name, code in zip(variables, codes, strict=True):
            seen[name].setdefault(code, line)
        about = " ".join(row[name] for name in fields)
        of_field[about] = {name: row[name] for name in fields}
        own = cells.setdefault((about, row[indicator]), {})
        if codes in own:
            (sheet, _), (before, at) = rows.place(line), rows.place(own[codes])
            if sheet == before:  # a summary may repeat what stands on another sheet
                raise rows.error_at(
                    line, f"the cell stands already in {rows.line} {at}; remove one"
                )
        own.setdefault(codes, line)
    tables = [
        table
        for (about, name), own in cells.items()
        for table in _tables(about, name, variables, own, at_total)
    ]
    return Asked(
        rows.file,
        tuple(tables),
        len(rows.values),
        totals=at_total,
        fields=of_field if fields else {},
        codes_at=seen,
        listed=True,
        notes=tuple(notes),
        passed={
            name: _first(rows, name) for name in rows.columns if name not in (*taken, *variables)
        },
        unit=rows.line,
        sheets=rows.sheets,
    )


# ── the columns ─────────────────────────────────────────────────────────────────────────


def _indicator(rows: Rows, asked: Columns) -> str:
    name = asked.indicator or INDICATOR
    if name not in rows.columns:
        raise JobError(
            f"{rows.file}: there is no column {name!r}, so nothing tells what is measured; say in "
            f'a publication file which column does, [columns] indicator = "..." (there are '
            f"{', '.join(rows.columns)})"
        )
    return name


def _fields(rows: Rows, asked: Columns) -> tuple[str, ...]:
    if asked.fields is not None:
        return asked.fields
    return (PERIOD,) if PERIOD in rows.columns else ()


def _check_there(rows: Rows, names: Iterable[str]) -> None:
    for name in names:
        if name not in rows.columns:
            raise JobError(
                f"{rows.file}: there is no column {name!r}; there are {', '.join(rows.columns)}"
            )


def _variables(
    rows: Rows, asked: Columns, taken: Sequence[str]
) -> tuple[tuple[str, ...], list[Note]]:
    """The columns that tell cells apart; what is passed over is noted."""
    if asked.variables is not None:
        return asked.variables, []
    found: list[str] = []
    notes: list[Note] = []
    keys = list(zip(*(rows.column(name) for name in taken), strict=True))
    for name in rows.columns:
        if name in taken:
            continue
        values = rows.column(name)
        if not any(values):
            notes.append(Note(Statement.said("plan", "empty column", name=name)))
        elif name in asked.varied:
            found.append(name)
        elif len(set(values)) == 1:
            said = Statement.said("plan", "one value", name=name, code=values[0])
            notes.append(Note(said))
        elif len(set(zip(keys, values, strict=True))) == len(set(keys)):
            notes.append(Note(Statement.said("plan", "of indicator", name=name)))
        else:
            found.append(name)
    if not found:
        raise JobError(
            f"{rows.file}: no column tells cells of one indicator apart, so there is no variable; "
            "is this a template that lists cells?"
        )
    return tuple(found), notes


def _first(rows: Rows, name: str) -> dict[str, int]:
    """The codes of a column, with the first line of each."""
    found: dict[str, int] = {}
    for line, code in zip(rows.lines, rows.column(name), strict=True):
        if code:
            found.setdefault(code, line)
    return found


def _totals(rows: Rows, variables: Sequence[str], asked: Columns) -> dict[str, str]:
    """Variable → the code of its total: as the office says it, as in its tree, or as in SDMX."""
    found: dict[str, str] = {}
    for name in variables:
        codes = set(rows.column(name))
        root = asked.roots.get(name)
        if name in asked.totals:
            found[name] = asked.totals[name]
        elif root is not None and (root in codes or SDMX_TOTAL not in codes):
            found[name] = root
        elif SDMX_TOTAL in codes:
            found[name] = SDMX_TOTAL
    return found


def _code(rows: Rows, line: int, row: Mapping[str, str], name: str, at: Mapping[str, str]) -> str:
    code = row[name]
    if not code:
        total = at.get(name, SDMX_TOTAL)
        raise rows.error_at(
            line,
            f"the column {name!r} is empty; a cell that is not broken down by it has the code of "
            f"its total there, e.g. {total!r}",
        )
    return code


# ── tables of all combinations ──────────────────────────────────────────────────────────


def _tables(
    about: str,
    indicator: str,
    variables: Sequence[str],
    cells: Mapping[Codes, int],
    totals: Mapping[str, str],
) -> list[Description]:
    """The tables that together hold these cells, their totals left out."""
    by_pattern: dict[tuple[int, ...], dict[Codes, int]] = {}
    for codes, line in cells.items():
        pattern = tuple(i for i, name in enumerate(variables) if codes[i] != totals.get(name))
        by_pattern.setdefault(pattern, {})[tuple(codes[i] for i in pattern)] = line
    found: list[Description] = []
    for pattern, inner in by_pattern.items():
        boxes = combinations_of(frozenset(inner))
        names = [variables[i] for i in pattern]
        stem = "_".join(part for part in (about, indicator, *names) if part)
        for number, box in enumerate(boxes, start=1):
            lines = [line for codes, line in inner.items() if _holds(box, codes)]
            found.append(
                Description(
                    name=stem if len(boxes) == 1 else f"{stem}_{number}",
                    indicator=indicator,
                    by=tuple(
                        Variable(name, codes=codes) for name, codes in zip(names, box, strict=True)
                    ),
                    field=about,
                    lines=(min(lines), max(lines)) if len(lines) > 1 else tuple(lines),
                )
            )
    return found


def _holds(box: Sequence[frozenset[str]], codes: Codes) -> bool:
    return all(code in part for code, part in zip(codes, box, strict=True))


def combinations_of(cells: frozenset[Codes]) -> list[tuple[frozenset[str], ...]]:
    """Sets of codes whose combinations are exactly these cells; none lies in another.

    The variables are gone through forwards and backwards, and the shorter list is taken.

    >>> cells = frozenset({("A", "x"), ("A", "y"), ("B", "x"), ("B", "y"), ("B1", "x")})
    >>> [[sorted(codes) for codes in box] for box in combinations_of(cells)]
    [[['A', 'B'], ['x', 'y']], [['A', 'B', 'B1'], ['x']]]
    """
    forwards = _boxes(cells)
    if len(forwards) == 1:
        return forwards
    turned = _boxes(frozenset(codes[::-1] for codes in cells))
    backwards = [box[::-1] for box in turned]
    return forwards if len(forwards) <= len(backwards) else backwards


def _boxes(cells: frozenset[Codes]) -> list[tuple[frozenset[str], ...]]:
    if not cells or not next(iter(cells)):
        return [()]
    rest: dict[str, set[Codes]] = {}
    for first, *others in cells:
        rest.setdefault(first, set()).add(tuple(others))
    beside = {code: frozenset(own) for code, own in rest.items()}
    found: list[tuple[frozenset[str], ...]] = []
    for profile in sorted(set(beside.values()), key=lambda own: (-len(own), sorted(own))):
        codes = frozenset(code for code, own in beside.items() if profile <= own)
        found += [(codes, *box) for box in _boxes(profile)]
    return [
        box
        for i, box in enumerate(found)
        if not any(
            _inside(box, other) and (box != other or k < i)
            for k, other in enumerate(found)
            if k != i
        )
    ]


def _inside(box: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    return all(one <= two for one, two in zip(box, other, strict=True))
