"""Carry out a job file, or the bundled example: from records to proven files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.attack import Attacker
from diskret.datasets import business_register
from diskret.engines import Engine
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError
from diskret.io import Source
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.rules import MinimumFrequency, PPercent
from diskret.tables import MeasureSum, Published, Table
from diskret.workflow.beside import groups
from diskret.workflow.job import Job, Records, TableJob
from diskret.workflow.job_cells import table_of_cells
from diskret.workflow.job_derived import derived_of
from diskret.workflow.last_period import knowing_last_period
from diskret.workflow.ledger import Ledger
from diskret.workflow.linked import linked
from diskret.workflow.plan import publish
from diskret.workflow.result import Result
from diskret.workflow.suppress import suppress
from diskret.workflow.tabulate import tabulate
from diskret.workflow.write import FORMATS, write


def run_job(
    job: Job,
    *,
    folder: str | PathLike[str] | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> tuple[Path, list[Result]]:
    """Tabulate, protect, prove and write every table of a job; all or nothing.

    If the job names a ledger, what is written is recorded there as well.

    Parameters
    ----------
    job
        What `read_job` understood.
    folder
        Where to write; None: where the job says.
    keys
        The office's keys; see `SecretKeys`.
    progress
        Called with the step, how much of it is done, and how much there is.

    Returns
    -------
    tuple
        The folder and a result for each table, in the order of the job.
    """
    written = Path(folder or job.output.folder)
    ledger = _ledger(job, written, keys)
    records = None if job.records is None else job.records.open()
    with _engine(job, records) as engine:
        tables: list[Table] = []
        for table in job.tables:
            with _told_for(job, table):
                tables.append(_tabulated(table, records, engine, progress))
    ties = SecretKeys.load(keys) if job.keyed_ties else None
    results = _protected(job, tables, ties, ledger, progress)
    derived, releases = derived_of(job.derived, results)
    language = job.output.language
    titles = {t.name: t.title[language] for t in job.tables if language in t.title}
    options: dict[str, Any] = {
        "formats": job.output.formats,
        "language": language,
        "symbols": job.output.symbols,
        "titles": titles,
        "template": job.output.template,
        "intervals": job.output.intervals,
        "derived": derived,
        "combined": job.output.combined,
        "releases": releases,
        "progress": progress,
    }
    if ledger is None:
        write(results, written, keys=keys, **options)
    else:
        ledger.publish(results, written, name=job.output.release, **options)
    return written, results


def _ledger(job: Job, folder: Path, keys: SecretKeys | str | PathLike[str] | None) -> Ledger | None:
    """The ledger of a job; what is wrong with it is found before any work is done."""
    if job.output.ledger is None:
        return None
    ledger = Ledger(job.output.ledger, keys)
    ledger.check_free(job.output.release or folder.resolve().name)
    return ledger


def run_demo(
    folder: str | PathLike[str],
    firms: int = 50_000,
    seed: int = 1,
    language: str = "en",
    progress: Progress = silent,
) -> tuple[Path, list[Result]]:
    """Protect and write the turnover and the number of firms of a made-up register.

    Turnover is judged by the p% rule and a minimum frequency, the number of firms by the
    minimum frequency alone; holdings count as one contributor.

    Parameters
    ----------
    folder
        Where to write.
    firms
        Number of firms.
    seed
        Another seed gives another economy.
    language
        Of the workbooks and reports: ``"en"`` or ``"de"``.
    progress
        Called with the step, how much of it is done, and how much there is.

    Returns
    -------
    tuple
        The folder and the two results.
    """
    register = business_register(firms, seed)
    table = tabulate(
        register.records,
        by=register.by,
        value="turnover",
        unit="firm_id",
        holding="group_id",
        largest=2,
        progress=progress,
    )
    results = [
        suppress(table, PPercent(10) | MinimumFrequency(3), name="turnover", progress=progress),
        suppress(table["count"], MinimumFrequency(3), name="firms", progress=progress),
    ]
    titles = _DEMO_TITLES.get(language, {})
    written = write(results, folder, FORMATS, language=language, titles=titles, progress=progress)
    return written, results


_DEMO_TITLES = {
    "en": {"turnover": "Turnover of firms in euros", "firms": "Number of firms"},
    "de": {"turnover": "Umsatz der Unternehmen in Euro", "firms": "Zahl der Unternehmen"},
}


_Opening = Callable[[Source], AbstractContextManager[Engine]]


@contextmanager
def _engine(job: Job, records: Source | None) -> Generator[_Opening | None]:
    """What the tables are aggregated with; Spark starts once for all of them."""
    if records is None or not isinstance(job.records, Records) or job.records.engine != "spark":
        yield None
        return
    with SparkEngine(records) as opened:
        yield lambda _: nullcontext(opened)


@contextmanager
def _told_for(job: Job, table: TableJob) -> Generator[None]:
    """Say of which table of the job an input error is."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{job.path.name}, table {table.name!r}: {error}") from error


