"""The nearest record of another file, variable by variable."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel


@kernel
def nearest(codes, numbers, other_codes, other_numbers, distance):
    """Gower's distance of each record to the nearest of another file, times the variables.

    codes: ``(n, q)``, -1 where missing; numbers: ``(n, p)``, in ranges, NaN where missing;
    distance: ``(n,)``, filled. A record is left as soon as it is farther than the nearest so far.
    """
    for i in range(len(distance)):
        best = np.inf
        for j in range(len(other_codes)):
            away = 0.0
            for v in range(codes.shape[1]):
                if codes[i, v] != other_codes[j, v]:
                    away += 1.0
            if away >= best:
                continue
            for v in range(numbers.shape[1]):
                one, two = numbers[i, v], other_numbers[j, v]
                if np.isnan(one) or np.isnan(two):
                    away += 0.0 if np.isnan(one) and np.isnan(two) else 1.0
                else:
                    away += min(abs(one - two), 1.0)
                if away >= best:
                    break
            if away < best:
                best = away
                if best == 0.0:
                    break
        distance[i] = best
