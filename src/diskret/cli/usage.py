"""Wrong usage, said in the language that the command line or the job file asks for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from diskret.cli.options import Language
from diskret.cli.outcome import language_of
from diskret.texts import words_in
from diskret.texts.messages import translated

#: All errors of usage: typer has its own copy of click, or takes the installed one.
UsageError: Any = typer.BadParameter.__base__
#: What typer calls the parts of a command line.
_PLACES = ("[OPTIONS]", "COMMAND [ARGS]...")


def spoken(arguments: Sequence[str]) -> Language:
    """The language of a command line, as far as it can be told before it is understood."""
    for option, value in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, given = option.partition("=")
        if name == "--language":
            asked = given if equals else value
            return Language(asked) if asked in [*Language] else Language.en
    jobs = (Path(argument) for argument in arguments if argument.endswith(".toml"))
    return language_of(next(jobs, None))


class Program(TyperGroup):
    """A group of commands that says in German, too, what is wrong with a command line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **more: Any,
    ) -> Any:
        """As of typer."""
        more |= {"prog_name": prog_name, "complete_var": complete_var}
        more |= {"windows_expand_args": windows_expand_args}
        given = sys.argv[1:] if args is None else [*args]
        language = spoken(given)
        if language is Language.en or not standalone_mode:
            return super().main(args, standalone_mode=standalone_mode, **more)
        try:
            sys.exit(super().main(args, standalone_mode=False, **more) or 0)
        except UsageError as error:
            _show(error, language)
            sys.exit(error.exit_code)
        except typer.Abort:
            typer.echo(words_in(language, "commands")["aborted"], err=True)
            sys.exit(1)


def _show(error: Any, language: Language) -> None:
    texts = words_in(language, "commands")
    if error.ctx is not None:
        usage = error.ctx.get_usage().partition(": ")[2]
        for english, own in zip(_PLACES, texts["places"].split(", "), strict=True):
            usage = usage.replace(english, own)
        typer.echo(texts.said("usage", usage=usage.strip()), err=True)
        typer.echo(texts.said("help", command=error.ctx.command_path), err=True)
    said = translated(error.format_message(), language)
    typer.secho(texts.said("error", message=said), fg="red", err=True)
