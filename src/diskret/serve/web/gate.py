"""Who asks, and how often: each request passes here first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol

from diskret.serve.web.problems import Unanswered


class Asker(Protocol):
    """A user, as far as the application must know one."""

    @property
    def name(self) -> str:
        """Of the user."""
        ...

    @property
    def role(self) -> str:
        """Of the user."""
        ...

    def may(self, right: str) -> bool:
        """Whether the user's role has a right."""
        ...

    def sees(self, data: str) -> bool:
        """Whether the user may ask of a data set."""
        ...


class Limit(Protocol):
    """How often somebody may come."""

    def take(self, who: str, now: float) -> float:
        """Count one more; seconds to wait, 0 if it is let through."""
        ...


class Gate:
    """Lets users in by their tokens, as often as they may ask.

    Parameters
    ----------
    users
        Token and day → its user, or None.
    rate
        Of each user.
    failures
        Of each address whose token was none. Who has a token is let in beside one who guesses.
    clock
        Seconds.
    noted
        Is told the address of each request that is not let in, as far as it may come so often.
    """

    def __init__(
        self,
        users: Callable[[str, datetime], Asker | None],
        rate: Limit,
        failures: Limit,
        clock: Callable[[], float] = monotonic,
        noted: Callable[[str], None] = lambda address: None,
    ):
        self._users = users
        self._rate = rate
        self._failures = failures
        self._clock = clock
        self._noted = noted

    def let_in(self, authorization: str, address: str) -> Asker:
        """The user whose token stands in a header ``Authorization: Bearer …``.

        Raises
        ------
        Unanswered
            There is none, or too much was asked lately.
        """
        scheme, _, token = authorization.partition(" ")
        user = None
        if scheme.lower() == "bearer" and token.isascii() and len(token) < 200:
            user = self._users(token.strip(), datetime.now(UTC))
        if user is None:
            wait = self._failures.take(address, self._clock())
            if wait > 0:
                raise Unanswered("too many requests without a valid token", 429, wait)
            self._noted(address)
            raise Unanswered("a valid token is needed: Authorization: Bearer dsk_…", 401)
        wait = self._rate.take(user.name, self._clock())
        if wait > 0:
            raise Unanswered("you ask too often; wait as long as Retry-After says", 429, wait)
        return user
