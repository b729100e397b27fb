"""From a risk that the whole file may have to what each record may have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError


def individual_threshold(risk: NDArray[np.float64], global_risk: float) -> float:
    """The largest risk any record may have so that the file as a whole is below a target.

    The global risk is the mean of the individual risks, the expected share of records that are
    recognised. Once the records above the threshold are protected, each of them has at most the
    threshold, so that the global risk is at most the mean of ``min(r, threshold)``. The
    largest threshold for which this mean does not exceed the target is found exactly, with one
    sort of the risks.

    Parameters
    ----------
    risk
        Individual risks, ``(n,)``.
    global_risk
        The target, above 0 and at most 1.

    Returns
    -------
    float
        1 if the file is below the target as it is.

    Raises
    ------
    InputError
        The target is not between 0 and 1.

    References
    ----------
    Franconi and Polettini (2004), Individual risk estimation in μ-Argus: a review.

    Examples
    --------
    >>> round(individual_threshold(np.array([0.5, 0.1, 0.02, 0.02]), 0.06), 6)
    0.1
    """
    check_share("global_risk", global_risk)
    ascending = np.sort(risk)
    # with the threshold at the j-th risk: those up to there, and the rest cut to it
    rest = len(risk) - np.arange(len(risk))
    before = np.concatenate([[0.0], np.cumsum(ascending)])[:-1]
    cut = (before + rest * ascending) / len(risk)
    j = int(np.searchsorted(cut, global_risk, side="right"))
    if j == len(risk):
        return 1.0
    return float((global_risk * len(risk) - before[j]) / rest[j])


def person_thresholds(
    household_risk: float, of: NDArray[np.intp], size: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What each person may have so that no household has more than a given risk.

    The risk of a household is at most the sum of those of its members, so that the risk
    divided by their number is enough.

    Parameters
    ----------
    household_risk
        What a household may have, above 0 and at most 1.
    of, size
        Household of each record ``(n,)``, and number of records of each household ``(h,)``.

    Raises
    ------
    InputError
        The risk is not between 0 and 1.

    Examples
    --------
    >>> person_thresholds(0.06, np.array([0, 1, 1]), np.array([1, 2])).tolist()
    [0.06, 0.03, 0.03]
    """
    check_share("household_risk", household_risk)
    return household_risk / size[of]


def check_share(name: str, value: float) -> None:
    """Refuse what is no share above 0.

    Raises
    ------
    InputError
        It is not.
    """
    if not 0 < value <= 1:
        raise InputError(f"{name}= must lie above 0 and be at most 1, not {value!r}")
