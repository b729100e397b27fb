"""The rules of a job file: a section for each, joined."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, Literal, cast

from diskret.errors import InputError
from diskret.jobs.schema import Section
from diskret.rules import (
    PQ,
    Apriori,
    Dominance,
    GroupDisclosure,
    MarginalValue,
    MinimumFrequency,
    MissingSafe,
    PPercent,
    Request,
    Rule,
    Shadow,
    ZeroCells,
)

_RULES_OF_SUMS = ("p_percent", "pq", "dominance", "request", "zero_cells")


def read_rule(section: Section, table: Section) -> Rule:
    """The rules that a table is judged by, joined.

    Parameters
    ----------
    section
        What stands below ``[tables.rules]``.
    table
        The table that the rules are for.

    Raises
    ------
    JobError
        A rule or a parameter is unknown, missing, not admissible, or not for this table.
    """
    makers = {
        "p_percent": _p_percent,
        "pq": _pq,
        "minimum_frequency": _minimum_frequency,
        "dominance": _dominance,
        "request": _request,
        "marginal_value": _marginal_value,
        "group_disclosure": _group_disclosure,
        "zero_cells": _zero_cells,
        "missing_safe": _missing_safe,
        "apriori": _apriori,
    }
    section.check(optional=tuple(makers))
    if not section.values:
        raise section.error(f"{section.name} must name at least one rule: {', '.join(makers)}")
    for name in section.values:
        if name in _RULES_OF_SUMS and "value" not in table:
            raise section.error(f"the rule '{name}' needs a 'value', not a count", name)
    shadow = table.text("shadow", None)
    read = [
        (name, makers[name](own, table)) for name in section.values for own in section.each(name)
    ]
    of_sums = [name for name, _ in read if name in _RULES_OF_SUMS]
    if shadow is not None and not of_sums:
        raise section.error(
            f"'shadow' needs a rule that looks at contributions: {', '.join(_RULES_OF_SUMS)}"
        )
    return reduce(
        or_,
        (
            rule if shadow is None or name not in _RULES_OF_SUMS else Shadow(rule, shadow)
            for name, rule in read
        ),
    )


def _p_percent(section: Section, table: Section) -> Any:
    section.check(required=("p",), optional=("minimum_level", "coalition"))
    return PPercent(
        p=section.number("p", 0.0, above=0),
        minimum_level=section.number("minimum_level", 0, low=0),
        coalition=section.whole("coalition", 1, 1),
    )


def _pq(section: Section, table: Section) -> Any:
    section.check(required=("p", "q"), optional=("minimum_level", "coalition"))
    p, q = section.number("p", 0.0, above=0), section.number("q", 0.0, above=0, high=100)
    if p >= q:
        raise section.error(f"'p' must be below 'q', but they are {p:g} and {q:g}", "p")
    return PQ(
        p=p,
        q=q,
        minimum_level=section.number("minimum_level", 0, low=0),
        coalition=section.whole("coalition", 1, 1),
    )


def _minimum_frequency(section: Section, table: Section) -> Any:
    section.check(required=("n",), optional=("of", "range", "level"))
    of = section.choice("of", None, ("records", "units", "holdings"))
    for counted, key in (("units", "unit"), ("holdings", "holding")):
        if of == counted and key not in table:
            raise section.error(f"of = \"{of}\" needs '{key}' in {table.name}", "of")
    if "level" in section and "value" in table:
        raise section.error("'level' is for counts; the table has a 'value': use 'range'", "level")
    return MinimumFrequency(
        n=section.whole("n", 2, 2),
        of=cast(Literal["records", "units", "holdings"] | None, of),
        range=section.number("range", 10, above=0),
        level=section.whole("level", 1, 1) if "level" in section else None,
    )


def _dominance(section: Section, table: Section) -> Any:
    section.check(required=("n", "k"), optional=("quiet",))
    return Dominance(
        n=section.whole("n", 1, 1),
        k=section.number("k", 0.0, above=0, high=100),
        quiet=section.flag("quiet", False),
    )


def _request(section: Section, table: Section) -> Any:
    section.check(required=("share",), optional=("second", "minimum", "range"))
    if "request" not in table:
        raise section.error(f"the rule 'request' needs 'request' in {table.name}: who asked")
    return Request(
        share=section.number("share", 0.0, above=0, high=100),
        second=section.number("second", None, above=0, high=100),
        minimum=section.whole("minimum", 0, 0),
        range=section.number("range", 10, above=0),
    )


def _marginal_value(section: Section, table: Section) -> Any:
    section.check(optional=("distance", "variables", "strict", "range"))
    strict = section.flag("strict", False)
    if strict and "value" in table:
        raise section.error("'strict' is for counts, and the table has a 'value'", "strict")
    by = tuple(table.section("by").values)
    return MarginalValue(
        distance=section.whole("distance", 1, 0),
        variables=section.choices("variables", by, by) if "variables" in section else None,
        strict=strict,
        range=section.number("range", 10, above=0),
    )


def _group_disclosure(section: Section, table: Section) -> Any:
    section.check(required=("percent",), optional=("minimum_parent", "range"))
    return GroupDisclosure(
        percent=section.number("percent", 0.0, above=0, high=100),
        minimum_parent=section.whole("minimum_parent", 3, 1),
        range=section.number("range", 10, above=0),
    )


def _zero_cells(section: Section, table: Section) -> Any:
    section.check(required=("level",))
    return ZeroCells(level=section.number("level", 0.0, above=0))


def _missing_safe(section: Section, table: Section) -> Any:
    section.check(optional=tuple(table.section("by").values))
    if not section.values:
        raise section.error(
            f"{section.name} must name columns of 'by' and their codes, e.g. region = [\"99\"]"
        )
    return MissingSafe({column: section.texts(column) for column in section.values})


def _apriori(section: Section, table: Section) -> Any:
    given = ("reason", "who", "date", "separator")
    section.check(required=("file",), optional=("range", *given, "encoding"))
    path = section.existing_file("file")
    try:
        return Apriori(
            path,
            range=section.number("range", 10, above=0),
            **{key: section.text(key, None) for key in given},
            encoding=section.text("encoding", "utf-8"),
        )
    except InputError as error:
        raise section.error(str(error), "file") from error
