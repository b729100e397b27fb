"""Rare combinations of a few keys, and who shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Positive, Whole, reading
from diskret.risk.frequencies import Missing, frequencies
from diskret.risk.keys import Keys, check_keys

#: Key → its level of identification from 1, the most identifying.
Levels = Mapping[str, Annotated[int, Whole(1)]]


@dataclass(frozen=True, eq=False)
class RareCombinations:
    """How many cells of each combination of keys are rare, and who stands in one."""

    keys: tuple[tuple[str, ...], ...]  # the c combinations, as names of keys
    cells: NDArray[np.int64]  # number of cells in which somebody stands, (c,)
    rare: NDArray[np.int64]  # number of those whose count is at most the threshold, (c,)
    records: NDArray[np.int64]  # number of records that stand in them, (c,)
    #: for each record in how many combinations it stands in a rare cell, (n,)
    times: NDArray[np.int64]
    smallest: NDArray[np.int64]  # number of keys of the smallest of them, 0 if there is none, (n,)


@reading
def combinations_up_to(
    names: Sequence[str], size: Annotated[int, Whole(1)]
) -> list[tuple[str, ...]]:
    """Every combination of 1, 2, …, `size` keys."""
    return [
        chosen
        for number in range(1, min(size, len(names)) + 1)
        for chosen in combinations(names, number)
    ]


@reading
def combinations_of_levels(names: Sequence[str], levels: Levels) -> list[tuple[str, ...]]:
    """Combinations of one key of each level of identification.

    What is more identifying is identifying, too: a key of level 1 may also stand for level 2 or
    3. So with three levels a combination has three keys: one of level 1, one of level 1 or 2, and
    one of level 1, 2 or 3 (Willenborg and de Waal 2001, "Elements of statistical disclosure
    control", on the rules of Statistics Netherlands).
    """
    check_keys(levels, names, "levels")
    most = max(levels.values(), default=0)
    made = [
        chosen
        for chosen in combinations([name for name in names if name in levels], max(most, 1))
        if all(
            level <= place
            for place, level in enumerate(sorted(levels[name] for name in chosen), start=1)
        )
    ]
    if not made:
        raise InputError(
            f"no combination of keys has one of each level 1 to {most}; levels= gives the most "
            "identifying keys level 1, and the next ones level 2 without leaving one out"
        )
    return made


@reading
def rare_combinations(
    keys: Keys,
    chosen: Sequence[tuple[str, ...]],
    threshold: Positive = 1,
    weights: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
) -> RareCombinations:
    """Count the cells whose count is at most `threshold`, in each combination of keys.

    `chosen`: combinations of their names, smaller ones first. `threshold`: largest count of a rare
    cell, above 0. `weights`: sampling weights, ``(n,)``: counts are estimates for the population;
    None: records. `missing`: whether a record whose value is missing counts in every cell that the
    missing value would allow (``"wildcard"``), in none (``"conservative"``), or in a cell of its
    own (``"category"``). But for the last, a record stands in no cell of a combination where one of
    its own values is missing.
    """
    found = keys.classes
    total = found.count.astype(float) if weights is None else found.total(weights)
    each = Keys(  # one record for each class
        tuple(
            replace(column, codes=found.codes[:, j].copy()) for j, column in enumerate(keys.columns)
        )
    )
    times = np.zeros(len(total), dtype=np.int64)
    smallest = np.zeros(len(total), dtype=np.int64)
    figures = np.zeros((3, len(chosen)), dtype=np.int64)
    for c, names in enumerate(chosen):
        part = each.select(names)
        cells = part.classes
        count = frequencies(part, total, missing).population
        there = np.ones(len(count), dtype=bool)
        if missing != "category":
            there = cells.codes.min(axis=1)[cells.of] >= 0
        rare = there & (count <= threshold)
        times += rare
        smallest[rare & (smallest == 0)] = len(names)
        figures[:, c] = (
            _distinct(cells.of[there]),
            _distinct(cells.of[rare]),
            found.count[rare].sum(),
        )
    return RareCombinations(
        tuple(chosen), figures[0], figures[1], figures[2], times[found.of], smallest[found.of]
    )


def _distinct(numbers: NDArray[np.intp]) -> int:
    return int(np.count_nonzero(np.bincount(numbers)))
