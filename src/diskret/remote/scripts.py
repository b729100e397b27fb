"""Scripts of researchers: run in a sandbox, block by block, and for a person to let go."""

from __future__ import annotations

import ast
import hashlib
import io
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.ipc as ipc

from diskret.errors import DiskretError, InputError
from diskret.outputs.desk import Desk
from diskret.outputs.project import Project
from diskret.outputs.unread import unread
from diskret.remote import program_of_r
from diskret.remote.channel import read_results
from diskret.remote.figures import Figures
from diskret.remote.office import Office, State, wait_for
from diskret.remote.query import Query
from diskret.remote.records import original_frame, version_frame
from diskret.remote.registered import DataSet, Version, at_desk
from diskret.remote.sandbox import Limits, Ran, Sandbox, check, check_hidden
from diskret.remote.told import Comparison, ToCompare, comparison

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

#: Languages of scripts, and how their files end.
Written = Literal["python", "r"]
ENDINGS: dict[str, Written] = {".py": "python", ".R": "r", ".r": "r"}
#: Seconds that a run of a script may take if nothing is said.
SECONDS = 3
#: A run on a block may take so many times what it took on as much of the version, and a moment.
ROOM, MOMENT = 1.5, 0.01
#: After it comes so large a part of that time again, in which what it held is given back.
AFTER = 0.25
#: How often the version is run to find out how long a block takes.
TRIED = 5
#: What R says after the error.
_AFTER_AN_ERROR = ("Calls:", "Execution halted")
#: Libraries that are loaded once for all blocks, where a script imports them.
_LOADED = ("numpy", "pandas", "patsy", "scipy", "sklearn", "statsmodels")
#: The factor within which a figure of a script is close.
_WITHIN = 1.25


@dataclass(frozen=True)
class Script:
    """A script of a project.

    Parameters
    ----------
    project, data
        Names.
    code
        Python: it knows `data`, a pandas frame, and gives results with `table(name, series)` and
        `model(name, fit)`. R: `data`, a data frame, `give_table(name, values)` and
        `give_model(name, fit)`.
    seconds
        How long a run may take.
    written
        In which language.
    """

    project: str
    data: str
    code: str
    seconds: int = SECONDS
    written: Written = "python"

    @property
    def query(self) -> Query:
        """As what is asked of the office."""
        return Query(self.project, self.data, (), self.code)

    def sandbox(self, data: DataSet) -> Sandbox:
        """Where it runs: tried once, and with what it imports loaded."""
        check_hidden(Path(data.original))
        check()
        if self.written not in get_args(Written):
            raise InputError(f"scripts are written in python or r, not in {self.written!r}")
        if self.written == "r":
            program_of_r.environment()  # whether it is there
        if self.seconds > data.seconds:
            raise InputError(
                f"a run on {data.name!r} may take {data.seconds} s at most, not {self.seconds} s"
            )
        limits = Limits(seconds=self.seconds, memory=data.memory, processes=data.processes)
        return Sandbox(limits, imported(self.code) if self.written == "python" else ())

    @property
    def canonical(self) -> str:
        """What a question about its results is told by."""
        return f"{hashlib.sha256(self.code.encode()).hexdigest()} {self.seconds} {self.written}"

    def run(
        self,
        sandbox: Sandbox,
        frame: pd.DataFrame,
        seconds: float | None = None,
        *,
        listen: bool = False,
    ) -> Ran:
        """Run it on some records."""
        if self.written == "python":
            return sandbox.run(self.code, _arrow(frame), seconds, listen=listen)
        classes = ",".join(
            "character" if frame[one].dtype == object else "numeric" for one in frame
        )
        return sandbox.run(self.code, _csv(frame), seconds, listen=listen, classes=classes)


@dataclass(frozen=True, eq=False)
class ScriptShown:
    """What a script shows on the anonymised version: results, all that it printed, its time."""

    script: Script
    version: str
    figures: Mapping[str, Figures]
    said: str
    seconds: float


def ask_script(office: Office, script: Script, *, who: str) -> ScriptShown:
    """Run a script on the anonymised version; the original is not opened.

    Raises
    ------
    InputError
        It is not this person's to ask, the sandbox does not hold, or the script failed: its
        error is told, for it is one about the anonymised version.
    """
    _, data, version = office.allowance.allowed(script.query, who)
    with script.sandbox(data) as sandbox:
        shown = _shown(sandbox, script, version, version_frame(version, data))
    office.allowance.note("asked", who, script.query, ", ".join(shown.figures), said=script.code)
    return shown


def compare_script(office: Office, script: Script, *, who: str) -> Comparison:
    """What the original says, in classes; charged to the project.

    An answer to a script costs as many answers to queries as the square of `blocks` divided by
    `script_blocks`, and is as clear.

    Each block runs by itself, one after the other at fixed times, so neither result nor duration of
    one can depend on another, and the answer comes when it was known to come. How long a block may
    take follows from as many records of the anonymised version.

    Raises
    ------
    ProofError
        The project, or all projects on this data set, had as many answers as they may.
    InputError
        As for `ask_script`.
    """
    access, data, version = office.allowance.allowed(script.query, who)
    blocks = data.script_blocks
    # fewer votes say as much as many where each counts for more, and is charged for it
    strength = access.strength * max(1.0, data.blocks / blocks)
    about = data.mark, version.digest, script.canonical
    frame = version_frame(version, data)
    with script.sandbox(data) as sandbox:
        shown = _shown(sandbox, script, version, frame)
        results = {
            name: ToCompare(one, (*about, name), 1, _WITHIN) for name, one in shown.figures.items()
        }

        def votes(
            original: pd.DataFrame, block: NDArray[np.intp]
        ) -> dict[str, list[Figures | None]]:
            each = _time_of(sandbox, script, frame.iloc[::blocks], shown.seconds)
            parts = [original.loc[block == number, frame.columns] for number in range(blocks)]
            found = _of_blocks(sandbox, script, parts, each)
            return {
                name: [None if one is None else one.get(name) for one in found] for name in results
            }

        return comparison(
            office.allowance,
            office.keys,
            script.query,
            who,
            access,
            data,
            results,
            votes,
            blocks,
            strength,
        )


