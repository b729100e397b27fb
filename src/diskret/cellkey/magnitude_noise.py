"""The parameters of noise on sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from diskret.cellkey.table import Lookup, PerturbationTable
from diskret.errors import InputError
from diskret.io.arrays import from_list
from diskret.parameters import Declared, Number, Positive, Probability, Several, Whole
from diskret.texts.numbers import Count

_MOST = 6
_Numbers = Annotated[tuple[float, ...], Several(Number(above=0))]
_Scales = Annotated[tuple[float, float], Several(Number(above=0))]


@dataclass(frozen=True, eq=False)
class MagnitudeNoise(Declared):
    """How sums are changed by the cell key method. Confidential: who knows it can undo noise.

    The largest contributions x_j to a cell with the value x scale its noise:
    x + Σ_j δ_j · v_j with δ_j = x_j · m(x_j) · ε_j. The v_j are looked up in `ptable` in the row
    x / δ_j, at most its last; between two rows they are interpolated.

    Parameters
    ----------
    ptable
        Of the noise v, with rows at some counts and noise in steps of 1/`step`. Its last row
        stands for all cells with x / δ_j beyond.
    scale
        m: a constant share of the contribution; or two of them, for small contributions (up to
        `flex_point`) and for very large ones, between which m falls.
    flex_point
        Contributions up to this one, in the measure's own unit, are small; for two scales.
    flex_power
        How fast m falls beyond: a whole number from 1 on.
    of
        ``"largest"``: δ is made of the largest contributions; ``"mean"``: of the mean
        contribution; ``"sum"``: of the value of the cell.
    shares
        ε of the largest contribution, 1, of the second largest, …, descending; as many
        contributions count, at most 6.
    extra
        How sensitive cells, those that a rule finds, are moved farther. None: each by what the
        rule asks for, on a side that a further key chooses, so that neither the rule's own
        estimators come too close nor a guess of those who know all parameters is right more often
        than wrong. A number: the constant μ of the literature, added to the size of v_1; where v_1
        is 0, a further key says on which side. As m falls, a constant is too little for large
        contributions; 0: nothing.
    risk
        γ: how likely the rule's own estimators may come too close in a sensitive cell, from 0 to
        1. Where it is more, or where the best guess of who knows all parameters is right with a
        probability above γ and above a half, nothing is published; 1: whatever it is.
    counts
        What changes the counts of the same cells, if these are published too: a sum beside a
        count that becomes 0 is then 0 as well. It would tell that somebody is there.
    small
        Table for very small cells, those whose largest contribution is less than the separation
        point: their noise is looked up by the value, in the measure's own unit, as for counts.
        None: they are treated as all others.
    odd
        Table in place of `ptable` for cells with an odd number of counted units; None: the same.
        Where the two have no noise in common, a unit that leaves a cell always changes it.
    keys
        ``"measure"``: each measure has keys of its own, which follow from those of the cells and
        the measure's source column, so that the noise of one tells nothing of that of another or
        of the counts. ``"cell"``: all have those of the cells, turned for each further
        contribution, as in other programs. Then x̂/ŷ is x/y where a single unit contributes,
        and whoever knows y knows x.
    own_keys
        With keys of the cells: whether the first is turned as well, and not that of the counts.

    Raises
    ------
    InputError
        A parameter is not admissible.

    Notes
    -----
    With small and large share p and P, flex point f and power q,
    m(x) = P · (1 + (p x − P f) / (P f) · (2 f / (f + x))^q) for x ≥ f, and p below. With the
    variance s² of the last row of `small` the separation point is s / (p · √Σ ε²).

    References
    ----------
    Giessing and Tent (2019), "Concepts for generalising tools implementing the cell key method
    to the case of continuous variables", UNECE work session on statistical data confidentiality.

    Examples
    --------
    >>> table = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5]])
    ... )
    >>> MagnitudeNoise(table, scale=0.2, shares=(1, 0.5))
    MagnitudeNoise(2 largest contributions)
    """

    ptable: PerturbationTable | Lookup
    scale: Positive | _Scales = (0.25, 0.05)
    flex_point: Positive = 1000.0
    flex_power: Annotated[int, Whole(1)] = 3
    of: Literal["largest", "mean", "sum"] = "largest"
    shares: _Numbers = (1.0,)
    extra: Annotated[float, Number(low=0)] | None = None
    risk: Probability = 0.0
    counts: PerturbationTable | Lookup | None = None
    small: PerturbationTable | Lookup | None = None
    odd: PerturbationTable | Lookup | None = None
    keys: Literal["measure", "cell"] = "measure"
    own_keys: bool = False

    def __post_init__(self) -> None:
        for name in ("ptable", "counts", "small", "odd"):
            table = getattr(self, name)
            if not isinstance(table, PerturbationTable | Lookup | None) or (
                table is None and name == "ptable"
            ):
                raise InputError(
                    f"{name}= is a PerturbationTable or a Lookup, not {type(table).__name__!r}"
                )
        for name in ("scale", "shares"):
            given = getattr(self, name)
            if name == "shares" or not isinstance(given, int | float | np.number):
                numbers = from_list(given, name, np.float64)
                object.__setattr__(self, name, tuple(numbers.ravel().tolist()))
        super().__post_init__()
        _check(self)

    def __repr__(self) -> str:
        number = len(self.shares)
        counted = f"{number} largest contributions" if number > 1 else "largest contribution"
        return f"MagnitudeNoise({counted if self.of == 'largest' else self.of})"

    @property
    def scales(self) -> tuple[float, float]:
        """The share of small and that of very large contributions."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale, self.scale)


def _check(noise: MagnitudeNoise) -> None:
    scales = noise.scales
    if len(scales) != 2 or not 0 < scales[1] <= scales[0]:
        raise InputError(
            f"scale= is a positive share, or two, that of small contributions being at least that "
            f"of large ones; not {noise.scale!r}"
        )
    shares = noise.shares
    if not 1 <= len(shares) <= _MOST or shares[0] != 1 or sorted(shares)[::-1] != list(shares):
        raise InputError(
            f"shares= has 1 to {_MOST} descending numbers, the first of them 1, not {shares!r}"
        )
    if noise.of != "largest" and len(shares) > 1:
        raise InputError(f"of={noise.of!r} is one number a cell; leave shares= out")
    if noise.own_keys and noise.keys == "measure":
        raise InputError(
            "own_keys= is for keys='cell'; the keys of a measure are never those of the counts"
        )
    for table in (noise.ptable, noise.small, noise.odd):
        if table is not None:
            _check_table(table)


def _check_table(table: PerturbationTable | Lookup) -> None:
    """Noise in the row of a must be at least -a, so that sums do not cross 0."""
    if isinstance(table, PerturbationTable):
        least = np.where(table.probabilities > 0, table.noise, 0).min(axis=1)
    else:
        least = table.noise.min(axis=1)
    wrong = table.counts[least < -table.counts * table.step]
    if len(wrong):
        number = Count(len(wrong))
        raise InputError(
            f"the perturbation table takes values below 0: in {number} {number:row|rows} (first "
            f"of {wrong[0]}) noise is less than minus what the row stands for"
        )
