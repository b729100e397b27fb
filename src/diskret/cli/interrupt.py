"""Ctrl-C ends a command at once, even while a solver runs, and never while files are moved.

A server ends so, too: whatever computes for somebody has a moment, and is then left.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Coroutine, Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: Seconds in which the command is expected to end by itself: it does unless it waits for a solver.
_PATIENCE = 0.5
#: Seconds that answers have which are under way when a server is told to end, twice.
_MOMENT = 0.2
#: Status of a program that was ended by Ctrl-C.
INTERRUPTED = 130
#: What Ctrl-C sends, and what Windows lets one program send another.
_STOPS = {signal.SIGINT, getattr(signal, "SIGBREAK", signal.SIGINT)}


@contextmanager
def interruptible(said: str) -> Generator[None]:
    """Let Ctrl-C end the process even where Python waits for a solver, which hears no signal.

    Python notices a signal between two of its own steps. If it does not within half a second, a
    thread that listens ends the process: by then nothing is being written, for where files are
    written it waits until Python has noticed and has taken back what was begun.

    said: what is printed then.
    """
    listening, ringing = socket.socketpair()
    ringing.setblocking(False)
    noticed = threading.Event()

    def notice(number: int, frame: FrameType | None) -> None:
        noticed.set()
        raise KeyboardInterrupt

    def listen() -> None:
        while rung := listening.recv(1):
            if rung[0] in _STOPS:
                while not noticed.wait(_PATIENCE):
                    if not _writing():
                        end_at_once(said)

    before = {number: signal.signal(number, notice) for number in _STOPS}
    descriptor = signal.set_wakeup_fd(ringing.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=listen, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        _restore(before)
        ringing.close()


@contextmanager
def ended_by_signals(said: str = "") -> Generator[None]:
    """Let SIGINT and SIGTERM end a server in order: what is opened inside is closed.

    Then the process ends, also where threads still compute: nobody waits for what they find, nor
    for Python to take itself apart.

    said: what is printed then.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (*_STOPS, signal.SIGTERM)}
    listened = signal.set_wakeup_fd(-1)
    try:
        yield
    except KeyboardInterrupt:
        if said:
            print(said)
        while _writing():
            time.sleep(0.05)
        sys.stdout.flush()
        os._exit(0)
    finally:
        signal.set_wakeup_fd(listened, warn_on_full_buffer=False)
        _restore(before)


def run_until_told(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server; what it is answering when it ends has a moment for that, and is then left.

    serving: ends when the server is told to stop.
    """
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(serving)
    finally:
        logging.getLogger("uvicorn.error").disabled = True  # that answers are broken off is meant
        for stop in (False, True):
            left = asyncio.all_tasks(loop)
            for one in left if stop else ():
                one.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=_MOMENT))
        if not asyncio.all_tasks(loop):
            loop.close()


def end_at_once(said: str) -> None:
    """End the process without waiting for solvers in other threads."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # bars hide the cursor
    print(said, file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


def _restore(before: Mapping[Any, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def _writing() -> bool:
    """Whether a release is being written."""
    staging = sys.modules.get("diskret.publish.staging")
    return staging is not None and bool(staging.writing)
