"""The program that checks releases without diskret: `verify.py`, which may lie beside the files.

It is kept as text and never imported. Whoever reads it needs to trust nothing else of diskret.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

#: Its name beside the public files, and what it is called among formats.
SCRIPT = "verify.py"
FORMAT = "script"


def script() -> bytes:
    """The program.

    >>> script().startswith(b"#!/usr/bin/env python3")
    True
    """
    return resources.files(__name__).joinpath(SCRIPT).read_bytes()


def write_script(folder: Path) -> str:
    """Put the program into a folder; its name there."""
    (folder / SCRIPT).write_bytes(script())
    return SCRIPT


def is_script(path: Path) -> bool:
    """Whether a file is this very program."""
    return path.read_bytes() == script()
