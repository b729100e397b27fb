"""The log of remote access: what was registered, asked, compared, submitted and refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

import diskret.unrepeatable as unrepeatable
from diskret.errors import InputError
from diskret.io.from_json import parse_json
from diskret.publish.store import log, store
from diskret.publish.store.connection import Connection
from diskret.publish.store.log import REMOTE, Kept, Logged
from diskret.publish.store.store import Store
from diskret.remote.registered import Access, DataSet, access_of, data_of

Happened = Literal[
    "data registered", "project registered", "asked", "compared", "answered", "submitted", "refused"
]


@dataclass(frozen=True)
class RemoteEvent:
    """Something that happened; nothing of it ever changes.

    Parameters
    ----------
    number
        Place in the log.
    happened
        ``"data registered"``, ``"project registered"``; ``"asked"``: a query or script was run on
        the anonymised version; ``"compared"``: answers about the original were charged;
        ``"answered"``: they were found, and are kept;
        ``"submitted"``: a result of the original was put on the checker's desk;
        ``"refused"``: an attempt that came to nothing.
    project, data
        Names; "" where there is none.
    who, when
        Who did it, and when: UTC, ISO 8601.
    what
        Names of results, or why something was refused.
    spent
        Of comparisons: the sum of squared strengths of their answers.
    answers
        How many answers there were.
    question
        Digest of each question that was answered, so that it costs nothing again.
    """

    number: int
    happened: Happened
    project: str
    data: str
    who: str
    when: str
    what: str = ""
    spent: float = 0.0
    answers: int = 0
    question: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As JSON, without its number."""
        return log.text_of(self)


@dataclass(frozen=True, eq=False)
class Log:
    """The entries of a log that was read, and what they say.

    Parameters
    ----------
    store, connection
        Where it was read.
    entries
        As they stand there.
    events
        The same as events.
    """

    store: Store
    connection: Connection
    entries: tuple[Logged, ...]
    events: tuple[RemoteEvent, ...]

    @classmethod
    def read(cls, opened: Store, connection: Connection) -> Log:
        """All entries; their order, text and number are checked."""
        entries = tuple(log.read(connection, opened.keys, opened.name, REMOTE))
        return cls(opened, connection, entries, tuple(map(_event, entries)))

    def add(self, event: RemoteEvent, said: str = "") -> None:
        """Add an event, with what is kept of it."""
        kept = Kept(said, b"") if said else None
        log.append(self.connection, self.store.keys, self.store.name, [(event.text, kept)], REMOTE)

    def kept(self, event: RemoteEvent) -> str:
        """What was kept with an event; "" if nothing was."""
        entry = self.entries[event.number - 1]
        if not entry.mark:
            return ""
        return log.content(self.connection, self.store.keys, self.store.name, entry, REMOTE).said

    def data_sets(self) -> dict[str, DataSet]:
        """The data sets as they were registered last, by name."""
        last = {one.data: one for one in self.events if one.happened == "data registered"}
        return {name: data_of(self._said(one)) for name, one in last.items()}

    def projects(self) -> dict[str, Access]:
        """The projects as they were registered last, by name."""
        last = {one.project: one for one in self.events if one.happened == "project registered"}
        return {name: access_of(self._said(one)) for name, one in last.items()}

    def data_set(self, name: str) -> DataSet:
        """A data set by name.

        Raises
        ------
        InputError
            There is none.
        """
        for event in reversed(self.events):
            if event.happened == "data registered" and event.data == name:
                return data_of(self._said(event))
        raise InputError(f"no data set {name!r} is registered")

    def project(self, name: str) -> Access:
        """A project by name.

        Raises
        ------
        InputError
            There is none.
        """
        for event in reversed(self.events):
            if event.happened == "project registered" and event.project == name:
                return access_of(self._said(event))
        raise InputError(f"no project {name!r} is registered for remote access")

    def spent(self, *, project: str = "", data: str = "") -> float:
        """The sum of squared strengths of all answers of a project, or about a data set."""
        return fsum(
            one.spent
            for one in self.events
            if (not project or one.project == project) and (not data or one.data == data)
        )

    def answered(self, project: str) -> set[str]:
        """Digests of the questions that a project had answers to."""
        own = (one for one in self.events if one.project == project)
        return {digest for one in own for digest in one.question}

    def answers(self, marks: Iterable[str]) -> dict[str, int]:
        """Question → its answer, where one was given."""
        wanted = {*marks}
        found: dict[str, int] = {}
        for one in self.events:
            if one.happened == "answered" and not wanted.isdisjoint(one.question):
                said: dict[str, int] = self._said(one)
                found |= {mark: said[mark] for mark in wanted.intersection(said)}
        return found

    def _said(self, event: RemoteEvent) -> Any:
        return parse_json(self.kept(event), "an entry of the log of remote access")


def _event(entry: Logged) -> RemoteEvent:
    said: dict[str, Any] = parse_json(entry.text, "an entry of the log of remote access")
    said["question"] = tuple(said["question"])
    return RemoteEvent(entry.number, **said)


def event(happened: Happened, who: str, **more: Any) -> RemoteEvent:
    """Something that happens now."""
    given: dict[str, Any] = {"project": "", "data": "", **more}
    return RemoteEvent(0, happened, who=who, when=unrepeatable.now(), **given)


def reading(opened: Store) -> Any:
    """A connection to read with."""
    return store.read(opened)


def events_of(events: Sequence[RemoteEvent], project: str) -> list[RemoteEvent]:
    """What happened to a project."""
    return [one for one in events if one.project == project]
