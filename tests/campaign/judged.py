"""What is unsafe, and by how much it must stay uncertain, worked out from contributions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from campaign.cases import Rule

ONE = Fraction(1)


def level(
    rule: Rule,
    own: Sequence[int] | None,
    others: Sequence[int],
    coalition: int,
    counts: bool,
    units: int | None = None,
) -> Fraction | None:
    """How uncertain a cell must stay on both sides; None: nothing is asked.

    Parameters
    ----------
    rule
        Names of rules with their parameters.
    own
        What the members of a coalition contribute to the cell, one entry for each who has a
        record there; None: nobody in particular attacks.
    others
        What everybody else contributes, each unit or holding once.
    coalition
        How many pool what they know, at least 1.
    counts
        Whether records are counted, or their values added.
    units
        How many units there are in all; None: as many as contributors, who are then no holdings.
    """
    if not others:
        return None
    outside = sorted((abs(x) for x in others), reverse=True)
    inside = sum(abs(x) for x in own or ())
    members = len(own or ())
    units = len(outside) + members if units is None else units
    found: list[Fraction] = []
    for kind, parameter in rule:
        if kind == "frequency":
            if units < parameter + coalition - 1:
                found.append(ONE if counts else max(ONE, Fraction(sum(outside), 10)))
        elif kind == "p":
            known = coalition if own is None else 0
            found.append(Fraction(parameter, 100) * outside[0] - sum(outside[1 + known :]))
        elif members < parameter[0]:
            top = inside + sum(outside[: parameter[0] - members])
            found.append(top * Fraction(100, parameter[1]) - inside - sum(outside))
    return max((one for one in found if one > 0), default=None)
