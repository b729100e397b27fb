"""The risk of persons whose households were drawn whole: members with the same keys are no news."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Probability, reading
from diskret.risk.frequencies import Frequencies, Missing, frequencies
from diskret.risk.individual import Compat, individual_risk
from diskret.risk.keys import Keys, grouped


@reading
def risk_of_drawn(
    keys: Keys,
    counted: Frequencies,
    together: NDArray[np.int64] | None,
    missing: Missing = "wildcard",
    alpha: Probability = 1.0,
    compat: Compat | None = None,
) -> NDArray[np.float64]:
    """Individual risk, also where households were drawn whole.

    The f records that share the keys are then g draws, one for each of their households, and say
    less of the population than f draws do: twins, both in the file, may be the only ones. With
    f / g persons for each household, and the number G of such households negative binomial given
    g, the risk is ``E(1/F | f) = g/f · E(1/G | g)``; see
    [`individual_risk`][diskret.risk.individual_risk]. Households are counted for each combination
    of values, so that one whose members agree only through missing values counts more than once.

    Parameters
    ----------
    keys
        The keys of n records.
    counted
        How many share them, in the sample and by the weights.
    together
        Number of the household of each record, ``(n,)``; None: records were drawn one by one.
    missing, alpha
        As `counted` was.
    compat
        See `individual_risk`.

    Returns
    -------
    numpy.ndarray
        Above 0 and at most 1, ``(n,)``; never below that of records drawn one by one.

    Raises
    ------
    InputError
        An option is unknown.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.io import coded
    >>> keys = Keys((coded(pa.chunked_array([["twin", "twin", "mayor"]]), "who"),))
    >>> counted = frequencies(keys, np.full(3, 10.0))
    >>> risk_of_drawn(keys, counted, np.array([0, 0, 1])).round(4).tolist()
    [0.1279, 0.1279, 0.2558]
    >>> risk_of_drawn(keys, counted, None).round(4).tolist()
    [0.0827, 0.0827, 0.2558]
    """
    if together is None:
        return individual_risk(counted.sample, counted.population, compat)
    homes = np.unique(together, return_inverse=True)[1].astype(np.int32)
    number = int(homes.max(initial=0)) + 1
    alike = keys.classes
    of, groups = grouped([alike.of.astype(np.int32), homes], [len(alike.count), number])
    share = 1 / np.bincount(of, minlength=groups)[of]
    found = frequencies(keys, share, missing, alpha).population
    # sums of thirds are rounded, and a record that agrees with nobody is a draw of its own
    found = np.where(np.abs(found - np.rint(found)) < 1e-9, np.rint(found), found)
    draws = np.clip(found, 1.0, counted.sample)
    persons = counted.sample / draws
    return individual_risk(draws, counted.population / persons, compat) / persons
