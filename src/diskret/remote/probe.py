"""Tries from within whether the sandbox holds: run there as a script, so without diskret."""

import ctypes
import os
import platform
import socket
import sys
import time
from collections.abc import Callable

#: What is tried, by name.
PROMISES = (
    "time",
    "memory",
    "processes",
    "files",
    "scratch",
    "network",
    "read-only",
    "alone",
    "nothing-left",
    "no-rights",
    "no-namespaces",
    "no-measuring",
    "no-environment",
    "no-root",
)
#: Asks the kernel for the keys of a session.
KEYCTL = ({"x86_64": 250}.get(platform.machine(), 219), 0, -3, 0)


def limited(name: str, most: int) -> bool:
    """Whether a limit is set as it was asked for."""
    import resource  # not everywhere; the names of all promises are

    return resource.getrlimit(getattr(resource, name)) == (most, most)


def forks_end(most: int) -> bool:
    """Whether starting processes ends: they wait for each other, and are then ended."""
    started: list[int] = []
    try:
        for _ in range(most + 1):
            child = os.fork()
            if child == 0:
                time.sleep(10)
                os._exit(0)
            started.append(child)
    except OSError:
        return True
    finally:
        for child in started:
            os.kill(child, 9)
            os.waitpid(child, 0)
    return False


def no_network() -> bool:
    """Whether no socket can be made, or there is no interface but the sandbox's own loopback."""
    try:
        socket.socket().close()
    except PermissionError:
        return True
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return False
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("192.0.2.1", 80)) != 0


def read_only() -> bool:
    """Whether nothing but the private folder can be written to."""
    for folder in ("/", "/dev", "/usr", os.path.dirname(os.path.realpath(sys.executable))):
        try:
            os.close(os.open(os.path.join(folder, "probe"), os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
        return False
    return True


def alone() -> bool:
    """Whether nothing is seen of other processes, and none can be reached."""
    return not os.path.exists("/proc/self") and os.getpid() == 1 and os.getppid() == 0


def no_rights() -> bool:
    """Whether a folder cannot be put over another."""
    return ctypes.CDLL(None).mount(b"tmpfs", b"/usr", b"tmpfs", 0, None) != 0


def no_measuring() -> bool:
    """Whether the kernel tells and keeps nothing that other runs change or see."""
    import fcntl
    import resource

    library = ctypes.CDLL(None)
    space = ctypes.create_string_buffer(1024)
    if library.sysinfo(space) == 0 or library.syscall(*KEYCTL) == 0:
        return False
    with open(os.__file__, "rb") as seen:
        attempts: tuple[Callable[[], object], ...] = (
            os.pipe,
            lambda: os.memfd_create("probe"),
            lambda: resource.getrusage(resource.RUSAGE_SELF),
            lambda: fcntl.flock(seen, fcntl.LOCK_EX | fcntl.LOCK_NB),
            lambda: fcntl.lockf(seen, fcntl.LOCK_SH | fcntl.LOCK_NB),
        )
        refused = [_refused(one) for one in attempts]
    return library.inotify_init1(0) < 0 and all(refused)


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    return False


def no_namespaces() -> bool:
    """Whether no new namespace of users can be made."""
    return ctypes.CDLL(None).unshare(0x10000000) != 0


def small_folder(most: int) -> bool:
    """Whether the private folder is bounded."""
    there = os.statvfs("/tmp")  # noqa: S108 - its own
    return there.f_blocks * there.f_frsize <= most + 4096


def no_environment() -> bool:
    """Whether nothing is known of the host's environment."""
    known = {"LANG", "HOME", "PATH", "PWD", "LC_CTYPE"}
    return all(name in known or name.endswith("_NUM_THREADS") for name in os.environ)


def nothing_left() -> bool:
    """Whether nothing is found that an earlier run left: in folders, in memory that is shared."""
    library = ctypes.CDLL(None)
    found = library.shmget(4711, 4096, 0) != -1
    library.shmget(4711, 4096, 0o1600)
    for folder in ("/tmp", "/dev/shm", "/dev"):  # noqa: S108
        place = os.path.join(folder, "left")
        found = found or os.path.exists(place)
        try:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
    return not found


def main(bounds: dict[str, int]) -> None:
    """Print the names of what holds, of these limits and all else."""
    processes, scratch = bounds["NPROC"], bounds["FSIZE"]
    held = {
        "time": limited("RLIMIT_CPU", bounds["CPU"]),
        "memory": limited("RLIMIT_AS", bounds["AS"]),
        "processes": limited("RLIMIT_NPROC", processes) and forks_end(processes),
        "files": limited("RLIMIT_NOFILE", bounds["NOFILE"]),
        "scratch": limited("RLIMIT_FSIZE", scratch) and small_folder(scratch),
        "network": no_network(),
        "read-only": read_only(),
        "alone": alone(),
        "nothing-left": nothing_left(),
        "no-rights": no_rights(),
        "no-namespaces": no_namespaces(),
        "no-measuring": no_measuring(),
        "no-environment": no_environment(),
        "no-root": os.getuid() != 0 and os.geteuid() != 0,
    }
    print(*(name for name, one in held.items() if one), flush=True)  # noqa: T201
