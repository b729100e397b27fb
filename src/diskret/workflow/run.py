"""Carry out a job file, or the bundled example: from records to proven files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path

import pyarrow as pa

from diskret.attack import Attacker
from diskret.datasets import business_register
from diskret.engines import Engine
from diskret.engines.spark import SparkEngine
from diskret.io import Source
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.rules import MinimumFrequency, PPercent
from diskret.workflow.job import Job, Records, TableJob
from diskret.workflow.job_derived import derived_of
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
    records = job.records.open()
    with _engine(job, records) as engine:
        results = [
            _run_table(table, records, job.attacker, engine, progress) for table in job.tables
        ]
    derived, releases = derived_of(job.derived, results)
    language = job.output.language
    titles = {t.name: t.title[language] for t in job.tables if language in t.title}
    written = write(
        results,
        folder or job.output.folder,
        job.output.formats,
        language=language,
        symbols=job.output.symbols,
        titles=titles,
        template=job.output.template,
        keys=keys,
        derived=derived,
        combined=job.output.combined,
        releases=releases,
        progress=progress,
    )
    return written, results


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
def _engine(job: Job, records: Source) -> Generator[_Opening | None]:
    """What the tables are aggregated with; Spark starts once for all of them."""
    if not isinstance(job.records, Records) or job.records.engine != "spark":
        yield None
        return
    with SparkEngine(records) as opened:
        yield lambda _: nullcontext(opened)


def _run_table(
    table: TableJob,
    records: Source,
    attacker: Attacker,
    engine: _Opening | None,
    progress: Progress,
) -> Result:
    measures = _measures(table)
    tabulated = tabulate(
        records,
        by={name: tree and tree.read() for name, tree in table.by.items()},
        value=measures,
        unit=table.unit,
        holding=table.holding,
        largest=table.rule.largest,
        decimals=table.decimals,
        vintage=table.vintage,
        engine=engine,
        progress=progress,
    )
    return suppress(
        tabulated[table.measure],
        table.rule,
        method=table.method,
        cost=table.cost,
        attacker=attacker,
        frozen=pa.Table.from_pylist([dict(cell) for cell in table.frozen])
        if table.frozen
        else None,
        time_limit=table.time_limit,
        name=table.name,
        progress=progress,
    )


def _measures(table: TableJob) -> Sequence[str]:
    """The value, and the measure that prices the cells if it is another one."""
    wanted = [table.value] if table.value else []
    if table.cost not in ("value", "count", "cells", table.value):
        wanted.append(table.cost)
    return wanted
