"""Job files of every kind, and what the command line prints."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

import diskret as dk
from snapshots.persons import CENSUS, SURVEY
from snapshots.running import KEYS, LANGUAGES, case, dumped, printed
from snapshots.suppressed import REGISTER

TABLE = """
[[tables]]
name = "turnover"
by = { size = "flat", region = "flat" }
value = "turnover"
unit = "firm_id"
holding = "group_id"
title = { en = "Turnover", de = "Umsatz" }
"""
COUNTS = """
[[tables]]
name = "firms"
by = { size = "flat", region = "flat" }
unit = "firm_id"
"""
RULES = """
[tables.rules]
p_percent = { p = 5 }
minimum_frequency = { n = 3 }
"""
FEW = """
[tables.rules]
minimum_frequency = { n = 3 }
"""
KEYED = """
[tables.noise]
method = "cell_key"
key_of = "firm_id"
max_noise = 4
variance = 2
"""
DERIVED = """
[[derived]]
kind = "mean"
tables = ["turnover", "firms"]
[[derived]]
kind = "share"
tables = ["turnover"]
of = ["region"]
"""


def noise(lines: str) -> str:
    """A section of noise."""
    return f"[tables.noise]\n{lines}\n"


#: Name of a job → its tables; and above them, if that must be.
JOBS = {
    "suppression": TABLE + RULES,
    "counts": COUNTS + FEW,
    "filtered": TABLE + 'where = { size = ["1-9", "10-49"] }\nrounding = 100\n' + RULES,
    "linked-and-derived": TABLE + RULES + COUNTS + FEW + DERIVED,
    "outsider": TABLE + RULES + "[attacker]\ncontributor = false\nrelative = 50\n",
    "cell-key": COUNTS + KEYED,
    "magnitude": TABLE + KEYED + "[tables.noise.magnitude]\nscale = 0.2\n",
    "invariant": COUNTS
    + noise('method = "invariant"\nkey_of = "firm_id"\nlargest = 8\nmax_noise = 3'),
    "adjustment": COUNTS + FEW + noise('method = "adjustment"'),
} | {
    name: COUNTS + noise(f'method = "{name}"\nbase = 3')
    for name in ("deterministic", "random", "controlled", "small_counts")
}


def output(language: str, more: str = "") -> str:
    """Where to write."""
    formats = '["csv", "xlsx", "html", "parquet"]'
    lines = f'folder = "out"\nformats = {formats}\nlanguage = "{language}"\n'
    return f"\n[output]\n{lines}{more}"


for _name, _tables in JOBS.items():
    for _language in LANGUAGES:

        @case(f"job-{_name}-{_language}")
        def _(folder: Path, tables: str = _tables, language: str = _language) -> None:
            pq.write_table(REGISTER.records, folder / "firms.parquet")
            text = '[records]\npath = "firms.parquet"\n' + tables + output(language)
            (folder / "job.toml").write_text(text, encoding="utf-8")
            printed(folder / "protect.txt", "protect", str(folder / "job.toml"))
            chosen = ("--language", language)
            printed(folder / "verify.txt", "verify", str(folder / "out"), *chosen)
            (folder / "firms.parquet").unlink()


@case("job-ledger")
def _(folder: Path) -> None:
    pq.write_table(REGISTER.records, folder / "firms.parquet")
    dk.Ledger.create(folder / "releases.db", keys=KEYS)
    for name, tables in (("counts", COUNTS + FEW), ("turnover", TABLE + RULES)):
        more = f'ledger = "releases.db"\nrelease = "{name}"\n'
        ends = output("en", more).replace('"out"', f'"{name}"')
        text = '[records]\npath = "firms.parquet"\n' + tables + ends
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        printed(folder / f"{name}.txt", "protect", str(folder / f"{name}.toml"))
    (folder / "firms.parquet").unlink()
    dumped(folder / "releases.db")


@case("job-of-cells")
def _(folder: Path) -> None:
    (folder / "cells.csv").write_text("region,firms\nN,7\nS,2\nW,5\nE,0\n", encoding="utf-8")
    text = '[[tables]]\nby = { region = "flat" }\n'
    text += 'cells = { file = "cells.csv", count = "firms" }\n'
    (folder / "job.toml").write_text(text + FEW + output("de"), encoding="utf-8")
    printed(folder / "protect.txt", "protect", str(folder / "job.toml"))


PERSONS = """
[records]
path = "persons.parquet"
[roles]
keys = ["age", "sex", "marital"]
numeric = ["income"]
id = "person"
identifiers = ["insurance"]
[[steps]]
do = "recode"
variable = "age"
breaks = [0, 25, 65, 120]
[[steps]]
do = "microaggregate"
variables = ["income"]
k = 3
[[steps]]
do = "local_suppression"
k = 3
[release]
folder = "out"
formats = ["csv", "parquet", "html"]
language = "{language}"
[release.claims]
k_anonymity = {{ k = 3 }}
"""
SAFE = """
[records]
path = "persons.parquet"
[roles]
household = "household"
id = "dwelling"
[safe]
tables = [["state", "sex"], ["state", "age_group"]]
sweeps = 10
[release]
folder = "out"
formats = ["csv", "html"]
language = "{language}"
"""

for _language in LANGUAGES:

    @case(f"job-microdata-{_language}")
    def _(folder: Path, language: str = _language) -> None:
        pq.write_table(SURVEY.records, folder / "persons.parquet")
        of_persons(folder, "anonymize", PERSONS.format(language=language))

    @case(f"job-safe-{_language}")
    def _(folder: Path, language: str = _language) -> None:
        pq.write_table(CENSUS.persons, folder / "persons.parquet")
        of_persons(folder, "safe", SAFE.format(language=language))


def of_persons(folder: Path, verb: str, text: str) -> None:
    """Run a job of microdata and verify what it wrote."""
    (folder / "job.toml").write_text(text, encoding="utf-8")
    printed(folder / f"{verb}.txt", verb, str(folder / "job.toml"))
    printed(folder / "verify.txt", "verify", str(folder / "out"))
    (folder / "persons.parquet").unlink()


# ── the command line ────────────────────────────────────────────────────────────────


@case("commands")
def _(folder: Path) -> None:
    printed(folder / "help.txt", "--help")
    verbs = ("protect", "verify", "audit", "cellkey", "anonymize", "safe", "ledger", "demo")
    for verb in verbs:
        printed(folder / f"{verb}.txt", verb, "--help")
    for verb in ("protect", "anonymize", "safe"):
        printed(folder / f"{verb}.template.txt", verb, "--template")
    printed(folder / "missing.txt", "protect", str(folder / "no.toml"))
    printed(folder / "usage.txt", "protect", "--nonsense")


@case("wrong-jobs")
def _(folder: Path) -> None:
    pq.write_table(REGISTER.records, folder / "firms.parquet")
    wrong = {
        "key": TABLE.replace("holding", "holdings") + RULES,
        "column": TABLE.replace("turnover", "umsatz") + RULES,
        "rule": TABLE + "[tables.rules]\np_percent = { q = 5 }\n",
        "range": TABLE + "[tables.rules]\np_percent = { p = -5 }\n",
        "noise": COUNTS + noise('method = "none"'),
        "nothing": "",
    }
    for name, tables in wrong.items():
        for language in LANGUAGES:
            text = '[records]\npath = "firms.parquet"\n' + tables + output(language)
            (folder / "job.toml").write_text(text, encoding="utf-8")
            printed(folder / f"{name}.{language}.txt", "protect", str(folder / "job.toml"))
    (folder / "firms.parquet").unlink()


@case("demo")
def _(folder: Path) -> None:
    printed(folder / "demo.txt", "demo", "--folder", str(folder / "out"), "--firms", "800")
