"""How the service fares, in numbers that say nothing of records or questions."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

#: Seconds; the last column counts all.
_EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Figures:
    """Requests by what came of them, and how long they took.

    >>> figures = Figures()
    >>> figures.count(200, 0.02)
    >>> print(figures.text(memory=0).splitlines()[2])
    diskret_requests_total{status="200"} 1
    """

    def __init__(self) -> None:
        #: Requests that are being answered.
        self.waiting = 0
        self._statuses: Counter[int] = Counter()
        self._slower = [0] * (len(_EDGES) + 1)
        self._seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        """One more request that was answered."""
        self._statuses[status] += 1
        self._slower[bisect_left(_EDGES, seconds)] += 1
        self._seconds += seconds

    def text(self, *, memory: int) -> str:
        """In the format of Prometheus, version 0.0.4."""
        lines = [
            "# HELP diskret_requests_total Requests by the status of their answer.",
            "# TYPE diskret_requests_total counter",
        ]
        for status, number in sorted(self._statuses.items()):
            lines.append(f'diskret_requests_total{{status="{status}"}} {number}')
        lines += [
            "# HELP diskret_request_seconds How long answers took.",
            "# TYPE diskret_request_seconds histogram",
        ]
        number = 0
        for edge, more in zip((*map(str, _EDGES), "+Inf"), self._slower, strict=True):
            number += more
            lines.append(f'diskret_request_seconds_bucket{{le="{edge}"}} {number}')
        lines += [
            f"diskret_request_seconds_sum {self._seconds:.6f}",
            f"diskret_request_seconds_count {number}",
            "# HELP diskret_waiting Requests that are being answered.",
            "# TYPE diskret_waiting gauge",
            f"diskret_waiting {self.waiting}",
            "# HELP diskret_memory_bytes Answers that are kept.",
            "# TYPE diskret_memory_bytes gauge",
            f"diskret_memory_bytes {memory}",
        ]
        return "\n".join(lines) + "\n"
