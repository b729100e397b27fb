"""How many records have both of two values: covariances of variables of two values tell it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.checked import Told
from diskret.outputs.profile import Profile


def two_values(column: NDArray[np.float64]) -> tuple[float, float] | None:
    """The two values of a variable that has just two."""
    head = np.unique(column[:1000])
    if len(head) > 2:
        return None
    low, high = float(column.min()), float(column.max())
    if low == high or not ((column == low) | (column == high)).all():
        return None
    return low, high


def pairs_told(
    columns: Mapping[str, NDArray[np.float64]], rows: Any, profile: Profile
) -> tuple[Told, ...]:
    """Tables of two variables of two values each, as sets; none where a profile lets them pass.

    Variables of which no record has two, such as those made of one category, are taken together
    and crossed at once.

    Parameters
    ----------
    columns
        Name → shape (records,): the variables, of any values.
    rows
        Shape (records,): what the records are called; None: their numbers.
    profile
        The institution's rules: its verdict on ``"pairs"``.
    """
    if profile.verdict("pairs") == "pass":
        return ()
    groups: list[tuple[NDArray[np.int32], list[str]]] = []
    for name, column in columns.items():
        two = two_values(column)
        if two is None:
            continue
        inside = column == two[1]
        for code, names in groups:
            if not code[inside].any():
                code[inside] = len(names)
                names.append(name)
                break
        else:
            groups.append((inside.astype(np.int32), ["0", name]))
    told: list[Told] = []
    for (one, names), (other, more) in combinations(groups, 2):
        cell = one * len(more) + other
        there = np.bincount(cell, minlength=len(names) * len(more)) > 0
        sets = cell if there.all() else (np.cumsum(there) - 1).astype(np.int32)[cell]
        both = np.array([[f"{first} & {second}" for second in more] for first in names]).reshape(-1)
        told.append(Told(sets, tuple((str(one),) for one in both[there]), rows))
    return tuple(told)
