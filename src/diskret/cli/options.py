"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.texts import Language

LanguageOption = Annotated[
    Language,
    typer.Option("--language", help="Language of what is shown, of workbooks and reports."),
]
DebugOption = Annotated[
    bool,
    typer.Option(
        "--debug", help="Show the traceback of an error; it may hold confidential values."
    ),
]
FolderOption = Annotated[Path, typer.Option("--folder", help="Gets public/ and internal/.")]
