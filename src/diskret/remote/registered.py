"""What an owner registers: data sets with their anonymised versions, and projects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from diskret.anonymize.levels import Level
from diskret.outputs.profile import Profile
from diskret.remote.votes import strength_of

#: How well a version is anonymised: formally on site, factually off site, absolutely for everybody.
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Version:
    """An anonymised version of a data set.

    Parameters
    ----------
    level
        How well it is anonymised.
    file
        Its records.
    digest
        SHA-256 of the file, when its certificate was checked.
    name, claims
        What its certificate calls it, and says of it.
    """

    level: Level
    file: str
    digest: str
    name: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class DataSet:
    """A data set. Confidential.

    Parameters
    ----------
    name
        What it is called.
    original
        The file that nobody sees.
    mark
        Keyed fingerprint of that file.
    numbers
        Columns of numbers; all others hold text.
    unit
        Column that says whom a record belongs to; "": each is one.
    profile
        The rules that results are judged by.
    blocks, script_blocks
        How many blocks answer a question about a query, or about a script.
    pause
        Seconds: an answer comes at a multiple of them.
    certainty
        How certain somebody may be after the answers of all projects, see `budget`.
    memory, processes, seconds
        What a run of a script may use, see `Limits`.
    versions
        The anonymised versions, at most one a level.
    dictionary
        Column → what it means, and the codes and what they mean.
    """

    name: str
    original: str
    mark: str
    numbers: tuple[str, ...]
    unit: str
    profile: Profile
    blocks: int
    script_blocks: int
    pause: float
    certainty: float
    memory: int
    processes: int
    versions: tuple[Version, ...]
    dictionary: Mapping[str, Any] = field(default_factory=dict)
    seconds: int = 60

    def version_for(self, level: Level) -> Version | None:
        """The version with most detail that this accreditation may use."""
        allowed = LEVELS[LEVELS.index(level) :]
        own = sorted(self.versions, key=lambda one: LEVELS.index(one.level))
        return next((one for one in own if one.level in allowed), None)

    @property
    def text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


def data_of(said: dict[str, Any]) -> DataSet:
    """A data set as it was kept."""
    made: dict[str, Any] = dict(said)
    made["versions"] = tuple(map(_version, said["versions"]))
    made["profile"] = Profile(**said["profile"])
    made["numbers"] = tuple(said["numbers"])
    return DataSet(**made)


def _version(said: dict[str, Any]) -> Version:
    claims = tuple(said.pop("claims"))
    return Version(**said, claims=claims)


@dataclass(frozen=True)
class Access:
    """A project that has access to data sets.

    Parameters
    ----------
    name, purpose
        What it is called, and what for.
    data
        Names of its data sets.
    members
        Who may ask.
    level
        Their accreditation.
    start, until
        First and last day, ISO 8601.
    certainty, answers
        How certain somebody may be after so many answers, see `budget`.
    submissions
        How many results may be put on the checker's desk.
    runs
        How often a day the anonymised version may be analysed.
    """

    name: str
    purpose: str
    data: tuple[str, ...]
    members: tuple[str, ...]
    level: Level
    start: str
    until: str
    certainty: float
    answers: int
    submissions: int
    runs: int = 1000

    @property
    def strength(self) -> float:
        """Of each answer."""
        return strength_of(self.certainty, self.answers)

    @property
    def text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


def access_of(said: dict[str, Any]) -> Access:
    """A project as it was kept."""
    made: dict[str, Any] = dict(said)
    made |= {key: tuple(said[key]) for key in ("data", "members")}
    return Access(**made)


def at_desk(project: str, data: str) -> str:
    """What a project is called at the checker's desk, where each has one data set."""
    return f"{project}/{data}"
