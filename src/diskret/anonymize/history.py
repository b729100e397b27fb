"""What was done to microdata: done again on other records, or written as a job file."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.anonymize.data import Microdata
from diskret.anonymize.verb import VERBS, Step
from diskret.disk import new_file
from diskret.errors import DiskretError, InputError
from diskret.io.record_errors import RecordError
from diskret.progress import Progress, silent


def replay(md: Microdata, frame: Any, progress: Progress = silent) -> Microdata:
    """Do everything in the history of microdata again, on other records with the same columns.

    Parameters
    ----------
    md
        Protected microdata.
    frame
        The new records, of any kind that [`Microdata`][diskret.Microdata] takes: those of the
        next year, or the whole file after a trial with a part of it.
    progress
        Called with ``("steps", done, total)``.

    Returns
    -------
    Microdata
        The new records with the same roles, after the same steps. What was decided by looking
        at values, such as which of them to suppress, is decided anew.

    Raises
    ------
    InputError
        A column is missing, or a step cannot be done on these records; the message says which.

    Examples
    --------
    >>> import pyarrow as pa
    >>> first = Microdata(pa.table({"town": ["A", "B", "C"]}), keys=["town"])
    >>> protected = first.recode("town", groups={"B or C": ["B", "C"]})
    >>> protected.replay(pa.table({"town": ["C", "A"]})).frame.column("town").to_pylist()
    ['B or C', 'A']
    """
    start = Microdata(frame, **md.original.roles.arguments())
    return carry_out(start, md.history, progress)


def carry_out(md: Microdata, steps: Iterable[Step], progress: Progress = silent) -> Microdata:
    """Do steps one after another."""
    todo = list(steps)
    for number, step in enumerate(todo, start=1):
        if step.verb not in VERBS:
            raise InputError(
                f"step {number}: there is no method {step.verb!r}; there are {', '.join(VERBS)}"
            )
        method = getattr(md, step.verb)
        reporting = "progress" in inspect.signature(method).parameters
        arguments = {**step.arguments, "progress": progress} if reporting else step.arguments
        try:
            md = method(**arguments)
        except RecordError as error:
            said = f"step {number}, {step.verb}: {error}"
            raise type(error)(said, missing=error.missing) from error
        except DiskretError as error:
            raise type(error)(f"step {number}, {step.verb}: {error}") from error
        progress("steps", number, len(todo))
    return md


_HEAD = """\
# A job for "diskret anonymize"; confidential. Paths are seen from the folder of this file.

"""
_RELEASE = """\
# What must hold before anything is written; diskret anonymize --template shows more.
[release]
folder = "out"

[release.claims]
"""


def save_job(md: Microdata, path: str | PathLike[str], records: str | PathLike[str]) -> Path:
    """Write the roles and the history of microdata as a job file.

    Parameters
    ----------
    md
        The microdata.
    path
        A new file, readable by its owner only: thresholds and seeds stand in it.
    records
        The file of records that the job is for, seen from the folder of the job file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The file is there already, or cannot be written; or an argument of a step cannot be
        written in a job file.
    """
    parts = [
        _HEAD,
        _section("[records]", {"path": os.fspath(records)}),
        _section("[roles]", md.original.roles.arguments()),
        *(_section("[[steps]]", {"do": step.verb, **step.arguments}) for step in md.history),
        _RELEASE + _claim(md),
    ]
    target = Path(path)
    try:
        opened = new_file(target)
    except FileExistsError:
        raise InputError(f"{target} exists already; name another file") from None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        file.write("".join(parts))
    return target


def _claim(md: Microdata) -> str:
    for step in md.history:
        if step.verb == "safe":
            return f"safe = {{ minimum = {step.arguments.get('minimum', 3)} }}\n"
    return "k_anonymity = { k = 3 }\n"


def _section(header: str, values: Mapping[str, Any]) -> str:
    lines = [f"{toml_key(key)} = {toml_value(value)}\n" for key, value in values.items()]
    return "".join([header, "\n", *lines, "\n"])


def toml_key(key: str) -> str:
    """A key as TOML writes it.

    >>> toml_key("income"), toml_key("net income")
    ('income', '"net income"')
    """
    plain = key and all(c in "-_" or (c.isascii() and c.isalnum()) for c in key)
    return key if plain else _quoted(key)


def toml_value(value: Any) -> str:
    """A value as TOML writes it.

    >>> toml_value({"k": 3, "of": ["a", "b"], "share": 0.5, "open": True})
    '{ k = 3, of = ["a", "b"], share = 0.5, open = true }'
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _float(float(value))
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        entries: Mapping[Any, Any] = value
        inner = ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in entries.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml_value(part) for part in value) + "]"
    raise InputError(
        f"a job file cannot hold {value!r}, an object of type {type(value).__name__!r}"
    )


def _quoted(text: str) -> str:
    # what JSON writes is TOML, but for one control character
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _float(value: float) -> str:
    text = repr(value)
    return text if any(c in text for c in ".en") else f"{text}.0"
