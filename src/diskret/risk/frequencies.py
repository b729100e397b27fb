"""How often the keys of each record occur in the sample, and are estimated to in the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.agreement import agreeing
from diskret.risk.keys import Keys

#: What a missing value of a key stands for.
Missing = Literal["wildcard", "category", "conservative"]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """For each record how many share its keys.

    Parameters
    ----------
    sample
        Number of records in the file, itself included, ``(n,)``, float64: with `alpha` below
        1, matches through missing values count less than a record.
    population
        Sum of their weights, ``(n,)``, float64.
    """

    sample: NDArray[np.float64]
    population: NDArray[np.float64]


def frequencies(
    keys: Keys,
    weights: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
    alpha: float = 1.0,
) -> Frequencies:
    """Count, for each record, the records that agree with it in all keys.

    Parameters
    ----------
    keys
        The keys.
    weights
        Sampling weights > 0, ``(n,)``; None: 1.
    missing
        ``"wildcard"``: a missing value agrees with every value, and a match that needs one
        counts `alpha`. ``"category"``: missing agrees with missing only.
        ``"conservative"``: a match that needs a missing value counts nothing, so a record with
        one stands alone.
    alpha
        From 0 to 1; only with ``"wildcard"``.

    Raises
    ------
    InputError
        An option is unknown.

    Examples
    --------
    >>> from diskret.io import coded
    >>> import pyarrow as pa
    >>> sex = coded(pa.chunked_array([["m", "m", "f", None]]), "sex")
    >>> frequencies(Keys((sex,))).sample.tolist()
    [3.0, 3.0, 2.0, 4.0]
    >>> frequencies(Keys((sex,)), missing="conservative").sample.tolist()
    [2.0, 2.0, 1.0, 1.0]
    """
    check_missing(missing, alpha)
    found = keys.classes
    count = found.count.astype(float)
    weight = count if weights is None else found.total(weights)
    gaps = found.codes.min(axis=1) < 0
    if missing == "category" or not gaps.any():
        return Frequencies(count[found.of], weight[found.of])
    if missing == "conservative":
        alpha = 0.0
    whole, through = agreeing(found.codes, found.codes, keys.sizes, np.stack([count, weight]))
    sample, population = (whole + alpha * through)[:, found.of]
    # a record with a gap agrees with itself without needing it
    itself = (1 - alpha) * gaps[found.of]
    return Frequencies(
        sample + itself, population + (itself if weights is None else itself * weights)
    )


def check_missing(missing: str, alpha: float) -> None:
    """Refuse what no missing value can stand for.

    Raises
    ------
    InputError
        An option is unknown.
    """
    if missing not in ("wildcard", "category", "conservative"):
        raise InputError(
            f"missing= must be 'wildcard', 'category' or 'conservative', not {missing!r}"
        )
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha= must lie between 0 and 1, not {alpha!r}")
