"""``--help`` in German: what stands in the code of commands, translated by ``de/help.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from typer import rich_utils

#: What typer puts between the texts of commands.
_TYPERS = (
    "OPTIONS_PANEL_TITLE",
    "ARGUMENTS_PANEL_TITLE",
    "COMMANDS_PANEL_TITLE",
    "DEFAULT_STRING",
    "REQUIRED_LONG_STRING",
)
_USAGE = "Usage:"


@cache
def catalogue() -> dict[str, str]:
    """German for what ``--help`` says: English, on one line → German."""
    text = files("diskret.texts").joinpath("de", "help.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def texts_of(command: Any) -> Iterator[str]:
    """All that ``--help`` says of a command and of those below it, on one line each."""
    for name in ("help", "short_help", "epilog"):
        yield _line(getattr(command, name))
    for parameter in command.params:
        yield _line(parameter.help)
    for below in _below(command):
        yield from texts_of(below)


@contextmanager
def german_help(command: Any, places: dict[str, str]) -> Generator[None, None, None]:
    """Let a command and those below it speak German when they are asked for help.

    `places`: what typer calls the parts of a command line → the same in German.
    """
    _translate(command, places)
    before = {name: getattr(rich_utils, name) for name in _TYPERS}
    try:
        for name, english in before.items():
            setattr(rich_utils, name, _german(english))
        yield
    finally:
        for name, english in before.items():
            setattr(rich_utils, name, english)


def _translate(command: Any, places: dict[str, str]) -> None:
    for name in ("help", "short_help", "epilog"):
        setattr(command, name, _german(getattr(command, name)))
    usage, parameters = command.get_usage, command.get_params

    def german_usage(context: Any) -> str:
        said = usage(context).replace(_USAGE, _german(_USAGE), 1)
        for english, own in places.items():
            said = said.replace(english, own)
        return said

    def german_parameters(context: Any) -> Any:
        found = parameters(context)  # the option --help is made only now
        for parameter in found:
            parameter.help = _german(parameter.help)
        return found

    command.get_usage, command.get_params = german_usage, german_parameters
    for below in _below(command):
        _translate(below, places)


def _below(command: Any) -> Iterator[Any]:
    return iter(getattr(command, "commands", {}).values())


def _german(english: str | None) -> str | None:
    return english and catalogue().get(_line(english), english)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
