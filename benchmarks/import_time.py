"""CPU seconds of `import diskret`, its main names and a first table, each in a new process."""

import statistics
import subprocess
import sys

RUNS = 7
#: Of 20 cells. pyarrow loads pandas, where it is installed, at its first array; that is not ours.
TABLE = """
import diskret as dk, pyarrow as pa
pa.array([1])
start = now()
columns = {"region": [*"NNNSSSWWW"], "activity": [*"xyz"] * 3, "firms": [4, 9, 2, 7, 1, 8, 6, 5, 3]}
by = {"region": None, "activity": None}
table = dk.Table.from_cells(pa.table(columns), by=by, count="firms")
dk.suppress(table, dk.rules.MinimumFrequency(3)).public
"""
STATEMENTS = {
    "import diskret": "import diskret",
    "diskret.Hierarchy": "import diskret; diskret.Hierarchy",
    "diskret.tabulate": "import diskret; diskret.tabulate",
    "diskret.suppress": "import diskret; diskret.suppress",
    "a table suppressed": TABLE,
}


def seconds(statement: str) -> float:
    """CPU time inside the new interpreter, so that its own start does not count."""
    script = (
        "from time import process_time as now\n"
        f"start = now()\n{statement.strip()}\nprint(now() - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Print median and range of several runs after one to warm up."""
    print(f"{'statement':<20} {'median s':>9} {'min s':>8} {'max s':>8}")
    for name, statement in STATEMENTS.items():
        seconds(statement)
        times = [seconds(statement) for _ in range(RUNS)]
        print(f"{name:<20} {statistics.median(times):9.3f} {min(times):8.3f} {max(times):8.3f}")


if __name__ == "__main__":
    main()
