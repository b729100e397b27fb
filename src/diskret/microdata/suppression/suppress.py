"""Local suppression: which values of which records are hidden, together or record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import fsum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.microdata.suppression.fewest_gaps import shared
from diskret.microdata.suppression.item_by_item import one_by_one
from diskret.microdata.suppression.problem import Condition, Items, Problem, of_sets
from diskret.progress import Progress, silent
from diskret.risk import classes

#: Of more keys sets are looked for item by item, and at once if there are more conditions.
_TRIED = 12
#: Operations in the rounds of improvement of all groups together.
_WORK = 1_000_000_000
#: What counts as agreement: any record that agrees once values are missing, or only what a
#: record still shows in the original file.
Matches = Literal["wildcard", "visible"]
#: Some records of one class, ``(r,)``, in an order that does not depend on that of the file.
Order = Callable[[NDArray[np.intp]], NDArray[np.intp]]
#: Whether a condition holds for each item, ``(c,)``, if it alone hides some keys.
Criterion = Callable[[Sequence[int]], NDArray[np.bool_]]


def fewest_values(
    problem: Problem,
    rounds: int = 100,
    order: Order | None = None,
    progress: Progress = silent,
) -> NDArray[np.bool_]:
    """Few cheap values after whose suppression every record agrees with enough others.

    Two records agree in a key if their values are equal or at least one is missing. So a
    missing value helps every record that agrees in the other keys, and with k - 1 records that
    show nothing any file of n ≥ k records is k-anonymous in this sense: no more than (k - 1) m
    values are ever hidden where all keys may be. See `record_by_record` for another sense.

    Parameters
    ----------
    problem
        What is asked for.
    rounds
        Of improvement in each group, at most; fewer in large files.
    order
        Chooses between records of one class, which are alike in all keys; None: the first.
    progress
        Told how many groups are done.

    Returns
    -------
    numpy.ndarray
        Which values are hidden, ``(n, m)``; values that are missing already are not.

    Raises
    ------
    ProtectionError
        Some records stay too rare whatever is hidden.
    """
    problem.listed("matches='wildcard'")
    apart = _apart(problem)
    items = apart.items
    every = range(len(apart.conditions))
    agree = np.array([items.agreeing(apart.conditions[t].of) for t in every]).astype(np.int64)
    subset = np.array([sum(1 << q for q in one.of) for one in apart.conditions], dtype=np.int64)
    stays = ~np.isfinite(problem.price)
    left = np.zeros(len(items.count), dtype=bool)
    for t, one in enumerate(apart.conditions):
        left |= items.agreeing([q for q in one.of if stays[q]]) < items.need[t]
    _refuse(apart, left)
    mask = np.zeros((problem.keys.n, len(problem.price)), dtype=bool)
    start = np.searchsorted(items.group, np.arange(int(items.group.max()) + 2))
    rare = np.unique(items.group[(agree < items.need).any(axis=0)])
    price = of_sets(problem.price)
    rows = _rows(items.of, len(items.count))
    for done, group in enumerate(rare.tolist()):
        at = slice(int(start[group]), int(start[group + 1]))
        state = shared(items.part(at), subset, agree[:, at], price, rounds, _WORK // len(rare))
        for item, bits in state.found():
            some = rows(at.start + item)
            chosen = (some if order is None else order(some))[: len(bits)]
            for row, hidden in zip(chosen.tolist(), bits, strict=True):
                mask[row] = hidden >> np.arange(len(problem.price)) & 1
        progress("suppress", done + 1, len(rare))
    return mask


def record_by_record(
    problem: Problem, criteria: Sequence[Criterion] | None = None
) -> NDArray[np.bool_]:
    """For each record the cheapest values whose suppression leaves it common enough by itself.

    What a record still shows is shared by enough records of the original file, (k, 1)-anonymity.
    Others' missing values do not count, so nobody relies on them; whoever counts them
    finds at least as many. Records that agree in all keys hide the same. The result is
    the best there is, but see `hidden_by_record`.

    Parameters
    ----------
    problem
        What is asked for.
    criteria
        What has to hold besides, for the items of the problem, or None.

    Raises
    ------
    InputError
        There are criteria, and too many keys.
    ProtectionError
        Some records stay too rare whatever is hidden.
    """
    return hidden_by_record(problem, criteria)[0]


def hidden_by_record(
    problem: Problem, criteria: Sequence[Criterion] | None = None, progress: Progress = silent
) -> tuple[NDArray[np.bool_], int]:
    """The same, and of how many records it is not certain that nothing cheaper is enough.

    Of up to 12 keys, and where there are criteria, all sets are tried from the cheapest on. Of more
    keys only sets of at most two are, or none where there are many conditions; for what these do
    not protect a set is looked for item by item, which gives the same. That search ends after a
    fixed number of steps.
    """
    items, price = problem.items, problem.price
    conditions = [enough(items, t, one) for t, one in enumerate(problem.conditions)]
    if criteria:
        problem.listed("threshold=, diversity= and closeness=")
    if criteria or np.isfinite(price).sum() <= _TRIED:
        hidden, left = visible(items, price, [*conditions, *(criteria or ())])
        _refuse(problem, left)
        return hidden[items.of], 0
    few = _small_sets(price, 2 if len(conditions) <= _TRIED else 0)
    hidden, left = visible(items, price, conditions, few)
    if not left.any():
        return hidden[items.of], 0
    every = np.flatnonzero(np.isfinite(price)).tolist()
    _refuse(problem, left & ~_all(conditions, every))
    short = np.array([~holds(()) for holds in conditions]) & left
    more, unproven = one_by_one(items, problem.conditions, price, short, progress)
    hidden |= more
    return hidden[items.of], int(items.count[unproven].sum())


def visibly_rare(problem: Problem, mask: NDArray[np.bool_], which: int) -> NDArray[np.intp]:
    """Records that do not share what they still show with enough original ones, by comparing them.

    Parameters
    ----------
    problem
        What was asked for.
    mask
        Which values are hidden, ``(n, m)``; records that agree in all keys hide the same.
    which
        Position of the condition.
    """
    from diskret.microdata.suppression import gap_kernels

    items, one = problem.items, problem.conditions[which]
    hidden = np.zeros(items.codes.shape, dtype=np.bool_)
    hidden[items.of] = mask
    changed = np.flatnonzero(hidden[:, one.of].any(axis=1))
    start = np.searchsorted(items.group, np.arange(int(items.group.max(initial=0)) + 2))
    first, end = start[items.group[changed]], start[items.group[changed] + 1]
    agree = items.agreeing(one.of).astype(np.int64)
    agree[changed] = gap_kernels.sharing(
        items.codes, items.count, np.array(one.of), hidden, changed, first, end
    )
    return np.flatnonzero((agree < items.need[which])[items.of])


def too_rare(problem: Problem, mask: NDArray[np.bool_]) -> int:
    """Number of records that do not share what they still show with enough original ones.

    Parameters
    ----------
    problem
        What was asked for.
    mask
        Which values are hidden, ``(n, m)``.
    """
    items = problem.items
    touched = np.flatnonzero(mask.any(axis=1))
    untouched = items.count - np.bincount(items.of[touched], minlength=len(items.count))
    criteria = [enough(items, t, one) for t, one in enumerate(problem.conditions)]
    found = int(untouched[~_all(criteria, ())].sum())
    if len(touched):
        sets = classes(
            [mask[touched, q].astype(np.int32) for q in range(mask.shape[1])], [2] * mask.shape[1]
        )
        for i, chosen in enumerate(sets.codes > 0):
            holds = _all(criteria, np.flatnonzero(chosen).tolist())
            found += int((~holds[items.of[touched[sets.of == i]]]).sum())
    return found


def _all(criteria: Sequence[Criterion], hidden: Sequence[int]) -> NDArray[np.bool_]:
    made: NDArray[np.bool_] = np.logical_and.reduce([one(hidden) for one in criteria])
    return made


def _apart(problem: Problem) -> Problem:
    """Groups by what is never hidden, too: nothing is shared across."""
    columns = problem.keys.columns
    fixed = [
        columns[q]
        for q in np.flatnonzero(~np.isfinite(problem.price)).tolist()
        if all(q in one.of for one in problem.conditions) and columns[q].codes.min() >= 0
    ]
    if not fixed:
        return problem
    width = int(problem.group.max()) + 1
    group = classes(
        [problem.group.astype(np.int32), *(column.codes for column in fixed)],
        [width, *(len(column.categories) for column in fixed)],
    )
    return Problem(problem.keys, problem.conditions, problem.price, group.of.astype(np.int64))


def _refuse(problem: Problem, left: NDArray[np.bool_]) -> None:
    if not left.any():
        return
    rows = np.flatnonzero(left[problem.items.of])
    shown = ", ".join(str(row + 1) for row in rows[:5].tolist())
    some_records = "1 record" if len(rows) == 1 else f"{len(rows):,} records"
    raise ProtectionError(
        f"too rare, even if every value is hidden that may be: {some_records} (row {shown}"
        f"{', …' if len(rows) > 5 else ''}); ask for less, combine small strata, or let "
        "more keys be suppressed"
    )


def _rows(of: NDArray[np.intp], count: int) -> Callable[[int], NDArray[np.intp]]:
    """The records of an item, ascending."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], np.arange(count + 1))
    return lambda item: order[start[item] : start[item + 1]]


