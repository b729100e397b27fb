"""The command line: thin commands over the public verbs."""

import os
import sys
from io import TextIOWrapper


def run() -> None:
    """Run the program ``diskret``; Ctrl-C ends it with one line, even while it is being loaded."""
    _run(sys.argv[1:])


def run_argus() -> None:
    """Run ``diskret-argus``, which takes the four arguments of τ-ARGUS: ``diskret argus``."""
    _run(["argus", *sys.argv[1:]])


def _run(arguments: list[str]) -> None:
    german = "de" in sys.argv or "--language=de" in sys.argv
    said = "abgebrochen" if german else "interrupted"
    _write_what_can_be_read()
    try:
        from diskret.cli.interrupt import INTERRUPTED, end_at_once, interruptible

        with interruptible(said):
            try:
                from diskret.cli.main import main  # numpy, pyarrow and the like take a second

                main(arguments)
            except KeyboardInterrupt:
                end_at_once(said)
            except SystemExit as error:
                # typer makes this of Ctrl-C, says nothing, and solvers would be waited for
                if error.code == INTERRUPTED:
                    end_at_once(said)
                raise
    except KeyboardInterrupt:
        print(said, file=sys.stderr)
        sys.exit(130)


def _write_what_can_be_read() -> None:
    """Let files and pipes get UTF-8 on every system, and a terminal all that its code page has.

    A template that is kept as a job file is read as UTF-8; what has no place in a code page is
    told by its number and ends no command.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            as_told = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if as_told else "utf-8", errors="backslashreplace")
