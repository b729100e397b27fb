"""Codes drawn at random, and the columns they become."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.int16]
#: Records drawn at a time, so that little memory is needed beside the codes.
SLICE = 1 << 19


def country(part: int) -> np.random.Generator:
    """Source of what is the same for every seed: how groups and places differ."""
    return np.random.Generator(np.random.PCG64([4, part]))


def varied(
    land: np.random.Generator, shares: Sequence[float], rows: int, strength: float
) -> NDArray[np.float64]:
    """Shares that differ between `rows` groups, ``(rows, len(shares))``: log-normal factors."""
    base = np.asarray(shares, dtype=float)
    return base * np.exp(strength * land.standard_normal((rows, len(base))))


def draw(rng: np.random.Generator, shares: NDArray[np.float64], key: NDArray[np.integer]) -> Codes:
    """One code for each record, with the shares in row ``key`` of `shares`."""
    rows, codes = shares.shape
    total = shares.sum(axis=1, keepdims=True)
    bounds = np.cumsum(shares / total, axis=1) + np.arange(rows)[:, None]
    bounds[:, -1] = np.arange(rows) + 1
    flat = bounds.ravel()
    drawn = np.empty(len(key), dtype=np.int16)
    for begin in range(0, len(key), SLICE):
        part = key[begin : begin + SLICE].astype(np.int64)
        found = np.searchsorted(flat, part + rng.random(len(part)), side="right")
        # a draw next to 1 may be rounded up into the next row
        drawn[begin : begin + SLICE] = np.minimum(found - part * codes, codes - 1)
    return drawn


def draw_where(
    rng: np.random.Generator,
    asked: NDArray[np.bool_],
    shares: NDArray[np.float64],
    key: NDArray[np.integer],
) -> Codes:
    """As `draw` for those who are asked, as codes from 1 on; 0 for the others."""
    codes = np.zeros(len(asked), dtype=np.int16)
    codes[asked] = draw(rng, shares, key[asked]) + 1
    return codes


def text(names: Sequence[str], codes: Codes) -> pa.DictionaryArray:
    """Dictionary-encoded text; a byte for each record where the names are few."""
    kind = np.int8 if len(names) <= 127 else np.int16 if len(names) <= 32767 else np.int32
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(kind)), pa.array(list(names), pa.string())
    )


def coarser(
    names: Sequence[str], above: Mapping[str, str], codes: Codes
) -> tuple[list[str], Codes]:
    """Names of the coarser level in order of appearance, and each record's code in it."""
    upper = list(dict.fromkeys(above[name] for name in names))
    place = {name: i for i, name in enumerate(upper)}
    lookup = np.array([place[above[name]] for name in names], dtype=np.int16)
    return upper, lookup[codes]
