"""Coarser numbers: classes, top and bottom coding, rounding to a width."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import ceil, floor, inf, isinf, log10
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy.number_classes import interval_labels, number_text
from diskret.io.categories import ascending, places
from diskret.io.kinds import is_text
from diskret.parameters import Positive, Whole, reading
from diskret.texts.numbers import Count

#: How classes are chosen from the values: of equal width, of equal width on a logarithmic
#: scale, or with equal numbers of records.
Method = Literal["equal_width", "equal_log", "equal_number"]
#: How many classes.
Classes = Annotated[int, Whole(2)]
#: From where on values are replaced, and by what.
End = tuple[float | str, float | str]


def numbers(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """Values as numbers, also where they are text; NaN where missing."""
    try:
        found = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"the values of {name!r} are not numbers ({error}), which this way of recoding needs; "
            "use groups= or hierarchy= for categories, period= for dates"
        ) from None
    return found.to_numpy().astype(np.float64)


# ── classes ─────────────────────────────────────────────────────────────────────────


def classed(
    values: pa.ChunkedArray,
    name: str,
    breaks: Sequence[float],
    labels: Sequence[str] | None = None,
    right: bool = False,
) -> pa.ChunkedArray:
    """The label of the class that each value lies in.

    Parameters
    ----------
    values
        Numbers, or text of them.
    name
        Of the variable.
    breaks
        Ascending, one more than there are classes; the ends may be infinite.
    labels
        One for each class; None: made from the breaks.
    right
        Whether the upper break of a class belongs to it, and not the lower one.

    Raises
    ------
    InputError
        Breaks do not ascend, labels are not as many as classes or not distinct, or values
        lie outside all classes.

    Examples
    --------
    >>> age = pa.chunked_array([[3, 80, None, 39]])
    >>> classed(age, "age", [0, 40, 80, inf]).to_pylist()
    ['0-39', '≥ 80', None, '0-39']
    """
    edges = np.array(breaks, dtype=np.float64)
    if len(edges) < 2 or not bool(np.all(np.diff(edges) > 0)):
        raise InputError(f"breaks= must be two or more ascending numbers, not {breaks!r}")
    found = numbers(values, name)
    if labels is None:
        labels = class_labels(values, name, breaks, right)
    if len(labels) != len(edges) - 1 or len(set(labels)) < len(labels):
        raise InputError(
            f"labels= must be {len(edges) - 1} different names, one for each class between "
            f"{len(edges)} breaks, not {list(labels)!r}"
        )
    at = np.searchsorted(edges, found, side="left" if right else "right") - 1
    outside = found[((at < 0) | (at >= len(labels))) & ~np.isnan(found)]
    if len(outside):
        shown = ", ".join(number_text(v) for v in np.unique(outside)[:5])
        number = Count(len(outside))
        raise InputError(
            f"{number} {number:value|values} of {name!r} {number:lies|lie} outside the classes "
            f"({shown}); a class {'without its lower' if right else 'without its upper'} break: "
            "add breaks, or let the ends be open (-inf, inf)"
        )
    names = pa.array(labels, pa.string())
    return pa.chunked_array([names.take(pa.array(at, mask=np.isnan(found)))])


def class_labels(
    values: pa.ChunkedArray, name: str, breaks: Sequence[float], right: bool = False
) -> list[str]:
    """What classes are called if nothing else is said: "20-29" if all values are whole numbers."""
    return interval_labels(breaks, right, _whole(numbers(values, name)))


def _whole(found: NDArray[np.float64]) -> bool:
    given = found[~np.isnan(found)]
    return bool(np.all(given == np.rint(given)))


@reading
def chosen_breaks(
    values: pa.ChunkedArray, name: str, method: Method, classes: Classes, right: bool = False
) -> list[float]:
    """Breaks of classes by the values themselves, rounded, with open ends.

    The smallest and the largest value are not told. Equal values are in one class, so there
    can be fewer than asked for.

    Parameters
    ----------
    values, name, right
        As for `classed`.
    method
        ``"equal_width"``, ``"equal_log"`` (equal width on a logarithmic scale, for values
        above 0) or ``"equal_number"`` (of records).
    classes
        How many, 2 or more.

    Raises
    ------
    InputError
        The method is unknown, values are all the same or, for ``"equal_log"``, not above 0.

    Examples
    --------
    >>> chosen_breaks(pa.chunked_array([[1, 10, 100, 1000]]), "income", "equal_log", 3)
    [-inf, 10.0, 100.0, inf]
    """
    found = numbers(values, name)
    given = np.sort(found[~np.isnan(found)])
    if not len(given) or given[0] == given[-1]:
        raise InputError(f"{name!r} has fewer than two different values, so there are no classes")
    shares = np.arange(1, classes) / classes
    if method == "equal_log":
        if given[0] <= 0:
            number = Count((given <= 0).sum())
            raise InputError(
                f"{number} {number:value|values} of {name!r} {number:is|are} not above 0, so "
                f"{number:it has|they have} no place on a logarithmic scale; use 'equal_width' or "
                "'equal_number', or breaks="
            )
        inner = given[0] * (given[-1] / given[0]) ** shares
        neat = [_neat(b, b) for b in inner.tolist()]
    elif method == "equal_width":
        inner = given[0] + (given[-1] - given[0]) * shares
        neat = [_neat(b, float(given[-1] - given[0])) for b in inner.tolist()]
    else:
        high = given[np.minimum(np.rint(shares * len(given)).astype(int), len(given) - 1)]
        high = high[high > given[0]]
        low = given[np.searchsorted(given, high) - 1]
        neat = [_between(a, b, right) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    if _whole(given):
        neat = [float(floor(b) if right else ceil(b)) for b in neat]
    return [-inf, *sorted(set(neat)), inf]


def _neat(number: float, size: float) -> float:
    """A number with three digits that matter, for something of a size."""
    return float(round(number, 2 - floor(log10(size))))


def _between(low: float, high: float, right: bool) -> float:
    """The break with the fewest digits that has `low` below it and `high` above it."""
    power = floor(log10(max(abs(low), abs(high))))
    for digits in range(17):
        step = power - digits
        unit = Decimal(10) ** step
        number = ceil(Decimal(low) / unit) if right else floor(Decimal(high) / unit)
        found = float(number * unit)
        if (low <= found < high) if right else (low < found <= high):
            return found
    return low if right else high


# ── ends ────────────────────────────────────────────────────────────────────────────


def ended(
    values: pa.ChunkedArray,
    name: str,
    top: End | None = None,
    bottom: End | None = None,
    order: Sequence[Any] | None = None,
) -> pa.ChunkedArray:
    """Replace the largest values, the smallest, or both.

    Parameters
    ----------
    values
        Numbers, or categories with an order.
    name
        Of the variable.
    top
        From which value on, itself included, and by what: ``(80, 80)``, ``(80, "≥ 80")``.
    bottom
        Up to which value, itself included, and by what.
    order
        All values from the lowest to the highest; None: numbers ascend, text has no order.

    Returns
    -------
    pyarrow.ChunkedArray
        Numbers if values and replacements are, else text.

    Raises
    ------
    InputError
        Values have no order or are not comparable with an end, no value lies beyond one, or the
        ends cross.

    Examples
    --------
    >>> age = pa.chunked_array([[3, 84, None, 91]])
    >>> ended(age, "age", top=(80, 80)).to_pylist()
    [3, 80, None, 80]
    >>> ended(age, "age", top=(80, "≥ 80"), bottom=(5, "≤ 5")).to_pylist()
    ['≤ 5', '≥ 80', None, '≥ 80']
    """
    ends = [end for end in (top, bottom) if end is not None]
    found, limits = _comparable(values, name, [end[0] for end in ends], order)
    if len(limits) == 2 and limits[0] <= limits[1]:
        raise InputError(f"bottom={ends[1][0]!r} must lie below top={ends[0][0]!r}")
    made = values
    textual = is_text(values.type) or any(isinstance(new, str) for _, new in ends)
    if textual:
        made = _as_text(values)
    elif any(isinstance(new, float) and not new.is_integer() for _, new in ends):
        made = values.cast(pa.float64())
    for end, limit in zip(ends, limits, strict=True):
        what, beyond = ("top", np.greater_equal) if end is top else ("bottom", np.less_equal)
        hit = pa.chunked_array([pa.array(beyond(found, limit))])  # never where a value is missing
        if not pc.any(hit).as_py():
            raise InputError(
                f"no value of {name!r} lies at {what}={end[0]!r} or beyond; nothing would change"
            )
        new = pa.scalar(_text(end[1]) if textual else end[1]).cast(made.type)
        made = pc.if_else(hit, new, made)
    return made


def _comparable(
    values: pa.ChunkedArray, name: str, ends: Sequence[float | str], order: Sequence[Any] | None
) -> tuple[NDArray[np.float64], list[float]]:
    """Values and ends as numbers, or as places in an order; NaN where missing."""
    if order is None and not any(isinstance(end, str) for end in ends):
        return numbers(values, name), [float(end) for end in ends]
    if order is None and not is_text(values.type):
        raise InputError(f"{name!r} holds numbers, so it cannot end at the text {ends[0]!r}")
    known = pc.unique(values.drop_null())
    listed: Sequence[Any] = (
        known.take(pa.array(ascending(known, name))).to_pylist() if order is None else order
    )
    place = np.append(places(known.to_pylist(), name, listed), np.nan)
    at = pc.fill_null(pc.index_in(values, value_set=known), -1).to_numpy()
    return place[at], [float(end) for end in places(ends, name, listed)]


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else number_text(value)


def _as_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(values.type):
        found = values.to_numpy()
        given = found[~np.isnan(found)]
        if np.all(given == np.rint(given)) and np.all(np.abs(given) < 2**53):
            values = pc.if_else(pc.is_nan(values), None, values).cast(pa.int64())
    return values if is_text(values.type) else values.cast(pa.string())


# ── rounding ────────────────────────────────────────────────────────────────────────


@reading
def rounded(values: pa.ChunkedArray, name: str, width: Positive) -> pa.ChunkedArray:
    """Round to multiples of a width, halves upwards; for coordinates, incomes, ages.

    Parameters
    ----------
    values
        Numbers, or text of them.
    name
        Of the variable.
    width
        Above 0.

    Returns
    -------
    pyarrow.ChunkedArray
        Of the type that came in; decimals where the width has some, and a larger type where the
        largest value needs it.

    Raises
    ------
    InputError
        Values are no numbers, or the width is not above 0.

    Examples
    --------
    >>> rounded(pa.chunked_array([[48.1374, 11.5755]]), "latitude", 0.05).to_pylist()
    [48.15, 11.6]
    >>> rounded(pa.chunked_array([[38, 32, None]]), "age", 5).to_pylist()
    [40, 30, None]
    """
    found = numbers(values, name)
    missing = pa.array(np.isnan(found))
    decimals = max(0, -int(Decimal(repr(float(width))).normalize().as_tuple().exponent))
    made = np.round(np.floor(found / width + 0.5) * width, decimals) + 0.0  # no -0.0
    result = pc.if_else(missing, None, pa.array(np.where(np.isnan(found), 0.0, made)))
    before = values.type
    if decimals == 0 and not pa.types.is_floating(before):
        result = result.cast(pa.int64())
    if not pa.types.is_integer(before) or decimals == 0:
        try:
            result = result.cast(before)
        except pa.ArrowInvalid:  # 127 becomes 130, which has no place in eight bits
            pass
    return pa.chunked_array([result])


def open_breaks(breaks: Sequence[float]) -> list[float]:
    """Breaks as a job file can hold them: whole numbers plainly."""
    return [int(b) if not isinf(b) and b == int(b) else float(b) for b in breaks]
