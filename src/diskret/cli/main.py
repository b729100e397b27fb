"""The program ``diskret``: its commands, and wrong usage in the language that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from diskret import __version__
from diskret.cli.anonymize import anonymize, safe
from diskret.cli.argus import argus
from diskret.cli.audit import audit
from diskret.cli.cellkey import cellkey
from diskret.cli.check import check
from diskret.cli.command import Language, language_of
from diskret.cli.desk import desk
from diskret.cli.help import german_help
from diskret.cli.ledger import ledger
from diskret.cli.map import map_
from diskret.cli.plan import plan
from diskret.cli.protect import demo, protect
from diskret.cli.remote import remote
from diskret.cli.script import verify_script
from diskret.cli.serve import serve, users
from diskret.cli.sign import sign
from diskret.cli.verify import verify
from diskret.cli.workbench import workbench
from diskret.texts import words_in
from diskret.texts.messages import translated

#: All errors of usage: typer has its own copy of click, or takes the installed one.
UsageError: Any = typer.BadParameter.__base__
#: What typer calls the parts of a command line.
_PLACES = ("[OPTIONS]", "COMMAND [ARGS]...")
_HELP, _LANGUAGE = "--help", "--language"


def spoken(arguments: Sequence[str]) -> Language:
    """The language of a command line, as far as it can be told before it is understood."""
    for option, value in zip(arguments, [*arguments, ""][1:], strict=True):
        name, equals, given = option.partition("=")
        if name == _LANGUAGE:
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
        if _HELP in given:
            given = _without_language(given)
        if language is Language.en or not standalone_mode:
            return super().main(given, standalone_mode=standalone_mode, **more)
        try:
            with german_help(self, dict(zip(_PLACES, _places(language), strict=True))):
                sys.exit(super().main(given, standalone_mode=False, **more) or 0)
        except UsageError as error:
            _show(error, language)
            sys.exit(error.exit_code)
        except typer.Abort:
            typer.echo(words_in(language, "commands")["aborted"], err=True)
            sys.exit(1)


def _without_language(arguments: Sequence[str]) -> list[str]:
    """A command line without ``--language``, which not every command has; its help is there."""
    pairs = zip(["", *arguments], arguments, strict=False)
    return [
        one
        for before, one in pairs
        if before != _LANGUAGE and one != _LANGUAGE and not one.startswith(f"{_LANGUAGE}=")
    ]


def _places(language: Language) -> list[str]:
    return words_in(language, "commands")["places"].split(", ")


def _show(error: Any, language: Language) -> None:
    texts = words_in(language, "commands")
    if error.ctx is not None:
        usage = error.ctx.get_usage().partition(": ")[2]
        for english, own in zip(_PLACES, _places(language), strict=True):
            usage = usage.replace(english, own)
        typer.echo(texts.said("usage", usage=usage.strip()), err=True)
        typer.echo(texts.said("help", command=error.ctx.command_path), err=True)
    said = translated(error.format_message(), language)
    typer.secho(texts.said("error", message=said), fg="red", err=True)


app = typer.Typer(
    name="diskret",
    cls=Program,
    help="Statistical disclosure control: protect tables, prove the protection, publish.",
    epilog="Exit codes: 0 done, 1 bad input, 2 wrong usage, 3 a claim could not be proven.",
    no_args_is_help=True,
    add_completion=False,
    # local variables may hold confidential values
    pretty_exceptions_show_locals=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diskret {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


app.command()(demo)
app.command()(protect)
app.command("map")(map_)
app.command()(anonymize)
app.command()(safe)
app.command()(verify)
app.command("verify-script")(verify_script)
app.add_typer(sign, name="sign")
app.command()(audit)
app.command()(check)
app.command()(argus)
app.command()(plan)
app.command()(workbench)
app.add_typer(ledger, name="ledger")
app.add_typer(desk, name="desk")
app.add_typer(remote, name="remote")
app.command()(serve)
app.add_typer(users, name="users")
app.add_typer(cellkey, name="cellkey")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program; exit codes: 0 done, 1 bad input, 2 usage, 3 not proven."""
    app(arguments, prog_name="diskret")
