"""The draft protected beside a copy of its ledger: what a release would be, and entered nowhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

from diskret.disk import new_file
from diskret.errors import InputError
from diskret.ledger.ledger import Ledger
from diskret.workbench.command import Run
from diskret.workbench.draft import Draft
from diskret.workbench.releases import loss


class Rehearsal:
    """The dry run that was begun last, if there is one."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._room: Path | None = None
        self._names: tuple[str, ...] = ()

    def begin(
        self,
        ledger: Path,
        draft: Mapping[str, Any],
        names: Sequence[str],
        start: Callable[[Draft, Path], Run],
    ) -> None:
        """Begin to protect a draft beside a copy of a ledger.

        names: of the tables. start: carries a job out into a folder.

        Raises
        ------
        InputError
            Another one has not ended, or the ledger cannot be read.
        """
        if self._run is not None and self._run.state == "running":
            raise InputError("a run has not ended yet; wait for it, or cancel it")
        self.end()
        Ledger(str(ledger)).releases()  # what a killed publication left is settled there, not here
        self._room = Path(tempfile.mkdtemp(prefix="diskret-"))
        self._names = tuple(names)
        self._run = start(beside(draft, _copied(ledger, self._room)), self._room / "out")

    def told(self) -> dict[str, Any]:
        """How far it is; then how much of each table would be hidden."""
        if self._run is None or self._room is None:
            return {"state": "none", "tasks": [], "messages": []}
        told = self._run.told()
        if told["state"] == "done":
            found = [loss(self._room / "out", name) for name in self._names]
            told["tables"] = [one for one in found if one is not None]
        return told

    def cancel(self) -> None:
        """Stop it."""
        if self._run is not None:
            self._run.cancel()

    def end(self) -> None:
        """Stop it, and remove the copy and what it wrote."""
        self.cancel()
        if self._room is not None:
            shutil.rmtree(self._room, ignore_errors=True)
            self._room = None


def beside(draft: Mapping[str, Any], ledger: Path) -> Draft:
    """The job with another ledger, and the name that its release would have."""
    made: Draft = deepcopy(dict(draft))
    output = made.setdefault("output", {})
    output.setdefault("release", Path(output.get("folder", "out")).name)
    output |= {"ledger": str(ledger), "formats": ["csv"]}
    return made


def _copied(ledger: Path, room: Path) -> Path:
    place = room / "ledger.db"
    os.close(new_file(place))
    with closing(sqlite3.connect(ledger)) as source, closing(sqlite3.connect(place)) as copy:
        source.backup(copy)
    return place
