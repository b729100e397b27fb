"""Engines that stay open between questions, and are stopped where one takes too long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from time import monotonic
from typing import TypeVar

from diskret.engines.engine import Engine
from diskret.errors import DiskretError

#: Seconds between two looks whether somebody still waits, and between two tries to stop an engine.
_PAUSE = 0.1

_Found = TypeVar("_Found")


class TooLong(DiskretError):
    """A question that was not answered in time, or for which nobody waits any more."""


class Until:
    """How long a question may take, from now on.

    Parameters
    ----------
    seconds
        At most; None: as long as it takes.
    gone
        Says whether the asker has gone away; is asked by another thread, several times a second.
    """

    def __init__(self, seconds: float | None = None, gone: Callable[[], bool] | None = None):
        self._seconds = seconds
        self._end = None if seconds is None else monotonic() + seconds
        self._gone = gone

    @property
    def left(self) -> float | None:
        """Seconds, at least one; None: as long as it takes."""
        return None if self._end is None else max(self._end - monotonic(), 1.0)

    @property
    def error(self) -> TooLong | None:
        """Why the question is to be stopped; None: it is not."""
        if self._gone is not None and self._gone():
            return TooLong("nobody waits for the table any more")
        if self._end is not None and monotonic() >= self._end:
            return TooLong(
                f"the table takes longer than {self._seconds:g} seconds; ask with fewer variables. "
                "It is counted, so it costs nothing to ask for it again"
            )
        return None

    def check(self) -> None:
        """Stop the question, if its time is over.

        Raises
        ------
        TooLong
            It is.
        """
        if (error := self.error) is not None:
            raise error

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Generator[threading.Event]:
        """Call `stop`, again and again, once the time is over; the event says whether it was.

        A question is several statements, so one that is stopped between two of them goes on.
        """
        ended, stopped = threading.Event(), threading.Event()
        errors: list[TooLong] = []

        def watch() -> None:
            while not ended.wait(_PAUSE if self._end is None else self._pause(self._end)):
                if (error := self.error) is not None:
                    errors.append(error)
                    stopped.set()
                    with suppress(Exception):  # it is tried again
                        stop()

        watching = self._end is not None or self._gone is not None
        thread = threading.Thread(target=watch, daemon=True)
        if watching:
            thread.start()
        try:
            yield stopped
        except Exception as error:
            if stopped.is_set():
                raise errors[0] from error
            raise
        finally:
            ended.set()
            if watching:
                thread.join()

    def _pause(self, end: float) -> float:
        left = end - monotonic()
        if left <= 0:
            return _PAUSE
        return left if self._gone is None else min(left, _PAUSE)


class KeptEngine:
    """The engine of a data set: opened when it is first needed, for one question at a time.

    An engine that was stopped or failed is closed, and another one opened for the next question.

    Parameters
    ----------
    run
        Opens an engine.
    """

    def __init__(self, run: Callable[[], AbstractContextManager[Engine]]):
        self._run = run
        self._engine: Engine | None = None
        self._held = ExitStack()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, until: Until) -> Generator[None]:
        """Wait until nobody else asks; `ask` belongs into the block.

        Raises
        ------
        TooLong
            The time was over before.
        """
        while not self._lock.acquire(timeout=_PAUSE):
            until.check()
        try:
            until.check()
            yield
        finally:
            self._lock.release()

    def ask(self, question: Callable[[Engine], _Found], until: Until) -> _Found:
        """Put a question.

        Raises
        ------
        TooLong
            It took too long.
        InputError
            As of the engine.
        """
        kept = self._engine is not None
        try:
            return self._asked(question, until)
        except TooLong:
            raise
        except (DiskretError, OSError):
            if not kept:
                raise
            # a connection that stayed open may be lost since
            until.check()
            return self._asked(question, until)

    def close(self) -> None:
        """Close the engine."""
        self._engine = None
        self._held.close()

    def _asked(self, question: Callable[[Engine], _Found], until: Until) -> _Found:
        try:
            if self._engine is None:
                self._engine = self._held.enter_context(self._run())
            with until.stopping(self._engine.stop) as stopped:
                found = question(self._engine)
        except BaseException:
            self.close()
            raise
        if stopped.is_set():  # it was just done, and what stops it may be under way
            self.close()
        return found
