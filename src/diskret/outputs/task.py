"""A result of groups of records, from the records to the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from narwhals import dependencies as known
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.checked import Checked, Finding
from diskret.outputs.groups import Groups
from diskret.outputs.judge_cells import Part
from diskret.outputs.judged import judged
from diskret.outputs.profile import Profile
from diskret.outputs.records import Records


@dataclass(frozen=True, eq=False)
class Task:
    """Records in groups, and the rules that what is shown of them is judged by."""

    records: Records
    keys: list[str]
    groups: Groups
    profile: Profile

    @classmethod
    def of(cls, data: Any, by: Any, unit: Any, profile: str | PathLike[str] | Profile) -> Task:
        """Read what a function of `dk.check` is given."""
        records = Records.of(data, unit)
        keys = [] if by is None else records.named(by, "by")
        missing = not known.is_pandas_dataframe(
            data
        )  # pandas leaves out records without a category
        axes = tuple(records.axis(name, missing) for name in keys)
        return cls(records, keys, Groups(axes, len(records.columns)), Profile.read(profile))

    @property
    def pandas(self) -> bool:
        """Whether the records are a pandas frame."""
        return known.is_pandas_dataframe(self.records.frame)

    def numbers(self, column: str, argument: str = "columns") -> NDArray[np.float64]:
        """A column, which must hold numbers."""
        [name] = self.records.named(column, argument)
        numbers = self.records.numbers(name)
        if numbers is None:
            raise InputError(f"{name!r} holds no numbers")
        return numbers

    @cached_property
    def there(self) -> NDArray[np.intp]:
        """The groups that have records, in order."""
        inside = self.groups.at[self.groups.at >= 0]
        return np.flatnonzero(np.bincount(inside, minlength=len(self.groups.names)))

    def frame(self, columns: Mapping[str, Any], times: int = 1) -> Any:
        """The groups that are there, each so many times, with columns of what is shown of them."""
        first = np.full(len(self.groups.names), -1)
        at = self.groups.at[::-1]
        first[at[at >= 0]] = np.flatnonzero(self.groups.at >= 0)[::-1]
        rows = np.repeat(first[self.there], times)
        keys = {name: self.records.columns[name].to_list() for name in self.keys}
        called = {name: [own[row] for row in rows] for name, own in keys.items()}
        return self.records.like({**called, **{n: list(v) for n, v in columns.items()}})

    def judged(
        self,
        output: Any,
        parts: Sequence[Part],
        columns: Sequence[str],
        more: Sequence[Finding] = (),
        kind: str | None = None,
    ) -> Checked:
        """What the checks say of the result, which is made of some columns."""
        names = dict.fromkeys([*self.keys, *columns])
        return judged(
            output,
            parts,
            self.profile,
            self.records.rows,
            {name: self.records.columns[name].to_native() for name in names},
            [name for name in self.keys if self.records.without(name).any()],
            more,
            kind,
        )
