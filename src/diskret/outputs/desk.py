"""The checker's desk: results that wait, what is said of them, and what is decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import diskret.unrepeatable as unrepeatable
from diskret.errors import InputError
from diskret.io.from_json import parse_json
from diskret.keys import SecretKeys
from diskret.ledger.who import who_of
from diskret.outputs.beside import Statement
from diskret.outputs.bundle import leaving, write_bundle
from diskret.outputs.checked import Checked, worst
from diskret.outputs.decisions import as_submitted, check_exception, judged_again
from diskret.outputs.desk_report import Reported, write_report
from diskret.outputs.events import Event, Item, event_of, item_of, items_of
from diskret.outputs.kept import Submitted, kept_of, submitted_of
from diskret.outputs.profile import Profile
from diskret.publish.bundle import CHECKSUMS
from diskret.publish.staging import target_of
from diskret.publish.store import log, store
from diskret.publish.store.connection import Connection
from diskret.publish.store.log import Kept, Logged

if TYPE_CHECKING:
    from pathlib import Path

Decision = Literal["accept", "refuse", "return"]
_HAPPENS = {"accept": "accepted", "refuse": "refused", "return": "returned"}


@dataclass(frozen=True, eq=False)
class Settings:
    """What a project was opened with: `unit` names the column of units, "" where there is none."""

    unit: str
    profile: Profile


class Desk:
    """Results of projects that wait for a decision, in the database of a ledger.

    Nothing of it is ever changed or removed: who submitted, asked, commented, decided and released
    what, and when, stands in a log whose entries are sealed under the office's key. A result that
    is accepted is judged once more beside all that has been accepted by then, whoever checked it
    and whenever; two who decide at once do so one after the other.

    Parameters
    ----------
    ledger
        A SQLite file, or the url of a PostgreSQL database; see `Ledger`.
    keys
        The office's secret keys; see `SecretKeys`.
    wait
        Seconds to wait while others change the ledger.

    Raises
    ------
    InputError
        There is no such ledger.
    KeyFileError
        It was made with other keys.
    VerificationError
        The ledger or the log was changed.

    Examples
    --------
    >>> import tempfile, pandas as pd, diskret as dk
    >>> from pathlib import Path
    >>> home, keys = Path(tempfile.mkdtemp()), dk.SecretKeys(bytes(range(32)))
    >>> place = home / "ledger.db"
    >>> ledger = dk.Ledger.create(place, keys=keys)
    >>> people = pd.DataFrame({"town": ["A"] * 11 + ["B"] * 30, "job": "x"})
    >>> project = dk.check.Project.create("towns", place, people, keys=keys)
    >>> checked = project.check(dk.check.crosstab, people.town, people.job)
    >>> project.submit(checked, "people by town", who="Kim")
    >>> desk = Desk(place, keys=keys)
    >>> [(item.name, item.state) for item in desk.items("towns")]
    [('people by town', 'waiting')]
    >>> desk.decide("towns", "people by town", "accept", who="Lee")
    >>> [event.happened for event in desk.history("towns")]
    ['opened', 'submitted', 'accepted']
    """

    def __init__(
        self,
        ledger: str | PathLike[str],
        keys: SecretKeys | str | PathLike[str] | None = None,
        *,
        wait: float = 60,
    ):
        self._store = store.open_store(ledger, SecretKeys.load(keys, create=False), wait)
        with store.read(self._store) as connection:
            self._log(connection)

    @property
    def keys(self) -> SecretKeys:
        """The office's keys."""
        return self._store.keys

    def __repr__(self) -> str:
        return f"Desk({self._store.name!r})"

    # ── reading ─────────────────────────────────────────────────────────────────

    def projects(self) -> list[str]:
        """Names of all projects, in the order in which they were made."""
        return [one.project for one in self._events() if one.happened == "opened"]

    def items(self, project: str) -> list[Item]:
        """All results of a project, as they stand now.

        Raises
        ------
        InputError
            There is no such project.
        """
        events = self._events()
        _opened(events, project)
        return items_of(events, project)

    def history(self, project: str, result: str = "") -> list[Event]:
        """What happened to a project, or to one result of it, in order.

        Raises
        ------
        InputError
            There is no such project or result.
        """
        events = self._events()
        _opened(events, project)
        if result:
            return [*item_of(events, project, result).events]
        return [one for one in events if one.project == project]

    def settings(self, project: str) -> Settings:
        """What a project was opened with. Confidential.

        Raises
        ------
        InputError
            There is no such project.
        """
        with store.read(self._store) as connection:
            return self._settings(connection, self._log(connection), project)

    def accepted(self, project: str) -> list[Statement]:
        """What the accepted results of a project tell. Confidential."""
        with store.read(self._store) as connection:
            return self._accepted(connection, self._log(connection), project)

    def result(self, project: str, result: str) -> Submitted:
        """A result as it was submitted last. Confidential.

        Raises
        ------
        InputError
            There is no such result.
        """
        with store.read(self._store) as connection:
            entries = self._log(connection)
            return self._result(connection, entries, item_of(_events(entries), project, result))

    def judged(self, project: str, result: str) -> Checked:
        """A result with all that is found today, beside what has been accepted. Confidential.

        Raises
        ------
        InputError
            There is no such result.
        """
        with store.read(self._store) as connection:
            entries = self._log(connection)
            item = item_of(_events(entries), project, result)
            own = self._result(connection, entries, item)
            return self._judged(connection, entries, project, own)

    def report(self, project: str, folder: str | PathLike[str], *, language: str = "en") -> Path:
        """Write what was checked of a project and why, for the office: a page and a table.

        ``report.html`` and ``report.csv`` hold each result with its reasons in the words of the
        profile, its files with checksums, requests, comments and decisions. They tell limits and
        which cells are unsafe, so they never leave; `release` writes what does. What waits is told
        as judged today, beside all that was accepted; what was decided as it was submitted.

        Parameters
        ----------
        project
            Its name.
        folder
            Where to write: a new folder, or that of an earlier report.
        language
            ``"en"`` or ``"de"``.

        Raises
        ------
        InputError
            There is no such project, or the folder is part of a release or holds something else.
        """
        with store.read(self._store) as connection:
            entries = self._log(connection)
            events = _events(entries)
            _opened(events, project)
            profile = self._settings(connection, entries, project).profile
            results: list[Reported] = []
            for item in items_of(events, project):
                own = self._result(connection, entries, item)
                today = item.state in ("waiting", "returned")
                checked = (
                    self._judged(connection, entries, project, own)
                    if today
                    else as_submitted(own, profile)
                )
                results.append(Reported(item, checked, today, own.files))
        history = [one for one in events if one.project == project]
        return write_report(folder, project, results, history, _now(), language)

    # ── adding ──────────────────────────────────────────────────────────────────

    def open(self, project: str, settings: Settings, *, who: str | None = None) -> None:
        """Make a project; `dk.check.Project.create` does so for a frame of records.

        Raises
        ------
        InputError
            There is a project of that name.
        """
        said = {"unit": settings.unit, "profile": asdict(settings.profile)}
        with store.change(self._store) as connection:
            events = _events(self._log(connection))
            if not project.strip() or any(one.project == project for one in events):
                raise InputError(f"a project {project!r} is there already, or has no name")
            kept = Kept(json.dumps(said, ensure_ascii=False, sort_keys=True), b"")
            self._add(connection, Event(0, project, "opened", "", who_of(who), _now()), kept)

    def submit(
        self, project: str, result: str, submitted: Submitted, *, who: str | None, why: str
    ) -> None:
        """Put a result on the desk, or in the place of one that waits or was returned.

        Raises
        ------
        InputError
            There is no such project, or a result of that name was decided.
        """
        with store.change(self._store) as connection:
            entries = self._log(connection)
            _check_free(_events(entries), project, result)
            verdict = worst([one.verdict for one in (*submitted.findings, *submitted.together)])
            event = Event(0, project, "submitted", result, who_of(who), _now(), why, verdict)
            self._add(connection, event, kept_of(submitted))

    def check_free(self, project: str, result: str) -> None:
        """Refuse a name under which nothing can be submitted, before anything is computed.

        Raises
        ------
        InputError
            There is no such project, or a result of that name was decided.
        """
        with store.read(self._store) as connection:
            _check_free(_events(self._log(connection)), project, result)

    def comment(self, project: str, result: str, text: str, *, who: str | None = None) -> None:
        """Note something beside a result.

        Raises
        ------
        InputError
            There is no such result, or nothing is said.
        """
        if not text.strip():
            raise InputError("a comment says something: text=")
        with store.change(self._store) as connection:
            item_of(_events(self._log(connection)), project, result)
            event = Event(0, project, "commented", result, who_of(who), _now(), text)
            self._add(connection, event)

    def decide(
        self,
        project: str,
        result: str,
        decision: Decision,
        *,
        who: str | None = None,
        why: str = "",
    ) -> None:
        """Accept, refuse or return a result that waits.

        Parameters
        ----------
        project, result
            Their names.
        decision
            ``"accept"``; ``"refuse"``; ``"return"``: the researcher is asked something first.
        who
            Who decides; by default the name of the login.
        why
            The reason; needed for everything but the acceptance of what passes.

        Raises
        ------
        InputError
            There is no such result, it does not wait, or a reason is missing.
        ProofError
            It does not pass beside all that has been accepted, and `who` may not except it.
        """
        if decision not in _HAPPENS:
            raise InputError(f"a decision is one of {', '.join(_HAPPENS)}, not {decision!r}")
        with store.change(self._store) as connection:
            entries = self._log(connection)
            item = item_of(_events(entries), project, result)
            if item.state in ("accepted", "refused"):
                raise InputError(f"{result!r} was decided already; submit it under another name")
            decided = who_of(who)
            verdict = ""
            if decision == "accept":
                own = self._result(connection, entries, item)
                checked = self._judged(connection, entries, project, own)
                verdict = checked.verdict
                if verdict != "pass":
                    check_exception(checked, result, decided, why)
            elif not why.strip():
                raise InputError("a decision needs a reason: why=")
            happened: Any = _HAPPENS[decision]
            self._add(
                connection, Event(0, project, happened, result, decided, _now(), why, verdict)
            )

    def release(self, project: str, folder: str | PathLike[str], *, who: str | None = None) -> Path:
        """Write all accepted results of a project into a folder that may leave.

        ``public/`` is what the SACRO viewer opens: the files of the results, `results.json` and
        checksums, and no reason, limit or count of the checks. ``internal/`` holds the history, and
        the list of all files under the office's seal; `diskret verify` checks both.

        Parameters
        ----------
        project
            Its name.
        folder
            Where to write; complete and in the history, or neither: whoever opens the ledger after
            a crash finishes what is in place and removes what is not.
        who
            Who releases; by default the name of the login.

        Raises
        ------
        InputError
            Nothing was accepted, or the folder holds something else.
        """
        with store.change(self._store) as connection:
            entries = self._log(connection)
            events = _events(entries)
            _opened(events, project)
            items = [one for one in items_of(events, project) if one.state == "accepted"]
            if not items:
                raise InputError(f"nothing of the project {project!r} was accepted yet")
            results = [(item, self._result(connection, entries, item)) for item in items]
            history = [one for one in events if one.project == project]
            files, where, by = leaving(results), target_of(folder), who_of(who)

            def event(target: Path) -> str:
                return Event(0, project, "released", "", by, _now(), str(target)).text

            with store.releasing(
                connection, self._store, project, folder, (CHECKSUMS,), event
            ) as stage:
                write_bundle(stage, project, files, history)
        return where

    # ── the log ─────────────────────────────────────────────────────────────────

    def _log(self, connection: Connection) -> list[Logged]:
        return log.read(connection, self.keys, self._store.name)

    def _events(self) -> list[Event]:
        with store.read(self._store) as connection:
            return _events(self._log(connection))

    def _add(self, connection: Connection, event: Event, kept: Kept | None = None) -> None:
        log.append(connection, self.keys, self._store.name, [(event.text, kept)])

    def _kept(self, connection: Connection, entries: Sequence[Logged], number: int) -> Kept:
        return log.content(connection, self.keys, self._store.name, entries[number - 1])

    def _settings(
        self, connection: Connection, entries: Sequence[Logged], project: str
    ) -> Settings:
        opened = _opened(_events(entries), project)
        said = parse_json(
            self._kept(connection, entries, opened.number).said, f"the project {project!r}"
        )
        return Settings(said["unit"], Profile(**said["profile"]))

    def _result(self, connection: Connection, entries: Sequence[Logged], item: Item) -> Submitted:
        return submitted_of(self._kept(connection, entries, item.submitted.number), item.name)

    def _accepted(
        self, connection: Connection, entries: Sequence[Logged], project: str
    ) -> list[Statement]:
        events = _events(entries)
        _opened(events, project)
        return [
            self._result(connection, entries, item).statement
            for item in items_of(events, project)
            if item.state == "accepted"
        ]

    def _judged(
        self, connection: Connection, entries: Sequence[Logged], project: str, own: Submitted
    ) -> Checked:
        profile = self._settings(connection, entries, project).profile
        earlier = self._accepted(connection, entries, project)
        earlier = [one for one in earlier if one.name != own.statement.name]
        return judged_again(own, earlier, profile)


def _events(entries: Sequence[Logged]) -> list[Event]:
    return [event_of(one.number, one.text) for one in entries]


def _opened(events: Sequence[Event], project: str) -> Event:
    for event in events:
        if event.happened == "opened" and event.project == project:
            return event
    names = [one.project for one in events if one.happened == "opened"]
    there = f"; there are {', '.join(map(repr, names))}" if names else ""
    raise InputError(f"the ledger holds no project {project!r}{there}")


def _check_free(events: Sequence[Event], project: str, result: str) -> None:
    _opened(events, project)
    own = [one for one in items_of(events, project) if one.name == result]
    if not result.strip() or any(one.state in ("accepted", "refused") for one in own):
        raise InputError(f"name={result!r} is taken or empty: results go by their names")


def _now() -> str:
    return unrepeatable.now()
