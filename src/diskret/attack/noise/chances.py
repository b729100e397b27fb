"""How likely each published value is for each true count. Confidential."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

_ENOUGH = 1e-6


class NoiseTable(Protocol):
    """What attacks ask of a perturbation table; see `diskret.PerturbationTable`."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """What the rows stand for: 0, 1, 2, …; the last one stands for all larger counts, too."""
        ...

    @property
    def noise(self) -> NDArray[np.int64]:
        """Admissible noise, in units of 1/`step`."""
        ...

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(noise | row)."""
        ...

    @property
    def step(self) -> int:
        """1 for counts."""
        ...


def chances(table: NoiseTable, up_to: int) -> NDArray[np.float64]:
    """P(published value | true count) of all counts up to a limit.

    Parameters
    ----------
    table
        The perturbation table.
    up_to
        The largest count, at least 0.

    Returns
    -------
    array
        Shape ``(up_to + 1, up_to + 1 + D)`` with the largest noise D: row n, column j holds the
        probability that n is published as j.

    Raises
    ------
    InputError
        The table is none for counts: noise is not whole, rows leave counts out, do not sum up
        to 1, or publish a negative number.

    Examples
    --------
    >>> class Ends:
    ...     counts, noise, step = np.array([0, 1]), np.array([-1, 0, 1]), 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> chances(Ends(), 2).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0], [0.0, 0.25, 0.5, 0.25]]
    """
    _check(table)
    last = len(table.counts) - 1
    row = np.minimum(np.arange(up_to + 1), last)
    found = np.zeros((up_to + 1, up_to + 1 + largest_noise(table)))
    for at, noise in enumerate(table.noise.tolist()):
        chance = table.probabilities[row, at]
        true = np.flatnonzero(chance)
        found[true, true + noise] += chance[true]
    return found


def largest_noise(table: NoiseTable) -> int:
    """The largest noise on either side that some row can have, D."""
    return int(np.abs(table.noise[table.probabilities.any(axis=0)]).max(initial=0))


def noise_row(table: NoiseTable, count: int) -> NDArray[np.float64]:
    """P(noise | count) of the noise −D, …, D, shape ``(2D + 1,)``.

    Raises
    ------
    InputError
        The table is none for counts, or the count is negative.
    """
    _check(table)
    if count < 0:
        raise InputError(f"a count is at least 0, not {count}")
    largest = largest_noise(table)
    chance = table.probabilities[min(count, len(table.counts) - 1)]
    some = chance > 0
    found = np.zeros(2 * largest + 1)
    found[table.noise[some] + largest] = chance[some]
    return found


def _check(table: NoiseTable) -> None:
    if table.step != 1:
        raise InputError(
            f"the noise of this table comes in steps of 1/{table.step}, so it is made for values; "
            "attacks on counts need a perturbation table for counts"
        )
    if not np.array_equal(table.counts, np.arange(len(table.counts))):
        raise InputError(
            "the rows of the perturbation table have to stand for the counts 0, 1, 2, … without a "
            f"gap, not for {table.counts[:8].tolist()}"
        )
    sums = table.probabilities.sum(axis=1)
    short = np.flatnonzero(np.abs(sums - 1) > _ENOUGH)
    if len(short):
        raise InputError(
            f"{len(short)} rows of the perturbation table do not sum up to 1, e.g. row {short[0]} "
            f"to {sums[short[0]]:.6g}; complete them"
        )
    below = (table.counts[:, None] + table.noise[None, :] < 0) & (table.probabilities > 0)
    if below.any():
        row, at = (int(i) for i in np.argwhere(below)[0])
        raise InputError(
            f"{int(below.any(axis=1).sum())} rows of the perturbation table publish negative "
            f"counts, e.g. row {row} with the noise {table.noise[at]}; noise is at least −count"
        )
