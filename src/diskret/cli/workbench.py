"""``diskret workbench``: a page for those who click, served to this computer only."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.cli.interrupt import ended_by_signals, run_until_told
from diskret.errors import InputError
from diskret.texts import words_in


def workbench(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="All files are opened and written below it.")
    ] = Path("."),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0: one that is free.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Open the workbench: protect tables in a browser, on this computer only."""
    with reported(language, debug):
        try:
            from diskret.workbench.server import opened_in_browser, workbench
        except ImportError as error:
            raise InputError(
                "the workbench needs FastAPI and uvicorn; install them with: pip install "
                "'diskret[web]'"
            ) from error
        words = words_in(language, "workbench")
        with ended_by_signals(), workbench(folder, port, language.value) as (server, url):
            typer.echo(words.said("command.open", url=url))
            typer.echo(words["command.stop"])
            with opened_in_browser(url) if browser else nullcontext():
                run_until_told(server.serve())
