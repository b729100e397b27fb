"""Job files to start from, with every key and a word on each."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal


def template(command: Literal["protect", "anonymize", "safe"] = "protect") -> str:
    """The commented job file of a command.

    >>> template().splitlines()[0]
    '# A job for "diskret protect". Paths are seen from the folder of this file.'
    """
    return files("diskret.jobs").joinpath("templates", f"{command}.toml").read_text("utf-8")
