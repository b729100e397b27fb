"""Who attacks where nobody says, and what an attacker may be assumed to know beforehand."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements
from diskret.errors import InputError, ProtectionError
from diskret.rules import Sensitivity
from diskret.tables import Table
from diskret.tables.dimension import describe
from diskret.texts.numbers import Count

#: Records up to which `tabulate` lists the contributions of units by itself.
LISTED = 5_000_000


def default_attacker(tables: Sequence[Table], rules: Sequence[object]) -> Attacker:
    """A contributor, where all tables sum what units contribute; else the plain outsider.

    Where the contributions of units are not listed, or something cannot be judged by them, a
    warning says that the tables are not protected against contributors.
    """
    if not all(map(_sums_of_units, tables)):
        return Attacker()
    why = ""
    if any(isinstance(rule, Sensitivity) for rule in rules):
        why = "a Sensitivity is given in place of a rule"
    elif any(table.weight is not None for table in tables):
        why = "weighted tables cannot be judged by their contributors"
    elif any(table.contributions is None for table in tables):
        why = (
            "the contributions of units are not listed; tabulate with contributions=True (by "
            f"default they are, up to {LISTED:,} records)"
        )
    if not why:
        return Attacker(contributor=True)
    warnings.warn(
        f"protected against an outsider only, not against contributors who know their own share: "
        f"{why}. Say attacker=dk.Attacker() if that is enough",
        stacklevel=4,
    )
    return Attacker()


def _sums_of_units(table: Table) -> bool:
    """Whether a table sums values of records that name the unit they belong to."""
    from_records = table.units is not None and table.units is not table.count
    return not table.frequency and (table.contributions is not None or from_records)


_EXAMPLES = 5


def check_bounds(
    table: Table,
    name: str,
    requirements: Requirements,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> None:
    """Refuse bounds that are wrong, or that alone are closer than a rule allows.

    table, name: the table, and the name it is published under.
    lower, upper: what the attacker knows of each cell, scaled units, shape of the table.
    """
    value = table.measure.sum.ravel()
    low, high = lower.ravel(), upper.ravel()
    wrong = np.flatnonzero((low > value) | (high < value))
    if len(wrong):
        shown = "; ".join(
            f"{_known(table, i, low, high)}, but is {_amount(table, int(value[i]))}"
            for i in wrong[:_EXAMPLES].tolist()
        )
        number = Count(len(wrong))
        raise InputError(
            f"the attacker's bounds exclude the true value of {number} {number:cell|cells} of "
            f"{name!r}: {shown}. Correct the bounds, or let those that are wrong not count: "
            "Attacker(..., mistaken='drop')"
        )
    cell = requirements.cell
    down, up = value[cell] - low[cell], high[cell] - value[cell]
    short = (down < requirements.lower) | (up < requirements.upper)
    short |= down + up < requirements.sliding
    if short.any():
        shown = "; ".join(
            f"{_known(table, i, low, high)}, and {_amount(table, int(value[i]) - below)} to "
            f"{_amount(table, int(value[i]) + above)} must stay possible"
            for i, below, above in zip(
                cell[short][:_EXAMPLES].tolist(),
                requirements.lower[short].tolist(),
                requirements.upper[short].tolist(),
                strict=False,
            )
        )
        number = Count(short.sum())
        raise ProtectionError(
            f"{number} unsafe {number:cell|cells} of {name!r} cannot be protected against this "
            f"attacker, whose bounds alone are closer than the rule allows: {shown}. Assume that "
            f"the attacker knows less, combine categories, or set the {number:cell|cells} to safe "
            "with a reason"
        )


def _known(table: Table, cell: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> str:
    """What is known of a cell beforehand, in words."""
    ends = [_amount(table, end) if np.isfinite(end) else "?" for end in (low[cell], high[cell])]
    return f"{describe(table.dimensions, cell)} is known to lie in {ends[0]} to {ends[1]}"


def _amount(table: Table, scaled: float) -> str:
    """A scaled number as users write it."""
    decimals = table.measure.decimals
    return f"{scaled / 10**decimals:,.{decimals}f}"
