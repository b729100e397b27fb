"""What was done to microdata, so that it can be done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One call of a method of [`Microdata`][diskret.Microdata]. Confidential.

    Parameters
    ----------
    verb
        Name of the method.
    arguments
        Its arguments by name, as a job file can hold them: text, numbers, logical values,
        lists and mappings of these; what was left at its default is left out.
    found
        Figures it reported, JSON-ready: how many values were suppressed, say.
    columns
        The columns that it gave new values, in the order of the file.
    """

    verb: str
    arguments: Mapping[str, Any]
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])
    columns: tuple[str, ...] = ()
