"""Unpicking of conventional rounding: differences of rounded values tell true ones."""

from __future__ import annotations

from diskret.attack.noise.feasible import FeasibleCounts, feasible_counts
from diskret.progress import Progress, silent
from diskret.tables import Perturbed, Published


def unpick(published: Published, base: int, progress: Progress = silent) -> FeasibleCounts:
    """What the equations tell of true counts behind rounded ones.

    Every cell was rounded on its own to the nearest multiple of the base, so a published value
    stands for few true ones, and the rounding of the total must fit that of its parts.

    Parameters
    ----------
    published
        The published table of rounded counts.
    base
        The base of rounding; readers see it.
    progress
        Told about the task ``"attack"``.

    Raises
    ------
    ContradictionError
        No true counts round to these values: they were not rounded in this way.
    InputError
        The table is none of counts, or holds no multiples of the base.

    Examples
    --------
    >>> import numpy as np
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> shown = np.array([9, 3, 3])  # only 4 + 4 = 8 rounds to 9
    >>> table = Published("t", (Dimension("sex", Hierarchy.flat(["f", "m"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="rounding")
    >>> found = unpick(table, base=3)
    >>> found.lower.tolist(), found.upper.tolist(), int(found.pinned.sum())
    ([8.0, 4.0, 4.0], [8.0, 4.0, 4.0], 3)
    """
    return feasible_counts(published, Perturbed("deterministic", base=base), progress)
