"""What pages that a server shows have in common: the frame, and of what kinds their parts are."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

_KINDS = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


def page_parts(package: str) -> dict[str, tuple[Traversable, str]]:
    """Name → part and its media type: what is in the package's folder `page`, and the frame.

    >>> part, kind = page_parts("diskret.workbench")["frame.css"]
    >>> part.is_file(), kind
    (True, 'text/css')
    """
    folders = (files("diskret.publish.pages").joinpath("frame"), files(package).joinpath("page"))
    found = {one.name: one for folder in folders for one in folder.iterdir()}
    kinds = {name: _KINDS.get(name.rpartition(".")[2]) for name in found}
    return {name: (found[name], kind) for name, kind in kinds.items() if kind is not None}
