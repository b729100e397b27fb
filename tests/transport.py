"""The earth mover's distance as the transport problem that it is, from lists of values."""

import numpy as np
from scipy.optimize import linprog


def earth_mover(own, every, line):
    """What it costs to make the shares of some values those of all.

    `line`: values from the lowest to the highest; those that occur are as far apart as there are
    steps between them, relative to the longest way. All others are 1 from every other value.
    """
    values = sorted(set(every), key=str)
    place = {value: at for at, value in enumerate(one for one in line if one in values)}
    ways = [
        [
            float(a != b)
            if a not in place or b not in place
            else abs(place[a] - place[b]) / max(len(place) - 1, 1)
            for b in values
        ]
        for a in values
    ]
    n = len(values)
    given = np.kron(np.eye(n), np.ones(n))
    taken = np.kron(np.ones(n), np.eye(n))
    shares = [some.count(v) / len(some) for some in (own, every) for v in values]
    moves = linprog(np.ravel(ways), A_eq=np.vstack([given, taken]), b_eq=shares)
    return float(moves.fun)
