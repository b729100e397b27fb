"""Text of a file in its encoding."""

from __future__ import annotations

import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, lookup
from contextlib import suppress
from pathlib import Path

from diskret.errors import DiskretError, InputError

_ONE_BYTE = frozenset({"cp1252", "iso8859-1", "iso8859-15", "cp850", "cp437", "mac-roman"})
#: Marks of 16-bit text.
_WIDE = (BOM_UTF16_LE, BOM_UTF16_BE)
#: How files begin that are no text, and how they end.
_NO_TEXT = {
    b"PK\x03\x04": ".xlsx, .zip",
    b"\x1f\x8b": ".gz",
    b"\xd0\xcf\x11\xe0": ".xls",
    b"PAR1": ".parquet",
    b"%PDF": ".pdf",
}


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
        if lookup(encoding).name == "utf-8":
            raise not_utf8(file) from error
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


def not_utf8(file: Path) -> InputError:
    """What to do about a file that is not UTF-8 text; other kinds are known by their beginning."""
    line, byte = 1, 0
    with suppress(OSError), file.open("rb") as opened:
        begin = opened.read(4)
        for mark, endings in _NO_TEXT.items():
            if begin.startswith(mark):
                return InputError(
                    f"{file}: is no text but begins like a file that ends in {endings}; name it "
                    "so, or unpack it, or save it as CSV in UTF-8"
                )
        if begin[:2] in _WIDE:  # each letter has two bytes
            return InputError(
                f"{file}: is not UTF-8 text; save it as UTF-8, or say its encoding: "
                'DataFile(path, encoding="utf-16")'
            )
        opened.seek(0)
        for text in opened:
            try:
                text.decode()
            except UnicodeDecodeError as error:
                byte = text[error.start]
                break
            line += 1
    return InputError(
        f"{file}, line {line}: is not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8, or say its "
        'encoding: DataFile(path, encoding="cp1252")'
    )


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
