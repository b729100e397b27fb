"""What went wrong, as a problem of RFC 9457 in the language of the reader; engines say nothing."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from diskret.errors import DiskretError
from diskret.texts.messages import translated

MEDIA_TYPE = "application/problem+json"


class Unanswered(DiskretError):
    """A request that is answered with an error.

    Parameters
    ----------
    said
        What the reader is told, in English; translated when it is sent.
    status
        Of HTTP, from 400 upwards.
    wait
        Seconds after which the same may be asked again; None: nothing is said about it.
    """

    def __init__(self, said: str, status: int, wait: float | None = None):
        super().__init__(said)
        self.status = status
        self.said = said
        self.wait = wait


def language_of(request: Request) -> Literal["en", "de"]:
    """The language of the reader: ``?language=``, else ``Accept-Language``, else English."""
    asked = request.query_params.get("language")
    if asked is None:
        asked = request.headers.get("accept-language", "")
    return "de" if asked.strip().lower()[:2] == "de" else "en"


def answered(request: Request, problem: Unanswered) -> Response:
    """The problem as a response."""
    language = language_of(request)
    headers = {"Content-Language": language, **PRIVATE}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.wait is not None:
        headers["Retry-After"] = str(math.ceil(problem.wait))
    content = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": translated(problem.said, language),
    }
    return JSONResponse(content, problem.status, headers, MEDIA_TYPE)


#: Of each response: nobody between keeps it, and no browser takes it for something else.
PRIVATE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
