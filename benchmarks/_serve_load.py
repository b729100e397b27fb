"""Load for a service that listens, as a process of its own: its processor time is counted apart.

It reads a plan as JSON from standard input and writes what it measured. Requests are sent over
connections that stay open, in a seeded order. With a rate, they are due at seeded times, whether or
not earlier ones were answered, and waiting counts from when a request was due.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Answer = tuple[int, bytes]


class Connection:
    """A connection that stays open; one request at a time."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, token: str, asked: Any) -> Answer:
        """Status and body of what the service answers to a question; of its data for None."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        body = b"" if asked is None else json.dumps(asked).encode()
        line = "GET /v1/data" if asked is None else "POST /v1/tables"
        head = [
            f"{line} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {token}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        found = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(found.partition("content-length:")[2].split()[0])
        return int(found.split()[1]), await reader.readexactly(length)

    def close(self) -> None:
        """End it."""
        if self._streams is not None:
            self._streams[1].close()


@dataclass
class Measured:
    """Seconds of each answer, how many were none, and what they were."""

    seconds: list[float] = field(default_factory=list[float])
    errors: int = 0
    kept: list[Any] = field(default_factory=list[Any])


async def steady(plan: dict[str, Any], found: Measured) -> None:
    """Each connection asks again as soon as it has an answer, or requests are due at a rate."""
    draw = random.Random(plan["seed"])
    due: asyncio.Queue[float | None] = asyncio.Queue()
    ends = time.perf_counter() + plan["seconds"]
    rate: float = plan.get("rate", 0)

    async def worker(at: int) -> None:
        own = random.Random(plan["seed"] * 10_000 + at)
        line = Connection(plan["urls"][at % len(plan["urls"])])
        token = plan["tokens"][at % len(plan["tokens"])]
        while time.perf_counter() < ends:
            began = await due.get() if rate else time.perf_counter()
            if began is None:
                break
            await answered(line, token, own.choice(plan["questions"]), began, found)
        line.close()

    async def clock() -> None:
        at = time.perf_counter()
        while at < ends:
            at += draw.expovariate(rate)
            await asyncio.sleep(max(at - time.perf_counter(), 0))
            due.put_nowait(at)
        for _ in range(plan["connections"]):
            due.put_nowait(None)

    both = [worker(at) for at in range(plan["connections"])]
    await asyncio.gather(*both, *([clock()] if rate else []))


async def sessions(plan: dict[str, Any], found: Measured) -> None:
    """All sessions are open before the first one asks; each of a user of its own."""
    lines = [Connection(plan["urls"][at % len(plan["urls"])]) for at in range(len(plan["tokens"]))]
    pairs = [*zip(lines, plan["tokens"], strict=True)]

    async def session(line: Connection, token: str, at: int) -> None:
        own = random.Random(plan["seed"] * 10_000 + at)
        for _ in range(plan["each"]):
            asked = own.choice(plan["questions"])
            await answered(line, token, asked, time.perf_counter(), found)

    opened = Measured()
    await asyncio.gather(
        *(answered(line, token, None, time.perf_counter(), opened) for line, token in pairs)
    )
    await asyncio.gather(*(session(*pair, at) for at, pair in enumerate(pairs)))
    found.errors += opened.errors
    for line in lines:
        line.close()


async def writes(plan: dict[str, Any], found: Measured) -> None:
    """Asks for all questions, none twice, and says of each at once that it was answered."""
    left = iter(plan["questions"])

    async def worker(at: int) -> None:
        line = Connection(plan["urls"][at % len(plan["urls"])])
        for asked in left:
            try:
                status, content = await line.ask(plan["tokens"][at % len(plan["tokens"])], asked)
            except (OSError, asyncio.IncompleteReadError):
                return
            if status == 200:
                print(json.dumps([asked, json.loads(content)["value"]]), flush=True)

    await asyncio.gather(*(worker(at) for at in range(plan["connections"])))


async def answered(line: Connection, token: str, asked: Any, began: float, found: Measured) -> None:
    """Ask, and note how long it took."""
    try:
        status, _ = await line.ask(token, asked)
    except (OSError, asyncio.IncompleteReadError, ValueError):
        status = 0
    found.seconds.append(time.perf_counter() - began)
    found.errors += status != 200


def main() -> None:
    """Carry out a plan."""
    plan = json.load(sys.stdin)
    found = Measured()
    ways = {"steady": steady, "sessions": sessions, "writes": writes}
    began = time.perf_counter()
    asyncio.run(ways[plan["do"]](plan, found))
    wall = time.perf_counter() - began
    used = sum(os.times()[:2])
    said = {"seconds": found.seconds, "errors": found.errors, "wall": wall, "cpu": used}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
