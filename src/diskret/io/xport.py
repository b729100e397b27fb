"""Where numbers of a SAS transport file stand, and why some of them are missing: ``.a`` to ``.z``.

The library that reads and writes these files knows one kind of missing number only.

Source: SAS technical support paper TS-140, record layout of a SAS version 5 or 6 data set in
transport format, and its version 8 or 9.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diskret.errors import InputError

_LINE = 80
_HEADS = 640  # of the library, the data set and the list of columns
_SIZES = (136, 140)
_LETTERS = (*range(ord("A"), ord("Z") + 1), ord("_"))


@dataclass(frozen=True)
class Layout:
    """Where records stand in a file, in bytes.

    `start`: of the first record; `width`: of each; `numbers`: column, counted from 0 → first byte
    and length of its number in a record.
    """

    start: int
    width: int
    numbers: Mapping[int, tuple[int, int]]


def layout(path: Path) -> Layout | None:
    """How a file is laid out; None where it is not as it should be."""
    with path.open("rb") as file:
        head = file.read(_HEADS)
        try:
            size, columns = int(head[314:318]), int(head[614:618])
        except ValueError:
            return None
        if size not in _SIZES:
            return None
        listed = file.read(size * columns)
        if len(listed) < size * columns:
            return None
        at = -(-file.tell() // _LINE) * _LINE
        file.seek(at)
        while (line := file.read(_LINE)) and not line.startswith(b"HEADER RECORD*******OBS"):
            at += _LINE  # labels that are longer than a version 5 file has room for
        if not line:
            return None
    numbers: dict[int, tuple[int, int]] = {}
    width = 0
    for column in range(columns):
        one = listed[size * column : size * (column + 1)]
        kind, _, length = struct.unpack(">3h", one[:6])
        (begin,) = struct.unpack(">i", one[84:88])
        if begin < 0 or length < 1:
            return None
        width = max(width, begin + length)
        if kind == 1:
            numbers[column] = begin, length
    return Layout(at + _LINE, width, numbers)


def special_missing(path: Path, records: int) -> dict[int, list[str | None]]:
    """Column, counted from 0 → why the number of each record is missing; columns that say so."""
    found = layout(path)
    if found is None or not records:
        return {}
    if path.stat().st_size < found.start + records * found.width:
        raise InputError(f"{path}: is damaged: it ends before its last record")
    bytes_ = np.memmap(path, np.uint8, "r", found.start, (records, found.width))
    reasons: dict[int, list[str | None]] = {}
    for column, (begin, length) in found.numbers.items():
        first = bytes_[:, begin]
        there = np.isin(first, _LETTERS) & ~bytes_[:, begin + 1 : begin + length].any(axis=1)
        if there.any():
            codes = np.where(there, first, 0).tolist()
            reasons[column] = ["." + chr(code).lower() if code else None for code in codes]
    return reasons


def with_special_missing(
    raw: bytearray, path: Path, codes: Mapping[int, Sequence[str | None]]
) -> None:
    """Write codes into a file, the bytes of which are `raw`, where its numbers are missing."""
    found = layout(path)
    if found is None:
        raise InputError(f"{path}: is not laid out as a SAS transport file should be")
    for column, reasons in codes.items():
        begin, length = found.numbers[column]
        for record, code in enumerate(reasons):
            if code is not None:
                at = found.start + record * found.width + begin
                raw[at : at + length] = code[1].upper().encode().ljust(length, b"\0")
