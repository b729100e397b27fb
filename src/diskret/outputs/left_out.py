"""What deviations of two samples tell of the records that only one of them has.

Mean and standard deviation tell the sum of squares. Of two samples, one within the other, those of
the records left out follow, and where one of these deviates alone its value does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.outputs.cells import Cells
from diskret.outputs.differences import Difference, Statements
from diskret.outputs.judge_cells import NEARLY, deviations, estimated, percent_of
from diskret.outputs.profile import Profile

_PAIRS = 10_000  # of samples, one within the other


def unsafe_deviation(
    statements: Statements,
    values: NDArray[np.float64],
    sizes: Sequence[int],
    old: NDArray[np.bool_],
    profile: Profile,
) -> Difference:
    """Two samples, one old and one new, that tell of what lies between them who deviates most.

    Parameters
    ----------
    statements
        The cells whose deviations were published.
    values
        Shape (records,): what they are of, NaN where there is none.
    sizes
        How many cells each part has; all its cells together are a sample, too.
    old
        Shape (cells,): those that left before.
    profile
        The institution's rules; asked is p% of squares.
    """
    if not statements.names:
        return Difference()
    begins = np.cumsum([0, *sizes])
    whole = sparse.csr_array((np.ones(begins[-1]), np.arange(begins[-1]), begins))
    cells = sparse.vstack([statements.cells, whole @ statements.cells]).tocsr()
    samples = replace(statements, cells=cells)
    first = np.r_[np.arange(begins[-1]), begins[:-1]]  # the cell that a sample is called by
    atoms = _Atoms.of(statements, values)
    pairs = _within(cells, old[first])
    for one, other in pairs[:_PAIRS]:
        both = samples.atoms_of(one), samples.atoms_of(other)
        between = np.setxor1d(*both, assume_unique=True)
        if atoms.surely_safe(between, profile):
            continue
        rest = atoms.records(between)
        if estimated(deviations(rest), profile, squares=True)[0]:
            return Difference(int(rest.units[0]), (int(first[one]), int(first[other])))
    return Difference(unresolved=len(pairs) > _PAIRS)


def _within(samples: sparse.csr_array, old: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Shape (pairs, 2): an old sample and a new one, of which one has all atoms of the other."""
    number = np.diff(samples.indptr)
    early, late = np.flatnonzero(old), np.flatnonzero(~old)
    common = (samples[early] @ samples[late].T).tocoo()
    pairs = np.stack([early[common.row], late[common.col]], axis=1)
    sizes = number[pairs]
    inside = (common.data == sizes.min(axis=1)) & (sizes[:, 0] != sizes[:, 1])
    return pairs[inside]


@dataclass(frozen=True, eq=False)
class _Atoms:
    """What of records that lie in the same cells says soon that nobody of them deviates alone.

    Parameters
    ----------
    statements, values
        As of `unsafe_deviation`.
    number, mean, squares, low, high
        Shape (atoms,): records with a value, their mean, the squares around it, their ends.
    often
        How many records one unit has at most.
    """

    statements: Statements
    values: NDArray[np.float64]
    number: NDArray[np.int64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    often: int

    @classmethod
    def of(cls, statements: Statements, values: NDArray[np.float64]) -> _Atoms:
        """Counted from the records."""
        there = (statements.atom >= 0) & ~np.isnan(values)
        at, own = statements.atom[there], values[there]
        width = statements.cells.shape[1]
        number = np.bincount(at, minlength=width)
        mean = np.bincount(at, own, width) / np.maximum(number, 1)
        squares = np.bincount(at, (own - mean[at]) ** 2, width).astype(np.float64)
        low, high = np.full(width, np.inf), np.full(width, -np.inf)
        np.minimum.at(low, at, own)
        np.maximum.at(high, at, own)
        often = int(np.bincount(statements.unit[there]).max(initial=1))
        return cls(statements, values, number, mean, squares, low, high, often)

    def surely_safe(self, between: NDArray[np.int32], profile: Profile) -> bool:
        """Whether others deviate enough even if two units deviate as much as can be."""
        number, mean = self.number[between], self.mean[between]
        middle = number @ mean / max(number.sum(), 1)
        total = self.squares[between].sum() + number @ (mean - middle) ** 2
        ends = self.high[between].max(initial=middle), self.low[between].min(initial=middle)
        most = self.often * max((one - middle) ** 2 for one in ends)
        return bool(100 * (total * NEARLY - 2 * most) > percent_of(profile, squares=True) * most)

    def records(self, between: NDArray[np.int32]) -> Cells:
        """The records of some atoms as one cell."""
        inside = np.zeros(len(self.number) + 1, bool)  # -1: in no atom
        inside[between] = True
        at = np.where(inside[self.statements.atom], 0, -1).astype(np.int32)
        return Cells((("",),), at, self.values, self.statements.unit.astype(np.int32))
