"""JSON files: the same content gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any


def write_json(content: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write a mapping as JSON: UTF-8, indented, keys in the order given; no infinite numbers."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8", newline="\n")
