"""Variables that hang together: turnover is what was sold at home and abroad.

Whoever knows two of three sums that add up knows the third, and a variable that was cut off at a
limit tells, beside the variable itself, what few records have beyond it. So each variable is
written as a sum of *terms*, each of which adds up by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_EQUAL = 1e-9  # of the largest value
_LARGEST = 12  # times that a term may be in a variable
_TRIED = 300  # records by which a sum is looked for; it must hold for all


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
    terms: list[Numbers] = []
    written: dict[int, _Written] = {}
    sizes = [float(np.nanmean(np.abs(one))) if (~np.isnan(one)).any() else 0.0 for one in values]
    for number in np.argsort(sizes, kind="stable"):  # parts before what they add up to
        own = _Written(values[number])
        if not (_as_another(own, written, terms) or _as_sum(own, written, terms)):
            _own_term(own, terms, ~np.isnan(own.values), own.values)
        written[int(number)] = own
    return [_family(members, terms) for members in _connected(written) if len(members) > 1]


def _own_term(own: _Written, terms: list[Numbers], where: NDArray[np.bool_], of: Numbers) -> None:
    if where.any():
        own.times[len(terms)] = where.astype(np.int8)
        terms.append(np.where(where, of, np.nan))


def _as_another(own: _Written, written: dict[int, _Written], terms: list[Numbers]) -> bool:
    """Whether it is another variable, but for some records; then it is written so."""
    best: tuple[int, float, NDArray[np.bool_], _Written] | None = None
    for other in written.values():
        both = ~np.isnan(own.values) & ~np.isnan(other.values) & (own.values != 0)
        shared = both & (other.values != 0)
        number = int(np.count_nonzero(both))
        if np.count_nonzero(shared) < 3:
            continue
        scale = float(np.median(own.values[shared] / other.values[shared]))
        close = np.abs(own.values - scale * other.values)
        same = close <= _EQUAL * np.abs(own.values)
        agree = int(np.count_nonzero(both & same))
        if scale and 2 * agree > number and agree >= 3 and (best is None or agree > best[0]):
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
    """Whether it is a sum of other variables, each of one term; then it is written so."""
    there = ~np.isnan(own.values)
    basis = {
        next(iter(one.times)): one.values
        for one in written.values()
        if len(one.times) == 1
        and 2 * np.count_nonzero(there & ~np.isnan(one.values)) > np.count_nonzero(there)
    }
    if not basis:
        return False
    common = there & ~np.isnan(np.array([*basis.values()])).any(axis=0)
    at = np.flatnonzero(common)
    if len(at) < 2 * len(basis) + 2:
        return False
    at = at[:: max(len(at) // _TRIED, 1)]
    columns = np.array([terms[term] for term in basis])
    size = np.abs(columns[:, at]).max(axis=1)
    size[size == 0] = 1
    solved = np.linalg.lstsq((columns[:, at] / size[:, None]).T, own.values[at], rcond=None)[0]
    weights = solved / size
    used = np.abs(solved) > 1e-7 * np.abs(own.values[at]).max(initial=0)
    names = [term for term, one in zip(basis, used, strict=True) if one]
    weights, columns = weights[used], columns[used]
    if len(names) < 2:
        return False
    common = there & ~np.isnan(columns).any(axis=0)
    gap = np.abs(own.values - weights @ columns)[common]
    if not (gap <= _EQUAL * np.abs(own.values[common]).max()).all():
        return False
    return _written_as(own, dict(zip(names, weights, strict=True)), written, terms)


def _written_as(
    own: _Written, weights: dict[int, float], written: dict[int, _Written], terms: list[Numbers]
) -> bool:
    """Write a variable as a sum of terms, if whole numbers can say how often each is in it."""
    # a term that one variable alone is made of can be measured in another unit
    users = {term: [one for one in written.values() if term in one.times] for term in weights}
    fixed = [term for term in weights if len(users[term]) > 1]
    unit = min((abs(weights[term]) for term in fixed), default=1.0)
    times: dict[int, int] = {}
    for term, weight in weights.items():
        often = weight / unit if term in fixed else np.sign(weight)
        times[term] = round(often)
        if abs(often - times[term]) > 1e-6 or not 0 < abs(times[term]) <= _LARGEST:
            return False
    for term in weights:
        if term not in fixed:
            terms[term] = terms[term] * abs(weights[term]) / unit
    values = own.values / unit
    known = np.array([~np.isnan(terms[term]) for term in weights])
    lost = (~known).sum(axis=0)
    there = ~np.isnan(values)
    for at, term in enumerate(weights):  # one that is not known follows from the others
        alone = there & ~known[at] & (lost == 1)
        if alone.any():
            others = sum(times[one] * np.nan_to_num(terms[one]) for one in weights if one != term)
            filled = (values - others) / times[term]
            terms[term] = np.where(alone, filled, terms[term])
    for term in weights:
        own.times[term] = np.where(there & (lost <= 1), times[term], 0).astype(np.int8)
    _own_term(own, terms, there & (lost > 1), values)
    return True


def _connected(written: dict[int, _Written]) -> list[dict[int, _Written]]:
    """The variables that share terms, directly or by others."""
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
    return groups


def _family(members: dict[int, _Written], terms: list[Numbers]) -> Family:
    used = sorted({term for one in members.values() for term in one.times})
    none = np.zeros(len(terms[0]), np.int8)
    times = {
        number: np.array([one.times.get(term, none) for term in used])
        for number, one in members.items()
    }
    return Family(np.nan_to_num(np.array([terms[term] for term in used])), times)
