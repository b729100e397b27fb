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
from diskret.plan.axes import axes_of
from diskret.plan.contained import (
    equations_of,
    notes_of_equations,
    questions_of_indicators,
    tables_of,
)
from diskret.plan.metadata import is_metadata, read_metadata
from diskret.plan.options import Trees, as_publication
from diskret.plan.publication import read_answers, read_columns, read_tables
from diskret.plan.questions import notes_of_the_office, questions_of_the_office, with_decimals
from diskret.plan.rows import Rows, of_frame, read_csv
from diskret.plan.template import Columns, read_template
from diskret.plan.trees import added_codes
from diskret.plan.values import (
    Answers,
    Asked,
    FieldAnswer,
    Note,
    Plan,
)
from diskret.plan.workbooks import read_workbooks
from diskret.texts import Statement

#: What the root of a tree is called of which nothing is said.
_USUAL = "Total"


def read(
    template: Any,
    *,
    trees: Trees | None = None,
    records: str | PathLike[str] | None = None,
) -> Plan:
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
    trees
        Code trees, where no publication file names them: a folder, files, or name → file. A tree is
        known by the name of its file without the suffix; it belongs to the variable, or to the
        variables of the hierarchy, of that name. A ``.csv`` file has the columns ``code`` and
        ``parent``, or one column for each level, the coarsest first.
    records
        The file of the records, where no publication file names it.

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
    Insee, rtauargus: Automatic analysis of metadata (vignette); Manuel de protection des tableaux,
    chapter 3.

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
    3 tables asked for, 2 to protect in 2 clusters, 3 questions open
    >>> plan.tables[0].name, plan.tables[0].descriptions
    ('turnover_industry_size', ('T1', 'T2'))
    """
    file, found = as_publication(trees, records), template
    beside, listed = True, False
    if isinstance(template, (str, PathLike)):
        found = Path(template)
        if found.suffix.lower() == ".toml":
            if file.values:
                raise JobError(
                    f"{found} is a publication file; name code trees and records in it, under "
                    "[hierarchies] and [records]"
                )
            file, beside = open_job(found), False
            found = _named(file)
            listed = found is None
    answers = read_answers(file)
    known = {name: one.read() for name, one in answers.hierarchies.items()}
    columns = _with_totals(read_columns(file), answers, known)
    asked = read_tables(file) if listed else _asked(found, columns)
    if beside:
        answers = _of_this(asked, answers)
    else:
        _check_answers(file, asked)
    answers = _rooted(asked, _with_fields(asked, answers), known)
    known = {name: one.read() for name, one in answers.hierarchies.items()}
    answers, decimals = with_decimals(asked, answers)
    axes = axes_of(asked, answers, known)
    tables = tables_of(axes)
    questions = [
        *questions_of_the_office(asked, answers),
        *axes.questions,
        *questions_of_indicators(asked, answers),
        *decimals,
    ]
    added = [] if questions else added_codes(axes.named, tables)
    return Plan(
        asked,
        answers,
        axes.named,
        tables,
        equations_of(asked, answers),
        tuple(questions),
        (
            *asked.notes,
            *_unused(asked, answers),
            *axes.notes,
            *added,
            *notes_of_equations(asked, answers),
            *notes_of_the_office(answers),
        ),
        found if isinstance(found, Path) and beside else None,
    )


def _named(file: Section) -> Path | None:
    """The template that a publication file names, or None if it lists the tables itself."""
    if ("template" in file) == ("tables" in file):
        raise file.error(
            "give either 'template', the file or folder of what is to be published, or [[tables]]"
        )
    return file.existing_file("template", or_folder=True) if "template" in file else None


def _asked(found: Any, columns: Columns) -> Asked:
    if not isinstance(found, Path):
        return _of_rows(of_frame(found), columns)
    if found.is_dir():
        return read_workbooks(found, columns)
    if not found.is_file():
        raise JobError(f"there is no file or folder {found} to plan")
    if found.suffix.lower() not in (".csv", ".txt"):
        raise JobError(
            f"{found.name}: a template ends in .csv, a publication file in .toml; workbooks are "
            "read from the folder that they are in"
        )
    return _of_rows(read_csv(found), columns)


def _of_rows(rows: Rows, columns: Columns) -> Asked:
    return read_metadata(rows) if is_metadata(rows) else read_template(rows, columns)


def _with_totals(columns: Columns, answers: Answers, trees: Mapping[str, Hierarchy]) -> Columns:
    """What the totals of variables may be called: as the office says, or as their tree."""
    said = {name: one.total for name, one in answers.variables.items() if one.total}
    roots = {
        name: trees[one.hierarchies[0]].total
        for name, one in answers.variables.items()
        if one.hierarchies
    }
    return replace(columns, totals=said, roots=roots)


def _of_this(asked: Asked, answers: Answers) -> Answers:
    """The answers without variables that nobody asks for: trees may lie there for others."""
    there = {one.name for table in asked.tables for one in table.by}
    own = {name: one for name, one in answers.variables.items() if name in there}
    return replace(answers, variables=own)


def _unused(asked: Asked, answers: Answers) -> Iterator[Note]:
    """Trees that no variable has."""
    used = {name for one in answers.variables.values() for name in one.hierarchies}
    used |= {one.hierarchy for table in asked.tables for one in table.by if one.hierarchy}
    for name in answers.hierarchies:
        if name not in used:
            yield Note(Statement.said("plan", "unused tree", name=name))


def _check_answers(file: Section, asked: Asked) -> None:
    """What a publication file answers is about something that is asked for."""
    groups = dict.fromkeys(one.indicator_group for one in asked.tables if one.indicator_group)
    indicators = [*groups, *dict.fromkeys(table.indicator for table in asked.tables)]
    for at, name in enumerate(file.texts("no_equation")):
        if name not in indicators:
            raise file.unknown(f"{asked.file} has none of", name, indicators, "no_equation", at)
    there = {
        "variables": dict.fromkeys(
            [
                *(one.name for table in asked.tables for one in table.by),
                *asked.codes_at,
                *asked.passed,
            ]
        ),
        "indicators": dict.fromkeys(table.indicator for table in asked.tables),
        "fields": dict.fromkeys(table.field for table in asked.tables),
    }
    for section, names in there.items():
        for name in file.section(section).values:
            if name not in names:
                raise file.section(section).unknown(
                    f"{asked.file} has none of", name, [*names], name
                )


def _rooted(asked: Asked, answers: Answers, trees: Mapping[str, Hierarchy]) -> Answers:
    """The answers, in which roots that no file names are called as the template calls the total."""
    files = dict(answers.hierarchies)
    for variable, said in answers.variables.items():
        total = said.total or asked.totals.get(variable)
        for name in said.hierarchies:
            root = trees[name].total
            if total and root != total and files[name].total == _USUAL:
                named = replace(files[name], total=total)
                if root == _USUAL and total not in trees[name].position:
                    files[name] = named
    return replace(answers, hierarchies=files)


def _with_fields(asked: Asked, answers: Answers) -> Answers:
    """The answers, in which fields that are codes of columns of the records are filters."""
    there = None if answers.records is None else answers.records.columns
    fields = dict(answers.fields)
    for name, codes in asked.fields.items():
        said = fields.get(name, FieldAnswer())
        filtered = all(there is None or column in there for column in codes)
        fields[name] = FieldAnswer(
            {**(codes if filtered else {}), **said.where},
            name if said.vintage is None else said.vintage,
        )
    return replace(answers, fields=fields)
