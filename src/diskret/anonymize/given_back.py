"""Columns that tell what others were before a step changed them, so that it was in vain."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from diskret.anonymize.missing_codes import numeric
from diskret.anonymize.verb import VERBS
from diskret.attack.microdata.leaving import Numbers, numbers, numbers_like
from diskret.errors import InputError

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: What steps do to values that are to be unknown afterwards.
_UNKNOWN = ("randomised", "exchanged", "aggregated", "noisy", "cut")
#: Values are given back if what is wrong with them is so small a part of what the step changed.
_WRONG = 0.05
#: Of fewer records that a step changed nothing is said: much goes together by chance.
_FEWEST = 20


def refuse_given_back(md: Microdata, chosen: Sequence[str]) -> None:
    """Refuse columns that leave unchanged and give back what others were.

    Of numbers, several together: those of which the original ones are a sum with fixed factors,
    such as a total and its other parts. Of categories, single columns: a reader takes for each of
    their values the most frequent one of the changed column.
    """
    same = [name for name in chosen if name not in md.changed]
    for step in md.history:
        if step.verb not in VERBS or VERBS[step.verb][1] not in _UNKNOWN:
            continue
        for name in step.columns:
            if name not in chosen or name not in md.original.table.column_names:
                continue
            both = numeric(md, name) and numeric(md.original, name)
            by = _by_sums(md, name, same) if both else ()
            by = by or _by_values(md, name, same)
            if by:
                raise InputError(
                    f"{', '.join(map(repr, by))} would tell what {name!r} was before "
                    f"{step.verb}() changed it; leave it out, or change it in the same way"
                )


def _by_sums(md: Microdata, name: str, same: Sequence[str]) -> tuple[str, ...]:
    """The columns that make up numbers with fixed factors; none if none do."""
    others = [one for one in same if numeric(md, one)]
    before, after = md.original.numbers([name])[:, 0], md.numbers([name])[:, 0]
    if not others or np.isnan(before).all():
        return ()
    x = md.numbers(others)
    there = ~np.isnan(x).any(axis=1) & ~np.isnan(before) & ~np.isnan(after)
    changed = there & (before != after)
    if changed.sum() < _FEWEST + len(others):
        return ()
    x = x[there] - x[there].mean(axis=0)
    scale = np.maximum(np.abs(x).max(axis=0), np.spacing(1))
    y = before[there] - before[there].mean()
    factors = np.linalg.lstsq(x / scale, y, rcond=None)[0]
    left = (y - x / scale @ factors)[changed[there]]
    if np.sqrt((left**2).mean()) > _WRONG * np.sqrt(((before - after)[changed] ** 2).mean()):
        return ()
    part = np.abs(factors) * (x / scale).std(axis=0)
    return tuple(one for one, size in zip(others, part, strict=True) if size > _WRONG * y.std())


def _by_values(md: Microdata, name: str, same: Sequence[str]) -> tuple[str, ...]:
    """The first column of which each value tells one of a changed column; none if none does."""
    after, known = numbers(md.table_column(name))
    try:
        before = numbers_like(md.original.table_column(name), known, name)
    except InputError:  # of another kind by now
        return ()
    changed = (after >= 0) & (before >= 0) & (after != before)
    most = np.bincount(after[after >= 0]).argmax() if changed.any() else -1
    without = np.count_nonzero(before[changed] != most)
    if without < _FEWEST:
        return ()
    for one in same:
        guess = _guessed(numbers(md.table_column(one))[0], after)
        if np.count_nonzero(guess[changed] != before[changed]) <= _WRONG * without:
            return (one,)
    return ()


def _guessed(of: Numbers, value: Numbers) -> Numbers:
    """For each record the most frequent value among those that agree with it in a column."""
    width = int(value.max()) + 1
    there = (of >= 0) & (value >= 0)
    cell, count = np.unique(of[there] * width + value[there], return_counts=True)
    found = np.full(int(of.max(initial=-1)) + 2, -1)
    at = np.argsort(count, kind="stable")
    found[cell[at] // width] = cell[at] % width  # the last one counts
    return found[of]
