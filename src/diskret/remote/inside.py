"""What runs in the sandbox: loads libraries, then forks runs and shuts each off from all others.

This file is handed to a Python that has no diskret, so it imports nothing of it. The process that
loads and forks runs no line of a script. A fork has namespaces, folders, limits of its own, and no
rights, before it does; when its first process ends, the kernel ends all that it started.
"""

import contextlib
import ctypes
import fcntl
import importlib
import io
import json
import math
import os
import resource
import signal
import socket
import struct
import sys
import traceback
from types import SimpleNamespace
from typing import Any

import pyarrow.ipc

#: Files, names, messages, processes, network: what a run has for itself (see sched.h).
OWN = (0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000)
#: Not for programs of others, no devices, no programs with rights (see mount.h).
_PLAIN = 2 | 4 | 8
#: Its part in R, beside this file.
R = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.R")
_KERNEL = ctypes.CDLL(None, use_errno=True)


def number(value: Any) -> float | None:
    """None where it is none or infinite, which JSON cannot say."""
    return float(value) if math.isfinite(value) else None


def read(arrow: bytes) -> Any:
    """Records as a pandas frame; None if there are none."""
    if not arrow:
        return None
    return pyarrow.ipc.open_stream(io.BytesIO(arrow)).read_all().to_pandas(use_threads=False)


def carried_out(script: str, arrow: bytes, out: int) -> None:
    """Run the script; its results are one line of JSON, whatever it prints goes elsewhere."""
    data = read(arrow)
    results: dict[str, object] = {}

    def add(name: object, figures: object, adds_up: bool = False) -> None:
        results[str(name)] = {"figures": figures, "adds_up": bool(adds_up)}

    def table(name: object, values: Any, adds_up: bool = False) -> None:
        """A Series of numbers: the cells of a table, or the heights of bars."""
        cells = [key if isinstance(key, tuple) else (key,) for key in values.index]
        numbers = [number(one) for one in values]
        figures = [[[*map(str, cell)], one, None] for cell, one in zip(cells, numbers, strict=True)]
        add(name, figures, adds_up)

    def model(name: object, fit: Any) -> None:
        """A fitted model of statsmodels: coefficients and their standard errors."""
        pairs = zip(fit.params.items(), fit.bse, strict=True)
        add(name, [[[str(key)], number(one), number(error)] for (key, one), error in pairs])

    try:
        given = {"__name__": "__main__", "data": data, "table": table, "model": model}
        exec(compile(script, "script.py", "exec"), given)  # noqa: S102 - behind the wall
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    sys.stdout.flush()
    os.write(out, json.dumps({"results": results}).encode())
    os._exit(0)


# ── shut off ────────────────────────────────────────────────────────────────────────


def guarded(asked: Any, content: int, out: int, said: int) -> None:
    """Make a run's own world, start it there, and end it in time; runs no script itself."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for one in OWN:
        _held(_KERNEL.unshare(one))
    size = f"size={asked.scratch},mode=0700".encode()
    _held(_KERNEL.mount(b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(_PLAIN), size))  # noqa: S108
    run = os.fork()
    if run == 0:
        alone(asked, content, out, said)
    for one in (content, out, said):
        os.close(one)  # what comes out ends when the run has ended
    signal.signal(signal.SIGALRM, lambda *_: os.kill(run, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, asked.seconds)
    os.waitpid(run, 0)  # its first process: with it ends all that it started
    os._exit(0)


def alone(asked: Any, content: int, out: int, said: int) -> None:
    """In a world of its own: keep three files, set limits, lose all rights, run the script."""
    nothing = os.open(os.devnull, os.O_RDWR)
    kept = [fcntl.fcntl(one, fcntl.F_DUPFD, 100) for one in (nothing, said, said, out, content)]
    for at, one in enumerate(kept):
        os.dup2(one, at)
    os.closerange(len(kept), 1_000)
    for name, most in asked.bounds.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    none = struct.pack("<II6I", 0x20080522, 0, *[0] * 6)  # version 3, this process, no rights
    _held(_KERNEL.capset(none[:8], none[8:]))
    os.chdir("/tmp")  # noqa: S108 - its own
    with open(4, "rb", buffering=0, closefd=False) as coming:
        script = exactly(coming, struct.unpack("<Q", exactly(coming, 8))[0])
    if asked.classes:
        in_r(script, asked.classes, asked.environment)
    with open(4, "rb") as coming:
        records = coming.read()
    carried_out(script.decode(), records, 3)


def exactly(coming: Any, size: int) -> bytes:
    """So many bytes, and none of those behind them."""
    found = b""
    while len(found) < size:
        found += coming.read(size - len(found))
    return found


def in_r(script: bytes, classes: str, environment: dict[str, str]) -> None:
    """Become R, which reads the records where they begin, and whose output is the result."""
    with open("script.R", "wb") as file:
        file.write(script)
    os.dup2(4, 0)
    os.dup2(3, 1)
    os.closerange(3, 5)
    program = f"{environment['R_HOME']}/bin/exec{environment['R_ARCH']}/R"
    line = ["R", "--no-echo", "--no-restore", "--vanilla", f"--file={R}", "--args", "script.R"]
    os.execve(program, [*line, classes], {**os.environ, **environment})  # noqa: S606


def _held(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _used_once() -> None:
    """What pandas loads at its first use is loaded before runs are forked, not in each of them."""
    made = pyarrow.table({"a": ["x", "y"], "b": [1.0, 2.0]})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made)
    read(sink.getvalue()).groupby("a").b.mean()


# ── one run after the other ─────────────────────────────────────────────────────────


def main() -> None:
    """Load what scripts import, then fork for each run that is asked for through a socket."""
    office = socket.socket(fileno=os.dup(0))
    for name in json.loads(office.recv(100_000)):
        with contextlib.suppress(Exception):  # the script that asks for it is told
            importlib.import_module(name)
    _used_once()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    office.send(b"ready")
    while True:
        message, files, *_ = socket.recv_fds(office, 10_000, 3)
        if not message:
            return
        asked = SimpleNamespace(**json.loads(message))
        if os.fork() == 0:
            try:
                guarded(asked, *files)
            finally:
                traceback.print_exc()
                os._exit(1)
        for one in files:
            os.close(one)


if __name__ == "__main__":
    main()
