"""Write releases of every kind with fixed keys: what a rebuild of the shell must leave as it is.

    python tests/snapshots/releases.py FOLDER [PART_OF_A_NAME ...]

writes one folder a case, with the files of the release and what the command line prints. Run it
with the old and with the new checkout in one environment, then compare:

    python tests/snapshots/compare.py OLD NEW
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import diskret as dk
from diskret.cli.main import main as command_line
from diskret.keys.secret import _HEADER

SECRET = bytes(range(32))
KEYS = dk.SecretKeys(SECRET)
OUTSIDER = dk.Attacker()
FORMATS = ("csv", "xlsx", "html", "parquet")
LANGUAGES = ("en", "de")
RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
FEW = dk.rules.MinimumFrequency(3)

REGISTER = dk.datasets.business_register(3_000, seed=1)
SURVEY = dk.datasets.survey(1_000, seed=1)
CENSUS = dk.datasets.census(1_500, seed=1)
BY = {"nace": REGISTER.nace, "size": None}

#: Name of a case → what it does in its folder.
CASES: dict[str, Callable[[Path], None]] = {}
Case = Callable[[Path], None]


def case(name: str) -> Callable[[Case], Case]:
    """Enter a case under its name."""

    def enter(function: Case) -> Case:
        CASES[name] = function
        return function

    return enter


def firms(**more: object) -> dk.Table:
    """Turnover by industry and size."""
    given = {"by": BY, "value": "turnover", "unit": "firm_id"} | more
    return dk.tabulate(REGISTER.records, **given)  # type: ignore[arg-type]


def release(result: object, folder: Path, **more: object) -> None:
    """Write in all formats and both languages."""
    results = result if isinstance(result, list) else [result]
    for language in LANGUAGES:
        out = folder / language
        dk.write(results, out, formats=FORMATS, language=language, keys=KEYS, **more)  # type: ignore[arg-type]
        printed(folder / f"verify.{language}.txt", "verify", str(out))


def printed(file: Path, *arguments: str) -> None:
    """Keep what the command line prints, and how it ends."""
    said = io.StringIO()
    before = sys.argv
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        sys.argv = ["diskret", *arguments]
        try:
            command_line()
            code: object = 0
        except SystemExit as end:
            code = end.code
        finally:
            sys.argv = before
    text = said.getvalue().replace(str(file.parent.resolve()), ".").replace(str(file.parent), ".")
    file.write_text(f"{text}exit {code}\n", encoding="utf-8")


# ── suppression ─────────────────────────────────────────────────────────────────────


@case("counts")
def _(folder: Path) -> None:
    release(dk.suppress(firms(value=None), FEW, attacker=OUTSIDER), folder)


@case("counts-units-by-hand")
def _(folder: Path) -> None:
    cells = pa.table({"region": ["N", "S", "W", "E"], "firms": [7, 2, 5, 0]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    release(dk.suppress(table, FEW, keys=KEYS), folder)


@case("sums-with-holdings")
def _(folder: Path) -> None:
    table = firms(holding="group_id", contributions=True)
    release(dk.suppress(table, RULE, attacker=dk.Attacker(contributor=True)), folder)


@case("sums-outsider-intervals")
def _(folder: Path) -> None:
    release(dk.suppress(firms(), RULE, attacker=OUTSIDER), folder, intervals=True)


@case("sums-filtered-recoded-rounded")
def _(folder: Path) -> None:
    table = firms(by={"nace": REGISTER.nace, "region": None}, where={"size": ["1-9", "10-49"]})
    release(dk.suppress(table.rounded(1000), RULE, attacker=OUTSIDER), folder)


@case("linked-with-derived")
def _(folder: Path) -> None:
    one = firms()
    two = dk.tabulate(
        REGISTER.records,
        by={"nace": REGISTER.nace, "region": REGISTER.region},
        value="turnover",
        unit="firm_id",
    )
    results = dk.suppress([one, two, one["count"]], [RULE, RULE, FEW], attacker=OUTSIDER)
    mean = dk.derive.mean(results[0], results[2], decimals=1)
    release(list(results), folder, derived=[mean])


@case("weights")
def _(folder: Path) -> None:
    table = dk.tabulate(
        SURVEY.records,
        by={"sex": None, "marital": None},
        value="income",
        weight="weight",
        weight_decimals=1,
    )
    release(dk.suppress(table, dk.rules.PPercent(10), attacker=OUTSIDER), folder)


@case("negatives")
def _(folder: Path) -> None:
    records = pa.table(
        {
            "region": ["N", "N", "N", "S", "S", "W", "W", "W", "W"],
            "size": ["a", "b", "b", "a", "b", "a", "a", "b", "b"],
            "profit": [5, -3, 9, 20, -14, 3, 8, 1, -7],
        }
    )
    table = dk.tabulate(records, by={"region": None, "size": None}, value="profit")
    release(dk.suppress(table, dk.rules.PPercent(10), attacker=OUTSIDER), folder)


@case("methods")
def _(folder: Path) -> None:
    small = firms(by={"size": None, "region": None})
    for method in ("sequential", "modular", "optimal", "hypercube"):
        result = dk.suppress(small, RULE, method=method, attacker=OUTSIDER)
        result.write(folder / method, formats=["csv"], keys=KEYS)


# ── changed values ──────────────────────────────────────────────────────────────────


def keyed(**more: object) -> dk.Table:
    records = dk.record_keys(REGISTER.records, id="firm_id", keys=KEYS)
    given = {"by": BY, "unit": "firm_id", "record_key": "record_key"} | more
    return dk.tabulate(records, **given)  # type: ignore[arg-type]


@case("cell-key-counts")
def _(folder: Path) -> None:
    ptable = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2, small_counts=1)
    result = dk.perturb(keyed(), ptable)
    release(result, folder)
    dk.make_additive(result).write(folder / "additive", formats=["csv"], keys=KEYS)


@case("cell-key-sums")
def _(folder: Path) -> None:
    noise = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=4, variance=2),
        scale=(0.25, 0.05),
        flex_point=1000,
        flex_power=3,
    )
    release(dk.perturb(keyed(value="turnover"), noise), folder)


@case("rounding")
def _(folder: Path) -> None:
    for method in ("deterministic", "random", "controlled", "small_counts"):
        result = dk.round_table(firms(value=None), base=3, method=method, keys=KEYS, name=method)
        (folder / method).mkdir()
        release(result, folder / method)


@case("adjustment")
def _(folder: Path) -> None:
    small = firms(by={"size": None, "region": None}, value=None)
    release(dk.adjust(small, dk.rules.MinimumFrequency(3)), folder)


@case("invariant")
def _(folder: Path) -> None:
    release(dk.perturb_invariant(keyed(by={"size": None, "region": None}), largest=2), folder)


# ── microdata ───────────────────────────────────────────────────────────────────────


def survey() -> dk.Microdata:
    return dk.Microdata(
        SURVEY.records,
        keys=["region", "age", "sex", "marital", "occupation"],
        numeric=["income"],
        sensitive=["health"],
        weight="weight",
        household="household",
        id="person",
        identifiers=["insurance"],
    )


VERBS: dict[str, Callable[[dk.Microdata], dk.Microdata]] = {
    "recode": lambda md: md.recode("age", breaks=[0, 16, 25, 45, 65, float("inf")]),
    "local_suppression": lambda md: md.local_suppression(k=2),
    "pram": lambda md: md.pram("marital", seed=1),
    "microaggregate": lambda md: md.microaggregate(k=3),
    "add_noise": lambda md: md.add_noise(seed=1),
    "rank_swap": lambda md: md.rank_swap(seed=1),
    "shuffle": lambda md: md.shuffle("income", ["age"], seed=1),
    "swap": lambda md: md.swap(["region"], seed=1),
    "swap_records": lambda md: md.swap_records("region", risk_variables=["sex"], k=3, seed=1),
    "top_code": lambda md: md.top_code("income", share=0.01),
}


def verb(name: str, of: Callable[[dk.Microdata], dk.Microdata]) -> None:
    @case(f"microdata-{name}")
    def _(folder: Path) -> None:
        made = of(survey().remove_identifiers())
        pq.write_table(pa.table(made.table), folder / "records.parquet")
        (folder / "history.txt").write_text(
            "\n".join(f"{s.verb} {s.arguments} {s.found}" for s in made.history), encoding="utf-8"
        )


for _name, _verb in VERBS.items():
    verb(_name, _verb)


@case("microdata-release")
def _(folder: Path) -> None:
    md = survey().remove_identifiers().drop(["income"])
    md = md.recode("age", breaks=[0, 25, 65, float("inf")]).drop(["occupation", "region"])
    result = md.local_suppression(k=3).release(claim=dk.claims.KAnonymity(3), keys=KEYS)
    for language in LANGUAGES:
        out = folder / language
        result.write(out, formats=["csv", "parquet", "html"], language=language, keys=KEYS)
        printed(folder / f"verify.{language}.txt", "verify", str(out))


@case("microdata-safe")
def _(folder: Path) -> None:
    persons = dk.Microdata(CENSUS.persons, household="household", id="dwelling")
    safe = persons.safe([("state", "sex"), ("state", "age_group")], seed=1, sweeps=10)
    result = safe.release(claim=dk.claims.Safe(), keys=KEYS)
    result.write(folder / "out", formats=["csv", "html"], keys=KEYS)
    printed(folder / "verify.txt", "verify", str(folder / "out"))


# ── jobs and the command line ───────────────────────────────────────────────────────

JOB = """
[records]
path = "firms.parquet"

