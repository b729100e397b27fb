"""A programme of releases: planned together, published one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.jobs.read_programme import PlannedRelease, Programme
from diskret.jobs.run import protected, tables_of, write_job
from diskret.jobs.values import Job, TableJob
from diskret.keys import SecretKeys
from diskret.ledger.ledger import Ledger
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import KnownBefore
from diskret.protect.linked import linked
from diskret.protect.plan import cost_of
from diskret.protect.result import Result
from diskret.tables import Earlier, MeasureSum, Published, Table

#: The plan in which all releases are protected in one problem.
TOGETHER = "together"


@dataclass(frozen=True, eq=False)
class Released:
    """One release of a programme that was carried out.

    name: its name in the programme.
    due: when it is due, or None.
    results: its protected tables; none if it was published by an earlier run.
    folder: where its files are; None if it is not due yet.
    """

    name: str
    due: date | None
    results: tuple[Result, ...]
    folder: Path | None


@dataclass(frozen=True, eq=False)
class ProgrammeRun:
    """What became of a programme.

    losses: what the secondaries cost in each order of protection that was tried; None where that
        order leaves some table that cannot be protected any more.
    chosen: the order that loses least.
    releases: the releases, in the order of publication.
    """

    losses: Mapping[str, float | None]
    chosen: str
    releases: tuple[Released, ...]


def run_programme(
    programme: Programme,
    *,
    folder: str | PathLike[str] | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    today: date | None = None,
    progress: Progress = silent,
) -> ProgrammeRun:
    """Plan all releases of a programme together, and write or publish those that are due.

    All tables are protected in one problem, and also release by release in several orders,
    each beside those before it; the plan that loses least is taken. Each release is then proven
    on its own, beside all that is published before it, so its certificate stands without
    those of later ones. As every part of a safe plan is safe, no later release can become
    impossible.

    programme: what `read_programme` understood.
    folder: where to write instead of the programme's folder; each release has a folder there.
    today: releases that are due by this date are written; by default the date of today.
    """
    target = Path(folder or programme.folder)
    target.mkdir(parents=True, exist_ok=True)
    ledger = None if programme.ledger is None else Ledger(programme.ledger, keys=keys)
    before = set() if ledger is None else {release.name for release in ledger.releases()}
    open_ = [
        _Asked(release, tuple(tables_of(release.job, progress)))
        for release in programme.releases
        if release.name not in before
    ]
    losses, chosen, patterns = _plan(open_, ledger, keys, progress)
    due_by = today or date.today()
    done: dict[str, Released] = {}
    known: list[Earlier] = []
    for asked in open_:
        release = asked.release
        results = _protected([asked], keys, progress, ledger, known, patterns[release.name])
        written = None
        if release.due is None or release.due <= due_by:
            written = _written(release, results, target / release.name, ledger, keys, progress)
        if ledger is None or written is None:  # else the ledger knows it
            known += [result.remembered(release.name) for result in results]
        done[release.name] = Released(release.name, release.due, tuple(results), written)
    return ProgrammeRun(
        losses,
        chosen,
        tuple(
            done.get(r.name) or Released(r.name, r.due, (), target / r.name)
            for r in programme.releases
        ),
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """A release with its tables, before anything is protected."""

    release: PlannedRelease
    tables: tuple[Table, ...]

    @property
    def jobs(self) -> list[tuple[Job, TableJob]]:
        return [(self.release.job, table) for table in self.release.job.tables]


@dataclass(frozen=True, eq=False)
class _AndPlanned:
    """A ledger, if there is one, and tables of the programme that are published before."""

    ledger: Ledger | None
    planned: Sequence[Earlier]

    @property
    def position(self) -> str:
        return "" if self.ledger is None else self.ledger.position

    def earlier(
        self, tables: Sequence[Published], sums: Sequence[MeasureSum] = ()
    ) -> list[Earlier]:
        before = [] if self.ledger is None else self.ledger.earlier(tables, sums)
        return [*before, *self.planned]


_Patterns = dict[str, list[NDArray[np.bool_]]]


# ── which order loses least ─────────────────────────────────────────────────────────


def _plan(
    asked: Sequence[_Asked],
    ledger: Ledger | None,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> tuple[dict[str, float | None], str, _Patterns]:
    """The loss in each order, the best order, and the cells that it hides in each table."""
    losses: dict[str, float | None] = {}
    best: tuple[float, str, _Patterns] | None = None
    refused: ProtectionError | None = None
    for name, order in _orders(asked).items():
        try:
            results = _in_order(asked, order, ledger, keys, progress)
        except ProtectionError as error:
            losses[name], refused = None, error
            continue
        loss = sum(_loss(one, found) for one, found in zip(asked, results, strict=True))
        losses[name] = loss
        if best is None or loss < best[0]:
            hidden = [[result.published.suppressed for result in found] for found in results]
            names = [one.release.name for one in asked]
            best = loss, name, dict(zip(names, hidden, strict=True))
    if best is None:
        if refused is not None:
            raise refused
        return losses, TOGETHER, {}
    return losses, best[1], best[2]


def _orders(asked: Sequence[_Asked]) -> dict[str, list[int] | None]:
    """Name of each order → numbers of the releases; None: all at once."""
    orders: dict[str, list[int] | None] = {TOGETHER: None} if asked else {}
    if not _tied(asked):
        return orders
    number = list(range(len(asked)))
    size = [sum(table.measure.sum.size for table in one.tables) for one in asked]
    tried: list[list[int]] = []
    for name, order in {
        "as_published": number,
        "largest_first": sorted(number, key=lambda i: -size[i]),
        "smallest_first": sorted(number, key=lambda i: size[i]),
    }.items():
        if order not in tried:
            tried.append(order)
            orders[name] = order
    return orders


def _tied(asked: Sequence[_Asked]) -> bool:
    """Whether tables of different releases say something of each other."""
    of_release = [i for i, one in enumerate(asked) for _ in one.tables]
    tables = [table for one in asked for table in one.tables]
    sums = {text for one in asked for text in one.release.job.sums}
    groups = linked(tables, [MeasureSum.read(text) for text in sorted(sums)])
    return any(len({of_release[i] for i in group}) > 1 for group in groups)


def _in_order(
    asked: Sequence[_Asked],
    order: Sequence[int] | None,
    ledger: Ledger | None,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> list[list[Result]]:
    """Results of every release, protected one after the other or all at once."""
    if order is None:
        found = _protected(asked, keys, progress, ledger)
        ends = np.cumsum([len(one.tables) for one in asked]).tolist()
        starts = [0, *ends[:-1]]
        return [found[start:end] for start, end in zip(starts, ends, strict=True)]
    known: list[Earlier] = []
    results: dict[int, list[Result]] = {}
    for i in order:
        results[i] = _protected([asked[i]], keys, progress, ledger, known)
        known += [result.remembered(asked[i].release.name) for result in results[i]]
    return [results[i] for i in range(len(asked))]


def _loss(asked: _Asked, results: Sequence[Result]) -> float:
    """What the secondaries of a release cost."""
    return sum(
        float(cost_of(result.table, job.cost)[(result.status == "secondary").ravel()].sum())
        for (_, job), result in zip(asked.jobs, results, strict=True)
    )


# ── protecting and writing ──────────────────────────────────────────────────────────


def _protected(
    asked: Sequence[_Asked],
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
    ledger: Ledger | None,
    known: Sequence[Earlier] = (),
    planned: Sequence[NDArray[np.bool_]] | None = None,
) -> list[Result]:
    """The tables of some releases, protected beside what is published before them."""
    beside: KnownBefore | None = _AndPlanned(ledger, known) if ledger is not None or known else None
    names = None
    if len(asked) > 1:  # two releases may have tables of the same name
        names = [f"{one.release.name}/{table.name}" for one in asked for _, table in one.jobs]
    return protected(
        [job for one in asked for job in one.jobs],
        [table for one in asked for table in one.tables],
        keys,
        progress,
        planned=planned,
        ledger=beside,
        names=names,
    )


def _written(
    release: PlannedRelease,
    results: Sequence[Result],
    folder: Path,
    ledger: Ledger | None,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> Path:
    write_job(release.job, results, folder, keys, progress, ledger=ledger, name=release.name)
    return folder
