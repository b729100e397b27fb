"""A sandbox made of existing parts: bubblewrap, a user of its own, limits of the kernel.

In it there is Python, read-only; no network, no other process, nothing of the host's files or
environment. It is opened once, which loads libraries, and each run in it has a world of its own
(`inside`). Where a part is missing or does not hold, nothing runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from diskret.errors import InputError
from diskret.parameters import Declared, Whole
from diskret.remote import probe, program_of_r
from diskret.remote.system_calls import refusing

#: The program that runs in it, and the one that tries whether it holds.
_INSIDE = Path(__file__).with_name("inside.py")
_PROBE = Path(probe.__file__)
#: Of the host's settings what R is started with: no secret stands there.
_SETTINGS = (Path("/etc/R"), Path("/etc/alternatives"))
#: Stands for the file that the filter of system calls is read from.
_FILTER = "the filter"
#: Numbers of users that nobody has, below 2**31.
_USERS = range(1_879_048_192, 2_147_000_000)
_MEGABYTE = 1_000_000
#: Seconds that loading libraries may take.
_BEGIN = 120.0


@dataclass(frozen=True)
class Limits(Declared):
    """What a script may use.

    Parameters
    ----------
    seconds
        Of wall time, and of each processor's time.
    memory
        Megabytes of address space of each process, so `processes` times as many in total.
    processes
        At once, those that are threads included; three more are the sandbox's own.
    files
        Open at once in a process.
    scratch
        Megabytes of its private folder, and of each file.
    output
        Bytes that come out.
    """

    seconds: Annotated[int, Whole(1, 86_400)] = 10
    memory: Annotated[int, Whole(100)] = 4000
    processes: Annotated[int, Whole(4, 10_000)] = 8
    files: Annotated[int, Whole(20)] = 256
    scratch: Annotated[int, Whole(1)] = 64
    output: Annotated[int, Whole(100)] = 1_000_000

    @property
    def bounds(self) -> dict[str, int]:
        """Limit of the kernel, as `resource` calls it → its value."""
        return {
            "CPU": self.seconds + 1,
            "AS": self.memory * _MEGABYTE,
            "NPROC": self.processes + 3,
            "NOFILE": self.files,
            "FSIZE": self.scratch * _MEGABYTE,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }


@dataclass(frozen=True)
class Ran:
    """What came of a run. Of a run on the original nothing but `result` is looked at.

    Parameters
    ----------
    result
        What came out; None: nothing in time, or too much.
    said
        What it printed, and its error, if it was to be kept.
    """

    result: bytes | None
    said: str = field(default="", repr=False)


class Sandbox:
    """A sandbox that is open: runs in it know nothing of each other.

    Parameters
    ----------
    limits
        What each run may use.
    modules
        Names of libraries that are loaded once for all runs.

    Raises
    ------
    InputError
        On entering it: it cannot be made. Whether it holds, `check` tries.
    """

    def __init__(self, limits: Limits, modules: Sequence[str] = ()):
        self._limits = limits
        self._modules = ["pandas", *modules]

    def __enter__(self) -> Sandbox:
        line = command(self._limits, _INSIDE)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        there, here = os.pipe()
        os.write(here, refusing())
        os.close(here)
        self._process = subprocess.Popen(  # noqa: S603 - the command is made here
            [str(there) if one == _FILTER else one for one in line],
            pass_fds=(there,),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={},
            cwd="/",
        )
        os.close(there)
        theirs.close()
        self._socket.settimeout(_BEGIN)
        try:
            self._socket.send(json.dumps(self._modules).encode())
            begun = self._socket.recv(10) == b"ready"
        except OSError:
            begun = False
        if not begun:
            raise InputError(f"the sandbox does not begin{self._why()}; ask for queries")
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # it ends by itself, and all runs with it
        _end(self._process)
        if self._process.stderr:
            self._process.stderr.close()

    def run(
        self,
        script: str,
        records: bytes,
        seconds: float | None = None,
        *,
        listen: bool = False,
        classes: str = "",
    ) -> Ran:
        """Run a script; it and all that it started end in time.

        Parameters
        ----------
        script
            Python, or R if `classes` are given.
        records
            What the script knows as `data`: an Arrow stream, or CSV for R.
        seconds
            How long it may take; None: as long as the limits say.
        listen
            Whether what it prints is kept: never where the records are those of the original.
        classes
            R's class of each column, with commas between them.
        """
        limit = seconds or self._limits.seconds
        code = script.encode()
        content = _written(struct.pack("<Q", len(code)) + code + records)
        result, out = os.pipe()
        said, err = os.pipe() if listen else (None, os.open(os.devnull, os.O_WRONLY))
        asked = {
            "seconds": limit,
            "scratch": self._limits.scratch * _MEGABYTE,
            "bounds": self._limits.bounds,
            "classes": classes,
            "environment": program_of_r.environment() if classes else {},
        }
        try:
            socket.send_fds(self._socket, [json.dumps(asked).encode()], [content, out, err])
        finally:
            for one in (content, out, err):
                os.close(one)
        found: dict[str, bytes] = {}
        threads = [_reader(found, "result", result, self._limits.output)]
        if said is not None:
            threads.append(_reader(found, "said", said, self._limits.output))
        end = time.monotonic() + limit
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        returned = found.get("result", b"")  # all of it was read if the run ended in time
        whole = 0 < len(returned) <= self._limits.output
        heard = found.get("said", b"")[: self._limits.output].decode(errors="replace")
        return Ran(returned if whole else None, heard)

    def _why(self) -> str:
        _end(self._process)
        said = self._process.stderr.read().decode(errors="replace") if self._process.stderr else ""
        lines = said.strip().splitlines()
        return f" ({lines[-1][:200]})" if lines else ""


def command(limits: Limits, program: Path) -> list[str]:
    """The command line of the sandbox with a program in it.

    Raises
    ------
    InputError
        A part is missing.
    """
    parts = {name: shutil.which(name) for name in ("bwrap", "setpriv")}
    missing = [name for name, path in parts.items() if path is None]
    if missing:
        raise InputError(
            f"scripts run in a sandbox only, and there is no {missing[0]}: install bubblewrap and "
            "util-linux, or ask for queries"
        )
    places = _places(program)
    inner = [
        str(parts["bwrap"]),
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        # to make namespaces of each run; no run has it
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"),
        *places,
        *("--dev", "/dev", "--remount-ro", "/dev", "--seccomp", _FILTER),
        *("--dir", "/tmp", "--remount-ro", "/"),  # noqa: S108 - each run has its own there
        *_environment(),
        sys.executable,
        *("-I", "-B", str(program)),
    ]
    if os.geteuid() != 0:
        return inner
    # limits of processes do not hold for root, so a user that nobody is; bubblewrap shows that
    # user Python, which may lie where others cannot look
    user = str(secrets.choice(_USERS))
    outer = [
        *(str(parts["bwrap"]), "--die-with-parent", *places),
        *("--bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108
        *(str(parts["setpriv"]), "--reuid", user, "--regid", user, "--clear-groups"),
        "--no-new-privs",
    ]
    return [*outer, *inner]


@cache
def check() -> None:
    """Try once in a process whether the sandbox holds what it promises.

    Raises
    ------
    InputError
        A part is missing, or something holds not: says which.
    """
    limits = Limits(seconds=20, processes=4)
    text = f"{_PROBE.read_text(encoding='utf-8')}\nmain({limits.bounds})\n"
    with Sandbox(limits) as sandbox:  # what the first run leaves, the second may find
        first, second = (sandbox.run(text, b"", listen=True) for _ in range(2))
    held = {*first.said.split()} & {*second.said.split()}
    broken = [one for one in probe.PROMISES if one not in held]
    if broken:
        said = second.said.strip().splitlines()
        more = f" ({said[-1][:200]})" if said else ""
        raise InputError(
            f"the sandbox does not hold here, so no script is run: {', '.join(broken)}{more}. "
            "Allow this account user namespaces, or ask for queries"
        )


def check_hidden(path: Path) -> None:
    """Refuse to run scripts where a file lies in a folder that the sandbox shows.

    Raises
    ------
    InputError
        It lies beside the system or Python.
    """
    for place in _shown():
        if path.resolve().is_relative_to(place):
            raise InputError(
                f"{path.name} lies in {place}, which scripts can read; move it elsewhere"
            )


# ── parts of the command ────────────────────────────────────────────────────────────


def _places(program: Path) -> list[str]:
    """What is seen of the host: system libraries, Python, the program; read-only."""
    shown = _shown()
    folders: dict[Path, None] = {}
    for path in (*shown, *_SETTINGS, program):
        folders |= dict.fromkeys(reversed(path.parents[:-1]))
    line: list[str] = []
    for folder in folders:
        if not any(folder.is_relative_to(one) for one in shown):
            line += ["--perms", "0755", "--dir", str(folder)]
    for path in shown:
        line += ["--ro-bind", str(path), str(path)]
    for name in ("lib", "lib32", "lib64", "bin"):
        path = Path("/") / name
        if path.is_symlink():
            line += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    for path in (*_SETTINGS, program, program.with_suffix(".R")):
        line += ["--ro-bind-try", str(path), str(path)]
    return line


def _shown() -> list[Path]:
    """The folders of the host that are seen, none in another."""
    there = [Path("/usr"), Path(sys.prefix), Path(sys.base_prefix)]
    there += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")]
    shown: list[Path] = []
    for path in sorted({path.resolve() for path in there}):
        if not any(path.is_relative_to(one) for one in shown):
            shown.append(path)
    return shown


def _environment() -> list[str]:
    """Nothing of the host's; one thread a process, for each counts."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS")
    said = {
        "LANG": "C.UTF-8",
        "HOME": "/tmp",  # noqa: S108
        "PATH": "/usr/bin:/bin",
        **dict.fromkeys(threads, "1"),
    }  # noqa: S108
    return [part for name, value in said.items() for part in ("--setenv", name, value)]


# ── pipes and the end ───────────────────────────────────────────────────────────────


def _written(content: bytes) -> int:
    """A pipe that content comes through; files in memory have numbers that runs can move."""
    taken, given = os.pipe()

    def write() -> None:
        # who takes it may end before
        with contextlib.suppress(OSError), open(given, "wb", buffering=0) as pipe:
            left = memoryview(content)
            while left:
                left = left[pipe.write(left) :]

    threading.Thread(target=write, daemon=True).start()
    return taken


def _reader(found: dict[str, bytes], name: str, pipe: int, most: int) -> threading.Thread:
    def read() -> None:
        with open(pipe, "rb") as opened:
            found[name] = opened.read(most + 1)
        # closed: who writes more is ended by it

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _end(process: subprocess.Popen[Any]) -> None:
    """End it and all it started: processes of the sandbox end with the one that made it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
