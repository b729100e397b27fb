"""Around each request: it is counted, gets its headers, and nothing is told of what broke."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diskret.serve.web.figures import Figures
from diskret.serve.web.problems import PRIVATE, Unanswered, answered

_log = logging.getLogger("diskret.serve")


class Watch:
    """Lets requests through to an application.

    Parameters
    ----------
    figures
        Where they are counted.
    most
        Requests at the same time; further ones are turned away.
    seconds
        How long a reader may take for each part of an answer; then the connection ends.
    """

    def __init__(self, app: ASGIApp, figures: Figures, most: int, seconds: float):
        self._app = app
        self._figures = figures
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = monotonic(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message["headers"])
                for name, value in PRIVATE.items():
                    headers.setdefault(name, value)  # the query page has a policy of its own
            async with asyncio.timeout(self._seconds):
                await send(message)

        request = Request(scope, receive)
        if self._figures.waiting >= self._most:
            problem = answered(request, Unanswered("too many questions wait; ask again", 503, 1))
            await problem(scope, receive, watched)
            self._figures.count(status, 0.0)
            return
        self._figures.waiting += 1
        try:
            await self._app(scope, receive, watched)
        except TimeoutError:
            return  # nobody takes the answer
        except asyncio.CancelledError:
            if not status:
                said = Unanswered("the service ends; ask again when it is back", 503, 60)
                await answered(request, said)(scope, receive, watched)
            raise
        except Exception as error:
            # what an engine says may hold codes of records: only the place goes to the log
            _log.log(logging.ERROR, "%s in %s", type(error).__name__, _place(error))
            if not status:
                said = Unanswered("this cannot be answered; the office knows why", 500)
                await answered(request, said)(scope, receive, watched)
        finally:
            self._figures.waiting -= 1
            self._figures.count(status, monotonic() - began)


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
