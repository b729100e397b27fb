"""What a job must not write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diskret.argus.text import Folders
from diskret.errors import JobError
from diskret.jobs.text_files import TextFile


def check_outputs(outputs: Sequence[TextFile], folders: Folders) -> None:
    """No file is written twice, and none over what the job was made of."""
    seen: set[Path] = set()
    for output in outputs:
        path = output.path.resolve()
        if path in folders.used:
            raise JobError(f"{path.name} is read by the job and cannot be written; rename one")
        if path in seen:
            raise JobError(f"{path.name} would be written twice by the job; rename one")
        seen.add(path)
