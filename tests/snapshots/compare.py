"""Compare two folders that `releases` wrote: byte for byte, and say what differs.

    python -m snapshots.compare OLD NEW [--text]

With ``--text`` pages are compared by their words and figures only. Exits with 1 if anything
differs.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_SHOWN = 3


def main(old: Path, new: Path, text: bool = False) -> int:
    """Print a line for each file that is missing, new or different; how many there are."""
    files = {path.relative_to(top) for top in (old, new) for path in top.rglob("*")}
    differing = 0
    for file in sorted(file for file in files if not ((old / file).is_dir())):
        one, other = old / file, new / file
        if not one.is_file() or not other.is_file():
            print(f"{file}: only in the {'new' if other.is_file() else 'old'} one")
        elif same(one, other, text):
            continue
        else:
            print(f"{file}: differs{first_lines(one, other)}")
        differing += 1
    print(f"{len(files):,} files, {differing:,} differ")
    return min(differing, 1)


def same(one: Path, other: Path, text: bool) -> bool:
    """Whether two files say the same."""
    if text and one.suffix == ".html":
        return words(one) == words(other)
    return one.read_bytes() == other.read_bytes()


def words(page: Path) -> list[str]:
    """What a reader sees of a page."""
    reader = _Words()
    reader.feed(re.sub(r"<style.*?</style>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL))
    return " ".join(reader.found).split()


class _Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def first_lines(one: Path, other: Path) -> str:
    """The first lines that differ, of text files."""
    try:
        pair = [path.read_text(encoding="utf-8").splitlines() for path in (one, other)]
    except UnicodeDecodeError:
        return ""
    lines = [f"\n    - {a}\n    + {b}" for a, b in zip(*pair, strict=False) if a != b] or [
        f" in length: {len(pair[0])} and {len(pair[1])} lines"
    ]
    return "".join(line[:300] for line in lines[:_SHOWN])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), "--text" in sys.argv[3:]))
