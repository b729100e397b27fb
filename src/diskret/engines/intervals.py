"""The noise of a perturbation table as an engine joins it: an interval of keys a row. Secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import INT64
from diskret.errors import InputError
from diskret.hierarchy.codes import some


class Lookup(Protocol):
    """What is read of a [`Lookup`][diskret.cellkey.Lookup], which stands above the engines."""

    @property
    def counts(self) -> NDArray[np.int64]: ...  # noqa: D102 - described there

    @property
    def modulus(self) -> int: ...  # noqa: D102

    @property
    def bounds(self) -> NDArray[np.uint64]: ...  # noqa: D102

    @property
    def noise(self) -> NDArray[np.int64]: ...  # noqa: D102

    @property
    def step(self) -> int: ...  # noqa: D102

    @property
    def reuse(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Intervals:
    """Which noise each interval of cell keys means, for each count from 1 to `last`.

    Parameters
    ----------
    table
        Columns ``counted``, ``low``, ``high`` (keys from low to below high) and ``change``, all
        int64; the intervals of a count cover all keys once.
    last
        The largest count that has intervals of its own.
    reuse
        Larger counts take those of the last so many counts in turn.
    modulus
        Of the keys.
    """

    table: pa.Table
    last: int
    reuse: int
    modulus: int

    @classmethod
    def of(cls, lookup: Lookup) -> Intervals:
        """Intervals that are not empty; neighbours with the same noise are one.

        Raises
        ------
        InputError
            The noise has decimals or takes counts below 0, the keys exceed 64 bits, or no count
            but 0 has a row.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> bounds = np.array([[9, 9, 9], [4, 4, 9], [3, 6, 9]], dtype=np.uint64)
        >>> noise = np.array([[0, 0, 0], [-1, 0, 1], [-1, 2, 2]])
        >>> lookup = SimpleNamespace(
        ...     counts=np.arange(3), modulus=9, bounds=bounds, noise=noise, step=1, reuse=1
        ... )
        >>> intervals = Intervals.of(lookup).table.to_pydict()
        >>> intervals["counted"], intervals["high"], intervals["change"]
        ([1, 1, 2, 2], [4, 9, 3, 9], [-1, 1, -1, 2])
        """
        if lookup.step != 1:
            raise InputError(
                f"counts get whole numbers as noise, and this lookup has steps of 1/{lookup.step}; "
                "take a perturbation table for counts"
            )
        if lookup.modulus > INT64:
            raise InputError(f"the modulus of the lookup is {lookup.modulus}; at most 2^63 - 1")
        last = int(lookup.counts[-1])
        if last < 1:
            raise InputError("the lookup has a row for the count 0 only, which stays 0")
        row = np.searchsorted(lookup.counts, np.arange(1, last + 1))
        high = lookup.bounds[row].astype(np.int64)
        noise = lookup.noise[row]
        count = np.broadcast_to(np.arange(1, last + 1)[:, None], high.shape)
        filled = np.diff(high, axis=1, prepend=0) > 0
        high, noise, count = high[filled], noise[filled], count[filled]
        below = np.unique(count[noise < -count])
        if len(below):
            raise InputError(
                f"the lookup takes counts of {some([str(c) for c in below])} below 0; the noise of "
                "a count of i must be at least -i"
            )
        ends = np.append((count[1:] != count[:-1]) | (noise[1:] != noise[:-1]), True)
        high, noise, count = high[ends], noise[ends], count[ends]
        low = np.where(np.append(True, count[1:] != count[:-1]), 0, np.roll(high, 1))
        columns = {"counted": count, "low": low, "high": high, "change": noise}
        return cls(pa.table(columns), last, lookup.reuse, lookup.modulus)
