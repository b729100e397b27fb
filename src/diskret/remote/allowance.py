"""Who may ask what, and how often: charged in the log before anything is computed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import diskret.unrepeatable as unrepeatable
from diskret.errors import InputError, ProofError
from diskret.publish.store import store
from diskret.publish.store.store import Store
from diskret.remote.log import Happened, Log, RemoteEvent, event, events_of
from diskret.remote.query import Query
from diskret.remote.registered import Access, DataSet, Version
from diskret.remote.votes import budget
from diskret.texts.numbers import Count


@dataclass(frozen=True, eq=False)
class Allowance:
    """What projects may have, and had; `store`: where the log is kept."""

    store: Store

    def allowed(self, query: Query, who: str) -> tuple[Access, DataSet, Version]:
        """The project, data set and version of a query; what is not allowed is noted."""
        with store.read(self.store) as connection:
            known = Log.read(self.store, connection)
            try:
                access = known.project(query.project)
                why = _refusal(access, query, who, unrepeatable.now()[:10], known.events)
                if why:
                    raise InputError(why)
                data = known.data_set(query.data)
                version = usable(access, data, query.data)
            except InputError as error:
                refused = str(error)
            else:
                return access, data, version
        self.note("refused", who, query, refused, said=query.text)
        raise InputError(refused)

    def charge(
        self,
        query: Query,
        names: str,
        access: Access,
        data: DataSet,
        marks: list[str],
        who: str,
        strength: float,
    ) -> tuple[int, int]:
        """Charge what was not answered before, or refuse; before anything is computed.

        Gives how many questions are new, and how many more may be asked.
        """
        cost = strength**2
        with store.change(self.store) as connection:
            known = Log.read(self.store, connection)
            before = known.answered(access.name)
            new = [one for one in marks if one not in before]
            own = known.spent(project=access.name) + len(new) * cost
            others = known.spent(data=data.name) + len(new) * cost
            wheres = [("project", own, access.certainty), ("data", others, data.certainty)]
            full = [place for place, spent, most in wheres if spent > budget(most) * (1 + 1e-9)]
            if new and full:
                refused = event(
                    "refused", who, project=access.name, data=data.name, what=f"answers: {names}"
                )
                known.add(refused, query.text)
            elif new:
                compared = event(
                    "compared",
                    who,
                    project=access.name,
                    data=data.name,
                    what=names,
                    spent=len(new) * cost,
                    answers=len(new),
                    question=tuple(new),
                )
                known.add(compared, query.text)
        if new and full:
            number = Count(len(new))
            raise ProofError(
                f"{number} {number:answer is|answers are} asked for, and fewer are left: what the "
                "answers tell together would say too much of single units. Ask for fewer "
                "figures; results leave through output checking: diskret remote submit"
            )
        return len(new), left_of(access, own)

    def answers(self, marks: list[str]) -> dict[str, int]:
        """Question → its answer, where one was given, to whatever project."""
        with store.read(self.store) as connection:
            return Log.read(self.store, connection).answers(marks)

    def keep(self, query: Query, names: str, who: str, given: Mapping[str, int]) -> dict[str, int]:
        """Keep answers; of two that were found at once, the first one holds for both."""
        with store.change(self.store) as connection:
            known = Log.read(self.store, connection)
            before = known.answers(given)
            new = {mark: number for mark, number in given.items() if mark not in before}
            if new:
                answered = event(
                    "answered",
                    who,
                    project=query.project,
                    data=query.data,
                    what=names,
                    question=tuple(new),
                )
                known.add(answered, json.dumps(new))
        return {**given, **before}

    def count_submission(
        self, query: Query, access: Access, who: str, result: str, text: str
    ) -> None:
        """Count a result that is put on the desk, or refuse it."""
        with store.change(self.store) as connection:
            known = Log.read(self.store, connection)
            own = events_of(known.events, access.name)
            full = sum(one.happened == "submitted" for one in own) >= access.submissions
            happened: Happened = "refused" if full else "submitted"
            what = f"submissions: {result}" if full else result
            known.add(event(happened, who, project=access.name, data=query.data, what=what), text)
        if full:
            number = Count(access.submissions)
            raise ProofError(
                f"the project {access.name!r} has submitted {number} {number:result|results}, and "
                "may submit no more"
            )

    def note(self, happened: Happened, who: str, query: Query, what: str, said: str) -> None:
        """Add to the log what happened."""
        with store.change(self.store) as connection:
            noted = event(happened, who, project=query.project, data=query.data, what=what)
            Log.read(self.store, connection).add(noted, said)


def _refusal(
    access: Access, query: Query, who: str, today: str, events: Sequence[RemoteEvent]
) -> str:
    """Why somebody may not ask; "" if they may."""
    if who not in access.members:
        return f"{who!r} is no member of the project {access.name!r}"
    if not access.start <= today <= access.until:
        return (
            f"the project {access.name!r} has access from {access.start} to {access.until}, not on "
            f"{today}"
        )
    if query.data not in access.data:
        return f"the project {access.name!r} has no access to {query.data!r}"
    asked = (one for one in events_of(events, access.name) if one.happened == "asked")
    if sum(one.when.startswith(today) for one in asked) >= access.runs:
        number = Count(access.runs)
        return (
            f"the project {access.name!r} has asked {number} {number:time|times} today, and may "
            "ask no more before tomorrow"
        )
    return ""


def usable(access: Access, data: DataSet | None, name: str) -> Version:
    """The version of a data set that a project may use."""
    if data is None:
        raise InputError(f"no data set {name!r} is registered")
    version = data.version_for(access.level)
    if version is None:
        raise InputError(
            f"{name!r} has no version for the accreditation {access.level!r} of the project "
            f"{access.name!r}"
        )
    return version


def left_of(access: Access, spent: float) -> int:
    """How many answers a project may still have, see `budget`."""
    return max(0, int((budget(access.certainty) - spent) / access.strength**2 + 1e-6))


def question_mark(*about: object) -> str:
    """What a question is known by in the log."""
    text = json.dumps(about, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
