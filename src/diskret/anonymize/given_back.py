"""Columns that tell what others were before a step changed them, so that it was in vain."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
#: Of larger files so many changed and so many other records say what numbers add up to.
_MOST = 100_000
#: Pairs of values that are counted in a table of all of them; more are sorted.
_PAIRS = 10_000_000

_Coded = Callable[[str], Numbers]


def refuse_given_back(md: Microdata, chosen: Sequence[str]) -> None:
    """Refuse columns that give back, as they leave, what a step changed in others.

    Of numbers, one and all together: those of which the original ones are a sum with fixed factors,
    such as a total and its other parts. Of categories, single columns: a reader takes for each of
    their values the most frequent one of the changed column.
    """
    verbs: dict[str, str] = {}  # column → what changed it first
    for step in md.history:
        if step.verb in VERBS and VERBS[step.verb][1] in _UNKNOWN:
            verbs = dict.fromkeys(step.columns, step.verb) | verbs
    coded = cache(lambda name: numbers(md.table_column(name))[0])
    for name in chosen:
        if name not in verbs or name not in md.original.table.column_names:
            continue
        others = [one for one in chosen if one != name]
        by = _by_sums(md, name, others) or _by_values(md, name, others, coded)
        if by:
            raise InputError(
                f"{', '.join(map(repr, by))} would tell what {name!r} was before {verbs[name]}() "
                "changed it; leave it out, or change it in the same way"
            )


def _by_sums(md: Microdata, name: str, others: Sequence[str]) -> Sequence[str]:
    """The columns that make up numbers with fixed factors; none if none do."""
    others = [one for one in others if numeric(md, one)]
    if not others or not (numeric(md, name) and numeric(md.original, name)):
        return ()
    before, after = md.original.numbers([name])[:, 0], md.numbers([name])[:, 0]
    changed = ~np.isnan(before - after) & (before != after)
    if changed.sum() < _FEWEST:
        return ()
    x = md.numbers(others)
    # a column with many gaps would leave no record that has all of them
    full = np.flatnonzero(np.isnan(x[changed]).mean(axis=0) < 0.5)
    for at in (*np.arange(len(others))[:, None], *([full] if len(full) > 1 else ())):
        part = _share(x[:, at], before, after)
        if part is not None:
            return [others[i] for i, size in zip(at, part, strict=True) if size > _WRONG]
    return ()


def _share(
    x: NDArray[np.float64], before: NDArray[np.float64], after: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """How far original numbers vary with each of some others that make them up; None: none do."""
    there = ~np.isnan(x).any(axis=1) & ~np.isnan(before - after)
    rows = [np.flatnonzero(there & one) for one in (before != after, before == after)]
    if len(rows[0]) < _FEWEST + x.shape[1]:
        return None
    changed, same = (one[:: len(one) // _MOST + 1] for one in rows)
    some = np.append(changed, same)
    x = x[some] - x[some].mean(axis=0)
    x = x / np.maximum(np.abs(x).max(axis=0), np.spacing(1))
    y = before[some] - before[some].mean()
    factors = np.linalg.lstsq(x, y, rcond=None)[0]
    left = (y - x @ factors)[: len(changed)]
    if (left**2).mean() > _WRONG**2 * ((before - after)[changed] ** 2).mean():
        return None
    return np.abs(factors) * x.std(axis=0) / max(y.std(), np.spacing(1))


def _by_values(md: Microdata, name: str, others: Sequence[str], coded: _Coded) -> Sequence[str]:
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
    for one in others:
        of = coded(one)
        size = np.bincount(of + 1)[of + 1]
        # who is alone with a value has only the changed one for a guess
        if np.count_nonzero(size[changed] == 1) > _WRONG * without:
            continue
        if np.count_nonzero(_guessed(of, after)[changed] != before[changed]) <= _WRONG * without:
            return (one,)
    return ()


def _guessed(of: Numbers, value: Numbers) -> Numbers:
    """For each record the most frequent value among those that agree with it in a column."""
    groups, width = int(of.max(initial=-1)) + 1, int(value.max()) + 1
    there = (of >= 0) & (value >= 0)
    cell = of[there] * width + value[there]
    if 0 < groups * width <= _PAIRS:
        count = np.bincount(cell, minlength=groups * width).reshape(groups, width)
        return np.append(np.where(count.any(axis=1), count.argmax(axis=1), -1), -1)[of]
    cell, count = np.unique(cell, return_counts=True)
    found = np.full(groups + 1, -1)
    at = np.argsort(count, kind="stable")
    found[cell[at] // width] = cell[at] % width  # the last one counts
    return found[of]
