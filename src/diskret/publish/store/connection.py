"""An open connection to the database of a ledger, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from diskret.errors import InputError


class Busy(InputError):
    """Another process is changing the ledger."""


class Full(InputError):
    """There is no space left for what is entered; nothing of it was."""


class Connection(Protocol):
    """An open connection; what it changes counts when it commits, all of it or nothing.

    `bytes` is the type of a column of bytes, as the database calls it.
    """

    bytes: ClassVar[str]

    def ask(self, statement: str, *values: object) -> list[Sequence[Any]]:
        """Run one statement; its rows. Each ``?`` stands for the next of the values."""
        ...

    def begin(self, lock: str, wait: float) -> bool:
        """Begin a transaction that nobody else is in under the name of this lock.

        It sees what those before it committed. False: others were in it for `wait` seconds.
        """
        ...

    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        ...

    def commit(self) -> None:
        """Keep what was changed since the last time."""
        ...

    def rollback(self) -> None:
        """Undo what was changed since the last time."""
        ...

    def close(self) -> None:
        """Close it; what was not committed is undone."""
        ...


def busy(name: str, wait: float) -> Busy:
    """Others have changed the ledger of this name for longer than somebody waits."""
    return Busy(
        f"the ledger {name} is being changed by another process, and still was after "
        f"{wait:g} s: publications go one after the other. Try again when it is done"
    )
