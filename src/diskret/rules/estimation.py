"""How closely the second largest contributor can estimate the largest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from diskret.errors import InputError
from diskret.rules.contributions import largest
from diskret.rules.exact import ceil_divide, linear
from diskret.rules.sensitivity import Sensitivity, judged
from diskret.tables import Table


def estimable(
    table: Table, share: Fraction, minimum_level: float, name: str, rule: str
) -> Sensitivity:
    """Judge every cell: unsafe iff X − x1 − x2 < share·x1.

    Parameters
    ----------
    share
        How close an estimate of x1 must not come, as a share of x1.
    minimum_level
        Smallest protection level, in published units.
    name, rule
        What the rule is called in results and in messages.

    Raises
    ------
    InputError
        The table holds no measure, or fewer than two largest contributions.
    """
    measure = table.measure
    top = largest(table, 2, rule)
    over, of = share.numerator, share.denominator
    x1, x2 = top[..., 0], top[..., 1]
    # of · level, which is positive exactly where the rule hits
    need = linear([(over + of, x1), (of, x2), (-of, measure.magnitude)])
    unsafe = np.asarray(need > 0, dtype=bool)
    smallest = round(minimum_level * 10**measure.decimals)
    return judged(table, name, unsafe, np.maximum(ceil_divide(need, of), smallest))


def check_minimum_level(minimum_level: float) -> None:
    """Refuse a level below 0.

    Raises
    ------
    InputError
        Names it.
    """
    if not minimum_level >= 0:
        raise InputError(f"minimum_level must be ≥ 0, not {minimum_level!r}")
