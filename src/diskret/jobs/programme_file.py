"""A programme of releases, as its file says it: read and checked, with the jobs that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from os import PathLike
from pathlib import Path

from diskret.jobs.editions import of_programme, read_edition
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
class ReleaseProgramme:
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


def read_programme(path: str | PathLike[str]) -> ReleaseProgramme:
    """Read and check a programme file, and the job files that it names.

    path: a TOML file with a section ``[[releases]]`` for each release, in the order of publication.
    """
    file = open_job(Path(path))
    file.check(required=("releases",), optional=("folder", "ledger", "edition"))
    sections = file.sections("releases")
    if not sections:
        raise file.error("there must be at least one [[releases]]", "releases")
    ledger = file.text("ledger", None)
    releases: list[PlannedRelease] = []
    for section in sections:
        release = _release(section, ledger)
        _check_order(section, release, releases)
        _check_job(section, release)
        _check_alike(section, release, releases)
        releases.append(release)
    if "edition" in file:
        releases = _next(file, releases)
    return ReleaseProgramme(
        path=file.file,
        folder=file.file.parent / file.text("folder", "out"),
        releases=tuple(releases),
        # the ledger as seen from the current folder; the address of a database as it is
        ledger=ledger if ledger is None or "://" in ledger else str(file.file.parent / ledger),
    )


def _next(file: Section, releases: Sequence[PlannedRelease]) -> list[PlannedRelease]:
    """The releases of a programme that follows an earlier one."""
    edition = read_edition(file.section("edition"))
    if not any((edition.previous / release.name).is_dir() for release in releases):
        raise file.section("edition").error(
            f"'previous': {edition.previous} holds none of the releases "
            f"{', '.join(release.name for release in releases)}; name the folder of the last "
            "programme, in which each release has one of its name",
            "previous",
        )
    found = [replace(one, job=of_programme(file, edition, one.name, one.job)) for one in releases]
    for release in found:
        _check_no_revision(file.section("edition"), "revision", release)
    return found


def _check_no_revision(section: Section, key: str, release: PlannedRelease) -> None:
    if release.job.edition is not None and release.job.edition.revision:
        raise section.error(
            f"'{release.name}' is a revision, which is attacked together with the first delivery "
            "alone; deliver it by its job instead of a programme",
            key,
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


def _check_order(
    section: Section, release: PlannedRelease, before: Sequence[PlannedRelease]
) -> None:
    """Names are distinct; releases stand in the order of publication, one without a date is due."""
    if release.name.casefold() in [one.name.casefold() for one in before]:
        raise section.error(f"two releases are called '{release.name}'", "name")
    last = before[-1].due if before else None
    if last is not None and (release.due is None or release.due < last):
        raise section.error(
            f"'{release.name}' is due before the release above it; list releases in the "
            "order in which they are published",
            "due" if release.due is not None else "name",
        )


def _check_job(section: Section, release: PlannedRelease) -> None:
    """A job of a programme only suppresses, and leaves the ledger to the programme."""
    job = release.job
    _check_no_revision(section, "job", release)
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


def _check_alike(
    section: Section, release: PlannedRelease, before: Sequence[PlannedRelease]
) -> None:
    """All jobs have to be protected in one call."""
    first, job = (before[0] if before else release), release.job
    searches = {table.search for table in (*job.tables, *first.job.tables)}
    differs = {
        "[attacker]": _attacker(job) != _attacker(first.job),
        "'keyed_ties'": job.keyed_ties != first.job.keyed_ties,
        "'method', 'time_limit' or 'budget'": len(searches) > 1,
    }
    what = next((said for said, differ in differs.items() if differ), None)
    if what is not None:
        raise section.error(
            f"the jobs of '{first.name}' and '{release.name}' differ in {what}; what is "
            "protected together needs the same",
            "job",
        )


def _attacker(job: Job) -> tuple[object, ...]:
    return job.attacker, job.contributor, job.coalition
