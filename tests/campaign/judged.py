"""What is unsafe, and by how much it must stay uncertain, worked out from contributions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from campaign.cases import Rule

ONE = Fraction(1)


class Share(NamedTuple):
    """What somebody contributes to a cell, as so many equal contributors."""

    value: int
    waived: bool = False
    asked: bool = False
    weight: int = 1


def level(
    rule: Rule,
    own: Sequence[int | Share] | None,
    others: Sequence[int | Share],
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
    mine, theirs = _shares(own or ()), _shares(others)
    protected = [abs(one.value) for one in theirs if not one.waived]
    if not protected:
        return None
    largest = max(protected)
    outside, inside = _sizes(theirs), _sizes(mine)
    everybody = sorted(outside + inside, reverse=True)
    rest = sorted(outside, reverse=True)
    rest.remove(largest)
    units = len(theirs) + len(mine) if units is None else units
    found: list[Fraction] = []
    for kind, parameter in rule:
        if kind == "frequency":
            if units < parameter + coalition - 1:
                one = ONE if own is not None else Fraction(dict(rule).get("level", 1))
                found.append(one if counts else max(ONE, Fraction(sum(outside), 10)))
        elif kind == "request":
            asked = [abs(one.value) for one in mine + theirs if one.asked]
            hit = max(asked, default=-1) >= everybody[0]
            hit &= 100 * everybody[0] > parameter * sum(everybody)
            if hit and any(one.asked for one in theirs):
                found.append(max(ONE, Fraction(sum(outside), 10)))
        elif kind == "p":
            known = coalition if own is None else 0
            found.append(Fraction(parameter, 100) * largest - sum(rest[known:]))
        elif kind == "dominance" and len(mine) < parameter[0]:
            number, percent = parameter
            top = sum(inside) + sum(sorted(outside, reverse=True)[: number - len(mine)])
            most = max(abs(one.value) for one in mine + theirs if not one.waived)
            if most >= [*everybody, *[0] * number][number - 1]:
                found.append(top * Fraction(100, percent) - sum(everybody))
    return max((one for one in found if one > 0), default=None)


def strictest(rules: Sequence[Rule], *of: Any) -> Fraction | None:
    """The most that any of some rules asks for, see `level`; None: nothing is asked."""
    needs = [need for rule in rules if (need := level(rule, *of)) is not None]
    return max(needs, default=None)


def _shares(given: Sequence[int | Share]) -> list[Share]:
    return [one if isinstance(one, Share) else Share(one) for one in given]


def _sizes(shares: Sequence[Share]) -> list[int]:
    return [abs(one.value) for one in shares for _ in range(one.weight)]
