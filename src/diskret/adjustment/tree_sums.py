"""Sums along code trees as one linear map: from the inner cells of a table to all its cells."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension


def cells_above(dimensions: tuple[Dimension, ...]) -> sparse.csr_array:
    """Which cells each inner cell is part of, ``(inner cells, cells)``, ones, in C order.

    Its transpose adds inner cells up to all cells.

    Examples
    --------
    >>> cells_above((Dimension("x", Hierarchy.flat(["a", "b"])),)).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    each = [_codes_above(d.hierarchy) for d in dimensions]
    return sparse.csr_array(reduce(lambda a, b: sparse.kron(a, b, format="csr"), each))


def inner_cells(dimensions: tuple[Dimension, ...]) -> NDArray[np.int64]:
    """Flat positions of the combinations of leaves, in C order."""
    shape = tuple(len(d) for d in dimensions)
    at = np.ix_(*(d.hierarchy.leaves for d in dimensions))
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)[at].ravel()


def _codes_above(tree: Hierarchy) -> sparse.csr_array:
    above = [tree.ancestors[leaf] for leaf in tree.leaves.tolist()]
    line = np.repeat(np.arange(len(above)), [len(codes) for codes in above])
    column = np.concatenate(above)
    ones = np.ones(len(column))
    return sparse.csr_array((ones, (line, column)), shape=(len(above), len(tree)))
