"""What if a cell were published: the job with the cell frozen, carried out aside."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.workbench.cells import HIDDEN, states
from diskret.workbench.command import Run
from diskret.workbench.draft import Draft
from diskret.workbench.releases import Released, read_released
from diskret.workbench.tables import Judged


@dataclass(frozen=True)
class _Asked:
    run: Run
    room: Path
    index: int
    at: int


class Trial:
    """The question that was asked last, if there is one."""

    def __init__(self) -> None:
        self._asked: _Asked | None = None

    def begin(self, index: int, at: int, start: Callable[[Path], Run]) -> None:
        """Begin to find out; `start` carries the job out into a folder.

        Raises
        ------
        InputError
            Another one has not ended.
        """
        if self._asked is not None and self._asked.run.state == "running":
            raise InputError("a run has not ended yet; wait for it, or cancel it")
        self.end()
        room = Path(tempfile.mkdtemp(prefix="diskret-"))
        self._asked = _Asked(start(room / "out"), room, index, at)

    def told(self, index: int, judged: Judged, now: Released | None) -> dict[str, Any]:
        """How far it is; then the cells whose state would be another one than `now`."""
        asked = self._asked
        if asked is None or asked.index != index:
            return {"state": "none", "tasks": [], "messages": []}
        told = {**asked.run.told(), "at": asked.at}
        if told["state"] == "done":
            before = states(judged, now).ravel()
            found = read_released(asked.room / "out", judged.wanted.name, judged.table)
            after = states(judged, found).ravel()
            told["hidden"] = _where(_is_hidden(after) & ~_is_hidden(before))
            told["shown"] = _where(_is_hidden(before) & ~_is_hidden(after))
        return told

    def cancel(self) -> None:
        """Stop it."""
        if self._asked is not None:
            self._asked.run.cancel()

    def end(self) -> None:
        """Stop it, and remove what it wrote."""
        self.cancel()
        if self._asked is not None:
            shutil.rmtree(self._asked.room, ignore_errors=True)
            self._asked = None


def for_trial(draft: Mapping[str, Any]) -> Draft:
    """The job as it is tried: only the files that are read again, and entered in no ledger."""
    made: Draft = deepcopy(dict(draft))
    part = "output" if "tables" in made else "release"
    kept = {**made.get(part, {}), "formats": ["csv"]}
    if part == "output":
        kept = {key: one for key, one in kept.items() if key in ("formats", "language")}
    return {**made, part: kept}


def frozen_too(draft: Mapping[str, Any], index: int, codes: Mapping[str, str]) -> Draft:
    """The job with one more cell that must be published."""
    made: Draft = deepcopy(dict(draft))
    table = made["tables"][index]
    table["frozen"] = [*table.get("frozen", []), {"at": dict(codes)}]
    return made


def _is_hidden(letters: NDArray[np.str_]) -> NDArray[np.bool_]:
    return np.isin(letters, HIDDEN)


def _where(cells: NDArray[np.bool_]) -> list[int]:
    return np.flatnonzero(cells).tolist()
