"""Probabilistic record linkage: which agreements tell that two records are the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Number, Several, Whole, reading
from diskret.risk.keys import total
from diskret.risk.neighbours import Comparison, Numbers, Seen, comparisons, space

#: Steps of the EM algorithm at most, and the change of a probability at which it ends.
_STEPS, _REST = 200, 1e-5
#: Probabilities are kept that far from 0, so that logarithms exist.
_LEAST = 1e-9
#: Different keys are that far apart when candidates are looked for: only to choose among equals.
_TIE = 1e-6
#: Combinations of levels are numbered in 64 bits.
_LARGEST = 2**62
#: Weights that differ by less are the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Field:
    """What agreement in one variable tells.

    Parameters
    ----------
    m, u
        Probability of each level of agreement, best first, for two records of the same person and
        of two persons, ``(l,)``; each adds up to 1.
    """

    m: Numbers
    u: Numbers

    @property
    def weights(self) -> Numbers:
        """log₂(m/u) of each level, ``(l,)``."""
        return np.log2(self.m / self.u)


@dataclass(frozen=True, eq=False)
class ProbabilisticLinks:
    """How well protected records lead to their originals by weights of agreement. Confidential.

    Parameters
    ----------
    correct
        For each protected record the probability that the original with the largest weight is its
        own, ``(n,)``: 1/m if m have the largest and its own is among them, else 0.
    weight
        The largest weight Σ log₂(m/u) of each, ``(n,)``; NaN if it has no candidate.
    fields
        For each variable, numbers before keys, what its agreement tells.
    pairs
        Number of compared pairs.
    """

    correct: Numbers
    weight: Numbers
    fields: tuple[Field, ...]
    pairs: int

    @property
    def share(self) -> float:
        """Expected share of correct links."""
        return total(self.correct) / len(self.correct)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Candidates of the protected records of one comparison, and how they agree."""

    one: Comparison
    who: NDArray[np.intp]  # (a, c): places of originals
    pattern: NDArray[np.int64]  # (a, c): the levels of all variables as one number
    times: NDArray[np.int64]  # (a, c): pairs of records


@reading
def linked_by_weights(
    original: Seen,
    protected: Seen,
    *,
    near: Annotated[Sequence[float], Several(Number(above=0))] = (0.01, 0.1, 0.5),
    neighbours: Annotated[int, Whole(2)] = 10,
) -> ProbabilisticLinks:
    """Link every protected record with the original that agrees most tellingly.

    Pairs are compared variable by variable: a category agrees or not, a number agrees within one of
    several distances. How often that happens by chance (u) is counted in all pairs of the two
    files, through sorted values. How often it happens for the same person (m) is estimated by EM,
    as by an attacker who does not know the truth, but knows that the persons are in the file: one
    of the candidates of each record is the same person.

    Parameters
    ----------
    original, protected
        The same n records before and after protection, in the same order. Only pairs of one block
        are compared.
    near
        Ascending distances in standard deviations of the original variable, or in median absolute
        deviations (times 1.4826) where these are less.
    neighbours
        So many candidates of each protected record are compared: those with the nearest numbers,
        and of equally near ones those that agree in more keys. All n² pairs are never looked at.

    Raises
    ------
    InputError
        The files do not have the same records or variables, or an option is out of range.

    Notes
    -----
    A missing value tells nothing. Variables are taken to agree independently, given whether the
    persons are the same.

    References
    ----------
    Fellegi and Sunter (1969), "A theory for record linkage", J. American Statistical Association
    64; Jaro (1989) for the estimation, same journal 84.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(size=(200, 3))
    >>> noisy = true + rng.normal(scale=0.02, size=true.shape)
    >>> linked_by_weights(Seen(true), Seen(noisy)).share > 0.9
    True
    """
    steps = np.asarray(near, dtype=np.float64)
    if not (np.diff(steps) > 0).all():
        raise InputError(f"near= is ascending distances above 0, not {near!r}")
    # beside a huge value all others would agree within standard deviations
    scales = (space(original.numbers, metric) for metric in ("standardised", "robust"))
    width = np.minimum(*(scale.width for scale in scales))
    p, q = original.numbers.shape[1], original.keys.shape[1]
    levels = [len(steps) + 1] * p + [2] * q
    if prod(number + 1 for number in levels) > _LARGEST:
        raise InputError(
            f"{p + q} variables with up to {max(levels)} levels of agreement have too many "
            "combinations; compare fewer variables, or name fewer distances in near="
        )
    made: list[_Pairs] = []
    for one in comparisons(original, protected, space(original.numbers, "gower"), _TIE):
        far, who = one.nearest(np.arange(len(one.points)), min(neighbours, len(one.known)))
        pattern = np.zeros(who.shape, np.int64)
        mine, theirs = one.first[:, None], one.known_first[who]
        for at in range(p):
            away = np.abs(original.numbers[theirs, at] - protected.numbers[mine, at])
            level = np.searchsorted(steps, away / width[at] - 1e-12)
            # NaN is sorted behind all numbers; a level of its own says that it tells nothing
            level[np.isnan(away)] = levels[at]
            pattern = pattern * (levels[at] + 1) + level
        for at in range(q):
            codes = original.keys[theirs, at], protected.keys[mine, at]
            level = np.where(codes[0] == codes[1], 0, 1)
            level[(codes[0] < 0) | (codes[1] < 0)] = 2
            pattern = pattern * 3 + level
        times = one.count[who] * np.bincount(one.of)[:, None]
        times[far >= one.reach] = 0  # of another block
        made.append(_Pairs(one, who, pattern, times))
    compared = sum(int(pairs.times.sum()) for pairs in made)
    if not compared:
        return ProbabilisticLinks(np.zeros(protected.n), np.full(protected.n, np.nan), (), 0)
    patterns, of = np.unique(
        np.concatenate([pairs.pattern.ravel() for pairs in made]), return_inverse=True
    )
    ends = np.cumsum([0, *(pairs.pattern.size for pairs in made)]).tolist()
    numbered = [
        replace(pairs, pattern=of[start:end].reshape(pairs.who.shape))
        for pairs, (start, end) in zip(made, pairwise(ends), strict=True)
    ]
    numbers = zip(original.numbers.T, protected.numbers.T, width, strict=True)
    codes = zip(original.keys.T, protected.keys.T, strict=True)
    by_chance = [_by_chance(known, shown, steps * width) for known, shown, width in numbers]
    by_chance += [_by_chance(known, shown) for known, shown in codes]
    fields, weight = _estimated(numbered, _levels(patterns, levels), by_chance)
    correct, best = np.zeros(protected.n), np.full(protected.n, np.nan)
    for pairs in numbered:
        _link(pairs, weight[pairs.pattern], correct, best)
    return ProbabilisticLinks(correct, best, fields, compared)


