"""``diskret verify-script FILE``: the program that checks releases without diskret."""

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.errors import InputError
from diskret.texts import words_in


def verify_script(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write it; by default verify.py.")
    ] = Path("verify.py"),
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Write verify.py, one file with which anybody checks a release without diskret."""
    with reported(language, debug):
        from diskret.publish.script import script

        try:
            with file.open("xb") as made:
                made.write(script())
        except FileExistsError:
            raise InputError(f"{file} is there already; choose another name") from None
        except OSError as error:
            raise InputError(f"{file} cannot be written: {error.strerror}") from None
        typer.echo(words_in(language, "commands").said("script written", file=str(file)))
