"""What only a person can tell of a publication: records, rules, values, decimals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diskret.jobs.toml_text import key, toml
from diskret.plan.records import recorded_codes, recorded_decimals
from diskret.plan.values import (
    SDMX_TOTAL,
    Answers,
    Asked,
    FieldAnswer,
    IndicatorAnswer,
    Note,
    Question,
    VariableAnswer,
)
from diskret.rules import BY_NAME
from diskret.texts import Statement

_SHOWN = 6


def questions_of_the_office(asked: Asked, answers: Answers) -> Iterator[Question]:
    """All questions but those about variables and sums."""
    yield from _of_the_office(asked, answers)
    yield from _of_fields(asked, answers)
    yield from _of_passed(asked, answers)
    yield from _of_values(asked, answers)


def notes_of_the_office(answers: Answers) -> Iterator[Note]:
    """What goes without saying, and has consequences."""
    yield from _of_units(answers)


def with_decimals(asked: Asked, answers: Answers) -> tuple[Answers, list[Question]]:
    """The answers, with the decimals that the values of the records have; what is open of them."""
    every, records = answers.sections.get("every_table", {}), answers.records
    if records is None or "decimals" in every or "round_values" in every:
        return answers, []
    indicators, questions = dict(answers.indicators), list[Question]()
    lines = _lines(asked)
    for name in lines:
        said = indicators.get(name, IndicatorAnswer())
        value = said.value or name
        given = "decimals" in said.given or "round_values" in said.given
        if said.count or given or value not in records.columns:
            continue
        decimals = recorded_decimals(records, value)
        if decimals is None:
            what = Statement.said("plan", "which decimals", indicator=name)
            answer = f"[indicators.{key(name)}]\ndecimals = 2   # an example\nround_values = true"
            questions.append(Question(what, answer, tuple(lines[name])))
        elif decimals:
            indicators[name] = replace(said, given={**said.given, "decimals": decimals})
    return replace(answers, indicators=indicators), questions


def _of_the_office(asked: Asked, answers: Answers) -> Iterator[Question]:
    """Where the records are, and what is unsafe."""
    if "records" not in answers.sections:
        answer = '[records]\npath = "..."'
        yield Question(Statement.said("plan", "which records"), answer)
    rules = answers.sections.get("rules", {})
    if not rules:
        answer = "[rules]\np_percent = { p = 10 }   # an example"
        yield Question(Statement.said("plan", "which rules"), answer)
    elif not any(name in BY_NAME and not BY_NAME[name].of_sums for name in rules):
        there = dict.fromkeys(table.indicator for table in asked.tables)
        counts = [n for n in there if answers.indicators.get(n, IndicatorAnswer()).count]
        if counts:
            said = Statement.said("plan", "rules of counts", indicators=", ".join(counts))
            yield Question(said, "[rules]\nminimum_frequency = { n = 3 }   # an example")


def _of_fields(asked: Asked, answers: Answers) -> Iterator[Question]:
    """Which records each field is about, where there are several."""
    lines: dict[str, list[int]] = {}
    for table in asked.tables:
        lines.setdefault(table.field, []).extend(table.lines)
    unknown = [name for name in lines if not answers.fields.get(name, FieldAnswer()).where]
    for name in unknown if len(lines) > 1 else ():
        said = Statement.said("plan", "which field", field=name)
        answer = f'[fields.{key(name)}]\nwhere = {{ ... = "..." }}\nvintage = "..."'
        yield Question(said, answer, tuple(lines[name]))


def _of_passed(asked: Asked, answers: Answers) -> Iterator[Question]:
    """Whether tables are about all records, where the template names codes that these have, too."""
    for column, codes in asked.passed.items():
        recorded = recorded_codes(answers, column)
        at_total = {*codes} <= {SDMX_TOTAL}
        if recorded is None or at_total or (len(codes) == 1 and recorded == frozenset(codes)):
            continue
        said = answers.variables.get(column, VariableAnswer()).total
        of_fields = [answers.fields.get(one.field, FieldAnswer()).where for one in asked.tables]
        of_values = [
            answers.indicators.get(one.indicator, IndicatorAnswer()).where for one in asked.tables
        ]
        filtered = all(
            column in one or column in other
            for one, other in zip(of_fields, of_values, strict=True)
        )
        if said is None and not filtered:
            shown = ", ".join([*codes][:_SHOWN])
            what = Statement.said("plan", "which part", name=column, codes=shown)
            code, first = next(iter(codes)), asked.tables[0]
            answer = (
                f"[indicators.{key(first.indicator)}]\n"
                f"where = {{ {key(column)} = {toml(code)} }}   # or, if all records are meant:\n"
                f"# [variables.{key(column)}]\n# total = {toml(code)}"
            )
            yield Question(what, answer, tuple(codes.values())[:_SHOWN])


def _of_values(asked: Asked, answers: Answers) -> Iterator[Question]:
    """Which columns of the records hold what is measured."""
    if answers.records is None:
        return
    for name, own in _lines(asked).items():
        said = answers.indicators.get(name, IndicatorAnswer())
        value = said.value or name
        if not said.count and value not in answers.records.columns:
            what = Statement.said(
                "plan", "which value", indicator=name, columns=", ".join(answers.records.columns)
            )
            answer = f'[indicators.{key(name)}]\nvalue = "..."   # or: count = true'
            yield Question(what, answer, tuple(own))


def _lines(asked: Asked) -> dict[str, list[int]]:
    """Indicator → the lines in which it stands."""
    lines: dict[str, list[int]] = {}
    for table in asked.tables:
        lines.setdefault(table.indicator, []).extend(table.lines)
    return lines


def _of_units(answers: Answers) -> Iterator[Note]:
    if "records" in answers.sections and "unit" not in answers.sections.get("every_table", {}):
        yield Note(Statement.said("plan", "no unit"))
