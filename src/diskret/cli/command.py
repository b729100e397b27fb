"""What all commands have in common: options, the language spoken, and how they end.

A command ends with an exit code and a message that gives nothing away.
"""

from __future__ import annotations

import errno
import logging
import re
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from diskret.errors import (
    DiskretError,
    ProofError,
    ProtectionError,
    VerificationError,
    said_of,
)
from diskret.texts import words_in
from diskret.texts.messages import translated

BAD_INPUT = 1
REFUSED = 3

_REFUSALS = (ProofError, ProtectionError, VerificationError)


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
# of commands that carry out a job file, which says itself where to write, and in which language
JobFolderOption = Annotated[
    Path | None, typer.Option("--folder", help="Where to write instead of the folder of the job.")
]
JobLanguageOption = Annotated[
    Language | None,
    typer.Option("--language", help="Language of what is shown; default: that of the job."),
]
TemplateOption = Annotated[
    bool, typer.Option("--template", help="Print a commented job file and stop.")
]


def language_of(job: Path | None) -> Language:
    """The language that a job file asks for, also of one that cannot be read otherwise."""
    try:
        text = "" if job is None else job.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r'^\s*language\s*=\s*["\'](de|en)["\']', text, re.MULTILINE)
    return Language(found.group(1)) if found else Language.en


def named(job: Path | None) -> Path:
    """The job file of a command that may also be called without one, for a template."""
    if job is None:
        raise typer.BadParameter("name a job file, or use --template to get one to start from")
    return job


class _Notes(logging.Handler):
    """What the package notes by the way, such as a new key, in the language of the reader."""

    def __init__(self, language: Language) -> None:
        super().__init__(logging.WARNING)
        self.language = language

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(translated(record.getMessage(), self.language), err=True)


@contextmanager
def _noted(language: Language) -> Generator[None, None, None]:
    log, notes = logging.getLogger("diskret"), _Notes(language)
    log.addHandler(notes)
    try:
        yield
    finally:
        log.removeHandler(notes)


@contextmanager
def reported(
    language: Language, debug: bool, spelled: Callable[[str], str] = str
) -> Generator[None, None, None]:
    """Turn errors into a message on the terminal and an exit code.

    `spelled`: how remedies, which messages write in Python, are written for this reader.

    What diskret raises on purpose is shown as it is. Of any other exception only the type
    is shown, for its text may hold a confidential value.
    """
    texts = words_in(language, "commands")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: typer.secho(
                texts.said("warning", message=spelled(translated(str(message), language))),
                fg="yellow",
                err=True,
            )
            with _noted(language):
                yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise
        if debug:
            typer.echo(traceback.format_exc(), err=True)
        said = spelled(translated(said_of(error), language))
        if isinstance(error, _REFUSALS):
            message, code = texts.said("refused", message=said), REFUSED
        elif isinstance(error, (DiskretError, OSError)):
            message, code = texts.said("error", message=said), BAD_INPUT
        else:
            message, code = texts.said("program_error", kind=type(error).__name__), BAD_INPUT
        typer.secho(message, fg="red", err=True)
        raise typer.Exit(code) from None
