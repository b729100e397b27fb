"""What the cells of a table of unions are made of: the cells of another table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.population import EVERYBODY, Population
from diskret.tables.dimension import Dimension


@dataclass(frozen=True, eq=False)
class MadeOf:
    """The cells that each union lies in, for rules that ask for codes. Confidential.

    Parameters
    ----------
    dimensions
        Those of the table that the cells belong to; none where nobody knows the cells.
    where
        Which records were tabulated there.
    recorded
        Whether its finest codes are texts of the records.
    cells
        Which cells hold the records of each union, ``(1 + unions, cells)``, entries 1; the first
        row is the empty total of the unions. Of cells less others those that are not taken away.
    """

    dimensions: tuple[Dimension, ...] = ()
    where: Population = EVERYBODY
    recorded: bool = False
    cells: sparse.csr_array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each dimension of the table that the cells belong to."""
        return tuple(len(d) for d in self.dimensions)

    def somewhere(self, axis: int, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether a union has a cell with one of some codes of a dimension, ``(1 + unions,)``.

        axis, there: the dimension, and which of its codes these are.
        """
        if self.cells is None:
            raise ValueError("nobody knows the cells")
        code = np.unravel_index(self.cells.indices, self.shape)[axis]
        found = np.repeat(np.arange(self.cells.shape[0]), np.diff(self.cells.indptr))[there[code]]
        held = np.zeros(self.cells.shape[0], dtype=bool)
        held[found] = True
        return held


#: Unions of which nobody knows the cells.
ANYWHERE = MadeOf()


def behind_total(member: sparse.csr_array) -> sparse.csr_array:
    """Unions as `MadeOf.cells` has them: behind an empty total, without what is taken away.

    >>> member = sparse.csr_array(np.array([[0, 1, 1], [1, -1, 0]]))
    >>> behind_total(member).toarray().tolist()
    [[0, 0, 0], [0, 1, 1], [1, 0, 0]]
    """
    kept = sparse.csr_array(member, copy=True)
    kept.data = np.where(kept.data > 0, 1, 0)
    kept.eliminate_zeros()
    indptr = np.concatenate(([0], kept.indptr))
    shape = (kept.shape[0] + 1, kept.shape[1])
    return sparse.csr_array((kept.data, kept.indices, indptr), shape=shape)
