"""How the records of a table can be asked once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from diskret.engines import LeafQuestion
from diskret.io import PostgresTable


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked of which records. Confidential.

    A table keeps the frame alive that it was made from; results do not.

    Parameters
    ----------
    question
        What the engine was asked.
    engine
        What aggregates, as in [`tabulate`][diskret.tabulate]; None: what suits the records.
    """

    question: LeafQuestion
    engine: Callable[..., Any] | None
    _held: Any

    @classmethod
    def of(cls, records: Any, question: LeafQuestion, engine: Callable[..., Any] | None) -> Asked:
        """Of records as `tabulate` takes them."""
        if isinstance(records, (str, PathLike)):
            return cls(question, engine, (str(records),))
        if isinstance(records, (list, tuple)):
            return cls(question, engine, tuple(map(str, records)))
        return cls(question, engine, records)

    @property
    def records(self) -> Any:
        """The records, or where they are."""
        return list(self._held) if isinstance(self._held, tuple) else self._held

    def same_records(self, other: Asked) -> bool:
        """Whether both tables are of the same records, as far as this can be told."""
        one, two = self.records, other.records
        if isinstance(one, (list, PostgresTable)):
            return type(one) is type(two) and one == two
        return one is two
