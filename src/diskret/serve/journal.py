"""What was answered and refused, kept for good: sealed, and shared by several processes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import diskret.unrepeatable as unrepeatable
from diskret.io.from_json import parse_json
from diskret.keys import SecretKeys
from diskret.publish.store import log, store
from diskret.publish.store.database import Connection, Line
from diskret.publish.store.log import SERVE
from diskret.serve.question import Family

Happened = Literal[
    "asked", "answered", "refused", "not let in", "users changed", "started", "stopped"
]
#: Stands in the text of every entry of this kind.
_ASKED = '"happened": "asked"'
#: Different things that are gathered between two entries; what is beyond is entered as one.
_GATHERED = 10_000


@dataclass(frozen=True)
class Asked:
    """A family of cells that a user was given, or was refused once it was counted."""

    family: Family
    who: str


@dataclass(frozen=True)
class Entry:
    """Something that happened; nothing of it ever changes.

    Parameters
    ----------
    happened
        ``"asked"``: a table was counted for a user, before it was computed; ``"answered"``: it was
        given again, `times` since the entry before; ``"refused"``; ``"not let in"``: a request
        without a valid token; ``"users changed"``; ``"started"``, ``"stopped"``.
    who, when
        Who asked, or from what address; and when it was entered: UTC, ISO 8601.
    family
        The cells it is about, None where there are none.
    times
        How often.
    why
        Of what was refused; or what was changed.
    number
        Place in the journal.
    """

    happened: Happened
    who: str
    when: str
    family: Family | None = None
    times: int = 1
    why: str = ""
    number: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """As JSON, without its number."""
        return log.text_of(self)


@dataclass(frozen=True, eq=False)
class Turn:
    """A moment in which nobody else enters anything.

    `news`: what was counted since the last turn, by other processes too.
    """

    news: tuple[Asked, ...]
    _connection: Connection
    _journal: Journal

    def add(self, asked: Sequence[Asked]) -> None:
        """Enter tables; they are on disk when this returns."""
        entries = [_entry("asked", one.who, one.family) for one in asked]
        self._journal.enter(self._connection, entries)


class Journal:
    """The journal of a service, in the database of a ledger. Confidential.

    Entries are sealed together with all before them, so nobody without the office's keys changes,
    removes or reorders one. What is counted is entered at once; answers that were given again and
    refusals are gathered, and entered by `flush`.

    Parameters
    ----------
    ledger
        A SQLite file, or the url of a PostgreSQL database, which several processes share; see
        `Ledger.create`.
    keys
        The office's secret keys.
    wait
        Seconds to wait while others enter something.

    Raises
    ------
    InputError
        There is no such ledger.
    KeyFileError
        It was made with other keys.
    VerificationError
        The journal was changed.
    """

    def __init__(self, ledger: str | PathLike[str], keys: SecretKeys, *, wait: float = 30):
        self._store = store.open_store(ledger, keys, wait)
        self._line = Line(self._store.database, SERVE, wait)
        # both change only while nobody else may enter anything
        self._place = log.BEGINNING
        self._news: list[Asked] = []
        self._gathered: Counter[tuple[Happened, str, Family | None, str]] = Counter()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Journal({self._store.name!r})"

    @contextmanager
    def turn(self) -> Generator[Turn]:
        """The right to enter something, and what others entered meanwhile."""
        with self._changing() as connection:
            news, self._news = tuple(self._news), []
            yield Turn(news, connection, self)

    def gather(self, happened: Happened, who: str, family: Family | None, why: str = "") -> None:
        """Remember something that costs nobody anything, until `flush` enters it."""
        with self._lock:
            told = happened, who, family, why
            if told not in self._gathered and len(self._gathered) >= _GATHERED:
                told = happened, "", None, ""
            self._gathered[told] += 1

    def note(self, happened: Happened, who: str, why: str = "") -> None:
        """Enter something at once."""
        with self._changing() as connection:
            self.enter(connection, [_entry(happened, who, None, 1, why)])

    def flush(self) -> None:
        """Enter what was gathered; where that fails it stays gathered."""
        with self._lock:
            gathered, self._gathered = self._gathered, Counter()
        entries = [
            _entry(happened, who, family, times, why)
            for (happened, who, family, why), times in gathered.items()
        ]
        if not entries:
            return
        try:
            with self._changing() as connection:
                self.enter(connection, entries)
        except BaseException:
            with self._lock:
                self._gathered.update(gathered)
            raise

    def enter(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Enter something, with the connection of a turn."""
        said = [(one.text, None) for one in entries]
        self._place = log.append_to(connection, self._store.keys, self._place, said, SERVE)

    @contextmanager
    def _changing(self) -> Generator[Connection]:
        """The connection to enter with; what others entered is known by then."""
        with self._line.transaction() as connection:
            found, self._place = log.read_since(
                connection, self._store.keys, self._store.name, self._place, SERVE
            )
            # most entries are none of them, and reading takes longer than looking
            for one in (_read(entry.number, entry.text) for entry in found if _ASKED in entry.text):
                if one.happened == "asked" and one.family is not None:
                    self._news.append(Asked(one.family, one.who))
            yield connection

    def check(self) -> int:
        """Check every entry, and say how many there are.

        A copy of the whole ledger from before is found out only by who remembers a later entry: a
        service that runs, or whoever wrote down how many there were.

        Raises
        ------
        VerificationError
            Something was changed, removed, added or reordered, or the end was cut off.
        """
        return sum(1 for _ in self.entries())

    def close(self) -> None:
        """Close the connection; it is opened again when something is entered."""
        self._line.close()

    def entries(self) -> Iterator[Entry]:
        """Everything, in order; each entry is checked.

        Raises
        ------
        VerificationError
            Something was changed, removed, added or reordered.
        """
        with store.read(self._store) as connection:
            found = log.read(connection, self._store.keys, self._store.name, SERVE)
        return (_read(one.number, one.text) for one in found)


def _entry(
    happened: Happened, who: str, family: Family | None = None, times: int = 1, why: str = ""
) -> Entry:
    return Entry(happened, who, unrepeatable.now(), family, times, why)


def _read(number: int, text: str) -> Entry:
    said: dict[str, Any] = parse_json(text, "an entry of the journal of a service")
    family = said.pop("family")
    if family is not None:
        family = Family(**{key: _tuples(value) for key, value in family.items()})
    return Entry(**said, family=family, number=number)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
