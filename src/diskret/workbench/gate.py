"""Who may speak to the workbench: the page it has shown itself, with the token of this start."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The header that carries the token.
TOKEN = "X-Diskret-Token"  # noqa: S105
#: Bytes of a request: a draft with code trees is far smaller.
MOST = 16 * 2**20

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Gate:
    """Lets requests through that come from the page itself; all others get nothing.

    The name in ``Host`` must be that of the loopback, so that no other name that is made to lead
    there is served (DNS rebinding). What a browser sends for another page says so in ``Origin`` or
    ``Sec-Fetch-Site``. Whoever else is at this computer has no token.

    Parameters
    ----------
    inside
        The application.
    token
        Asked for by all but the page itself, which holds nothing of anybody's.
    port
        On which it is served.
    """

    def __init__(self, inside: Application, token: str, port: int):
        self._inside = inside
        self._token = token.encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._inside(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        status = self._refusal(scope)
        if status:
            await _nothing(send, status)
            return

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_headers()]
            await send(message)

        await self._inside(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> int:
        """The status of a refusal, 0 for what is let through."""
        given: dict[str, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value)
        if [one.decode("latin-1") for one in given.get("host", [])] not in [
            [host] for host in self._hosts
        ]:
            return 421
        if any(one.decode("latin-1") not in self._origins for one in given.get("origin", [])):
            return 403
        sites = {one.decode("latin-1") for one in given.get("sec-fetch-site", [])}
        asked: str = scope["path"]
        # the page may be opened from a link or a file
        own = {"same-origin", "none"} if asked.startswith(("/api/", "/page/")) else sites
        if sites - own:
            return 403
        if not asked.startswith("/api/"):
            return 0
        tokens = given.get(TOKEN.lower(), [])
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._token):
            return 401
        return 413 if _length(given) > MOST else 0


def _length(given: Mapping[str, list[bytes]]) -> int:
    """Bytes of the body; one whose length is not said is too long."""
    if "transfer-encoding" in given:
        return MOST + 1
    try:
        return max(int(one) for one in given.get("content-length", [b"0"]))
    except ValueError:
        return MOST + 1


def _headers() -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


async def _nothing(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": _headers()})
    await send({"type": "http.response.body", "body": b""})