def _tabulated(
    table: TableJob, records: Source | None, engine: _Opening | None, progress: Progress
) -> Table:
    """The table a job asks for, before anything is protected."""
    if table.cells is not None:
        made = table_of_cells(table, table.cells)
    else:
        made = _of_records(table, records, engine, progress)
    for column, combined in table.recode.items():
        made = made.recode(column, combined)
    chosen = made[table.measure]
    return chosen if table.rounding is None else chosen.rounded(table.rounding)


def _of_records(
    table: TableJob, records: Source | None, engine: _Opening | None, progress: Progress
) -> Table:
    return tabulate(
        records,
        by={name: tree and tree.read() for name, tree in table.by.items()},
        value=_measures(table),
        unit=table.unit,
        holding=table.holding,
        weight=table.weight,
        weight_decimals=table.weight_decimals,
        largest=table.rule.largest,
        decimals=table.decimals,
        where=dict(table.where),
        request=table.request,
        waiver=table.waiver,
        waiver_note=table.waiver_note,
        vintage=table.vintage,
        engine=engine,
        progress=progress,
    )


def _protected(
    job: Job,
    tables: Sequence[Table],
    keys: SecretKeys | None,
    ledger: Ledger | None,
    progress: Progress,
) -> list[Result]:
    """A result for each table; tables that are tied to each other are protected together."""
    results: dict[int, Result] = {}
    for group in _tied(job, tables, ledger):
        orders = [job.tables[i] for i in group]
        measures = {order.measure for order in orders}
        found = suppress(
            [tables[i] for i in group],
            [order.rule for order in orders],
            sums=[text for text in job.sums if MeasureSum.read(text).total in measures],
            method=orders[0].method,
            cost=[order.cost for order in orders],
            attacker=_attacker(job, orders),
            frozen=[_frozen(order) for order in orders],
            previous=[_previous(job, order) for order in orders],
            previous_discount=[order.previous_discount for order in orders],
            ledger=ledger,
            keys=keys,
            time_limit=orders[0].time_limit,
            budget=orders[0].budget,
            name=[order.name for order in orders],
            progress=progress,
        )
        results |= dict(zip(group, found, strict=True))
    return [results[i] for i in range(len(tables))]


def _tied(job: Job, tables: Sequence[Table], ledger: Ledger | None) -> list[Sequence[int]]:
    """Which tables have to be protected together, perhaps because of what was published before."""
    sums = [MeasureSum.read(text) for text in job.sums]
    found: list[Sequence[int]] = [*linked(tables, sums)]
    if ledger is None:
        return found
    names = [order.name for order in job.tables]
    shown = [
        publish(table, np.zeros(table.shape, dtype=bool), name)
        for table, name in zip(tables, names, strict=True)
    ]
    return [group.new for group in groups(shown, sums, ledger.earlier(shown, sums))]


def _attacker(job: Job, tables: Sequence[TableJob]) -> Attacker:
    """The attacker of the job, with what is known of these tables from last period."""
    folders = {table.name: table.previous for table in tables if table.previous is not None}
    if job.previous_within is None or not folders:
        return job.attacker
    return knowing_last_period(job.attacker, folders, job.previous_within)


def _frozen(table: TableJob) -> pa.Table | None:
    return pa.Table.from_pylist([dict(cell) for cell in table.frozen]) if table.frozen else None


def _previous(job: Job, table: TableJob) -> Published | None:
    with _told_for(job, table):
        return table.previous and Published.read(table.previous, table.name)


def _measures(table: TableJob) -> Sequence[str]:
    """The value, its shadow, and the measure that prices the cells if it is another one."""
    wanted = [name for name in (table.value, table.shadow) if name]
    if table.cost not in ("value", "count", "cells", *wanted):
        wanted.append(table.cost)
    return wanted
