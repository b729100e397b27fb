"""Variables that hang together: turnover is what was sold at home and abroad.

Whoever knows two of three sums that add up knows the third, and a variable that was cut off at a
limit tells, beside the variable itself, what few records have beyond it. So each variable is
written as a sum of *terms*, each of which adds up by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.sums import EQUAL, FEW

Numbers = NDArray[np.float64]

_LARGEST = 12  # times that a term may be in a variable
_TRIED = 300  # records by which a sum is looked for; it must hold for all
_SAMPLE, _MAYBE = 3000, 0.4  # records that say whether there can be anything, and what they ask


@dataclass(frozen=True, eq=False)
class Family:
    """Variables that are sums of the same terms.

    Parameters
    ----------
    terms
        Shape (terms, records): the value of each term, 0 where there is none.
    times
        For each variable, by its number, shape (terms, records): how many times each term is in
        it, below 0 if it is subtracted; all of a variable may be in another unit of measurement.
    """

    terms: Numbers
    times: dict[int, NDArray[np.int8]]


@dataclass(eq=False)
class _Written:
    """A variable as a sum of terms: how many times each is in it, for each record."""

    values: Numbers
    times: dict[int, NDArray[np.int8]] = field(default_factory=dict[int, NDArray[np.int8]])
    summed: bool = False

    def made(self, terms: Sequence[Numbers], at: Any = slice(None)) -> Numbers:
        """What the terms add up to, NaN where no value is told; `at`: of these records only."""
        values = self.values[at]
        if len(self.times) == 1:  # most are terms themselves
            [(term, times)] = self.times.items()
            if (times == 1).all() and not np.isnan(terms[term]).any():
                return terms[term][at]
        whole = np.zeros(len(values))
        for term, times in self.times.items():
            whole += times[at] * np.nan_to_num(terms[term][at])
        return np.where(np.isnan(values), np.nan, whole)


def families(values: Sequence[Numbers]) -> list[Family]:
    """Those variables that hang together, by two or more.

    Found are variables that are the same but for less than half of the records where they are not
    zero, and those that are a sum of others with whole factors, once these are measured in suitable
    units.

    Parameters
    ----------
    values
        For each variable, shape (records,): its values, NaN where none is told.
    """
    some = _some(values)
    if some is not None and not _related(_all_written(some, [], _MAYBE)):
        return []
    terms: list[Numbers] = []
    written = _all_written(values, terms, 0.5)
    return [_family(members, terms) for members in _related(written)]


def _some(values: Sequence[Numbers]) -> list[Numbers] | None:
    """The same of some records, where these say of all what hangs together; None: of none."""
    if len(values) < 2 or len(values[0]) < 10 * _SAMPLE:
        return None
    draw = np.random.default_rng(0)
    at = np.sort(draw.choice(len(values[0]), _SAMPLE, replace=False))
    there = [~np.isnan(one) & (one != 0) for one in values]
    for one, other in combinations(there, 2):
        both = np.count_nonzero(one[at] & other[at])
        if both < _TRIED and np.count_nonzero(one & other) >= FEW:
            return None
    return [one[at] for one in values]


def _all_written(
    values: Sequence[Numbers], terms: list[Numbers], share: float
) -> dict[int, _Written]:
    """All variables as sums of terms.

    `share`: of the records that two must have the same values in, to be the same but for some.
    """
    written: dict[int, _Written] = {}
    for number in _parts_first(values):
        own = _Written(values[number])
        if not (_as_another(own, written, terms, share) or _as_sum(own, written, terms)):
            _own_term(own, terms, ~np.isnan(own.values), own.values)
        written[number] = own
    return written


def _parts_first(values: Sequence[Numbers]) -> list[int]:
    """Variables in such an order that parts come before what they add up to."""
    sizes = np.abs(values)
    larger = [
        sum(bool(np.nansum(one - other) > 0) for other in sizes if other is not one)
        for one in sizes
    ]
    return [int(one) for one in np.argsort(larger, kind="stable")]


def _own_term(own: _Written, terms: list[Numbers], where: NDArray[np.bool_], of: Numbers) -> None:
    if where.any():
        own.times[len(terms)] = where.astype(np.int8)
        terms.append(np.where(where, of, np.nan))


def _as_another(
    own: _Written, written: dict[int, _Written], terms: list[Numbers], share: float
) -> bool:
    """Whether it is another variable, but for some records; then it is written so."""
    best: tuple[int, float, NDArray[np.bool_], _Written] | None = None
    filled = ~np.isnan(own.values) & (own.values != 0)
    for other in written.values():
        values = other.made(terms)
        both = filled & ~np.isnan(values)
        shared = both & (values != 0)
        number, most = int(np.count_nonzero(both)), int(np.count_nonzero(shared))
        if most < FEW or most <= share * number:  # where only one is zero, they differ
            continue
        every = most == len(values)
        ratios = own.values / values if every else own.values[shared] / values[shared]
        scale = float(np.median(ratios, overwrite_input=True))
        close = np.abs(own.values - scale * values)
        same = close <= EQUAL * np.abs(own.values)
        agree = int(np.count_nonzero(both & same))
        if scale and agree > share * number and agree >= FEW and (best is None or agree > best[0]):
            best = agree, scale, same, other
    if best is None:
        return False
    _, scale, same, other = best
    for term, times in other.times.items():
        kept = np.where(same, times, 0).astype(np.int8)
        if kept.any():
            own.times[term] = kept
    # where it is zero and the other is not, nothing is added up
    apart = ~np.isnan(own.values) & ~same & (own.values != 0)
    _own_term(own, terms, apart, own.values / scale)
    return True


def _as_sum(own: _Written, written: dict[int, _Written], terms: list[Numbers]) -> bool:
    """Whether it is a sum of other variables; then it is written so."""
    there = ~np.isnan(own.values)
    shared = {number: there & ~np.isnan(one.values) for number, one in written.items()}
    several = [
        number
        for number, one in written.items()
        if not one.summed and 2 * np.count_nonzero(shared[number]) > np.count_nonzero(there)
    ]
    several.sort(key=lambda number: -np.count_nonzero(shared[number]))
    # of two that are the same on the common records, the one is tried and then the other
    for order in (several, several[::-1]):
        parts = [written[number] for number in order]
        found = _sum_of(own, parts, terms)
        if found is not None:
            return _written_as(own, *found, written, terms)
    return False


def _sum_of(
    own: _Written, parts: list[_Written], terms: list[Numbers]
) -> tuple[list[_Written], Numbers] | None:
    """Which of some variables it is a sum of, and with what factors; None: of none."""
    if len(parts) < 2:
        return None
    there = ~np.isnan(own.values)
    common = there.copy()
    for one in parts:
        common &= ~np.isnan(one.values)
    at = np.flatnonzero(common)
    if len(at) < 2 * len(parts) + 2:
        return None
    at = at[:: max(len(at) // _TRIED, 1)]
    some = np.array([one.made(terms, at) for one in parts])
    kept = _independent(some)
    parts, some = [parts[one] for one in kept], some[kept]
    size = np.abs(some).max(axis=1)
    solved = np.linalg.lstsq((some / size[:, None]).T, own.values[at], rcond=None)[0]
    used = np.flatnonzero(np.abs(solved) > 1e-7 * np.abs(own.values[at]).max())
    parts, weights = [parts[one] for one in used], (solved / size)[used]
    gap = np.abs(own.values[at] - weights @ some[used])
    if len(parts) < 2 or (gap > EQUAL * np.nanmax(np.abs(own.values))).any():
        return None  # what does not hold for some does not hold for all
    columns = np.array([one.made(terms) for one in parts])
    common = there & ~np.isnan(columns).any(axis=0)
    gap = np.abs(own.values - weights @ columns)[common]
    if not (gap <= EQUAL * np.abs(own.values[common]).max()).all():
        return None
    return parts, weights


def _independent(columns: Numbers) -> list[int]:
    """Rows that are no sums of those before."""
    kept: list[int] = []
    basis: list[Numbers] = []
    for number, column in enumerate(columns):
        size = float(np.sqrt(column @ column))
        left = column - sum((column @ one) * one for one in basis)
        left = left - sum((left @ one) * one for one in basis)
        length = float(np.sqrt(left @ left))
        if length > 1e-7 * size > 0:
            kept.append(number)
            basis.append(left / length)
    return kept


def _written_as(
    own: _Written,
    parts: list[_Written],
    weights: Numbers,
    written: dict[int, _Written],
    terms: list[Numbers],
) -> bool:
    """Write a variable as a sum of others, if whole numbers can say how often each is in it."""
    # one that is a term no other variable has can be measured in another unit
    free = [_alone(one, written) for one in parts]
    fixed = [abs(one) for one, alone in zip(weights, free, strict=True) if not alone]
    unit = min(fixed, default=1.0)
    exact = np.where(free, np.sign(weights), weights / unit)
    often = np.rint(exact)
    if (np.abs(exact - often) > 1e-6).any() or not (np.abs(often) <= _LARGEST).all():
        return False
    for one, alone, weight in zip(parts, free, weights, strict=True):
        if alone:
            [term] = one.times
            terms[term] = terms[term] * abs(weight) / unit
    values, there = own.values / unit, ~np.isnan(own.values)
    made = np.array([one.made(terms) for one in parts])
    lost = np.isnan(made)
    rest = values - often @ np.nan_to_num(made)
    for one, time, gone in zip(parts, often, lost, strict=True):
        only = there & gone & (lost.sum(axis=0) == 1)
        if len(one.times) == 1 and only.any():  # it follows from the others
            [term] = one.times
            terms[term] = np.where(only & np.isnan(terms[term]), rest / time, terms[term])
            _add(own, term, np.where(only, time, 0))
            there = there & ~(only & ~np.isnan(values))
    for one, time in zip(parts, often, strict=True):
        for term, times in one.times.items():
            _add(own, term, np.where(~np.isnan(values), time * times, 0))
    _own_term(own, terms, there & lost.any(axis=0), rest)
    own.summed = True
    return True


def _alone(one: _Written, written: dict[int, _Written]) -> bool:
    """Whether it is one term, which no other variable has."""
    if len(one.times) != 1:
        return False
    [term] = one.times
    return sum(term in other.times for other in written.values()) == 1


def _add(own: _Written, term: int, times: NDArray[np.float64]) -> None:
    if times.any():
        own.times[term] = (own.times.get(term, 0) + times).astype(np.int8)


def _related(written: dict[int, _Written]) -> list[dict[int, _Written]]:
    """The variables that share terms, directly or by others, where there are several."""
    groups: list[dict[int, _Written]] = []
    for number, one in written.items():
        near = [
            group
            for group in groups
            if any({*one.times} & {*other.times} for other in group.values())
        ]
        groups = [group for group in groups if not any(group is other for other in near)]
        joined = {number: one}
        for group in near:
            joined |= group
        groups.append(joined)
    return [group for group in groups if len(group) > 1]


def _family(members: dict[int, _Written], terms: list[Numbers]) -> Family:
    used = sorted({term for one in members.values() for term in one.times})
    none = np.zeros(len(terms[0]), np.int8)
    times = {
        number: np.array([one.times.get(term, none) for term in used])
        for number, one in members.items()
    }
    return Family(np.nan_to_num(np.array([terms[term] for term in used])), times)
