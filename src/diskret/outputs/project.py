"""All results of a project: what leaves is attacked beside everything that has left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError, ProofError
from diskret.keys import SecretKeys, keyed_numbers
from diskret.outputs.beside import Statement, beside
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.decisions import check_exception
from diskret.outputs.desk import Desk, Settings
from diskret.outputs.given import check_index
from diskret.outputs.kept import submitted
from diskret.outputs.profile import Profile
from diskret.outputs.units import as_read, units_of


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
        check_index(index)
        if unit is not None and unit not in records.columns:
            raise InputError(f"unit={unit!r} is no column of the records")
        self._records = records
        self._unit = None if unit is None else records[unit]
        numbers = units_of(self._unit, index, len(records))
        #: what records and units are called beside other results
        self._names = np.arange(len(records), dtype=np.uint64)
        self._owners = self._names if numbers is None else numbers.astype(np.uint64)
        self._profile = Profile.read(profile)
        self._accepted: list[Accepted] = []
        #: what was found of each result alone
        self._checked: WeakKeyDictionary[Checked, tuple[Finding, ...]] = WeakKeyDictionary()
        self._desk: Desk | None = None
        self.name = ""

    @classmethod
    def create(
        cls,
        name: str,
        ledger: str | PathLike[str],
        records: Any,
        *,
        unit: str | None = None,
        profile: str | PathLike[str] | Profile = "guidelines",
        keys: SecretKeys | str | PathLike[str] | None = None,
        who: str | None = None,
        wait: float = 60,
    ) -> Project:
        """A new project that lasts: what leaves is remembered in the database of a ledger.

        Records and units stand there as fingerprints under the office's key, with the values that
        results sum; the ledger is confidential.

        Parameters
        ----------
        name
            A name, not used before in this ledger.
        ledger, keys, wait
            As of `Desk`.
        records, unit, profile
            As of `Project`; unit and profile are kept, and cannot be changed later.
        who
            Who makes it; by default the name of the login.

        Raises
        ------
        InputError
            The name is taken, there is no such ledger, or as of `Project`.
        """
        project = cls(records, unit=unit, profile=profile)
        desk = Desk(ledger, keys, wait=wait)
        desk.open(name, Settings(unit or "", project._profile), who=who)
        return project._at_desk(desk, name)

    @classmethod
    def open(
        cls,
        name: str,
        ledger: str | PathLike[str],
        records: Any,
        *,
        keys: SecretKeys | str | PathLike[str] | None = None,
        wait: float = 60,
    ) -> Project:
        """A project that was made before, with unit and profile as they were then.

        Parameters
        ----------
        name
            Its name.
        ledger, keys, wait
            As of `Desk`.
        records
            The same frame, with the same index.

        Raises
        ------
        InputError
            There is no such project, or an accepted result tells of a record that is not in the
            frame.
        """
        desk = Desk(ledger, keys, wait=wait)
        settings = desk.settings(name)
        project = cls(records, unit=settings.unit or None, profile=settings.profile)
        project = project._at_desk(desk, name)
        for statement in desk.accepted(name):
            if not np.isin(statement.records, project._names).all():
                raise InputError(
                    f"{statement.name!r} left before and tells of records that are not among "
                    "these: open the project with the records it was made with, and their index"
                )
        return project

    def _at_desk(self, desk: Desk, name: str) -> Project:
        from pandas.util import hash_pandas_object

        self._desk, self.name = desk, name
        rows = hash_pandas_object(self._records.index, index=False).to_numpy(np.uint64)
        self._names = keyed_numbers(desk.keys, "records of projects", rows)
        self._owners = self._names
        if self._unit is not None:
            whose = hash_pandas_object(as_read(self._unit), index=False).to_numpy(np.uint64)
            self._owners = keyed_numbers(desk.keys, "units of projects", whose)
        return self

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """What left through this object, in order; `Desk.items` tells of all that ever left."""
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
        self._check_own(checked)
        now = self._differences(checked)
        today = replace(checked, findings=(*self._checked[checked], *now))
        said = {(one.check, one.places) for one in checked.findings}
        if self._desk is None and any((one.check, one.places) not in said for one in now):
            raise ProofError(f"{name}: other results have left since; check it again")
        if today.verdict != "pass":  # refused before anything is entered
            check_exception(today, name, who, why)
        if self._desk is not None:
            self.submit(checked, name, who=who or None)
            self._desk.decide(self.name, name, "accept", who=who or None, why=why)
        self._accepted.append(Accepted(name, replace(checked, name=name), who, why))

    def submit(
        self, checked: Checked, name: str, *, request: str = "", who: str | None = None
    ) -> None:
        """Put a result on the checker's desk, where it waits for a decision; see `Desk`.

        Parameters
        ----------
        checked
            What `Project.check` of this project returned.
        name
            A name for it, and for its files.
        request
            Why an exception should be made, or whatever the checker should know.
        who
            Who submits it; by default the name of the login.

        Raises
        ------
        InputError
            The project is not kept in a ledger, the name is taken, the result is none of this
            project, or it has no form in which it could leave as a file.
        """
        self._check_own(checked)
        if self._desk is None:
            raise InputError(
                "the project is not kept in a ledger; make it with dk.check.Project.create"
            )
        statement = self._stated(checked, name)
        kept = submitted(checked, self._checked[checked], name, statement)
        self._desk.submit(self.name, name, kept, who=who, why=request)

    def _check_own(self, checked: Checked) -> None:
        if checked not in self._checked:
            raise InputError(
                "this project has not checked the result; say project.check(dk.check.crosstab, ...)"
            )

    def _beside(self, checked: Checked) -> Checked:
        """The result with what is found beside all that has left."""
        alone = (*checked.findings, *self._doubts(checked))
        made = (*checked.made, "records", "difference", "rest")
        found = (*alone, *self._differences(checked))
        hiding = None if checked.hiding is None else partial(self._hidden, checked)
        whole = replace(checked, made=made, findings=found, hiding=hiding)
        self._checked[whole] = alone
        return whole

    def _hidden(self, checked: Checked, decimals: int) -> Checked:
        """A result of this project with its unsafe cells hidden."""
        return self._beside(checked.suppress(decimals=decimals))

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
        if self._desk is None:
            earlier = [self._stated(one.checked, one.name) for one in self._accepted]
        else:
            earlier = self._desk.accepted(self.name)
        return beside(earlier, self._stated(checked, ""), self._profile)

    def _stated(self, checked: Checked, name: str) -> Statement:
        """What a result tells of the project's records."""
        placed = [(one, self._at(one.rows, len(one.sets))) for one in checked.told]
        inside = np.zeros(len(self._records), bool)
        for told, at in placed:
            inside[at[told.sets >= 0]] = True
        at = np.flatnonzero(inside)
        at = at[np.argsort(self._names[at])]
        told = tuple(_on(one, own, at, len(self._records)) for one, own in placed)
        return Statement(name, self._names[at], self._owners[at], told)

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


def _on(told: Told, own: NDArray[np.intp], at: NDArray[np.intp], number: int) -> Told:
    """The same sets, for records of the project at some places; `own`: where its records are."""
    sets = np.full(number, -1, np.int32)
    sets[own] = told.sets

    def moved(given: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if given is None:
            return None
        whole = np.full(number, np.nan)
        whole[own] = given
        return whole[at]

    values, spread = moved(told.values), moved(told.spread)
    return replace(told, sets=sets[at], rows=None, values=values, spread=spread)
