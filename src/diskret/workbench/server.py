"""The workbench on loopback: a socket, a token of this start, and the server behind both."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from diskret.errors import InputError
from diskret.workbench.app import application
from diskret.workbench.bench import Bench
from diskret.workbench.gate import Gate

_ADDRESS = "127.0.0.1"
#: A page that leads to the workbench; a browser that is started with the address of the workbench
#: itself would show the token to everybody who lists processes.
_DOOR = (
    '<!doctype html><meta charset="utf-8"><title>diskret</title>'
    '<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">diskret</a>\n'
)


@contextmanager
def workbench(
    folder: Path, port: int = 0, language: str = "en", token: str | None = None
) -> Generator[tuple[uvicorn.Server, str]]:
    """A server of the workbench, and the address that opens it, the token behind its ``#``.

    Parameters
    ----------
    folder
        All files that are opened and written lie below it.
    port
        On 127.0.0.1; 0: one that is free.
    language
        ``"en"`` or ``"de"``, until the page asks for the other one.
    token
        None: a new one.
    """
    listening = _listening(port)
    bench = Bench(folder, language)
    token = token or secrets.token_urlsafe(32)
    found = listening.getsockname()[1]
    config = uvicorn.Config(
        Gate(application(bench), token, found),  # pyright: ignore[reportArgumentType]
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    try:
        yield _Server(config, listening), f"http://{_ADDRESS}:{found}/#token={token}"
    finally:
        listening.close()
        bench.close()


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_ADDRESS, port))
    except OSError:
        listening.close()
        raise InputError(
            f"port {port} of {_ADDRESS} cannot be used: another program does, or it is not allowed;"
            " choose another one, or 0 for one that is free"
        ) from None
    listening.listen(64)  # who is told the address may come at once
    return listening


class _Server(uvicorn.Server):
    """Serves on the socket that is bound already."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket):
        super().__init__(config)
        self._listening = listening

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to stop, and wait for no answer then."""
        await super().serve(sockets=[self._listening])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = True


@contextmanager
def opened_in_browser(url: str, show: Callable[[str], object] = webbrowser.open) -> Generator[None]:
    """Open the workbench in a browser, by way of a file that only this user can read."""
    handle, name = tempfile.mkstemp(prefix="diskret-", suffix=".html")  # readable by its owner only
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_DOOR.format(url=url))
        show(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)
