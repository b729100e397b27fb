"""Reads many damaged files of every kind; run in a process of its own, which they must not end.

``python damaged_inputs.py NUMBER SEED [KIND …]``: what is read is damaged by structure (lines and
fields dropped, doubled, exchanged with those of other kinds) and by bytes. Every file is read, or
refused in one sentence, in time, and nothing is written beside it.
"""

import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import diskret as dk
from diskret.errors import DiskretError
from diskret.hierarchy.build import read_hrc
from diskret.hierarchy.labels import read_labels
from diskret.io import DataFile, to_arrow
from diskret.io.arrays import read_arrays
from diskret.io.encoded import utf8_text
from diskret.io.from_json import read_json
from diskret.jobs.microdata import read_microdata_job
from diskret.jobs.read import read_job
from diskret.keys import SecretKeys
from diskret.plan.page import plan_page
from diskret.plan.programme import programme_files
from diskret.protect.audit import audit
from diskret.publish.guard.microdata import read_records_csv
from diskret.remote.channel import read_results
from diskret.remote.query import read_query
from diskret.remote.register import read_config
from diskret.tables import Published
from diskret.tables.read_public import read_published

RECORDS = "region;size;turnover;firm\n" + "".join(
    f"{'NSW'[i % 3]};{i % 2};{37 * i % 101},5;{i}\n" for i in range(12)
)
CELLS = "region;size;turnover;firm\n" + "".join(
    f"{'NSW'[i % 3]};{'abcd'[i // 3]};{37 * i % 101},5;{i}\n" for i in range(12)
)
PUBLISHED = "region;size;turnover\n" + "".join(
    f"{region};{size};{sum((1, 2, 3)[i] * (2, 5)[j] for i in rows for j in columns)},5\n"
    for region, rows in zip(["N", "S", "W", "Total"], [[0], [1], [2], [0, 1, 2]], strict=True)
    for size, columns in zip(["a", "b", "Total"], [[0], [1], [0, 1]], strict=True)
).replace(",5", ",0").replace("N;a;2,0", "N;a;.").replace("S;b;10,0", "S;b;.")
TREE = "N\n@N1\n@N2\nS\nW\n"
LABELS = "code,label,language\nN,North,en\nS,Süd,de\nW,West,en\n"
JOB = """
[records]
path = "firms.csv"
decimal = ","
[hierarchies]
region = { file = "region.hrc", total = "Total", lead = "@" }
[[tables]]
name = "turnover"
by = { region = "flat", size = { flat = true, total = "Insgesamt" } }
value = "turnover"
decimals = 1
unit = "firm"
where = { size = ["0", "1"], turnover = { min = 1, max = 90.5 } }
title = { en = "Turnover", de = "Umsatz" }
recode = { region = { "S+W" = ["S", "W"] } }
[tables.rules]
p_percent = { p = 5 }
minimum_frequency = { n = 3 }
dominance = [{ n = 1, k = 50 }, { n = 2, k = 80 }]
[[tables.frozen]]
at = { region = "N", size = "0" }
[[tables]]
name = "given"
by = { region = "flat" }
value = "sales"
cells = { file = "cells.csv", count = "firms", largest = ["x1"], rounding = 10 }
[tables.rules]
p_percent = { p = 5 }
[attacker]
zeros_known = true
[output]
folder = "out"
formats = ["csv", "xlsx"]
"""
PERSONS = """
[records]
path = "firms.csv"
decimal = ","
[roles]
keys = ["region", "size"]
numeric = ["turnover"]
[[steps]]
do = "recode"
variable = "turnover"
breaks = [0, 10, 1e3]
[[steps]]
do = "local_suppression"
k = 2
[release]
name = "persons"
formats = ["csv", "dta"]
[release.claims]
k_anonymity = { k = 2 }
"""
TOKENS = (
    *"{}[]\"',;=.#@:- 0 9\t\r\n", "\x00", "ä", "\ufeff", "\u2028", '""', "1e400", "-1", "nan",
    "inf", "9" * 30, "true", "null", "1979-05-27", "[[tables]]\n", "[records]\n", "{}", "[]", "[[",
    "Total", '"x"', "A" * 300, "x = 1\n", "'''", '"""', "\\u12", "<GOINTERACTIVE>",
)  # fmt: skip


