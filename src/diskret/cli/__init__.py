"""The command line: thin commands over the public verbs."""

import sys


def run() -> None:
    """Run the program ``diskret``; Ctrl-C ends it with one line, even while it is being loaded."""
    _run(sys.argv[1:])


def run_argus() -> None:
    """Run ``diskret-argus``, which takes the four arguments of τ-ARGUS: ``diskret argus``."""
    _run(["argus", *sys.argv[1:]])


def _run(arguments: list[str]) -> None:
    try:
        from diskret.cli.main import main  # numpy, pyarrow and the like take a second

        main(arguments)
    except KeyboardInterrupt:
        german = "de" in sys.argv or "--language=de" in sys.argv
        print("abgebrochen" if german else "interrupted", file=sys.stderr)
        sys.exit(130)