def _by_chance(
    original: NDArray[Any], protected: NDArray[Any], steps: Numbers | None = None
) -> Numbers:
    """u: the share of all pairs of two files on each level, counted exactly, ``(l,)``.

    Without steps the values are codes, which agree or do not.
    """
    known, shown = (
        np.sort(values[~np.isnan(values) if steps is not None else values >= 0])
        for values in (original, protected)
    )
    agree = np.array(
        [
            float(
                (known.searchsorted(shown + far, "right") - known.searchsorted(shown - far)).sum()
            )
            for far in ([0] if steps is None else steps)
        ]
    )
    pairs = max(float(len(known)) * len(shown), 1.0)
    share = np.maximum(np.diff(agree / pairs, prepend=0.0, append=1.0), _LEAST)
    return share / share.sum()


def _levels(patterns: NDArray[np.int64], levels: Sequence[int]) -> NDArray[np.int64]:
    """The level of each variable in each pattern, ``(patterns, variables)``."""
    columns: list[NDArray[np.int64]] = []
    for number in reversed(levels):
        columns.append(patterns % (number + 1))
        patterns = patterns // (number + 1)
    return np.stack(columns[::-1], axis=1)


def _estimated(
    made: Sequence[_Pairs], table: NDArray[np.int64], u: Sequence[Numbers]
) -> tuple[tuple[Field, ...], Numbers]:
    """Estimate m and u of each variable by EM, and the weight of each pattern.

    Of the candidates of a protected record one is taken to be the same person.
    """
    levels = [len(one) for one in u]
    shown = [column < number for column, number in zip(table.T, levels, strict=True)]

    def shares(counted: Numbers) -> list[Numbers]:
        made: list[Numbers] = []
        for column, there, number in zip(table.T, shown, levels, strict=True):
            part = np.bincount(column[there], weights=counted[there], minlength=number)
            part = np.maximum(part / max(part.sum(), _LEAST), _LEAST)
            made.append(part / part.sum())
        return made

    # before anything is known, the same person agrees as well as possible nine times of ten
    m = [np.append(0.9, np.full(number - 1, 0.1 / (number - 1))) for number in levels]
    for _ in range(_STEPS):
        weight = _weights(table, m, u)
        same = np.zeros(len(table))
        for pairs in made:
            same += np.bincount(pairs.pattern.ravel(), _chances(pairs, weight).ravel(), len(table))
        before, m = m, shares(same)
        if np.abs(np.concatenate(m) - np.concatenate(before)).max() < _REST:
            break
    return tuple(Field(*both) for both in zip(m, u, strict=True)), _weights(table, m, u)


def _weights(table: NDArray[np.int64], m: Sequence[Numbers], u: Sequence[Numbers]) -> Numbers:
    """Σ log₂(m/u) of each pattern; what is missing adds nothing."""
    added = np.zeros(len(table))
    for column, same, other in zip(table.T, m, u, strict=True):
        added += np.append(np.log2(same / other), 0.0)[column]
    return added


def _chances(pairs: _Pairs, weight: Numbers) -> Numbers:
    """How many of the pairs are the same person, if one candidate of each record is."""
    own = weight[pairs.pattern]
    own[pairs.times == 0] = -np.inf
    highest = own.max(axis=1, keepdims=True)
    odds = np.exp2(own - np.where(np.isfinite(highest), highest, 0.0)) * pairs.one.count[pairs.who]
    records = np.bincount(pairs.one.of)
    return odds * (records / np.maximum(odds.sum(axis=1), _LEAST))[:, None]


def _link(pairs: _Pairs, weight: Numbers, correct: Numbers, best: Numbers) -> None:
    """Write what is known of the records of one comparison."""
    one = pairs.one
    weight = np.where(pairs.times > 0, weight, -np.inf)
    largest = weight.max(axis=1)
    first = (weight >= largest[:, None] - _SAME) & (pairs.times > 0)
    tied = (first * one.count[pairs.who]).sum(axis=1)
    own = one.known_of[one.rows][:, None]
    found = (first[one.of] & (pairs.who[one.of] == own)).any(axis=1)
    correct[one.rows] = np.where(found, 1 / np.maximum(tied, 1)[one.of], 0.0)
    best[one.rows] = np.where(np.isfinite(largest), largest, np.nan)[one.of]
