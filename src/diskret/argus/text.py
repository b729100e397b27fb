"""Text files of τ-ARGUS jobs: found whatever the case of their names, read whatever their code."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path, PureWindowsPath

from diskret.errors import DiskretError, JobError, ProtectionError

#: What ends a line; files that went through several systems end lines in more than one way.
_END = re.compile(r"\r*\n|\r")
#: Files of windows before Unicode; the last one reads any byte.
_ENCODINGS = ("utf-8", "cp1252", "latin-1")


@dataclass(frozen=True)
class Place:
    """Where something stands in a file of a job, and the command or option it belongs to."""

    file: Path
    line: int
    keyword: str = ""

    def __str__(self) -> str:
        said = f"{self.file.name}, line {self.line}"
        return f"{said}, <{self.keyword}>" if self.keyword else said


@contextmanager
def said_at(place: object) -> Generator[None]:
    """Say where in the job it is that something goes wrong, unless that is said already."""
    try:
        yield
    except JobError:
        raise
    except DiskretError as error:
        placed = type(error)(f"{place}: {error}")
        if isinstance(error, ProtectionError) and isinstance(placed, ProtectionError):
            placed.blamed, placed.blamed_in = error.blamed, error.blamed_in
        raise placed from error


def encoding_of(raw: bytes) -> str:
    """The first encoding that reads all of a file.

    >>> encoding_of("Décembre".encode("latin-1")), encoding_of("Décembre".encode())
    ('cp1252', 'utf-8')
    """
    for encoding in _ENCODINGS[:-1]:
        try:
            raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return _ENCODINGS[-1]


def text_of(path: Path) -> str:
    """The text of a file, its lines ended by a line feed alone."""
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise JobError(f"{path}: cannot be read ({why})") from error
    if b"\0" in raw:
        raise JobError(f"{path}: is no text; save it as plain text, e.g. as UTF-8")
    text = raw.decode(encoding_of(raw)).removeprefix("\ufeff").rstrip("\x1a")
    return _END.sub("\n", text)


def unquoted(text: str) -> str:
    """A value without the blanks and quotes around it."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].strip()
    return text.strip('"').strip()


@dataclass(frozen=True)
class Folders:
    """Where the files of a job are looked for: beside the job, then with its data.

    used: files that were found, which nothing may be written over.
    """

    job: Path
    data: Path | None = None
    used: set[Path] = field(default_factory=set[Path], compare=False)

    @staticmethod
    def of(job: Path, data: str | PathLike[str] | None) -> Folders:
        """Those of a job file, which is one of the files that were used."""
        found = Folders(job.resolve().parent, None if data is None else Path(data).resolve())
        found.used.add(job.resolve())
        return found

    def find(self, name: str, place: Place) -> Path:
        """The file that a job means, whatever the case of its name.

        A path is tried as it is given; of one that leads nowhere here, such as that of another
        computer, the bare name is looked for.
        """
        windows = PureWindowsPath(name)
        tried = [Path(*PureWindowsPath(name).parts)] if not windows.drive else []
        if name.startswith("/"):
            tried.insert(0, Path(name))
        tried.append(Path(windows.name))
        beside = (place.file.parent, self.job, *(() if self.data is None else (self.data,)))
        for path in tried:
            for base in beside:
                found = _without_case(base, path)
                if found is not None:
                    self.used.add(found.resolve())
                    return found
        where = ", ".join(str(folder) for folder in dict.fromkeys(beside))
        raise JobError(f"{place}: there is no file {name!r}; it was looked for in {where}")

    def target(self, name: str, place: Place) -> Path:
        """Where a job writes a file: a bare name with the data, or else beside the job."""
        windows = PureWindowsPath(name)
        if not windows.name or "\0" in name:
            raise JobError(f"{place}: {name!r} is no name of a file to write")
        home = self.data or self.job
        if name.startswith("/"):
            path = Path(name)
        else:
            path = home / (Path(*windows.parts) if not windows.drive else Path(windows.name))
        if not path.parent.is_dir():
            raise JobError(f"{place}: there is no folder {str(path.parent)!r} to write to")
        if path.is_dir():
            raise JobError(f"{place}: {str(path)!r} is a folder; name a file to write")
        return path


def _without_case(base: Path, path: Path) -> Path | None:
    """A file below a folder, whatever the case of the names on the way; exact names first."""
    found = base
    if path.is_absolute():
        found, parts = Path(path.anchor), path.parts[1:]
    else:
        parts = path.parts
    if not parts:
        return None
    for part in parts:
        try:
            if part == ".." or (found / part).exists():
                found = found / part
                continue
            alike = sorted(p for p in found.iterdir() if p.name.casefold() == part.casefold())
        except (OSError, ValueError):
            return None
        if not alike:
            return None
        found = alike[0]
    return found if found.is_file() else None
