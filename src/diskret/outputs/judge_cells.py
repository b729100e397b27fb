"""What an institution's rules say of the cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells
from diskret.outputs.checked import Finding
from diskret.outputs.profile import Profile


@dataclass(frozen=True)
class Statistic:
    """What a table shows of its cells: the kind of result, and the checks that are due."""

    kind: str
    checks: tuple[str, ...]


_SUM = ("threshold", "dominance", "p_percent", "negative", "missing")
_SPREAD = ("threshold", "all_equal", "missing")

#: Name as pandas and Polars have it → what is checked.
STATISTICS: Mapping[str, Statistic] = {
    "count": Statistic("frequencies", ("threshold", "zero", "group", "missing")),
    "sum": Statistic("sums", _SUM),
    "mean": Statistic("means", (*_SUM, "all_equal")),
    "median": Statistic("quantiles", ("threshold", "few_at_rank", "missing")),
    "std": Statistic("deviations", _SPREAD),
    "var": Statistic("deviations", _SPREAD),
    "min": Statistic("extremes", ("threshold", "extremes", "missing")),
    "max": Statistic("extremes", ("threshold", "extremes", "missing")),
}
#: A statistic that is not known: nobody can say what it tells.
UNKNOWN = Statistic("unknown", ("unknown",))


def judge(
    cells: Sequence[Cells], statistic: str, profile: Profile, shape: Sequence[int] = ()
) -> tuple[Statistic, tuple[Finding, ...]]:
    """The findings in a table and its margins.

    Parameters
    ----------
    cells
        The inner cells first, then the margins.
    statistic
        What is shown, one of `STATISTICS`; anything else is not understood.
    profile
        The rules.
    shape
        Numbers of rows and columns of the inner cells, for shares of rows and columns.
    """
    due = STATISTICS.get(statistic, UNKNOWN)
    found: list[Finding] = []
    for check in due.checks:
        verdict = profile.verdict(check)
        if verdict == "pass":
            continue
        places: list[tuple[str, ...]] = []
        blanks: dict[str, object] = {}
        for number, group in enumerate(cells):
            inner = tuple(shape) if number == 0 else ()
            for where, said in _CHECKS[check](group, statistic, profile, inner):
                places += [group.names[at] for at in np.flatnonzero(where)]
                blanks = said if where.any() else blanks
        if check == "unknown":
            found.append(Finding(check, verdict))
        elif places:
            found.append(Finding(check, verdict, tuple(places), blanks))
    return due, tuple(found)


Marked = Iterator[tuple[NDArray[np.bool_], dict[str, object]]]


def _threshold(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    few = (cells.units > 0) & (cells.units < profile.threshold)
    yield few, {"threshold": profile.threshold}


def _zero(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    if shape:  # a row or column without any records is not shown at all
        yield cells.units == 0, {}


def _group(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    if not shape or profile.group_percent is None:
        return
    table = cells.units.reshape(*shape)
    much = np.zeros(table.shape, bool)
    for axis in range(table.ndim):
        if table.shape[axis] > 1:  # the only category of all tells nothing
            total = table.sum(axis=axis, keepdims=True)
            much |= (100 * table > profile.group_percent * total) & (total > 0)
    yield much.reshape(-1), {"percent": profile.group_percent}


def _dominance(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    if profile.dominance is None:
        return
    number, percent = int(profile.dominance[0]), profile.dominance[1]
    yield dominated(cells, profile), {"number": number, "percent": percent}


def dominated(cells: Cells, profile: Profile) -> NDArray[np.bool_]:
    """Shape (cells,): where the largest contributors have too large a share."""
    if profile.dominance is None:
        return np.zeros(len(cells.names), bool)
    top = 100 * cells.largest(int(profile.dominance[0])).sum(axis=0)
    limit = profile.dominance[1] * cells.sizes
    return (cells.sizes > 0) & (top >= limit if profile.reached else top > limit)


def _p_percent(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    yield estimated(cells, profile), {"percent": profile.p_percent}


def estimated(cells: Cells, profile: Profile) -> NDArray[np.bool_]:
    """Shape (cells,): where the second largest contributor comes too close to the largest."""
    if profile.p_percent is None:
        return np.zeros(len(cells.names), bool)
    largest = cells.largest(2)
    rest = cells.sizes - largest.sum(axis=0)
    rest[np.abs(rest) <= 1e-9 * cells.sizes] = 0  # the last digit of sums of floats
    return (cells.sizes > 0) & (100 * rest < float(profile.p_percent) * largest[0])


def _negative(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    at, values = cells.contributions
    yield np.bincount(at[values < 0], minlength=len(cells.names)) > 0, {}


def _missing(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    lost = (cells.at >= 0) & ~cells.used
    yield np.bincount(cells.at[lost], minlength=len(cells.names)) > 0, {}


def _all_equal(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    low, high = cells.bounds
    yield (low == high) & (cells.units > 0), {}


def _extremes(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    value = cells.bounds[0 if statistic == "min" else 1]
    shared = cells.sharing(value)
    yield (cells.units > 0) & (shared < profile.threshold), {}


def _few_at_rank(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    middle = medians(cells)
    below, above = cells.beyond(middle)
    few = np.minimum(below, above) < profile.threshold
    few &= cells.sharing(middle) < profile.threshold
    yield few & (cells.units > 0), {"threshold": profile.threshold}


def medians(cells: Cells) -> NDArray[np.float64]:
    """Shape (cells,): the median of the contributions of each cell, NaN where there is none."""
    at, values = cells.contributions
    order = np.lexsort((values, at))
    sorted_values = values[order]
    ends = np.cumsum(cells.units)
    begins = ends - cells.units
    middle = np.full(len(cells.names), np.nan)
    some = cells.units > 0
    low = (begins + (cells.units - 1) // 2)[some]
    high = (begins + cells.units // 2)[some]
    middle[some] = (sorted_values[low] + sorted_values[high]) / 2
    return middle


def _unknown(cells: Cells, statistic: str, profile: Profile, shape: Sequence[int]) -> Marked:
    yield np.zeros(len(cells.names), bool), {}


_CHECKS: Mapping[str, Callable[[Cells, str, Profile, Sequence[int]], Marked]] = {
    "threshold": _threshold,
    "zero": _zero,
    "group": _group,
    "dominance": _dominance,
    "p_percent": _p_percent,
    "negative": _negative,
    "missing": _missing,
    "all_equal": _all_equal,
    "extremes": _extremes,
    "few_at_rank": _few_at_rank,
    "unknown": _unknown,
}
