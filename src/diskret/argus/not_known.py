"""Numbers of records that are declared codes of what is not known: nobody has them as a value.

What τ-ARGUS does with them is not documented, and whether they are added up cannot be seen in its
output; so they are refused before anything is made of them.
"""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.argus.metadata import Variable
from diskret.argus.read_data import line_of
from diskret.errors import JobError
from diskret.texts.numbers import Count


def refuse_not_known(frame: pa.Table, numbers: Iterable[Variable], path: Path) -> None:
    """Refuse records whose number is a code that the metadata declare for what is not known.

    `frame`: the records of a file as text, decimal commas as points. `numbers`: variables that are
    added up, weigh, price, or say who belongs together.
    """
    for variable in numbers:
        if not variable.missing:
            continue
        rows = np.flatnonzero(_not_known(frame.column(variable.name), variable.missing))
        if not len(rows):
            continue
        row = int(rows[0])
        number = Count(len(rows))
        raise JobError(
            f"{variable}: {number} {number:record|records} of {path.name} {number:has|have} "
            f"{frame.column(variable.name)[row].as_py()!r}, which is declared to mean that it is "
            f"not known (first in line {line_of(path, row)}); what τ-ARGUS makes of it is not "
            "documented. Correct these records or leave them out; if it is a value, take the "
            f"code out of the line of {variable.name!r}"
        )


def _not_known(values: pa.ChunkedArray, codes: Iterable[str]) -> NDArray[np.bool_]:
    """Where a text is one of the codes, or as a number equal to one, ``(n,)``."""
    listed = [code.replace(",", ".") for code in codes]
    found = np.asarray(pc.is_in(values, value_set=pa.array(listed, pa.string())), dtype=bool)
    try:
        numbers = np.asarray(values.cast(pa.float64()), dtype=np.float64)
        return found | np.isin(numbers, pa.array(listed).cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:  # names of holdings; or no numbers, which is said elsewhere
        return found
