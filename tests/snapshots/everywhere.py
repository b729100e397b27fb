"""Releases of every kind by several interpreters, with one thread and with many, compared.

    python -m snapshots.everywhere FOLDER PYTHON ... [--kinds PART_OF_A_NAME ...]

Each interpreter needs what diskret needs. Exits with 1 if any file differs from that of the first
one with one thread.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from snapshots import compare
from snapshots.releases import cases

#: Threads of a run, also for the libraries that multiply matrices.
THREADS = (1, 16)


def main(folder: Path, pythons: list[str], kinds: list[str]) -> int:
    """Write, compare, and say what is the same."""
    done: list[Path] = []
    for place, python in enumerate(pythons):
        for number in THREADS:
            done.append(folder / f"{place}-{number}")
            own = {f"{name}_NUM_THREADS": str(number) for name in ("OMP", "OPENBLAS", "NUMBA")}
            command = (python, "-m", "snapshots.releases", "--threads", str(number))
            subprocess.run([*command, str(done[-1]), *kinds], env=os.environ | own, check=True)
    differing = [after for after in done[1:] if compare.main(done[0], after)]
    print(f"{len(done)} runs, {len(differing)} of them differ from the first")
    return min(len(differing), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("pythons", nargs="+")
    parser.add_argument("--kinds", nargs="*", default=[])
    asked = parser.parse_args()
    try:
        cases(asked.kinds)
    except ValueError as error:
        parser.error(str(error))
    sys.exit(main(asked.folder, asked.pythons, asked.kinds))
