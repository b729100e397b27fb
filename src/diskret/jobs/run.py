"""Carry out a job file: from records to proven files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from diskret.attack import Attacker
from diskret.deadline import Deadline
from diskret.engines.engine import Engine
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError
from diskret.io import Source, source
from diskret.io.frames import in_memory, spelled
from diskret.io.record_errors import RecordError
from diskret.jobs.derived import derived_of
from diskret.jobs.in_engine import is_in_engine, write_in_engine
from diskret.jobs.noise import changed_tables
from diskret.jobs.places import borders, merged, opened
from diskret.jobs.read import read_job
from diskret.jobs.revision import protect_edition, revised
from diskret.jobs.tables import table_of_cells
from diskret.jobs.values import Job, JobTable, Records, TableJob
from diskret.keys import SecretKeys
from diskret.ledger.ledger import Ledger
from diskret.progress import Progress, silent
from diskret.protect.arguments import Asked, checked_tables
from diskret.protect.attackers import default_attacker
from diskret.protect.earlier_tables import groups
from diskret.protect.last_period import knowing_last_period
from diskret.protect.linked import linked
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.plan import publish_whole
from diskret.protect.record_keys import record_keys
from diskret.protect.result import Result
from diskret.protect.suppress import suppress_tables
from diskret.protect.tabulate import record_marks, tabulate
from diskret.protect.write import WritingSeveral, write
from diskret.publish.maps import MAPS
from diskret.rules.unions import against
from diskret.rules.varying import check_codes, for_tables
from diskret.suppression import Method, Pattern, Problem
from diskret.tables import KnownBefore, MeasureSum, Published, Table

#: Share of a time limit that is kept for writing: reasons of secondaries, and intervals.
_WRITING = 0.2


def run_job(
    job: Job | str | PathLike[str],
    *,
    folder: str | PathLike[str] | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> tuple[Path, list[Result | PerturbedResult]]:
    """Tabulate, protect, prove and write every table of a job; all or nothing.

    If the job names a ledger, what is written is recorded there as well.

    Parameters
    ----------
    job
        A job file, or what `read_job` understood of it.
    folder
        Where to write; None: where the job says.
    keys
        The office's keys; see `SecretKeys`.
    progress
        Called with the step, how much of it is done, and how much there is.

    Returns
    -------
    tuple
        The folder and a result for each table, in the order of the job; none for a table that
        was perturbed and written in the engine.

    Raises
    ------
    JobError
        The job file cannot be carried out as it is written; names line, key and remedy.
    ProofError
        A table could not be proven protected; nothing is written.
    """
    job = job if isinstance(job, Job) else read_job(job)
    written = Path(folder or job.output.folder)
    if any(map(is_in_engine, job.tables)):
        with _told_for(job, job.tables[0]):
            write_in_engine(job, written, keys, progress)
        return written, []
    ledger = _ledger(job, written, keys)
    tables = tables_of(job, progress, keys)
    hiding = [one for one in tables if one.wanted.noise is None]
    changing = [one for one in tables if one.wanted.noise is not None]
    found: list[Result | PerturbedResult] = []
    if hiding and job.edition is not None:

        def protect(tables: Sequence[JobTable]) -> list[Result]:
            return protected(tables, keys, progress, ledger=ledger)

        found += protect_edition(job.edition, hiding, protect, keys, progress)
    elif hiding:
        found += protected(hiding, keys, progress, ledger=ledger)
    found += changed_tables(changing, keys, progress)
    by_name = {result.name: result for result in found}
    results = [by_name[one.name] for one in tables]
    limits = [one.time_limit for one in job.tables if one.time_limit]
    # reasons that are not found by then are said not to be examined
    told = Deadline.after(_WRITING * max(limits) if limits else None).watched(progress)
    write_job(job, results, written, keys, told, ledger=ledger, name=job.output.release)
    return written, results


def tables_of(
    job: Job,
    progress: Progress = silent,
    keys: SecretKeys | str | PathLike[str] | None = None,
) -> list[JobTable]:
    """The tables a job asks for, before anything is protected.

    The keys are needed only where record keys are derived with them.
    """
    job, records = opened(job)
    with _engine(job, records) as engine:
        tables: list[JobTable] = []
        for wanted in job.tables:
            with _told_for(job, wanted):
                noise = wanted.noise
                if noise is not None and noise.key_of is not None:
                    keyed = keyed_records(job, noise.key_of, keys)
                    table = _tabulated(job, wanted, keyed, None, progress)
                else:
                    table = _tabulated(job, wanted, records, engine, progress)
                tables.append(JobTable(job, wanted, table, wanted.name))
    return tables


def keyed_records(job: Job, counted: str, keys: SecretKeys | str | PathLike[str] | None) -> Source:
    """The records of a job with a column of keys derived from who is counted, a column, too."""
    if not isinstance(job.records, Records):
        raise InputError(
            f"{job.path.name}: 'key_of' derives record keys for records in a file; "
            "give others a column of keys once, with dk.record_keys, and name it in 'record_key'"
        )
    opened = job.records.open()
    known = in_memory(spelled(replace(opened, spelling=None, numbers={}), (), told=(counted,)))
    keyed = source(record_keys(known, id=counted, keys=keys, name=DERIVED))
    return replace(keyed, spelling=opened.spelling, numbers=opened.numbers, book=opened.book)


def write_job(
    job: Job,
    results: Sequence[Result | PerturbedResult],
    folder: str | PathLike[str],
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress = silent,
    *,
    ledger: Ledger | None = None,
    name: str | None = None,
) -> None:
    """Write protected tables, and the figures derived from them, as a job asks for.

    With a ledger they are published through it, as the release of that name.
    """
    derived, releases = derived_of(job.derived, results)
    language, formats, intervals = job.output.language, job.output.formats, job.output.intervals
    options: WritingSeveral = {
        "language": language,
        "symbols": job.output.symbols,
        "titles": {t.name: t.title[language] for t in job.tables if language in t.title},
        "template": job.output.template,
        "derived": derived,
        "combined": job.output.combined,
        "neutralise": job.output.neutralise,
        "agency": job.output.agency,
        "places": borders(job.places) if set(formats) & set(MAPS) else None,
        "releases": releases,
        "previous": None if job.edition is None else job.edition.previous,
        "progress": progress,
    }
    if ledger is None:
        write(results, folder, formats, keys=keys, intervals=intervals, **options)
    else:
        revises = revised(job.edition, [result.name for result in results])
        ledger.publish(
            results, folder, formats, name=name, revises=revises, intervals=intervals, **options
        )


def _ledger(job: Job, folder: Path, keys: SecretKeys | str | PathLike[str] | None) -> Ledger | None:
    """The ledger of a job; what is wrong with it is found before any work is done."""
    if job.output.ledger is None:
        return None
    ledger = Ledger(job.output.ledger, keys)
    ledger.check_free(job.output.release or folder.resolve().name)
    return ledger


#: The column of derived record keys.
DERIVED = "record_key"

_Opening = Callable[[Source], AbstractContextManager[Engine]]


@contextmanager
def _engine(job: Job, records: Source | None) -> Generator[_Opening | None]:
    """What the tables are aggregated with; Spark starts once for all of them."""
    if records is None or not isinstance(job.records, Records) or job.records.engine != "spark":
        yield None
        return
    wanted = [name for table in job.tables for name in _numbers(table)]
    told = [name for table in job.tables for name in _told(table)]
    with SparkEngine(spelled(records, wanted, told=told)) as started:
        yield lambda _: nullcontext(started)


@contextmanager
def _told_for(job: Job, table: TableJob) -> Generator[None]:
    """Say of which table of the job an input error is."""
    try:
        yield
    except InputError as error:
        missing = error.missing if isinstance(error, RecordError) else None
        if missing is not None and table.said is not None:
            line = table.said.line_of(missing)
            raise type(error)(
                f"{job.path.name}, line {line}, table {table.name!r}: {error}"
            ) from error
        raise type(error)(f"{job.path.name}, table {table.name!r}: {error}") from error


def _tabulated(
    job: Job, table: TableJob, records: Source | None, engine: _Opening | None, progress: Progress
) -> Table:
    """The table a job asks for, before anything is protected."""
    if table.cells is not None:
        made = table_of_cells(table, table.cells)
    else:
        made = _of_records(job, table, records, engine, progress)
        if (
            engine is not None and made.asked is not None
        ):  # this one is closed with the job's tables
            made = replace(made, asked=replace(made.asked, engine=SparkEngine))
    for column, combined in table.recode.items():
        made = made.recode(column, combined)
    made = merged(made, table)
    chosen = made[table.measure]
    return chosen if table.rounding is None else chosen.rounded(table.rounding)


def _of_records(
    job: Job,
    table: TableJob,
    records: Source | None,
    engine: _Opening | None,
    progress: Progress,
) -> Table:
    noise = table.noise
    rule = table.rule if job.contributor is False else against(table.rule, job.coalition)
    return tabulate(
        records,
        by={name: None if tree is None else tree.read() for name, tree in table.by.items()},
        total=table.total,
        value=_measures(table),
        unit=table.unit,
        holding=table.holding,
        weight=table.weight,
        weight_decimals=table.weight_decimals,
        largest=rule.largest if noise is None else max(rule.largest, noise.largest),
        decimals=table.decimals,
        round_values=table.round_values,
        where=table.where,
        request=table.request,
        waiver=table.waiver,
        waiver_note=table.waiver_note,
        contributions=False if noise is not None else job.contributor,
        vintage=table.vintage,
        record_key=None if noise is None else DERIVED if noise.key_of else noise.record_key,
        key_modulus=2**32 if noise is None else noise.key_modulus,
        key_digits=None if noise is None else noise.key_digits,
        engine=engine,
        progress=progress,
    )


def protected(
    tables: Sequence[JobTable],
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
    *,
    ledger: KnownBefore | None = None,
) -> list[Result]:
    """A result for each table; tables that are tied to each other are protected together.

    tables: of jobs that have the same attacker and the same search.
    ledger: what was published before.
    """
    job = tables[0].job
    made = checked_tables([one.table for one in tables], "suppress", changed=False)
    rules = for_tables([one.wanted.rule for one in tables], made)
    tables = [
        replace(one, wanted=replace(one.wanted, rule=rule))
        for one, rule in zip(tables, rules, strict=True)
    ]
    for one in tables:
        with _told_for(one.job, one.wanted):
            check_codes(one.wanted.rule, one.table)
    said = dict.fromkeys(text for one in tables for text in one.job.sums)
    sums = [MeasureSum.read(text) for text in said]
    results: dict[int, Result] = {}
    for group in _tied(tables, sums, ledger):
        together = [tables[i] for i in group]
        first = together[0].wanted
        measures = {one.wanted.measure for one in together}
        found = suppress_tables(
            [_asked(one) for one in together],
            sums=[equation for equation in sums if equation.total in measures],
            method=first.method if together[0].hidden is None else _hiding(together),
            attacker=_attacker(together),
            ledger=ledger,
            keys=SecretKeys.load(keys) if job.keyed_ties else None,
            deadline=Deadline.after(first.time_limit).share(1 - _WRITING),
            budget=first.budget,
            progress=progress,
        )
        results |= dict(zip(group, found, strict=True))
    return [results[i] for i in range(len(tables))]


def _asked(one: JobTable) -> Asked:
    """What the job asks for a table, as the verb takes it."""
    wanted = one.wanted
    with _told_for(one.job, wanted):
        before = wanted.previous and Published.read(wanted.previous, wanted.name)
    stay = pa.Table.from_pylist([dict(cell) for cell in wanted.frozen]) if wanted.frozen else None
    return Asked(
        table=one.table,
        rule=wanted.rule,
        name=one.name,
        cost=wanted.cost,
        frozen=stay,
        previous=before,
        previous_discount=wanted.previous_discount,
        known=one.known,
    )


def _hiding(tables: Sequence[JobTable]) -> Method:
    """A method that hides these cells of the tables, and of all else what is hidden anyway."""
    own = np.concatenate([one.hidden.ravel() for one in tables if one.hidden is not None])

    def method(problem: Problem) -> Pattern:
        suppressed = np.zeros(len(problem.cost), dtype=bool)
        if problem.start is not None:
            suppressed |= problem.start
        suppressed[problem.requirements.cell] = True
        suppressed[: len(own)] = own
        return Pattern(suppressed, "planned")

    return method


def _tied(
    tables: Sequence[JobTable], sums: Sequence[MeasureSum], ledger: KnownBefore | None
) -> list[Sequence[int]]:
    """Which tables have to be protected together, perhaps because of what was published before."""
    found: list[Sequence[int]] = [*linked([one.table for one in tables], sums)]
    if ledger is None:
        return found
    shown = [publish_whole(one.table, one.name) for one in tables]
    return [group.new for group in groups(shown, sums, ledger.earlier(shown, sums))]


def _attacker(tables: Sequence[JobTable]) -> Attacker:
    """The attacker of the job, with what is known of these tables from last period."""
    job, wanted = tables[0].job, [one.wanted for one in tables]
    attacker, contributor = job.attacker, job.contributor
    if contributor is None:
        made = [one.table for one in tables]
        contributor = default_attacker(made, [one.rule for one in wanted]).contributor
    if contributor:
        attacker = replace(attacker, contributor=True, coalition=job.coalition)
    folders = {table.name: table.previous for table in wanted if table.previous is not None}
    if job.previous_within is None or not folders:
        return attacker
    return knowing_last_period(attacker, folders, job.previous_within)


def _numbers(table: TableJob) -> list[str | None]:
    """The columns that are read as numbers."""
    keyed = None if table.noise is None else table.noise.record_key
    return [*_measures(table), table.weight, keyed, *table.where.bounded]


def _told(table: TableJob) -> list[str | None]:
    """The columns that tell who contributes, and who said yes where no codes are named."""
    answers = record_marks(table.request, table.waiver).values()
    return [table.unit, table.holding, *(one.column for one in answers if one.codes is None)]


def _measures(table: TableJob) -> Sequence[str]:
    """The value, its shadow, and the measure that prices the cells if it is another one."""
    wanted = [name for name in (table.value, table.shadow) if name]
    if table.cost not in ("value", "count", "cells", *wanted):
        wanted.append(table.cost)
    return wanted
