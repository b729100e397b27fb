"""Whether a whole choice of groups is safe, by exact changes; if not, what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.certify import show
from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Reach, moved, part
from diskret.suppression.search import Search, fulfil
from diskret.suppression.zero_one_program import Cut


@dataclass(frozen=True, eq=False)
class Judgement:
    """What exact changes say of a whole choice.

    `cuts`: what it lacks. `hidden`: the pattern that it makes, bool, ``(g,)``; None: it is not
    safe, or nobody knows. `charged`: groups that are no longer hidden just because they are free.
    """

    cuts: tuple[Cut, ...] = ()
    hidden: NDArray[np.bool_] | None = None
    charged: tuple[int, ...] = ()


def judge(
    cells: Changeable,
    certified: Reach,
    chosen: NDArray[np.bool_],
    free: NDArray[np.bool_],
    seconds: Callable[[], float],
) -> Judgement:
    """Look for exact changes within a choice that show every requirement.

    What fails within a choice fails within every part of it, so at least one other group must be
    hidden, or the secondary that fails must not.

    `certified`: what holds for every pattern. `chosen`, `free`: the choice, and the groups that
    cost nothing, bool, ``(g,)``. `seconds`: time left.
    """
    allowed = chosen | cells.primary | free
    reach = certified.copy()
    changes = show(cells, allowed, reach, seconds=seconds)
    here = part(cells, allowed)
    search = Search(here, np.ones(len(here.cell), dtype=bool), np.zeros(len(here.cell)), seconds)
    others = np.flatnonzero(~allowed)
    ones = np.ones(len(others))
    for group in np.flatnonzero(reach.missing(cells)).tolist():
        changes += fulfil(search, cells, reach, group, seconds)
        if reach.misses(cells, group):
            # what was cut short says nothing of other patterns
            known = seconds() > 0 and not search.cut_short
            return Judgement((Cut(others, ones, 1.0),) if known else ())
    secondary = np.flatnonzero((moved(cells, changes) | chosen) & ~cells.primary)
    width = cells.width.copy()
    width[secondary] = np.maximum(width[secondary], 1)
    strict = replace(cells, width=width)
    cuts: list[Cut] = []
    charged: list[int] = []
    for group in secondary.tolist():
        if reach.misses(strict, group):
            changes += fulfil(search, strict, reach, group, seconds)
        if reach.misses(strict, group):
            if search.cut_short or seconds() <= 0:
                return Judgement(tuple(cuts), None, tuple(charged))
            order = np.argsort(np.append(others, group))
            weight = np.append(ones, -1.0)[order]
            cuts.append(Cut(np.append(others, group)[order], weight, 0.0))
            charged.append(group)
    known = not cuts and seconds() > 0
    return Judgement(tuple(cuts), moved(cells, changes) if known else None, tuple(charged))
