"""The publication file: tables to publish, or a template of them, and what a person answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diskret.errors import InputError
from diskret.io import Source
from diskret.jobs.read import read_hierarchies, read_records
from diskret.jobs.schema import Section
from diskret.jobs.values import DatabaseRecords, Records
from diskret.plan.template import Columns
from diskret.plan.values import (
    Answers,
    Asked,
    Description,
    FieldAnswer,
    IndicatorAnswer,
    Variable,
    VariableAnswer,
)
from diskret.population import Population
from diskret.tables import MeasureSum

#: Sections that go into the job as they stand.
SECTIONS = ("records", "rules", "every_table", "attacker", "output")
#: What all tables may have in common, as in a job.
EVERY_TABLE = (
    *("unit", "holding", "weight", "weight_decimals", "decimals", "round_values", "rounding"),
    *("method", "cost", "time_limit", "budget", "request", "waiver", "waiver_note"),
)
_INDICATOR = ("decimals", "round_values", "rounding", "title", "shadow", "cost")
_KEYS = (
    *("template", "columns", "tables", "equations", "no_equation", "different"),
    *("variables", "indicators", "fields", "hierarchies", *SECTIONS),
)


def read_answers(file: Section) -> Answers:
    """What the file answers; `read_job` checks later what is copied into the job."""
    file.check(optional=_KEYS)
    records = None
    sections: dict[str, Any] = {name: file.values[name] for name in SECTIONS if name in file}
    if "records" in file:
        records = read_records(file.section("records"))
    every = file.section("every_table")
    every.check(optional=EVERY_TABLE)
    hierarchies = read_hierarchies(file.section("hierarchies"))
    variables = file.section("variables")
    indicators, fields = file.section("indicators"), file.section("fields")
    return Answers(
        path=file.file,
        equations=_equations(file),
        no_equation=file.texts("no_equation"),
        different=_different(file),
        variables={
            name: _variable(variables.section(name), hierarchies) for name in variables.values
        },
        indicators={name: _indicator(indicators.section(name)) for name in indicators.values},
        fields={name: _field(fields.section(name)) for name in fields.values},
        hierarchies=hierarchies,
        sections=sections,
        records=_opened(file, records),
    )


def read_columns(file: Section) -> Columns:
    """What the columns of the template are."""
    section = file.section("columns")
    section.check(optional=("indicator", "fields", "variables"))
    return Columns(
        section.text("indicator", None),
        section.texts("fields") if "fields" in section else None,
        section.texts("variables") if "variables" in section else None,
    )


def read_tables(file: Section) -> Asked:
    """The tables that the file lists itself."""
    tables: list[Description] = []
    for one in file.sections("tables"):
        one.check(required=("name", "indicator", "by"), optional=("field",))
        name = one.text("name", "")
        taken = next((table for table in tables if table.name == name), None)
        if taken is not None:
            raise one.error(
                f"the table '{name}' is there already in line {taken.lines[0]}; rename one", "name"
            )
        by = tuple(Variable(variable) for variable in one.texts("by"))
        if not by:
            raise one.unfit("by", "a list of texts in quotes")
        indicator, field = one.text("indicator", ""), one.text("field", "")
        tables.append(Description(name, indicator, by, field=field, lines=(one.line(),)))
    return Asked(file.file.name, tuple(tables), len(tables))


def _opened(file: Section, records: Records | DatabaseRecords | None) -> Source | None:
    """The records, where they are in a file that can be read here."""
    if not isinstance(records, Records) or records.engine == "spark":
        return None
    try:
        return records.open()
    except InputError as error:
        raise file.section("records").error(str(error), "path") from error


def _equations(file: Section) -> tuple[MeasureSum, ...]:
    found: list[MeasureSum] = []
    for position, text in enumerate(file.texts("equations")):
        try:
            found.append(MeasureSum.read(text))
        except InputError as error:
            raise file.error(f"'equations': {error}", "equations", position) from error
    return tuple(found)


def _different(file: Section) -> tuple[frozenset[str], ...]:
    """Codes that are spelled alike and are different ones."""
    given = file.values.get("different", [])
    fits = isinstance(given, list) and all(
        isinstance(one, list) and len(one) > 1 and all(isinstance(code, str) for code in one)
        for one in given
    )
    if not fits:
        raise file.unfit("different", 'a list of lists of codes, e.g. [["01", "1"]]')
    return tuple(frozenset(one) for one in given)


def _variable(section: Section, hierarchies: Mapping[str, object]) -> VariableAnswer:
    section.check(optional=("hierarchy", "level", "column", "flat", "total"))
    names: Sequence[str] = ()
    if isinstance(section.values.get("hierarchy"), list):
        names = section.choices("hierarchy", (), tuple(hierarchies))
    elif "hierarchy" in section:
        names = (section.choice("hierarchy", "", tuple(hierarchies)),)
    if names and section.flag("flat", False):
        raise section.error("'flat' says that there is no code tree, and 'hierarchy' names one")
    level = section.values.get("level")
    if isinstance(level, bool) or not isinstance(level, (str, int, type(None))):
        raise section.unfit("level", "the name of a level, or steps below the total, from 1")
    if isinstance(level, int):
        section.whole("level", 1, 1)
    return VariableAnswer(
        tuple(names),
        level,
        section.text("column", None),
        section.flag("flat", False),
        section.text("total", None),
    )


def _indicator(section: Section) -> IndicatorAnswer:
    section.check(optional=("value", "count", "where", *_INDICATOR))
    count = section.flag("count", False)
    if count and "value" in section:
        raise section.error("'count' counts records, and 'value' sums a column; keep one", "count")
    given = {key: section.values[key] for key in _INDICATOR if key in section}
    return IndicatorAnswer(section.text("value", None), count, _where(section), given)


def _field(section: Section) -> FieldAnswer:
    section.check(optional=("where", "vintage"))
    return FieldAnswer(_where(section), section.text("vintage", None))


def _where(section: Section) -> Mapping[str, Any]:
    """A filter as it stands there, which can be one."""
    asked = section.section("where").values
    try:
        Population.of(asked)
    except InputError as error:
        raise section.error(str(error), "where") from error
    return asked