METADATA = """\
table_name,field,indicator,hrc_indicator,spanning_1,hrc_spanning_1,spanning_2
T1,2025,turnover,,region,regions,size
T2,2025,turnover,,region,regions,
T3,2025,firms,work,size,,
T4,2025,staff,work,size,,
"""
LISTED = "TIME_PERIOD,INDICATOR,region,size\n" + "".join(
    f"2025,turnover,{region},{size}\n"
    for region, size in [("N", "0"), ("S", "_T"), ("S", "1"), ("W", "0"), ("_T", "_T")]
)
PUBLICATION = """
template = "cells.csv"
equations = ["turnover = home + abroad"]
different = [["N1", "1"]]
[columns]
fields = ["TIME_PERIOD"]
[hierarchies]
regions = { file = "region.hrc", total = "_T" }
[variables]
region = { hierarchy = "regions" }
size = { flat = true }
[indicators]
turnover = { decimals = 1, where = { size = ["0", "1"] } }
[fields."2025"]
vintage = "2025"
[records]
path = "firms.csv"
decimal = ","
[rules]
minimum_frequency = { n = 3 }
"""


QUERY = """project = "pay"
data = "persons"

[[results]]
name = "by job"
kind = "table"
by = ["job", "region"]
figures = { pay = "mean" }
where = { job = ["a", "b"], age = { from = 20, to = 65 } }

[[results]]
name = "model"
kind = "ols"
formula = "log(pay) ~ age * C(job)"
within = 1.5

[[results]]
name = "ages"
kind = "histogram"
column = "age"
bins = [20, 35, 50, 65]
"""

PROJECTS = """[[projects]]
name = "pay"
purpose = "who earns what"
data = ["persons"]
members = ["kim", "lee"]
level = "factual"
from = 2026-01-01
until = 2099-12-31
certainty = 0.8
answers = 60
submissions = 4
"""

RETURNED = """{"results": {"by job": {"adds_up": false,
"figures": [[["a", "pay"], 1500.5, null], [["b", "pay"], 2, 0.25]]},
"persons": {"adds_up": true, "figures": [[["all"], 100, null]]}}}
"""


@dataclass(frozen=True)
class Kind:
    """Files of one kind: names and whole contents, which of them is damaged, and who reads them."""

    files: dict[str, bytes]
    damaged: tuple[str, ...]
    read: Callable[[Path], Any]
    text: bool = True


def _as_numbers(said: Any) -> None:
    table, _ = to_arrow(said)
    assert table.num_columns
    to_arrow(said, table.column_names)


def _csv(folder: Path) -> None:
    path = folder / "firms.csv"
    for said in (path, DataFile(path, decimal=",", delimiter=";"), DataFile(path, thousands=" ")):
        with suppress(DiskretError):
            _as_numbers(said)
    dk.tabulate(DataFile(path, decimal=","), by={"region": None}, value="turnover", decimals=1)


def _cells(folder: Path) -> None:
    said = DataFile(folder / "cells.csv", decimal=",")
    by = {"region": None, "size": None}
    with suppress(DiskretError):
        dk.Table.from_cells(said, by=by, count="firm")
    dk.Table.from_cells(said, by=by, value="turnover", decimals=1, additivity="totals")


def _published(folder: Path) -> None:
    said = DataFile(folder / "published.csv", decimal=",")
    audit(said, by={"region": None, "size": None}, value="turnover")


def _public(folder: Path) -> None:
    for path in sorted(folder.glob("*.json")):
        with suppress(DiskretError):
            read_json(path)
    with suppress(DiskretError):
        read_records_csv(folder / "firms.csv")
    read_published(Published, folder)
    dk.verify(folder)


def _any_file(name: str) -> Callable[[Path], None]:
    return lambda folder: _as_numbers(folder / name)


