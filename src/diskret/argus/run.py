"""Carry out a job of τ-ARGUS: everything is read and checked first, and written last, at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret import __version__
from diskret.argus.batch import read_batch
from diskret.argus.commands import Batch
from diskret.argus.done import Done
from diskret.argus.files import check_outputs
from diskret.argus.outputs import outputs_of
from diskret.argus.plan import check_protected, notes_of, planned
from diskret.argus.protection import carried_out
from diskret.argus.text import Folders, Place
from diskret.errors import JobError
from diskret.jobs.text_files import TextFile, write_files
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.protect.write import write as write_release
from diskret.rules import Sensitivity
from diskret.tables import Table


@dataclass(frozen=True, eq=False)
class ArgusTable:
    """A table of a job. Confidential.

    Parameters
    ----------
    number
        Its number in the job.
    table
        The table with the measure to protect.
    sensitivity
        What the rules of the job say of it.
    status
        The status of every cell by its number in τ-ARGUS (1 safe, 3 unsafe, 5 few, 11 secondary,
        14 empty, …), shape of the table.
    result
        What protects it; None if the job does not ask for it.
    """

    number: int
    table: Table
    sensitivity: Sensitivity
    status: NDArray[np.int64]
    result: Result | PerturbedResult | None = None

    @property
    def unsafe(self) -> int:
        """How many cells the rules find unsafe."""
        return int((self.sensitivity.unsafe & (self.status != 11)).sum())

    @property
    def secondary(self) -> int:
        """How many cells are hidden to protect others."""
        return int(((self.status == 11) | (self.status == 12)).sum())

    @property
    def name(self) -> str:
        """The variables and what is summed."""
        by = " × ".join(dimension.name for dimension in self.table.dimensions)
        return f"{by} | {self.table.measure.name}"


@dataclass(frozen=True, eq=False)
class ArgusRun:
    """What a job gave.

    Parameters
    ----------
    tables
        The tables in the order of the job.
    written
        The files, and whether each is internal: it shows what must not leave the office.
    notes
        What the reader of the outcome should know.
    interactive
        Whether the job would go on by hand.
    folder
        The folder of the release, if one was asked for.
    """

    tables: tuple[ArgusTable, ...]
    written: Mapping[Path, bool]
    notes: tuple[str, ...] = ()
    interactive: bool = False
    folder: Path | None = None


def run(
    path: str | PathLike[str],
    *,
    data: str | PathLike[str] | None = None,
    logbook: str | PathLike[str] | None = None,
    folder: str | PathLike[str] | None = None,
    contributor: bool | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> ArgusRun:
    """Carry out a batch file of τ-ARGUS with the methods of this package, and prove the outcome.

    Everything is read and checked before anything is computed, and all files are written at the
    end, or none.

    Parameters
    ----------
    path
        The batch file (``.arb``).
    data
        Where files are looked for that do not lie beside the job, and where files are written.
    logbook
        Where to write the log, instead of where the job says.
    folder
        Also write a release of this package, ``public/`` and ``internal/``, there.
    contributor
        Whether to protect against contributors who know their own share, too. None: where the
        job asks for singletons to be looked at (the last number of GH, the third to fifth of MOD)
        and records without weights say who contributes; else against an outsider, as τ-ARGUS
        audits.
    keys
        The office's secret keys for a release; see `SecretKeys`.
    progress
        As of `suppress`.

    Returns
    -------
    ArgusRun
        The tables, what protects them, and what was written.

    Raises
    ------
    InputError
        The job, or a file it names, cannot be used as it is: file, line and command are named.
    ProtectionError
        A table cannot be protected.
    ProofError
        The protection could not be proven.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, section 5.7.
    """
    job = Path(path)
    batch = read_batch(job)
    folders = Folders.of(job, data)
    plans = [planned(part, folders) for part in batch.parts if part.data]
    log = _side_files(batch, folders, logbook)
    for part, _ in plans:
        if part.interactive is not None and part.writes:
            check_protected(part)
    tables: list[ArgusTable] = []
    outputs: list[TextFile] = []
    notes: list[str] = []
    results: list[Any] = []
    for part, read in plans:
        course = carried_out(part, read, contributor, len(tables), progress)
        done = course.last
        notes += [*notes_of(part), *_notes(part)]
        results += [one.result for one in done if one.result is not None]
        for number, one in enumerate(done, start=1):
            tables.append(
                ArgusTable(number, one.made.table, one.sensitivity, one.status, one.result)
            )
            notes += _said(one, number)
        for write in part.writes:
            target = folders.target(write.file, write.place)
            outputs += outputs_of(write, target, course.at(write), course.outdated(write))
    outputs += [_log_text(log, job, tables, outputs, notes)] if log else []
    if batch.version is not None:
        target = folders.target(batch.version.name, batch.version.place)
        outputs.append(TextFile(target, f"diskret {__version__}\n", False))
    check_outputs(outputs, folders)
    written = None
    if folder is not None:
        if not results:
            raise JobError(f"{job.name}: protects no table, so there is no release to write")
        write_files([], check=outputs)
        written = write_release(results, folder, ("csv",), keys=keys, progress=progress)
    write_files(outputs)
    return ArgusRun(
        tuple(tables),
        {output.path: output.internal for output in outputs},
        tuple(notes),
        batch.interactive is not None,
        written,
    )


# ── what is said of it, and files ───────────────────────────────────────────────────


def _side_files(batch: Batch, folders: Folders, logbook: str | PathLike[str] | None) -> Path | None:
    """Where the log is written, if anywhere."""
    if batch.version is not None:
        folders.target(batch.version.name, batch.version.place)
    if logbook is not None:
        return folders.target(str(Path(logbook).resolve()), Place(batch.path, 1))
    if batch.logbook is None:
        return None
    return folders.target(batch.logbook.name, batch.logbook.place)


def _notes(part: Batch) -> list[str]:
    """What a reader should know of tables that are protected one by one."""
    last = {table.number: part.last_step(table.number) for table in part.tables}
    # the noise of the cell key method is the same in every table
    last = {number: step for number, step in last.items() if step and step.method != "CKM"}
    alone = [*last]
    if len({*last.values()}) < 2 or any(data.kind == "cells" for data in part.data):
        return []
    return [
        f"tables {', '.join(map(str, alone))} are made of the same records and protected one by "
        "one, so together they may tell more than each of them; MOD(0,...) protects them together"
    ]


def _said(done: Done, number: int) -> list[str]:
    """What became of totals that were computed, or that do not add up."""
    found = [
        f"table {number}: {recomputed}"
        for recomputed in done.made.table.recomputed
        if recomputed.changed
    ]
    if done.made.table.rounding > 1:
        found.append(
            f"table {number}: totals do not add up, so every value is taken as rounded to its last "
            "decimal, and protected as such"
        )
    return found


def _log_text(
    path: Path,
    job: Path,
    tables: Sequence[ArgusTable],
    outputs: Sequence[TextFile],
    notes: Sequence[str],
) -> TextFile:
    lines = [f"diskret {__version__}: {job.name}"]
    for one in tables:
        size, hidden = one.status.size, one.secondary
        lines.append(
            f"table {one.number}: {one.name}: {size} cells, {one.unsafe} unsafe, {hidden} secondary"
        )
    lines += notes
    lines += [f"written: {output.path.name}" for output in outputs]
    return TextFile(path, "\n".join([*lines, "end of the job", ""]), True)
