"""Records as they leave, seen by somebody who wants to recognise persons among them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack.microdata.agreement import Combinations, Numbers, combinations, numbers
from diskret.attack.microdata.claims import Missing
from diskret.errors import InputError


@dataclass(frozen=True, eq=False)
class Leaving:
    """A file that is about to leave, and what belongs to its records.

    Parameters
    ----------
    name
        Of the file.
    table
        Its columns, as they leave.
    keys, sensitive
        Names of columns.
    weight
        Sampling weights > 0, ``(n,)``; None: the records are all there are. Confidential unless
        they leave.
    household
        Number of the household of each record, ``(n,)``, or None.
    """

    name: str
    table: pa.Table
    keys: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None
    household: Numbers | None = None
    _numbered: dict[str, tuple[Numbers, pa.Array]] = field(default_factory=dict, repr=False)
    _combined: dict[Any, Combinations] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of records."""
        return self.table.num_rows

    def numbers(self, name: str) -> tuple[Numbers, pa.Array]:
        """The values of a column as numbers, -1 if missing, and what the numbers stand for.

        Raises
        ------
        InputError
            There is no such column.
        """
        if name not in self._numbered:
            if name not in self.table.column_names:
                raise InputError(
                    f"a claim of file {self.name!r} names the column {name!r}, which does not "
                    f"leave; there are {', '.join(map(repr, self.table.column_names))}"
                )
            self._numbered[name] = numbers(self.table.column(name))
        return self._numbered[name]

    def combined(
        self, keys: Sequence[str], missing: Missing, known: Sequence[str] = ()
    ) -> Combinations:
        """The combinations of keys, and of variables whose missing values are values, too."""
        wanted = (tuple(keys), missing, tuple(known))
        if wanted not in self._combined:
            columns = [self.numbers(name)[0] for name in keys]
            columns += [self.numbers(name)[0] + 1 for name in known]
            self._combined[wanted] = combinations(columns, missing)
        return self._combined[wanted]

    def ranked(self, name: str, order: Sequence[Any] | None = None) -> Numbers:
        """The ranks of the values of a column, from 0 on, missing ones first.

        Raises
        ------
        InputError
            There is no such column, or it has a value that the order does not name.
        """
        number, values = self.numbers(name)
        if order is None:
            at = pc.sort_indices(values).to_numpy(zero_copy_only=False)
        else:
            place = {value: i for i, value in enumerate(order)}
            listed = values.to_pylist()
            unknown = [value for value in listed if value not in place]
            if unknown:
                raise InputError(
                    f"{name!r} has values that the order does not name, e.g. {unknown[0]!r}"
                )
            at = np.argsort([place[value] for value in listed])
        rank = np.empty(len(at) + 1, dtype=np.int64)
        rank[at] = np.arange(1, len(at) + 1)
        rank[-1] = 0
        ranks = rank[number]
        return ranks - ranks.min()
