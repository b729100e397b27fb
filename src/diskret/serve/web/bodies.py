"""What a request brings: JSON that is not larger, slower or stranger than a question is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

from diskret.errors import InputError
from diskret.serve.web.problems import Unanswered

#: Lists and sections in one another; a question has three.
_DEEPEST = 16


async def read_json(request: Request, *, most: int, seconds: float) -> Any:
    """The body of a request as JSON.

    Parameters
    ----------
    most
        Bytes.
    seconds
        How long it may take to arrive.

    Raises
    ------
    Unanswered
        It is not JSON, encoded or compressed otherwise, too large or too slow.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unanswered("a question is sent as application/json", 415)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unanswered("a question is sent as it is, not compressed", 415)
    try:
        async with asyncio.timeout(seconds):
            body = await _bytes(request, most)
    except TimeoutError:
        raise Unanswered(f"the question did not arrive within {seconds:g} seconds", 408) from None
    except ClientDisconnect:
        raise Unanswered("the question did not arrive as a whole", 400) from None
    try:
        return loaded(body)
    except InputError as error:
        raise Unanswered(str(error), 400) from None


async def _bytes(request: Request, most: int) -> bytes:
    too_large = Unanswered(f"a question has at most {most:,} bytes", 413)
    declared = request.headers.get("content-length", "0")
    if not declared.isascii() or not declared.isdigit() or int(declared) > most:
        raise too_large
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_large
    return bytes(body)


def loaded(body: bytes) -> Any:
    """JSON as RFC 8259 has it, in UTF-8, no name twice, nothing that is no number.

    >>> loaded(b'{"by": ["sex"]}')
    {'by': ['sex']}
    """
    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_none)
    except (ValueError, RecursionError):
        raise InputError("a question is JSON in UTF-8, no name twice") from None
    if _deeper(found, _DEEPEST):
        raise InputError("a question is JSON in UTF-8, no name twice")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("twice")
    return found


def _none(constant: str) -> Any:
    raise ValueError(constant)


def _deeper(found: Any, left: int) -> bool:
    if not isinstance(found, (dict, list)):
        return False
    if left == 0:
        return True
    return any(
        _deeper(one, left - 1) for one in (found.values() if isinstance(found, dict) else found)
    )
