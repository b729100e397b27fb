"""Small files of coded keys for the tests of risk, and a count of who agrees record by record."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from diskret.io import Coded
from diskret.risk import Keys


def keys_of(rows, sizes=None):
    """Keys ``k0``, ``k1``, … with these codes, ``(n, m)``; -1 is missing."""
    codes = np.asarray(rows, dtype=np.int32)
    if sizes is None:
        sizes = [max(int(column.max()) + 1, 1) for column in codes.T]
    return Keys(
        tuple(
            Coded(f"k{j}", pa.array(range(size)), codes[:, j].copy())
            for j, size in enumerate(sizes)
        )
    )


@st.composite
def files(draw, most_rows=14, most_keys=4):
    """Codes with gaps ``(n, m)``, and a weight for each record."""
    m = draw(st.integers(1, most_keys))
    row = st.tuples(*[st.integers(-1, 2)] * m)
    rows = draw(st.lists(row, min_size=1, max_size=most_rows))
    given = draw(st.lists(st.integers(1, 40), min_size=len(rows), max_size=len(rows)))
    return np.array(rows, dtype=np.int32), np.array(given, dtype=float)


def by_pairs(rows, others, weights, missing, alpha, same=True):
    """Frequencies from the definition: every pair of records is looked at."""
    sample, population = np.zeros(len(rows)), np.zeros(len(rows))
    for i, one in enumerate(rows):
        for j, other in enumerate(others):
            if missing == "category":
                counts = float((one == other).all())
            elif same and i == j:
                counts = 1.0
            elif ((one < 0) | (other < 0)).any():
                agree = ((one < 0) | (other < 0) | (one == other)).all()
                counts = float(agree) * (0.0 if missing == "conservative" else alpha)
            else:
                counts = float((one == other).all())
            sample[i] += counts
            population[i] += counts * weights[j]
    return sample, population
