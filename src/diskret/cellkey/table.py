"""Perturbation tables: how likely each noise is for each count. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey import lookup
from diskret.errors import InputError


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """How likely each noise is for each count. Confidential: who knows it can undo noise.

    Parameters
    ----------
    counts
        What the rows stand for, ascending whole numbers, the first of them 0; shape ``(rows,)``,
        int64. The last row stands for all larger counts, too. For magnitudes rows may leave
        numbers out; what lies between two of them is interpolated.
    noise
        Admissible noise, ascending, in units of 1/`step`; shape ``(m,)``, int64.
    probabilities
        P(noise | row), rows sum up to 1, shape ``(rows, m)``, float64. The row of 0 has no noise.
    step
        Noise values are multiples of 1/`step`; 1 for counts.
    """

    counts: NDArray[np.int64]
    noise: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    step: int = 1

    def __repr__(self) -> str:
        return f"PerturbationTable({len(self.counts)} rows)"

    @property
    def max_noise(self) -> float:
        """The largest noise on either side, D."""
        return float(np.abs(self.noise[self.probabilities.any(axis=0)]).max()) / self.step

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean noise of each row, 0 by design; shape ``(rows,)``."""
        return self.probabilities @ (self.noise / self.step)

    @property
    def variances(self) -> NDArray[np.float64]:
        """Variance of the noise of each row, shape ``(rows,)``."""
        return self.probabilities @ (self.noise / self.step) ** 2 - self.means**2

    def row(self, count: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of the row of each count; larger counts have the last one."""
        return np.minimum(np.searchsorted(self.counts, count), len(self.counts) - 1)

    def probability(self, count: int, noise: float) -> float:
        """P(noise | count).

        Raises
        ------
        InputError
            The count is negative.
        """
        if count < 0:
            raise InputError(f"a count is at least 0, not {count}")
        row = int(self.row(np.array(count)))
        at = np.flatnonzero(self.noise == noise * self.step)
        return float(self.probabilities[row, at[0]]) if len(at) else 0.0

    def lookup(
        self,
        modulus: int = 2**32,
        order: lookup.Order = "sorted",
        seed: int | None = None,
    ) -> lookup.Lookup:
        """Which noise each cell key means: intervals as long as the probabilities say.

        Parameters
        ----------
        modulus
            Of the cell keys. With a small one (256) probabilities hold only to 1/modulus;
            `Lookup.table` shows which ones are really used.
        order
            ``"sorted"``: by noise, as in most programs. ``"shuffled"``: in secret order, so
            that a large key does not mean a large noise.
        seed
            Of the secret order; None: from the office's own key.

        Examples
        --------
        >>> table = PerturbationTable(
        ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
        ... )
        >>> table.lookup(modulus=10).bounds.tolist()
        [[10, 10, 10], [3, 7, 10]]
        """
        if order not in ("sorted", "shuffled"):
            raise InputError(f"order must be 'sorted' or 'shuffled', not {order!r}")
        found = lookup.lookup_of(self, modulus)
        return found if order == "sorted" else found.shuffled(seed)