[[tables]]
name = "turnover"
by = {{ size = "flat", region = "flat" }}
value = "turnover"
unit = "firm_id"
holding = "group_id"
title = {{ en = "Turnover", de = "Umsatz" }}

[tables.rules]
p_percent = {{ p = 5 }}
minimum_frequency = {{ n = 3 }}

[output]
folder = "out"
formats = ["csv", "xlsx", "html"]
language = "{language}"
"""


def job(language: str) -> None:
    @case(f"job-{language}")
    def _(folder: Path) -> None:
        pq.write_table(REGISTER.records, folder / "firms.parquet")
        (folder / "job.toml").write_text(JOB.format(language=language), encoding="utf-8")
        printed(folder / "protect.txt", "protect", str(folder / "job.toml"))
        printed(folder / "verify.txt", "verify", str(folder / "out"))


for _language in LANGUAGES:
    job(_language)


@case("help")
def _(folder: Path) -> None:
    for verb_name in ("protect", "verify", "audit", "cellkey", "anonymize", "safe", "ledger"):
        printed(folder / f"{verb_name}.txt", verb_name, "--help")
    for verb_name in ("protect", "anonymize", "safe"):
        printed(folder / f"{verb_name}.template.txt", verb_name, "--template")


# ── running ─────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def office(folder: Path) -> Generator[None]:
    """The fixed keys are those of the environment; warnings are kept beside the files."""
    path = folder / "office.keys"
    path.touch(mode=0o600)
    path.write_text(f"{_HEADER}\n{SECRET.hex()}\n", encoding="ascii")
    os.environ["DISKRET_KEYS"] = str(path)
    try:
        yield
    finally:
        path.unlink()


def main(folder: Path, chosen: list[str]) -> int:
    """Write all cases, or those whose names contain one of the words; count what failed."""
    failed = 0
    folder.mkdir(parents=True, exist_ok=True)
    with office(folder):
        for name, write in CASES.items():
            if chosen and not any(word in name for word in chosen):
                continue
            own = folder / name
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    write(own)
                except Exception as error:
                    failed += not isinstance(error, dk.DiskretError)
                    text = "".join(traceback.format_exception_only(error))
                    (own / "error.txt").write_text(text, encoding="utf-8")
            said = sorted({f"{one.category.__name__}: {one.message}" for one in told})
            (own / "warnings.txt").write_text("\n".join(said), encoding="utf-8")
            print(name, "refused" if (own / "error.txt").exists() else "")
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
