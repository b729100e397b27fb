"""``diskret verify DIR``: check released files against their certificates."""

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.texts import number, words_in
from diskret.texts.messages import translated


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that diskret wrote.")],
    internal: Annotated[
        Path | None, typer.Option(help="The office's own files, if they are kept elsewhere.")
    ] = None,
    release: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier release that tables were attacked with, or that figures refer to."
        ),
    ] = None,
    signer: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|KEY",
            help="Who must have signed it: an office's list of keys, a PEM file, or one key.",
        ),
    ] = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Check released files and attack the published tables again.

    With the office's own files and its key (see DISKRET_KEYS) every file is known to be the one
    that was written. Without the key the rest is checked, and a line says what was not.
    """
    with reported(language, debug):
        from diskret.cli.progress import progress_bars
        from diskret.publish.verify.folder import verify as verify_folder

        with progress_bars(language=language) as progress:
            report = verify_folder(
                folder, internal, releases=release or (), signer=signer, progress=progress
            )
        texts = words_in(language, "commands")
        for line in report.lines:
            typer.echo(translated(line, language))
        done = texts.said("verified", names=", ".join(report.tables))
        if report.suppressed:
            attacked = number(report.suppressed, language)
            done += " " + texts.said("attacked_again", suppressed=attacked)
        typer.secho(done, fg="green")
        inside = texts["verified_internal"] if report.sealed else texts["verified_unsealed"]
        typer.echo(inside if report.checked_internal else texts["not_verified_internal"])
