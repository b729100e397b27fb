"""The risk of being recognised, by numerical integration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Points of the quadrature, and the logarithm of what is left out of the integral.
_POINTS, _NEGLIGIBLE = 64, 45.0
#: Pairs of f and F that are integrated together.
_TOGETHER = 20_000
#: With no larger share of the population outside the file, the file is the population.
_CENSUS = 1e-12


def risk(count: NDArray[np.float64], population: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Expected value of one over the number of persons of the population who share the keys.

    With f records in the file that stand for F persons, and p = f / F, the number is f plus a
    negative binomial one, so that

    $$r = \int_0^1 y^{f-1} \frac{p}{p + (1-p) y} dy,$$

    which is integrated in z = log(p + (1 - p) y), where for f = 1 the integrand is constant.
    Source of the model: Benedetti and Franconi (1998).

    Parameters
    ----------
    count
        f, at least 1, ``(n,)``.
    population
        F > 0, ``(n,)``; where it does not exceed f, the risk is 1 / f.

    Examples
    --------
    >>> risk(np.array([1.0, 2.0, 3.0]), np.array([17.0, 110.0, 3.0])).round(8).tolist()
    [0.17707583, 0.01714426, 0.33333333]
    """
    pairs, of = np.unique(count + 1j * population, return_inverse=True)
    parts = np.array_split(pairs, len(pairs) // _TOGETHER + 1)
    return np.concatenate([_integral(part.real[:, None], part.imag[:, None]) for part in parts])[of]


def _integral(f: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.minimum(f / total, 1.0)
    q = np.maximum((total - f) / total, 0.0)
    point, share = np.polynomial.legendre.leggauss(_POINTS)
    # below this y the power is negligible
    least = np.where(f > 1, np.exp(-_NEGLIGIBLE / np.maximum(f - 1, 1e-9)), 0.0)
    low = np.log1p(-q * (1 - least))
    z = low * (1 - point) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.clip(1 + np.expm1(z) / q, 0.0, 1.0)
        found = (p / q * -low / 2)[:, 0] * ((y ** (f - 1)) @ share)
    return np.where(q[:, 0] < _CENSUS, 1 / f[:, 0], found)
