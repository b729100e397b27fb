"""The ``[edition]`` of a job file: the last delivery, whose patterns are kept where they may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diskret.errors import InputError
from diskret.jobs.schema import Section
from diskret.jobs.values import EditionJob, Job, TableJob
from diskret.protect.editions import Kept, kept_since
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.publish.difference import SUFFIX, last_delivery


def read_edition(section: Section) -> EditionJob:
    """What a job says of the last delivery, or a programme of all releases of the last one."""
    given = section.read(EditionJob, without=("previous",), required=("previous",))
    folder = section.file.parent / section.text("previous", "")
    if not folder.is_dir():
        raise section.error(f"'previous': the folder {folder} does not exist", "previous")
    return EditionJob(previous=folder, **given)


def with_last_patterns(
    section: Section, edition: EditionJob, tables: Sequence[TableJob]
) -> tuple[TableJob, ...]:
    """Tables that know what the table of their name hid in the last delivery.

    A table that names a `previous` of its own keeps it; one that the last delivery does not have is
    new. Refuses a delivery that is none, or that holds none of the tables.
    """
    try:
        before = last_delivery(edition.previous, [table.name for table in tables])
    except InputError as error:
        raise section.error(f"'previous': {error}", "previous") from error
    return tuple(
        _keeping(table, edition) if table.name in before and table.noise is None else table
        for table in tables
    )


def of_programme(section: Section, edition: EditionJob, release: str, job: Job) -> Job:
    """The job of a release of a programme that follows an earlier one, in whose folder that is.

    A release that the last programme did not have is new.
    """
    if job.edition is not None:
        raise section.error(
            f"the programme and the job of '{release}' both name the last delivery; keep one "
            "[edition]",
            "edition",
        )
    own = replace(edition, previous=edition.previous / release)
    if not own.previous.is_dir():
        return job
    tables = with_last_patterns(section.section("edition"), own, job.tables)
    names = [part.name for part in (*tables, *job.derived)]
    check_free(section.section("edition"), tables, names)
    return replace(job, tables=tables, edition=own)


def check_free(section: Section, tables: Sequence[TableJob], names: Sequence[str]) -> None:
    """Refuse tables and figures that are called like a difference to the last delivery."""
    taken = {f"{table.name}{SUFFIX}".casefold() for table in tables}
    for name in names:
        if name.casefold() in taken:
            raise section.error(
                f"the name '{name}' is that of the file with the difference to the last delivery; "
                "give this table or figure another 'name'",
                "previous",
            )


def kept_by(job: Job, results: Sequence[Result | PerturbedResult]) -> Iterator[tuple[str, Kept]]:
    """How much of its last pattern each table of a job keeps that hides cells, by name."""
    if job.edition is None:
        return
    hiding = {result.name: result for result in results if isinstance(result, Result)}
    for name, before in last_delivery(job.edition.previous, [r.name for r in results]).items():
        if name in hiding:
            yield name, kept_since(hiding[name], before)


def _keeping(table: TableJob, edition: EditionJob) -> TableJob:
    if table.previous is not None:
        return table
    discount = table.previous_discount or edition.discount
    return replace(table, previous=edition.previous, previous_discount=discount)
