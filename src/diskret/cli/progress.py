"""Progress bars for what takes longer than one likes to wait."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from diskret.progress import LINES, Progress, silent
from diskret.texts.messages import translated

_PATIENCE = 2.0
#: Seconds between lines of progress.
_PAUSE = 0.1


@contextmanager
def progress_bars(
    console: Console | None = None, patience: float = _PATIENCE, language: str = "en"
) -> Generator[Progress, None, None]:
    """A callback that draws a bar for each task, once `patience` seconds have passed.

    What stands behind a colon in a task, such as the largest deviation so far, may change.
    Bars are drawn on the error stream and only if it is a terminal. A program that started this
    one may ask for lines instead, see `diskret.progress.LINES`.
    """
    if os.environ.get(LINES):
        yield _lines(language)
        return
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    begun = time.monotonic()
    tasks = {}

    def progress(task: str, done: int, total: int) -> None:
        name = task.partition(":")[0]
        said = translated(task, language)
        if name not in tasks:
            tasks[name] = bars.add_task(said, total=total)
        bars.update(tasks[name], description=said, completed=done, total=total)
        if time.monotonic() - begun >= patience:
            bars.start()

    try:
        yield progress
    finally:
        bars.stop()


def _lines(language: str) -> Progress:
    """A callback that writes a line of JSON for each step, not too often."""
    last: dict[str, float] = {}

    def progress(task: str, done: int, total: int) -> None:
        now = time.monotonic()
        name = task.partition(":")[0]
        if done < total and now - last.get(name, 0.0) < _PAUSE:
            return
        last[name] = now
        told = {"task": translated(task, language), "done": int(done), "total": int(total)}
        print(json.dumps(told), file=sys.stderr, flush=True)

    return progress