def visible(
    items: Items,
    price: NDArray[np.float64],
    criteria: Sequence[Criterion],
    sets: Iterable[tuple[int, ...]] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The cheapest set of keys for each item such that all criteria hold for what it shows.

    What other records hide plays no part, so each set is the best there is: sets are tried from
    the cheapest on. With enough records as the only criterion, what a record shows is shared
    by so many records of the original file: (k, 1)-anonymity (Gionis, Mazza and Tassa,
    k-anonymization revisited, ICDE 2008).

    `price`: of a value of each key, ``(m,)``; inf: stays. `criteria`: what has to hold. `sets`:
    those that are tried, the cheapest first; None: all. Returns what each item hides, ``(c, m)``,
    and for which items no set is enough, ``(c,)``.
    """
    hidden = np.zeros(items.codes.shape, dtype=bool)
    left = np.ones(len(items.codes), dtype=bool)
    for chosen in _sets(price) if sets is None else sets:
        holds = left.copy()
        for criterion in criteria:
            holds &= criterion(chosen)
        hidden[np.ix_(holds, np.isin(np.arange(len(price)), chosen))] = True
        left &= ~holds
        if not left.any():
            break
    return hidden & (items.codes >= 0), left


def enough(items: Items, which: int, condition: Condition) -> Criterion:
    """Whether what is left agrees with as many records as the item needs."""

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        kept = [q for q in condition.of if q not in hidden]
        return items.agreeing(kept) >= items.need[which]

    return holds


def _sets(price: NDArray[np.float64]) -> Iterator[tuple[int, ...]]:
    """All sets of keys that may be hidden, from the cheapest on; equal ones by number."""
    free = np.flatnonzero(np.isfinite(price))
    number = np.arange(1 << len(free))
    total = np.zeros(len(number))
    for bit, q in enumerate(free):
        total += price[q] * (number >> bit & 1)
    for at in np.argsort(total, kind="stable").tolist():
        yield tuple(int(q) for bit, q in enumerate(free) if at >> bit & 1)


def _small_sets(price: NDArray[np.float64], most: int) -> Iterator[tuple[int, ...]]:
    """The first of the same: sets of at most so many keys that are cheaper than any of more."""
    free = np.flatnonzero(np.isfinite(price)).tolist()
    more = float(np.sort(price[free])[: most + 1].sum()) * (1 - 1e-9)
    found = [
        (fsum(float(price[q]) for q in chosen), sum(1 << q for q in chosen), chosen)
        for size in range(most + 1)
        for chosen in combinations(free, size)
    ]
    for total, _, chosen in sorted(found):
        if total < more:
            yield chosen
