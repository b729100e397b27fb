"""Write releases of every kind: once with the old code, once with the new, and compare.

    make snapshots BEFORE=main

does all three. By hand, with the code to look at first in ``PYTHONPATH`` and then ``tests``:

    python -m snapshots.releases [--threads NUMBER] FOLDER [PART_OF_A_NAME ...]
    python -m snapshots.compare OLD NEW

``make everywhere`` writes them by several interpreters, with one thread and with sixteen.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import diskret
from snapshots import changed, jobs, persons, suppressed
from snapshots.running import CASES, refused, run, threads

__all__ = ["CASES", "changed", "jobs", "persons", "suppressed"]


def main(folder: Path, chosen: list[str], number: int | None = None) -> int:
    """Write all cases, or those whose names contain one of the words; 1 if any broke down."""
    names = cases(chosen)
    with threads(number):
        run(folder, names)
    reasons = {name: refused(folder / name) for name in names}
    broken = [name for name in names if bool(reasons[name]) != name.endswith("-refused")]
    for name in broken:
        print(f"{name}: {reasons[name] or 'should have been refused'}")
    print(f"{len(names)} cases of {Path(diskret.__file__).parent}, {len(broken)} broken")
    return min(len(broken), 1)


def cases(chosen: list[str]) -> list[str]:
    """Names of cases that contain one of the words; all for no words.

    Raises
    ------
    ValueError
        A word is part of no name.
    """
    unknown = [word for word in chosen if not any(word in name for name in CASES)]
    if unknown:
        raise ValueError(f"no name has {', '.join(map(repr, unknown))} in it: {', '.join(CASES)}")
    return [name for name in CASES if not chosen or any(word in name for word in chosen)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("chosen", nargs="*")
    asked = parser.parse_args()
    try:
        cases(asked.chosen)
    except ValueError as error:
        parser.error(str(error))
    sys.exit(main(asked.folder, asked.chosen, asked.threads))
