"""What a result tells together with all that left before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.checked import Finding, Told
from diskret.outputs.differences import Difference, Statements, smallest_difference
from diskret.outputs.left_out import unsafe_deviation
from diskret.outputs.profile import Profile
from diskret.outputs.sums import unsafe_difference, variables
from diskret.outputs.terms import families

_SAME_WAY = 1e-6  # of the way from one value to the next


@dataclass(frozen=True, eq=False)
class Statement:
    """What a result tells of the records of a project. Confidential.

    Parameters
    ----------
    name
        Of the result; "": the new one.
    records
        Shape (records,), uint64, ascending: the records that it tells something of; numbers of
        the project, or fingerprints under the office's key.
    unit
        Shape (records,), uint64: whom they belong to, likewise.
    told
        The sets, for these records in this order.
    """

    name: str
    records: NDArray[np.uint64]
    unit: NDArray[np.uint64]
    told: tuple[Told, ...]


@dataclass(frozen=True, eq=False)
class _Part:
    """One grouping of one result, for all records that any result tells something of.

    `times`: how many times each record is added up; None: once. `spread`, `way`: as of
    `Told`.
    """

    result: str
    names: Sequence[tuple[str, ...]]
    sets: NDArray[np.int32]
    values: NDArray[np.float64] | None
    times: NDArray[np.int8] | None = None
    spread: NDArray[np.float64] | None = None
    way: NDArray[np.float64] | None = None


def beside(earlier: Sequence[Statement], new: Statement, profile: Profile) -> list[Finding]:
    """What follows from a new result together with those that left before, and from none alone.

    Parameters
    ----------
    earlier
        What has left.
    new
        What is to leave; its name is not looked at.
    profile
        The institution's rules.
    """
    statements = [*earlier, Statement("", new.records, new.unit, new.told)]
    records, first = np.unique(
        np.concatenate([one.records for one in statements]), return_index=True
    )
    whose = np.concatenate([one.unit for one in statements])[first]
    unit = np.unique(whose, return_inverse=True)[1].astype(np.int32)
    parts = [part for one in statements for part in _placed(one, records)]
    found = [
        _counts(_finest(parts), unit, profile),
        _neighbours(parts, unit, profile),
        *_all_sums(parts, unit, profile),
        *_deviations(parts, unit, profile),
    ]
    kept = {one.check: one for one in found[::-1] if one is not None}
    return [kept[check] for check in ("difference", "rest", "too_large") if check in kept]


def within(
    told: Sequence[Told], unit: NDArray[np.int32] | None, profile: Profile, counts: bool = True
) -> list[Finding]:
    """What follows from the numbers of one result together, such as those of two samples in it.

    Parameters
    ----------
    told
        What the result tells of its records.
    unit
        Shape (records,): the unit of each record; None: each is one.
    profile
        The institution's rules.
    counts
        Whether numbers of units are looked at, and not only sums.
    """
    parts = [_Part("", one.names, one.sets, next(_where_told(one)), way=one.way) for one in told]
    found: list[Finding | None] = []
    own = _finest(parts) if counts else []
    if len(own) > 1:
        found.append(_counts(own, unit, profile, alone=True))
        found.append(_neighbours(parts, unit, profile, alone=True))
    found += _all_sums(parts, unit, profile, alone=True)
    kept = {one.check: one for one in found[::-1] if one is not None}
    return [kept[check] for check in ("within", "too_large") if check in kept]


def _placed(statement: Statement, records: NDArray[np.uint64]) -> list[_Part]:
    at = np.searchsorted(records, statement.records)
    placed: list[_Part] = []
    for told in statement.told:
        sets = np.full(len(records), -1, np.int32)
        sets[at] = told.sets
        values, spread = (
            None if one is None else _at_home(one, at, len(records)) for one in _where_told(told)
        )
        placed.append(_Part(statement.name, told.names, sets, values, spread=spread, way=told.way))
    return placed


def _at_home(values: NDArray[np.float64], at: NDArray[np.intp], number: int) -> NDArray[np.float64]:
    whole = np.full(number, np.nan)
    whole[at] = values
    return whole


def _where_told(told: Told) -> Iterator[NDArray[np.float64] | None]:
    """The values and the spread of the records in a set, NaN elsewhere."""
    for one in (told.values, told.spread):
        if one is None or not len(told.sets) or int(told.sets.min()) >= 0:
            yield one
        else:
            yield np.where(told.sets >= 0, one, np.nan)


def _finest(parts: Sequence[_Part]) -> list[_Part]:
    """Parts without those that follow from another of the same result, as margins do."""
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda one: -len(one.names)):
        if not any(_follows(part, other) for other in kept):
            kept.append(part)
    return [part for part in parts if any(part is one for one in kept)]


def _follows(part: _Part, other: _Part) -> bool:
    if part.result != other.result or ((part.sets >= 0) != (other.sets >= 0)).any():
        return False
    whole = np.full(len(other.names) + 1, -1, np.int32)
    whole[other.sets] = part.sets
    return bool((whole[other.sets] == part.sets).all())


def _counts(
    parts: Sequence[_Part], unit: NDArray[np.int32] | None, profile: Profile, alone: bool = False
) -> Finding | None:
    statements, told_by, known = _statements(parts, unit)
    found = smallest_difference(statements, profile.threshold, [] if alone else known)
    return _finding("within" if alone else "difference", found, statements, told_by, profile)


def _neighbours(
    parts: Sequence[_Part], unit: NDArray[np.int32] | None, profile: Profile, alone: bool = False
) -> Finding | None:
    """Two percentiles that lie between the same two values, at different places: they tell both."""
    own = [part for part in parts if part.way is not None]
    statements, told_by, _ = _statements(own, unit)
    ways = np.concatenate([part.way for part in own if part.way is not None] or [np.zeros(0)])
    seen: dict[tuple[bytes, ...], tuple[int, float]] = {}
    for row in range(0, len(ways), 2):
        halves = [statements.atoms_of(row + side).tobytes() for side in (0, 1)]
        # of -x what lies below is what lies above of x
        way = float(ways[row] if halves[0] <= halves[1] else 1 - ways[row])
        first, known = seen.setdefault(tuple(sorted(halves)), (row, way))
        if not all(halves) or abs(way - known) <= _SAME_WAY:
            continue
        if alone or told_by[first] != told_by[row] and "" in (told_by[first], told_by[row]):
            check = "within" if alone else "difference"
            return _finding(check, Difference(2, (first, row)), statements, told_by, profile)
    return None


def _all_sums(
    parts: Sequence[_Part], unit: NDArray[np.int32] | None, profile: Profile, alone: bool = False
) -> Iterator[Finding | None]:
    """What is found of each variable by itself, and of those that hang together."""
    told = variables([part.values for part in parts])
    finest = [_finest([parts[at] for at in one.parts]) for one in told]
    for variable, own in zip(told, finest, strict=True):
        if len(own) > 1 or not alone:
            yield _sums(own, variable.values, unit, profile, alone)
    for family in families([one.values for one in told]):
        own = [
            _of_terms(part, family.times[number])
            for number in family.times
            for part in finest[number]
        ]
        whose = np.arange(family.terms.shape[1]) if unit is None else unit
        each = np.tile(whose, len(family.terms)).astype(np.int32)
        yield _sums(own, family.terms.reshape(-1), each, profile, alone)


def _deviations(
    parts: Sequence[_Part], unit: NDArray[np.int32], profile: Profile
) -> Iterator[Finding | None]:
    """What deviations of each variable tell of records that one of two samples lacks."""
    for variable in variables([part.spread for part in parts]):
        own = [parts[at] for at in variable.parts]
        statements, told_by, (old, _) = _statements(own, unit)
        sizes = [len(part.names) for part in own]
        found = unsafe_deviation(statements, variable.values, sizes, old, profile)
        yield _finding("rest", found, statements, told_by, profile)


def _of_terms(part: _Part, times: NDArray[np.int8]) -> _Part:
    """The same sums, of terms: each record is there once for each term."""
    flat = times.reshape(-1)
    sets = np.where(flat != 0, np.tile(part.sets, len(times)), -1).astype(np.int32)
    return _Part(part.result, part.names, sets, None, flat)


def _sums(
    parts: Sequence[_Part],
    values: NDArray[np.float64],
    unit: NDArray[np.int32] | None,
    profile: Profile,
    alone: bool = False,
) -> Finding | None:
    statements, told_by, known = _statements(parts, unit)
    found = unsafe_difference(statements, values, profile, [] if alone else known)
    return _finding("within" if alone else "rest", found, statements, told_by, profile)


def _statements(
    parts: Sequence[_Part], unit: NDArray[np.int32] | None
) -> tuple[Statements, list[str], list[NDArray[np.bool_]]]:
    """The cells of some parts, the result that each is of, and which are old and new."""
    names = [label for part in parts for label in part.names]
    told_by = [part.result for part in parts for _ in part.names]
    sizes = [len(part.names) for part in parts]
    old = np.array([bool(name) for name in told_by], bool)
    times = [part.times for part in parts]
    made = Statements.made(tuple(names), [part.sets for part in parts], sizes, unit, times)
    return made, told_by, [old, ~old]


def _finding(
    check: str,
    found: Difference,
    statements: Statements,
    told_by: Sequence[str],
    profile: Profile,
) -> Finding | None:
    check = "too_large" if found.unresolved else check
    verdict = profile.verdict(check)
    if verdict == "pass" or not (found.unresolved or found.statements):
        return None
    others = sorted({told_by[one] for one in found.statements} - {""})
    places = [_place(told_by[one], statements.names[one]) for one in found.statements]
    blanks = {"other": ", ".join(others), "units": found.units}
    return Finding(check, verdict, tuple(places), blanks)


def _place(result: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    return (f"{result}: {labels[0]}", *labels[1:]) if result else labels
