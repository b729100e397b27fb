"""Options that several commands have in common."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Language(StrEnum):
    """Languages of everything shown to users."""

    en = "en"
    de = "de"


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
