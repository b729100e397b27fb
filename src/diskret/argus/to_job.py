"""A job of τ-ARGUS as a job file of this package, with comments where each line is from."""

# pyarrow has no type information for its classes.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from diskret.argus.batch import read_batch
from diskret.argus.commands import Batch, Suppress
from diskret.argus.data import Made, Opened
from diskret.argus.files import check_outputs
from diskret.argus.job_rules import JobRules, job_rules
from diskret.argus.plan import planned
from diskret.argus.protection import HIDES, singletons, tables_of
from diskret.argus.text import Folders, Place, encoding_of, said_at, text_of
from diskret.argus.trees import Axis
from diskret.errors import DiskretError, JobError
from diskret.hierarchy import Hierarchy
from diskret.io import Column, read_fixed
from diskret.jobs.text_files import TextFile, write_files
from diskret.jobs.toml_text import CONFIDENTIAL, key, plain, stem, toml
from diskret.jobs.values import FLAT
from diskret.protect.linked import linked

_CHANGES = {"RND": "controlled", "CTA": "adjustment"}


def to_job(
    path: str | PathLike[str],
    job: str | PathLike[str],
    *,
    data: str | PathLike[str] | None = None,
    contributor: bool | None = None,
) -> tuple[Path, ...]:
    r"""Write a batch file of τ-ARGUS as a job file for ``diskret protect``, with comments.

    The job releases the same pattern as [`run`][diskret.argus.run]. Files that it can read as they
    are, it names where they are; of others (records without a header, trees by digits, cells
    set by hand) copies are written beside it. All are written, or none.

    Parameters
    ----------
    path
        The batch file (``.arb``).
    job
        The job file to write (``.toml``). The other files have its name as their beginning.
    data, contributor
        As of [`run`][diskret.argus.run].

    Returns
    -------
    tuple of Path
        What was written: the job first. All of it is for the office only.

    Raises
    ------
    JobError
        The batch file cannot be used as it is, or says what a job file cannot say: file, line and
        command are named.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, section 5.7.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import diskret as dk
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, text in {
    ...     "firms.asc": "N 90\nN 10\nS 70\nS 60\nS 50\n",
    ...     "firms.rda": "Region 1 1\n<RECODEABLE>\nTurnover 3 2\n<NUMERIC>\n",
    ...     "job.arb": "<OPENMICRODATA> firms.asc\n<OPENMETADATA> firms.rda\n"
    ...                '<SPECIFYTABLE> "Region"|"Turnover"\n<SAFETYRULE> P(10,1)\n'
    ...                "<READMICRODATA>\n<SUPPRESS> OPT(1,1)\n",
    ... }.items():
    ...     _ = (folder / name).write_text(text, encoding="utf-8", newline="\n")
    >>> [path.name for path in dk.argus.to_job(folder / "job.arb", folder / "job.toml")]
    ['job.toml']
    >>> "p_percent = { p = 10 }" in (folder / "job.toml").read_text(encoding="utf-8")
    True
    """
    source, target = Path(path), Path(job)
    if target.suffix.lower() != ".toml":
        raise JobError(f"{target.name}: the name of a job file ends in .toml")
    batch = read_batch(source)
    folders = Folders.of(source, data)
    read = [part for part in batch.parts if part.data]
    if len(read) > 1:
        raise JobError(
            f"{read[1].data[0].file.place}: other data after <CLEAR> are another job; write a "
            "batch file for each"
        )
    part, files = planned(read[0], folders)
    made = tables_of(part, files)
    written = _Writer(part, files, made, target, source, contributor, text_of(source).split("\n"))
    outputs = written.outputs()
    for output in outputs:
        if not output.path.parent.is_dir():
            raise JobError(f"{target}: there is no folder {str(target.parent)!r} to write to")
    check_outputs(outputs, folders)
    write_files(outputs)
    return tuple(output.path for output in outputs)


