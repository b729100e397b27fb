"""Typed access to the sections of a job file; what is wrong is said with line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from diskret.errors import JobError
from diskret.io import key_lines
from diskret.io.encoded import utf8_text
from diskret.jobs.template import template
from diskret.parameters import (
    REQUIRED,
    Choice,
    Flag,
    Function,
    Kind,
    Names,
    Number,
    Parameter,
    Text,
    parameters,
)

Default = TypeVar("Default")
#: From which likeness on a key was meant for its section and mistyped: `decimal` for `decimals`.
_MISTYPED = 0.9


@dataclass(frozen=True)
class Section:
    """A table of the job file.

    file: the job file.
    lines: path of keys → line.
    path: where this section stands in the file.
    values: what tomllib read.
    """

    file: Path
    lines: Mapping[key_lines.Path, int]
    path: key_lines.Path
    values: Mapping[str, Any]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    # ── reading values ──────────────────────────────────────────────────────────

    def check(self, *, required: Sequence[str] = (), optional: Sequence[str] = ()) -> None:
        """Raise a `JobError` for the first unknown or missing key."""
        admissible = [*required, *optional]
        for key in self.values:
            if key not in admissible:
                home = _homes().get(key) if self._is_of_tables else None
                mistyped = get_close_matches(key, admissible, 1, _MISTYPED)
                if home not in (None, self.name) and not mistyped:
                    raise self.error(f"'{key}' belongs to {home}, and stands in {self.name}", key)
                raise self.unknown("unknown key", key, admissible, key=key)
        for key in required:
            if key not in self.values:
                raise self.error(f"the key '{key}' is missing in {self.name}")

    def read(
        self,
        target: Callable[..., Any],
        *,
        required: Sequence[str] = (),
        optional: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> dict[str, Any]:
        """The arguments of a function or dataclass that are given, as it declares them.

        Keys that are `required` and `optional` beside these are admissible and left to the
        caller; parameters `without` are no keys.
        """
        declared = {n: one for n, one in parameters(target).items() if n not in without}
        needed = [name for name, one in declared.items() if one.default is REQUIRED]
        others = [name for name in declared if name not in needed]
        self.check(required=[*required, *needed], optional=[*others, *optional])
        return {key: self.value(key, declared[key]) for key in self.values if key in declared}

    def value(self, key: str, parameter: Parameter) -> Any:
        """The value of a key as its parameter declares it."""
        value = self.values[key]
        kinds = [kind for kind in parameter.kinds if not isinstance(kind, Function)]
        if not kinds:
            return value
        if len(kinds) == 1 and isinstance(kinds[0], Choice):
            return self.choice(key, None, kinds[0].words)
        for kind in kinds:
            blank = isinstance(value, str) and (isinstance(kind, Number) or not value.strip())
            try:
                if not blank:
                    return kind.read(value)
            except (ValueError, TypeError):
                continue
        raise self.unfit(key, " or ".join(_in_a_file(kind) for kind in kinds))

    def text(self, key: str, default: Default) -> str | Default:
        """Text that is not blank."""
        if key not in self.values:
            return default
        value = self.values[key]
        if not isinstance(value, str) or not value.strip():
            raise self.unfit(key, "text in quotes")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """A truth value."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.unfit(key, "true or false")
        return value

    def whole(self, key: str, default: Default, low: int, high: int | None = None) -> int | Default:
        """A whole number from `low` to `high`."""
        if key not in self.values:
            return default
        value = self.values[key]
        in_range = _is_number(value, int) and low <= value and (high is None or value <= high)
        if not in_range:
            limit = f"from {low} upwards" if high is None else f"from {low} to {high}"
            raise self.unfit(key, f"a whole number {limit}")
        return value

    def choice(self, key: str, default: Default, options: Sequence[str]) -> str | Default:
        """One of `options`."""
        if key not in self.values:
            return default
        value = self.values[key]
        if value not in options:
            raise self.unknown(f"'{key}' must not be", value, options, key=key)
        return value

    def choices(self, key: str, default: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
        """A list of some of `options`, at least one, none twice."""
        values = self.values.get(key, list(default))
        if not isinstance(values, list) or not values:
            raise self.unfit(key, "a list of " + _listed(options))
        for position, value in enumerate(values):
            if value not in options:
                raise self.unknown(f"'{key}' must not hold", value, options, key, position)
            if value in values[:position]:
                raise self.error(f"'{key}' holds {value!r} twice", key, position)
        return tuple(values)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts that are not blank, at least one, none twice; empty if left out."""
        values = self._list(key, "a list of texts in quotes")
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.unfit(key, "a list of texts in quotes")
        for position, value in enumerate(values):
            if value in values[:position]:
                raise self.error(f"'{key}' holds {value!r} twice", key, position)
        return tuple(values)

    def wholes(self, key: str, low: int) -> tuple[int, ...]:
        """A list of whole numbers from `low` upwards, at least one; empty if left out."""
        what = f"a list of whole numbers from {low} upwards"
        values = self._list(key, what)
        if not all(_is_number(value, int) and value >= low for value in values):
            raise self.unfit(key, what)
        return tuple(values)

    def section(self, key: str) -> Section:
        """The section below `key`; an empty one if there is none."""
        values = self.values.get(key, {})
        if not isinstance(values, dict):
            raise self.unfit(key, "a section of its own or { key = value }")
        return self._below((key,), values)

    def sections(self, key: str) -> tuple[Section, ...]:
        """The sections of a list ``[[key]]``."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
            header = ".".join([*self._names, key])
            raise self.unfit(key, f"a list of sections, each beginning with [[{header}]]")
        return tuple(self._below((key, i), value) for i, value in enumerate(values))

    def each(self, key: str) -> tuple[Section, ...]:
        """The section below `key`, or those of a list of at least one."""
        if isinstance(self.values.get(key), list):
            return self.sections(key) if self.values[key] else (self.section(key),)
        return (self.section(key),)

    def existing_file(self, key: str, or_folder: bool = False) -> Path:
        """The file (or folder) that `key` names, seen from the folder of the job file."""
        path = self.file.parent / self.text(key, "")
        try:
            is_file, is_folder = path.is_file(), path.is_dir()
        except OSError:  # a name that no file can have
            is_file = is_folder = False
        if is_file or (or_folder and is_folder):
            return path
        if is_folder:
            raise self.error(f"'{key}': the file {path} is a folder", key)
        if path.name == "-" or path.exists():  # a pipe
            raise self.error(
                f"'{key}': {path.name} is no file; save what comes through a pipe as a file first, "
                "for it is read more than once",
                key,
            )
        there = [one.name for one in path.parent.glob("*")]
        if near := get_close_matches(path.name, there, 1):
            raise self.error(
                f"'{key}': the file {path} does not exist; did you mean {near[0]!r}?", key
            )
        raise self.error(
            f"'{key}': the file {path} does not exist; paths are seen from the folder of the job "
            f"file, {self.file.parent.resolve()}",
            key,
        )

    # ── saying what is wrong ────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        """How the user knows this section, e.g. ``[tables.rules]``."""
        if not self.path:
            return "the job file"
        is_element = isinstance(self.path[-1], int)
        return ("[[{}]]" if is_element else "[{}]").format(".".join(self._names))

    @property
    def _is_of_tables(self) -> bool:
        return any(path[:1] == ("tables",) for path in self.lines)

    def line(self, *below: str | int) -> int:
        """The line of a key below this section, or of what is nearest above it."""
        path = (*self.path, *below)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def line_of(self, word: str) -> int:
        """The line of the first key or text below this section that is this word, else its own."""
        return next((self.line(*path) for path in _paths(self.values, word)), self.line())

    def error(self, message: str, *below: str | int) -> JobError:
        """An error that names the line of a key below this section."""
        return JobError(f"{self.file}, line {self.line(*below)}: {message}")

    def unfit(self, key: str, admissible: str) -> JobError:
        """An error for a value of the wrong kind or out of range."""
        found = _described(self.values[key])
        return self.error(f"'{key}' in {self.name} must be {admissible}, not {found}", key)

    def unknown(
        self, what: str, found: object, admissible: Sequence[str], key: str, *below: str | int
    ) -> JobError:
        """An error for a word that is none of the admissible ones."""
        near = get_close_matches(str(found), admissible, n=1)
        shown = f"'{found}'" if isinstance(found, str) else _described(found)
        listed = _listed([*dict.fromkeys(admissible)])
        if near:  # two sentences, so that translators see where the name ends
            said = f"{what} {shown} in {self.name}; did you mean '{near[0]}'? Admissible: {listed}"
            return self.error(said, key, *below)
        return self.error(f"{what} {shown} in {self.name}. Admissible: {listed}", key, *below)

    def _list(self, key: str, what: str) -> list[Any]:
        values = self.values.get(key, [])
        if key in self.values and (not isinstance(values, list) or not values):
            raise self.unfit(key, what)
        return values

    @property
    def _names(self) -> list[str]:
        return [part for part in self.path if isinstance(part, str)]

    def _below(self, path: key_lines.Path, values: Mapping[str, Any]) -> Section:
        return Section(self.file, self.lines, (*self.path, *path), values)


@cache
def _homes() -> Mapping[str, str]:
    """The sections of a job of tables, by the keys that no other section has, as its template says.

    >>> _homes()["unit"], _homes()["decimal"]
    ('[[tables]]', '[records]')
    """
    found: dict[str, set[str]] = {}
    section = ""
    for line in template().splitlines():
        if head := re.match(r"#?(\[+[a-z_.]+\]+)", line):
            section = head[1]
        elif key := re.match(r"#?([a-z_]+) = ", line):
            found.setdefault(key[1], set()).add(section)
    known = ("[records]", "[[tables]]", "[tables.rules]", "[attacker]", "[output]")
    return {key: one for key, (one, *more) in found.items() if not more and one in known}


def open_job(path: Path) -> Section:
    """The whole job file as a section."""
    if path.is_dir():
        raise JobError(f"{path} is a folder; name the job file in it")
    if path.name == "-" or (path.exists() and not path.is_file()):
        raise JobError(
            f"a job is read from a file, not from {path.name}; save what comes through a pipe first"
        )
    if not path.is_file():
        raise JobError(
            f"there is no job file {path.name} in {path.parent.resolve()}; the option --template "
            "prints one to start from"
        )
    return section_of(utf8_text(path, JobError), path)


def section_of(text: str, path: Path) -> Section:
    """A whole text in TOML as a section; `path`: what messages call it."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # tomllib tells the line in words only: "… (at line 3, column 5)" or "at end of document"
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else len(text.splitlines())
        raise JobError(
            f"{path}, line {line}: not valid TOML; one key = value a line, texts in quotes, and "
            f"names too that have a blank, an umlaut or a bracket; paths with / ({error})"
        ) from error
    return Section(path, key_lines.key_lines(text), (), values)


def _paths(values: Any, word: str) -> Iterator[key_lines.Path]:
    """Where a word stands, as a key or as a text."""
    listed = values.items() if isinstance(values, Mapping) else enumerate(values)
    for key, value in listed:
        if word in (key, value):
            yield (key,)
        elif isinstance(value, (Mapping, list)):
            yield from ((key, *path) for path in _paths(value, word))


def _in_a_file(kind: Kind) -> str:
    """What is admissible, as TOML writes it."""
    if isinstance(kind, Flag):
        return "true or false"
    if isinstance(kind, Names):
        return "a list of texts in quotes"
    return "text in quotes" if isinstance(kind, Text) else kind.said


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)


def _described(value: object) -> str:
    if isinstance(value, str):
        return f'the text "{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a section"
    return str(value)
