"""What is asked of a ledger by those who protect what is published next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from diskret.tables.published import Published
from diskret.tables.requirements import Earlier
from diskret.tables.ties import MeasureSum


class KnownBefore(Protocol):
    """What is asked of a ledger: the tables of earlier releases, and what state it is in."""

    @property
    def position(self) -> str:
        """The state it is in; another one says that something was entered since."""
        ...

    def earlier(self, tables: Sequence[Published], sums: Sequence[MeasureSum]) -> Sequence[Earlier]:
        """At least the earlier tables that may be tied to these, directly or through others."""
        ...
