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
from diskret.outputs.differences import Statements, smallest_difference
from diskret.outputs.models import columns_of, model
from diskret.outputs.profile import Profile
from diskret.outputs.tables import crosstab


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
    >>> project.accept(project.crosstab(people.town, people["all"]), "everybody")
    >>> young = people[people.age < 60]
    >>> print(project.crosstab(young.town, young["all"]).reasons()[0])
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
        self._unit = None if unit is None else _numbered(records[unit])
        self._profile = Profile.read(profile)
        self._accepted: list[Accepted] = []
        self._checked: WeakSet[Checked] = WeakSet()

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """What has left, in order."""
        return tuple(self._accepted)

    def crosstab(
        self,
        index: Any,
        columns: Any,
        *,
        values: Any = None,
        aggfunc: str | Callable[..., Any] | None = None,
        margins: bool = False,
        normalize: bool | str = False,
    ) -> Checked:
        """A table as `crosstab` makes and checks it, judged beside all that has left as well.

        Parameters
        ----------
        index, columns, values, aggfunc, margins, normalize
            As for `crosstab`; Series of the project's records, or of some of them.

        Raises
        ------
        InputError
            As for `crosstab`; or a record is not in the project.
        """
        series = [one for part in (index, columns, values) for one in _several(part)]
        rows = getattr(series[0], "index", None) if series else None
        unit = None
        if self._unit is not None and rows is not None:
            unit = series[0].astype(object).copy()
            unit[:] = self._unit[self._at(rows)]
        checked = crosstab(
            index,
            columns,
            values=values,
            aggfunc=aggfunc,
            margins=margins,
            normalize=normalize,
            unit=unit,
            profile=self._profile,
        )
        return self._beside(checked, {str(one.name): one.to_numpy() for one in series})

    def model(self, results: Any) -> Checked:
        """A model as `model` checks it, judged beside all that has left as well.

        Parameters
        ----------
        results
            As for `model`; fitted on the project's records, or on some of them.

        Raises
        ------
        InputError
            As for `model`; or a record is not in the project.
        """
        columns, rows = columns_of(results)
        unit = None if self._unit is None else self._unit[self._at(rows, len(columns[0][1]))]
        return self._beside(model(results, unit=unit, profile=self._profile), dict(columns))

    def accept(self, checked: Checked, name: str, *, who: str = "", why: str = "") -> None:
        """Let a result go; from now on, everything is attacked beside it.

        Parameters
        ----------
        checked
            What `Project.crosstab` or `Project.model` of this project returned.
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
                "this project has not checked the result; say project.crosstab(...) or "
                "project.model(...)"
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

    def _beside(self, checked: Checked, columns: Mapping[str, NDArray[Any]]) -> Checked:
        """The result with what is found beside all that has left; `columns`: what it is made of."""
        found = [*self._doubts(checked, columns), *self._differences(checked)]
        made = (*checked.made, "records", "difference")
        whole = replace(checked, made=made, findings=(*checked.findings, *found))
        self._checked.add(whole)
        return whole

    def _doubts(self, checked: Checked, columns: Mapping[str, NDArray[Any]]) -> list[Finding]:
        """Whether the index may have been lost on the way: then it names other records."""
        rows = checked.told[0].rows
        number = len(checked.told[0].sets)
        at = self._at(rows, number)
        lost = rows is None
        if number < len(self._records):  # numbered from 0 again, as reset_index does
            lost |= np.array_equal(at, np.arange(number))
        for name, values in columns.items():
            if name in self._records.columns:
                own = self._records[name].to_numpy()[at]
                alike = own.dtype == values.dtype
                lost |= alike and not bool(
                    ((own == values) | ((own != own) & (values != values))).all()
                )
        verdict = self._profile.verdict("records")
        return [Finding("records", verdict)] if lost and verdict != "pass" else []

    def _differences(self, checked: Checked) -> list[Finding]:
        statements, told_by = self._statements([*self._accepted, Accepted("", checked)])
        old = np.array([bool(name) for name in told_by], bool)
        found = smallest_difference(statements, self._profile.threshold, [old, ~old])
        check = "too_large" if found.unresolved else "difference"
        verdict = self._profile.verdict(check)
        if verdict == "pass" or not (found.unresolved or found.statements):
            return []
        others = sorted({told_by[one] for one in found.statements} - {""})
        places = [_place(told_by[one], statements.names[one]) for one in found.statements]
        blanks = {"other": ", ".join(others), "units": found.units}
        return [Finding(check, verdict, tuple(places), blanks)]

    def _statements(self, results: Sequence[Accepted]) -> tuple[Statements, list[str]]:
        """The cells of some results, and the name of the result that each is of."""
        told = [(result.name, one) for result in results for one in result.checked.told]
        sets = [self._placed(one) for _, one in told]
        names = [label for _, one in told for label in one.names]
        told_by = [name for name, one in told for _ in one.names]
        return Statements.made(
            tuple(names), sets, [len(one.names) for _, one in told], self._unit
        ), told_by

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


def _several(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _place(result: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    return (f"{result}: {labels[0]}", *labels[1:]) if result else labels


def _numbered(column: Any) -> NDArray[np.int32]:
    import pandas as pd

    return pd.factorize(column, use_na_sentinel=False)[0].astype(np.int32)
