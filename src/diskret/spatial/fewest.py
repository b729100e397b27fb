"""The fewest areas to hide so that all is kept secret that was asked for, of one map or of several.

Maps of several periods have the same areas and different records. What sums ask for in each period
are rows of one programme in whole numbers, whose columns are the areas.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.spatial.choice import Choice, Side
from diskret.spatial.programme import Programme

#: Of each two geographies, and one of them, a part of the map.
_Part = tuple[int, int, int, int]
#: Two geographies and a part of the map.
_Numbers = dict[tuple[tuple[int, int], int], None]


def fewest(choices: Sequence[Choice]) -> tuple[list[NDArray[np.bool_]], int]:
    """The fewest areas that do all that was asked for, the same ones in each map.

    choices: of maps with the same codes, of which the same may be hidden.

    Returns
    -------
    hidden, bound
        Of each geography which areas, and how few there can be.
    """
    every, variables = _modelled(choices)
    column = {area: i for i, area in enumerate(variables)}
    programme = Programme(len(variables))
    forced = set[tuple[int, int]]().union(*map(_forced, choices))
    for choice, parts in zip(choices, every, strict=True):
        _rows(choice, parts, column, forced, programme)
    may, fixed = choices[0].may, choices[0].fixed
    low = np.array([one in forced for one in variables], float)
    high = np.array([may[at] or fixed[at][area] for at, area in variables], float)
    x, bound = programme.solved(low, high)
    made = [own.copy() for own in fixed]
    for (at, area), chosen in zip(variables, x, strict=True):
        made[at][area] = chosen
    return made, bound


def _rows(
    choice: Choice,
    parts: Sequence[_Part],
    column: Mapping[tuple[int, int], int],
    forced: set[tuple[int, int]],
    programme: Programme,
) -> None:
    """What was asked for in one map."""
    inside_of: dict[_Part, list[int]] = {part: [] for part in parts}
    for pair in choice.pairs:
        for at, label in zip(pair, choice.labels(pair), strict=True):
            for (place, area), own in column.items():
                if place == at and (part := (*pair, at, int(label[area]))) in inside_of:
                    inside_of[part].append(own)
    total = {part: programme.way() for part in parts}
    for part, at in total.items():
        inside = inside_of[part]
        programme.at_least([at, *inside], [1, *[-1] * len(inside)], 0, equal=True)
    linked, all_linked = dict[tuple[int, int, int], int](), dict[tuple[int, int], int]()
    for part in parts:  # whether hidden areas of both geographies lie in a part
        both = [(*part[:2], at, part[3]) for at in part[:2]]
        if (key := (part[0], part[1], part[3])) not in linked and all(b in total for b in both):
            linked[key] = programme.way()
            for one in both:
                if not choice.outside(one):
                    programme.at_least([total[one], linked[key]], [1, -1], 0)
    for pair in choice.pairs:
        all_linked[pair] = programme.way()
        own = [at for key, at in linked.items() if key[:2] == pair]
        programme.at_least([all_linked[pair], *own], [1, *[-1] * len(own)], 0, equal=True)
    for sides in _open(choice, forced):
        _demand(programme, sides, column, total, linked, all_linked[sides[0].of[:2]])
    for areas in choice.jointly:
        programme.at_least([column[area] for area in areas], [1] * len(areas), 1)


def _demand(
    programme: Programme,
    sides: tuple[Side, ...],
    column: Mapping[tuple[int, int], int],
    total: Mapping[tuple[int, int, int, int], int],
    linked: Mapping[tuple[int, int, int], int],
    all_linked: int,
) -> None:
    """Keep a sum secret.

    It is told as long as each part of the map can be turned so that hidden areas of one
    geography are all on one side. They cannot where some lie on both sides in a part; or where
    those of both geographies lie on one side in a part, on different ones in another. Parts
    in which it has no pieces lie on one side.
    """

    def way(one: tuple[Side, bool], other: tuple[Side, bool]) -> int:
        """Whether areas are hidden on this side of the one (else on the other), and of both."""
        taken = programme.way()
        for side, here in (one, other):
            if not (side.here if here else side.there):
                areas = [column[side.geography, area] for area in side.areas]
                if here:
                    programme.at_least([*areas, taken], [*[1] * len(areas), -1], 0)
                else:
                    every = [total[key] for key in side.keys]
                    signs = [*[1] * len(every), *[-1] * len(areas), -1]
                    programme.at_least([*every, *areas, taken], signs, 0)
        return taken

    ways = [way((side, True), (side, False)) for side in sides]
    alike, across = list[int](), list[int]()
    of_parts = {(side.geography, side.parts): side for side in sides}
    first, second = sides[0].of[:2]
    numbers = list(dict.fromkeys(number for side in sides for number in side.parts))
    for parts in dict.fromkeys(side.parts for side in sides):
        one, other = of_parts.get((first, parts)), of_parts.get((second, parts))
        if one is not None and other is not None:
            alike += [way((one, here), (other, here)) for here in (True, False)]
            across += [way((one, here), (other, not here)) for here in (True, False)]
    elsewhere = [
        linked[first, second, number] for number in numbers if (first, second, number) in linked
    ]
    if across:
        ways.append(programme.way())
        programme.at_least([*across, ways[-1]], [*[1] * len(across), -1], 0)
        signs = [*[1] * len(alike), 1, *[-1] * len(elsewhere), -1]
        programme.at_least([*alike, all_linked, *elsewhere, ways[-1]], signs, 0)
    programme.at_least(ways, [1] * len(ways), 1)


def _forced(choice: Choice) -> set[tuple[int, int]]:
    """Areas that are hidden in any case, and those without which some sum is told."""
    forced = {(at, i) for at, own in enumerate(choice.fixed) for i in np.flatnonzero(own).tolist()}
    for sides in choice.asked:
        some = [side for side in sides if side.here or side.areas]
        if len(some) == 1 and not some[0].here and len(some[0].areas) == 1:
            forced.add((some[0].geography, some[0].areas[0]))
    return forced


def _open(choice: Choice, forced: set[tuple[int, int]]) -> list[tuple[Side, ...]]:
    """What was asked and is not kept secret by these areas alone."""
    number = dict[tuple[int, int, int, int], int]()
    for pair in choice.pairs:
        for at, label in zip(pair, choice.labels(pair), strict=True):
            for place, area in forced:
                if place == at:
                    part = (*pair, at, int(label[area]))
                    number[part] = number.get(part, 0) + 1

    def kept(side: Side) -> bool:
        own = sum((side.geography, area) in forced for area in side.areas)
        every = sum(number.get(key, 0) for key in side.keys)
        return (side.here or own > 0) and (side.there or every > own)

    return [sides for sides in choice.asked if not any(map(kept, sides))]


def _modelled(
    choices: Sequence[Choice],
) -> tuple[list[list[_Part]], list[tuple[int, int]]]:
    """The parts of each map that matter, of each two geographies, and the areas.

    Areas that sums name, and those hidden in any case; the parts that these are in, and so many
    others that one is left beside those of each sum; and areas of these that nothing names.
    """
    areas = dict[tuple[int, int], None]()
    parts = list[_Numbers]()
    for choice in choices:
        asked = [side for sides in choice.asked for side in sides]
        areas |= {(side.geography, area): None for side in asked for area in side.areas}
        areas |= {area: None for some in choice.jointly for area in some}
        for at, own in enumerate(choice.fixed):
            areas |= {(at, area): None for area in np.flatnonzero(own).tolist()}
        spread = max(
            (len({number for one in sides for number in one.parts}) for sides in choice.asked),
            default=0,
        )
        numbers = dict.fromkeys((side.of[:2], number) for side in asked for number in side.parts)
        for pair, label in choice.label.items():
            outside = [int(own[-1]) for own in choice.labels(pair)]
            largest = np.argsort(-np.bincount(label), kind="stable")[: spread + 1].tolist()
            numbers |= dict.fromkeys((pair, number) for number in [*outside, *largest])
        parts.append(numbers)
    while True:
        known = sum(map(len, parts))
        every = [*areas, *_largest(choices, parts, areas)]
        for choice, numbers in zip(choices, parts, strict=True):
            for pair in choice.pairs:
                for at, label in zip(pair, choice.labels(pair), strict=True):
                    own = label[[area for place, area in every if place == at]]
                    numbers |= dict.fromkeys((pair, number) for number in own.tolist())
        if known == sum(map(len, parts)):
            return [
                [(*pair, at, number) for pair, number in numbers for at in pair]
                for numbers in parts
            ], every


def _largest(
    choices: Sequence[Choice],
    parts: Sequence[_Numbers],
    areas: Collection[tuple[int, int]],
) -> Iterator[tuple[int, int]]:
    """Of areas that nothing names the largest in the same parts: hiding it tells least."""
    for at in range(len(choices[0].size)):
        size = np.sum([choice.size[at] for choice in choices], axis=0)
        named = np.zeros(len(size), bool)
        named[[area for own, area in areas if own == at]] = True
        named[-1] = True
        order = np.argsort(-size, kind="stable")
        kinds = list[NDArray[np.int64]]()
        for choice, numbers in zip(choices, parts, strict=True):
            for pair in choice.pairs:
                if at in pair:
                    label = choice.labels(pair)[pair.index(at)][order]
                    wanted = [number for of, number in numbers if of == pair]
                    kinds.append(np.where(np.isin(label, wanted), label, -1))
        every = np.stack([named[order], *kinds], axis=1)
        rows, first = np.unique(every, axis=0, return_index=True)
        free = (rows[:, 0] == 0) & (rows[:, 1:] >= 0).any(axis=1)
        yield from ((at, area) for area in order[first[free]].tolist())
