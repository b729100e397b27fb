"""Seconds and peak memory of `perturb_records` against a plain leaf aggregation in DuckDB.

Run it from the repository as ``python benchmarks/perturb_sql.py [records …]``; the default is
1,000,000, 10,000,000 and 100,000,000 records in a Parquet file, with five variables, whose table
has 55,692 cells with all totals. Each figure comes from a process of its own; the contestants take
turns, and the least CPU seconds of all threads count, for other work on the machine only adds.

"count" groups by the five columns and counts; "count, keys" adds up the record keys as well, which
is what the cell key method needs at least; "perturb_records" gives the perturbed counts of all
cells.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
from _memory import peak_megabytes

from diskret import Hierarchy, perturb_records
from diskret.cellkey import PerturbationTable

BRANCHING = {"A": (5, 4), "B": (4, 3), "C": (6,), "D": (5,), "E": (2,)}
MODULUS = 2**32
PLAIN = "SELECT A, B, C, D, E, count(*){} FROM read_parquet($path) GROUP BY A, B, C, D, E"


def main(sizes: list[int], rounds: int = 4) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'records':>12} {'what':<16} {'CPU s':>7} {'wall s':>7} {'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            path = Path(folder) / "records.parquet"
            write_records(path, n)
            runs: dict[str, list[list[float]]] = {name: [] for name in CONTESTANTS}
            for _ in range(rounds):
                for what, figures in runs.items():
                    figures.append(measure_apart(what, path))
            for what, figures in runs.items():
                cpu, wall, peak = map(min, zip(*figures, strict=True))
                print(f"{n:>12,} {what:<16} {cpu:>7.2f} {wall:>7.2f} {peak:>6.0f}", flush=True)


def write_records(path: Path, n: int) -> None:
    """Write records whose codes and keys follow from their numbers."""
    columns = [
        f"{[*leaves(name)]}[1 + CAST(floor({len(leaves(name))} * "
        f"power(hash(8 * i + {at}) % 1000003 / 1000003, 1.5)) AS INTEGER)] AS {name}"
        for at, name in enumerate(BRANCHING)
    ]
    query = (
        f"SELECT {', '.join(columns)}, hash(8 * i + 7) % {MODULUS} AS key FROM range({n}) AS t(i)"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}'")


def hierarchy(name: str) -> Hierarchy:
    """A tree in which all codes of a level have equally many children."""
    codes, parent, level = [name], [-1], [0]
    for children in BRANCHING[name]:
        below: list[int] = []
        for above in level:
            for child in range(children):
                below.append(len(codes))
                codes.append(f"{codes[above]}{child:02}")
                parent.append(above)
        level = below
    order = sorted(range(len(codes)), key=codes.__getitem__)  # depth first
    place = {at: i for i, at in enumerate(order)}
    above = [place.get(parent[at], -1) for at in order]
    return Hierarchy(tuple(codes[at] for at in order), np.array(above, dtype=np.int32))


def leaves(name: str) -> list[str]:
    """Codes of the lowest level."""
    tree = hierarchy(name)
    return [tree.codes[at] for at in tree.leaves.tolist()]


def run_count(path: Path) -> None:
    """Leaf counts and nothing else."""
    with duckdb.connect() as connection:
        connection.sql(PLAIN.format(""), params={"path": str(path)}).to_arrow_table()


def run_sums(path: Path) -> None:
    """Leaf counts and sums of keys."""
    with duckdb.connect() as connection:
        connection.sql(PLAIN.format(", sum(key)"), params={"path": str(path)}).to_arrow_table()


def run_perturb(path: Path) -> None:
    """Perturbed counts of all cells, totals included."""
    noise = np.arange(-5, 6)
    probabilities = np.array([np.where(noise >= -count, 1.0, 0) for count in range(6)])
    probabilities[0] = noise == 0
    ptable = PerturbationTable(
        np.arange(6), noise, probabilities / probabilities.sum(axis=1, keepdims=True)
    )
    by = {name: hierarchy(name) for name in BRANCHING}
    perturb_records(path, by=by, ptable=ptable, record_key="key")


CONTESTANTS = {"count": run_count, "count, keys": run_sums, "perturb_records": run_perturb}


def measure_apart(what: str, path: Path) -> list[float]:
    """CPU seconds, wall seconds and peak megabytes; imports not counted as time."""
    command = [sys.executable, __file__, "--run", what, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return [float(figure) for figure in output.split()]


def run_here(what: str, path: Path) -> None:
    """Run one contestant and print its figures."""
    small = path.with_name("small.parquet")
    write_records(small, 1_000)
    CONTESTANTS[what](small)  # modules are imported at a first call
    start, used = time.perf_counter(), time.process_time()
    CONTESTANTS[what](path)
    print(time.process_time() - used, time.perf_counter() - start, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], Path(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [1_000_000, 10_000_000, 100_000_000])
