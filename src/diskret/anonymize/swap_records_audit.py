"""Which households are at risk in their areas, and what record swapping did about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.anonymize.households import Members
from diskret.errors import InputError
from diskret.microdata.record_swap import Households, RecordSwap
from diskret.risk.keys import grouped

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]

#: So many areas, or households that stay at risk, are listed at most.
_LISTED = 100

#: Why a household stays at risk.
_REASONS = {
    "no_area": "its area is missing",
    "no_partner": "nobody similar lives in another area of this level",
    "all_taken": "all similar households in other areas of this level swapped with others",
    "not_drawn": "at random, risks do not count",
}


@dataclass(frozen=True, eq=False)
class Exposure:
    """At which level a household is at risk."""

    known: bool  # whether risks were counted at all
    #: the coarsest level at which a household is at risk, (h,); the number of levels if it is not
    level: Rows
    #: its risk at each level, that of its member most at risk, each (h,)
    risk: Sequence[NDArray[np.float64]]
    #: for each record its combination of risk variables, if that decides
    classes: Rows | None = None
    k: int = 0  # at risk is who shares it with fewer records of the area


def exposed(
    md: Microdata,
    areas: Sequence[Rows],
    group: Members,
    variables: Sequence[str],
    k: int,
    columns: Sequence[str] | None,
    threshold: float | None,
) -> Exposure:
    """Risks of households in their areas, counted or as columns say."""
    if columns is not None and threshold is not None:
        given = [group.largest(_given(md, name)) for name in columns]
        risks = given if len(given) == len(areas) else given * len(areas)
        return Exposure(True, _coarsest([one > threshold for one in risks]), risks)
    if not variables:
        none = [np.zeros(group.number, dtype=bool) for _ in areas]
        return Exposure(False, _coarsest(none), [np.ones(group.number) for _ in areas])
    classes = md.keys(variables).classes.of
    counts = [_least(area, classes, group) for area in areas]
    risks = [1 / count for count in counts]
    return Exposure(True, _coarsest([count < k for count in counts]), risks, classes, k)


def _given(md: Microdata, name: str) -> NDArray[np.float64]:
    values = md.numbers([name])[:, 0]
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} risks in {name!r} are missing, negative or infinite (first in row "
            f"{wrong[0] + 1})"
        )
    return values


def _least(area: Rows, classes: Rows, group: Members) -> NDArray[np.int64]:
    """With how many records of its area the rarest member of a household shares its class."""
    codes = [area[group.of].astype(np.int32), classes.astype(np.int32)]
    of, number = grouped(codes, [int(one.max()) + 1 for one in codes])
    return group.least(np.bincount(of, minlength=number)[of])


def _coarsest(risky: Sequence[Flags]) -> Rows:
    """The first level that is true for a household; the number of levels if none is."""
    level = np.full(len(risky[0]), len(risky))
    for at in reversed(range(len(risky))):
        level[risky[at]] = at
    return level


def audit(
    md: Microdata,
    levels: Sequence[str],
    profiles: Sequence[Sequence[str]],
    households: Households,
    exposure: Exposure,
    made: RecordSwap,
    group: Members,
) -> dict[str, Any]:
    """Figures for the history."""
    partner, part = made.partner, households.part
    moved = partner != np.arange(len(partner))
    across = _coarsest([area[partner] != area for area in households.areas])
    by_profile = np.bincount(made.profile[moved], minlength=len(households.profiles))
    return {
        "households": group.number,
        "records": md.n,
        "without_area": int((~part).sum()),
        "moved": int(moved.sum()),
        "moved_records": int(group.size[moved].sum()),
        "rate": float(moved.sum() / max(part.sum(), 1)),
        "levels": _by_level(levels, households, exposure, across, partner, group),
        **(_left(levels, households, exposure, across, group) if exposure.known else {}),
        "profiles": [
            {"similar": list(names), "households": int(count)}
            for names, count in zip(profiles or [[]], by_profile, strict=True)
        ],
        **_by_area(md, levels, households, moved, partner, group),
    }


def _by_level(
    levels: Sequence[str],
    households: Households,
    exposure: Exposure,
    across: Rows,
    partner: Rows,
    group: Members,
) -> dict[str, dict[str, int]]:
    after = None
    if exposure.classes is not None:
        moved = [area[partner] for area in households.areas]
        counts = [_least(area, exposure.classes, group) for area in moved]
        after = _coarsest([count < exposure.k for count in counts])
    stay, found = len(levels), dict[str, dict[str, int]]()
    for at, name in enumerate(levels):
        risky, here = exposure.level == at, across == at
        found[name] = {"moved": int(here.sum()), "moved_records": int(group.size[here].sum())}
        if exposure.known:
            found[name] |= {
                "risky": int(risky.sum()),
                "swapped": int((risky & (across <= at)).sum()),
                "nearer": int((risky & (across > at) & (across < stay)).sum()),
                "left": int((risky & (across == stay)).sum()),
            }
        if after is not None:
            again = after == at
            found[name] |= {
                "risky_after": int(again.sum()),
                "risky_after_moved": int((again & (across < stay)).sum()),
            }
    return found


def _left(
    levels: Sequence[str],
    households: Households,
    exposure: Exposure,
    across: Rows,
    group: Members,
) -> dict[str, Any]:
    """Households that were not swapped across the level at which they are at risk, and why."""
    staying = np.flatnonzero((exposure.level < len(levels)) & (across > exposure.level))
    reason = np.full(len(across), "not_drawn", dtype="<U10")
    if (households.needs < len(levels)).any():
        reason[staying] = "no_partner"
        for at, area in enumerate(households.areas):
            here = staying[exposure.level[staying] == at]
            if len(here):
                reason[here[_had_partners(households, area)[here]]] = "all_taken"
    reason[staying[~households.part[staying]]] = "no_area"
    staying = staying[np.argsort(group.first[staying], kind="stable")]
    counts = {name: int((reason[staying] == name).sum()) for name in _REASONS}
    return {
        "reasons": {_REASONS[name]: count for name, count in counts.items() if count},
        "left": [
            {
                "row": int(group.first[one]) + 1,
                "level": levels[int(exposure.level[one])],
                "moved": None if across[one] == len(levels) else levels[int(across[one])],
                "reason": _REASONS[str(reason[one])],
            }
            for one in staying[:_LISTED].tolist()
        ],
    }


def _had_partners(households: Households, area: Rows) -> Flags:
    """Whether a household similar to it lives in another area, swapped with others or not."""
    part, found = households.part, np.zeros(len(households), dtype=bool)
    for of in households.profiles:
        codes = [of.astype(np.int32), area.astype(np.int32)]
        joint, number = grouped(codes, [int(one.max()) + 1 for one in codes])
        here = np.bincount(joint[part], minlength=number)[joint]
        found |= np.bincount(of[part], minlength=int(of.max()) + 1)[of] > here
    return found


def _by_area(
    md: Microdata,
    levels: Sequence[str],
    households: Households,
    moved: Flags,
    partner: Rows,
    group: Members,
) -> dict[str, Any]:
    """How many households each area of the finest level exchanged; the extremes if many."""
    part, area = households.part, households.areas[-1]
    number = int(area.max()) + 1
    there = np.bincount(area[part], minlength=number)
    left = np.bincount(area[moved], minlength=number)
    rate = left / np.maximum(there, 1)
    shown = np.flatnonzero(there)
    by_rate = shown[np.argsort(rate[shown], kind="stable")]
    if len(shown) > _LISTED:
        shown = np.sort(np.concatenate([by_rate[: _LISTED // 2], by_rate[-_LISTED // 2 :]]))
    row = np.empty(number, dtype=np.intp)
    row[area] = group.first
    columns = [md.table_column(name) for name in levels]
    before, after = (
        np.bincount(of[part], weights=group.size[part], minlength=number)
        for of in (area, area[partner])
    )
    return {
        "areas": len(by_rate),
        "areas_without": int((left[by_rate] == 0).sum()),
        "other_totals": int((before != after).sum()),
        "by_area": [
            {
                "area": [str(column[int(row[at])]) for column in columns],
                "households": int(there[at]),
                "moved": int(left[at]),
                "rate": float(rate[at]),
            }
            for at in shown.tolist()
        ],
    }
