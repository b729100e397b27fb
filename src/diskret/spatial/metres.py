"""Coordinates in whole millimetres, so that what lies where is decided exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.texts.numbers import Count

#: Whole numbers in a metre, and metres from the origin that no coordinate reaches.
PER_METRE, LONGEST = 1_000, 100_000_000


def millimetres(metres: Any, which: str) -> NDArray[np.int64]:
    """Metres as the nearest whole millimetres, shape ``(n,)``.

    Raises
    ------
    InputError
        A number is missing, infinite or too large; the first row is named.
    """
    given = np.asarray(metres, np.float64)
    wrong = np.flatnonzero(~(np.abs(given) < LONGEST))
    if len(wrong):
        at = int(wrong[0])
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:point lies|points lie} nowhere, the first in row {at + 1}: {which} "
            f"= {float(given[at])!r}; it must be a number of metres, less than 100,000 km. "
            "Correct these rows or leave them out"
        )
    return np.rint(given * PER_METRE).astype(np.int64)
