"""The server: it listens until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from diskret.errors import InputError
from diskret.serve.config import Service


def server(app: FastAPI, service: Service, ready: Callable[[str], None]) -> uvicorn.Server:
    """A server whose `serve` serves until SIGINT or SIGTERM; the latter waits for answers.

    Parameters
    ----------
    ready
        Is told the address once requests are taken.
    """
    _more_connections()
    seconds = service.limits.seconds
    config = uvicorn.Config(
        app,
        service.host,
        service.port,
        loop="asyncio",
        http=_patient(seconds),
        ws="none",
        log_config=None,  # what uvicorn logs by itself names paths and addresses
        access_log=False,
        server_header=False,
        proxy_headers=bool(service.proxies),
        forwarded_allow_ips=[*service.proxies],
        timeout_keep_alive=seconds,
        timeout_graceful_shutdown=seconds,
        ssl_certfile=service.certificate,
        ssl_keyfile=service.private_key,
    )
    return _Server(config, ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]):
        super().__init__(config)
        self._ready = ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = sig == signal.SIGINT  # who sits before it does not wait for answers

    async def startup(self, sockets: Any = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:  # uvicorn ends so, and logs why
            raise InputError(
                f"port {self.config.port} of {self.config.host} cannot be used: another program "
                "does, or the address is none of this computer; choose another one"
            ) from None
        if not self.should_exit:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            scheme = "http" if self.config.ssl_certfile is None else "https"
            self._ready(f"{scheme}://{shown}:{port}")


def _patient(seconds: float) -> type[H11Protocol]:
    """HTTP that ends connections whose request does not begin in time, or comes byte by byte."""

    class Patient(H11Protocol):
        _until: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def handle_events(self) -> None:
            super().handle_events()
            self._watch()

        def _watch(self) -> None:
            cycle: Any = self.cycle  # None before the first request
            if cycle is not None and not cycle.response_complete:
                self._forget()
            elif self._until is None:
                self._until = self.loop.call_later(seconds, self.transport.close)

        def _forget(self) -> None:
            if self._until is not None:
                self._until.cancel()
                self._until = None

    return Patient


def _more_connections() -> None:
    """As many open connections as the system lets one program have."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
