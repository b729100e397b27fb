"""The programme file of the office: which job files are released, in which order and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from os import PathLike
from pathlib import Path

from diskret.jobs.read import read_job
from diskret.jobs.schema import Section, open_job
from diskret.jobs.values import FILE_STEM, Job


@dataclass(frozen=True)
class PlannedRelease:
    """One release of a programme: the tables of a job file, and when they are due.

    `due` is None for a release without a date: it is due at once.
    """

    name: str
    job: Job
    due: date | None = None


@dataclass(frozen=True)
class Programme:
    """A programme file as it was understood; every path is seen from the current folder.

    `ledger` is the address of the ledger that releases are published through, or None.
    """

    path: Path
    folder: Path
    releases: tuple[PlannedRelease, ...]
    ledger: str | None = None


def is_programme(path: str | PathLike[str]) -> bool:
    """Whether a file lists releases, so that it is a programme and no job."""
    return "releases" in open_job(Path(path))


def read_programme(path: str | PathLike[str]) -> Programme:
    """Read and check a programme file, and the job files that it names.

    path: a TOML file with a section ``[[releases]]`` for each release, in the order of publication.
    """
    file = open_job(Path(path))
    file.check(required=("releases",), optional=("folder", "ledger"))
    sections = file.sections("releases")
    if not sections:
        raise file.error("there must be at least one [[releases]]", "releases")
    ledger = file.text("ledger", None)
    releases = tuple(_release(section, ledger) for section in sections)
    _check_distinct(sections, releases)
    _check_dates(sections, releases)
    _check_alike(sections, releases)
    return Programme(
        path=file.file,
        folder=file.file.parent / file.text("folder", "out"),
        releases=releases,
        ledger=_address(file, ledger),
    )


def _release(section: Section, ledger: str | None) -> PlannedRelease:
    section.check(required=("name", "job"), optional=("due",))
    name = section.text("name", "")
    if not FILE_STEM.fullmatch(name):
        raise section.error(
            f"'{name}' cannot be the name of a folder; use letters, digits, blanks and . _ -",
            "name",
        )
    due = section.values.get("due")
    if due is not None and (not isinstance(due, date) or isinstance(due, datetime)):
        raise section.unfit("due", "a date such as 2026-03-31, without quotes")
    if due is not None and ledger is None:
        raise section.error(
            "'due' needs a 'ledger' in the programme: what was published by then has to be "
            "remembered until the next release is due",
            "due",
        )
    return PlannedRelease(name, read_job(section.existing_file("job")), due)


def _address(file: Section, ledger: str | None) -> str | None:
    """The ledger as seen from the current folder; the address of a database as it is."""
    return ledger if ledger is None or "://" in ledger else str(file.file.parent / ledger)


def _check_distinct(sections: Sequence[Section], releases: Sequence[PlannedRelease]) -> None:
    seen: set[str] = set()
    for section, release in zip(sections, releases, strict=True):
        if release.name.casefold() in seen:
            raise section.error(f"two releases are called '{release.name}'", "name")
        seen.add(release.name.casefold())


def _check_dates(sections: Sequence[Section], releases: Sequence[PlannedRelease]) -> None:
    """Releases stand in the order of publication; one without a date is due at once."""
    before: date | None = None
    for section, release in zip(sections, releases, strict=True):
        if before is not None and (release.due is None or release.due < before):
            raise section.error(
                f"'{release.name}' is due before the release above it; list releases in the "
                "order in which they are published",
                "due" if release.due is not None else "name",
            )
        before = release.due


def _attacker(job: Job) -> tuple[object, ...]:
    return job.attacker, job.contributor, job.coalition


def _check_alike(sections: Sequence[Section], releases: Sequence[PlannedRelease]) -> None:
    """All jobs have to be protected in one call."""
    first = releases[0].job
    for section, release in zip(sections, releases, strict=True):
        job = release.job
        if job.output.ledger is not None or job.previous_within is not None:
            key = "previous_within" if job.output.ledger is None else "ledger"
            raise section.error(
                f"the job of '{release.name}' has '{key}', which cannot be used in a programme"
                + ("; name the ledger in the programme instead" if key == "ledger" else ""),
                "job",
            )
        if any(table.noise is not None for table in job.tables):
            raise section.error(
                f"the job of '{release.name}' changes values ('noise'), and a programme plans what "
                "is suppressed; publish these tables by a job of their own",
                "job",
            )
        what = next(
            (
                said
                for said, differs in {
                    "[attacker]": _attacker(job) != _attacker(first),
                    "'keyed_ties'": job.keyed_ties != first.keyed_ties,
                    "'method', 'time_limit' or 'budget'": len(
                        {table.search for table in (*job.tables, *first.tables)}
                    )
                    > 1,
                }.items()
                if differs
            ),
            None,
        )
        if what is not None:
            raise section.error(
                f"the jobs of '{releases[0].name}' and '{release.name}' differ in {what}; what is "
                "protected together needs the same",
                "job",
            )
