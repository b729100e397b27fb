"""Read what is to be published, and find out how it hangs together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import JobError
from diskret.hierarchy import Hierarchy
from diskret.jobs.schema import Section, open_job
from diskret.jobs.toml_text import key
from diskret.plan.axes import axes_of
from diskret.plan.contained import (
    equations_of,
    notes_of_equations,
    questions_of_indicators,
    tables_of,
)
from diskret.plan.metadata import is_metadata, read_metadata
from diskret.plan.publication import read_answers, read_columns, read_tables
from diskret.plan.rows import Rows, of_frame, read_csv
from diskret.plan.template import Columns, read_template
from diskret.plan.values import (
    Answers,
    Asked,
    FieldAnswer,
    IndicatorAnswer,
    Note,
    Plan,
    Question,
)
from diskret.plan.workbooks import read_workbooks
from diskret.rules import BY_NAME
from diskret.texts import Statement


def read(template: Any) -> Plan:
    """Find out what a publication consists of: tables to protect, clusters, sums, open questions.

    A table lies in another one if all its cells are cells of it, or sums of them; it then needs no
    protection of its own. Tables hang together if they have records and a measure in common, or
    if their measures add up.

    Parameters
    ----------
    template
        What is to be published, a path or a frame: a metadata frame as rtauargus uses it (one row
        for each table: ``table_name``, ``field``, ``hrc_field``, ``indicator``,
        ``hrc_indicator``, ``spanning_1``, ``hrc_spanning_1``, …); a template of Eurostat (a CSV
        file with one row for each cell); a folder of workbooks with one row for each cell; or a
        publication file (``.toml``) that lists tables or names one of these, with what a person
        answers. A frame is a metadata frame, or lists cells.

    Returns
    -------
    Plan
        What was found. Nothing is guessed: what only a person can tell is in its ``questions``.

    Raises
    ------
    JobError
        A file cannot be read, or contradicts itself; names file, line, column and remedy.

    References
    ----------
    Baudry (2025), Automatic analysis of metadata for secondary tabular data protection, NTTS.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import diskret as dk
    >>> plan = dk.plan.read(pa.table({
    ...     "table_name": ["T1", "T2", "T3"],
    ...     "indicator": ["turnover", "turnover", "staff"],
    ...     "spanning_1": ["industry", "industry", "industry"],
    ...     "spanning_2": ["size", "", "size"],
    ... }))
    >>> print(plan)
    3 tables asked for, 2 to protect in 2 clusters, 2 questions open
    >>> plan.tables[0].name, plan.tables[0].descriptions
    ('turnover_industry_size', ('T1', 'T2'))
    """
    file: Section | None = None
    answers = Answers()
    columns = Columns()
    found: Any = template
    if isinstance(template, (str, PathLike)):
        found = Path(template)
        if found.suffix.lower() == ".toml":
            file = open_job(found)
            answers, columns = read_answers(file), read_columns(file)
            found = _named(file)
    trees = {name: one.read() for name, one in answers.hierarchies.items()}
    asked = _asked(found, file, columns, _totals(answers, trees))
    answers = _with_fields(asked, answers)
    axes = axes_of(asked, answers, trees)
    tables = tables_of(axes)
    questions = [
        *_of_the_office(asked, answers),
        *_of_fields(asked, answers),
        *axes.questions,
        *questions_of_indicators(asked, answers),
        *_of_values(asked, answers),
    ]
    return Plan(
        asked,
        answers,
        axes.named,
        tables,
        equations_of(asked, answers),
        tuple(questions),
        (*asked.notes, *axes.notes, *notes_of_equations(asked, answers), *_of_units(answers)),
    )


def _named(file: Section) -> Path | None:
    """The template that a publication file names, or None if it lists the tables itself."""
    if ("template" in file) == ("tables" in file):
        raise file.error(
            "give either 'template', the file or folder of what is to be published, or [[tables]]"
        )
    return file.existing_file("template", or_folder=True) if "template" in file else None


def _asked(found: Any, file: Section | None, columns: Columns, totals: Mapping[str, str]) -> Asked:
    if found is None and file is not None:
        return read_tables(file)
    if not isinstance(found, Path):
        return _of_rows(of_frame(found), columns, totals)
    if found.is_dir():
        return read_workbooks(found, columns, totals)
    if not found.is_file():
        raise JobError(f"there is no file or folder {found} to plan")
    if found.suffix.lower() not in (".csv", ".txt"):
        raise JobError(
            f"{found.name}: a template ends in .csv, a publication file in .toml; workbooks are "
            "read from the folder that they are in"
        )
    return _of_rows(read_csv(found), columns, totals)


def _of_rows(rows: Rows, columns: Columns, totals: Mapping[str, str]) -> Asked:
    return read_metadata(rows) if is_metadata(rows) else read_template(rows, columns, totals)


def _totals(answers: Answers, trees: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Variable → the code of its total, as the office says it, or its tree."""
    found: dict[str, str] = {}
    for name, one in answers.variables.items():
        if one.total:
            found[name] = one.total
        elif one.hierarchies:
            found[name] = trees[one.hierarchies[0]].total
    return found


# ── what is open ────────────────────────────────────────────────────────────────────────


def _with_fields(asked: Asked, answers: Answers) -> Answers:
    """The answers, in which fields that are codes of columns of the records are filters."""
    there = None if answers.records is None else answers.records.columns
    fields = dict(answers.fields)
    for name, codes in asked.fields.items():
        said = fields.get(name, FieldAnswer())
        filtered = all(there is None or column in there for column in codes)
        fields[name] = FieldAnswer(
            said.where or (codes if filtered else {}),
            name if said.vintage is None else said.vintage,
        )
    return replace(answers, fields=fields)


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


def _of_values(asked: Asked, answers: Answers) -> Iterator[Question]:
    """Which columns of the records hold what is measured."""
    if answers.records is None:
        return
    lines: dict[str, list[int]] = {}
    for table in asked.tables:
        lines.setdefault(table.indicator, []).extend(table.lines)
    for name, own in lines.items():
        said = answers.indicators.get(name, IndicatorAnswer())
        value = said.value or name
        if not said.count and value not in answers.records.columns:
            what = Statement.said(
                "plan", "which value", indicator=name, columns=", ".join(answers.records.columns)
            )
            answer = f'[indicators.{key(name)}]\nvalue = "..."   # or: count = true'
            yield Question(what, answer, tuple(own))


def _of_units(answers: Answers) -> Iterator[Note]:
    if "records" in answers.sections and "unit" not in answers.sections.get("every_table", {}):
        yield Note(Statement.said("plan", "no unit"))
