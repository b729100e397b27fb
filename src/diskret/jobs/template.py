"""Job files to start from, with every key and a word on each."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal


def template(
    command: Literal["protect", "anonymize", "safe", "serve"] = "protect", language: str = "en"
) -> str:
    """The commented job file of a command, or the configuration of a service.

    >>> template().splitlines()[0]
    '# A job for "diskret protect". Paths are seen from the folder of this file.'
    >>> template("safe", "de").splitlines()[0]
    '# Ein Auftrag für "diskret safe"; vertraulich. Pfade gelten vom Ordner dieser Datei aus.'
    """
    folder = files("diskret.jobs").joinpath("templates")
    if language != "en":
        folder = folder.joinpath(language)
    return folder.joinpath(f"{command}.toml").read_text("utf-8")
