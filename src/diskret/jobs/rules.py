"""The rules of a job file: a section for each, joined."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from diskret.errors import InputError
from diskret.jobs.schema import Section
from diskret.rules import BY_NAME, Apriori, Rule, Shadow


def read_rule(section: Section, table: Section) -> Rule:
    """The rules that a table is judged by, joined.

    `section` is what stands below ``[tables.rules]``, `table` the table that they are for.
    """
    section.check(optional=tuple(BY_NAME))
    if not section.values:
        raise section.error(f"{section.name} must name at least one rule: {', '.join(BY_NAME)}")
    for name in section.values:
        if BY_NAME[name].of_sums and "value" not in table:
            raise section.error(f"the rule '{name}' needs a 'value', not a count", name)
    shadow = table.text("shadow", None)
    of_sums = [name for name in section.values if BY_NAME[name].of_sums]
    read: list[Rule] = []
    for name in section.values:
        for own in section.each(name):
            rule = _rule(name, own, table)
            read.append(Shadow(rule, shadow) if shadow is not None and name in of_sums else rule)
    if shadow is not None and not of_sums:
        known = ", ".join(name for name, one in BY_NAME.items() if one.of_sums)
        raise section.error(f"'shadow' needs a rule that looks at contributions: {known}")
    return reduce(or_, read)


def _rule(name: str, section: Section, table: Section) -> Any:
    given = _arguments(name, section, table)
    try:
        return BY_NAME[name](**given)
    except InputError as error:
        raise section.error(f"'{name}': {error}") from error


def _arguments(name: str, section: Section, table: Section) -> dict[str, Any]:
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
