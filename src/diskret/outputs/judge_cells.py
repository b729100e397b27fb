"""What an institution's rules say of the cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells
from diskret.outputs.checked import Finding
from diskret.outputs.profile import Profile
from diskret.outputs.ranks import modes


@dataclass(frozen=True)
class Statistic:
    """What is shown of cells: the kind of result, and the checks that are due.

    `value`: cells → the number that is shown, where a check asks whose value it is.
    """

    kind: str
    checks: tuple[str, ...]
    value: Callable[[Cells], NDArray[np.float64]] | None = None

    def of(self, value: Callable[[Cells], NDArray[np.float64]]) -> Statistic:
        """The same, showing another number."""
        return replace(self, value=value)

    def shown(self, cells: Cells) -> NDArray[np.float64]:
        """The number that is shown of each cell, NaN where there is none."""
        if self.value is None:
            raise ValueError(f"{self.kind} show no value of a record")
        return self.value(cells)


_COUNT = Statistic("frequencies", ("threshold", "zero", "group"))
_SUM = ("threshold", "dominance", "p_percent", "level", "negative", "missing")
_SPREAD = ("threshold", "all_equal", "squares", "missing")
_EXTREMES = ("threshold", "extremes", "missing")

#: Percentiles, of which it is said which.
QUANTILE = Statistic("quantiles", ("threshold", "few_at_rank", "missing"))
#: The records between two percentiles.
CLASS = Statistic("quantiles", ("threshold",))
#: A number that a few largest contributors may make up.
SHARES = Statistic("ratios", _SUM)
CONCENTRATION = Statistic("concentration", _SUM)
#: The largest contribution, or what gives it away.
LARGEST = Statistic("concentration", (*_SUM, "extremes"), lambda cells: cells.largest(1)[0])
#: Points of a figure, each a cell.
POINTS = Statistic("figure", ("points",))
#: Nothing of its own; what else is shown tells of these cells, too.
NOTHING = Statistic("concentration", ("missing",))
#: A sum of squares around means.
VARIANCE = Statistic("deviations", ("squares",))
MODE = Statistic("modes", ("threshold", "few_share", "nearly_all", "missing"), modes)

#: Name as pandas and Polars have it → what is checked.
STATISTICS: Mapping[str, Statistic] = {
    "count": _COUNT,
    "size": _COUNT,
    "len": _COUNT,
    "sum": Statistic("sums", _SUM),
    "mean": Statistic("means", (*_SUM, "all_equal")),
    "median": QUANTILE.of(lambda cells: cells.medians),
    "std": Statistic("deviations", _SPREAD),
    "var": Statistic("deviations", _SPREAD),
    "sem": Statistic("deviations", _SPREAD),
    "skew": Statistic("deviations", _SPREAD),
    "min": Statistic("extremes", _EXTREMES, lambda cells: cells.bounds[0]),
    "max": Statistic("extremes", _EXTREMES, lambda cells: cells.bounds[1]),
}
#: Checks that hiding a cell answers.
ANSWERED = ("threshold", "dominance", "p_percent")
#: A statistic that is not known: nobody can say what it tells.
UNKNOWN = Statistic("unknown", ("unknown",))


@dataclass(frozen=True, eq=False)
class Part:
    """One statistic of the cells of a table and of its margins.

    Parameters
    ----------
    statistic
        What is shown of each cell.
    cells
        The inner cells first, then the margins.
    shape
        Numbers of categories of the inner cells, for shares of rows and columns.
    variable
        What the values of the cells are called.
    label
        What the statistic is called where there are several.
    told
        Whether its cells are of records, so that they say what the result tells of which; not
        where they are of contributions of units.
    hidden
        For each of `cells`: which are not shown, shape (cells,); empty: all are shown.
    """

    statistic: Statistic
    cells: Sequence[Cells]
    shape: tuple[int, ...] = ()
    variable: str = ""
    label: tuple[str, ...] = ()
    told: bool = True
    hidden: Sequence[NDArray[np.bool_]] = ()


def judge(
    parts: Sequence[Part], profile: Profile
) -> tuple[str, tuple[str, ...], tuple[Finding, ...]]:
    """The kind of a result, the checks that were made, and what they found."""
    kinds = list(dict.fromkeys(part.statistic.kind for part in parts))
    made = tuple(dict.fromkeys(check for part in parts for check in part.statistic.checks))
    found = [_found(check, parts, profile) for check in made]
    forbidden = [(kind,) for kind in kinds if kind in profile.forbidden and len(kinds) > 1]
    if forbidden:
        found.append(Finding("forbidden", profile.verdict("forbidden"), tuple(forbidden)))
    kept = tuple(one for one in found if one is not None and one.verdict != "pass")
    return kinds[0] if len(kinds) == 1 else "summary", made, kept


def _found(check: str, parts: Sequence[Part], profile: Profile) -> Finding | None:
    """What one check finds in all parts that it is due in."""
    verdict = profile.verdict(check)
    due = [part for part in parts if check in part.statistic.checks]
    if verdict == "pass":
        return None
    if check == "unknown":
        return Finding(check, verdict, tuple(part.label for part in due if part.label))
    places: dict[tuple[str, ...], None] = {}
    blanks: dict[str, object] = {}
    for part in due:
        for number, group in enumerate(part.cells):
            shape = part.shape if number == 0 else ()
            for where, said in _CHECKS[check](_Case(group, part.statistic, profile, shape)):
                if part.hidden and check in ANSWERED:
                    where = where & ~part.hidden[number]
                places |= {
                    (*group.names[int(at)], *part.label): None for at in np.flatnonzero(where)
                }
                blanks = said if where.any() else blanks
    return Finding(check, verdict, tuple(places), blanks) if places else None


@dataclass(frozen=True)
class _Case:
    """What a check looks at: some cells, and the statistic that is shown of them."""

    cells: Cells
    statistic: Statistic
    profile: Profile
    shape: tuple[int, ...]

    @property
    def shown(self) -> NDArray[np.float64]:
        """The number that is shown of each cell, NaN where there is none."""
        return self.statistic.shown(self.cells)


Marked = Iterator[tuple[NDArray[np.bool_], dict[str, object]]]


def _threshold(case: _Case) -> Marked:
    few = (case.cells.units > 0) & (case.cells.units < case.profile.threshold)
    yield few, {"threshold": case.profile.threshold}


def _zero(case: _Case) -> Marked:
    if case.shape:  # a row or column without any records is not shown at all
        yield case.cells.units == 0, {}


def _group(case: _Case) -> Marked:
    if not case.shape or case.profile.group_percent is None:
        return
    table = case.cells.units.reshape(*case.shape)
    much = np.zeros(table.shape, bool)
    for axis in range(table.ndim):
        if table.shape[axis] > 1:  # the only category of all tells nothing
            total = table.sum(axis=axis, keepdims=True)
            much |= (100 * table > case.profile.group_percent * total) & (total > 0)
    yield much.reshape(-1), {"percent": case.profile.group_percent}


def _dominance(case: _Case) -> Marked:
    if case.profile.dominance is None:
        return
    number, percent = int(case.profile.dominance[0]), case.profile.dominance[1]
    yield dominated(case.cells, case.profile), {"number": number, "percent": percent}


def dominated(cells: Cells, profile: Profile) -> NDArray[np.bool_]:
    """Shape (cells,): where the largest contributors have too large a share."""
    if profile.dominance is None:
        return np.zeros(len(cells.names), bool)
    top = 100 * cells.largest(int(profile.dominance[0])).sum(axis=0)
    limit = profile.dominance[1] * cells.sizes
    return (cells.sizes > 0) & (top >= limit if profile.reached else top > limit)


def _p_percent(case: _Case) -> Marked:
    yield estimated(case.cells, case.profile), {"percent": case.profile.p_percent}


def estimated(cells: Cells, profile: Profile, squares: bool = False) -> NDArray[np.bool_]:
    """Shape (cells,): where the second largest contributor comes too close to the largest.

    Of squares the root is estimated: within p % if the square is within (1 + p)² - 1.
    """
    if profile.p_percent is None:
        return np.zeros(len(cells.names), bool)
    largest = cells.largest(2)
    rest = cells.sizes - largest.sum(axis=0)
    rest[np.abs(rest) <= 1e-9 * cells.sizes] = 0  # the last digit of sums of floats
    return (cells.sizes > 0) & (100 * rest < percent_of(profile, squares) * largest[0])


def concentrated(cells: Cells, profile: Profile) -> NDArray[np.bool_]:
    """Shape (cells,): where the rules that the profile has find that few have nearly everything."""
    rules = {"dominance": dominated, "p_percent": estimated}
    found = [one(cells, profile) for name, one in rules.items() if profile.verdict(name) != "pass"]
    return np.any(found, axis=0) if found else np.zeros(len(cells.names), bool)


def _level(case: _Case) -> Marked:
    """A sum of pay + 1,000,000 tells the sum of pay: a constant must not hide its contributors."""
    if _safe_at_any_level(case.cells, case.profile):
        return
    apart = [concentrated(one, case.profile) for one in case.cells.levels]
    yield np.any(apart, axis=0) & ~concentrated(case.cells, case.profile), {}


def _safe_at_any_level(cells: Cells, profile: Profile) -> bool:
    """Whether others leave enough even if the largest are as large as can be: soon said."""
    at, values = cells.records
    if not len(values) or cells.negative.any():
        return False
    low, high = float(values.min()), float(values.max())
    number = cells.units if cells.unit is None else np.bincount(at, minlength=len(cells.names))
    often = 1 if cells.unit is None else int(np.bincount(cells.unit).max())
    most, share = profile.dominance or (1, 100.0)
    top = cells.largest(max(int(most), 2))
    far = np.full_like(top, often * (high - low))
    for sizes, own in (
        (cells.sizes - number * low, top),
        (number * high - cells.sizes, far),
    ):
        rest = sizes - own[:2].sum(axis=0)
        good = 100 * rest * NEARLY > percent_of(profile) * own[0]
        if profile.dominance is not None:
            good &= 100 * own[: int(most)].sum(axis=0) < share * sizes * NEARLY
        if not good[number > 0].all():
            return False
    return True


NEARLY = 1 - 1e-6  # what last digits can change


def percent_of(profile: Profile, squares: bool = False) -> float:
    """The p of the p% rule, for contributions or their squares; zero: there is none."""
    percent = float(profile.p_percent or 0)
    return ((1 + percent / 100) ** 2 - 1) * 100 if squares else percent


def deviations(cells: Cells) -> Cells:
    """The same cells with the squares of what each record differs by from the mean of its cell."""
    return Cells(cells.names, cells.at, _from_means(cells) ** 2, cells.unit)


def pooled(cells: Cells) -> Cells:
    """One cell of all records, with what each differs by from the mean of its own cell."""
    at = np.where(cells.used, 0, -1).astype(np.int32)
    return Cells((("pooled",),), at, _from_means(cells), cells.unit)


def _from_means(cells: Cells) -> NDArray[np.float64]:
    """Shape (records,): what each differs by from the mean of its cell, NaN where it has none."""
    at, values = cells.records
    number = np.maximum(np.bincount(at, minlength=len(cells.names)), 1)
    means = np.bincount(at, values, len(cells.names)) / number
    apart = np.full(len(cells.at), np.nan)
    apart[cells.used] = values - means[at]
    return apart


def _squares(case: _Case) -> Marked:
    percent = case.profile.p_percent
    yield estimated(deviations(case.cells), case.profile, squares=True), {"percent": percent}


def _negative(case: _Case) -> Marked:
    yield case.cells.negative, {}


def _missing(case: _Case) -> Marked:
    yield case.cells.lost, {}


def _all_equal(case: _Case) -> Marked:
    low, high = case.cells.bounds
    yield (low == high) & (case.cells.units > 0), {}


def _extremes(case: _Case) -> Marked:
    shared = case.cells.sharing(case.shown)
    yield (case.cells.units > 0) & (shared < case.profile.threshold), {}


def _few_at_rank(case: _Case) -> Marked:
    below, same, above = case.cells.around(case.shown)
    few = np.minimum(below, above) < case.profile.threshold
    few &= same < case.profile.threshold
    yield few & (case.cells.units > 0), {"threshold": case.profile.threshold}


def _points(case: _Case) -> Marked:
    yield (case.cells.units > 0) & (case.cells.units < case.profile.threshold), {}


def _few_share(case: _Case) -> Marked:
    shared = case.cells.sharing(case.shown)
    yield (
        (case.cells.units > 0) & (shared < case.profile.threshold),
        {"threshold": case.profile.threshold},
    )


def _nearly_all(case: _Case) -> Marked:
    percent = case.profile.group_percent or NEARLY_ALL
    shared = case.cells.sharing(case.shown)
    yield (100 * shared > percent * case.cells.units) & (case.cells.units > 0), {"percent": percent}


#: Percent of the units that are nearly all, where a profile says nothing of groups.
NEARLY_ALL = 90.0


_CHECKS: Mapping[str, Callable[[_Case], Marked]] = {
    "threshold": _threshold,
    "zero": _zero,
    "group": _group,
    "dominance": _dominance,
    "p_percent": _p_percent,
    "level": _level,
    "negative": _negative,
    "missing": _missing,
    "all_equal": _all_equal,
    "squares": _squares,
    "extremes": _extremes,
    "few_at_rank": _few_at_rank,
    "few_share": _few_share,
    "points": _points,
    "nearly_all": _nearly_all,
}
