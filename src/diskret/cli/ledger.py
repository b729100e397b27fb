"""``diskret ledger``: what was published, and what may be published beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.cli.show import terminal
from diskret.errors import ProofError
from diskret.texts import words_in

if TYPE_CHECKING:
    from diskret.ledger.ledger import Ledger
    from diskret.publish.store.entry import LedgerRelease

ledger = typer.Typer(
    help="What was published: create a ledger, list it, show it, check new tables against it, "
    "withdraw a release.",
    no_args_is_help=True,
)

LedgerOption = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        envvar="DISKRET_LEDGER",
        show_envvar=True,
        # a url may hold a password
        show_default=False,
        help="The ledger: a SQLite file, or the url of a PostgreSQL database.",
    ),
]


@ledger.command()
def create(
    place: LedgerOption, language: LanguageOption = Language.en, debug: DebugOption = False
) -> None:
    """Make a new, empty ledger; all other commands open one that is there."""
    with reported(language, debug):
        from diskret.ledger.ledger import Ledger

        Ledger.create(place)
        typer.echo(words_in(language, "commands")["ledger_created"])


@ledger.command("list")
def list_releases(
    place: LedgerOption, language: LanguageOption = Language.en, debug: DebugOption = False
) -> None:
    """List all releases, withdrawn ones too."""
    with reported(language, debug):
        texts, console = words_in(language, "commands"), terminal()
        releases = _opened(place).releases()
        shown = Table(*texts["ledger_columns"].split(", "))
        for release in releases:
            entry = release.entry
            names = ", ".join(note.name for note in entry.tables)
            shown.add_row(
                *(Text(cell) for cell in (entry.release, entry.when[:10], entry.who, names)),
                Text(_status(release, language)),
            )
        console.print(shown)


@ledger.command("show")
def show_release(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a release.")],
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Show a release: who published it and when, its tables and their fingerprints."""
    with reported(language, debug):
        texts, console = words_in(language, "commands"), terminal()
        release = _opened(place).release(name)
        entry = release.entry
        console.print(Text(f"{entry.release}: {_status(release, language)}", style="bold"))
        console.print(Text(texts.said("ledger_by", who=entry.who, when=entry.when)))
        for line in (entry.folder, entry.why):
            if line:
                console.print(Text(line), soft_wrap=True)
        for note in entry.tables:
            population = note.where.words(", ", texts["to"])
            about = (note.measure, " × ".join(note.variables), note.vintage, population)
            console.print(Text(f"{note.name}: {', '.join(filter(None, about))}"), soft_wrap=True)
            count = texts.said(
                "cells",
                cells=note.cells,
                suppressed=note.suppressed,
            )
            parts = [
                f"{texts['ledger_perturbed']}: {note.perturbed}" if note.perturbed else count,
                texts["ledger_intervals"] if note.intervals and not note.perturbed else "",
                note.fingerprint and f"{texts['ledger_fingerprint']}: {note.fingerprint}",
            ]
            for part in filter(None, parts):
                console.print(Text(f"  {part}"), soft_wrap=True)


@ledger.command()
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A release, or its public files.")
    ],
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Say whether tables may be published as they are, beside all that was published."""
    with reported(language, debug):
        from diskret.publish.read import read_release

        report = _opened(place).check(read_release(folder))
        if not report.ok:
            raise ProofError("\n".join(report.lines(language.value)))
        for line in report.lines(language.value):
            typer.secho(line, fg="green")


@ledger.command()
def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a release.")],
    why: Annotated[str, typer.Option(help="The reason.")],
    place: LedgerOption,
    who: Annotated[str | None, typer.Option(help="By whom; default: the login's name.")] = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Note that a release was withdrawn; the world has seen it, so it counts as before."""
    with reported(language, debug):
        _opened(place).withdraw(name, why, who)
        typer.echo(words_in(language, "commands").said("ledger_withdrawn_now", name=name))


def _opened(place: str) -> Ledger:
    from diskret.ledger.ledger import Ledger

    return Ledger(place)


def _status(release: LedgerRelease, language: Language) -> str:
    texts = words_in(language, "commands")
    if release.withdrawn is not None:
        gone = release.withdrawn
        return texts.said("ledger_withdrawn", when=gone.when[:10], who=gone.who, why=gone.why)
    return texts["ledger_recorded"] if release.entry.kind == "record" else texts["ledger_published"]
