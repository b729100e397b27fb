"""That records are a sample of a file: which they are, and how likely each was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@dataclass(frozen=True, eq=False)
class Drawn:
    """How n records were drawn, in one or several steps. Confidential.

    Parameters
    ----------
    whole
        The file that they were drawn from, as it came in.
    rows
        For each record its row there, from 0, ascending, ``(n,)``.
    chance
        The probability with which it was drawn, above 0, up to 1, ``(n,)``.
    together
        Number of its household, ``(n,)``, where households were drawn whole; else None.
    """

    whole: Microdata
    rows: NDArray[np.int64]
    chance: NDArray[np.float64]
    together: NDArray[np.int64] | None

    @property
    def share(self) -> float:
        """Of the file that was drawn."""
        return len(self.rows) / self.whole.n

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Which records could not but be drawn, ``(n,)``: sampling does not protect them."""
        return self.chance >= 1


def rows_of(md: Microdata, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Rows of the file that came in, from 1, for records of the microdata in some order."""
    return (order if md.drawn is None else md.drawn.rows[order]).astype(np.int64) + 1
