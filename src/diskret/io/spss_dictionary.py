"""The dictionary of an SPSS file, looked at before it is read.

The library that reads these files trusts two things in it, and where they are damaged it ends the
process: how wide a text is, and which variables labels are of.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from diskret.errors import InputError

_HEAD = 176
_WIDEST = 255  # longer texts are several variables
_END = 999


def check_dictionary(path: Path) -> None:
    """Refuse a .sav file whose dictionary contradicts itself; what is none is left to its reader.

    Raises
    ------
    InputError
        A variable is wider than can be, labels are of variables that are not there, or it ends.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if len(head) < _HEAD or head[:3] != b"$FL":
            return
        order = "<" if head[64:68] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
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
        width, label, missing = self._numbers(3)
        self._skip(16)  # formats and name
        if width == -1 and self.rest:
            self.rest -= 1
            self.begins.append(False)
        elif 0 <= width <= _WIDEST and not self.rest:
            self.rest = max(0, -(-width // 8) - 1)
            self.begins.append(True)
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
