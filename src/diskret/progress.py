"""One way to report progress: a callback that is told what runs and how far it is."""

from collections.abc import Callable

#: Called as ``progress(task, done, total)``; ``task`` is a short English phrase such
#: as ``"attack"``, ``done`` counts up to ``total``.
Progress = Callable[[str, int, int], None]


def silent(task: str, done: int, total: int) -> None:
    """Report nothing; the default wherever a ``progress`` argument is left out."""