def statistical(folder: Path) -> dict[str, bytes]:
    """A small file of Stata, SPSS and SAS, with labels and missing codes."""
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {"sex": [1, 2, "a", 1], "town": ["Köln", "Bonn", "", "Ulm"], "inc": [1.5, 2, "r", None]}
    )
    labels = {"sex": "Geschlecht", "inc": "Einkommen"}
    values: Any = {"sex": {1: "m", 2: "w", "a": "keine Angabe"}}
    missing = {"sex": ["a"], "inc": ["r"]}
    path = folder / "x.dta"
    pyreadstat.write_dta(
        frame, str(path), column_labels=labels, variable_value_labels=values,
        missing_user_values=missing,
    )  # fmt: skip
    plain = frame.replace({"a": 9, "r": 99}).astype({"sex": float, "inc": float})
    pyreadstat.write_sav(
        plain, str(folder / "x.sav"), column_labels=labels,
        variable_value_labels={"sex": {1: "m", 9: "k. A."}},
        missing_ranges={"sex": [9], "inc": [{"lo": 90, "hi": 99}]},
    )  # fmt: skip
    pyreadstat.write_xport(plain, str(folder / "x.xpt"), column_labels=labels)
    pyreadstat.write_xport(plain, str(folder / "y.xpt"), file_format_version=5)
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def released(folder: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Public files, and arrays, of a release."""
    cells = pa.table({"region": ["N", "S", "W"], "firms": [17, 1, 2]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    keys = dk.SecretKeys(bytes(range(32)))
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), name="firms")
    out = result.write(folder / "out", ("csv", "parquet", "html"), keys=keys)
    both = (out / "public", out / "internal")
    public, internal = ({p.name: p.read_bytes() for p in part.iterdir()} for part in both)
    return public, {name: raw for name, raw in internal.items() if name.endswith(".npz")}


def workbook(folder: Path) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["region", "firms"], ["N", 17], ["S", 1.5], ["W", "1,5"]):
        book.active.append(row)
    book.save(folder / "x.xlsx")
    return (folder / "x.xlsx").read_bytes()


def kinds() -> dict[str, Kind]:
    """Every kind of file that is no file of τ-ARGUS, whole."""
    firms, tree = {"firms.csv": RECORDS.encode()}, {"region.hrc": TREE.encode()}
    given = {"cells.csv": b"region,sales,firms,x1\nN,10,3,4\nS,20,4,9\n"}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for part in ("stat", "book"):
            (home / part).mkdir()
        stat = statistical(home / "stat")
        public, arrays = released(home)
        book = {"x.xlsx": workbook(home / "book")}
        pq.write_table(
            pa.table({"a": ["x", "y"], "b": [1, 2], "c": [1.5, None]}), home / "x.parquet"
        )
        parquet = {"x.parquet": (home / "x.parquet").read_bytes()}
    found = {
        "csv": Kind(firms, ("firms.csv",), _csv),
        "cells": Kind({"cells.csv": CELLS.encode()}, ("cells.csv",), _cells),
        "published": Kind({"published.csv": PUBLISHED.encode()}, ("published.csv",), _published),
        "hrc": Kind(tree, ("region.hrc",), lambda at: read_hrc(at / "region.hrc", total="Total")),
        "labels": Kind(
            {"l.csv": LABELS.encode()},
            ("l.csv",),
            lambda at: read_labels(at / "l.csv", None, "utf-8", "NSW"),
        ),
        "job": Kind(
            {"job.toml": JOB.encode(), **firms, **tree, **given},
            ("job.toml",),
            lambda at: read_job(at / "job.toml"),
        ),
        "microdata job": Kind(
            {"job.toml": PERSONS.encode(), **firms},
            ("job.toml",),
            lambda at: read_microdata_job(at / "job.toml"),
        ),
        "publication": Kind(
            {"p.toml": PUBLICATION.encode(), "cells.csv": LISTED.encode(), **firms, **tree},
            ("p.toml", "cells.csv"),
            lambda at: _planned(at / "p.toml"),
        ),
        "metadata": Kind(
            {"m.csv": METADATA.encode()}, ("m.csv",), lambda at: _planned(at / "m.csv")
        ),
        "public": Kind(
            public,
            tuple(name for name in sorted(public) if name.endswith((".json", ".csv", ".html"))),
            _public,
        ),
        "query": Kind(
            {"q.toml": QUERY.encode()}, ("q.toml",), lambda at: read_query(utf8_text(at / "q.toml"))
        ),
        "projects": Kind(
            {"r.toml": PROJECTS.encode()},
            ("r.toml",),
            lambda at: read_config(at / "r.toml", SecretKeys(bytes(range(32)))),
        ),
        "results of a script": Kind(
            {"r.json": RETURNED.encode()},
            ("r.json",),
            lambda at: read_results((at / "r.json").read_bytes(), 100),
        ),
        "npz": Kind(arrays, tuple(sorted(arrays)), _arrays, text=False),
        "parquet": Kind(parquet, ("x.parquet",), _any_file("x.parquet"), text=False),
        "xlsx": Kind(book, ("x.xlsx",), _any_file("x.xlsx"), text=False),
    }
    for name, raw in stat.items():
        found[name] = Kind({name: raw}, (name,), _any_file(name), text=False)
    return found


def _planned(path: Path) -> None:
    plan = dk.plan.read(path)
    plan_page(plan, "de")
    if not plan.questions:
        programme_files(plan, path.parent / "plan")


def _arrays(folder: Path) -> None:
    for path in sorted(folder.glob("*.npz")):
        for array in read_arrays(path).values():
            assert isinstance(array, np.ndarray)


# ── damage ──────────────────────────────────────────────────────────────────────────


def by_structure(raw: bytes, others: list[str], chance: random.Random) -> bytes:
    """Lines and fields dropped, doubled, exchanged with those of files of other kinds."""
    lines = raw.decode().split("\n")
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(lines) + 1)
        how = chance.randrange(4)
        if how == 0 and lines:
            lines[at : at + 1] = [lines[min(at, len(lines) - 1)]] * chance.choice([0, 2])
        elif how == 1:
            lines.insert(at, chance.choice(chance.choice(others).split("\n")))
        else:
            at = min(at, len(lines) - 1) if lines else 0
            line = lines[at] if lines else ""
            cut = chance.randint(0, len(line))
            after = line[cut + chance.randint(0, 3) :]
            lines[at : at + 1] = [line[:cut] + chance.choice(TOKENS) + after]
    text = chance.choice(["\n"] * 4 + ["\r\n", "\r"]).join(lines)
    return text.encode(chance.choice([*["utf-8"] * 8, "latin-1", "utf-16"]), "replace")


def by_bytes(raw: bytes, chance: random.Random) -> bytes:
    """Bytes dropped, doubled, exchanged, turned over, cut off, or nothing but chance."""
    damaged = bytearray(raw)
    if chance.randrange(20) == 0:
        return chance.randbytes(chance.randint(0, 60))
    for _ in range(chance.choice([1, 1, 2, 6])):
        at = chance.randint(0, len(damaged))
        if chance.randrange(2) and at < len(damaged):
            damaged[at] ^= 1 << chance.randrange(8)
        else:
            damaged[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    whole = chance.randrange(4) > 0
    return bytes(damaged[: len(damaged) if whole else chance.randint(0, len(damaged))])


@contextmanager
def within(seconds: int):
    """Fail where a parser hangs: far beyond what any of these inputs can take."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def hangs(*_: Any) -> None:
        raise TimeoutError("a parser hangs")

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def refused(kind: Kind, file: str, raw: bytes) -> bool:
    """Whether a damaged file is refused; anything but words, or a file more, is an error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = {**kind.files, file: raw}
        for one, content in whole.items():
            (folder / one).write_bytes(content)
        try:
            with within(60):
                kind.read(folder)
            said = False
        except DiskretError as error:
            if raw == kind.files[file]:
                raise
            text = str(error)
            assert text.strip() and len(text) < 3000 and "Traceback" not in text, text
            said = True
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert after == whole, "something was written"
    return said


def main(names: list[str], number: int, seed: int) -> None:
    """Damage files of some kinds so many times; the first that breaks a parser ends it with 2."""
    every, chance = kinds(), random.Random(seed)
    texts = [one.files[f].decode() for one in every.values() if one.text for f in one.damaged]
    for name in names or every:
        kind, count = every[name], 0
        for file in kind.damaged:
            assert not refused(kind, file, kind.files[file]), f"{name}: {file} is not whole"
        for at in range(number):
            file = chance.choice(kind.damaged)
            whole = kind.files[file]
            structured = kind.text and at % 2 == 0
            raw = by_structure(whole, texts, chance) if structured else by_bytes(whole, chance)
            try:
                count += refused(kind, file, raw)
            except BaseException:
                sys.stdout.write(f"{name} {file} {at}\n{raw!r}\n{traceback.format_exc()}")
                sys.exit(2)
        # neither is all refused nor all read: the damage reaches what the parser is for
        assert number < 100 or 0 < count < number, f"{name}: {count} of {number} refused"
        sys.stdout.write(f"{name}: {number:,} inputs, {count:,} refused\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[3:], int(sys.argv[1]), int(sys.argv[2]))
