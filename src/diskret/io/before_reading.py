"""What files of SPSS and Stata say of their variables, looked at before they are read.

The library that reads them trusts some of it, and where that is damaged ends the process: in SPSS
whether a variable is a text and how wide, and which variables labels are of; in Stata how many
records there are.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import BinaryIO

from diskret.errors import InputError
from diskret.texts.numbers import Count

_HEAD = 176
_WIDEST = 255  # longer texts are several variables
_TEXT = (1, 2)  # formats A and AHEX
_END = 999
_ZIPPED = 1100  # zlib makes no more of a byte
_RECORDS = re.compile(rb"<byteorder>(MSF|LSF)</byteorder>.{0,20}?<N>(.{8}|.{4})</N>", re.DOTALL)


def check_dictionary(path: Path) -> None:
    """Refuse a .sav file whose dictionary contradicts itself; what is none is left to its reader.

    Raises
    ------
    InputError
        A text is wider than can be or has formats of numbers, or the other way round; labels are of
        variables that are not there; or it ends too early.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if len(head) < _HEAD or head[:3] != b"$FL":
            return
        order = "<" if head[64:68] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
        dense = 1 if head[:4] == b"$FL2" else _ZIPPED
        _check_records(path, struct.unpack(f"{order}i", head[80:84])[0] // dense, file.seek(0, 2))
        try:
            whole = _Dictionary(file, order).whole()
        except (struct.error, OverflowError, IndexError):  # it ends too early
            whole = False
        at = file.tell()
    if not whole:
        raise InputError(
            f"{path}: is damaged: what it says of its variables contradicts itself near byte "
            f"{at:,}; take a copy that is whole"
        )


def check_length(path: Path) -> None:
    """Refuse a .dta file that says it has more records than bytes; others are left to their reader.

    Raises
    ------
    InputError
        There are fewer.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        size = file.seek(0, 2)
    if found := _RECORDS.search(head):
        said = int.from_bytes(found[2], "little" if found[1] == b"LSF" else "big")
    elif len(head) > 10 and head[0] in range(104, 116) and head[1] in (1, 2):
        said = int.from_bytes(head[6:10], "little" if head[1] == 2 else "big")
    else:
        return
    _check_records(path, said, size)


def _check_records(path: Path, said: int, size: int) -> None:
    if said > size:
        raise InputError(
            f"{path}: is damaged: it says that it has {said:,} {Count(said):record|records} or "
            f"more, and it has {size:,} bytes; take a copy that is whole"
        )


class _Dictionary:
    """Goes through the records of a dictionary, up to the first that cannot be."""

    def __init__(self, file: BinaryIO, order: str) -> None:
        self.file, self.order = file, order
        self.size = file.seek(0, 2)
        file.seek(_HEAD)
        self.begins: list[bool] = []  # of every 8 bytes of a record: whether a variable begins
        self.rest = 0  # how many of them the last variable still takes

    def whole(self) -> bool:
        """Whether all is as it can be."""
        while True:
            (kind,) = self._numbers(1)
            if kind != 2 and self.rest:
                return False
            if kind == _END:
                return True
            if not self._record(kind):
                return False

    def _record(self, kind: int) -> bool:
        if kind == 2:
            return self._variable()
        if kind == 3:
            return self._labels()
        if kind == 6:  # notes, 80 characters a line
            return self._skip(80 * self._numbers(1)[0])
        if kind == 7:
            _, size, count = self._numbers(3)
            return size >= 0 and count >= 0 and self._skip(size * count)
        return False

    def _variable(self) -> bool:
        width, label, missing, *formats = self._numbers(5)
        self._skip(8)  # its name
        if width == -1 and self.rest:
            self.rest -= 1
            self.begins.append(False)
        elif 0 <= width <= _WIDEST and not self.rest:
            self.rest = max(0, -(-width // 8) - 1)
            self.begins.append(True)
            if any((one >> 16 & 0xFF in _TEXT) != (width > 0) for one in formats):
                return False
            if width and missing < 0:  # a range of texts
                return False
        else:
            return False
        if label == 1 and not self._skip(-(-self._numbers(1)[0] // 4) * 4):
            return False
        return label in (0, 1) and -3 <= missing <= 3 and self._skip(8 * abs(missing))

    def _labels(self) -> bool:
        for _ in range(self._numbers(1)[0]):
            self._skip(8)
            length = self.file.read(1)[0]
            if not self._skip(-(-(length + 1) // 8) * 8 - 1):
                return False
        kind, count = self._numbers(2)
        if kind != 4 or not 0 < count <= len(self.begins):
            return False
        of = self._numbers(count)
        return all(0 < one <= len(self.begins) and self.begins[one - 1] for one in of)

    def _numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"{self.order}{count}i", self.file.read(4 * count))

    def _skip(self, size: int) -> bool:
        at = self.file.tell() + size
        if size < 0 or at > self.size:
            return False
        self.file.seek(at)
        return True
