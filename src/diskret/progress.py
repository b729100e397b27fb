"""One way to report progress: a callback that is told what runs and how far it is."""

from collections.abc import Callable

#: Called as ``progress(task, done, total)``; ``task`` is a short English phrase such
#: as ``"attack"``, ``done`` counts up to ``total``.
Progress = Callable[[str, int, int], None]

#: Variable of the environment: where it is set, commands write progress to the error stream, an
#: object of JSON a line, for a program that started them.
LINES = "DISKRET_PROGRESS_LINES"


def silent(task: str, done: int, total: int) -> None:
    """Report nothing; the default wherever a ``progress`` argument is left out."""
