"""Sums that follow from sums of several results, and in which few units have nearly everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.attack.row_space import RowSpace
from diskret.attack.singled_out import Found, Limit, Members, fewest_units, unsafe_sum
from diskret.outputs.differences import Difference, Known, Statements, worst_of
from diskret.outputs.profile import Profile

_OFTEN = 2  # times that an atom may be in a sum
#: How many records any two variables agree on in some unit of measurement.
FEW = 3
#: Up to which share of the largest value two values are one.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class ToldSums:
    """What results tell of one variable.

    Parameters
    ----------
    values
        Shape (records,): the variable, NaN where no result has it.
    parts
        Numbers of the parts whose sums are of this variable.
    """

    values: NDArray[np.float64]
    parts: tuple[int, ...]


_SAMPLE = 1000  # records that show at once that two variables differ


def variables(values: Sequence[NDArray[np.float64] | None]) -> list[ToldSums]:
    """Parts whose sums are of the same variable, whatever it is called and in whatever unit.

    A constant that was added to each record, or that each was subtracted from, makes no other
    variable: whoever knows how many records there are takes it off the sum.

    Parameters
    ----------
    values
        For each part, shape (records,), NaN where there is none; None: no sums are told.
    """
    found: list[ToldSums] = []
    for number, own in enumerate(values):
        if own is None:
            continue
        for place, one in enumerate(found):
            same = _same(one.values, own)
            if same is not None:
                scale, shift = same
                whole = np.where(np.isnan(one.values), (own - shift) / scale, one.values)
                found[place] = ToldSums(whole, (*one.parts, number))
                break
        else:
            found.append(ToldSums(own, (number,)))
    return found


def _same(known: NDArray[np.float64], own: NDArray[np.float64]) -> tuple[float, float] | None:
    """What the known values are multiplied by to be these, and what is then added.

    None: they are others, or share little.
    """
    step = max(len(own) // _SAMPLE, 1)
    if step > 1 and _differ(known[::step], own[::step], float(np.nanmax(np.abs(own), initial=0))):
        return None
    both = ~np.isnan(known) & ~np.isnan(own)
    first, second = known[both], own[both]
    if not len(first) or not first.any() or not second.any():
        return None
    close = EQUAL * np.abs(second).max()
    largest = int(np.abs(first).argmax())
    scale = float(second[largest] / first[largest])
    few = np.count_nonzero(first) < FEW and abs(scale - 1) > EQUAL
    if (np.abs(second - scale * first) <= close).all():
        return None if few or not scale else (scale, 0.0)
    ends = [int(first.argmin()), int(first.argmax())]
    least, most = first[ends]
    if len(np.unique(first)) <= FEW or second[ends[0]] == second[ends[1]]:
        return None  # any two variables of two values agree so
    scale = float((second[ends[1]] - second[ends[0]]) / (most - least))
    shift = float(second[ends[0]] - scale * least)
    return (scale, shift) if (np.abs(second - scale * first - shift) <= close).all() else None


def _differ(known: NDArray[np.float64], own: NDArray[np.float64], largest: float) -> bool:
    """Whether some records show that no factor and constant make these of the known values.

    If all are within `EQUAL` of the largest, these are within three times that by those of two of
    them, the smallest and the largest.
    """
    both = ~np.isnan(known) & ~np.isnan(own)
    first, second = known[both], own[both]
    if not len(first) or first.min() == first.max():
        return False
    low, high = int(first.argmin()), int(first.argmax())
    way = (first - first[low]) / (first[high] - first[low])
    gap = np.abs(second - second[low] - way * (second[high] - second[low]))
    return bool((gap > 4 * EQUAL * largest).any())


def unsafe_difference(
    statements: Statements,
    values: NDArray[np.float64],
    profile: Profile,
    known: Sequence[NDArray[np.bool_]],
) -> Difference:
    """A sum that follows from published ones and is of few units, or that few units determine.

    Found is every sum of atoms, each added, subtracted or left out, that is a sum and difference
    of published sums by any factors, and is unsafe: of fewer units than the threshold, or by the
    p% rule or dominance, where an atom that is subtracted hides another as much as one that is
    added. By linearity of these rules nothing unsafe follows from safe sums of one result alone.
    The same is asked of what each record is above the smallest of all, and below the largest.

    Parameters
    ----------
    statements
        The cells whose sums were published.
    values
        Shape (records,): what was summed, NaN where there is none.
    profile
        The institution's rules.
    known
        Each of shape (cells,): cells that are judged already.
    """
    if not statements.names or np.isnan(values).all():
        return Difference()
    limits = limits_of(profile)

    def few(space: RowSpace, known: Known, members: Members) -> Found:
        return fewest_units(space, known, members, profile.threshold, signed=True, most=_OFTEN)

    def judged(space: RowSpace, known: Known, members: Members) -> Found:
        unresolved = False
        for limit in limits:
            found = unsafe_sum(space, known, members, limit, most=_OFTEN)
            unresolved |= found.unresolved
            if found.atoms is not None:
                return Found(found.atoms, found.units, unresolved)
        return Found(unresolved=unresolved)

    moved = (values, values - np.nanmin(values), np.nanmax(values) - values)
    members = [statements.members(np.nan_to_num(one)) for one in moved]
    unresolved = False
    for who, how in [(members[0], few), *((one, judged) for one in members)]:
        found = worst_of(statements, who, known, how)
        unresolved |= found.unresolved
        if found.statements:
            return found
    return Difference(unresolved=unresolved)


def limits_of(profile: Profile) -> list[Limit]:
    """The rules of a profile for the share of the largest contributors."""
    limits: list[Limit] = []
    if profile.p_percent is not None:
        limits.append(Limit(1, float(profile.p_percent) / 100, 0.0))
    if profile.dominance is not None:
        number, percent = int(profile.dominance[0]), float(profile.dominance[1])
        limits.append(Limit(number - 1, (100 - percent) / percent, 1.0))
    return limits
