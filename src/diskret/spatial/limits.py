"""When a sum of pieces is of too few, or tells too much of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.rules import PQ, Dominance, MinimumFrequency, PPercent
from diskret.rules.percentages import percentage
from diskret.rules.sensitivity import Rule, parts


@dataclass(frozen=True)
class Share:
    """What makes a sum unsafe: others leave too little besides the largest contributors.

    Unsafe: ``rest < share * (largest + together * next)``, where `others` of the next largest are
    taken together and the rest is what is left. The p% rule is ``Share(1, p / 100, 0)``, dominance
    of n with k % ``Share(n - 1, (100 - k) / k, 1)``.
    """

    others: int
    share: Fraction
    together: int

    def tells(self, own: float, others: NDArray[np.float64]) -> bool:
        """Whether a sum tells too much of a unit, from what each contributes, whole numbers.

        Where those who are taken together are estimated, too, the unit must be the largest.
        """
        sizes = sorted((int(amount) for amount in others), reverse=True)
        tops = sum(sizes[: self.others])
        if self.together and sizes and sizes[0] > own:
            return False
        return sum(sizes) - tops < self.share * (int(own) + self.together * tops)

    def unsafe(self, amounts: NDArray[np.float64]) -> bool:
        """Whether a sum tells too much of its largest unit."""
        largest = int(amounts.argmax())
        return self.tells(float(amounts[largest]), np.delete(amounts, largest))


def limits_of(rule: Rule, of_sums: bool) -> tuple[int, dict[str, Share], bool]:
    """What a rule says of sums of pieces.

    Parameters
    ----------
    of_sums
        Whether values are summed, else records are counted.

    Returns
    -------
    threshold, shares, all_known
        The fewest units that are safe, 0 if any number is; by name of the rule, when one unit is
        known too well; and whether this is all that the rule says.
    """
    threshold, shares, known = 0, dict[str, Share](), True
    for one in parts(rule):
        if isinstance(one, MinimumFrequency):
            threshold = max(threshold, one.n)
        elif of_sums and isinstance(one, PPercent):
            shares["p_percent"] = Share(one.coalition, percentage(one.p, "p"), 0)
        elif of_sums and isinstance(one, PQ):
            share = percentage(one.p, "p") / percentage(one.q, "q")
            shares["pq"] = Share(one.coalition, share, 0)
        elif of_sums and isinstance(one, Dominance):
            part = percentage(one.k, "k")
            shares["dominance"] = Share(one.n - 1, (1 - part) / part, 1)
        else:
            known = False
    return threshold, shares, known


def judging(rule: Rule, of_sums: bool) -> tuple[int, dict[str, Share]]:
    """The same of a rule that says nothing else; others are refused."""
    threshold, shares, known = limits_of(rule, of_sums)
    if not known:
        raise InputError(
            f"{rule!r} cannot judge differences between geographies; counts are judged by "
            "MinimumFrequency, sums (value=) also by PPercent, PQ and Dominance"
        )
    return threshold, shares
