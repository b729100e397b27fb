"""Polygons in well-known binary form, as GeoPackage and GeoParquet hold them, read and written."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

_POLYGON, _MULTIPOLYGON = 3, 6
#: Flags of the dialect of PostGIS: heights, measures, a reference system before the parts.
_HIGH, _MEASURED, _SYSTEM = 0x80000000, 0x40000000, 0x20000000


def rings_of(geometry: bytes) -> list[NDArray[np.float64]]:
    """All rings of a polygon or multipolygon, each of shape ``(n, 2)``.

    Raises
    ------
    InputError
        It is neither, or ends too early.

    References
    ----------
    OGC 06-103r4, Simple feature access, part 1: 8.2.

    Examples
    --------
    >>> square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]
    >>> [ring.tolist() for ring in rings_of(polygon([square]))]
    [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]]
    """
    rings = list[NDArray[np.float64]]()
    try:
        _read(geometry, 0, rings)
    except (struct.error, ValueError):
        raise InputError("a geometry ends before its last corner") from None
    return rings


def polygon(rings: Sequence[Sequence[tuple[float, float]] | NDArray[np.float64]]) -> bytes:
    """A polygon of closed rings, the outer one first."""
    parts = [struct.pack("<BII", 1, _POLYGON, len(rings))]
    for ring in rings:
        parts.append(struct.pack("<I", len(ring)))
        parts.append(np.asarray(ring, "<f8").tobytes())
    return b"".join(parts)


def multipolygon(polygons: Sequence[Sequence[NDArray[np.float64]]]) -> bytes:
    """Several polygons, or one."""
    head = struct.pack("<BII", 1, _MULTIPOLYGON, len(polygons))
    return head + b"".join(polygon(rings) for rings in polygons)


def _read(data: bytes, at: int, rings: list[NDArray[np.float64]]) -> int:
    """Add the rings of the geometry that begins here; where it ends."""
    order = "<" if data[at : at + 1] == b"\x01" else ">"
    (kind,) = struct.unpack_from(order + "I", data, at + 1)
    at += 9 if kind & _SYSTEM else 5
    plain = kind & 0x0FFFFFFF
    more = bool(kind & _HIGH) + bool(kind & _MEASURED) + (0, 1, 1, 2)[min(plain // 1000, 3)]
    plain %= 1000
    if plain not in (_POLYGON, _MULTIPOLYGON):
        raise InputError("a geometry is no polygon; areas are polygons or multipolygons")
    (parts,) = struct.unpack_from(order + "I", data, at)
    at += 4
    for _ in range(parts):
        if plain == _MULTIPOLYGON:
            at = _read(data, at, rings)
            continue
        (corners,) = struct.unpack_from(order + "I", data, at)
        width = 2 + more
        ring = np.frombuffer(data, order + "f8", corners * width, at + 4)
        rings.append(ring.reshape(corners, width)[:, :2].astype(np.float64))
        at += 4 + corners * width * 8
    return at
