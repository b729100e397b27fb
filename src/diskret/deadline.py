"""When a release has to stand: one value that search, repair, proof and explanations share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf, isfinite

from diskret.errors import ProtectionError
from diskret.progress import Progress


class OutOfTime(ProtectionError):
    """Time ended before something was found or shown that nothing else can stand for."""


@dataclass(frozen=True)
class Deadline:
    """A point in time, or none.

    `end`: value of ``time.monotonic()``; inf: never. `last`: the end of the deadline of which this
    one is a share; inf: of none. `begun`, `given`: when all that it is a share of began, and how
    many seconds were given to it.

    >>> Deadline().seconds(), Deadline.after(-1).passed
    (inf, True)
    >>> half = Deadline.after(60).share(0.5)
    >>> round(half.seconds()), round(half.whole.seconds())
    (30, 60)
    """

    end: float = inf
    last: float = inf
    begun: float = 0.0
    given: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None: never."""
        if seconds is None:
            return NEVER
        now = time.monotonic()
        return cls(now + seconds, begun=now, given=seconds)

    @property
    def limited(self) -> bool:
        """Whether there is an end at all."""
        return isfinite(self.end)

    @property
    def passed(self) -> bool:
        """Whether it is too late."""
        return self.limited and time.monotonic() >= self.end

    def seconds(self) -> float:
        """Time left, below 0 if it is too late."""
        return self.end - time.monotonic() if self.limited else inf

    def share(self, part: float) -> Deadline:
        """The end of a stage that may use this part of the time left, from 0 to 1."""
        if not self.limited:
            return self
        now = time.monotonic()
        end, last = now + part * max(self.end - now, 0.0), min(self.last, self.end)
        return Deadline(end, last, self.begun, self.given)

    def taken(self) -> float:
        """Seconds since all that it is a share of began."""
        return time.monotonic() - self.begun

    @property
    def whole(self) -> Deadline:
        """The deadline of which this is a share, or a share of a share; never if it is none."""
        return Deadline(self.last)

    def check(self) -> None:
        """Raise `OutOfTime` if it is too late; for stages that another answer can stand for."""
        if self.passed:
            raise self.error()

    def error(self) -> OutOfTime:
        """The error of a stage that time has ended."""
        return OutOfTime(
            f"time limit too short for all that was asked for: {self.taken():.1f} of "
            f"{self.given:g} s are over; allow more time"
        )

    def watched(self, progress: Progress) -> Progress:
        """A callback that ends what reports to it once it is too late, by `OutOfTime`."""
        if not self.limited:
            return progress

        def told(task: str, done: int, total: int) -> None:
            self.check()
            progress(task, done, total)

        return told


NEVER = Deadline()
