"""One workbench: the session, the tables in memory, and the command that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io import DataFile
from diskret.io.data_file import OPTIONS
from diskret.jobs.text_files import TextFile, write_files
from diskret.jobs.values import Job, TableJob
from diskret.ledger.ledger import Ledger
from diskret.texts import check_language
from diskret.workbench.attacks import attacked, attacker_of, closest_first
from diskret.workbench.cells import cell_told, states, table_told
from diskret.workbench.code_trees import flat_of, prefix_of, rows_of, written
from diskret.workbench.columns import columns_of
from diskret.workbench.command import Run
from diskret.workbench.draft import Draft, draft_text
from diskret.workbench.figures import figures_of, figures_of_records
from diskret.workbench.ledgers import ledger_told
from diskret.workbench.places import inside
from diskret.workbench.records import Risks, compared
from diskret.workbench.rehearsal import Rehearsal
from diskret.workbench.releases import Released, read_released
from diskret.workbench.said import heard
from diskret.workbench.session import Session
from diskret.workbench.tables import Judged, Tables
from diskret.workbench.trial import Trial, for_trial, frozen_too
from diskret.workbench.tries import Tries
from diskret.workbench.ways import Way, Ways, varied

#: The job of a run, as it was when the run began, and those of trials.
RUNNING = ".diskret-workbench.run.toml"
TRIAL = ".diskret-workbench.trial.toml"
WAY = ".diskret-workbench.way.toml"
REHEARSAL = ".diskret-workbench.rehearsal.toml"


class Bench:
    """What the routes of a workbench call.

    Parameters
    ----------
    folder
        All files lie below it.
    language
        ``"en"`` or ``"de"``.
    """

    def __init__(self, folder: Path, language: str = "en"):
        self.session = Session(folder)
        self.language = language
        self._tables = Tables()
        self._columns: tuple[DataFile, dict[str, Any]] | None = None
        self._run: Run | None = None
        self._ran: Job | None = None
        self._folder = self.session.folder
        self._risks = Risks()
        self._trial = Trial()
        self._ways = Ways()
        self._rehearsal = Rehearsal()
        self._checked: Run | None = None
        self._tries = Tries()
        self._released: dict[str, Released | None] = {}

    # ── what the page shows ─────────────────────────────────────────────────────────

    def state(self) -> dict[str, Any]:
        """The draft, and what can be done with it."""
        session = self.session
        return {
            "folder": str(session.folder),
            "language": self.language,
            "draft": session.draft,
            "can": session.can,
            "saved": session.saved,
            "recovered": session.recovered,
        }

    def speak(self, language: str) -> None:
        """Change the language."""
        check_language(language)
        self.language = language

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """Open a job file, or records for a new draft.

        options: how the file of records is to be read, as below ``[records]``.
        """
        if name.lower().endswith(".toml"):
            self.session.open(name)
            return
        path = inside(self.session.folder, name)
        known = {key: one for key, one in options.items() if key in OPTIONS and one}
        columns_of(DataFile(path, **known))  # whether it can be read is said before anything else
        draft = self.session.draft
        if draft.get("records", {}).get("path") != name:
            draft = {"records": {"path": name, **known}}
        draft["records"] = {"path": name, **known}
        self.session.put(draft)

    def columns(self) -> dict[str, Any]:
        """The columns of the records."""
        file = self._file()
        if self._columns is None or self._columns[0] != file:
            self._columns = file, columns_of(file)
        return self._columns[1]

    def table(self, index: int, released: bool) -> dict[str, Any]:
        """A table with all its cells."""
        judged = self._judged(index)
        found = self._result(judged) if released else None
        told = table_told(judged, self.language, found)
        ran = self._ran.tables if found is not None and self._ran is not None else ()
        frozen = [one.frozen for one in ran if one.name == judged.wanted.name]
        return {**told, "stale": any(one != judged.wanted.frozen for one in frozen)}

    def cell(self, index: int, at: int) -> dict[str, Any]:
        """One cell in full."""
        judged = self._judged(index)
        return cell_told(judged, at, self.language, self._result(judged))

    # ── rules and trees ─────────────────────────────────────────────────────────────

    def put_rules(self, index: int, rules: Mapping[str, Any]) -> None:
        """Change the rules of a table."""
        draft = self.session.draft
        tables = draft.get("tables", [])
        if not 0 <= index < len(tables):
            raise InputError(f"the job has {len(tables)} tables")
        tables[index]["rules"] = dict(rules)
        self.session.put(draft, step=f"rules {index}")

    def unsafe(self, index: int) -> dict[str, Any]:
        """How many cells the rules find unsafe, all together and each of them."""
        with heard(self.language) as said:
            judged = self._judged(index)
        letters = states(judged)
        return {
            "warnings": said,
            "cells": letters.size,
            "unsafe": judged.unsafe,
            "empty": int(judged.table.empty.sum()),
            "each": dict(judged.each),
        }

    def tree(self, column: str) -> list[dict[str, str]]:
        """The code tree of a column: that of the draft, or a flat one."""
        draft = self.session.draft
        named = draft.get("hierarchies", {}).get(column)
        if named is None:
            return rows_of(flat_of(self._file(), column))
        job = self.session.job()
        trees = [one.by[column] for one in job.tables if one.by.get(column) is not None]
        if not trees or trees[0] is None:
            raise InputError(f"no table of the job is broken down by {column!r}")
        return rows_of(trees[0].read(), self.language)

    def make_tree(self, column: str, asked: Mapping[str, Any]) -> None:
        """Give a column a flat tree, one of a file, one by prefixes, or one of edited rows."""
        draft = self.session.draft
        trees = draft.setdefault("hierarchies", {})
        taken = [str(one.get("file", "")) for name, one in trees.items() if name != column]
        match asked.get("kind"):
            case "flat":
                trees.pop(column, None)
            case "file":
                trees[column] = {"file": str(asked["file"])}
            case "prefix":
                tree = prefix_of(self._file(), column, [int(one) for one in asked["widths"]])
                trees[column] = written(self.session.folder, column, rows_of(tree), taken)
            case _:
                trees[column] = written(self.session.folder, column, asked["rows"], taken)
        if not trees:
            del draft["hierarchies"]
        for table in draft.get("tables", []):
            if column in table.get("by", {}):
                table["by"][column] = column if column in trees else "flat"
        self.session.put(draft)

    # ── runs ────────────────────────────────────────────────────────────────────────

    def protect(self) -> dict[str, Any]:
        """Begin to carry out the draft, as ``diskret protect`` does."""
        if self._run is not None and self._run.state == "running":
            raise InputError("a run has not ended yet; wait for it, or cancel it")
        if self.session.of_records:
            self._ran, self._folder = None, self.session.microdata_job().folder
        else:
            self._ran = self.session.job()
            self._folder = self._ran.output.folder
        path = self.session.folder / RUNNING
        self.session.write_copy(path)
        self._released.clear()
        verb = "anonymize" if self.session.of_records else "protect"
        self._run = self._started(verb, path)
        return self.told()

    def told(self) -> dict[str, Any]:
        """How far the run is; what it wrote when it is done."""
        if self._run is None:
            return {"state": "none", "tasks": [], "messages": []}
        told = self._run.told()
        if told["state"] != "running":
            (self.session.folder / RUNNING).unlink(missing_ok=True)
        if told["state"] == "done":
            folder = self._folder
            told["tries"] = self._tries.after(self._run, self._ran, folder)
            told["folder"] = str(folder)
            told["files"] = {
                part: sorted(one.name for one in (folder / part).glob("*"))
                for part in ("public", "internal")
            }
        return told

    def released_file(self, name: str) -> bytes:
        """A file of the last run that may leave the office."""
        done = self._run is not None and self._run.state == "done"
        place = self._folder / "public"
        if not done or name not in {one.name for one in place.iterdir()}:
            raise InputError(f"the last release has no public file {name!r}")
        return (place / name).read_bytes()

    def cancel(self) -> None:
        """Stop what runs."""
        for run in (self._run, self._checked, self._trial, self._ways, self._rehearsal):
            if run is not None:
                run.cancel()

    def what_if(self, index: int, at: int) -> dict[str, Any]:
        """Begin to find out what else is hidden if a cell is published."""
        codes = {one["name"]: one["code"] for one in self.cell(index, at)["codes"]}
        draft = for_trial(frozen_too(self.session.draft, index, codes))
        self._trial.begin(index, at, lambda room: self._aside(TRIAL, draft, room))
        return self.what_if_told(index)

    def what_if_told(self, index: int) -> dict[str, Any]:
        """How far that is; then the cells whose state would be another one."""
        judged = self._judged(index)
        told = self._trial.told(index, judged, self._result(judged))
        if told["state"] != "running":
            (self.session.folder / TRIAL).unlink(missing_ok=True)
        return told

    def try_ways(self, index: int, ways: Sequence[Way]) -> dict[str, Any]:
        """Begin to protect in several ways, one after the other, to compare risk and loss."""
        draft = for_trial(self.session.draft)
        self._ways.begin(ways, lambda way, room: self._aside(WAY, varied(draft, way), room))
        return self.ways_told(index)

    def ways_told(self, index: int) -> dict[str, Any]:
        """How far that is, and the figures of each way, by the rules of the draft."""
        if self.session.of_records:
            job = self.session.microdata_job()
            told = self._ways.told(lambda place: figures_of_records(job, place))
        else:
            told = self._ways.told(lambda place: figures_of(place, self._judged(index)))
        if told["state"] != "running":
            (self.session.folder / WAY).unlink(missing_ok=True)
        return told

    def take_way(self, way: Way) -> None:
        """Write a way into the draft."""
        self.session.put(varied(self.session.draft, way))

    def attack(self, index: int, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What can be told of each hidden cell, the closest first.

        asked: what the attacker knows, see `attacker_of`; ``hidden = "rules"``: of a table in which
        nothing but the unsafe cells are hidden. None: what everybody can tell of the last run.
        """
        judged = self._judged(index)
        found = self._result(judged)
        before = asked is not None and asked.get("hidden") == "rules"
        if found is None and not before:
            raise InputError("nothing has been protected yet, so there is nothing to attack")
        if found is not None and not asked:
            return {"cells": closest_first(judged.table, found.intervals, judged)}
        attacker = attacker_of(asked or {})
        return {"cells": attacked(judged, None if before else found, attacker)}

    # ── records that leave themselves ───────────────────────────────────────────────

    def risk(self, k: int) -> dict[str, Any]:
        """How easily the records are recognised by the keys of the draft."""
        return self._risks.told(self.session.microdata_job(), k)

    def compare(self) -> list[dict[str, Any]]:
        """The keys before and after the last run."""
        done = self._run is not None and self._run.state == "done"
        found = compared(self.session.microdata_job(), self._folder) if done else None
        if found is None:
            raise InputError("nothing has been protected yet, so there is nothing to compare")
        return found

    # ── the ledger ──────────────────────────────────────────────────────────────────

    def ledger(self) -> list[dict[str, Any]]:
        """What was published before, as the ledger of the draft says."""
        job = self.session.job()
        return ledger_told(self._ledger(), job.tables, job.sums, self.language)

    def create_ledger(self, name: str) -> None:
        """Make a new ledger in the folder, and name it in the draft."""
        if not name.endswith(".db") or Path(name).name != name or name.startswith("."):
            raise InputError(f"{name!r} is no name of a ledger, such as releases.db")
        Ledger.create(str(self.session.folder / name))
        draft = self.session.draft
        draft["output"] = {**draft.get("output", {}), "ledger": name}
        self.session.put(draft)

    def check_ledger(self) -> dict[str, Any]:
        """Begin to find out whether what was released last may stand beside all that is entered."""
        if self._ran is None or self._run is None or self._run.state != "done":
            raise InputError("nothing has been protected yet, so there is nothing to attack")
        place, folder = self._ledger(), self._ran.output.folder
        asked = ("ledger", "check", str(folder), "--ledger", str(place))
        arguments = (*asked, "--language", self.language)
        self._checked = Run(arguments, self.session.folder, answers=True)
        return self.ledger_checked()

    def rehearse(self) -> dict[str, Any]:
        """Begin to protect the draft beside a copy of its ledger, and enter nothing."""
        job = self.session.job()
        names = [one.name for one in job.tables]
        start = partial(self._aside, REHEARSAL)
        self._rehearsal.begin(self._ledger(), self.session.draft, names, start)
        return self.rehearsed()

    def rehearsed(self) -> dict[str, Any]:
        """How far that is, and what would be hidden."""
        told = self._rehearsal.told()
        if told["state"] != "running":
            (self.session.folder / REHEARSAL).unlink(missing_ok=True)
        return told

    def ledger_checked(self) -> dict[str, Any]:
        """How far that is."""
        if self._checked is None:
            return {"state": "none", "tasks": [], "messages": []}
        return self._checked.told()

    def close(self) -> None:
        """End what runs, and remove what is temporary."""
        self.cancel()
        self._trial.end()
        self._ways.end()
        self._rehearsal.end()
        for name in (TRIAL, WAY, REHEARSAL, RUNNING):
            if (path := self.session.folder / name).exists():  # a folder may take no change at all
                path.unlink()
        self.session.close()

    # ── within ──────────────────────────────────────────────────────────────────────

    def _file(self) -> DataFile:
        """The file of the records of the draft."""
        given = self.session.draft.get("records", {})
        if "path" not in given:
            raise InputError("no records are open")
        path = inside(self.session.folder, str(given["path"]))
        return DataFile(path, **{key: one for key, one in given.items() if key in OPTIONS})

    def _ledger(self) -> Path:
        """The ledger that the draft names."""
        name = self.session.draft.get("output", {}).get("ledger")
        if name is None:
            raise InputError("the job names no ledger")
        return inside(self.session.folder, str(name))

    def _judged(self, index: int) -> Judged:
        return self._tables.judged(self.session.job(), index)

    def _result(self, judged: Judged) -> Released | None:
        """What the last run of this workbench made of a table, if that ended well."""
        if self._run is None or self._ran is None or self._run.state != "done":
            return None
        name = judged.wanted.name
        then = {one.name: asked_of(one) for one in self._ran.tables}
        if then.get(name) != asked_of(judged.wanted):
            return None  # the draft is another one by now
        if name not in self._released:
            self._released[name] = read_released(self._ran.output.folder, name, judged.table)
        found = self._released[name]
        return found if found is not None and found.fits(judged.table) else None

    def _started(self, verb: str, path: Path, *more: str) -> Run:
        command = (verb, path.name, "--language", self.language, *more)
        return Run(command, self.session.folder)

    def _aside(self, name: str, draft: Draft, room: Path) -> Run:
        """Carry out another job than the draft into a folder of its own."""
        path = self.session.folder / name
        write_files([TextFile(path, draft_text(draft), internal=True)])
        verb = "anonymize" if "roles" in draft else "protect"
        return self._started(verb, path, "--folder", str(room))


def asked_of(wanted: TableJob) -> str:
    """What the states of cells follow from, but for those that must be published."""
    return repr(replace(wanted, title={}, frozen=()))
