"""The rules of a table of a job file: ``[tables.rules]``, and what a file of cells says itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, cast

from diskret.errors import InputError
from diskret.jobs.schema import Section
from diskret.jobs.values import CellsFile
from diskret.rules import BY_NAME, Apriori, NoRule, Rule, Shadow, Varying
from diskret.rules.sensitivity import everything_in

#: Rules about single cells, which do not differ by category.
_OF_SINGLE_CELLS = ("missing_safe", "apriori")


def read_rules(section: Section, table: Section, columns: Sequence[str]) -> Rule:
    """The rules that a table is judged by, joined.

    `section` is what stands below ``[tables.rules]``, `table` the table that they are for.
    """
    read = _joined(section, table, columns, tuple(BY_NAME))
    of_sums = any(getattr(one, "of_sums", False) for one in everything_in(read))
    if "shadow" in table and not of_sums:
        known = ", ".join(name for name, one in BY_NAME.items() if one.of_sums)
        raise section.error(f"'shadow' needs a rule that looks at contributions: {known}")
    return read


def _joined(
    section: Section, table: Section, columns: Sequence[str], admissible: Sequence[str]
) -> Rule:
    """The rules that a section names, which may be some of these."""
    section.check(optional=admissible)
    if not section.values:
        raise section.error(f"{section.name} must name at least one rule: {', '.join(admissible)}")
    for name in section.values:
        if BY_NAME[name].of_sums and "value" not in table:
            raise section.error(f"the rule '{name}' needs a 'value', not a count", name)
    shadow = table.text("shadow", None)
    read: list[Rule] = []
    for name in section.values:
        for own in section.each(name):
            if name == "varying":
                read += _varying(own, table, columns)
                continue
            rule = _rule(name, own, table)
            read.append(Shadow(rule, shadow) if shadow is not None and rule.of_sums else rule)
    return reduce(or_, read)


def _varying(section: Section, table: Section, columns: Sequence[str]) -> list[Rule]:
    """Rules that differ by category: column → code → rules, or ``"none"``."""
    if not section.values:
        raise section.error(
            f"{section.name} must name a column and the rules of its codes, e.g. region = "
            '{ "01" = { minimum_frequency = { n = 10 } }, "*" = { minimum_frequency = { n = 3 } } }'
        )
    inside = [name for name in BY_NAME if name not in _OF_SINGLE_CELLS]
    read: list[Rule] = []
    for column in section.values:
        if column not in columns:
            raise section.unknown("no such column:", column, columns, column)
        codes = section.section(column)
        rules: dict[str, Rule | None] = {}
        for code, asked in codes.values.items():
            if not isinstance(asked, dict) and asked != "none":
                raise codes.unfit(
                    code, 'rules, e.g. { minimum_frequency = { n = 3 } }, or "none" for no rule'
                )
            none = asked == "none"
            rules[code] = None if none else _joined(codes.section(code), table, columns, inside)
        try:
            read.append(Varying(column, rules))
        except InputError as error:
            raise codes.error(f"'varying': {error}") from error
    return read


def judged(
    section: Section,
    by: Mapping[str, object],
    cells: CellsFile | None,
    columns: Sequence[str],
) -> Rule:
    """The rules, and what the file of cells says of these itself."""
    rules = read_rules(section.section("rules"), section, columns) if "rules" in section else None
    if cells is None or not cells.given:
        return NoRule() if rules is None else rules
    own = section.section("cells")
    if "noise" in section:
        raise own.error("a status, levels and costs are for cells that are hidden, not for noise")
    if cells.status is not None and not (cells.who and cells.date):
        missing = "date" if cells.who else "who"
        raise own.error(
            f"'status' needs '{missing}': who answers for what is given, and since when, e.g. "
            'who = "A. Meyer", date = "2025-12-31"',
            "status",
        )
    answers: dict[str, Any] = {"who": cells.who or "", "date": cells.date or "", **cells.given}
    try:
        given = Apriori.of_cells(cells.file, tuple(by), **answers)
    except InputError as error:
        raise own.error(str(error)) from error
    return given if rules is None else cast(Any, rules) | given


def _rule(name: str, section: Section, table: Section) -> Any:
    given = _parameters_of(name, section, table)
    try:
        return BY_NAME[name](**given)
    except InputError as error:
        raise section.error(f"'{name}': {error}") from error


def _parameters_of(name: str, section: Section, table: Section) -> dict[str, Any]:
    """The parameters of a rule, checked by what it says of them, and by the table."""
    by = tuple(table.section("by").values)
    if name == "missing_safe":
        section.check(optional=by)
        if not section.values:
            raise section.error(
                f"{section.name} must name columns of 'by' and their codes, e.g. region = [\"99\"]"
            )
        return {"codes": {column: section.texts(column) for column in section.values}}
    if name == "apriori":
        given = section.read(Apriori, required=("file",), without=("entries",))
        return {"entries": section.existing_file("file"), **given}
    given = section.read(BY_NAME[name])
    if "variables" in section:
        given["variables"] = section.choices("variables", by, by)
    for of, key in (("units", "unit"), ("holdings", "holding")):
        if given.get("of") == of and key not in table:
            raise section.error(f"of = \"{of}\" needs '{key}' in {table.name}", "of")
    if name == "minimum_frequency" and "level" in section and "value" in table:
        raise section.error("'level' is for counts; the table has a 'value': use 'range'", "level")
    if name == "request" and "request" not in table:
        raise section.error(f"the rule 'request' needs 'request' in {table.name}: who asked")
    if given.get("strict") and "value" in table:
        raise section.error("'strict' is for counts, and the table has a 'value'", "strict")
    return given
