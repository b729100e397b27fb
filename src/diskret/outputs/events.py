"""What happens to the results of a project, in order: the log of the checker's desk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from diskret.errors import InputError
from diskret.io.from_json import parse_json
from diskret.outputs.profile import Verdict
from diskret.publish.store import log

Happened = Literal[
    "opened", "submitted", "commented", "returned", "accepted", "refused", "released"
]
State = Literal["waiting", "returned", "accepted", "refused"]

_STATES: dict[Happened, State] = {
    "submitted": "waiting",
    "returned": "returned",
    "accepted": "accepted",
    "refused": "refused",
}


@dataclass(frozen=True)
class Event:
    """Something that happened to a project or one of its results; nothing of it ever changes.

    Parameters
    ----------
    number
        Place in the log of the ledger, which all projects share.
    project
        Name of the project.
    happened
        ``"opened"``: the project was made; ``"submitted"``: a result waits for a decision;
        ``"commented"``; ``"returned"``: the researcher is asked something; ``"accepted"``,
        ``"refused"``; ``"released"``: all that was accepted was written into a folder.
    result
        Name of the result; "" where it is about the project.
    who, when
        Who did it, and when: UTC, ISO 8601.
    why
        A request for an exception, a comment, the reason of a decision, or the folder.
    verdict
        Of the checks at that time; "" where nothing was checked.
    """

    number: int
    project: str
    happened: Happened
    result: str
    who: str
    when: str
    why: str = ""
    verdict: Verdict | Literal[""] = ""

    @property
    def text(self) -> str:
        """As JSON, without its number."""
        return log.text_of(self)


def event_of(number: int, text: str) -> Event:
    """The event of a place in the log."""
    return Event(number, **parse_json(text, "an entry of the log of projects"))


@dataclass(frozen=True)
class Item:
    """A result at the desk, as it stands now.

    Parameters
    ----------
    name
        Of the result.
    state
        ``"waiting"``, ``"returned"``, ``"accepted"`` or ``"refused"``.
    events
        All that happened to it, in order.
    """

    name: str
    state: State
    events: tuple[Event, ...]

    @property
    def submitted(self) -> Event:
        """When it was submitted last."""
        return [one for one in self.events if one.happened == "submitted"][-1]

    @property
    def excepted(self) -> bool:
        """Whether it was accepted although it did not pass."""
        return self.state == "accepted" and self.events_of("accepted")[-1].verdict != "pass"

    def events_of(self, happened: Happened) -> list[Event]:
        """What happened of one kind."""
        return [one for one in self.events if one.happened == happened]


def items_of(events: Sequence[Event], project: str) -> list[Item]:
    """The results of a project, in the order in which they were first submitted."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if event.project == project and event.result:
            found.setdefault(event.result, []).append(event)
    items: list[Item] = []
    for name, own in found.items():
        states: list[State] = [_STATES[one.happened] for one in own if one.happened in _STATES]
        items.append(Item(name, states[-1], tuple(own)))
    return items


def item_of(events: Sequence[Event], project: str, result: str) -> Item:
    """One result of a project.

    Raises
    ------
    InputError
        There is none of that name.
    """
    for item in items_of(events, project):
        if item.name == result:
            return item
    raise InputError(f"the project {project!r} has no result {result!r} at the desk")
