"""Invariant noise with as many moves as it expects: every value stays exactly as frequent."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.table import PerturbationTable
from diskret.errors import InputError
from diskret.keys.numbers import siphash
from diskret.texts.numbers import Count
from diskret.unbiased_rounding import rounded_with_margins

#: Nearer to a whole number than this, a number of moves is one.
_WHOLE = 1e-7


def controlled_noise(
    count: NDArray[np.int64], key: NDArray[np.uint64], table: PerturbationTable
) -> NDArray[np.int64]:
    """Noise that leaves every value exactly as frequent as it is.

    The expected numbers of cells that move from one value to another are rounded up or down at
    random, unbiased, so that all rows and columns keep their sums. Which cells move is decided by
    their keys: of those with one value, the ones with the smallest keys get the lowest noise.

    Parameters
    ----------
    count
        Counts of all cells of the table set, each cell once, ``(n,)``, int64.
    key
        Their cell keys, ``(n,)``, uint64.
    table
        Invariant noise for these very cells.

    Returns
    -------
    ndarray
        Noise, ``(n,)``, int64. It does not depend on the order of the cells, except between
        cells with the same value and the same key.

    Raises
    ------
    InputError
        The table is not invariant for these cells, or has noise in fractions.

    References
    ----------
    Cox, L. H. (1987), A constructive procedure for unbiased controlled rounding, Journal of the
    American Statistical Association 82, 520-524.

    Examples
    --------
    >>> from diskret.cellkey.invariant import two_step_table
    >>> count = np.repeat([1, 2, 3], [40, 20, 10])
    >>> key = np.arange(70, dtype=np.uint64) * 7919 % 1009
    >>> noise = controlled_noise(count, key, two_step_table(np.array([0, 40, 20, 10]), 2))
    >>> np.bincount(count + noise).tolist(), int(np.count_nonzero(noise)) > 10
    ([0, 40, 20, 10], True)
    """
    if table.step != 1:
        raise InputError("counts need noise in whole numbers")
    row = table.row(count)
    frequency = np.bincount(row, minlength=len(table.counts))
    last = len(table.counts) - 1
    if table.probabilities[last, table.noise != 0].any():
        raise InputError(
            "the last row of invariant noise stands for larger values, which must stay"
        )
    expected = frequency[:, None] * table.probabilities
    _check_invariant(expected, frequency, table)
    order = np.lexsort((key, row))
    moves = _rounded(expected, table, _draws(count[order], key[order], expected.size))
    noise = np.empty(len(count), dtype=np.int64)
    noise[order] = np.repeat(np.tile(table.noise, len(moves)), moves.ravel())
    return noise


def _targets(table: PerturbationTable) -> NDArray[np.int64]:
    """Row of the value that each move leads to, ``(rows, m)``; impossible ones lead nowhere."""
    target = np.arange(len(table.counts))[:, None] + table.noise
    return np.clip(target, 0, len(table.counts) - 1)


def _check_invariant(
    expected: NDArray[np.float64], frequency: NDArray[np.int64], table: PerturbationTable
) -> None:
    arrive = np.bincount(_targets(table).ravel(), expected.ravel(), len(frequency))
    wrong = np.flatnonzero(np.abs(arrive - frequency) > 1e-6 * np.maximum(frequency, 1))
    if len(wrong):
        i = int(wrong[0])
        number = Count(len(wrong))
        raise InputError(
            f"this noise is not invariant for these cells: {number} {number:value|values} would "
            f"change {number:its|their} frequency, e.g. the value {i} from {frequency[i]:,} to "
            f"{arrive[i]:,.2f}; make the perturbation table from the frequencies of all cells "
            "that it is for, each once"
        )


def _draws(count: NDArray[np.int64], key: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) that depend on the cells and their keys, not on the cells' order."""
    secret = hashlib.blake2b(digest_size=16)
    secret.update(np.ascontiguousarray(count, dtype="<i8").tobytes())
    secret.update(np.ascontiguousarray(key, dtype="<u8").tobytes())
    return siphash(secret.digest(), np.arange(number, dtype=np.uint64)) / 2.0**64


def _rounded(
    expected: NDArray[np.float64], table: PerturbationTable, draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Numbers of moves: rounded up or down, with the same sums by value left and value reached."""
    row, noise = np.nonzero(expected)
    target = _targets(table)[row, noise]
    moves = np.zeros((len(expected), len(expected)))
    moves[row, target] = expected[row, noise]
    whole = np.zeros(expected.shape, dtype=np.int64)
    made = rounded_with_margins(moves, iter(draws.tolist()).__next__, _WHOLE, last=True)
    whole[row, noise] = made[row, target]
    return whole
