"""The file of users: read line by line, and changed by adding to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TextIO

from diskret.disk import flush, new_file, open_to_others
from diskret.errors import InputError
from diskret.io.encoded import utf8_text
from diskret.jobs.schema import Section, section_of
from diskret.jobs.toml_text import toml
from diskret.serve.roles import ROLES, User, check_name
from diskret.serve.tokens import Token, is_hash, is_number


@dataclass(frozen=True)
class Known:
    """What a file says; tokens that have ended are among `tokens`, by number."""

    users: Mapping[str, User]
    tokens: Mapping[str, Token]

    def valid(self, user: str, today: date) -> list[Token]:
        """The tokens of a user that have not ended."""
        return [one for one in self.tokens.values() if one.user == user and one.until >= today]


@dataclass(frozen=True)
class UserFile:
    """Where users are kept in a file."""

    path: Path

    def state(self) -> object:
        """What changes with the file or its permissions; None: it is not there."""
        return state_of(self.path)

    def read(self) -> Known:
        """What the file says."""
        return read(self.path)

    def append(self, said: Callable[[Known], list[str]]) -> None:
        """Add sections, see `appended`."""
        appended(self.path, said)


def make_users(path: str | os.PathLike[str]) -> None:
    """An empty file of users, readable by its owner only.

    Raises
    ------
    InputError
        There is a file already.
    """
    try:
        with _private(Path(path)) as file:
            file.write("# Users of a service, their tokens, and what was revoked.\n")
    except FileExistsError:
        raise InputError(f"there is a file {path} already") from None


# ── reading ─────────────────────────────────────────────────────────────────────────


def state_of(path: Path) -> tuple[int, ...] | None:
    """What changes with a file or its permissions; None: it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _text(path: Path) -> str:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return file.read()


def read(path: Path) -> Known:
    """What a file says."""
    if not path.is_file():
        raise InputError(
            f"there is no file of users {path}; make it with: diskret users add CONFIG.toml NAME"
        )
    if open_to_others(path):
        raise InputError(f"the file of users {path} is open to others; run: chmod 600 {path}")
    return known_of(utf8_text(path), path)


def known_of(text: str, path: Path) -> Known:
    """What the text of a file says; errors name the line.

    Raises
    ------
    JobError
        It says something that cannot be.
    """
    whole = section_of(text, path)
    whole.check(optional=("users", "tokens", "revoked"))
    users = {user.name: user for user in map(_user, whole.sections("users"))}
    tokens: dict[str, Token] = {}
    for section in whole.sections("tokens"):
        token = _token(section, users)
        if token.number in tokens:
            raise section.error(f"the token {token.number} is there twice", "number")
        tokens[token.number] = token
    for section in whole.sections("revoked"):
        section.check(required=("number",), optional=("until",))
        number = _number(section)
        if number not in tokens:
            raise section.error(
                f"there is no token {number}; what is revoked stands in [[tokens]], too", "number"
            )
        until = _day(section) if "until" in section else date.min
        tokens[number] = tokens[number].ended(until)
    return Known(users, tokens)


def _user(section: Section) -> User:
    section.check(required=("name", "role"), optional=("data",))
    role, name = section.choice("role", "", tuple(ROLES)), section.text("name", "")
    try:
        check_name(name)
    except InputError as error:
        raise section.error(f"'name': {error}", "name") from None
    return User(name, role, section.texts("data") if "data" in section else None)


def _token(section: Section, users: Mapping[str, User]) -> Token:
    section.check(required=("number", "user", "hash", "until"))
    user, own = section.text("user", ""), section.text("hash", "")
    if user not in users:
        raise section.unknown("there is no user", user, tuple(users), "user")
    if not is_hash(own):  # what stands there may be a token, so it is not repeated
        raise section.error(
            "'hash' is none, which has 64 hexadecimal digits; tokens are made by: "
            "diskret users token CONFIG.toml NAME",
            "hash",
        )
    return Token(_number(section), user, _day(section), own)


def _number(section: Section) -> str:
    number = section.text("number", "")
    if not is_number(number):
        raise section.error("'number' must be the eight digits after dsk_ of a token", "number")
    return number


def _day(section: Section) -> date:
    until = section.values["until"]
    if type(until) is not date:
        raise section.unfit("until", "a date, as in 2027-12-31, without quotes")
    return until


# ── writing ─────────────────────────────────────────────────────────────────────────


def appended(path: Path, said: Callable[[Known], list[str]]) -> None:
    """Add sections, all of them or nothing: into a copy, which then takes the file's place.

    said: lines of what is added, by what the file says when nobody else may change it.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.new")
    try:
        file = _private(beside)
    except FileExistsError:
        raise InputError(
            f"{path} is being changed by somebody else; if nobody does, a change was cut off: "
            f"remove {beside}"
        ) from None
    moved = False
    try:
        with file:
            if not (lines := said(read(path))):
                return
            text = "\n".join([_text(target).rstrip("\n"), "", *lines, ""])
            known_of(text, path)
            file.write(text)
            file.flush()
            _give_to_owner(file, target)
            os.fsync(file.fileno())
        os.replace(beside, target)
        moved = True
        flush(target.parent)
    finally:
        if not moved:  # what has its name from then on is somebody else's
            beside.unlink(missing_ok=True)


def ends(numbers: Iterable[str], until: date | None = None) -> list[str]:
    """Sections that end tokens, at once or after a day."""
    day = [] if until is None else [f"until = {until.isoformat()}"]
    return [
        line for number in numbers for line in ("[[revoked]]", f"number = {toml(number)}", *day)
    ]


def _private(path: Path) -> TextIO:
    """A new file that only its owner may read; lines end as they are written."""
    return os.fdopen(new_file(path), "w", encoding="utf-8", newline="")


def _give_to_owner(file: TextIO, target: Path) -> None:
    """What the superuser changes stays the service's own file."""
    if os.name == "posix" and os.fstat(file.fileno()).st_uid != (owner := target.stat().st_uid):
        os.fchown(file.fileno(), owner, -1)
