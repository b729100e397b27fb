"""Remote access behind the wall: who may ask what, what is shown, told and let go."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from diskret.errors import DiskretError, InputError, ProofError
from diskret.keys import SecretKeys
from diskret.outputs.desk import Desk, Settings
from diskret.outputs.project import Project
from diskret.outputs.unread import unread
from diskret.publish.store import store
from diskret.remote.allowance import Allowance, left_of, usable
from diskret.remote.figures import Figures, checking, computed, prepared
from diskret.remote.log import Log, RemoteEvent, event, events_of
from diskret.remote.query import Asked, Query, read_query
from diskret.remote.records import levels_of, original_frame, version_frame
from diskret.remote.register import read_config
from diskret.remote.registered import Access, DataSet, at_desk
from diskret.remote.told import Comparison, ToCompare, comparison

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

#: What becomes of a result that is submitted: it passed and may leave, or a person decides. Whether
#: it failed or is for review is for the checker only.
State = Literal["accepted", "waiting"]


@dataclass(frozen=True, eq=False)
class Shown:
    """What the anonymised version shows, at once.

    Parameters
    ----------
    query
        What was asked.
    version
        Name of the anonymised version.
    figures
        Result → its figures.
    """

    query: Query
    version: str
    figures: Mapping[str, Figures]


class Office:
    """Remote access, behind the wall. Confidential: it opens the original.

    Runs where researchers do not: their requests reach it through a command that says who asks.
    Whatever is asked or refused stands in a log in the database of a ledger, sealed as that is.

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
    """

    def __init__(
        self,
        ledger: str | PathLike[str],
        keys: SecretKeys | str | PathLike[str] | None = None,
        *,
        wait: float = 60,
    ):
        self.place = ledger
        self.keys = SecretKeys.load(keys, create=False)
        self.wait = wait
        self._store = store.open_store(ledger, self.keys, wait)
        self.allowance = Allowance(self._store)
        with store.read(self._store) as connection:
            Log.read(self._store, connection)

    def __repr__(self) -> str:
        return f"Office({self._store.name!r})"

    # ── the owner ───────────────────────────────────────────────────────────────

    def register(self, config: str | PathLike[str], *, who: str) -> list[str]:
        """Register data sets and projects of a file, or change those that are registered.

        What was answered before counts on, and what stands at the desk stays.

        Parameters
        ----------
        config
            A TOML file; the files and folders it names are seen from its own folder.
        who
            Who registers.

        Returns
        -------
        list of str
            The names of what was registered.

        Raises
        ------
        JobError
            A line of the file is not admissible, see [remote access](../remote.md).
        """
        data, projects = read_config(Path(config), self.keys)
        desk = Desk(self.place, self.keys, wait=self.wait)
        with store.change(self._store) as connection:
            known = Log.read(self._store, connection)
            sets = known.data_sets() | {one.name: one for one in data}
            for project in projects:
                for name in project.data:
                    usable(project, sets.get(name), name)
            for one in data:
                Log.read(self._store, connection).add(
                    event("data registered", who, data=one.name), one.text
                )
            for project in projects:
                Log.read(self._store, connection).add(
                    event("project registered", who, project=project.name), project.text
                )
        there = desk.projects()
        for project in projects:
            for name in project.data:
                place = at_desk(project.name, name)
                if place not in there:
                    desk.open(place, Settings(sets[name].unit, sets[name].profile), who=who)
        return [*(one.name for one in data), *(one.name for one in projects)]

    def history(self, project: str = "") -> list[RemoteEvent]:
        """What happened, to one project or to all, in order."""
        with store.read(self._store) as connection:
            events = Log.read(self._store, connection).events
        return events_of(events, project) if project else [*events]

    def asked(self, number: int) -> str:
        """The query or script of an event, or what was registered. For the owner only.

        Parameters
        ----------
        number
            Place of the event in the log, see `history`.

        Raises
        ------
        InputError
            There is no such event.
        """
        with store.read(self._store) as connection:
            known = Log.read(self._store, connection)
            if not 0 < number <= len(known.events):
                raise InputError(f"the log of remote access has no entry {number}")
            return known.kept(known.events[number - 1])

    def registered(self) -> tuple[dict[str, DataSet], dict[str, Access]]:
        """Data sets and projects by name. Confidential."""
        with store.read(self._store) as connection:
            known = Log.read(self._store, connection)
            return known.data_sets(), known.projects()

    def spent(self, project: str) -> float:
        """The sum of squared strengths of the answers that a project had."""
        with store.read(self._store) as connection:
            return Log.read(self._store, connection).spent(project=project)

    # ── the researcher ──────────────────────────────────────────────────────────

    def describe(self, project: str, *, who: str) -> dict[str, Any]:
        """What a member may know: data sets with columns, dictionary and claims; what is left.

        Parameters
        ----------
        project
            Its name.
        who
            Who asks.

        Raises
        ------
        InputError
            There is no such project, or who asks is no member.
        """
        with store.read(self._store) as connection:
            known = Log.read(self._store, connection)
            access = known.project(project)
            if who not in access.members:
                raise InputError(f"{who!r} is no member of the project {project!r}")
            sets = {name: known.data_set(name) for name in access.data}
            spent = known.spent(project=project)
        shown: dict[str, Any] = {}
        for name, data in sets.items():
            version = usable(access, data, name)
            frame = version_frame(version, data)
            columns = {
                one: {
                    "holds": "numbers" if one in data.numbers else "text",
                    "label": data.dictionary.get(one, {}).get("label", ""),
                    "codes": dict(data.dictionary.get(one, {}).get("codes", {})),
                }
                for one in frame.columns
            }
            shown[name] = {
                "level": version.level,
                "records": len(frame),
                "claims": [*version.claims],
                "columns": columns,
            }
        return {
            "purpose": access.purpose,
            "from": access.start,
            "until": access.until,
            "left": left_of(access, spent),
            "data": shown,
        }

    def ask(self, text: str, *, who: str) -> Shown:
        """Run a query on the anonymised version; the original is not opened.

        Parameters
        ----------
        text
            The query, TOML.
        who
            Who asks, as the gate knows it.

        Raises
        ------
        InputError
            The query is not admissible, or it is not this person's, project's or day's to ask.
        """
        shown = self._shown(read_query(text), who)
        self.allowance.note("asked", who, shown.query, ", ".join(shown.figures), said=text)
        return shown

    def compare(self, shown: Shown | str, *, who: str) -> Comparison:
        """What the original says of what was shown, in classes; charged to the project.

        Parameters
        ----------
        shown
            What `ask` returned, or the text of the query again.
        who
            Who asks.

        Raises
        ------
        ProofError
            The project, or all projects on this data set, had as many answers as they may.
        InputError
            As for `ask`.
        """
        began = time.monotonic()
        if isinstance(shown, str):
            shown = self._shown(read_query(shown), who)
        access, data, version = self.allowance.allowed(shown.query, who)
        asked = {one.name: one for one in shown.query.results}
        fewest = data.profile.threshold
        results = {
            name: ToCompare(
                shown.figures[name], (data.mark, version.digest, one.canonical), fewest, one.within
            )
            for name, one in asked.items()
        }

        def votes(frame: pd.DataFrame, block: NDArray[np.intp]) -> dict[str, list[Figures | None]]:
            levels = levels_of(version_frame(version, data))
            return {
                name: _blocks(one, frame, block, data.blocks, levels) for name, one in asked.items()
            }

        told = comparison(
            self.allowance,
            self.keys,
            shown.query,
            who,
            access,
            data,
            results,
            votes,
            data.blocks,
            access.strength,
        )
        wait_for(began, data.pause)
        return told

    def submit(self, text: str, result: str, *, who: str, request: str = "") -> State:
        """Compute a result of a query on the original and put it on the checker's desk.

        What passes is accepted at once. For all else the checker decides, and only the checker sees
        the reasons: which of them it was would tell of the records.

        Parameters
        ----------
        text
            The query, TOML.
        result
            Name of the result in it.
        who
            Who asks.
        request
            Why an exception should be made, or whatever the checker should know.

        Raises
        ------
        InputError
            There is no such result, the name is taken at the desk, or as for `ask`.
        ProofError
            The project has submitted as many results as it may.
        """
        import pandas as pd

        began = time.monotonic()
        query = read_query(text)
        access, data, version = self.allowance.allowed(query, who)
        asked = next((one for one in query.results if one.name == result), None)
        if asked is None:
            raise InputError(f"the query has no result {result!r}")
        shown = version_frame(version, data)
        computed(asked, prepared(asked, shown, levels_of(shown)))  # what is wrong shows there
        place = at_desk(query.project, query.data)
        desk = Desk(self.place, self.keys, wait=self.wait)
        desk.check_free(place, result)
        self.allowance.count_submission(query, access, who, result, text)
        frame = original_frame(data, self.keys)
        project = Project.open(place, self.place, frame, keys=self.keys, wait=self.wait)
        try:
            function, arguments = checking(asked, prepared(asked, frame, {}))
            checked = project.check(function, *arguments)
        except Exception as error:  # the researcher is not told so: it tells of the records
            why = str(error) if isinstance(error, DiskretError) else type(error).__name__
            self.allowance.note("refused", who, query, f"failed: {result}: {why}", said=text)
            # it waits like all others: else the time, or a second result of this name, would tell
            checked = project.check(unread, pd.DataFrame({"value": []}))
        project.submit(checked, result, request=request, who=who)
        state: State = "waiting"
        if checked.verdict == "pass":
            try:
                desk.decide(place, result, "accept", who=AUTOMATIC)
                state = "accepted"
            except ProofError:  # something else left meanwhile
                state = "waiting"
        wait_for(began, data.pause)
        return state

    def release(self, project: str, data: str, folder: str | PathLike[str], *, who: str) -> Path:
        """Write what was accepted into a folder that may leave; see `Desk.release`.

        Raises
        ------
        InputError
            Nothing was accepted, or who asks is no member.
        """
        with store.read(self._store) as connection:
            access = Log.read(self._store, connection).project(project)
        if who not in access.members:
            raise InputError(f"{who!r} is no member of the project {project!r}")
        desk = Desk(self.place, self.keys, wait=self.wait)
        return desk.release(at_desk(project, data), folder, who=who)

    def _shown(self, query: Query, who: str) -> Shown:
        _, data, version = self.allowance.allowed(query, who)
        frame = version_frame(version, data)
        levels = levels_of(frame)
        figures = {one.name: computed(one, prepared(one, frame, levels)) for one in query.results}
        return Shown(query, version.name, figures)


#: Who accepts what passes.
AUTOMATIC = "remote access"


def _blocks(
    asked: Asked, frame: pd.DataFrame, block: Any, blocks: int, levels: Mapping[str, Any]
) -> list[Figures | None]:
    """The figures of each block, None where there are none for whatever reason."""
    chosen = prepared(asked, frame, levels)
    at = block[chosen.index]
    found: list[Figures | None] = []
    for number in range(blocks):
        try:
            found.append(computed(asked, chosen[at == number]))
        except Exception:  # any other answer than a vote would tell of the block
            found.append(None)
    return found


def wait_for(began: float, pause: float, sleep: Callable[[float], None] = time.sleep) -> None:
    """Let an answer come at a multiple of the pause after the request."""
    if pause > 0:
        passed = time.monotonic() - began
        sleep((passed // pause + 1) * pause - passed)
