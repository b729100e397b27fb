"""Classes of numbers: what they are called, and trees of ever wider ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isinf

from diskret.errors import HierarchyError
from diskret.hierarchy.build import Built, from_levels
from diskret.hierarchy.codes import as_codes, some
from diskret.texts.numbers import Count


def interval_labels(breaks: Sequence[float], right: bool = False, whole: bool = True) -> list[str]:
    """Name the classes between ascending breaks, the first and the last of which may be infinite.

    >>> interval_labels([-inf, 20, 30, 31, inf])
    ['< 20', '20-29', '30', '≥ 31']
    >>> interval_labels([0, 0.5, 1], right=True)
    ['> 0 to 0.5', '> 0.5 to 1']
    """
    whole = whole and all(isinf(b) or b == round(b) for b in breaks)
    return [_label(a, b, right, whole) for a, b in zip(breaks, breaks[1:], strict=False)]


def _label(low: float, high: float, right: bool, whole: bool) -> str:
    if low == -inf and high == inf:
        return "all"
    if low == -inf:
        return f"{'≤' if right else '<'} {number_text(high)}"
    if high == inf:
        return f"{'>' if right else '≥'} {number_text(low)}"
    if not whole:
        ends = ("> ", "") if right else ("", "< ")
        return f"{ends[0]}{number_text(low)} to {ends[1]}{number_text(high)}"
    first, last = (low + 1, high) if right else (low, high - 1)
    if first == last:
        return number_text(first)
    return f"{number_text(first)}{'-' if first >= 0 else ' to '}{number_text(last)}"


def number_text(number: float) -> str:
    """A number as short as it can be told.

    >>> number_text(30.0), number_text(0.1)
    ('30', '0.1')
    """
    return f"{number:.15g}"


def from_widths(values: Iterable[object], widths: Sequence[int], origin: int, total: str) -> Built:
    """Put whole numbers into classes of ever larger widths."""
    if isinstance(values, str):
        raise HierarchyError(f"values must be a list of whole numbers, not the one text {values!r}")
    codes = sorted(set(as_codes(values, "values")))
    wrong = [repr(code) for code in codes if not code.removeprefix("-").isdecimal()]
    if wrong:
        number = Count(len(wrong))
        raise HierarchyError(
            f"{number} of {len(codes):,} values {number:is no whole number|are no whole numbers} "
            f"({some(wrong)}), and only these lie in classes of a width"
        )
    wide = [1, *widths]
    if any(b < 2 or b <= a or b % a for a, b in zip(wide, wide[1:], strict=False)):
        raise HierarchyError(
            f"widths must be whole numbers ≥ 2, each a multiple of the one before, e.g. "
            f"(5, 10, 20), so that narrow classes lie in wide ones; not {widths!r}"
        )
    codes.sort(key=int)
    levels = {str(width): [_holds(int(c), width, origin) for c in codes] for width in widths[::-1]}
    return from_levels({**levels, "1": codes}, total)


def _holds(number: int, width: int, origin: int) -> str:
    low = (number - origin) // width * width + origin
    return _label(low, low + width, right=False, whole=True)
