"""Missing values of keys that are not missing: other columns of the same file tell them.

A district that was suppressed is known if the name of the district leaves, too, the number of a
household whose other members show theirs, or a region and a number within it. A reader learns from
the file alone which values of the key go with which values of other columns; nothing else has to be
known. How sure a reader can be is learnt from the file as well: by guessing values that are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

#: How often guesses may be wrong, relative to those of a reader who knows nothing but how often
#: each value is shown.
_WRONG = 0.05
#: A rule has to be tested on so many of the records that show what it is about: where hardly any
#: agree in some columns, those that do are of one kind.
_TESTED = 0.5
#: Columns that tell nothing may go with a key by chance; so seldom among all that are looked at.
_CHANCE = 0.001
#: Columns that are looked at together; three only of a file with no more columns than these.
_TOGETHER, _FEW = 3, 12
#: Of larger files so many records decide whether columns are worth a look at all records.
_PART = 60_000
#: With so many records for each of their values, these may be any; with fewer, all of some values.
_ENOUGH = 50
#: Records of a part that follow each other in an order.
_RUN = 1_000
_LARGEST = 2**62
#: What a group of records tells: a value of its own.
_OWN = -2
#: Key and the columns that tell it → whether they tell missing values.
_Rules = dict[tuple[str, tuple[str, ...]], bool]


@dataclass(frozen=True, eq=False)
class Limit:
    """A column that follows from a key, and so tells which values a missing one can have."""

    name: str
    of: Numbers  # its value for each value of the key, -1 if none is known, (v,)
    numbers: Numbers  # that of each record, its own where the key is missing, (n,)


@dataclass(frozen=True, eq=False)
class Told:
    """A key of which other columns tell missing values."""

    numbers: Numbers  # the values of the key, told ones filled in, -1 where nothing tells, (n,)
    #: the columns that tell some, alone or together; none: the order of the records
    by: tuple[tuple[str, ...], ...] = ()
    limits: tuple[Limit, ...] = ()  # what other columns tell of values that are still missing


def told(
    columns: Mapping[str, Numbers], keys: Sequence[str], orders: Mapping[str, Numbers] | None = None
) -> dict[str, Told]:
    """Fill in the missing values of keys that other columns tell, alone, in pairs or in threes.

    An order of the records tells a key, too, if those before and after a record show its value.

    Columns tell a key if whoever guesses each value that is shown from the other records with the
    same values in these columns is wrong at most one twentieth as often as whoever knows only how
    often each value is shown, and no chance explains it. A guess is made where the other records
    agree as well as that. If each value of the key goes with one of the columns, too, as codes and
    their names do, other values of the columns tell a value of the key that is not shown.

    Parameters
    ----------
    columns
        All columns of the file as numbers from 0 on, -1 where missing, ``(n,)``, by name.
    keys
        Names of some.
    orders
        Column → the positions of records from its lowest value to its highest; ``""`` → in the
        order of the file. All columns may be there, and records with a missing value not.

    Examples
    --------
    >>> town = np.arange(40) % 4
    >>> code = np.where(np.arange(40) == 5, -1, town)
    >>> found = told({"code": code, "town": town}, ["code"])["code"]
    >>> int(found.numbers[5]), found.by
    (1, (('town',),))
    """
    now, rules, looked = dict(columns), _Rules(), set[str]()
    waiting = {*keys}
    while waiting := {name for name in waiting if (columns[name] == -1).any()} - looked:
        names = [name for name in columns if name in waiting]
        _by_values(columns, now, names, rules)
        _by_order(columns, now, names, orders or {}, rules)
        looked |= waiting
        waiting = {name for _, chosen in rules for name in chosen}
    again = True
    while again:  # what was told tells more: of all keys at once, so that none depends on others
        again, before = False, dict(now)
        for key, chosen in rules:
            if not looked.isdisjoint(chosen):
                of = _joined([before[name] for name in chosen])
                filled = _fill(now, key, of, columns[key], _doubt(columns))
                rules[key, chosen] |= filled
                again |= filled
    return {
        key: Told(
            now[key],
            tuple(by for (of, by), fills in rules.items() if fills and of == key),
            tuple(_limits(columns, key, now[key])),
        )
        for key in keys
    }


def _limits(columns: Mapping[str, Numbers], key: str, now: Numbers) -> Iterator[Limit]:
    """The columns that follow from a key: whoever knows the key of a person knows them, too."""
    gaps = now == -1
    if not gaps.any() or (columns[key] == -1).all():
        return
    part = _part(columns[key])
    for name, column in columns.items():
        both = part[column[part] >= 0]
        if name == key or not (column[gaps] >= 0).any() or not len(both):
            continue
        if _meanings(columns[key][both], column[both], _doubt(columns)) is None:
            continue
        both = np.flatnonzero((columns[key] >= 0) & (column >= 0))
        means = _meanings(columns[key][both], column[both], _doubt(columns))
        if means is not None:
            of = np.append(np.maximum(means, -1), np.full(int(now.max()) + 1 - len(means), -1))
            yield Limit(name, of, np.where(gaps, column, of[now]))


def _by_values(
    columns: Mapping[str, Numbers], now: dict[str, Numbers], keys: Sequence[str], rules: _Rules
) -> None:
    """Fill in what values of columns tell of keys as they are shown, and add who tells it."""
    sets = (chosen for size in _sizes(columns) for chosen in combinations(columns, size))
    for chosen in sets:
        of = _joined([columns[name] for name in chosen])
        part = _part(of) if len(chosen) > 1 else np.flatnonzero(of >= 0)
        place = np.unique(of[part], return_inverse=True)[1]
        for key in keys:
            fewer = any(of_key == key and {*by} < {*chosen} for of_key, by in rules)
            if key in chosen or (fewer and not ((now[key] == -1) & (of >= 0)).any()):
                continue
            if _meanings(place, columns[key][part], _doubt(columns)) is not None:
                rules[key, chosen] = _fill(now, key, of, columns[key], _doubt(columns))


def _by_order(
    columns: Mapping[str, Numbers],
    now: dict[str, Numbers],
    keys: Sequence[str],
    orders: Mapping[str, Numbers],
    rules: _Rules,
) -> None:
    """The same of records that lie between others with one value of the key."""
    for name, order in orders.items():
        runs = np.arange(len(order)) // _RUN
        part = order[runs % max(1, len(order) // _PART) == 0]
        for key in keys:
            between = _between(columns[key][part])
            there = between >= 0
            if name == key or not (now[key] == -1).any() or there.sum() <= _TESTED * len(there):
                continue
            if _meanings(between[there], columns[key][part[there]], _doubt(columns)) is not None:
                of = np.full(len(now[key]), -1)
                of[order] = _between(columns[key][order])
                filled = _fill(now, key, of, columns[key], _doubt(columns))
                chosen = (name,) if name else ()
                rules[key, chosen] = rules.get((key, chosen), False) or filled


def _sizes(columns: Mapping[str, Numbers]) -> range:
    """How many columns are looked at together."""
    return range(1, (_TOGETHER if len(columns) <= _FEW else _TOGETHER - 1) + 1)


def _doubt(columns: Mapping[str, Numbers]) -> float:
    """The logarithm of the number of sets, divided by how seldom chance may explain one."""
    sets = sum(comb(len(columns), size) for size in _sizes(columns))
    return log((sets + len(columns) + 1) / _CHANCE)  # and orders


def _joined(columns: Sequence[Numbers]) -> Numbers:
    """A number for each combination of values, -1 where one is missing, ``(n,)``."""
    joined, span = columns[0], int(columns[0].max(initial=0)) + 1
    missing = joined == -1
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if span * width > _LARGEST:
            joined = np.unique(joined, return_inverse=True)[1]
            span = len(joined)
        joined = joined * width + column
        missing |= column == -1
        span *= width
    return np.where(missing, -1, joined)


def _between(key: Numbers) -> Numbers:
    """The value that is shown next before and after each record, -1 where two are, ``(n,)``."""
    before, after = _before(key), _before(key[::-1])[::-1]
    return np.where(before == after, before, -1)


def _before(key: Numbers) -> Numbers:
    last = np.maximum.accumulate(np.where(key >= 0, np.arange(len(key)), -1))
    return np.append(-1, np.where(last >= 0, key[last], -1)[:-1])


def _part(of: Numbers) -> Numbers:
    """Enough records to see whether columns are worth a look at all of them; positions."""
    shown = np.flatnonzero(of >= 0)
    step = len(shown) // _PART
    if step < 2:
        return shown
    if int(of.max()) < _PART // _ENOUGH:
        return shown[::step]
    mixed = of[shown].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # the golden ratio
    some = shown[mixed < np.uint64(2**64 // step)]
    return some[:: max(1, len(some) // _PART)]


def _fill(now: dict[str, Numbers], key: str, of: Numbers, shown: Numbers, doubt: float) -> bool:
    """Fill in what groups of records tell of a key; whether there was something."""
    rows = np.flatnonzero(of >= 0)
    place = np.unique(of[rows], return_inverse=True)[1]
    means = _meanings(place, shown[rows], doubt)
    if means is None:
        return False
    hidden = np.flatnonzero(means == _OWN)
    means[hidden] = int(now[key].max()) + 1 + np.arange(len(hidden))
    told_ = np.where(now[key][rows] == -1, means[place], -1)
    if not (told_ >= 0).any():
        return False
    now[key] = now[key].copy()
    now[key][rows[told_ >= 0]] = told_[told_ >= 0]
    return True


def _meanings(place: Numbers, key: Numbers, doubt: float) -> Numbers | None:
    """The value of a key that each group of records tells, ``(g,)``; None: they tell none.

    Where a group tells nothing, -1; where it tells a value that is nowhere shown, `_OWN`.

    place: the group of each record, from 0 on.
    doubt: see `_doubt`.
    """
    shown = key >= 0
    if not shown.any():
        return None
    number, most, value, share = _counted(place[shown], key[shown], int(place.max()) + 1)
    some = number > 1
    if number[some].sum() < _TESTED * number.sum():
        return None
    # of two records that differ, each makes the wrong guess of the other
    contrary, lost = number - most, 1 - share[value]
    wrong = np.where(most == 1, number, contrary)[some]
    expected = (number * lost)[some]
    # a few records tell as well as many; one record to the contrary proves nothing
    size = np.log2(number[some] - 1).astype(np.int64)
    failed, allowed = (np.bincount(size, weights=w) for w in (wrong, _WRONG * expected))
    if (failed > allowed + 1).any() or failed.sum() > allowed.sum():
        return None
    # the chance that groups agree but for so many records, whichever these are
    chance = _ways(number, contrary) + (most - 1) * log(max(share))
    if chance[some].sum() + doubt > 0:
        return None
    there = number > 0
    tells = there & (contrary <= _WRONG * lost * number)
    means = np.where(tells, value, -1)
    if len(np.unique(value[tells])) >= (1 - _WRONG) * there.sum():
        # a name that no shown code goes with stands for a code that is none of these
        means[~there] = _OWN
    return means


def _counted(
    place: Numbers, key: Numbers, groups: int
) -> tuple[Numbers, Numbers, Numbers, NDArray[np.float64]]:
    """For each group its records, those with its most frequent value, and that value, ``(g,)``.

    And how often each value is shown in groups of several records, ``(v,)``.
    """
    width = int(key.max()) + 1
    cell, count = np.unique(place * width + key, return_counts=True)
    of, value = np.divmod(cell, width)
    last = np.lexsort((count, of))[np.append(np.diff(of) > 0, True)]
    found = np.zeros((3, groups), dtype=np.int64)
    found[0] = np.bincount(of, weights=count, minlength=groups)
    found[1:, of[last]] = count[last], value[last]
    shown = np.bincount(value, weights=np.where(found[0][of] > 1, count, 0), minlength=width)
    return found[0], found[1], found[2], shown / max(shown.sum(), 1)


def _ways(number: Numbers, some: Numbers) -> NDArray[np.float64]:
    """An upper bound of the logarithm of the ways to choose some of a number, ``(g,)``."""
    share = some / np.maximum(number, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = share * np.log(share) + (1 - share) * np.log1p(-share)
    return -number * np.nan_to_num(each)
