"""The one way out of the sandbox: figures as JSON, read by code that takes nothing else."""

from __future__ import annotations

import math
from typing import Any

from diskret.errors import InputError
from diskret.io.from_json import Form, anything, check_form, parse_json
from diskret.remote.figures import Figures, Name

_FORM: Form = {
    "results": {"*": {"figures": [anything], "adds_up": bool}},
}
#: Results of a script, figures of a result, parts of a name, characters of a part.
RESULTS, FIGURES, PARTS, CHARACTERS = 20, 2000, 6, 80


def read_results(content: bytes, records: int) -> dict[str, Figures]:
    """The results of a script.

    Parameters
    ----------
    content
        What came out of the sandbox.
    records
        How many records the script was given.

    Raises
    ------
    InputError
        It is anything but figures with names: says what, and nothing of what it holds.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InputError("what the script returned is no text") from None
    said: dict[str, Any] = parse_json(text, "what the script returned")
    check_form(said, _FORM, "what the script returned")
    results = said.get("results", {})
    if not 0 < len(results) <= RESULTS:
        raise InputError(f"a script returns 1 to {RESULTS} results: table(...), model(...)")
    return {_word(name): _figures(one, records) for name, one in results.items()}


def _figures(said: dict[str, Any], records: int) -> Figures:
    figures = said.get("figures", [])
    if not 0 < len(figures) <= FIGURES:
        raise InputError(f"a result has 1 to {FIGURES:,} figures")
    value: dict[Name, float] = {}
    error: dict[Name, float] = {}
    for one in figures:
        if not isinstance(one, list) or len(one) != 3 or not isinstance(one[0], list):
            raise InputError("a figure has a name, a value and a standard error or none")
        name = tuple(_word(part) for part in one[0])
        if not 0 < len(name) <= PARTS or name in value:
            raise InputError(f"names of figures have 1 to {PARTS} parts, and differ")
        value[name] = _number(one[1])
        if one[2] is not None:
            error[name] = _number(one[2])
    return Figures(value, error, dict.fromkeys(value, records), said.get("adds_up", False))


def _word(part: object) -> str:
    if not isinstance(part, str) or not 0 < len(part) <= CHARACTERS or not part.isprintable():
        raise InputError(f"names are text of 1 to {CHARACTERS} characters that can be printed")
    return part


def _number(value: object) -> float:
    """A number, NaN where there is none."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("values are numbers")
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan
