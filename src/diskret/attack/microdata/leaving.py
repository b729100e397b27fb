"""Records as they leave, seen by somebody who wants to recognise persons among them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.microdata.agreement import Combinations, Numbers, combinations, numbers
from diskret.attack.microdata.claims import Missing
from diskret.errors import InputError
from diskret.io.categories import ascending


@dataclass(frozen=True, eq=False)
class Modelled:
    """The risk of records by a log-linear model, beside the estimate by weights. Confidential.

    Parameters
    ----------
    risk
        Of each record, ``(n,)``; None if no model could be fitted.
    uniques
        How many of those that are alone in the file are expected to be alone in the population.
    reason
        Why there is no model.
    """

    risk: NDArray[np.float64] | None
    uniques: float
    reason: str = ""


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
    orders
        Column → its values from the lowest to the highest, where that was declared.
    models
        What a missing key stands for → the risk by a log-linear model.
    """

    name: str
    table: pa.Table
    keys: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None
    household: Numbers | None = None
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    models: Mapping[Missing, Modelled] = field(default_factory=dict[Missing, "Modelled"])
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

        They ascend in the order given here, else in that of the column.

        Raises
        ------
        InputError
            There is no such column, it has no order, or a value that the order does not name.
        """
        number, values = self.numbers(name)
        at = ascending(values, name, self.orders.get(name) if order is None else order)
        rank = np.empty(len(at) + 1, dtype=np.int64)
        rank[at] = np.arange(1, len(at) + 1)
        rank[-1] = 0
        ranks = rank[number]
        return ranks - ranks.min()

    def told_apart(self, name: str) -> Numbers:
        """The values of a column as numbers from 0 on in no order, missing ones first."""
        number, _ = self.numbers(name)
        return number - min(int(number.min(initial=0)), 0)
