"""Calls to the kernel that the sandbox refuses, as a program for its filter.

What they tell or keep would reach from one run to the next: how busy the machine is, which files
are in memory, keys that the kernel keeps, other processes. Programs are those of classic BPF, see
seccomp(2).
"""

from __future__ import annotations

import platform
import struct

from diskret.errors import InputError

#: Machine → its number for the kernel (audit.h), and the numbers of the calls.
_CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "mincore": 27,
            "sysinfo": 99,
            "ptrace": 101,
            "syslog": 103,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "perf_event_open": 298,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kcmp": 312,
            "bpf": 321,
            "userfaultfd": 323,
            "preadv2": 327,
            "io_uring_setup": 425,
            "pidfd_open": 434,
            "cachestat": 451,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "syslog": 116,
            "ptrace": 117,
            "sysinfo": 179,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "mincore": 232,
            "perf_event_open": 241,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kcmp": 272,
            "bpf": 280,
            "userfaultfd": 282,
            "preadv2": 286,
            "io_uring_setup": 425,
            "pidfd_open": 434,
            "cachestat": 451,
        },
    ),
}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050001  # the last one: EPERM
#: Calls from here on are those of the x32 ABI, with numbers of their own.
_X32 = 0x40000000


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
    denied = sorted(calls.values())
    lines = [
        (_LOAD, 0, 0, 4),  # the machine
        (_EQUAL, 1, 0, number),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the call
        (_AT_LEAST, len(denied) + 1, 0, _X32),
        *((_EQUAL, len(denied) - at, 0, call) for at, call in enumerate(denied)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
