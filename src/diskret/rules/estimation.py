"""How closely other contributors can estimate the largest."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Number, Whole
from diskret.rules.contributions import largest, target, unprotected
from diskret.rules.exact import LARGEST, ceil_divide, linear
from diskret.rules.sensitivity import Sensitivity, judged
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


#: A smallest protection level; no value is larger than the largest.
Level = Annotated[float, Number(low=0, high=10**15)]
#: How many contributors pool what they know.
Coalition = Annotated[int, Whole(1)]


def estimable(
    table: Table, share: Fraction, minimum_level: float, coalition: int, name: str, rule: str
) -> Sensitivity:
    """Judge every cell: unsafe iff X − x1 − … − x(n+1) < share·x1, n the coalition's size.

    With waivers the largest contribution without one takes the place of x1, and the largest
    of all others that of x2; where all have waived, a cell is safe.

    Parameters
    ----------
    share
        How close an estimate of x1 must not come, as a share of x1.
    minimum_level
        Smallest protection level, in published units.
    coalition
        How many contributors pool what they know to estimate x1: the next largest.
    name, rule
        What the rule is called in results and in messages.

    Raises
    ------
    InputError
        The table holds no measure, or too few of the largest contributions.
    """
    measure = table.measure
    top = largest(table, coalition + 1, rule)
    over, of = share.numerator, share.denominator
    x1, others = target(table, top)
    coalition_sum = others[..., :coalition].sum(axis=-1)
    # of · level, which is positive exactly where the rule hits
    need = linear([(over + of, x1), (of, coalition_sum), (-of, measure.magnitude)])
    unsafe = np.asarray(need > 0, dtype=bool) & unprotected(table)
    smallest = min(round(minimum_level * 10**measure.decimals), LARGEST)
    return judged(
        table,
        name,
        unsafe,
        np.maximum(ceil_divide(need, of), smallest),
        unknown=measure.magnitude - x1 - coalition_sum,
    )


def estimable_left(left: Left, share: Fraction, minimum_level: float) -> NDArray[np.int64]:
    """The level that contributors leave open: share·a' − R', rounded up, where it is positive.

    a' is the largest protected contribution of somebody else, R' all the rest outside.
    """
    over, of = share.numerator, share.denominator
    need = ceil_divide(linear([(over, left.largest), (-of, left.rest)]), of)
    smallest = min(round(minimum_level * 10**left.decimals), LARGEST)
    return np.where(need > 0, np.maximum(need, smallest), 0)
