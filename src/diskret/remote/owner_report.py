"""Reports for the owner: use by project, near misses, refused attempts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import fsum

from diskret.outputs.desk import Desk
from diskret.remote.allowance import left_of
from diskret.remote.log import RemoteEvent, events_of
from diskret.remote.office import Office
from diskret.remote.registered import Access, at_desk
from diskret.remote.votes import certain
from diskret.texts import Figure, words_in


@dataclass(frozen=True)
class Use:
    """What a project did. For the owner only.

    Parameters
    ----------
    access
        The project.
    runs
        Who → how often they asked.
    answers, left
        How many answers it had, and how many more it may have.
    certainty
        How certain somebody may be of a unit after them, see `budget`.
    submitted
        State at the desk → how many results.
    near
        Results that did not pass: name and verdict.
    refused
        Attempts that came to nothing.
    """

    access: Access
    runs: dict[str, int]
    answers: int
    left: int
    certainty: float
    submitted: dict[str, int]
    near: tuple[tuple[str, str], ...]
    refused: tuple[RemoteEvent, ...]


def uses(office: Office) -> list[Use]:
    """What each project did, in the order in which they were registered. For the owner only."""
    _, projects = office.registered()
    desk = Desk(office.place, office.keys, wait=office.wait)
    events = office.history()
    return [_use(one, events_of(events, one.name), desk) for one in projects.values()]


def _use(access: Access, events: list[RemoteEvent], desk: Desk) -> Use:
    spent = fsum(one.spent for one in events)
    items = [item for data in access.data for item in desk.items(at_desk(access.name, data))]
    near = [(one.name, one.submitted.verdict) for one in items if one.submitted.verdict != "pass"]
    return Use(
        access,
        dict(Counter(one.who for one in events if one.happened == "asked")),
        sum(one.answers for one in events),
        left_of(access, spent),
        certain(spent),
        dict(Counter(item.state for item in items)),
        tuple(near),
        tuple(one for one in events if one.happened == "refused"),
    )


def report(office: Office, language: str = "en") -> list[str]:
    """The report as lines, in English or German. For the owner only."""
    words = words_in(language, "outputs", "remote")
    lines: list[str] = []
    for use in uses(office):
        access = use.access
        lines.append(words.said("project", name=access.name, purpose=access.purpose))
        lines.append(words.said("time", start=access.start, until=access.until))
        for who in access.members:
            lines.append(words.said("runs", who=who, number=use.runs.get(who, 0)))
        sure = Figure(f"{100 * use.certainty:.1f}")
        most = Figure(f"{100 * access.certainty:.1f}")
        lines.append(words.said("answers", number=use.answers, left=use.left))
        lines.append(words.said("certainty", sure=sure, most=most))
        for state, number in use.submitted.items():
            lines.append(words.said("results", state=words[f"state.{state}"], number=number))
        for name, verdict in use.near:
            lines.append(words.said("near", name=name, verdict=words[f"short verdict.{verdict}"]))
        for one in use.refused:
            when = one.when[:16].replace("T", " ")
            lines.append(words.said("refused", when=when, who=one.who, why=one.what))
        lines.append("")
    sets, known = office.registered()
    for name, data in sets.items():
        own = [one for one in office.history() if one.data == name]
        sure = Figure(f"{100 * certain(fsum(one.spent for one in own)):.1f}")
        most = Figure(f"{100 * data.certainty:.1f}")
        projects = [one.name for one in known.values() if name in one.data]
        lines.append(words.said("data", name=name, projects=", ".join(projects)))
        lines.append(words.said("all answers", number=sum(one.answers for one in own)))
        lines.append(words.said("certainty", sure=sure, most=most))
        lines.append("")
    for one in office.history():
        if one.happened == "refused" and one.project not in known:
            lines.append(words.said("stranger", who=one.who, project=one.project, why=one.what))
    return lines
