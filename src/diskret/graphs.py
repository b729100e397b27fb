"""What hangs together in a graph. scipy's module of graphs loads all of its linear algebra."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def connected(links: sparse.sparray) -> NDArray[np.int32]:
    """A number for each node, the same for nodes that links connect, directly or through others.

    `links`: square, one row and column a node; what is not zero is a link in both directions.

    >>> connected(sparse.coo_array(([1], ([0], [2])), shape=(4, 4)))
    array([0, 1, 0, 2], dtype=int32)
    """
    from scipy.sparse.csgraph import connected_components

    return connected_components(links, directed=False)[1]
