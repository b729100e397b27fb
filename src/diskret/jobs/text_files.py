"""Text files that are written all at once, or none of them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diskret.disk import PRIVATE, new_file
from diskret.errors import JobError


@dataclass(frozen=True)
class TextFile:
    """A file to write; `internal`: it must not leave the office."""

    path: Path
    text: str
    internal: bool


def write_files(outputs: Sequence[TextFile], check: Sequence[TextFile] = ()) -> None:
    """Write files beside their targets, and move them into place when all are there.

    check: files for which it is only tried whether their folders take any.
    """
    moves: list[tuple[Path, Path]] = []
    target: Path | None = None
    try:
        for output in (*outputs, *check):
            target = output.path
            room = output.path.with_name(f".{output.path.name[:40]}.{secrets.token_hex(8)}.stage")
            handle = new_file(room, PRIVATE if output.internal else 0o666)
            moves.append((room, output.path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(output.text if output in outputs else "")
        for room, target in moves[: len(outputs)]:
            os.replace(room, target)
    except OSError as error:
        raise JobError(f"{target}: cannot be written ({error.strerror}); nothing was") from error
    finally:
        for room, _ in moves:
            room.unlink(missing_ok=True)
