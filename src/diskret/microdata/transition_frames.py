"""Transition matrices as frames: one row for each possible transition."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import coded, to_arrow
from diskret.io.columns import column
from diskret.texts.numbers import Count


def written(categories: Sequence[Hashable], probabilities: NDArray[np.float64]) -> pa.Table:
    """Columns ``original``, ``published`` (numbered for several variables), ``probability``."""
    rows, columns = np.nonzero(probabilities)
    several = bool(categories) and isinstance(categories[0], tuple)
    made: dict[str, Any] = {}
    for end, at in (("original", rows), ("published", columns)):
        if several:
            values: Any = zip(*categories, strict=True)
            for number, part in enumerate(values, start=1):
                made[f"{end}_{number}"] = pa.array(list(part)).take(pa.array(at))
        else:
            made[end] = pa.array(list(categories)).take(pa.array(at))
    return pa.table({**made, "probability": probabilities[rows, columns]})


def read(frame: Any) -> tuple[list[Hashable], NDArray[np.float64]]:
    """Categories, ascending, and probabilities."""
    table = to_arrow(frame)[0]
    original, published = _values(table, "original"), _values(table, "published")
    try:
        likely = column(table, "probability").cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"the column 'probability' holds no numbers ({error})") from None
    categories = _ascending(dict.fromkeys([*original, *published]))
    at = {value: place for place, value in enumerate(categories)}
    pairs = [(at[one], at[other]) for one, other in zip(original, published, strict=True)]
    if len(set(pairs)) < len(pairs):
        twice = next(place for place, pair in enumerate(pairs) if pair in pairs[:place])
        number = Count(len(pairs) - len(set(pairs)))
        raise InputError(
            f"the transition from {original[twice]!r} to {published[twice]!r} is there twice (row "
            f"{twice + 1}); {number} {number:row is|rows are} too many"
        )
    made = np.zeros((len(categories), len(categories)))
    if pairs:
        made[tuple(np.array(pairs).T)] = likely
    return categories, made


def _values(table: pa.Table, end: str) -> list[Hashable]:
    """The values of one end of all transitions; tuples where there are several variables."""
    numbered = [name for name in table.column_names if name.startswith(f"{end}_")]
    if not numbered:
        return _present(table, end)
    parts = [_present(table, f"{end}_{number}") for number in range(1, len(numbered) + 1)]
    return list(zip(*parts, strict=True))


def _present(table: pa.Table, name: str) -> list[Hashable]:
    found = coded(column(table, name), name)
    if (found.codes < 0).any():
        number = Count((found.codes < 0).sum())
        raise InputError(
            f"{number} {number:value|values} in {name!r} {number:is|are} missing; missing values "
            "of a variable are not changed, so they have no place in its matrix"
        )
    values = found.categories.to_pylist()
    return [values[code] for code in found.codes.tolist()]


def _ascending(values: dict[Any, None]) -> list[Hashable]:
    try:
        return sorted(values)
    except TypeError:
        raise InputError(
            "the columns of original and of published values have different types; write both "
            "in the type of the variable"
        ) from None
