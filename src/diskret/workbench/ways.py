"""Other ways to protect what the draft says: each is a job, carried out in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.workbench.command import Run
from diskret.workbench.draft import Draft

#: Ways that are tried in a row, at most.
MOST = 16
#: What a table with changed values cannot say.
_OF_SUPPRESSION = ("method", "cost", "time_limit", "budget", "frozen", "previous", "rounding")

#: A way: ``{"method": …}``, ``{"noise": …}``, ``{"rule": …, "key": …, "value": …}``, ``{"k": …}``,
#: or nothing: as it is.
Way = Mapping[str, Any]


def varied(draft: Mapping[str, Any], way: Way) -> Draft:
    """The draft with another method, another number in a rule, or another k.

    Raises
    ------
    InputError
        There is no such way.
    """
    made: Draft = deepcopy(dict(draft))
    tables: list[dict[str, Any]] = made.get("tables", [])
    match dict(way):
        case nothing if not nothing:
            pass
        case {"method": str(method)}:
            for table in tables:
                table.pop("noise", None)
                table.pop("method", None)
                if method != "auto":
                    table["method"] = method
        case {"noise": dict(noise)}:
            for table in tables:
                for key in _OF_SUPPRESSION:
                    table.pop(key, None)
                table["noise"] = noise
        case {"rule": str(rule), "key": str(key), "value": int() | float() as value}:
            for table in tables:
                given = table.get("rules", {}).get(rule)
                for one in given if isinstance(given, list) else [given]:
                    if isinstance(one, dict):
                        one[key] = value
        case {"k": int(k)}:
            for step in made.get("steps", []):
                if step.get("do") == "local_suppression":
                    step["k"] = k
            claims = made.get("release", {}).get("claims", {})
            if "k_anonymity" in claims:
                claims["k_anonymity"]["k"] = k
        case _:
            raise InputError(f"{dict(way)!r} is no way to protect")
    return made


@dataclass
class _Tried:
    way: Way
    run: Run | None = None
    told: dict[str, Any] = field(default_factory=dict[str, Any])


class Ways:
    """Ways that are tried one after the other; the next begins when it is asked how far it is."""

    def __init__(self) -> None:
        self._room: Path | None = None
        self._tried: list[_Tried] = []
        self._start: Callable[[Way, Path], Run] | None = None

    @property
    def running(self) -> bool:
        """Whether one has not ended."""
        return any(not one.told for one in self._tried)

    def begin(self, ways: Sequence[Way], start: Callable[[Way, Path], Run]) -> None:
        """Begin to try some; `start` carries one of them out into a folder.

        Raises
        ------
        InputError
            There are none, or too many, or others are being tried.
        """
        if self.running:
            raise InputError("a run has not ended yet; wait for it, or cancel it")
        if not 0 < len(ways) <= MOST:
            raise InputError(f"1 to {MOST} ways can be tried in a row, not {len(ways)}")
        self.end()
        self._room = Path(tempfile.mkdtemp(prefix="diskret-"))
        self._start = start
        self._tried = [_Tried(one) for one in ways]

    def told(self, measure: Callable[[Path], dict[str, Any] | None]) -> dict[str, Any]:
        """What was found, and how far the one that runs is.

        measure: the figures of a release in a folder.
        """
        tasks: list[Any] = []
        for number, one in enumerate(self._tried):
            if one.told:
                continue
            assert self._room is not None and self._start is not None  # noqa: S101
            place = self._room / str(number)
            if one.run is None:
                one.run = self._started(one, place)
            if one.run is None:
                continue
            told = one.run.told()
            if told["state"] == "running":
                tasks = told["tasks"]
                break
            figures = measure(place) if told["state"] == "done" else None
            shutil.rmtree(place, ignore_errors=True)
            one.told = {"state": told["state"], "messages": told["messages"], "figures": figures}
        found = [{"way": dict(one.way), **one.told} for one in self._tried if one.told]
        state = "none" if not self._tried else "running" if self.running else "done"
        return {"state": state, "of": len(self._tried), "tasks": tasks, "ways": found}

    def cancel(self) -> None:
        """Stop the one that runs, and try no other."""
        for one in self._tried:
            if one.run is not None:
                one.run.cancel()
        self._tried = [one for one in self._tried if one.told]

    def end(self) -> None:
        """Stop, and remove what is temporary."""
        self.cancel()
        if self._room is not None:
            shutil.rmtree(self._room, ignore_errors=True)
            self._room = None

    def _started(self, one: _Tried, place: Path) -> Run | None:
        """A way that is no job is told like one that failed."""
        assert self._start is not None  # noqa: S101
        try:
            return self._start(one.way, place)
        except InputError as error:
            one.told = {"state": "failed", "messages": [str(error)], "figures": None}
            return None
