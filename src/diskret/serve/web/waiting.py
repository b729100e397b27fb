"""A question that is answered in a thread for as long as somebody waits for the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, create_task_group, to_thread
from starlette.requests import Request

_Found = TypeVar("_Found")


async def while_waited_for(
    request: Request, ask: Callable[[Callable[[], bool]], _Found], limiter: CapacityLimiter
) -> _Found:
    """What `ask` finds in a thread; it is given what says whether the asker has gone away.

    The body of the request has been read.
    """
    gone = threading.Event()
    found: list[_Found] = []
    errors: list[Exception] = []

    async def watch() -> None:
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        finally:  # the server may end as well
            gone.set()

    async with create_task_group() as both:
        both.start_soon(watch)
        try:
            found.append(await to_thread.run_sync(ask, gone.is_set, limiter=limiter))
        except Exception as error:  # the group would wrap it
            errors.append(error)
        both.cancel_scope.cancel()
    if errors:
        raise errors[0]
    return found[0]
