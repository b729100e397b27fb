"""Releases of every kind by several interpreters, with one thread and with many, compared.

    python -m snapshots.everywhere FOLDER PYTHON ...

Each interpreter needs what diskret needs. Exits with 1 if any file differs from that of the first
one with one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from snapshots import compare

#: Threads of a run, also for the libraries that multiply matrices.
THREADS = (1, 16)


def main(folder: Path, pythons: list[str]) -> int:
    """Write, compare, and say what is the same."""
    done: list[Path] = []
    for place, python in enumerate(pythons):
        for number in THREADS:
            done.append(folder / f"{place}-{number}")
            own = {f"{name}_NUM_THREADS": str(number) for name in ("OMP", "OPENBLAS", "NUMBA")}
            options = ("-m", "snapshots.releases", "--threads", str(number), str(done[-1]))
            subprocess.run([python, *options], env=os.environ | own, check=True)
    differing = [after for after in done[1:] if compare.main(done[0], after)]
    print(f"{len(done)} runs, {len(differing)} of them differ from the first")
    return min(len(differing), 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
