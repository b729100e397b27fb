"""Calls to the kernel that the sandbox refuses, as a program for its filter.

What they tell or keep would reach from one run to the next, or to one beside it: how busy the
machine is, which files are in memory, keys that the kernel keeps, locks on files that all runs see,
other processes. Pipes, sockets and files in memory are numbered by one counter of the whole
kernel, which a run could move and the next one read, so none is made. Programs are those of
classic BPF, see seccomp(2).
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterator

from diskret.errors import InputError

#: Machine → its number for the kernel (audit.h), and the numbers of the calls.
_CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "pipe": 22,
            "mincore": 27,
            "socket": 41,
            "socketpair": 53,
            "clone": 56,
            "wait4": 61,
            "fcntl": 72,
            "flock": 73,
            "getrusage": 98,
            "sysinfo": 99,
            "ptrace": 101,
            "syslog": 103,
            "io_setup": 206,
            "waitid": 247,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "inotify_init": 253,
            "inotify_add_watch": 254,
            "move_pages": 279,
            "pipe2": 293,
            "inotify_init1": 294,
            "perf_event_open": 298,
            "fanotify_init": 300,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kcmp": 312,
            "memfd_create": 319,
            "bpf": 321,
            "userfaultfd": 323,
            "preadv2": 327,
            "io_uring_setup": 425,
            "pidfd_open": 434,
            "clone3": 435,
            "memfd_secret": 447,
            "cachestat": 451,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "io_setup": 0,
            "fcntl": 25,
            "inotify_init1": 26,
            "inotify_add_watch": 27,
            "flock": 32,
            "pipe2": 59,
            "waitid": 95,
            "syslog": 116,
            "ptrace": 117,
            "getrusage": 165,
            "sysinfo": 179,
            "socket": 198,
            "socketpair": 199,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "clone": 220,
            "mincore": 232,
            "move_pages": 239,
            "perf_event_open": 241,
            "wait4": 260,
            "fanotify_init": 262,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kcmp": 272,
            "memfd_create": 279,
            "bpf": 280,
            "userfaultfd": 282,
            "preadv2": 286,
            "io_uring_setup": 425,
            "pidfd_open": 434,
            "clone3": 435,
            "memfd_secret": 447,
            "cachestat": 451,
        },
    ),
}
_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_REFUSE, _UNKNOWN = 0x00050001, 0x00050026  # EPERM; ENOSYS, after which clone is asked
#: Calls from here on are those of the x32 ABI, with numbers of their own.
_X32 = 0x40000000
#: Commands of fcntl that lock a file, or tell what others do with it (fcntl.h).
_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
#: A process that is known by a number of the whole kernel (sched.h).
_PIDFD = 0x1000
#: Which argument says where to put what a child took: its page faults tell what is in memory.
_USAGE = {"wait4": 3, "waitid": 4}

_Line = tuple[int, int, int, int]


def refusing() -> bytes:
    """The program of the filter for this machine.

    Raises
    ------
    InputError
        The numbers of its calls are not known.
    """
    machine = platform.machine()
    if machine not in _CALLS:
        raise InputError(
            f"scripts run in a sandbox only, and there is none for machines of the kind {machine}; "
            "ask for queries"
        )
    number, calls = _CALLS[machine]
    looked_at = {"clone", "clone3", "fcntl", *_USAGE}
    lines = [
        (_LOAD, 0, 0, 4),  # the machine
        (_EQUAL, 1, 0, number),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the call
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for name, call in calls.items():
        judged = [*_judged(name)] if name in looked_at else [(_RETURN, 0, 0, _REFUSE)]
        lines += [(_EQUAL, 0, len(judged), call), *judged]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _judged(name: str) -> Iterator[_Line]:
    """What becomes of a call that is refused for some of its arguments."""
    if name == "clone3":  # its flags stand where no filter looks
        yield (_RETURN, 0, 0, _UNKNOWN)
        return
    if name == "fcntl":
        yield (_LOAD, 0, 0, _argument(1))
        for command in _LOCKS:
            yield from ((_EQUAL, 0, 1, command), (_RETURN, 0, 0, _REFUSE))
    elif name == "clone":
        yield from ((_LOAD, 0, 0, _argument(0)), (_HAS, 0, 1, _PIDFD), (_RETURN, 0, 0, _REFUSE))
    else:
        for half in (0, 4):
            yield (_LOAD, 0, 0, _argument(_USAGE[name]) + half)
            yield from ((_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _REFUSE))
    yield (_RETURN, 0, 0, _ALLOW)


def _argument(number: int) -> int:
    """Where the lower half of an argument stands (seccomp_data)."""
    return 16 + 8 * number