def submit_script(
    office: Office, script: Script, result: str, *, who: str, request: str = ""
) -> State:
    """Run a script on the original and put a result of it on the desk, where it waits for a person.

    Nothing is known of what a script computes, so nothing of it passes by itself. That it failed
    is told to the owner only: it waits like all others, with no figures.

    Raises
    ------
    ProofError
        The project has submitted as many results as it may.
    InputError
        The script has no such result on the anonymised version, the name is taken at the desk, or
        as for `ask_script`.
    """
    began = time.monotonic()
    access, data, version = office.allowance.allowed(script.query, who)
    frame = version_frame(version, data)
    with script.sandbox(data) as sandbox:
        shown = _shown(sandbox, script, version, frame)
        if result not in shown.figures:
            raise InputError(f"the script has no result {result!r}")
        place = at_desk(script.project, script.data)
        Desk(office.place, office.keys, wait=office.wait).check_free(place, result)
        office.allowance.count_submission(script.query, access, who, result, script.code)
        original = original_frame(data, office.keys)
        each = _with_room(script, shown.seconds, 0.5)
        [found] = _of_blocks(sandbox, script, [original[[*frame.columns]]], each)
    own = None if found is None else found.get(result)
    if own is None:
        office.allowance.note("refused", who, script.query, f"failed: {result}", said=script.code)
        own = Figures({}, {}, {})
    # what failed goes the same way: else the time, or a second result of this name, would tell
    project = Project.open(place, office.place, original, keys=office.keys, wait=office.wait)
    checked = project.check(unread, _frame(own, shown.figures[result]))
    project.submit(checked, result, request=request, who=who)
    wait_for(began, data.pause)
    return "waiting"


def imported(code: str) -> list[str]:
    """The modules of known libraries that a script imports at its beginning, to be loaded before.

    >>> imported("import os, scipy.stats; from statsmodels.formula.api import ols")
    ['scipy.stats', 'statsmodels.formula.api']
    """
    try:
        lines = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # what is wrong with it shows when it is run
    found: list[str] = []
    for line in lines:
        if isinstance(line, ast.Import):
            found += [one.name for one in line.names]
        elif isinstance(line, ast.ImportFrom) and line.module and not line.level:
            found.append(line.module)
    return [one for one in found if one.partition(".")[0] in _LOADED and "._" not in one]


def _shown(sandbox: Sandbox, script: Script, version: Version, frame: pd.DataFrame) -> ScriptShown:
    began = time.monotonic()
    ran = script.run(sandbox, frame, listen=True)
    seconds = time.monotonic() - began
    if ran.result is None:
        lines = ran.said.strip().splitlines()
        said = [one for one in lines if not one.startswith(_AFTER_AN_ERROR)]
        why = said[-1] if said else f"it took more than {script.seconds} seconds, or gave too much"
        raise InputError(f"the script failed on the anonymised version: {why}")
    figures = read_results(ran.result, len(frame))
    return ScriptShown(script, version.name, figures, ran.said, seconds)


def _time_of(sandbox: Sandbox, script: Script, part: pd.DataFrame, whole: float) -> float:
    """Seconds for each block: what a part of the version as large as a block says, with room.

    Where the script fails on such a part, what it took on the `whole` version.
    """
    took: list[float] = []
    for _ in range(TRIED):
        began = time.monotonic()
        if script.run(sandbox, part).result is None:
            took = [whole]
            break
        took.append(time.monotonic() - began)
    return _with_room(script, statistics.median(took), MOMENT)


def _with_room(script: Script, took: float, moment: float) -> float:
    return min(ROOM * took + moment, float(script.seconds))


def _of_blocks(
    sandbox: Sandbox, script: Script, blocks: Sequence[pd.DataFrame], each: float
) -> list[Mapping[str, Figures] | None]:
    """The results of each block; one begins when its time has come, whatever the one before did."""
    found: list[Ran] = []
    slot = each * (1 + AFTER) + MOMENT
    began = time.monotonic()
    for number, frame in enumerate(blocks, start=1):
        found.append(script.run(sandbox, frame, each))
        time.sleep(max(0.0, began + number * slot - time.monotonic()))
    return [_read(one) for one in found]


def _read(ran: Ran) -> Mapping[str, Figures] | None:
    try:
        return None if ran.result is None else read_results(ran.result, 0)
    except DiskretError:
        return None


def _arrow(frame: pd.DataFrame) -> bytes:
    """Records as they go into the sandbox for Python, without an index."""
    table = _table(frame)
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _csv(frame: pd.DataFrame) -> bytes:
    """Records as they go into the sandbox for R."""
    sink = io.BytesIO()
    csv.write_csv(_table(frame), sink)
    return sink.getvalue()


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _frame(figures: Figures, shown: Figures) -> pd.DataFrame:
    """What a person is asked to let go: figures that the version has too."""
    import pandas as pd

    names = [name for name in figures.value if name in shown.value]
    columns = {"value": [figures.value[name] for name in names]}
    if figures.error:
        columns["error"] = [figures.error.get(name, math.nan) for name in names]
    index = pd.Index([", ".join(name) for name in names], name="figure")
    return pd.DataFrame(columns, index=index)
