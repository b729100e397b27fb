"""Errors about single records, told with the place of the record once its file is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from diskret.errors import HierarchyError, InputError

#: A column, and some values in it; none where the column holds nothing.
Seen = tuple[str, Sequence[object]]


def _row(record: int) -> str:
    return f"row {record + 1}"


def _nowhere(column: str, values: Sequence[object]) -> int | None:
    return None


@dataclass(frozen=True)
class Place:
    """What records are called in messages: by their row, or as they stand in their file.

    `file`: what messages begin with; "" for a frame. `named`: what the record of a position is
    called. `found`: the position of the first record with one of some values in a column; None:
    not known. `beside`: the other sheets of the workbook.

    >>> Place().named(2)
    'row 3'
    """

    file: str = ""
    named: Callable[[int], str] = _row
    found: Callable[[str, Sequence[object]], int | None] = _nowhere
    beside: Sequence[str] = ()

    def begin(self, seen: Seen | None) -> str:
        """The file, and where in it the first of the records is that an error is about."""
        record = None if seen is None else self.found(*seen)
        if not self.file:
            return "" if record is None else f"{self.named(record)}: "
        return f"{self.file}: " if record is None else f"{self.file}, {self.named(record)}: "


NOWHERE = Place()


class RecordError(InputError):
    """Records that cannot be used.

    `say` makes the message for a place; a text is one that is ready. `seen`: the column and the
    values by which the first of the records is found where `say` does not name it. `missing`: the
    column that they do not have.
    """

    def __init__(
        self,
        say: Callable[[Place], str] | str,
        seen: Seen | None = None,
        place: Place = NOWHERE,
        missing: str | None = None,
    ) -> None:
        super().__init__(say if isinstance(say, str) else place.begin(seen) + say(place))
        self.say = say
        self.seen = seen
        self.place = place
        self.missing = missing

    def placed(self, place: Place) -> Self:
        """The same error where the file is known; the first file that is known stays."""
        told = bool(self.place.file) or isinstance(self.say, str)
        return self if told else type(self)(self.say, self.seen, place, self.missing)


class CodesError(RecordError, HierarchyError):
    """Records with codes that do not belong to the tree of their column."""
