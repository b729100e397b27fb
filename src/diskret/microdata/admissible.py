"""Which categories of a variable may become each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.names import some

#: Matrices that are made have at most so many rows.
_MOST_CATEGORIES = 3_000
#: Two values that do not become each other.
Forbidden = Iterable[Sequence[Any]]


def admissible(
    categories: tuple[Hashable, ...], band: int | None, forbidden: Forbidden
) -> NDArray[np.bool_]:
    """Which other category each may become, ``(L, L)``; symmetric, the diagonal is False."""
    size = len(categories)
    if size > _MOST_CATEGORIES:
        raise InputError(
            f"there are {size:,} categories, so the matrix would have {size**2:,} probabilities; "
            f"recode the variable first, or change fewer variables together (up to "
            f"{_MOST_CATEGORIES:,} categories)"
        )
    others = ~np.eye(size, dtype=bool)
    if band is not None:
        if band < 1:
            raise InputError(f"band= is the number of places a value may move, from 1, not {band}")
        places = np.arange(size)
        others &= np.abs(places[:, None] - places) <= band
    at = {value: place for place, value in enumerate(categories)}
    for pair in forbidden:
        first, second = _pair(pair, at)
        others[first, second] = others[second, first] = False
    return others


def category(value: Any) -> Hashable:
    """A category as it is compared: of several variables a tuple, numbers as Python has them."""
    if isinstance(value, list | tuple):
        return tuple(category(one) for one in value)  # pyright: ignore[reportUnknownVariableType]
    return value.item() if isinstance(value, np.generic) else value


def _pair(pair: Sequence[Any], at: Mapping[Hashable, int]) -> tuple[int, int]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"forbidden= lists pairs of values, [[a, b], …], not {pair!r}")
    values = [category(one) for one in pair]
    unknown = [value for value in values if value not in at]
    if unknown:
        raise InputError(
            f"forbidden= names {some('value', unknown)}, which does not occur; the values are "
            f"{_listed(list(at))}"
        )
    return at[values[0]], at[values[1]]


def _listed(values: Sequence[Any]) -> str:
    more = f", … ({len(values)} in all)" if len(values) > 8 else ""
    return ", ".join(map(repr, values[:8])) + more
