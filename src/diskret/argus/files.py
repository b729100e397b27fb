"""Files that are written all at once, or none of them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from diskret.argus.outputs import Output
from diskret.argus.text import Folders
from diskret.errors import JobError


def check_outputs(outputs: Sequence[Output], folders: Folders) -> None:
    """No file is written twice, and none over what the job was made of."""
    seen: set[Path] = set()
    for output in outputs:
        path = output.path.resolve()
        if path in folders.used:
            raise JobError(f"{path.name} is read by the job and cannot be written; rename one")
        if path in seen:
            raise JobError(f"{path.name} would be written twice by the job; rename one")
        seen.add(path)


def write_files(outputs: Sequence[Output], check: Sequence[Output] = ()) -> None:
    """Write files beside their targets, and move them into place when all are there.

    check: files for which it is only tried whether their folders take any.
    """
    moves: list[tuple[Path, Path]] = []
    try:
        for output in (*outputs, *check):
            room = output.path.with_name(f".{output.path.name[:40]}.{secrets.token_hex(8)}.stage")
            moves.append((room, output.path))
            mode = 0o600 if output.internal else 0o666
            handle = os.open(room, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(output.text if output in outputs else "")
        for room, target in moves[: len(outputs)]:
            os.replace(room, target)
    except OSError as error:
        raise JobError(
            f"{error.filename or 'a file'}: cannot be written ({error.strerror}); nothing was"
        ) from error
    finally:
        for room, _ in moves:
            room.unlink(missing_ok=True)
