"""Paths and trees of a publication as a file in another folder names them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.jobs.values import HierarchyFile

#: Keys whose values are paths, wherever they stand.
_PATHS = ("path", "file", "template", "previous")


@dataclass(frozen=True)
class Seen:
    """How what a publication file names is called in a file in another folder.

    base: the folder of the publication file. `folder`: that of the other file.
    """

    base: Path
    folder: Path

    def path(self, path: str | Path) -> str:
        """A path of the publication file; the address of a database stays as it is."""
        if "://" in str(path):
            return str(path)
        at = self.base.resolve() / path
        try:
            return Path(os.path.relpath(at, self.folder.resolve())).as_posix()
        except ValueError:  # another drive
            return at.as_posix()

    def value(self, name: str, value: Any) -> Any:
        """The value of a key."""
        if isinstance(value, Mapping):
            return {k: self.value(k, v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(name, one) for one in value]
        return self.path(value) if name in _PATHS and isinstance(value, str) else value

    def tree(self, file: HierarchyFile) -> dict[str, Any]:
        """The file of a tree, with what is said of it."""
        found: dict[str, Any] = {"file": self.path(os.path.abspath(file.path))}
        usual = HierarchyFile(file.path)
        for name in ("total", "lead", "encoding", "levels", "prefix", "column"):
            value = getattr(file, name)
            if value != getattr(usual, name):
                found[name] = value
        if file.labels:
            labels = {k: self.path(os.path.abspath(path)) for k, path in file.labels.items()}
            found["labels"] = labels.get("", labels)
        return found
