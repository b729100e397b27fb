"""Pictures: what a person cannot see in them."""

from __future__ import annotations

import struct
from pathlib import Path

from diskret.outputs.files.looked_at import Found

#: Parts of a PNG file that hold what is not drawn.
_TEXTS = (b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME")
_HARMLESS = (b"Software",)  # the program that drew it
_DRAWN = (
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"bKGD",
    b"sBIT", b"iCCP", b"acTL", b"fcTL", b"fdAT",
)  # fmt: skip


def image(path: Path, suffix: str) -> list[Found]:
    """A picture is for a person to look at; said is what a person would not see."""
    return image_of(path.read_bytes(), suffix)


def image_of(data: bytes, suffix: str) -> list[Found]:
    """The same of a picture in memory."""
    look = {".png": _png, ".jpg": _jpg}.get(suffix)
    try:
        return [Found("unknown"), *(look(data) if look else [])]
    except (struct.error, IndexError, ValueError):
        return [Found("unread")]


def _png(data: bytes) -> list[Found]:
    texts: list[tuple[str, ...]] = []
    strange: list[tuple[str, ...]] = []
    if not data.startswith(b"\x89PNG"):
        raise ValueError("no picture")
    at = 8
    while True:
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        at += 12 + size
        if kind in _TEXTS and not body.startswith(_HARMLESS):
            texts.append((kind.decode("ascii"),))
        elif kind not in (*_TEXTS, *_DRAWN):
            strange.append((kind.decode("ascii", "replace"),))
        if kind == b"IEND":
            break
    return _said(texts, strange, data[at:])


def _jpg(data: bytes) -> list[Found]:
    texts: list[tuple[str, ...]] = []
    if not data.startswith(b"\xff\xd8"):
        raise ValueError("no picture")
    at = 2
    while data[at] == 0xFF and data[at + 1] != 0xDA:  # up to the picture itself
        marker, size = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if size < 2:
            raise ValueError("a part of no size")
        body = data[at + 4 : at + 2 + size]
        plain = body.startswith((b"JFIF", b"Adobe", b"ICC_PROFILE"))
        if marker == 0xFE or (0xE0 <= marker <= 0xEF and not plain):
            texts.append((body[:4].decode("ascii", "replace").strip("\0"),))
        at += 2 + size
    end = data.rindex(b"\xff\xd9") + 2
    return _said(texts, [], data[end:])


def _said(
    texts: list[tuple[str, ...]], strange: list[tuple[str, ...]], behind: bytes
) -> list[Found]:
    found: list[Found] = []
    if texts:
        found.append(Found("metadata", texts))
    if behind.strip(b"\0\r\n "):
        strange = [*strange, (f"+{len(behind)}",)]
    if strange:
        found.append(Found("embedded", strange))
    return found
