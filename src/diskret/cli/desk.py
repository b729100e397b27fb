"""``diskret desk``: results of researchers that wait, and what is decided."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.cli.ledger import LedgerOption
from diskret.cli.show import terminal
from diskret.texts import words_in

if TYPE_CHECKING:
    from diskret.outputs.desk import Desk
    from diskret.outputs.events import Event

desk = typer.Typer(
    help="Results of researchers: list what waits, show it with its reasons, decide, release.",
    no_args_is_help=True,
)

ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="Name of a project.")]
ResultArgument = Annotated[str, typer.Argument(metavar="RESULT", help="Name of a result.")]
WhoOption = Annotated[str | None, typer.Option(help="By whom; default: the login's name.")]


class Choice(StrEnum):
    """What can be decided."""

    accept = "accept"
    refuse = "refuse"
    give_back = "return"


@desk.command("list")
def list_results(
    place: LedgerOption,
    project: Annotated[
        str, typer.Argument(metavar="[PROJECT]", help="Name of a project; default: all.")
    ] = "",
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """List the results of projects and where they stand."""
    with reported(language, debug):
        console, words, opened = terminal(), words_in(language, "outputs"), _opened(place)
        for name in [project] if project else opened.projects():
            console.print(Text(name, style="bold"), soft_wrap=True)
            for item in opened.items(name):
                found = words[f"short verdict.{item.submitted.verdict}"]
                line = f"  {item.name}: {words[f'state.{item.state}']} ({found})"
                console.print(Text(line), soft_wrap=True)


@desk.command()
def show(
    project: ProjectArgument,
    result: ResultArgument,
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Show a result as it is judged today, its files and its history."""
    with reported(language, debug):
        console, opened = terminal(), _opened(place)
        console.print(Text(opened.judged(project, result).summary(language)), soft_wrap=True)
        for name, content in opened.result(project, result).files.items():
            console.print(Text(f"\n{name}", style="bold"), soft_wrap=True)
            if name.endswith((".csv", ".txt")):
                console.print(Text(content.decode("utf-8", "replace")), soft_wrap=True)
        for event in opened.history(project, result):
            console.print(Text(_told(event, language)), soft_wrap=True)


@desk.command()
def history(
    project: ProjectArgument,
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Say all that happened to a project."""
    with reported(language, debug):
        for event in _opened(place).history(project):
            terminal().print(Text(_told(event, language)), soft_wrap=True)


@desk.command()
def comment(
    project: ProjectArgument,
    result: ResultArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is noted.")],
    place: LedgerOption,
    who: WhoOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Note something beside a result."""
    with reported(language, debug):
        opened = _opened(place)
        opened.comment(project, result, text, who=who)
        typer.echo(_told(opened.history(project, result)[-1], language))


@desk.command()
def decide(
    project: ProjectArgument,
    result: ResultArgument,
    decision: Annotated[Choice, typer.Argument(metavar="accept|refuse|return")],
    place: LedgerOption,
    why: Annotated[str, typer.Option(help="The reason.")] = "",
    who: WhoOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Accept, refuse or return a result; what is accepted is judged beside all that has left."""
    with reported(language, debug):
        opened = _opened(place)
        opened.decide(project, result, decision.value, who=who, why=why)
        typer.echo(_told(opened.history(project, result)[-1], language))


@desk.command()
def release(
    project: ProjectArgument,
    folder: Annotated[
        Path, typer.Option("--folder", help="Gets public/, for the SACRO viewer, and internal/.")
    ],
    place: LedgerOption,
    who: WhoOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Write all accepted results of a project into a folder that may leave."""
    with reported(language, debug):
        opened = _opened(place)
        opened.release(project, folder, who=who)
        typer.echo(_told(opened.history(project)[-1], language))


@desk.command()
def report(
    project: ProjectArgument,
    folder: Annotated[
        Path, typer.Option("--folder", help="Gets report.html and report.csv; never leaves.")
    ],
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Write what was checked of a project and why, for the office."""
    with reported(language, debug):
        typer.echo(str(_opened(place).report(project, folder, language=language.value)))


def _opened(place: str) -> Desk:
    from diskret.outputs.desk import Desk

    return Desk(place)


def _told(event: Event, language: Language) -> str:
    from diskret.outputs.desk_report import event_in_words

    return event_in_words(event, language.value)
