"""Record swapping: whole households change places, those at risk first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.swap import place_in_group
from diskret.risk.keys import grouped

Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]
Numbers = NDArray[np.float64]

#: Least risk that decides how soon a household is drawn.
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Households:
    """What decides which of h households may change places."""

    #: for each level, from coarse to fine, the area of each household, (h,); each area lies in one
    #: of the level before
    areas: Sequence[Rows]
    #: the level whose areas a household has to leave because it is risky there (the coarsest one),
    #: (h,); the number of levels if it is not risky
    needs: Rows
    #: for each level the risk of each household, (h,), from 0: how soon it is drawn
    risk: Sequence[Numbers]
    #: for each profile, the first one tried first, its groups of households, (h,); partners are of
    #: one group
    profiles: Sequence[Rows]
    part: Flags  # households that take part, (h,)

    def __len__(self) -> int:
        return len(self.needs)


@dataclass(frozen=True, eq=False)
class RecordSwap:
    """Who changed places with whom. Confidential."""

    partner: Rows  # for each household the one whose place it gets, (h,); itself if it stays
    profile: Rows  # number of the profile in which both agree, (h,); -1 if it stays


def exchanged(households: Households, rate: float, rng: np.random.Generator) -> RecordSwap:
    """Find partners for all households at risk, then for others until enough change places.

    Level by level, from coarse to fine, each household that is risky there, or was at a coarser
    level and found nobody, gets a partner in another area of that level: of the first profile that
    has one, from the same area of the level above if possible, households at risk before others,
    and among equals by draws in which a higher risk counts more. If fewer than `rate` have
    changed places then, further ones are drawn in each area of the finest level in proportion to
    what is missing there.

    `rate`: share of the households that change places, from 0 to 1; a swap counts for two. More do
    if more are at risk.

    Source: The method of the ESSnet on the harmonised protection of census data (2017), targeted
    record swapping; Hundepool et al., Handbook on Statistical Disclosure Control (2nd ed. 2024).
    """
    partner, profile = np.arange(len(households)), np.full(len(households), -1)
    free = households.part.copy()
    for level in range(len(households.areas)):
        needing = free & (households.needs <= level)
        ranked = _ranked(households.risk[level], rng)
        first = needing[ranked]
        ranked = np.concatenate([ranked[first], ranked[~first]])
        _pair(households, level, ranked[: first.sum()], ranked, (free, partner, profile))
    _reach(households, rate, rng, (free, partner, profile))
    return RecordSwap(partner, profile)


def _ranked(risk: Numbers, rng: np.random.Generator) -> Rows:
    """Households in an order drawn with probabilities proportional to their risks."""
    return np.argsort(rng.standard_exponential(len(risk)) / np.maximum(risk, _TINY), kind="stable")


def _pair(
    households: Households,
    level: int,
    needing: Rows,
    ranked: Rows,
    state: tuple[Flags, Rows, Rows],
    most: int | None = None,
) -> int:
    """Find partners in other areas of a level, at most `most` pairs; their number.

    `state` is who is free, the partners and the profiles so far; all three are changed. Without
    `most`, those with many free neighbours of their group in their own area are served first:
    these cannot be each other's partners.
    """
    from diskret.microdata.swap_kernels import donors

    free, partner, profile = state
    area, made = households.areas[level], 0
    for number, of in enumerate(households.profiles):
        for near in (True, False) if level else (False,):
            needing = needing[free[needing]]
            if not len(needing) or made == most:
                return made
            group = _joined(of, households.areas[level - 1]) if near else of
            groups = int(group.max()) + 1
            there = np.zeros(groups, dtype=bool)
            there[group[needing]] = True
            ranked = ranked[free[ranked]]
            listed = ranked[there[group[ranked]]]
            served = _crowded_first(needing, group, area, listed) if most is None else needing
            left_over = len(served) if most is None else most - made
            found = donors(served, listed, group, groups, area, free, left_over)
            one, other = served[found >= 0], found[found >= 0]
            partner[one], partner[other] = other, one
            profile[one] = profile[other] = number
            made += len(one)
    return made


def _crowded_first(needing: Rows, group: Rows, area: Rows, listed: Rows) -> Rows:
    """Those whose group has the most free households in their own area first."""
    number = _joined(group[listed], area[listed])
    crowd = np.empty(len(group), dtype=np.int64)
    crowd[listed] = np.bincount(number)[number]
    return needing[np.argsort(-crowd[needing], kind="stable")]


def _reach(
    households: Households,
    rate: float,
    rng: np.random.Generator,
    state: tuple[Flags, Rows, Rows],
) -> None:
    """Further pairs across areas of the finest level, until the rate is met or nobody is left."""
    free, partner, _ = state
    level = len(households.areas) - 1
    area = households.areas[level]
    all_of = np.bincount(area[households.part], minlength=int(area.max()) + 1)
    goal = rate * float(all_of.sum())
    moved = partner != np.arange(len(partner))
    pairs = int(np.floor((goal - moved.sum()) / 2 + rng.random()))
    untried, ranked, times = free.copy(), _ranked(households.risk[level], rng), 1
    while pairs > 0 and untried.any():
        moved = partner != np.arange(len(partner))
        missing = np.maximum(rate * all_of - np.bincount(area[moved], minlength=len(all_of)), 0)
        drawn = _drawn(area, ranked[untried[ranked]], missing, pairs * times, rng)
        untried[drawn] = False
        pairs -= _pair(households, level, drawn, ranked, state, most=pairs)
        untried &= free
        times *= 2  # who was drawn and stays is nobody's partner: that may be most


def _drawn(
    area: Rows, ranked: Rows, missing: Numbers, number: int, rng: np.random.Generator
) -> Rows:
    """About so many households, in each area in proportion to what is missing there.

    What is expected of an area is rounded at random, so that the sum stays; in an area those
    first in `ranked` are drawn.
    """
    there = np.bincount(area[ranked], minlength=len(missing))
    share = np.where(there > 0, missing, 0.0)
    share = share if share.sum() > 0 else there.astype(float)
    expected = np.minimum(number * share / share.sum(), there)
    order = rng.permutation(len(expected))
    count = np.zeros(len(expected), dtype=np.int64)
    count[order] = np.diff(np.floor(np.cumsum(expected[order]) + rng.random()), prepend=0)
    by_area = ranked[np.argsort(area[ranked], kind="stable")]
    return rng.permutation(by_area[place_in_group(area[by_area]) < count[area[by_area]]])


def _joined(one: Rows, other: Rows) -> Rows:
    """Groups of those that agree in two numbers."""
    sizes = [int(each.max(initial=-1)) + 1 for each in (one, other)]
    return grouped([one.astype(np.int32), other.astype(np.int32)], sizes)[0]
