"""Jupyter notebooks: what their cells show, and what lies in them besides."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from diskret.outputs.files.html import html
from diskret.outputs.files.images import image_of
from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said
from diskret.outputs.files.texts import plain
from diskret.outputs.profile import Profile

_PICTURES = {"image/png": ".png", "image/jpeg": ".jpg"}
_DRAWN = re.compile(r"<Axes: >|<Figure size \d{1,5}x\d{1,5} with \d{1,2} Axes>")
_KNOWN = ("kernelspec", "language_info")
_KEYS = ("cell_type", "execution_count", "id", "metadata", "outputs", "source", "attachments")


def notebook(text: str, said: Said, profile: Profile) -> list[Found]:
    """What a notebook shows: outputs as tables, pictures and texts; code and words to be read."""
    try:
        whole = json.loads(text)
        cells = whole["cells"]
        found = _besides(whole)
        for number, cell in enumerate(cells):
            found += _cell(cell, said, profile, (f"cell {number + 1}",))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [Found("unread")]
    shows = any(cell.get("outputs") for cell in cells)
    return found if found or shows else [Found("unknown")]


def _besides(whole: Mapping[str, Any]) -> list[Found]:
    """What is said of a notebook as a whole."""
    found: list[Found] = []
    more = [(f"metadata {name}",) for name in whole.get("metadata", {}) if name not in _KNOWN]
    if more:  # widgets keep data there
        found.append(Found("embedded", more))
    strange = [
        (name,) for name in whole if name not in ("cells", "metadata", "nbformat", "nbformat_minor")
    ]
    return [*found, *([Found("unknown", strange)] if strange else [])]


def _cell(
    cell: Mapping[str, Any], said: Said, profile: Profile, place: tuple[str, ...]
) -> list[Found]:
    found: list[Found] = []
    if _joined(cell.get("source", "")).strip():
        found.append(Found("code" if cell["cell_type"] == "code" else "prose", [place]))
    if cell.get("attachments"):
        found.append(Found("embedded", [(*place, name) for name in cell["attachments"]]))
    if cell.get("metadata"):
        found.append(Found("metadata", [(*place, str(name)) for name in cell["metadata"]]))
    strange = [(*place, str(name)) for name in cell if name not in _KEYS]
    if strange:
        found.append(Found("unknown", strange))
    for output in cell.get("outputs", []):
        found += _output(output, said, profile, place)
    return found


def _output(
    output: Mapping[str, Any], said: Said, profile: Profile, place: tuple[str, ...]
) -> list[Found]:
    kind = output["output_type"]
    if kind == "stream":
        return plain(_joined(output["text"]), said, profile, place)
    if kind not in ("display_data", "execute_result"):  # errors show values now and then
        return [Found("prose", [(*place, str(kind))])]
    data = output["data"]
    found: list[Found] = []
    if output.get("metadata"):
        found.append(Found("metadata", [(*place, str(name)) for name in output["metadata"]]))
    for name in data:
        if name == "text/html":
            found += html(_joined(data[name]), said, profile, place)
        elif name == "text/plain":
            found += _beside(_joined(data[name]), data, said, profile, place)
        elif name in _PICTURES:
            found += _picture(_joined(data[name]), _PICTURES[name], place)
        else:
            found.append(Found("embedded", [(*place, str(name))]))
    return found


def _beside(
    text: str, data: Mapping[str, Any], said: Said, profile: Profile, place: tuple[str, ...]
) -> list[Found]:
    """A text beside a page or picture: nothing new, or judged itself."""
    if any(name in _PICTURES for name in data) and _DRAWN.fullmatch(text.strip()):
        return []
    page = unescape(re.sub(r"<[^>]*>", " ", _joined(data.get("text/html", ""))))
    words = [one for one in text.split() if re.search(r"\w", one)]
    if page and {*words} <= {*page.split()}:
        return []
    return plain(text, said, profile, place)


def _picture(text: str, suffix: str, place: tuple[str, ...]) -> list[Found]:
    try:
        content = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return [Found("unread", [place])]
    found = image_of(content, suffix)
    return [Found(one.check, [(*place, *where) for where in one.places or [()]]) for one in found]


def _joined(given: Any) -> str:
    """Text, which notebooks keep as such or line by line."""
    if isinstance(given, str):
        return given
    if not all(isinstance(one, str) for one in given):
        raise ValueError("lines that are no texts")
    return "".join(given)
