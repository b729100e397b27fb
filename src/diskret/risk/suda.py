"""Special uniques: records that few of the keys are enough to tell from all others."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial, prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Proportion, Whole, reading
from diskret.risk.frequencies import Missing
from diskret.risk.keys import Keys

#: How a set of keys in which a record is alone is scored.
Scores = Literal["original", "share"]

#: A set of keys is a whole number of 64 bits, with a sign.
_MOST_KEYS = 62
_MOST_SETS = 2**24


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """Minimal sample uniques: e pairs of a record and a set of keys."""

    names: tuple[str, ...]  # the m keys
    n: int  # number of records
    largest: int  # sets of up to so many keys were searched
    record: NDArray[np.intp]  # position of the record, ascending, (e,)
    #: the set of keys, (e,), int64: bit j stands for key j. For one record smaller sets come first.
    keys: NDArray[np.int64]

    @property
    def size(self) -> NDArray[np.intp]:
        """How many keys each set has, ``(e,)``."""
        return np.bitwise_count(self.keys).astype(np.intp)

    def has(self, key: int) -> NDArray[np.bool_]:
        """Whether each set holds the key in this position, ``(e,)``."""
        return (self.keys >> key) & 1 == 1

    def of(self, record: int) -> tuple[tuple[str, ...], ...]:
        """The sets of one record, as names of keys."""
        start, end = np.searchsorted(self.record, [record, record + 1])
        return tuple(
            tuple(name for j, name in enumerate(self.names) if keys >> j & 1)
            for keys in self.keys[start:end].tolist()
        )


@reading
def minimal_uniques(
    keys: Keys, max_size: Annotated[int, Whole(1)] | None = None, missing: Missing = "wildcard"
) -> MinimalUniques:
    """Find every minimal sample unique of up to `max_size` keys.

    A record is alone in a set of keys if no other record agrees with it in all of them. The set
    is a minimal sample unique of the record if it is alone in no smaller part of it. All of
    them are found, whatever the number of categories.

    `keys`: the m keys. `max_size`: largest number of keys in a set; None: m. `missing`:
    ``"wildcard"``: no set holds a key whose value is missing in the record itself, and a missing
    value of another record agrees with every value. So the records that have a set are, with
    ``max_size=None``, those whose sample frequency is 1. ``"conservative"``: the same, but missing
    values of others agree with nothing. ``"category"``: missing is a value like others.

    Manning, Haglin and Keane (2008), "A recursive search algorithm for statistical disclosure
    assessment", Data Mining and Knowledge Discovery 16: the definition, and that groups are
    searched within groups. Work and memory grow with the combinations that occur, not with the
    number of records.
    """
    m = len(keys.columns)
    largest = _largest(m, max_size)
    from diskret.risk.suda_kernels import minimal_uniques as search

    found = keys.classes
    # a key that splits most comes first in the search (last in the order), but one with missing
    # values late, where few are left for them to agree with
    gaps = np.count_nonzero(found.codes < 0, axis=0)
    order = np.lexsort((np.array(keys.sizes), -gaps if missing == "wildcard" else 0 * gaps))
    codes = np.ascontiguousarray(found.codes.T[order])
    if missing == "category":
        codes = codes + np.int32(1)
    width = max(keys.sizes) + 1
    which, bits = search(codes, found.count, width, missing == "wildcard", largest)
    sets = np.zeros_like(bits)
    for bit, key in enumerate(order.tolist()):
        sets |= (bits >> bit & 1) << key
    only = np.zeros(len(found.count), dtype=np.intp)
    only[found.of] = np.arange(keys.n)
    record = only[which]
    at = np.lexsort((sets, np.bitwise_count(sets), record))
    return MinimalUniques(keys.names, keys.n, largest, record[at], sets[at])


def _largest(m: int, max_size: int | None) -> int:
    """The number of keys that a set may have, if that can be searched."""
    if m > _MOST_KEYS:
        raise InputError(f"{m} keys are too many: sets of at most {_MOST_KEYS} can be searched")
    largest = m if max_size is None else min(max_size, m)
    sets = sum(comb(m, size) for size in range(1, largest + 1))
    if sets > _MOST_SETS:
        fits = next(
            size
            for size in range(largest, 0, -1)
            if sum(comb(m, s) for s in range(1, size + 1)) <= _MOST_SETS
        )
        raise InputError(
            f"{m} keys have {sets:,} sets of up to {largest} keys, which is more than can be "
            f"searched; give max_size={fits} or less"
        )
    return largest


@reading
def scores_by_size(m: int, largest: int, scores: Scores) -> NDArray[np.float64]:
    """What a set of 0, 1, …, `largest` of m keys is scored, ``(largest + 1,)``; no keys: 0.

    ``"original"``: Π (m - i) for i from the size k to `largest` - 1, which is (m - k)! if
    sets of all sizes are searched (Elliot, Manning and Ford 2002). ``"share"``:
    (2^(m-k) - 1) · k! (m-k)! / m!, in proportion to the larger sets that are alone for the same
    reason; a set of all m keys scores 0.
    """
    sizes = range(1, largest + 1)
    if scores == "original":
        of = [float(prod(m - i for i in range(k, largest))) for k in sizes]
    else:
        of = [(2 ** (m - k) - 1) * factorial(k) * factorial(m - k) / factorial(m) for k in sizes]
    return np.array([0.0, *of])


def scores_of_records(found: MinimalUniques, scores: Scores) -> NDArray[np.float64]:
    """Sum of the scores of its minimal sample uniques for each record, ``(n,)``."""
    by_size = scores_by_size(len(found.names), found.largest, scores)
    return np.bincount(found.record, by_size[found.size], minlength=found.n).astype(float)


@reading
def intrusion(sample: NDArray[np.float64], dis_fraction: Annotated[float, Proportion()]) -> float:
    """The share of unique matches that are correct, by data intrusion simulation.

    DIS = U π / (U π + P (1 - π)), with U records that are alone in all keys, P records that
    have exactly one double, and the sampling fraction π (Elliot 2005; Skinner and Elliot 2002,
    "A measure of disclosure risk for microdata", JRSS B 64, with P = 2 n₂).

    `sample`: sample frequency of each record, ``(n,)``. `dis_fraction`: π.
    """
    alone, double = int((sample == 1).sum()), int((sample == 2).sum())
    share = dis_fraction
    return alone * share / (alone * share + double * (1 - share)) if alone else 0.0


def intrusion_of_records(
    score: NDArray[np.float64], intrusion: float, m: int
) -> NDArray[np.float64]:
    """Spread the DIS of the file over its records by their scores (DIS-SUDA), ``(n,)``.

    d = 1 / (1 + (U/DIS - U) / (s^Q · A)) with A = Σ 1/s^Q over the U records whose score s is
    above 0, and Q = 1 + (8 - m)/20 for m keys, at least 0. The mean of 1/d is 1/DIS. Records
    without a score have 0.
    """
    made = np.zeros(len(score))
    scored = score > 0
    if scored.any():
        power = score[scored] ** max(1 + (8 - m) / 20, 0.0)
        rest = int(scored.sum()) * (1 / intrusion - 1)
        made[scored] = 1 / (1 + rest / (power * (1 / power).sum()))
    return made


@dataclass(frozen=True, eq=False)
class Contributions:
    """How much keys and their values contribute to the scores, in percent of all scores.

    A set counts fully for each of its keys, so that the figures add up to more than 100.
    """

    keys: NDArray[np.float64]  # for each key, (m,)
    levels: tuple[NDArray[np.float64], ...]  # for each key one figure for each of its categories


def contributions(found: MinimalUniques, keys: Keys, scores: Scores) -> Contributions:
    """The part of all scores that comes from sets with a key, and with a value of it.

    With ``missing="category"`` the missing values of a key count for the key, for no category.
    """
    score = scores_by_size(len(found.names), found.largest, scores)[found.size]
    scale = 100 / total if (total := float(score.sum())) else 0.0
    of_key: list[float] = []
    of_level: list[NDArray[np.float64]] = []
    for j, column in enumerate(keys.columns):
        part = found.has(j)
        code = column.codes[found.record[part]]
        level = np.bincount(code + 1, score[part], minlength=len(column.categories) + 1)
        of_key.append(float(score[part].sum()) * scale)
        of_level.append((level[1:] * scale).astype(np.float64))
    return Contributions(np.array(of_key), tuple(of_level))
