"""``CONFIG.toml`` of an owner: read line by line, files and certificates checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from diskret.errors import DiskretError
from diskret.io.from_json import read_json
from diskret.jobs.schema import Section, open_job
from diskret.keys import SecretKeys
from diskret.outputs.profile import Profile
from diskret.publish.digests import CERTIFICATE, digest
from diskret.publish.read import public_folder
from diskret.publish.verify.folder import verify
from diskret.remote.records import mark_of, read_records
from diskret.remote.registered import LEVELS, Access, DataSet, Version

_DATA = (
    "numbers",
    "unit",
    "profile",
    "blocks",
    "script_blocks",
    "pause",
    "certainty",
    "dictionary",
    "limits",
)
_PROJECT = ("certainty", "answers", "submissions", "runs")
#: Fewer blocks answer nothing; more are smaller than what can be computed of them.
_FEWEST, _MOST = 10, 1000


def read_config(path: Path, keys: SecretKeys) -> tuple[list[DataSet], list[Access]]:
    """The data sets and projects of a file; each file that it names is read and checked.

    Raises
    ------
    JobError
        A key is unknown or missing, a value is not admissible, a version has no valid certificate
        or other columns than the original; says in which line.
    """
    whole = open_job(path)
    whole.check(optional=("data", "projects"))
    data = [_data(section, keys) for section in whole.sections("data")]
    projects = [_project(section) for section in whole.sections("projects")]
    for key, names in (
        ("data", [one.name for one in data]),
        ("projects", [p.name for p in projects]),
    ):
        for position, name in enumerate(names):
            if name in names[:position]:
                raise whole.error(f"the name '{name}' is there twice", key, position, "name")
    return data, projects


def _data(section: Section, keys: SecretKeys) -> DataSet:
    section.check(required=("name", "original", "versions"), optional=_DATA)
    original = section.existing_file("original").resolve()
    numbers = section.texts("numbers")
    columns = _columns(section, "original", original, numbers)
    unit = section.text("unit", "")
    for key, names in (("numbers", numbers), ("unit", (unit,) if unit else ())):
        for name in names:
            if name not in columns:
                raise section.unknown(f"'{key}' must not be", name, columns, key)
    if unit in numbers:
        raise section.error("'unit' must not be one of 'numbers'", "unit")
    versions = tuple(_version(one, columns, numbers, keys) for one in section.sections("versions"))
    if len({one.level for one in versions}) < len(versions) or not versions:
        raise section.error("'versions' must be one for each level, and at least one", "versions")
    profile = section.text("profile", "guidelines")
    limits = section.section("limits")
    memory, processes = _of_scripts(limits)
    try:
        rules = Profile.read(profile if "." not in profile else section.existing_file("profile"))
    except DiskretError as error:
        raise section.error(f"'profile': {error}", "profile") from error
    return DataSet(
        _name(section),
        str(original),
        mark_of(original, keys),
        numbers,
        unit,
        rules,
        section.whole("blocks", 100, _FEWEST, _MOST),
        section.whole("script_blocks", 40, _FEWEST, _MOST),
        _number(section, "pause", 1.0, 0, 3600),
        _number(section, "certainty", 0.9, 0.51, 0.99),
        memory,
        processes,
        versions,
        _dictionary(section.section("dictionary"), columns),
        limits.whole("seconds", DataSet.seconds, 1, 86_400),
    )


def _of_scripts(limits: Section) -> tuple[int, int]:
    """Megabytes of each process of a script, and how many: together, no more than there are."""
    limits.check(optional=("memory", "processes", "seconds"))
    processes = limits.whole("processes", 8, 8, 10_000)
    there = _megabytes()
    memory = limits.whole("memory", min(4000, there // processes), 100, 1_000_000)
    if memory * processes > there:
        raise limits.error(
            f"{processes:,} processes of {memory:,} megabytes each are more than the {there:,} "
            "megabytes that this machine has; make 'memory' or 'processes' smaller",
            "memory" if "memory" in limits.values else "processes",
        )
    return memory, processes


def _megabytes() -> int:
    """Of memory on this machine; where that is not known there is no sandbox either."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 16_000
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000


def _version(
    section: Section, columns: tuple[str, ...], numbers: tuple[str, ...], keys: SecretKeys
) -> Version:
    section.check(required=("level", "folder"))
    level: Any = section.choice("level", "", LEVELS)
    folder = section.existing_file("folder", or_folder=True)
    try:
        verify(folder, keys=keys)
    except DiskretError as error:
        raise section.error(f"'folder': {error}", "folder") from error
    public = public_folder(folder)
    certificates = sorted(public.glob(f"*{CERTIFICATE}"))
    content = read_json(certificates[0])
    file = public / f"{content['name']}.csv"
    if len(certificates) > 1 or content.get("family") != "microdata" or not file.is_file():
        raise section.error(
            f"'folder': {folder} must hold one file of records, as CSV, with its certificate, as "
            'md.release(claim=...).write(folder, formats=["csv"]) writes it',
            "folder",
        )
    own = _columns(section, "folder", file, numbers)
    for name in own:
        if name not in columns:
            raise section.error(f"'folder': the original has no column '{name}'", "folder")
    claims = tuple(content["claimed"]["en"])
    return Version(level, str(file.resolve()), digest(file), content["name"], claims)


def _columns(section: Section, key: str, file: Path, numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a file, whose numbers must be numbers."""
    try:
        return tuple(read_records(file, numbers).columns)
    except DiskretError as error:
        raise section.error(f"'{key}': {error}", key) from error


def _dictionary(section: Section, columns: tuple[str, ...]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name in section.values:
        if name not in columns:
            raise section.unknown("there is no column", name, columns, name)
        own = section.section(name)
        own.check(required=("label",), optional=("codes",))
        codes = own.section("codes")
        found[name] = {
            "label": own.text("label", ""),
            "codes": {code: codes.text(code, "") for code in codes.values},
        }
    return found


def _project(section: Section) -> Access:
    section.check(
        required=("name", "purpose", "data", "members", "level", "from", "until"),
        optional=_PROJECT,
    )
    start, until = _day(section, "from"), _day(section, "until")
    if until < start:
        raise section.error("'until' must not lie before 'from'", "until")
    level: Any = section.choice("level", "", LEVELS)
    return Access(
        _name(section),
        section.text("purpose", ""),
        section.texts("data"),
        section.texts("members"),
        level,
        start,
        until,
        _number(section, "certainty", 0.7, 0.51, 0.99),
        section.whole("answers", 200, 1, 100_000),
        section.whole("submissions", 20, 0, 100_000),
        section.whole("runs", 1000, 1, 1_000_000),
    )


def _name(section: Section) -> str:
    """A name; that of a project at the desk joins two of them by a slash."""
    name = section.text("name", "")
    if "/" in name:
        raise section.error("'name' must not hold a slash", "name")
    return name


def _day(section: Section, key: str) -> str:
    value = section.values[key]
    if type(value) is not date:
        raise section.unfit(key, "a day without quotes, such as 2026-12-31")
    return value.isoformat()


def _number(section: Section, key: str, default: float, low: float, high: float) -> float:
    value = section.values.get(key, default)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits or not low <= value <= high:
        raise section.unfit(key, f"a number from {low:g} to {high:g}")
    return float(value)
