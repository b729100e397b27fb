"""The same steps on other records."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from diskret.anonymize.data import Microdata
from diskret.anonymize.history import Step
from diskret.anonymize.verb import VERBS
from diskret.errors import DiskretError, InputError
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
        except DiskretError as error:
            raise type(error)(f"step {number}, {step.verb}: {error}") from error
        progress("steps", number, len(todo))
    return md
