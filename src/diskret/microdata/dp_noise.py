"""Noise with differential privacy, drawn by OpenDP."""

# OpenDP is optional.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.progress import Progress, silent

#: So many values are drawn between two reports of progress.
_CHUNK = 20_000


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A way to add noise, with what it guarantees."""

    name: Literal["laplace", "gaussian"]  # of the distribution
    scale: float  # of the distribution, if values lie between 0 and 1
    deviation: float  # its standard deviation
    #: the guarantee for one record, as OpenDP computes it
    epsilon: float
    delta: float
    draw: Callable[[list[float]], list[float]]  # values → the same with noise

    def added(
        self, values: NDArray[np.float64], progress: Progress = silent
    ) -> NDArray[np.float64]:
        """Values between 0 and 1 with noise, ``(n,)``."""
        made = [np.zeros(0)]
        for start in range(0, len(values), _CHUNK):
            made.append(np.array(self.draw(values[start : start + _CHUNK].tolist())))
            progress("noise", min(start + _CHUNK, len(values)), len(values))
        return np.concatenate(made)


def laplace(epsilon: float) -> Mechanism:
    """Laplace noise for one value of each record."""
    dp = _opendp()

    def measurement(scale: float) -> Any:
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
        return dp.m.make_laplace(*space, scale=scale)

    scale = float(dp.binary_search_param(measurement, d_in=1.0, d_out=float(epsilon)))
    found = measurement(scale)
    return Mechanism("laplace", scale, scale * 2**0.5, float(found.map(1.0)), 0.0, found)


def gaussian(epsilon: float, delta: float, variables: int) -> Mechanism:
    """Gaussian noise for several values of each record together."""
    dp = _opendp()

    def measurement(scale: float) -> Any:
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
        made = dp.m.make_gaussian(*space, scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), delta=float(delta))

    # a record moves by at most √p in a cube of p variables; rounded up
    far = float(np.nextafter(np.sqrt(variables), np.inf))
    scale = float(
        dp.binary_search_param(measurement, d_in=far, d_out=(float(epsilon), float(delta)))
    )
    found = measurement(scale)
    reached = found.map(far)
    return Mechanism("gaussian", scale, scale, float(reached[0]), float(reached[1]), found)


def _opendp() -> Any:
    try:
        dp: Any = import_module("opendp.prelude")
    except ImportError as error:
        raise InputError(
            "noise with differential privacy needs OpenDP; install it with: "
            "pip install 'diskret[dp]'"
        ) from error
    dp.enable_features("contrib")
    return dp
