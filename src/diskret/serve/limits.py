"""How often somebody may come: users by a bucket each, addresses by ever longer waits."""

from __future__ import annotations

import threading
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Generic, TypeVar

Known = TypeVar("Known")

#: Of whom something is remembered; who came longest ago is forgotten first.
_MOST = 100_000
#: Bits of an IPv6 address that name a network; its machines choose the others (RFC 4291, 2.5.1).
_NETWORK = 64


class _Memory(Generic[Known]):
    """What is remembered of each name, of not more than `_MOST` of them."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, Known] = OrderedDict()

    def __len__(self) -> int:
        return len(self._of)

    def take(self, who: str, otherwise: Known) -> Known:
        return self._of.pop(who, otherwise)

    def keep(self, who: str, known: Known) -> None:
        self._of[who] = known
        if len(self._of) > _MOST:
            self._of.popitem(last=False)


class Rate:
    """Lets each through so many times in a row, and so many times a second on average.

    Parameters
    ----------
    each_second
        On average, > 0.
    at_once
        In a row, ≥ 1.

    Examples
    --------
    >>> rate = Rate(each_second=2, at_once=1)
    >>> rate.take("anne", now=0.0), rate.take("anne", now=0.0), rate.take("anne", now=0.5)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, each_second: float, at_once: int):
        self._each_second = each_second
        self._at_once = at_once
        self._left: _Memory[tuple[float, float]] = _Memory()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, who: str, now: float) -> float:
        """Count one more.

        Parameters
        ----------
        who
            A name or an address.
        now
            Seconds, of any clock; where it goes back, it is taken to stand still.

        Returns
        -------
        float
            Seconds to wait; 0: it is let through. Who has to wait is not counted.
        """
        with self._lock:
            left, then = self._left.take(who, (float(self._at_once), now))
            now = max(now, then)
            left = min(self._at_once, left + (now - then) * self._each_second)
            wait = 0.0 if left >= 1 else (1 - left) / self._each_second
            self._left.keep(who, (left - 1 if wait == 0 else left, now))
            return wait


class Failures:
    """Lets addresses fail a few times, then makes them wait, twice as long each time.

    IPv6 addresses of one network are one, and so is all that is no address.

    Parameters
    ----------
    at_once
        How many failures cost nothing, ≥ 1.
    first, longest
        Seconds of the first wait, > 0, and of the longest. Who does not fail for `longest` seconds
        after a wait is forgotten.

    Examples
    --------
    >>> failures = Failures(at_once=1, first=5, longest=60)
    >>> [failures.take("192.0.2.1", now) for now in (0, 0, 2, 5, 5)]
    [0.0, 5.0, 3.0, 0.0, 10.0]
    """

    def __init__(self, at_once: int = 20, first: float = 5.0, longest: float = 3600.0):
        self._at_once = at_once
        self._first = first
        self._longest = longest
        # failures that count, and until when the next one has to wait
        self._of: _Memory[tuple[int, float]] = _Memory()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._of)

    def take(self, who: str, now: float) -> float:
        """Count one more failure.

        Parameters
        ----------
        who
            An address.
        now
            Seconds, of any clock.

        Returns
        -------
        float
            Seconds to wait; 0: none. Who has to wait is not counted.
        """
        who = network_of(who)
        with self._lock:
            count, until = self._of.take(who, (0, float(now)))
            if now - until >= self._longest:
                count, until = 0, now
            wait = max(until - now, 0.0)
            if wait == 0:
                count, until = count + 1, now + self._after(count + 1)
            self._of.keep(who, (count, until))
            return wait

    def _after(self, count: int) -> float:
        """Seconds to wait after so many failures."""
        beyond = count - self._at_once
        # no power that is longer than any wait
        return 0.0 if beyond < 0 else min(self._first * 2.0 ** min(beyond, 60), self._longest)


def network_of(address: str) -> str:
    """The network of an IPv6 address (/64); an IPv4 address itself; "" of what is no address.

    Examples
    --------
    >>> network_of("2001:db8::1:2:3:4"), network_of("::ffff:192.0.2.1"), network_of("x" * 9000)
    ('2001:db8::', '192.0.2.1', '')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    free = 128 - _NETWORK
    return str(IPv6Address(int(found) >> free << free))
