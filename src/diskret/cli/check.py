"""``diskret check DIR``: result files of researchers, before they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.command import REFUSED, DebugOption, Language, LanguageOption, reported
from diskret.texts import words_in


def check(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the files that are to leave.")
    ],
    profile: Annotated[
        str, typer.Option(help="guidelines, acro, or a TOML file of the institution's rules.")
    ] = "guidelines",
    counts: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Holds numbers of units, besides n, count and so on."),
    ] = None,
    said: Annotated[
        Path | None,
        typer.Option(help="TOML file that says what files hold; default: DIR/results.toml."),
    ] = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Judge files of results: what they hold, and what is hidden in them.

    What must not leave or must be looked at by a person is named with the reason, and the exit
    code is 3 then.
    """
    with reported(language, debug):
        from diskret.outputs.files.folder import folder as check_folder

        checked = check_folder(folder, profile=profile, counts=counts or (), said=said)
        typer.echo(checked.summary(language))
        texts = words_in(language, "commands")
        verdicts = [one.verdict for one in checked.files.values()]
        if checked.verdict == "pass":
            typer.secho(texts.said("checked_pass", files=len(verdicts)), fg="green")
            return
        numbers = {one: verdicts.count(one) for one in ("review", "fail")}
        typer.secho(texts.said("checked_not", files=len(verdicts), **numbers), fg="red")
        found = [one.check for file in checked.files.values() for one in file.findings]
        if "unknown" in found:
            typer.echo(texts["checked_unknown"])
        raise typer.Exit(REFUSED)
