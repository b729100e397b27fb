"""``diskret protect`` in a process of its own: started, listened to, and stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess  # noqa: S404
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from diskret.errors import InputError
from diskret.progress import LINES

#: Lines of messages that are kept.
_MESSAGES = 50
#: Seconds in which a command that was told to stop does so.
_PATIENCE = 5
#: Tells a command to stop. On Windows all of a group are told, so it gets one of its own.
_STOP = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT)
_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_PROGRAM = (sys.executable, "-c", "from diskret.cli import run; run()")


class Run:
    """A command that runs, or has ended.

    Parameters
    ----------
    arguments
        Of the program ``diskret``.
    folder
        The process works in it.
    answers
        Whether what it prints are messages, too.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, *, answers: bool = False):
        self.arguments = tuple(arguments)
        self._tasks: dict[str, tuple[int, int]] = {}
        self._messages: list[str] = []
        self._lock = Lock()
        self._cancelled = False
        self._process = subprocess.Popen(  # noqa: S603
            [*_PROGRAM, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            # else tables, which are read from the released folder
            stdout=subprocess.PIPE if answers else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if answers else subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, LINES: "1", "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C in the terminal is for the workbench
            creationflags=_GROUP,
        )
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def state(self) -> str:
        """``"running"``, ``"done"``, ``"failed"`` or ``"cancelled"``."""
        code = self._process.poll()
        if code is None:
            return "running"
        return "done" if code == 0 else "cancelled" if self._cancelled else "failed"

    def told(self) -> dict[str, Any]:
        """How far it is, for the page."""
        state = self.state
        if state != "running":
            self._listener.join(1)
        with self._lock:
            tasks = [
                {"task": task, "done": done, "total": total}
                for task, (done, total) in self._tasks.items()
            ]
            return {"state": state, "tasks": tasks, "messages": [*self._messages]}

    def cancel(self) -> None:
        """Stop it; what it was writing it takes back itself."""
        if self._process.poll() is not None:
            return
        self._cancelled = True
        try:
            self._process.send_signal(_STOP)
            self._process.wait(_PATIENCE)
        except (subprocess.TimeoutExpired, OSError):  # or there is no terminal that could tell it
            self._process.kill()

    def wait(self, seconds: float | None = None) -> str:
        """Wait until it has ended, and say how."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise InputError(f"it has not ended after {seconds} s") from error
        self._listener.join(1)
        return self.state

    def _listen(self) -> None:
        pipe = self._process.stderr or self._process.stdout
        assert pipe is not None  # noqa: S101
        for line in pipe:
            self._hear(line.rstrip())

    def _hear(self, line: str) -> None:
        told: Any = None
        if line.startswith("{"):
            try:
                told = json.loads(line)
            except ValueError:
                told = None
        with self._lock:
            if isinstance(told, dict) and {"task", "done", "total"} <= told.keys():
                self._tasks[told["task"].partition(":")[0]] = (told["done"], told["total"])
            elif line:
                self._messages = [*self._messages, line][-_MESSAGES:]
