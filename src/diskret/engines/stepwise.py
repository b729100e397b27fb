"""Records on an engine for which a query costs little: one step after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from sqlglot.expressions import Select

from diskret.engines import sql
from diskret.engines.cells import most_codes
from diskret.engines.codes import MOST_CODES
from diskret.engines.columns import Check, Column
from diskret.engines.contract import PlacedValues
from diskret.engines.records import Contributors, Survey


class Stepwise(ABC):
    """Answers what `Records` are asked with several small queries."""

    columns: tuple[Column, ...]

    @abstractmethod
    def fetch(self, query: Select) -> pa.Table:
        """Run a query."""

    @abstractmethod
    def stream(self, query: Select) -> pa.RecordBatchReader:
        """Run a query whose answer may be large."""

    def placed_values(self, query: Select, rows: int) -> Iterator[PlacedValues]:
        """In the order of their positions."""
        for batch in self.stream(query.order_by('"at"')):
            yield batch["at"].to_numpy(), batch["value"].to_numpy()

    @abstractmethod
    def keep(self, name: str, query: Select) -> None:
        """Let later queries name the answer to this one, replacing an earlier one.

        An engine may store the answer, or put the query into those that name it.
        """

    def survey(self, codes: Sequence[str], checks: Sequence[Check], where: str | None) -> Survey:
        """A query for each column of codes, and one for all checks."""
        return surveyed(self.fetch, codes, checks, where, most_codes(self.columns))

    def placed(self, shape: sql.Shape) -> sql.Shape:
        """As it is: a join for each dimension."""
        return shape

    def contributors(self, shape: sql.Shape, part: sql.SomeRecords) -> Contributors:
        """First those in a single leaf, then, by their identifiers, those in several."""
        unequal = 0
        if part.weighted_alike:
            unequal = self._number(sql.unequal_weights(shape))
        self.keep("kept", sql.stayers(shape, part))
        conflicts = 0
        if part.contributor is not None and part.keyed:
            conflicts = self._number(sql.key_conflicts("kept"))
        stayers = self.fetch(sql.stayer_rows(shape, part, "kept"))
        straddlers = None
        if part.contributor is not None:
            straddlers = self.fetch(sql.straddlers(shape, part, "kept"))
        return Contributors(stayers, straddlers, conflicts, unequal)

    def _number(self, query: Select) -> int:
        return self.fetch(query)["units"][0].as_py() or 0


def surveyed(
    fetch: Callable[[Select], pa.Table],
    codes: Sequence[str],
    checks: Sequence[Check],
    where: str | None,
    most: int = MOST_CODES,
) -> Survey:
    """Ask for the codes of each column, and how many records fail each check."""
    counts = [fetch(sql.code_counts(code, most + 1, where)) for code in codes]
    if not checks:
        return Survey(tuple(counts), ())
    failed = fetch(sql.check_counts(tuple(checks), where)).to_pylist()[0]
    return Survey(tuple(counts), tuple(failed[f"n{i}"] for i in range(len(checks))))
