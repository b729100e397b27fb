"""Files on disk: made for their owner alone, seen to be so, and written through to the disk."""

import os
import stat
from pathlib import Path

#: What only the owner may read and write.
PRIVATE = 0o600


def new_file(path: Path, mode: int = PRIVATE) -> int:
    """Create a file; its descriptor, open for writing. Bytes are written as they are.

    Raises
    ------
    FileExistsError
        It is there already.
    OSError
        It cannot be created.
    """
    # without O_BINARY, Windows would change the ends of lines
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, mode)


def own_file(path: Path) -> int:
    """Open a file for its owner alone, as `new_file`; one that is there, and others may read, goes.

    A link or a device is written to as it is.
    """
    if not path.is_symlink() and (path.is_file() or not path.exists()):
        path.unlink(missing_ok=True)
        return new_file(path)
    return os.open(path, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0))


def open_to_others(path: Path) -> bool:
    """Whether somebody other than the owner may read or write a file; only POSIX says so."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def flush(path: Path) -> None:
    """Write a file, or the names in a folder, through to the disk: they survive a power failure."""
    folder = path.is_dir()
    if folder and os.name != "posix":  # only POSIX can flush a folder
        return
    descriptor = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
