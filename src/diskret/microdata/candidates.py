"""Small recodings of one key each, and what every one would do to risk and to information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.hierarchy.number_classes import number_text
from diskret.io import Coded
from diskret.io.categories import ascending, has_order
from diskret.io.kinds import is_number
from diskret.microdata.categories import above, texts
from diskret.risk import Keys, Missing, frequencies
from diskret.risk.individual import individual_risk

#: Of neighbouring categories so many pairs are tried, those with the fewest records …
_NEIGHBOURS = 8
#: … and all pairs of so many of the smallest categories where there are no neighbours.
_SMALLEST = 5
#: Shares of the records that top and bottom coding reaches.
_TAILS = (0.01, 0.05, 0.1)
#: Widths of rounding: so many of 2, 5, 10, 20, 50, …
_WIDTHS = 3


@dataclass(frozen=True, eq=False)
class Candidate:
    """One recoding of one key."""

    variable: str  # name of the key
    what: str  # in words
    arguments: Mapping[str, Any]  # of the method `recode`
    new: NDArray[np.int32]  # for each category the number of its new one, (size,)


@dataclass(frozen=True)
class Outcome:
    """Risk in a file, and what a recoding has taken from it.

    Parameters
    ----------
    below
        Records whose keys occur less than k times.
    uniques
        Records whose keys occur once.
    expected
        Expected number of records that are recognised.
    categories_lost
        Categories that occurred and were put together with others, less the new ones.
    entropy_lost
        Bits for each record that are needed to get from the new category to the old one.
    """

    below: int
    uniques: int
    expected: float
    categories_lost: int = 0
    entropy_lost: float = 0.0


def candidates(
    keys: Keys,
    trees: Mapping[str, Hierarchy],
    orders: Mapping[str, Sequence[Any]] | None = None,
    apart: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Iterator[Candidate]:
    """Recodings worth a try.

    `apart`: key → which of its categories stay as they are, ``(n,)``, since they mean missing.

    For keys with an order (numbers, dates, declared ones): neighbouring categories put together;
    for numbers also top and bottom coding, and rounding; for other text: pairs of small
    categories; for keys with a tree: its levels, and only pairs below the same code.

    Raises
    ------
    InputError
        A category is not in its tree.
    """
    found = keys.classes
    for axis, column in enumerate(keys.columns):
        # a missing value has code -1, so it is counted first
        number = np.bincount(
            found.codes[:, axis] + 1, weights=found.count, minlength=len(column.categories) + 1
        )[1:].astype(np.float64)
        tree, order = trees.get(column.name), (orders or {}).get(column.name)
        stay = (apart or {}).get(column.name)
        if stay is None or not stay.any():
            yield from _of_key(column, number, tree, order)
            continue
        inner = replace(column, categories=column.categories.filter(pa.array(~stay)))
        for candidate in _of_key(inner, number[~stay], tree, order):
            new = np.arange(len(stay), dtype=np.int32) + len(stay)
            new[~stay] = candidate.new
            yield replace(candidate, new=np.unique(new, return_inverse=True)[1].astype(np.int32))


def _of_key(
    column: Coded,
    number: NDArray[np.float64],
    tree: Hierarchy | None,
    order: Sequence[Any] | None,
) -> Iterator[Candidate]:
    """Recodings of one key, whose categories have so many records."""
    there = np.flatnonzero(number)
    if len(there) < 3:  # two put together are no variable any more
        return
    if tree is not None:
        yield from _levels(column, tree)
    if order is None and _numeric(column):
        yield from _neighbours(column, number, there)
        yield from _ends(column, number, there)
    elif has_order(column.categories, column.name, order):
        at = ascending(column.categories, column.name, order)
        yield from _neighbours(column, number, at[number[at] > 0])
    else:
        small = there[np.argsort(number[there], kind="stable")][:_SMALLEST]
        parents = _parents(column, tree)
        for pair in combinations(sorted(small.tolist()), 2):
            if parents[pair[0]] == parents[pair[1]]:
                yield _merged(column, pair, "+")


def outcome(
    keys: Keys,
    k: int,
    weights: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
    candidate: Candidate | None = None,
) -> Outcome:
    """Risk after a recoding, computed from the classes of the keys as they are.

    Parameters
    ----------
    keys
        The keys as they are.
    k
        Frequency below which records count as recognisable.
    weights
        Sampling weights, ``(n,)``; None: 1.
    missing
        What missing values stand for.
    candidate
        The recoding; None: as it is.
    """
    if missing == "conservative":  # records that are alike do not match where a value is missing
        columns, count, total = list(keys.columns), np.ones(keys.n, dtype=np.int64), weights
    else:
        found = keys.classes
        count, total = found.count, None if weights is None else found.total(weights)
        columns = [
            replace(column, codes=np.ascontiguousarray(codes))
            for column, codes in zip(keys.columns, found.codes.T, strict=True)
        ]
    lost, entropy = 0, 0.0
    if candidate is not None:
        axis = keys.names.index(candidate.variable)
        old = columns[axis].codes
        new = np.append(candidate.new, np.int32(-1))[old]
        columns[axis] = replace(columns[axis], codes=new)
        lost, entropy = _lost(candidate.new, old, count)
    here = Keys(tuple(columns))
    sample = frequencies(here, count.astype(np.float64), missing).population
    population = sample if total is None else frequencies(here, total, missing).population
    risk = individual_risk(sample, population)
    return Outcome(
        int(count[sample < k].sum()),
        int(count[sample == 1].sum()),
        float(risk @ count),
        lost,
        entropy,
    )


def _lost(
    new: NDArray[np.int32], old: NDArray[np.int32], count: NDArray[np.int64]
) -> tuple[int, float]:
    """Categories and bits for each record that are lost; missing values lose nothing."""
    single = np.bincount(old + 1, weights=count, minlength=len(new) + 1)[1:]
    there = single > 0
    together = np.bincount(new, weights=single)
    bits = single[there] @ np.log2(together[new[there]] / single[there])
    return int(there.sum()) - int((together > 0).sum()), float(bits) / int(count.sum())


# ── what is tried ───────────────────────────────────────────────────────────────────


def _numeric(column: Coded) -> bool:
    return is_number(column.categories.type)


def _levels(column: Coded, tree: Hierarchy) -> Iterator[Candidate]:
    """The levels of a tree, from the finest that changes anything up to just below the total."""
    before = texts(column.categories)
    for level in range(int(tree.level.max()) - 1, 0, -1):
        codes = above(column, tree, level)
        if codes != before:
            yield Candidate(
                column.name,
                f"level {level} of the hierarchy",
                {"hierarchy": tree, "level": level},
                np.unique(codes, return_inverse=True)[1].astype(np.int32),
            )
        before = codes


def _parents(column: Coded, tree: Hierarchy | None) -> list[int]:
    """What lies above each category; without a tree they have the same above them."""
    if tree is None:
        return [0] * len(column.categories)
    return [int(tree.parent[tree.position[code]]) for code in texts(column.categories)]


def _neighbours(
    column: Coded, number: NDArray[np.float64], order: NDArray[np.intp]
) -> Iterator[Candidate]:
    """Pairs that follow each other, those with the fewest records."""
    pairs = list(pairwise(order.tolist()))
    fewest = np.argsort([number[list(pair)].sum() for pair in pairs], kind="stable")
    for place in sorted(fewest[:_NEIGHBOURS].tolist()):
        yield _merged(column, pairs[place], "-")


def _ends(
    column: Coded, number: NDArray[np.float64], there: NDArray[np.intp]
) -> Iterator[Candidate]:
    """Top and bottom coding, and rounding."""
    values = column.categories.to_numpy(zero_copy_only=False).astype(np.float64)
    at = np.arange(len(values))
    for end, order in (("top", there[::-1]), ("bottom", there)):
        reached = np.cumsum(number[order]) / number.sum()
        places = np.searchsorted(reached, _TAILS)
        # the two last categories are neighbours, and all of them are no recoding
        for place in sorted({int(p) for p in places if 2 <= p < len(order) - 1}):
            limit = int(order[place])
            new = np.minimum(at, limit) if end == "top" else np.maximum(at, limit)
            value = column.categories[limit].as_py()
            yield Candidate(
                column.name,
                f"{number_text(float(value))} and {'above' if end == 'top' else 'below'}",
                {end: value},
                new.astype(np.int32),
            )
    yield from _rounded(column, values[there], values)


def _rounded(
    column: Coded, found: NDArray[np.float64], values: NDArray[np.float64]
) -> Iterator[Candidate]:
    """Rounding to 2, 5, 10, … that leaves at least three and at most half of the categories."""
    tried = 0
    for width in (base * 10**power for power in range(7) for base in (2, 5, 10)):
        multiples = np.floor(values / width + 0.5)
        left = len(np.unique(np.floor(found / width + 0.5)))
        if left < 3 or tried == _WIDTHS:
            return
        if left <= len(found) / 2:
            tried += 1
            new = np.unique(multiples, return_inverse=True)[1].astype(np.int32)
            yield Candidate(column.name, f"rounded to {width}", {"width": width}, new)


def _merged(column: Coded, pair: Sequence[int], sign: str) -> Candidate:
    names = texts(column.categories.take(pa.array(pair)))
    new = np.arange(len(column.categories), dtype=np.int32)
    new[pair[1]] = pair[0]
    what = f"{names[0]!r} and {names[1]!r} together"
    return Candidate(column.name, what, {"groups": {sign.join(names): names}}, new)
