"""All results of a project: what leaves is attacked beside everything that has left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError, ProofError
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.differences import Difference, Statements, smallest_difference
from diskret.outputs.profile import Profile
from diskret.outputs.sums import unsafe_difference, variables
from diskret.outputs.units import units_of


@dataclass(frozen=True)
class Accepted:
    """A result that left, and who made an exception for it, if anyone did."""

    name: str
    checked: Checked
    who: str = ""
    why: str = ""


class Project:
    """The results of one project on one set of records, checked beside each other.

    A table of 11 persons is harmless, and one of 10 of them as well; both together tell of the
    eleventh. A project finds every set of few units whose number follows from the results
    together: all sums and differences of published counts, of any number of results, are searched
    by one programme. Units and rules are those of the project, for all its results.

    Parameters
    ----------
    records
        The pandas frame that all results are made from; its index says which record is which, so
        parts of the frame must keep it.
    unit
        Name of the column that says whom a record belongs to; None: each record is one.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        The index repeats, or there is no such column.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": ["A"] * 11 + ["B"] * 30, "age": [70] + [40] * 40})
    >>> people["all"] = "x"
    >>> project = Project(people)
    >>> from diskret.outputs import crosstab
    >>> project.accept(project.check(crosstab, people.town, people["all"]), "everybody")
    >>> young = people[people.age < 60]
    >>> print(project.check(crosstab, young.town, young["all"]).reasons()[0])
    Beside everybody, it tells something of 1 unit. Here: everybody: A, x; A, x.
    """

    def __init__(
        self,
        records: Any,
        *,
        unit: str | None = None,
        profile: str | PathLike[str] | Profile = "guidelines",
    ):
        index = getattr(records, "index", None)
        if index is None or not hasattr(index, "get_indexer"):
            raise InputError("records= must be a pandas frame, the one that results are made from")
        if not index.is_unique:
            raise InputError(
                "two records have the same index; say frame.reset_index(drop=True) first"
            )
        if unit is not None and unit not in records.columns:
            raise InputError(f"unit={unit!r} is no column of the records")
        self._records = records
        self._unit = None if unit is None else records[unit]
        self._numbers = units_of(self._unit, index, len(records))
        self._profile = Profile.read(profile)
        self._accepted: list[Accepted] = []
        self._checked: WeakSet[Checked] = WeakSet()

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """What has left, in order."""
        return tuple(self._accepted)

    def check(
        self, function: Callable[..., Checked], /, *arguments: Any, **options: Any
    ) -> Checked:
        """A result made and checked by a function of `dk.check`, and beside all that has left.

        Parameters
        ----------
        function
            A function of `dk.check`, such as `crosstab` or `model`.
        arguments, options
            What it takes, made of the project's records or some of them; `unit` and `profile` are
            those of the project.

        Raises
        ------
        InputError
            As for the function; it is none of `dk.check`; `unit` or `profile` are given; or a
            record is not in the project.
        """
        if not getattr(function, "__module__", "").startswith("diskret.outputs."):
            raise InputError("the first argument must be a function of dk.check, such as crosstab")
        if {"unit", "profile"} & {*options}:
            raise InputError("unit= and profile= are those of the project; leave them out")
        checked = function(*arguments, unit=self._unit, profile=self._profile, **options)
        return self._beside(checked)

    def accept(self, checked: Checked, name: str, *, who: str = "", why: str = "") -> None:
        """Let a result go; from now on, everything is attacked beside it.

        Parameters
        ----------
        checked
            What `Project.check` of this project returned.
        name
            A name for it, not used before.
        who, why
            Who lets it go although it failed or was to be reviewed, and the reason.

        Raises
        ------
        ProofError
            It did not pass, and nobody who may except it is named; or a result that left since
            it was checked changes the verdict.
        InputError
            The name is taken, or the result is none of this project.
        """
        if name in {one.name for one in self._accepted} or not name:
            raise InputError(f"name={name!r} is taken or empty: results go by their names")
        if checked not in self._checked:
            raise InputError(
                "this project has not checked the result; say project.check(dk.check.crosstab, ...)"
            )
        if checked.verdict != "pass":
            self._check_exception(checked, name, who, why)
        known = {finding.check for finding in checked.findings}
        if any(finding.check not in known for finding in self._differences(checked)):
            raise ProofError(f"{name}: other results have left since; check it again")
        self._accepted.append(Accepted(name, replace(checked, name=name), who, why))

    def _check_exception(self, checked: Checked, name: str, who: str, why: str) -> None:
        said = " ".join(checked.reasons())
        if not who or not why:
            raise ProofError(f"{name} must not leave: {said} Name who= excepts it, and why=.")
        if checked.verdict == "fail" and who not in self._profile.excepting:
            raise ProofError(
                f"{name} must not leave: {said} {who!r} is not named in excepting of the profile."
            )

    def _beside(self, checked: Checked) -> Checked:
        """The result with what is found beside all that has left."""
        found = [*self._doubts(checked), *self._differences(checked)]
        made = (*checked.made, "records", "difference", "rest")
        whole = replace(checked, made=made, findings=(*checked.findings, *found))
        self._checked.add(whole)
        return whole

    def _doubts(self, checked: Checked) -> list[Finding]:
        """Whether the index may have been lost on the way: then it names other records."""
        verdict = self._profile.verdict("records")
        lost = not checked.told or self._lost(checked.told[0], checked.made_from)
        return [Finding("records", verdict)] if lost and verdict != "pass" else []

    def _lost(self, told: Told, made_from: Mapping[str, Any]) -> bool:
        number = len(told.sets)
        at = self._at(told.rows, number)
        if told.rows is None:
            return True
        if number < len(self._records) and np.array_equal(at, np.arange(number)):
            return True  # numbered from 0 again, as reset_index does
        for name in {*made_from} & {*self._records.columns}:
            own, values = self._records[name].to_numpy()[at], np.asarray(made_from[name])
            same = (own == values) | ((own != own) & (values != values))
            if own.dtype == values.dtype and not same.all():
                return True
        return False

    def _differences(self, checked: Checked) -> list[Finding]:
        """What follows from this result together with those that have left."""
        parts = [
            _Part(result.name, one, self._placed(one))
            for result in [*self._accepted, Accepted("", checked)]
            for one in result.checked.told
        ]
        found = [self._counts(finest(parts))]
        placed = [self._values(part.told) for part in parts]
        for variable in variables(placed):
            own = finest([parts[at] for at in variable.parts])
            found.append(self._sums(own, variable.values))
        kept = {one.check: one for one in found[::-1] if one is not None}
        return [kept[check] for check in ("difference", "rest", "too_large") if check in kept]

    def _counts(self, parts: Sequence[_Part]) -> Finding | None:
        statements, told_by, known = self._statements(parts)
        found = smallest_difference(statements, self._profile.threshold, known)
        return self._finding("difference", found, statements, told_by)

    def _sums(self, parts: Sequence[_Part], values: NDArray[np.float64]) -> Finding | None:
        statements, told_by, known = self._statements(parts)
        found = unsafe_difference(statements, values, self._profile, known)
        return self._finding("rest", found, statements, told_by)

    def _finding(
        self, check: str, found: Difference, statements: Statements, told_by: Sequence[str]
    ) -> Finding | None:
        check = "too_large" if found.unresolved else check
        verdict = self._profile.verdict(check)
        if verdict == "pass" or not (found.unresolved or found.statements):
            return None
        others = sorted({told_by[one] for one in found.statements} - {""})
        places = [_place(told_by[one], statements.names[one]) for one in found.statements]
        blanks = {"other": ", ".join(others), "units": found.units}
        return Finding(check, verdict, tuple(places), blanks)

    def _statements(
        self, parts: Sequence[_Part]
    ) -> tuple[Statements, list[str], list[NDArray[np.bool_]]]:
        """The cells of some parts, the result that each is of, and which are old and new."""
        names = [label for part in parts for label in part.told.names]
        told_by = [part.result for part in parts for _ in part.told.names]
        sizes = [len(part.told.names) for part in parts]
        sets = [part.sets for part in parts]
        old = np.array([bool(name) for name in told_by], bool)
        return Statements.made(tuple(names), sets, sizes, self._numbers), told_by, [old, ~old]

    def _values(self, told: Told) -> NDArray[np.float64] | None:
        """The values of a result, for all records of the project."""
        if told.values is None:
            return None
        placed = np.full(len(self._records), np.nan)
        inside = told.sets >= 0
        placed[self._at(told.rows, len(told.sets))[inside]] = told.values[inside]
        return placed

    def _placed(self, told: Told) -> NDArray[np.int32]:
        """The sets of a result, for all records of the project."""
        placed = np.full(len(self._records), -1, np.int32)
        placed[self._at(told.rows, len(told.sets))] = told.sets
        return placed

    def _at(self, rows: Any, number: int | None = None) -> NDArray[np.intp]:
        """The positions of records in the project."""
        if rows is None:
            if number != len(self._records):
                raise InputError("the result does not say which records it was made from")
            return np.arange(len(self._records))
        at = self._records.index.get_indexer(rows)
        if (at < 0).any():
            missing = np.asarray(rows)[np.flatnonzero(at < 0)[0]]
            raise InputError(
                f"the result was made from a record {missing} that is not in the project"
            )
        return at


@dataclass(frozen=True, eq=False)
class _Part:
    """What one result tells of one grouping; `sets` for all records of the project."""

    result: str
    told: Told
    sets: NDArray[np.int32]


def finest(parts: Sequence[_Part]) -> list[_Part]:
    """Parts without those that follow from another of the same result, as margins do."""
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda one: -len(one.told.names)):
        if not any(_follows(part, other) for other in kept):
            kept.append(part)
    return [part for part in parts if any(part is one for one in kept)]


def _follows(part: _Part, other: _Part) -> bool:
    if part.result != other.result or ((part.sets >= 0) != (other.sets >= 0)).any():
        return False
    whole = np.full(len(other.told.names) + 1, -1, np.int32)
    whole[other.sets] = part.sets
    return bool((whole[other.sets] == part.sets).all())


def _place(result: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    return (f"{result}: {labels[0]}", *labels[1:]) if result else labels
