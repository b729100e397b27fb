"""CPU seconds of small jobs as multiples of a fixed computation beside them, and their history.

Run it from the repository as ``python benchmarks/ratios.py [--keep]``; it takes about ten
CPU seconds and no other data. A job and its yardstick run in turn in one process, so a slow or busy
machine slows both, and the median of their ratios is kept. Lines of `HISTORY` are versions,
committed when they are released; ``--keep`` appends this one. A ratio that is more than `MOVED`
times the last line's, or less by as much, is named; whether it is a fault is for a person to say.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from _tables import random_table
from scipy.optimize import linprog

import diskret as dk

HISTORY = Path(__file__).with_name("ratios.jsonl")
MOVED = 1.5
ROUNDS = 5
_NONE: dict[str, Any] = {"version": "", "ratios": {}}
Job = Callable[[], Any]


def main() -> None:
    """Print ratios, those of the last version, and what moved."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true", help="append this version to the history")
    keep = parser.parse_args().keep
    last = versions()[-1] if HISTORY.exists() else _NONE
    print(f"{'CPU seconds as multiples':<26} {'s':>7} {'ratio':>7} {last['version']:>7}")
    ratios: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        for name, yardstick, job in jobs(Path(folder)):
            seconds, ratios[name] = measured(job, yardstick)
            before = last["ratios"].get(name)
            shown = "" if before is None else f"{before:7.2f}{said(ratios[name] / before)}"
            print(f"{name:<26} {seconds:7.3f} {ratios[name]:7.2f} {shown}", flush=True)
    if keep:
        line = {
            "version": dk.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
            "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
        }
        with HISTORY.open("a", encoding="utf-8") as history:
            history.write(json.dumps(line) + "\n")


def versions() -> list[dict[str, Any]]:
    """What the history says, the last version at the end."""
    return [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines()]


def said(times: float) -> str:
    """What is printed behind a ratio that is so many times that of the last version."""
    if times > MOVED:
        return f"  slower, {times:.1f} times"
    return f"  faster, {1 / times:.1f} times" if times < 1 / MOVED else ""


def measured(job: Job, yardstick: Job) -> tuple[float, float]:
    """Median CPU seconds of a job, and median ratio to those of its yardstick beside it."""
    job()  # loads and compiles
    rounds = [(cpu_seconds(job), cpu_seconds(yardstick)) for _ in range(ROUNDS)]
    return median(own for own, _ in rounds), median(own / fixed for own, fixed in rounds)


def cpu_seconds(job: Job) -> float:
    """CPU seconds of all threads of this process."""
    start = time.process_time()
    job()
    return time.process_time() - start


# ── what it is measured by ──────────────────────────────────────────────────────────


def arrays() -> None:
    """Sorts and counts a million numbers."""
    numbers = np.random.default_rng(1).integers(0, 50_000, 1_000_000)
    np.bincount(np.unique(numbers, return_inverse=True)[1])


def grouping() -> None:
    """Groups and adds up two million numbers in DuckDB."""
    asked = "SELECT i % 50000 AS k, count(*), sum(i) FROM range(2000000) t(i) GROUP BY k"
    with duckdb.connect() as connection:
        connection.execute(asked).fetchnumpy()


def programme() -> None:
    """Solves a transport programme by HiGHS, as scipy has it."""
    n = 100
    rng = np.random.default_rng(1)
    give, take = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    found = linprog(rng.random(n * n), A_eq=np.vstack((give, take)), b_eq=np.ones(2 * n))
    assert found.status == 0, found.message  # noqa: S101


# ── the jobs ────────────────────────────────────────────────────────────────────────


def jobs(folder: Path) -> list[tuple[str, Job, Job]]:
    """Names, yardsticks, jobs; `folder` takes what they write."""
    table = random_table(((4, 4), (6,), (2,)), 2_500, "value", 1)
    rule = dk.rules.PPercent(10)
    keys = dk.SecretKeys(bytes(range(32)))
    released = folder / "released"
    dk.suppress(table, rule).write(released, keys=keys)

    rng = np.random.default_rng(1)
    n = 200_000
    sizes = {"a": 200, "b": 50, "c": 8}
    columns = {name: rng.integers(0, size, n).astype(str) for name, size in sizes.items()}
    records = pa.table({**columns, "key": rng.integers(0, 10**8, n), "x": rng.integers(1, 999, n)})
    by = dict.fromkeys("abc")
    keyed = dk.tabulate(records, by=by, record_key="key")
    noise = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2.25)
    persons = dk.Microdata(
        pa.table({f"x{i}": rng.lognormal(3, 1, 30_000) for i in range(4)}),
        numeric=[f"x{i}" for i in range(4)],
    )
    people = pa.table({name: rng.integers(0, 4, 2_000).astype(str) for name in "abcd"})
    tables = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    census = dk.Microdata(people, keys=[*"abcd"])
    suppressed = {
        f"suppress, {method}": partial(dk.suppress, table, rule, method=method)
        for method in ("auto", "sequential", "hypercube")
    }
    return [
        *((name, programme, job) for name, job in suppressed.items()),
        ("verify a release", arrays, partial(dk.verify, released, keys=keys)),
        ("tabulate", grouping, partial(dk.tabulate, records, by=by, value="x")),
        ("cell key", arrays, partial(dk.perturb, keyed, noise)),
        ("microaggregation", arrays, partial(persons.microaggregate, method="mdav", k=3)),
        ("SAFE", arrays, partial(census.safe, tables=tables, minimum=3, seed=1, sweeps=20)),
    ]


if __name__ == "__main__":
    main()
