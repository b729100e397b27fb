"""The job file of ``diskret anonymize``: read, checked line by line, and carried out."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.anonymize.data import Microdata
from diskret.anonymize.history import carry_out
from diskret.anonymize.result import MicrodataResult
from diskret.anonymize.verb import VERBS, Step
from diskret.attack.microdata import claims as claims_module
from diskret.attack.microdata.claims import Claim
from diskret.errors import DiskretError, InputError
from diskret.io import DataFile
from diskret.io.record_errors import RecordError
from diskret.jobs.files import FILE_KEYS, read_file
from diskret.jobs.schema import Section, open_job
from diskret.keys import SecretKeys
from diskret.parameters import REQUIRED, Parameter, parameters
from diskret.progress import Progress, silent
from diskret.texts import LANGUAGES

_ROLES = ("keys", "numeric", "sensitive", "strata", "identifiers")
_ONE = ("weight", "household", "id")
_FORMATS = ("csv", "parquet", "dta", "sav", "xpt", "html", "script")
_DEFAULT = ("csv", "html")
#: Keys of [release] beside the arguments of `Microdata.release`.
_WRITTEN = ("claims", "folder", "formats", "language", "title", "neutralise")
#: Arguments of steps with such an ending name a file.
_FILES = (".hrc", ".csv", ".parquet")


@dataclass(frozen=True)
class MicrodataJob:
    """A job file as it was understood; every path is seen from the current folder.

    Parameters
    ----------
    path, records
        The job file, and the file of records.
    roles
        Arguments of [`Microdata`][diskret.Microdata] beside the records.
    steps
        What to do.
    claims
        What must hold.
    release
        Further arguments of `Microdata.release`.
    folder, formats, language, title
        Arguments of `MicrodataResult.write`.
    said
        The whole job file, for lines in messages.
    """

    path: Path
    records: DataFile
    roles: Mapping[str, Any]
    steps: tuple[Step, ...]
    claims: tuple[Claim, ...]
    release: Mapping[str, Any] = field(default_factory=dict[str, Any])
    folder: Path = Path("out")
    formats: tuple[str, ...] = _DEFAULT
    language: str = "en"
    title: str | None = None
    neutralise: bool = False
    said: Section | None = None


def read_microdata_job(path: str | PathLike[str]) -> MicrodataJob:
    """Read and check a job file.

    Raises
    ------
    JobError
        The file cannot be read or is not TOML; a key is unknown or missing; a value is not
        admissible; the file of records does not exist. The message names the line, the key and
        what is admissible.
    """
    job = open_job(Path(path))
    anew = "safe" in job
    required = ("records", "release") if anew else ("records", "roles", "release")
    job.check(required=required, optional=("roles", "steps", "safe"))
    steps = tuple(_step(section) for section in job.sections("steps"))
    if anew:
        steps = (*steps, _safe(job.section("safe")))
    records = job.section("records")
    records.check(required=("path",), optional=FILE_KEYS)
    release = job.section("release")
    declared = _of_release()
    release.check(optional=(*_WRITTEN, *declared))
    if "claims" not in release and "level" not in release and not anew:
        raise release.error(
            "[release] must say what has to hold: [release.claims], e.g. k_anonymity = { k = 3 }, "
            'or level = "formal", "factual" or "absolute"'
        )
    return MicrodataJob(
        path=job.file,
        records=read_file(records, "path"),
        roles=_roles(job.section("roles")),
        steps=steps,
        claims=_claims(release.section("claims")) or _anew(steps),
        release={
            key: release.value(key, declared[key]) for key in release.values if key in declared
        },
        folder=job.file.parent / release.text("folder", "out"),
        formats=release.choices("formats", _DEFAULT, _FORMATS),
        language=release.choice("language", "en", LANGUAGES),
        title=release.text("title", None),
        neutralise=release.flag("neutralise", False),
        said=job,
    )


def run_microdata_job(
    job: MicrodataJob,
    folder: str | PathLike[str] | None = None,
    *,
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> tuple[Path, MicrodataResult]:
    """Read the records, carry out the steps, prove the claims, write.

    Parameters
    ----------
    job
        The job.
    folder
        Where to write instead of the folder of the job.
    keys
        The office's keys; see `SecretKeys`.
    progress
        Called with ``("steps", done, total)``.

    Returns
    -------
    tuple of Path and MicrodataResult
        The folder, and what was written into it.

    Raises
    ------
    InputError
        The records do not fit the job; the message names the step.
    ProofError
        A claim does not hold; nothing was written.
    """
    with _told_for(job):
        md = carry_out(Microdata(job.records, **job.roles), job.steps, progress)
        result = md.release(job.claims, keys=keys, **job.release)
    written = result.write(
        folder or job.folder,
        formats=job.formats,
        language=job.language,
        title=job.title,
        keys=keys,
        neutralise=job.neutralise,
    )
    return written, result


def claim_names() -> dict[str, Any]:
    """How job files call the claims: ``k_anonymity`` is `claims.KAnonymity`.

    >>> claim_names()["k_anonymity"].__name__
    'KAnonymity'
    """
    named = {name: getattr(claims_module, name) for name in claims_module.__all__}
    return {
        re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): claim
        for name, claim in named.items()
        if isinstance(claim, type) and hasattr(claim, "__dataclass_fields__")
    }


@contextmanager
def _told_for(job: MicrodataJob) -> Generator[None]:
    """Say in which line of the job a column is named that is missing."""
    try:
        yield
    except RecordError as error:
        if error.missing is None or job.said is None:
            raise
        line = job.said.line_of(error.missing)
        raise InputError(f"{job.path.name}, line {line}: {error}") from error


# ── the sections, in the order of the file ──────────────────────────────────────────


def _roles(section: Section) -> dict[str, Any]:
    section.check(optional=(*_ROLES, *_ONE, "followers", "orders"))
    named: dict[str, Any] = {role: section.texts(role) for role in _ROLES if role in section}
    named |= {role: section.text(role, None) for role in _ONE if role in section}
    if "followers" in section:
        followers = section.section("followers")
        named["followers"] = {key: followers.texts(key) for key in followers.values}
    if "orders" in section:
        orders = section.section("orders")
        named["orders"] = {name: orders.texts(name) for name in orders.values}
    return named


def _step(section: Section) -> Step:
    if "do" not in section:
        raise section.error(f"the key 'do' is missing in {section.name}: what to do")
    verb = section.choice("do", "", tuple(VERBS))
    return Step(verb, _arguments(section, verb))


def _safe(section: Section) -> Step:
    """The step that replaces the records; its checkpoint lies beside the job file."""
    arguments = _arguments(section, "safe")
    if "checkpoint" in arguments:
        arguments["checkpoint"] = str(section.file.parent / section.text("checkpoint", ""))
    return Step("safe", arguments)


def _anew(steps: Sequence[Step]) -> tuple[Claim, ...]:
    """What is claimed of a file of replaced records if nothing is said: what SAFE promises."""
    made = [step for step in steps if step.verb == "safe"]
    return tuple(
        claim_names()["safe"](minimum=step.arguments.get("minimum", 3)) for step in made[:1]
    )


def _arguments(section: Section, verb: str) -> dict[str, Any]:
    """The other keys of a step, checked by what its method takes."""
    _, *declared = parameters(getattr(Microdata, verb)).values()
    admissible = {one.name: one for one in declared if one.name != "progress"}
    arguments = [key for key in section.values if key != "do"]
    for name in arguments:
        if name not in admissible:
            near = get_close_matches(name, admissible, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            raise section.error(
                f"'{verb}' knows no '{name}'{hint} Admissible: {', '.join(admissible)}", name
            )
    for name, parameter in admissible.items():
        if parameter.default is REQUIRED and name not in arguments:
            raise section.error(f"'{verb}' needs the key '{name}'")
    return {name: _seen_from(section, section.value(name, admissible[name])) for name in arguments}


def _seen_from(section: Section, value: Any) -> Any:
    """Files that an argument names, seen from the current folder."""
    if isinstance(value, str) and value.lower().endswith(_FILES):
        return str(section.file.parent / value)
    if isinstance(value, dict):
        return {key: _seen_from(section, part) for key, part in value.items()}
    return value


def _claims(section: Section) -> tuple[Claim, ...]:
    known = claim_names()
    made: list[Claim] = []
    for name in section.values:
        if name not in known:
            raise section.unknown("no such claim:", name, tuple(known), name)
        claim = section.section(name)
        given = claim.read(known[name])
        try:
            made.append(
                known[name](**{key: _seen_from(claim, part) for key, part in given.items()})
            )
        except (DiskretError, TypeError) as error:
            raise section.error(f"'{name}': {error}", name) from error
    return tuple(made)


def _of_release() -> dict[str, Parameter]:
    """The arguments of `Microdata.release` that a file gives."""
    _, _, *others = parameters(Microdata.release).values()
    return {one.name: one for one in others if one.name != "keys"}
