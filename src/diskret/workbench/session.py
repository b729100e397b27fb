"""What somebody does at the workbench: the draft of a job, each step of which can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from threading import RLock
from typing import Any

from diskret.errors import InputError
from diskret.jobs.microdata import MicrodataJob, read_microdata_job
from diskret.jobs.read import read_job
from diskret.jobs.text_files import TextFile, write_files
from diskret.jobs.values import Job
from diskret.workbench.draft import Draft, check_draft, draft_text, read_draft
from diskret.workbench.places import check_places, inside

#: The file that keeps what was not saved.
DRAFT = ".diskret-workbench.toml"
#: Steps that can be undone.
_STEPS = 200


class Session:
    """The draft of a job in a folder, kept in a hidden file there until it is saved.

    Parameters
    ----------
    folder
        All files lie below it.
    """

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            raise InputError(f"the folder {folder} does not exist")
        self.lock = RLock()
        self.kept = self.folder / DRAFT
        self.recovered = self.kept.is_file() and not self.kept.is_symlink()
        self._draft: Draft = {}
        self._undone: list[Draft] = []
        self._done: list[Draft] = []
        self._saved: str | None = None
        self._step = ""
        if self.recovered:
            self._recover()

    @property
    def draft(self) -> Draft:
        """A copy of it."""
        return deepcopy(self._draft)

    @property
    def can(self) -> dict[str, bool]:
        """Whether there is something to undo, and to do again."""
        return {"undo": bool(self._done), "redo": bool(self._undone)}

    @property
    def of_records(self) -> bool:
        """Whether the records are to leave themselves, and no table of them."""
        return "roles" in self._draft

    @property
    def saved(self) -> bool:
        """Whether a job file says what the draft says."""
        return not self._draft or draft_text(self._draft) == self._saved

    def put(self, draft: Mapping[str, Any], step: str = "") -> None:
        """Take a changed draft, and keep it over a crash.

        step: what is being changed; steps of one name that follow each other are undone at once.

        Raises
        ------
        InputError
            It names files elsewhere, or cannot be written as a job file.
        """
        check_draft(draft)
        check_places(self.folder, draft)
        with self.lock:
            if draft == self._draft:
                return
            if not (step and step == self._step):
                self._done = [*self._done, self._draft][-_STEPS:]
            self._step = step
            self._undone = []
            self._set(deepcopy(dict(draft)))

    def undo(self) -> None:
        """Take the last step back, if there is one."""
        with self.lock:
            if self._done:
                self._undone.append(self._draft)
                self._set(self._done.pop())
                self._step = ""

    def redo(self) -> None:
        """Do again what was undone last."""
        with self.lock:
            if self._undone:
                self._done.append(self._draft)
                self._set(self._undone.pop())
                self._step = ""

    def open(self, name: str) -> None:
        """Take a job file from the folder itself as the draft.

        Raises
        ------
        InputError
            It lies elsewhere, is no job file, or names files elsewhere.
        """
        path = inside(self.folder, name)
        if path.parent != self.folder:
            raise InputError(
                f"{name}: paths in a job file are seen from its folder; start the workbench there"
            )
        draft = read_draft(path.read_text(encoding="utf-8"), path)
        self.put(draft)
        self._saved = draft_text(draft)

    def save(self, name: str) -> Path:
        """Write the draft as a job file into the folder; the hidden file goes."""
        path = self.folder / name
        if not name.endswith(".toml") or Path(name).name != name or name.startswith("."):
            raise InputError(f"{name!r} is no name of a job file, such as job.toml")
        with self.lock:
            self._saved = draft_text(self._draft)
            write_files([TextFile(path, self._saved, internal=True)])
            self.kept.unlink(missing_ok=True)
        return path

    def job(self) -> Job:
        """The draft, read and checked as the job file it is.

        Raises
        ------
        JobError
            It is not finished, or wrong.
        """
        with self.lock:
            return read_job(self._file())

    def microdata_job(self) -> MicrodataJob:
        """The draft as a job on records that are to leave themselves.

        Raises
        ------
        JobError
            It is not finished, or wrong.
        """
        with self.lock:
            return read_microdata_job(self._file())

    def write_copy(self, path: Path) -> str:
        """Write the draft as it is now, for a run that later steps must not change."""
        with self.lock:
            self._write(path)
            return draft_text(self._draft)

    def close(self) -> None:
        """Remove the hidden file if a job file says the same."""
        with self.lock:
            if self.saved and self.kept.exists():
                self.kept.unlink()

    def _file(self) -> Path:
        """The hidden file; it is gone where the draft was saved, and a job needs lines to name."""
        if not self.kept.exists():
            self._write(self.kept)
        return self.kept

    def _set(self, draft: Draft) -> None:
        self._draft = draft
        self._write(self.kept)

    def _write(self, path: Path) -> None:
        write_files([TextFile(path, draft_text(self._draft), internal=True)])

    def _recover(self) -> None:
        text = self.kept.read_text(encoding="utf-8", errors="replace")
        try:
            draft = read_draft(text, self.kept)
            check_places(self.folder, draft)
        except InputError:
            self.recovered = False  # no draft of ours; it is replaced with the first step
            return
        self._draft = draft
