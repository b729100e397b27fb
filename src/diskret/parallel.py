"""How much is done at the same time, and independent pieces of work in their order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

from diskret.effort import counted, spend
from diskret.progress import Progress

Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: Seconds after which somebody who waits is told that the work goes on.
_PATIENCE = 0.5


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def nothing() -> None:
    """Do nothing; what waiting means where nobody wants to know."""


def meanwhile(work: Callable[[], Result], waiting: Callable[[], None]) -> Result:
    """Do something in another thread; `waiting` is called from time to time, as by `in_order`.

    Who interrupts a program does not wait for the end of it, nor does Python when it ends.

    >>> meanwhile(lambda: 7, nothing)
    7
    """
    if waiting is nothing:
        return work()
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised where somebody waits
            future.set_exception(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        while not wait([future], _PATIENCE).done:
            waiting()
    except Exception:
        wait([future])  # it still changes what others may go on with
        raise
    return future.result()


def stage(work: Callable[[], Result], progress: Progress, task: str) -> Result:
    """Do something as a task of its own; if it takes long that is told, and its end as well.

    >>> told = []
    >>> stage(lambda: 7, lambda *step: told.append(step), "prepare"), told
    (7, [])
    """
    long = False

    def waiting() -> None:
        nonlocal long
        long = True
        progress(task, 0, 1)

    found = meanwhile(work, waiting)
    if long:
        progress(task, 1, 1)
    return found


def in_order(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    waiting: Callable[[], None] = nothing,
    workers: int | None = None,
) -> Iterator[Result]:
    """Do the same with each piece, in threads, and yield the results as `map` would.

    The solver works outside the interpreter's lock, so threads do run at the same time. What
    comes out does not depend on their number as long as no piece changes what another one
    reads. The first error in the order of the pieces is raised, and what has not begun by then
    is dropped.

    waiting: called from time to time, by the thread that asks for the results.
    workers: number of threads; None: one for each core.
    """
    spent: list[int] = []

    def do(piece: Piece) -> Result:
        if len(pieces) == 1:
            return work(piece)
        with counted(apart=True) as effort:
            try:
                return work(piece)
            finally:
                spent.append(effort.done)

    workers = min(workers or cores(), len(pieces))
    if workers < 1 or (workers < 2 and waiting is nothing):
        for piece in pieces:
            yield do(piece)
        spend(sum(spent))
        return
    pool = ThreadPoolExecutor(workers)
    patient = True
    try:
        futures: list[Future[Result]] = [
            pool.submit(copy_context().run, do, piece) for piece in pieces
        ]
        for future in futures:
            while not wait([future], _PATIENCE).done:
                waiting()
            yield future.result()
    except KeyboardInterrupt:
        patient = False  # a solver in another thread hears nothing
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)
        spend(sum(spent))
