"""A sandbox made of existing parts: bubblewrap, a user of its own, limits of the kernel.

In it there is Python, read-only, and an empty private folder; no network, no other process, nothing
of the host's files or environment. Where a part is missing or does not hold, nothing runs.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Annotated, Any

from diskret.errors import InputError
from diskret.parameters import Declared, Whole
from diskret.remote import probe
from diskret.remote.system_calls import refusing

#: The program that runs in it, and the one that tries whether it holds.
_INSIDE = Path(__file__).with_name("inside.py")
_PROBE = Path(probe.__file__)
#: Stands for the file that the filter of system calls is read from.
_FILTER = "the filter"
#: Numbers of users that nobody has, below 2**31.
_USERS = range(1_879_048_192, 2_147_000_000)
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits(Declared):
    """What a script may use.

    Parameters
    ----------
    seconds
        Of wall time, and of each processor's time.
    memory
        Megabytes of address space of each process.
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
        """Limit of the kernel, as `prlimit` calls it → its value."""
        return {
            "cpu": self.seconds + 1,
            "as": self.memory * _MEGABYTE,
            "nproc": self.processes + 3,
            "nofile": self.files,
            "fsize": self.scratch * _MEGABYTE,
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


def run(script: str, records: bytes, limits: Limits, *, listen: bool = False) -> Ran:
    """Run a script in the sandbox.

    Parameters
    ----------
    script
        Python.
    records
        An Arrow stream: what the script knows as `data`.
    limits
        What it may use.
    listen
        Whether what it prints is kept: never where the records are those of the original.

    Raises
    ------
    InputError
        The sandbox cannot be made, or does not hold: nothing was run.
    """
    check()
    content = struct.pack("<Q", len(script.encode())) + script.encode() + records
    return carried_out(command(limits, _INSIDE), content, limits, listen=listen)


def command(limits: Limits, program: Path) -> list[str]:
    """The command line of the sandbox with a program in it.

    Raises
    ------
    InputError
        A part is missing.
    """
    parts = {name: shutil.which(name) for name in ("bwrap", "prlimit", "setpriv")}
    missing = [name for name, path in parts.items() if path is None]
    if missing:
        raise InputError(
            f"scripts run in a sandbox only, and there is no {missing[0]}: install bubblewrap and "
            "util-linux, or ask for queries"
        )
    bounds = [
        str(parts["prlimit"]),
        *(f"--{name}={value}" for name, value in limits.bounds.items() if name != "nproc"),
        "--core=0",
        "--memlock=0",
        "--msgqueue=0",
    ]
    places = _places(program)
    inner = [
        str(parts["bwrap"]),
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        *places,
        *("--dev", "/dev", "--seccomp", _FILTER),
        *("--size", str(limits.scratch * _MEGABYTE), "--tmpfs", "/tmp"),  # noqa: S108 - its own
        *("--remount-ro", "/", "--chdir", "/tmp"),  # noqa: S108
        *_environment(),
        # here, where the user's processes outside do not count
        *(str(parts["prlimit"]), f"--nproc={limits.bounds['nproc']}"),
        sys.executable,
        *("-I", "-B", str(program)),
    ]
    if os.geteuid() != 0:
        return [*bounds, *inner]
    # limits of processes do not hold for root, so a user that nobody is; bubblewrap shows that
    # user Python, which may lie where others cannot look
    user = str(secrets.choice(_USERS))
    outer = [
        *(str(parts["bwrap"]), "--die-with-parent", *places),
        *("--bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108
        *(str(parts["setpriv"]), "--reuid", user, "--regid", user, "--clear-groups"),
        "--no-new-privs",
    ]
    return [*outer, *bounds, *inner]


def carried_out(line: Sequence[str], content: bytes, limits: Limits, *, listen: bool) -> Ran:
    """Carry out a command with something to read; it and all it started end in time."""
    there, here = os.pipe()
    os.write(here, refusing())
    os.close(here)
    process = subprocess.Popen(  # noqa: S603 - the command is made here
        [str(there) if one == _FILTER else one for one in line],
        pass_fds=(there,),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if listen else subprocess.DEVNULL,
        start_new_session=True,
        env={},
        cwd="/",
    )
    os.close(there)
    found: dict[str, bytes] = {}
    threads = [
        threading.Thread(target=_feed, args=(process.stdin, content), daemon=True),
        _reader(found, "result", process.stdout, limits.output),
        *([_reader(found, "said", process.stderr, limits.output)] if listen else []),
    ]
    for thread in threads:
        thread.start()
    late = False
    try:
        process.wait(limits.seconds)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        _end(process)
    for thread in threads:
        thread.join(5)
    result = found.get("result")
    whole = result is not None and 0 < len(result) <= limits.output and not late
    said = found.get("said", b"")[: limits.output].decode(errors="replace")
    return Ran(result if whole else None, said)


@cache
def check() -> None:
    """Try once in a process whether the sandbox holds what it promises.

    Raises
    ------
    InputError
        A part is missing, or something holds not: says which.
    """
    limits = Limits(seconds=20, processes=4)
    asked = " ".join(map(str, limits.bounds.values())).encode()
    made = carried_out(command(limits, _PROBE), asked, limits, listen=True)
    held = (made.result or b"").decode(errors="replace").split()
    broken = [one for one in probe.PROMISES if one not in held]
    if broken:
        said = made.said.strip().splitlines()
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
    for path in (*shown, program):
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
    return [*line, "--ro-bind", str(program), str(program)]


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
    said = {"LANG": "C.UTF-8", "HOME": "/tmp", **dict.fromkeys(threads, "1")}  # noqa: S108
    return [part for name, value in said.items() for part in ("--setenv", name, value)]


# ── pipes and the end ───────────────────────────────────────────────────────────────


def _feed(pipe: IO[bytes] | None, content: bytes) -> None:
    try:
        if pipe is not None:
            pipe.write(content)
            pipe.close()
    except OSError:  # it ended without reading
        return


def _reader(
    found: dict[str, bytes], name: str, pipe: IO[bytes] | None, most: int
) -> threading.Thread:
    def read() -> None:
        if pipe is not None:
            found[name] = pipe.read(most + 1)
            pipe.close()  # who writes more is ended by it

    return threading.Thread(target=read, daemon=True)


def _end(process: subprocess.Popen[Any]) -> None:
    """End it and all it started: processes of the sandbox end with the one that made it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
