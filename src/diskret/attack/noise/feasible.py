"""Which true counts fit published noisy or rounded ones, and what this tells of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.attack.equations import Equations, equations
from diskret.attack.examine import examine
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.parameters import Number, reading
from diskret.progress import Progress, silent
from diskret.tables import Perturbed, Published
from diskret.tables.perturbed import stands_for


@dataclass(frozen=True, eq=False)
class FeasibleCounts:
    """What an attacker concludes of true counts from published, changed ones.

    All arrays have the shape of the table; bounds are whole, ∓inf where there is none.

    Parameters
    ----------
    alone_lower, alone_upper
        Interval of each true count by its own published value.
    lower, upper
        Interval by all of them: true counts add up.
    witness_lower, witness_upper
        The least and the largest value in whole-numbered tables that were found and checked; NaN
        if none was. The interval that a perfect attacker finds lies between the two.
    """

    alone_lower: NDArray[np.float64]
    alone_upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    witness_lower: NDArray[np.float64]
    witness_upper: NDArray[np.float64]

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Cells whose true count follows for certain, though not from their own value alone."""
        return (self.lower == self.upper) & (self.alone_lower < self.alone_upper)

    @property
    def narrowed(self) -> NDArray[np.bool_]:
        """Cells of which the equations tell more than their own published value, on any side."""
        return (self.lower > self.alone_lower) | (self.upper < self.alone_upper)

    @property
    def one_sided(self) -> NDArray[np.bool_]:
        """Narrowed cells whose interval still ends where their own value says on one side."""
        return (self.lower > self.alone_lower) ^ (self.upper < self.alone_upper)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Cells that are not pinned, and that no two checked tables differ in either."""
        open_ = self.witness_lower < self.witness_upper
        return ~open_ & ~self.pinned & (self.alone_lower < self.alone_upper)

    def inside(self, original: NDArray[np.int64]) -> float:
        """Share of true counts inside their interval; 1 if the attacker knew the method right."""
        return float(((self.lower <= original) & (original <= self.upper)).mean())

    def correct(self, original: NDArray[np.int64]) -> int:
        """Number of pinned cells whose true count is what was concluded."""
        return int((self.pinned & (self.lower == original)).sum())


def feasible_counts(
    published: Published, known: Perturbed, progress: Progress = silent
) -> FeasibleCounts:
    """Intervals of true counts behind published ones that were changed.

    Parameters
    ----------
    published
        The published table, of counts.
    known
        What the attacker knows or guesses of the method, e.g.
        ``dk.Perturbed("noise", largest=5)``.
    progress
        Told about the task ``"attack"``.

    Raises
    ------
    ContradictionError
        No true counts satisfy all that: the guess is too small; names up to five cells.
    InputError
        The table is none of counts, or holds no multiples of the base.

    Notes
    -----
    Every true count lies so near to its published value as the method allows, a published number
    other than 0 stands for a true one of at least 1, and true counts add up. Intervals come from
    real-valued tables and are rounded inwards; they hold whatever a perfect attacker could find.
    Of large tables they are outer bounds, and no tables are sought that show their ends: then all
    cells that are not pinned are undecided.

    References
    ----------
    Enderle, Giessing & Tent (2018), Designing confidentiality on the fly methodology: three
    aspects, LNCS 11126.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> shown = np.array([0, 1, 1])  # (1, 1 | 2) published as (1, 1 | 0)
    >>> table = Published("t", (Dimension("sex", Hierarchy.flat(["f", "m"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="cell_key")
    >>> found = feasible_counts(table, Perturbed("noise", largest=2))
    >>> found.lower.tolist(), found.pinned.tolist()
    ([2.0, 1.0, 1.0], [True, True, True])
    """
    _check(published)
    stands = stands_for(published, known)
    found = examine(stands, progress=progress)

    def everywhere(values: NDArray[np.float64]) -> NDArray[np.float64]:
        full = np.full(published.value.size, np.nan)
        full[found.cell] = np.where(np.isfinite(values), values, np.nan)
        return full.reshape(published.shape)

    alone = _alone(stands)
    return FeasibleCounts(
        *alone,
        np.maximum(np.ceil(found.lower - 1e-6).reshape(published.shape), alone[0]),
        np.minimum(np.floor(found.upper + 1e-6).reshape(published.shape), alone[1]),
        everywhere(found.witness_lower),
        everywhere(found.witness_upper),
    )


def least_noise(published: Published) -> int:
    """The least largest noise with which published counts can have been made.

    The attacker needs nothing but the published table: with true counts that add up, some of them
    must be this far from what is published. So it is a bound of a hidden D from below, and a good
    guess of it if the table is large.

    Parameters
    ----------
    published
        The published table, of counts.

    Raises
    ------
    ContradictionError
        No noise explains the table, because of cells that are shown as nothing.
    InputError
        The table is none of counts.
    ProofError
        The linear solver failed.

    Notes
    -----
    The least whole D with which a linear program finds real true counts n ≥ 0 with
    |n − published| ≤ D, and n ≥ 1 where the published value is not 0. The search begins with the
    largest D that one equation alone needs: what its k cells miss each other by, divided by k.
    Cells without a value are free.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> shown = np.array([20, 7, 7])
    >>> table = Published("t", (Dimension("sex", Hierarchy.flat(["f", "m"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="cell_key")
    >>> least_noise(table)
    2
    """
    _check(published)
    known = equations(stands_for(published, Perturbed("noise", largest=0)))
    return _least_noise(published, known)


def _least_noise(published: Published, known: Equations) -> int:
    from scipy.optimize import linprog

    value = published.value.ravel()[known.cell].astype(np.float64)
    free = published.suppressed.ravel()[known.cell]
    impossible = published.empty.ravel()[known.cell]
    positive = ~free & ~impossible & (value > 0)

    def possible(largest: int) -> bool:
        lower = np.where(free, 0.0, np.maximum(value - largest, positive))
        upper = np.where(free, np.inf, np.where(impossible, 0.0, value + largest))
        solved = linprog(
            np.zeros(len(value)),
            A_eq=known.matrix,
            b_eq=known.right.astype(np.float64),
            bounds=np.column_stack((lower, upper)),
            method="highs-ipm",  # the simplex method takes minutes for three variables
        )
        if solved.status not in (0, 2):
            raise ProofError(f"the linear solver failed: {solved.message}")
        return solved.status == 0

    if impossible.any() and not possible(int(value.sum()) + len(value)):
        raise ContradictionError(
            f"table {published.name!r}: cells that are shown as nothing contradict the counts of "
            "their parts, so no noise explains what is published: correct the published values"
        )
    least = _within_one_equation(known, value, free, noiseless=impossible)
    while not possible(least):
        least += 1
    return least


def _within_one_equation(
    known: Equations,
    value: NDArray[np.float64],
    free: NDArray[np.bool_],
    *,
    noiseless: NDArray[np.bool_],
) -> int:
    """The largest noise that some equation without free cells needs."""
    terms = abs(known.matrix)
    noisy = terms @ (~noiseless).astype(np.float64)
    usable = (terms @ free.astype(np.float64) == 0) & (noisy > 0)
    missed = np.abs(known.matrix @ value - known.right)[usable]
    return int(np.ceil((missed / noisy[usable]).max(initial=0) - 1e-6))


def _alone(stands: Published) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ends = np.iinfo(np.int64).max
    low, high = (np.asarray(side, dtype=np.int64) for side in (stands.lower, stands.upper))
    return (
        np.where(low == -ends, 0.0, np.maximum(low, 0)),
        np.where(high == ends, np.inf, high),
    )


def _check(published: Published) -> None:
    if not published.frequency:
        raise InputError(
            f"table {published.name!r} publishes values of {published.measure!r}, not counts; "
            "this attack is about counts"
        )


@dataclass(frozen=True)
class HiddenParameters:
    """What a published table tells of the perturbation table behind it.

    Parameters
    ----------
    variance
        Estimated variance of the noise of counts that are not small; nan without an equation to
        estimate it from.
    equations
        Number of equations between such counts that it was estimated from.
    least_noise
        The largest noise D is at least this.
    missing
        Numbers from 1 up that no cell shows: 1 to this. If many cells are published, these are the
        small counts that are never published.
    """

    variance: float
    equations: int
    least_noise: int
    missing: int


@reading
def hidden_parameters(
    published: Published, *, large: Annotated[float, Number(low=1)] = 10
) -> HiddenParameters:
    """Estimate variance, largest noise and unpublished small counts from a published table.

    Parameters
    ----------
    published
        The published table, of counts.
    large
        From which published value on counts are taken for large ones, which all have noise of the
        same variance; at least 1.

    Raises
    ------
    InputError
        The table is none of counts.

    Notes
    -----
    A total and its k parts miss each other by k + 1 noises, which are independent in pairs: the
    mean square of what they miss is (k + 1) V. Each equation says as much about V as any other,
    so all have the same weight. A total of one part is the same cell and tells nothing.

    References
    ----------
    Asghar & Kaafar (2020), Averaging attacks on bounded noise-based disclosure control
    algorithms, PoPETs 2020(2), arXiv:1902.06414.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> shown = np.array([40, 17, 20])
    >>> table = Published("t", (Dimension("sex", Hierarchy.flat(["f", "m"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="cell_key")
    >>> hidden_parameters(table)
    HiddenParameters(variance=3.0, equations=1, least_noise=1, missing=16)
    """
    least = least_noise(published)
    known = equations(stands_for(published, Perturbed("noise", largest=0)))
    shown = ~(published.suppressed | published.empty) & (published.value >= large)
    terms = abs(known.matrix)
    of_terms = terms.sum(axis=1)
    usable = (terms @ shown.ravel()[known.cell].astype(np.int64) == of_terms) & (of_terms > 2)
    missed = (known.matrix @ published.value.ravel()[known.cell])[usable].astype(np.float64)
    positive = published.value[published.value > 0]
    return HiddenParameters(
        float((missed**2 / of_terms[usable]).mean()) if usable.any() else float("nan"),
        int(usable.sum()),
        least,
        int(positive.min()) - 1 if len(positive) else 0,
    )


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