@dataclass
class _Writer:
    """What is written so far."""

    part: Batch
    files: Sequence[Opened]
    made: Sequence[Made]
    target: Path
    source: Path
    contributor: bool | None
    said: Sequence[str]
    beside: dict[str, str] = field(default_factory=dict[str, str])
    trees: list[tuple[str, Axis]] = field(default_factory=list[tuple[str, Axis]])

    def outputs(self) -> list[TextFile]:
        """The job, and the files beside it."""
        steps = self.steps()
        tables = [
            line
            for number, step in enumerate(steps, start=1)
            if step is not None
            for line in self.table(number, step)
        ]
        lines = [*self.head(steps), *self.records(), *self.hierarchies()]
        lines += [*self.attacker(steps), *tables, *self.output()]
        beside = [
            TextFile(self.target.with_name(name), text, True) for name, text in self.beside.items()
        ]
        return [TextFile(self.target, "\n".join(lines) + "\n", True), *beside]

    # ── how tables are protected ────────────────────────────────────────────────────

    def steps(self) -> list[Suppress | None]:
        """The command that protects each table; None: no command does."""
        found: list[Suppress | None] = [None] * len(self.made)
        for step in self.part.suppress:
            self.check_step(step)
            for at in range(len(found)):
                if step.protects(at + 1):
                    if found[at] is not None:
                        raise JobError(
                            f"{step.place}: table {at + 1} is protected in another way above, and "
                            "a job protects a table in one way; leave one of them out"
                        )
                    found[at] = step
        at = [i for i, step in enumerate(found) if step is not None]
        if not at:
            raise JobError(
                f"{self.source.name}: protects no table, so there is nothing for a job to do; add "
                "<SUPPRESS>"
            )
        hidden = [i for i in at if (step := found[i]) is not None and step.method in HIDES]
        groups = linked([self.made[i].table for i in hidden])
        pairs = [(hidden[group[0]], hidden[i]) for group in groups for i in group[1:]]
        for i, k in pairs:
            if found[i] is not found[k]:
                place = getattr(found[k], "place", "")
                raise JobError(
                    f"{place}: tables {i + 1} and {k + 1} are made of the same records, and a job "
                    "protects such tables together; use MOD(0,...) for all of them"
                )
        return found

    def check_step(self, step: Suppress) -> None:
        """Refuse what a job protects in another way."""
        if step.method == "CKM":
            raise JobError(
                f"{step.place}: the cell key method is asked for in another way in a job; write "
                'method = "cell_key" in [tables.noise], as diskret cellkey and the guide say'
            )

    def attacker(self, steps: Sequence[Suppress | None]) -> list[str]:
        """Against whom; the same for all tables of a job."""
        whom: dict[bool, Suppress] = {}
        for step in self.part.suppress:
            if step.method in HIDES:
                of = [m for m, s in zip(self.made, steps, strict=True) if s is step]
                asked = singletons(step, of) if self.contributor is None else self.contributor
                whom.setdefault(asked, step)
        if len(whom) > 1:
            raise JobError(
                f"{whom[False].place}: looks at no singletons and another table does; a job has "
                "one attacker, so say it with --contributor or --outsider"
            )
        if not whom:
            return []
        against = next(iter(whom))
        why = "contributors know their own share" if against else "an outsider, as τ-ARGUS audits"
        return ["[attacker]", f"contributor = {toml(against)}   # {why}", ""]

    # ── sections ────────────────────────────────────────────────────────────────────

    def head(self, steps: Sequence[Suppress | None]) -> list[str]:
        lines = [
            f"# What {self.source.name} asks of τ-ARGUS, as a job for: diskret protect "
            f"{self.target.name}",
            CONFIDENTIAL,
        ]
        alone = [str(i) for i, step in enumerate(steps, start=1) if step is None]
        if alone:
            lines.append(f"# Not protected by it, and so not in the job: table {', '.join(alone)}.")
        if self.part.writes:
            lines.append("# These files are τ-ARGUS's own; the job writes public/ and internal/:")
        lines += [self.quoted(write.place) for write in self.part.writes]
        return [*lines, ""]

    def quoted(self, place: Place) -> str:
        """A line of the batch file as a comment."""
        return f"# line {place.line}: {plain(self.said[place.line - 1])}"

    def records(self) -> list[str]:
        """Where the records are, and how they are read."""
        file = self.files[0]
        if file.text.kind == "cells":
            return []
        lines = [self.quoted(file.text.file.place), "[records]"]
        columns = [
            Column(v.name, v.start or 1, v.width or 1)
            for v in file.metadata.variables
            if v.name in file.frame.column_names
        ]
        if not file.metadata.separator:
            columns.sort(key=lambda column: file.frame.column_names.index(column.name))
            encoding = encoding_of(file.path.read_bytes())
            if read_fixed(file.path, columns, encoding).arrow == file.frame:
                lines += [
                    f"path = {toml(self.path_of(file.path))}",
                    'format = "fixed"',
                    f"encoding = {toml(encoding)}",
                    "columns = [",
                    *(
                        f"    {toml({'name': c.name, 'start': c.start, 'width': c.width})},"
                        for c in columns
                    ),
                    "]",
                    "",
                ]
                return lines
        name = self.copy("records", file.frame)
        return [
            *lines,
            f"path = {toml(name)}   # a copy with a header and decimal points",
            "",
        ]

    def hierarchies(self) -> list[str]:
        """The trees, where they are or as copies."""
        lines: list[str] = []
        for name, axis in self.trees:
            variable = axis.variable
            original = self.original(axis)
            asked: dict[str, Any] = {}
            if original is not None:
                path, encoding = original
                asked = {"file": self.path_of(path), "total": variable.total}
                asked |= {"lead": variable.lead, "encoding": encoding}
            else:
                parent = axis.tree.parent.tolist()
                above = ["" if p < 0 else axis.tree.codes[p] for p in parent]
                columns = {"code": [*axis.tree.codes], "parent": above}
                if axis.tree.labels:
                    columns["label"] = [axis.tree.labels.get(code, "") for code in axis.tree.codes]
                asked = {"file": self.copy(name, pa.table(columns))}
            lines.append(f"{key(name)} = {toml(asked)}")
        return ["[hierarchies]", *lines, ""] if lines else []

    def original(self, axis: Axis) -> tuple[Path, str] | None:
        """The file of a tree with its encoding, if it says the same as it is."""
        variable = axis.variable
        if not variable.tree or axis.tree.labels:
            return None
        path = self.files[0].folders.find(variable.tree, variable.place)
        encoding = encoding_of(path.read_bytes())
        try:
            same = Hierarchy.read(path, variable.total, variable.lead, encoding) == axis.tree
        except DiskretError:
            same = False
        return (path, encoding) if same and path.suffix.lower() == ".hrc" else None

    def output(self) -> list[str]:
        return ["[output]", f"folder = {toml(self.target.stem + '_out')}", 'formats = ["csv"]']

    # ── tables ──────────────────────────────────────────────────────────────────────

    def table(self, number: int, step: Suppress) -> list[str]:
        """One of [[tables]]."""
        one = self.made[number - 1]
        with said_at(one.text.place):
            of_cells = self.of(one).text.kind == "cells"
            rules = job_rules(number, one, of_cells, step.method in HIDES, self.copy)
        lines = [
            self.quoted(one.text.place),
            "[[tables]]",
            f"name = {toml(f'table_{number}')}",
            f"by = {toml({axis.variable.name: self.tree_of(axis) for axis in one.axes})}",
        ]
        groups = {axis.variable.name: _groups(axis) for axis in one.axes if axis.moved}
        own = self.of_cells(number, one, rules) if of_cells else self.of_records(one)
        lines += [f"{name} = {toml(value)}" for name, value in own.items()]
        if groups:
            self.check_groups(one)
            lines.append(f"recode = {toml(groups)}")
        if rules.shadow:
            lines.append(f"shadow = {toml(rules.shadow)}")
        if step.method in HIDES:
            lines.append(f"method = {toml(HIDES[step.method])}   {self.quoted(step.place)}")
            if isinstance(one.cost, str) and not rules.priced:
                lines.append(f"cost = {toml(one.cost)}")
            if step.method == "OPT" and step.options and step.options[0] > 0:
                lines.append(f"time_limit = {toml(60 * step.options[0])}")
        judged = [rule.place for rule in one.text.rules.rules]
        lines += ["", *map(self.quoted, judged[:1]), "[tables.rules]"]
        for name, all_of_it in rules.by_name.items():
            shown = all_of_it[0] if len(all_of_it) == 1 else all_of_it
            lines.append(f"{name} = {toml(shown)}")
        if step.method not in HIDES:
            lines += ["", self.quoted(step.place), "[tables.noise]", *self.noise(step)]
        return [*lines, ""]

    def of(self, one: Made) -> Opened:
        """The data that a table is made of."""
        return next(file for file in self.files if one.text in file.text.tables)

    def tree_of(self, axis: Axis) -> Any:
        """How a table names the tree of a variable."""
        name, tree = axis.variable.name, axis.tree
        if int(tree.level.max()) <= 1 and (not tree.labels or axis.moved):
            return {"flat": True, "total": tree.total}
        for known, other in self.trees:
            if other.tree == tree and other.variable.name == name:
                return known
        taken = {known.casefold() for known, _ in self.trees} | {FLAT}
        own, often = name, 2
        while own.casefold() in taken:
            own, often = f"{name}_{often}", often + 1
        self.trees.append((own, axis))
        return own

    def check_groups(self, one: Made) -> None:
        """Trees are not made coarser by a job."""
        axes = {axis.variable.name.casefold(): axis.variable for axis in one.axes}
        for recode in self.part.recodes:
            if recode.table != one.text.number:
                continue
            variable = axes[recode.variable.casefold()]
            if variable.tree or variable.levels:
                raise JobError(
                    f"{recode.place}: a job does not make a tree coarser; give a shorter tree, and "
                    "records whose codes are in it"
                )

    def of_records(self, one: Made) -> dict[str, Any]:
        """What a table sums, and who stands behind it."""
        file = self.of(one)
        own: dict[str, Any] = {}
        if not one.text.frequency:
            variable = file.metadata.named(one.text.response, one.text.place)
            own |= {"value": variable.name}
            if variable.decimals:
                own["decimals"] = variable.decimals
        rules = one.text.rules.rules
        wanted = {
            "holding": any(rule.holdings for rule in rules),
            "weight": one.table.weight is not None,
            "request": any(rule.kind == "REQ" for rule in rules),
        }
        for role in (role for role, is_wanted in wanted.items() if is_wanted):
            (variable,) = file.metadata.of_role(role)
            own[role] = variable.name
            if role == "request":
                own[role] = {variable.name: list(variable.requests or ("1",))}
            elif role == "weight" and variable.decimals:
                own["weight_decimals"] = variable.decimals
        return own

    def of_cells(self, number: int, one: Made, rules: JobRules) -> dict[str, Any]:
        """The file of cells of a table, with a header."""
        file = self.of(one)
        metadata, text = file.metadata, one.text
        response = "" if text.frequency else metadata.named(text.response, text.place).name
        count = [v.name for v in metadata.of_role("frequency")]
        if response in count:
            response = ""
        largest = (
            [v.name for v in metadata.of_role("largest")] if response and rules.of_sums else []
        )
        names = [axis.variable.name for axis in one.axes]
        names += [name for name in (response, *count[:1], *largest) if name]
        names += [rules.shadow] if rules.shadow else []
        cells: dict[str, Any] = {
            "file": self.copy(f"cells_{number}", file.frame.select(list(dict.fromkeys(names))))
        }
        cells |= {"count": count[0]} if count else {}
        cells |= {"largest": largest} if largest else {}
        if file.text.additivity == 1:
            cells["additivity"] = "totals"
        if one.table.rounding > 1:
            raise JobError(
                f"{text.place}: totals that do not add up (<READTABLE> 2) are for the batch file; "
                "correct them, or let them be computed (<READTABLE> 1)"
            )
        own: dict[str, Any] = {"cells": cells}
        if response:
            own["value"] = response
            if decimals := metadata.named(response, text.place).decimals:
                own["decimals"] = decimals
            own["round_values"] = True
        return own

    def noise(self, step: Suppress) -> list[str]:
        """How values are changed."""
        lines = [f"method = {toml(_CHANGES[step.method])}"]
        if step.method == "RND":
            base, steps, minutes = (*step.options, *(0, 0, 0)[len(step.options) :])[:3]
            lines.append(f"base = {toml(base)}")
            lines += [f"steps = {toml(int(steps))}"] if steps else []
            lines += [f"time_limit = {toml(60 * minutes)}"] if minutes else []
        return lines

    # ── files ───────────────────────────────────────────────────────────────────────

    def copy(self, name: str, frame: pa.Table) -> str:
        """The name of a file beside the job that holds a frame."""
        file = f"{self.target.stem}_{stem(name)}.csv"
        often = 2
        while file.casefold() in {known.casefold() for known in self.beside}:
            file, often = f"{self.target.stem}_{stem(name)}_{often}.csv", often + 1
        buffer = io.BytesIO()
        arrow_csv.write_csv(frame, buffer)
        self.beside[file] = buffer.getvalue().decode()
        return file

    def path_of(self, path: Path) -> str:
        """A path seen from the folder of the job."""
        try:
            seen = os.path.relpath(path.resolve(), self.target.resolve().parent)
        except ValueError:  # another drive
            return path.resolve().as_posix()
        return Path(seen).as_posix()


def _groups(axis: Axis) -> dict[str, list[str]]:
    """New code → the codes it combines."""
    groups: dict[str, list[str]] = {}
    for fine, coarse in axis.moved.items():
        groups.setdefault(coarse, []).append(fine)
    return {new: codes for new, codes in groups.items() if codes != [new]}
