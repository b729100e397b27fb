"""Seconds that `import diskret` and the first use of its main names take, each in a new process."""

import statistics
import subprocess
import sys

RUNS = 7
STATEMENTS = {
    "import diskret": "import diskret",
    "diskret.Hierarchy": "import diskret; diskret.Hierarchy",
    "diskret.tabulate": "import diskret; diskret.tabulate",
    "diskret.suppress": "import diskret; diskret.suppress",
}


def seconds(statement: str) -> float:
    """Time inside the new interpreter, so that its own start does not count."""
    script = (
        f"from time import perf_counter as now; start = now(); {statement}; print(now() - start)"
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
