"""Sums of a column of numbers, with noise in proportion to a cell's largest contribution."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.keys.numbers import keyed_numbers
from diskret.parameters import Number, Positive, Whole, reading

#: What is asked for → how many measures it is of.
ASKED = {"count": 0, "sum": 1, "mean": 1, "ratio": 2}
#: Decimals of a mean beyond those of its measure, and of a ratio.
MORE, RATIO = 2, 4
_PURPOSE = "noise of sums that are tabulated in real time"
#: Beyond this noise would come in steps of more than one scaled unit.
_LARGEST = 2**50
#: Figures from here on are not shown: no quotient of what a service shows needs them.
_MOST = 2.0**62


@dataclass(frozen=True)
class Measure:
    """A column of numbers whose sums, means and ratios may be asked for. Confidential.

    Parameters
    ----------
    name
        By which it is asked for.
    column
        Of the records; left out: `name`.
    noise
        Standard deviation of the noise of a sum, as a share of its largest contribution: normal
        noise, as far as a double has digits.
    decimals
        Of the values, 0 to 6; sums are rounded to as many.
    nonnegative
        Whether no value is below 0. Sums are then never shown below 0 either.
    unit, label
        Of the values, and what they are.

    Raises
    ------
    InputError
        A parameter is not admissible.

    Examples
    --------
    >>> Measure("turnover", noise=0.3, unit="EUR").column
    'turnover'
    """

    name: str
    column: str = ""
    noise: float = 0.2
    decimals: int = 0
    nonnegative: bool = True
    unit: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        if not self.name or not 0 < self.noise < 10 or self.decimals not in range(7):
            raise InputError(
                f"the measure {self.name!r} needs a name, noise= above 0 and below 10, and "
                "decimals= from 0 to 6"
            )
        object.__setattr__(self, "column", self.column or self.name)


@dataclass(frozen=True, eq=False)
class Summed:
    """Sums of cells. Confidential. Scaled whole numbers, ``(rows,)``, int64.

    `largest`: the largest |contribution|. `size`: the sum of all of them. `source`: what the noise
    is named after, the same for columns that are proportional.
    """

    sum: NDArray[np.int64]
    largest: NDArray[np.int64]
    size: NDArray[np.int64]
    source: str


def shown_sums(
    found: Summed, key_sum: NDArray[np.uint64], measure: Measure, keys: SecretKeys
) -> NDArray[np.int64]:
    """Sums with noise, ``(rows,)``; equal sets of records have equal noise, others independent.

    Raises
    ------
    InputError
        There are values that the measure cannot have.
    """
    if measure.nonnegative and (found.sum != found.size).any():
        raise InputError(f"there are values of {measure.name!r} below 0; say nonnegative=False")
    if (found.largest > _LARGEST).any():
        raise InputError(f"there are values of {measure.name!r} beyond 2**50 in its last decimal")
    key = keyed_numbers(keys, f"{_PURPOSE}: {found.source.casefold()}", key_sum)
    # the middle of one of 2**53 parts of 0 to 1
    normal = ndtri(((key >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)
    change = np.floor(found.largest * (measure.noise * normal) + 0.5).astype(np.int64)
    shown = found.sum + change
    return np.maximum(shown, 0) if measure.nonnegative else shown


def mean(
    total: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Shown sum by shown count, with `MORE` decimals, and where there is none.

    >>> mean(np.array([7, 0, -1]), np.array([2, 0, 3]))[0].tolist()
    [350, 0, -33]
    """
    return _quotient(total, count, 10**MORE)


def ratio(
    total: NDArray[np.int64], other: NDArray[np.int64], decimals: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Shown sum by shown sum, with `RATIO` decimals, and where there is none.

    `decimals`: how many more the other has.
    """
    return _quotient(total, other, 10.0 ** (RATIO + decimals))


def _quotient(
    one: NDArray[np.int64], other: NDArray[np.int64], scale: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    none = other == 0
    found = np.divide(one, other, out=np.zeros(one.shape), where=~none) * scale
    none |= np.abs(found) >= _MOST
    return np.floor(np.where(none, 0, found) + 0.5).astype(np.int64), none


@reading
def certainty_of_amount(
    noise: Positive,
    apart: Annotated[float, Number(above=0)],
    tables: Annotated[int, Whole(0)] = 1,
) -> float:
    """How often somebody is right, at most, who has to say which of two values a record has.

    He knows all other records, that this one is there and where, and all parameters but the keys;
    the values are x and x · (1 + `apart`), both equally likely.

    Parameters
    ----------
    noise
        Of the measure, see `Measure`.
    apart
        How far the larger value is from the smaller one, as a share of this.
    tables
        Of sums that the record is in.

    Returns
    -------
    float
        ½ + ½ √(1 − β^(2m)) after m tables, see decision 102.

    References
    ----------
    Kailath (1967), "The divergence and Bhattacharyya distance measures in signal selection", IEEE
    Transactions on Communication Technology 15(1).

    Examples
    --------
    >>> round(certainty_of_amount(0.2, 0.1), 3), round(certainty_of_amount(0.2, 0.1, 5), 3)
    (0.622, 0.757)
    """
    squares = 1 + (1 + apart) ** 2
    spread = sqrt(2 * (1 + apart) / squares)
    alike = spread * exp(-(apart**2) / (4 * noise**2 * squares))
    return 0.5 + 0.5 * sqrt(1 - alike ** (2 * tables))


@reading
def certainty_of_estimate(
    noise: Positive,
    within: Annotated[float, Number(above=0, below=1)],
    tables: Annotated[int, Whole(0)] = 1,
) -> float:
    """How often an estimate comes so close, at most, that does so for every value of a record.

    Parameters
    ----------
    noise, tables
        As for `certainty_of_amount`.
    within
        How close: a share of the value.

    Examples
    --------
    >>> round(certainty_of_estimate(0.2, 0.1), 2), round(certainty_of_estimate(0.3, 0.1), 2)
    (0.74, 0.67)
    """
    return certainty_of_amount(noise, 2 * within / (1 - within), tables)
