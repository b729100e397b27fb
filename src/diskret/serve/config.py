"""``CONFIG.toml`` of a tabulation service: where it listens, and the data sets, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diskret.cellkey import PerturbationTable
from diskret.errors import InputError
from diskret.jobs.noise import DESIGN, designed_of
from diskret.jobs.read import read_hierarchy, read_records
from diskret.jobs.rules import read_rules
from diskret.jobs.schema import Section, open_job
from diskret.jobs.values import DatabaseRecords
from diskret.rules import BY_NAME
from diskret.serve.data import DataSet
from diskret.serve.measures import Measure
from diskret.serve.suppression import Suppression
from diskret.serve.variables import Variable

_DATA = (
    "label",
    "method",
    "impossible",
    "most_variables",
    "most_cells",
    "questions_each",
    "measures",
)
#: Keys of a data set by how it is protected.
_NEEDED = {"noise": ("record_key", "noise"), "suppression": ("rules", "vintage")}
_OPTIONAL = {
    "noise": ("key_modulus", "small", "share", "presence"),
    "suppression": ("unit", "holding", "sums"),
}
#: Addresses that only programs on the same machine reach.
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Limits:
    """What one user may ask of the machine.

    body: bytes of a question. seconds: the longest computation, and the longest wait for what a
    user sends or takes. computed: tables that are computed at the same time. waiting: questions
    that wait at the same time; more are turned away. each_second, at_once: how many questions a
    user may put, on average and in a row.
    """

    body: int = 65_536
    seconds: int = 30
    computed: int = 2
    waiting: int = 5_000
    each_second: int = 50
    at_once: int = 500


@dataclass(frozen=True)
class Service:
    """A whole configuration. Confidential.

    certificate, private_key: files of the service's own encryption; None: it speaks in the clear,
    to this machine or to a proxy that encrypts. proxies: addresses whose word on who asks is taken.
    users: their file; None: they are in the database of the ledger.
    ledger: what was answered stands in it. remote: whether remote access and the checker's desk,
    which are in the same ledger, are offered too. releases: folder of the tables with hidden cells.
    archive: folder of entries that were moved out of the journal.
    """

    title: str
    users: Path | None
    ledger: str
    data: tuple[DataSet, ...]
    host: str = "127.0.0.1"
    port: int = 8765
    certificate: Path | None = None
    private_key: Path | None = None
    proxies: tuple[str, ...] = ()
    remote: bool = False
    limits: Limits = Limits()
    releases: Path = Path("releases")
    archive: Path = Path("archive")


def read_config(path: Path) -> Service:
    """The service of a file; records themselves are not read.

    Raises
    ------
    JobError
        A key is unknown or missing, or a value is not admissible; says in which line.
    """
    whole = open_job(path)
    whole.check(required=("service", "data"))
    service = _service(whole.section("service"))
    data = [_data(section) for section in whole.sections("data")]
    names = [one.name for one in data]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise whole.error(f"the name '{name}' is there twice", "data", position, "name")
    return replace(service, data=tuple(data))


def _service(section: Section) -> Service:
    section.check(
        required=("title", "users", "ledger"),
        optional=(
            "host",
            "port",
            "certificate",
            "private_key",
            "proxies",
            "remote",
            "limits",
            "releases",
            "archive",
        ),  # fmt: skip
    )
    host, proxies = section.text("host", "127.0.0.1"), section.texts("proxies")
    files = {
        key: section.existing_file(key) if key in section else None
        for key in ("certificate", "private_key")
    }
    if (files["certificate"] is None) != (files["private_key"] is None):
        raise section.error(
            "'certificate' and 'private_key' are given together or not at all",
            "certificate" if "certificate" in section else "private_key",
        )
    if host not in LOOPBACK and files["certificate"] is None and not proxies:
        raise section.error(
            f"{host} is reached from other machines, and tokens must not travel in the clear: name "
            "a 'certificate' and its 'private_key', or the 'proxies' that encrypt",
            "host",
        )
    ledger, users = section.text("ledger", ""), section.text("users", "")
    return Service(
        section.text("title", ""),
        None if users == ledger else section.file.parent / users,
        ledger if "://" in ledger else str(section.file.parent / ledger),
        (),
        host,
        section.whole("port", 8765, 0, 65_535),
        files["certificate"],
        files["private_key"],
        proxies,
        section.flag("remote", False),
        _limits(section.section("limits")),
        section.file.parent / section.text("releases", "releases"),
        section.file.parent / section.text("archive", "archive"),
    )


def _limits(section: Section) -> Limits:
    usual = Limits()
    section.check(optional=tuple(vars(usual)))
    return Limits(
        section.whole("body", usual.body, 1_000, 10_000_000),
        section.whole("seconds", usual.seconds, 1, 3_600),
        section.whole("computed", usual.computed, 1, 256),
        section.whole("waiting", usual.waiting, 1, 1_000_000),
        section.whole("each_second", usual.each_second, 1, 100_000),
        section.whole("at_once", usual.at_once, 1, 1_000_000),
    )


def _data(section: Section) -> DataSet:
    if "questions" not in section:
        raise section.error(
            "say by 'questions' how many tables may count the same record, all users together. No "
            "number is safe for all data: after 10 tables no attacker that was tried named more "
            "than 1 in 20 counts of 1 and 2, after 30 a third of them, after 100 most. How to "
            "choose stands in the documentation, under tables in real time"
        )
    method = section.choice("method", "noise", tuple(_NEEDED))
    if method == "suppression" and "vintage" not in section:
        raise section.error(
            "say by 'vintage' of which records and period the tables are: the same as in the "
            "office's own releases of these records, and another one than for all others. For a "
            "service that went on without it until now it is the name of the data set"
        )
    section.check(
        required=("name", "records", "variables", "questions", *_NEEDED[method]),
        optional=(*_DATA, *_OPTIONAL[method]),
    )
    records = read_records(section.section("records"))
    engine = "duckdb" if isinstance(records, DatabaseRecords) else records.engine
    each = section.whole("questions_each", None, 1)
    given: dict[str, Any] = {
        key: section.whole(key, 0, low)
        for key, low in (
            ("key_modulus", 2),
            ("most_variables", 1),
            ("most_cells", 1),
            ("small", 0),
        )
        if key in section
    }
    if "share" in section:
        given["share"] = _share(section)
    variables = _variables(section.section("variables"))
    hides = method == "suppression"
    noise = None if hides else _noise(section.section("noise"))
    measures = _measures(section.section("measures"), () if hides else ("noise", "nonnegative"))
    suppression = _suppression(section, measures) if hides else None
    try:
        return DataSet(
            section.text("name", ""),
            records.table if isinstance(records, DatabaseRecords) else records.file,
            section.text("record_key", ""),
            variables,
            noise,
            section.whole("questions", 0, 1),
            impossible=tuple(_impossible(one) for one in section.sections("impossible")),
            questions_each=each,
            label=section.text("label", ""),
            engine=engine,
            measures=measures,
            suppression=suppression,
            presence=section.choice("presence", "confidential", ("confidential", "public")),  # pyright: ignore[reportArgumentType]
            **given,
        )
    except InputError as error:
        raise section.error(str(error), "name") from error


def _share(section: Section) -> float:
    value = section.values["share"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise section.unfit("share", "a number from 0 to 1")
    return float(value)


def _noise(section: Section) -> PerturbationTable:
    section.check(required=("max_noise", "variance"), optional=DESIGN)
    given = designed_of(section)
    try:
        return PerturbationTable.maximum_entropy(**given)
    except InputError as error:
        raise section.error(str(error)) from error


def _variables(section: Section) -> tuple[Variable, ...]:
    found: list[Variable] = []
    for name in section.values:
        own = section.section(name)
        if "hierarchy" in own:
            found.append(_tree(name, own))
            continue
        own.check(required=("codes",), optional=("label",))
        labels: Mapping[str, str] = {}
        if isinstance(own.values["codes"], dict):
            listed = own.section("codes")
            labels = {code: listed.text(code, "") for code in listed.values}
            codes = tuple(labels)
        else:
            codes = own.texts("codes")
        try:
            found.append(Variable(name, codes, labels, own.text("label", "")))
        except InputError as error:
            raise own.error(str(error), "codes") from error
    return tuple(found)


def _tree(name: str, own: Section) -> Variable:
    """A variable with coarser codes, which records do not have."""
    own.check(required=("hierarchy",), optional=("label",))
    try:
        tree = read_hierarchy(own.section("hierarchy")).read()
        return Variable(name, label=own.text("label", ""), tree=tree)
    except InputError as error:
        raise own.error(str(error), "hierarchy") from error


def _suppression(section: Section, measures: Sequence[Measure]) -> Suppression:
    """Rules for counts are those that need no contributions; sums are judged by all."""
    rules = section.section("rules")
    of_counts = {
        name: value
        for name, value in rules.values.items()
        if name not in BY_NAME or not BY_NAME[name].of_sums
    }
    if not of_counts:
        raise section.error("counts need a rule too, e.g. minimum_frequency = { n = 3 }", "rules")
    if len(of_counts) < len(rules.values) and not measures:
        raise section.error("there are rules on contributions, and no 'measures' of sums", "rules")
    names = tuple(section.section("variables").values)
    by = {**section.values, "by": dict.fromkeys(names)}
    table = replace(section, values=by)
    valued = replace(section, values={**by, "value": [one.name for one in measures]})
    try:
        return Suppression(
            read_rules(replace(rules, values=of_counts), table, names),
            section.text("vintage", ""),
            read_rules(rules, valued, names) if measures else None,
            section.text("unit", None),
            section.text("holding", None),
            section.texts("sums"),
        )
    except InputError as error:
        raise section.error(str(error), "sums") from error


def _measures(section: Section, of_noise: Sequence[str]) -> tuple[Measure, ...]:
    """Columns of numbers, by the names that they are asked for by."""
    found: list[Measure] = []
    for name in section.values:
        own = section.section(name)
        own.check(optional=("column", *of_noise, "decimals", "unit", "label"))
        share = own.values.get("noise", Measure.noise)
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise own.unfit("noise", "a number above 0")
        try:
            measure = Measure(
                name,
                own.text("column", ""),
                float(share),
                own.whole("decimals", 0, 0, 6),
                own.flag("nonnegative", True),
                own.text("unit", ""),
                own.text("label", ""),
            )
        except InputError as error:
            raise own.error(str(error), "noise") from error
        found.append(measure)
    return tuple(found)


def _impossible(section: Section) -> dict[str, tuple[str, ...]]:
    return {name: section.texts(name) for name in section.values}
