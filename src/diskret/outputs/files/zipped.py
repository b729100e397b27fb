"""Archives: what is packed in them, never unpacked to disk."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from diskret.outputs.files.kinds import names_of
from diskret.outputs.files.looked_at import Found
from diskret.outputs.profile import Profile


def archive(path: Path, profile: Profile) -> list[Found]:
    """An archive is not looked into further than its list of files."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
        return [Found("unread")]
    forbidden = {name for suffix in profile.suffixes for name in names_of(suffix.lower())}
    inside = [(name,) for name in names if PurePosixPath(name).suffix.lower() in forbidden]
    return [Found("archive"), *([Found("forbidden", inside)] if inside else [])]
