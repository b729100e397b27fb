"""Carry out a job of τ-ARGUS: everything is read and checked first, and written last, at once."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret import __version__
from diskret.argus.batch import Batch, DataText, Suppress, read_batch
from diskret.argus.data import Made, Opened, made, opened
from diskret.argus.metadata import read_metadata
from diskret.argus.outputs import Done, Output, check_write, outputs_of
from diskret.argus.rules import OnRecords
from diskret.argus.text import Folders, Place, said_at
from diskret.attack import Attacker
from diskret.errors import InputError, JobError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.adjust import adjust
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.protect.round_table import round_table
from diskret.protect.suppress import suppress
from diskret.protect.write import write as write_release
from diskret.rules import Rule, Sensitivity
from diskret.rules.sensitivity import parts
from diskret.tables import Table

#: The methods of τ-ARGUS that hide cells, and ours for each.
_HIDES = {"MOD": "modular", "OPT": "optimal", "GH": "hypercube", "NET": "network"}


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
        return int(self.sensitivity.unsafe.sum())

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
    folders = Folders(job.resolve().parent, None if data is None else Path(data).resolve())
    folders.used.add(job.resolve())
    plans = [_planned(part, folders) for part in batch.parts if part.data]
    log = _side_files(batch, folders, logbook)
    for part, _ in plans:
        if part.interactive is not None and part.writes:
            _check_protected(part)
    tables: list[ArgusTable] = []
    outputs: list[Output] = []
    notes: list[str] = []
    results: list[Any] = []
    for part, read in plans:
        done, own = _carried_out(part, read, contributor, len(tables), progress)
        notes += _notes(part, done)
        results += [one for one in own if one is not None]
        for number, one in enumerate(done, start=1):
            found = ArgusTable(number, one.made.table, one.sensitivity, one.status, own[number - 1])
            tables.append(found)
            notes += _said(one, number)
        for write in part.writes:
            target = folders.target(write.file, write.place)
            outputs += outputs_of(write, target, done[write.table - 1])
    outputs += [_log_text(log, job, tables, outputs, notes)] if log else []
    if batch.version is not None:
        target = folders.target(batch.version.name, batch.version.place)
        outputs.append(Output(target, f"diskret {__version__}\n", False))
    _check_outputs(outputs, folders)
    written = None
    if folder is not None:
        if not results:
            raise JobError(f"{job.name}: protects no table, so there is no release to write")
        _write_files([], check=outputs)
        written = write_release(results, folder, ("csv",), keys=keys, progress=progress)
    _write_files(outputs)
    return ArgusRun(
        tuple(tables),
        {output.path: output.internal for output in outputs},
        tuple(notes),
        batch.interactive is not None,
        written,
    )


# ── before anything is computed ─────────────────────────────────────────────────────


def _planned(part: Batch, folders: Folders) -> tuple[Batch, list[Opened]]:
    """Read all files, and refuse what cannot be carried out."""
    for step in part.suppress:
        if step.method == "CKM":
            raise JobError(
                f"{step.place}: the cell key method is not run from τ-ARGUS jobs yet; use "
                'diskret.perturb, or method = "cell_key" in a job file of diskret'
            )
        if step.method == "GH" and step.table == 0 and len(part.tables) > 1:
            raise JobError(
                f"{step.place}: the hypercube protects one table alone here; use MOD(0,...) for "
                "linked tables"
            )
    changed = {step.table for step in part.suppress if step.method in ("RND", "CTA")}
    for write in part.writes:
        check_write(write, folders, write.table in changed)
    _check_protected(part)
    metadata = [
        read_metadata(folders.find(data.metadata.name, data.metadata.place), data.kind)
        for data in part.data
    ]
    for steps in (part.recodes, part.apriori):
        for step in steps:
            folders.find(step.file, step.place) if step.file else None
    for recode in part.recodes:
        of = [d for d, _ in zip(part.data, metadata, strict=True) if _has(d, recode.table)][0]
        variables = metadata[part.data.index(of)]
        name = variables.named(recode.variable, recode.place).name
        table = part.tables[recode.table - 1]
        if name not in [variables.named(one, table.place).name for one in table.by]:
            raise JobError(f"{recode.place}: table {recode.table} has no variable {name!r}")
    return part, [opened(d, folders, m) for d, m in zip(part.data, metadata, strict=True)]


def _has(data: DataText, number: int) -> bool:
    return any(table.number == number for table in data.tables)


def _check_protected(part: Batch) -> None:
    """Nothing that looks public is written of a table that is not protected."""
    protected = {step.table for step in part.suppress}
    for write in part.writes:
        internal = write.kind in (4, 5) or write.options.get("AS") or write.options.get("SO")
        if not internal and not protected & {0, write.table}:
            raise JobError(
                f"{write.place}: table {write.table} is not protected; put <SUPPRESS> above it, or "
                "ask for the status (AS+), which makes the file internal"
            )


def _side_files(batch: Batch, folders: Folders, logbook: str | PathLike[str] | None) -> Path | None:
    """Where the log is written, if anywhere."""
    if batch.version is not None:
        folders.target(batch.version.name, batch.version.place)
    if logbook is not None:
        return folders.target(str(Path(logbook).resolve()), Place(batch.path, 1))
    if batch.logbook is None:
        return None
    return folders.target(batch.logbook.name, batch.logbook.place)


# ── tables and their protection ─────────────────────────────────────────────────────


def _carried_out(
    part: Batch, read: Sequence[Opened], contributor: bool | None, before: int, progress: Progress
) -> tuple[list[Done], list[Result | PerturbedResult | None]]:
    """Make all tables of a part, and protect those that are to be protected."""
    tables = [
        made(data, text, _of(part.recodes, text.number), _of(part.apriori, text.number))
        for data in read
        for text in data.text.tables
    ]
    done = [_judged(one) for one in tables]
    results: list[Result | PerturbedResult | None] = [None] * len(tables)
    for step in part.suppress:
        wanted = range(len(tables)) if step.table == 0 else [step.table - 1]
        found = _protected(
            step,
            [tables[i] for i in wanted],
            [f"table_{before + i + 1}" for i in wanted],
            contributor,
            progress,
        )
        for i, result in zip(wanted, found, strict=True):
            results[i], done[i] = result, _shown(tables[i], result, done[i].sensitivity)
    return done, results


def _of(steps: Sequence[Any], number: int) -> list[Any]:
    return [step for step in steps if step.table == number]


def _judged(one: Made) -> Done:
    """A table before it is protected."""
    with said_at(one.text.place):
        says = one.rule(one.table)
    measure = one.table.measure
    return Done(one, says, measure.sum, says.unsafe, measure.decimals)


def _shown(one: Made, result: Result | PerturbedResult, says: Sensitivity) -> Done:
    """A table as it is protected."""
    if isinstance(result, Result):
        measure, hidden = one.table.measure, result.published.suppressed
        return Done(one, result.sensitivity, measure.sum, hidden, measure.decimals)
    shown = result.published
    nothing = np.zeros(one.table.shape, dtype=bool)
    return Done(one, says, shown.value, nothing, shown.decimals, changed=True)


def _protected(
    step: Suppress,
    tables: Sequence[Made],
    names: Sequence[str],
    contributor: bool | None,
    progress: Progress,
) -> Sequence[Result | PerturbedResult]:
    with said_at(step.place):
        if step.method == "RND":
            base, steps, minutes = (*step.options, *(0, 0, 0)[len(step.options) :])[:3]
            return [
                round_table(
                    tables[0].table,
                    base,
                    "controlled",
                    rule=tables[0].rule,
                    steps=int(steps) or None,
                    time_limit=60 * minutes or None,
                    name=names[0],
                    progress=progress,
                )
            ]
        if step.method == "CTA":
            return [adjust(tables[0].table, tables[0].rule, name=names[0])]
        minutes = step.options[0] if step.method == "OPT" and step.options else 0
        whom = _singletons(step, tables) if contributor is None else contributor
        return suppress(
            [one.table for one in tables],
            [_as_given(one.rule, whom) for one in tables],
            cost=[_cost(one) for one in tables],
            method=_HIDES[step.method],
            attacker=Attacker(contributor=whom),
            time_limit=60 * minutes or None,
            name=list(names),
            progress=progress,
        )


def _singletons(step: Suppress, tables: Sequence[Made]) -> bool:
    """Whether single contributors are to be looked at, and can be."""
    asked = step.options[2:3] if step.method == "GH" else step.options[1:4]
    told = all(
        not one.table.frequency
        and one.table.weight is None
        and one.table.recorded
        and not any(isinstance(part, OnRecords) for part in parts(one.rule))
        for one in tables
    )
    return step.method in ("GH", "MOD") and any(asked) and told


def _as_given(rule: Rule, contributor: bool) -> Rule:
    """Refuse what sums that contributors know cannot be judged by."""
    if contributor and any(isinstance(part, OnRecords) for part in parts(rule)):
        raise InputError(
            "rules of holdings and of records together cannot be judged for contributors; leave "
            "one of them out, or protect against an outsider"
        )
    return rule


def _cost(one: Made) -> Any:
    price = one.cost
    return price if isinstance(price, str) else lambda table: price


# ── what is said of it, and files ───────────────────────────────────────────────────


def _notes(part: Batch, done: Sequence[Done]) -> list[str]:
    """What a reader should know of tables that are protected one by one."""
    alone = [step.table for step in part.suppress if step.table]
    if len(alone) < 2 or any(data.kind == "cells" for data in part.data):
        return []
    return [
        f"tables {', '.join(map(str, alone))} are made of the same records and protected one by "
        "one, so together they may tell more than each of them; MOD(0,...) protects them together"
    ]


def _said(done: Done, number: int) -> list[str]:
    """What became of totals that were computed."""
    return [
        f"table {number}: {recomputed}"
        for recomputed in done.made.table.recomputed
        if recomputed.changed
    ]


def _log_text(
    path: Path,
    job: Path,
    tables: Sequence[ArgusTable],
    outputs: Sequence[Output],
    notes: Sequence[str],
) -> Output:
    lines = [f"diskret {__version__}: {job.name}"]
    for one in tables:
        size, hidden = one.status.size, one.secondary
        lines.append(
            f"table {one.number}: {one.name}: {size} cells, {one.unsafe} unsafe, {hidden} secondary"
        )
    lines += notes
    lines += [f"written: {output.path.name}" for output in outputs]
    return Output(path, "\n".join([*lines, "end of the job", ""]), True)


def _check_outputs(outputs: Sequence[Output], folders: Folders) -> None:
    """No file is written twice, and none over what the job was made of."""
    seen: set[Path] = set()
    for output in outputs:
        path = output.path.resolve()
        if path in folders.used:
            raise JobError(f"{path.name} is read by the job and cannot be written; rename one")
        if path in seen:
            raise JobError(f"{path.name} would be written twice by the job; rename one")
        seen.add(path)


def _write_files(outputs: Sequence[Output], check: Sequence[Output] = ()) -> None:
    """Write files beside their targets, and move them into place when all are there.

    check: files for which it is only tried whether their folders take any.
    """
    moves: list[tuple[Path, Path]] = []
    try:
        for output in (*outputs, *check):
            room = output.path.with_name(f".{output.path.name[:40]}.{secrets.token_hex(8)}.stage")
            moves.append((room, output.path))
            mode = 0o600 if output.internal else 0o666
            handle = os.open(room, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(output.text if output in outputs else "")
        for room, target in moves[: len(outputs)]:
            os.replace(room, target)
    except OSError as error:
        raise JobError(
            f"{error.filename or 'a file'}: cannot be written ({error.strerror}); nothing was"
        ) from error
    finally:
        for room, _ in moves:
            room.unlink(missing_ok=True)
