"""How a command ends: exit code and a message that gives nothing away."""

from __future__ import annotations

import errno
import logging
import re
import traceback
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import typer

from diskret.cli.options import Language
from diskret.errors import DiskretError, ProofError, ProtectionError, VerificationError
from diskret.texts import words_in
from diskret.texts.messages import translated

BAD_INPUT = 1
REFUSED = 3

_REFUSALS = (ProofError, ProtectionError, VerificationError)


def language_of(job: Path | None) -> Language:
    """The language that a job file asks for, also of one that cannot be read otherwise."""
    try:
        text = "" if job is None else job.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r'^\s*language\s*=\s*["\'](de|en)["\']', text, re.MULTILINE)
    return Language(found.group(1)) if found else Language.en


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
def reported(language: Language, debug: bool) -> Generator[None, None, None]:
    """Turn errors into a message on the terminal and an exit code.

    What diskret raises on purpose is shown as it is. Of any other exception only the type
    is shown, for its text may hold a confidential value.
    """
    texts = words_in(language, "commands")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: typer.secho(
                texts.said("warning", message=translated(str(message), language)),
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
        said = translated(str(error), language)
        if isinstance(error, _REFUSALS):
            message, code = texts.said("refused", message=said), REFUSED
        elif isinstance(error, (DiskretError, OSError)):
            message, code = texts.said("error", message=said), BAD_INPUT
        else:
            message, code = texts.said("program_error", kind=type(error).__name__), BAD_INPUT
        typer.secho(message, fg="red", err=True)
        raise typer.Exit(code) from None
