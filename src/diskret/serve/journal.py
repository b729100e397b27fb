"""What was answered and refused, kept for good: sealed, and shared by several processes."""

from __future__ import annotations

import json
import threading
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import diskret.unrepeatable as unrepeatable
from diskret.errors import VerificationError
from diskret.io.from_json import parse_json
from diskret.keys import SecretKeys
from diskret.publish.store import log, store
from diskret.publish.store.connection import Connection
from diskret.publish.store.database import Line
from diskret.publish.store.log import SERVE, Kept, Logged
from diskret.serve import archive
from diskret.serve.question import Family

Happened = Literal[
    "asked", "answered", "refused", "not let in", "users changed", "started", "stopped", "rolled"
]
#: Stands in the text of every entry of this kind.
_ASKED, _ROLLED = '"happened": "asked"', '"happened": "rolled"'
#: Entries that are moved into one file, so that nobody waits long meanwhile.
_SEGMENT = 50_000
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
        without a valid token; ``"users changed"``; ``"started"``, ``"stopped"``; ``"rolled"``:
        `times` older entries were moved into a file.
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
            self._news += _asked(found)
            if any(_ROLLED in one.text for one in found):
                self._news += self._carried(connection)
            yield connection

    def _carried(self, connection: Connection) -> list[Asked]:
        """What was counted by entries that were moved out."""
        kept = log.carried_over(connection, self._store.keys, self._store.name, SERVE)
        return [] if kept is None else _unpacked(kept)

    def roll(self, folder: str | PathLike[str], who: str = "") -> int:
        """Move all entries so far into files of a folder, and say how many were moved.

        What was counted goes on to count, and a start need not read the rest. The seals go on, so
        files and database are checked together as before (`check`). Wherever a process is killed,
        an entry is in the database or in a file that is on disk. Others may enter something
        meanwhile; they wait for one file at most.

        Parameters
        ----------
        folder
            Of the archive; it is made if it is not there. Confidential.
        who
            Moves them.

        Raises
        ------
        InputError
            A file cannot be written.
        VerificationError
            The journal was changed.
        """
        keys, name, moved, last = self._store.keys, self._store.name, 0, 0
        while True:
            with self._changing() as connection:
                last = last or self._place[0]
                head = log.read_head(connection, keys, name, SERVE) if last else None
                if head is None or head.begin[0] >= last:
                    return moved
                number = min(head.begin[0] + _SEGMENT, last)
                some, _ = log.read_first(connection, keys, name, number, SERVE)
                if all(_ROLLED in one.text for one in some):
                    return moved
                counted = [*dict.fromkeys([*self._carried(connection), *_asked(some)])]
                file = archive.write(Path(folder), head.begin, some)
                entry = _entry("rolled", who, None, len(some), file.name)
                self._place = log.cut(
                    connection,
                    keys,
                    self._place,
                    (number, some[-1].seal),
                    (entry.text, _packed(counted)),
                    SERVE,
                )
                moved += len(some)

    def check(self, folder: str | PathLike[str] | None = None) -> int:
        """Check every entry, and say how many there are; those moved into a folder, too.

        A copy of the whole ledger from before is found out only by who remembers a later entry: a
        service that runs, or whoever wrote down how many there were.

        Raises
        ------
        VerificationError
            Something was changed, removed, added or reordered, or the end was cut off; or what was
            counted before is not what goes on to count.
        """
        entries = [*self.entries(folder)]
        if not entries:
            return 0
        with store.read(self._store) as connection:
            kept = log.carried_over(connection, self._store.keys, self._store.name, SERVE)
            begin = log.read_head(connection, self._store.keys, self._store.name, SERVE).begin[0]
        before = {
            Asked(one.family, one.who)
            for one in entries
            if one.happened == "asked" and one.family is not None and one.number <= begin
        }
        # without the oldest files only a part of it can be told
        whole = entries[0].number == 1
        carried = {*([] if kept is None else _unpacked(kept))}
        if not before <= carried or (whole and before != carried):
            raise VerificationError(
                f"the journal in {self._store.name} does not count what its archive says was asked"
            )
        return len(entries)

    def close(self) -> None:
        """Close the connection; it is opened again when something is entered."""
        self._line.close()

    def entries(self, folder: str | PathLike[str] | None = None) -> Iterator[Entry]:
        """Everything, in order, of what was moved out only what is in the folder; all is checked.

        Raises
        ------
        VerificationError
            Something was changed, removed, added or reordered.
        """
        keys, name = self._store.keys, self._store.name
        with store.read(self._store) as connection:
            found = log.read(connection, keys, name, SERVE)
            begin = log.read_head(connection, keys, name, SERVE).begin if found else log.BEGINNING
        if folder is not None:
            yield from (_read(one) for one in archive.read(Path(folder), begin, keys))
        yield from map(_read, found)


def _entry(
    happened: Happened, who: str, family: Family | None = None, times: int = 1, why: str = ""
) -> Entry:
    return Entry(happened, who, unrepeatable.now(), family, times, why)


def _read(logged: Logged) -> Entry:
    said: dict[str, Any] = parse_json(logged.text, "an entry of the journal of a service")
    family = said.pop("family")
    return Entry(**said, family=None if family is None else _family(family), number=logged.number)


def _asked(logged: Iterable[Logged]) -> list[Asked]:
    """What was counted by entries."""
    # most entries are none of them, and reading takes longer than looking
    read = (_read(one) for one in logged if _ASKED in one.text)
    return [
        Asked(one.family, one.who)
        for one in read
        if one.happened == "asked" and one.family is not None
    ]


def _packed(asked: Sequence[Asked]) -> Kept:
    """What was counted: each family once, with all who had it."""
    of: dict[Family, list[str]] = {}
    for one in asked:
        of.setdefault(one.family, []).append(one.who)
    said = json.dumps([[asdict(family), who] for family, who in of.items()])
    return Kept("", zlib.compress(said.encode()))


def _unpacked(kept: Kept) -> list[Asked]:
    text = zlib.decompress(kept.arrays).decode()
    of = parse_json(text, "what was counted by the journal of a service")
    return [Asked(family, who) for said, own in of for family in [_family(said)] for who in own]


def _family(said: dict[str, Any]) -> Family:
    return Family(**{key: _tuples(value) for key, value in said.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
