"""Work, counted in place of time: the same on every computer."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from threading import Lock


class Effort:
    """What programmes took, and may take: pivots times columns; 10⁸ are about half a second.

    `most`: when so much was done nothing new is begun. `done`: so much was done.

    >>> with counted(most=80) as effort:
    ...     spend(20)
    >>> effort.done, effort.left
    (20, 0.75)
    """

    def __init__(self, most: float = inf):
        self.most = most
        self.done = 0
        self._lock = Lock()

    def add(self, work: int) -> None:
        """Count some work."""
        with self._lock:
            self.done += work

    @property
    def left(self) -> float:
        """The share that is left, from 1 down to 0."""
        return 1.0 if self.most == inf else max(1 - self.done / self.most, 0.0)


_COUNTING: ContextVar[tuple[Effort, ...]] = ContextVar("counting", default=())


def spend(work: int) -> None:
    """Count some work for everybody who counts."""
    for effort in _COUNTING.get():
        effort.add(work)


@contextmanager
def counted(most: float = inf, apart: bool = False) -> Generator[Effort]:
    """Count the work of all that is done inside, also in the threads of `diskret.parallel`.

    `apart`: nobody else counts it. What is done at the same time is counted so, since who reads a
    count meanwhile would depend on who is faster.
    """
    effort = Effort(most)
    others = () if apart else _COUNTING.get()
    before = _COUNTING.set((*others, effort))
    try:
        yield effort
    finally:
        _COUNTING.reset(before)
