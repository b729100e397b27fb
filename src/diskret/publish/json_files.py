"""JSON files: the same content gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any


def write_json(content: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write a mapping as JSON: UTF-8, indented, keys in the order given; no infinite numbers."""
    Path(path).write_text(json_text(content) + "\n", encoding="utf-8", newline="\n")


def json_text(value: Any, depth: int = 0) -> str:
    """What ``json.dumps(value, indent=1)`` says, without its loop over each code of long lists."""
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list | tuple) or not value:
        return _dumped(value, ", ")
    begin = "\n" + " " * (depth + 1)
    if any(isinstance(one, Mapping | list | tuple) for one in inner):
        if isinstance(value, Mapping):
            # a key is written as json writes keys, whatever it is
            parts = [
                f"{_dumped({key: 0}, ', ')[1:-4]}: {json_text(one, depth + 1)}"
                for key, one in value.items()
            ]
            return "{" + begin + f",{begin}".join(parts) + begin[:-1] + "}"
        parts = [json_text(one, depth + 1) for one in value]
        return "[" + begin + f",{begin}".join(parts) + begin[:-1] + "]"
    text = _dumped(value, f",{begin}")
    return text[0] + begin + text[1:-1] + begin[:-1] + text[-1]


def _dumped(value: Any, between: str) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False, separators=(between, ": "), allow_nan=False)
