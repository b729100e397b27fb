"""Text of a file in its encoding."""

from __future__ import annotations

import warnings
from codecs import lookup
from pathlib import Path

from diskret.errors import DiskretError, InputError

_ONE_BYTE = frozenset({"cp1252", "iso8859-1", "iso8859-15", "cp850", "cp437", "mac-roman"})


def utf8_text(file: Path, wrong: type[DiskretError] = InputError) -> str:
    """All of a file in UTF-8, without a byte order mark, which editors on Windows put first.

    Raises
    ------
    DiskretError
        Of the kind `wrong`: the file cannot be read, or is not UTF-8; the message names the line.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise wrong(f"{file}: cannot be read ({error.strerror})") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise wrong(f"{file}, line {line}: not UTF-8; save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as a text file is read


def decoded(file: Path, encoding: str) -> str:
    """All of a file as text, without a byte order mark.

    Raises
    ------
    InputError
        The file cannot be read, or holds something else; the message names the line.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    try:
        text = raw.decode(encoding)
    except LookupError as error:
        raise InputError(f"the encoding {encoding!r} is not known; use e.g. 'latin-1'") from error
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = raw.count(b"\n", 0, start) + 1
        byte = raw[start : start + 1].hex() or "00"
        raise InputError(
            f"{file}: line {line} is not {encoding} text (byte 0x{byte}); pass the "
            "encoding of the file, e.g. encoding='latin-1' or, from Windows, encoding='cp1252'"
        ) from error
    if not raw.isascii() and lookup(encoding).name in _ONE_BYTE and _is_utf8(raw):
        warnings.warn(
            f"{file}: is UTF-8 text, and was said to be {encoding}: ö would be read as Ã¶; leave "
            "encoding= out",
            stacklevel=2,
        )
    return text.removeprefix("\ufeff")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
