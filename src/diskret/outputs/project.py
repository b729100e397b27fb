"""All results of a project: what leaves is attacked beside everything that has left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError, ProofError
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.differences import Statements, smallest_difference
from diskret.outputs.profile import Profile


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
    eleventh. A project finds every set of records that the results single out together: all sums
    and differences of published cells, of any number of results, are searched by a programme that
    proves that it missed none.

    Parameters
    ----------
    records
        The frame that all results are made from; pandas with an index without repetitions.
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
    >>> project = Project(people)
    >>> from diskret.outputs import crosstab
    >>> everyone = [1] * len(people)
    >>> project.accept(project.check(crosstab(people.town, pd.Series(everyone, name="all"))), "1")
    >>> young = people[people.age < 60]
    >>> later = crosstab(young.town, pd.Series(1, index=young.index, name="all"))
    >>> later.verdict
    'pass'
    >>> print(project.check(later).reasons()[0])
    Beside 1, it tells something of 1 units. Here: A, 1; A, 1.
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
        self._index = index
        self._unit = None if unit is None else _numbered(records[unit])
        self.profile = Profile.read(profile)
        self._accepted: list[Accepted] = []

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """What has left, in order."""
        return tuple(self._accepted)

    def check(self, checked: Checked) -> Checked:
        """The same result, judged beside all that has left: a difference is a finding.

        Raises
        ------
        InputError
            It was made from records that are not in the project.
        """
        statements, told_by = self._statements([*self._accepted, Accepted("", checked)])
        old = len([one for result in self._accepted for one in result.checked.told])
        limit = self.profile.threshold
        found = smallest_difference(statements, limit, known=statements.first(old))
        made = (*checked.made, "difference")
        if found.unresolved:
            finding = Finding("too_large", self.profile.verdict("too_large"))
            return replace(checked, made=made, findings=(*checked.findings, finding))
        if not found.statements:
            return replace(checked, made=made)
        others = sorted({told_by[one] for one in found.statements} - {""})
        finding = Finding(
            "difference",
            self.profile.verdict("difference"),
            tuple(statements.names[one] for one in found.statements),
            {"other": ", ".join(others) or "itself", "units": found.units},
        )
        return replace(checked, made=made, findings=(*checked.findings, finding))

    def accept(self, checked: Checked, name: str, *, who: str = "", why: str = "") -> None:
        """Let a result go; from now on, everything is attacked beside it.

        Parameters
        ----------
        checked
            What `check` of this project returned.
        name
            A name for it, not used before.
        who, why
            Who lets it go although it failed or was to be reviewed, and the reason.

        Raises
        ------
        ProofError
            It did not pass, and nobody who may except it is named.
        InputError
            The name is taken, or it was not checked beside the project.
        """
        if name in {one.name for one in self._accepted} or not name:
            raise InputError(f"name={name!r} is taken or empty: results go by their names")
        if "difference" not in checked.made:
            raise InputError("check it first beside what has left: project.check(checked)")
        if checked.verdict != "pass":
            self._check_exception(checked, name, who, why)
        again = self.check(replace(checked, findings=(), made=("difference",)))
        if again.verdict != "pass" and checked.verdict == "pass":
            raise ProofError(f"{name}: other results have left since; check it again")
        self._accepted.append(Accepted(name, replace(checked, name=name), who, why))

    def _check_exception(self, checked: Checked, name: str, who: str, why: str) -> None:
        said = "; ".join(checked.reasons())
        if not who or not why:
            raise ProofError(f"{name} must not leave: {said} Name who= excepts it, and why=.")
        if checked.verdict == "fail" and who not in self.profile.excepting:
            raise ProofError(
                f"{name} must not leave: {said} {who!r} is not named in excepting of the profile."
            )

    def _statements(self, results: Sequence[Accepted]) -> tuple[Statements, list[str]]:
        """The cells of some results, and the name of the result that each is of."""
        told = [one for result in results for one in result.checked.told]
        sets = [self._placed(one) for one in told]
        told_by = [
            result.name
            for result in results
            for one in result.checked.told
            for _ in range(int(one.shown.sum()))
        ]
        return Statements.made(told, sets, self._unit), told_by

    def _placed(self, told: Told) -> NDArray[np.int32]:
        """The sets of a result, for all records of the project."""
        if told.rows is None:
            at = np.arange(len(told.sets))
            if len(at) != len(self._index):
                raise InputError("the result does not say which records it was made from")
        else:
            at = self._index.get_indexer(told.rows)
        if (at < 0).any():
            missing = np.asarray(told.rows)[np.flatnonzero(at < 0)[0]]
            raise InputError(
                f"the result was made from a record {missing} that is not in the project"
            )
        placed = np.full(len(self._index), -1, np.int32)
        placed[at] = told.sets
        return placed


def _numbered(column: Any) -> NDArray[np.int32]:
    return np.unique(np.asarray(column).astype(str), return_inverse=True)[1].astype(np.int32)
