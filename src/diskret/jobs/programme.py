"""A programme of releases: planned together, published one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from math import fsum
from os import PathLike
from pathlib import Path

from diskret.errors import ProtectionError
from diskret.jobs.programme_file import PlannedRelease, ReleaseProgramme
from diskret.jobs.revision import check_edition
from diskret.jobs.run import protected, tables_of, write_job
from diskret.jobs.values import JobTable
from diskret.keys import SecretKeys
from diskret.ledger.ledger import Ledger
from diskret.progress import Progress, silent
from diskret.protect.linked import linked
from diskret.protect.plan import cost_of
from diskret.protect.result import Result
from diskret.tables import Earlier, MeasureSum, Published

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
    programme: ReleaseProgramme,
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
        _Open(release, tuple(tables_of(release.job, progress)))
        for release in programme.releases
        if release.name not in before
    ]
    for one in open_:
        if one.release.job.edition is not None:
            check_edition(one.release.job.edition, one.tables)
    losses, chosen, planned = _plan(open_, ledger, keys, progress)
    due_by = today or date.today()
    done: dict[str, Released] = {}
    known: list[Earlier] = []
    for one in planned:
        release = one.release
        results = _protected([one], keys, progress, ledger, known)
        written = None
        if release.due is None or release.due <= due_by:
            written = target / release.name
            name = release.name
            write_job(release.job, results, written, keys, progress, ledger=ledger, name=name)
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
class _Open:
    """A release that is not published yet, with its tables."""

    release: PlannedRelease
    tables: tuple[JobTable, ...]

    def hiding(self, results: Sequence[Result]) -> _Open:
        """The same, in which these cells are to be hidden."""
        each = zip(self.tables, results, strict=True)
        hidden = (replace(one, hidden=result.published.suppressed) for one, result in each)
        return replace(self, tables=tuple(hidden))


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


# ── which order loses least ─────────────────────────────────────────────────────────


def _plan(
    asked: Sequence[_Open],
    ledger: Ledger | None,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> tuple[dict[str, float | None], str, Sequence[_Open]]:
    """The loss in each order, the best order, and the releases with the cells that it hides."""
    losses: dict[str, float | None] = {}
    best: tuple[float, str, list[_Open]] | None = None
    refused: ProtectionError | None = None
    for name, order in _orders(asked).items():
        try:
            results = _in_order(asked, order, ledger, keys, progress)
        except ProtectionError as error:
            losses[name], refused = None, error
            continue
        loss = fsum(_loss(one, found) for one, found in zip(asked, results, strict=True))
        losses[name] = loss
        if best is None or loss < best[0]:
            hiding = [one.hiding(found) for one, found in zip(asked, results, strict=True)]
            best = loss, name, hiding
    if best is None:
        if refused is not None:
            raise refused
        return losses, TOGETHER, ()
    return losses, best[1], best[2]


def _orders(asked: Sequence[_Open]) -> dict[str, list[int] | None]:
    """Name of each order → numbers of the releases; None: all at once."""
    orders: dict[str, list[int] | None] = {TOGETHER: None} if asked else {}
    if not _tied(asked):
        return orders
    number = list(range(len(asked)))
    size = [sum(one.table.measure.sum.size for one in release.tables) for release in asked]
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


def _tied(asked: Sequence[_Open]) -> bool:
    """Whether tables of different releases say something of each other."""
    of_release = [i for i, one in enumerate(asked) for _ in one.tables]
    tables = [one.table for release in asked for one in release.tables]
    sums = {text for one in asked for text in one.release.job.sums}
    groups = linked(tables, [MeasureSum.read(text) for text in sorted(sums)])
    return any(len({of_release[i] for i in group}) > 1 for group in groups)


def _in_order(
    asked: Sequence[_Open],
    order: Sequence[int] | None,
    ledger: Ledger | None,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> list[list[Result]]:
    """Results of every release, protected one after the other or all at once."""
    if order is None:
        found = iter(_protected(asked, keys, progress, ledger))
        return [list(islice(found, len(one.tables))) for one in asked]
    known: list[Earlier] = []
    results: dict[int, list[Result]] = {}
    for i in order:
        results[i] = _protected([asked[i]], keys, progress, ledger, known)
        known += [result.remembered(asked[i].release.name) for result in results[i]]
    return [results[i] for i in range(len(asked))]


def _loss(asked: _Open, results: Sequence[Result]) -> float:
    """What the secondaries of a release cost."""
    return fsum(
        float(cost_of(result.table, one.wanted.cost)[(result.status == "secondary").ravel()].sum())
        for one, result in zip(asked.tables, results, strict=True)
    )


# ── protecting ──────────────────────────────────────────────────────────────────────


def _protected(
    asked: Sequence[_Open],
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
    ledger: Ledger | None,
    known: Sequence[Earlier] = (),
) -> list[Result]:
    """The tables of some releases, protected beside what is published before them."""
    tables = [one for release in asked for one in release.tables]
    if len(asked) > 1:  # two releases may have tables of the same name
        tables = [
            replace(one, name=f"{release.release.name}/{one.name}")
            for release in asked
            for one in release.tables
        ]
    before = _AndPlanned(ledger, known) if ledger is not None or known else None
    return protected(tables, keys, progress, ledger=before)
