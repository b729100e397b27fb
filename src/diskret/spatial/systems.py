"""Coordinates from one reference system to another."""

# pyproj has no type information.
# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

_BLOCK = 1_000_000


def transformed(
    east: NDArray[np.float64], north: NDArray[np.float64], of: int, to: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of one EPSG number in another: east or longitude, then north or latitude.

    Raises
    ------
    InputError
        pyproj is missing, or a number is none that it knows.
    """
    moved = _transformer(of, to)
    parts = [
        moved.transform(east[at : at + _BLOCK], north[at : at + _BLOCK])
        for at in range(0, max(len(east), 1), _BLOCK)
    ]
    return np.concatenate([one[0] for one in parts]), np.concatenate([one[1] for one in parts])


@lru_cache(maxsize=8)
def _transformer(of: int, to: int) -> Any:
    try:
        from pyproj import Transformer
        from pyproj.exceptions import CRSError
    except ImportError as error:
        raise InputError(
            f"coordinates of EPSG:{of} have to be brought to EPSG:{to}, which needs pyproj; "
            "install it with: pip install 'diskret[geo]'"
        ) from error
    try:
        return Transformer.from_crs(of, to, always_xy=True)
    except CRSError as error:
        raise InputError(f"crs={of} or {to} is no EPSG number: {error}") from None


def one_system(systems: Iterable[int]) -> int:
    """The EPSG number that all cells are of.

    Raises
    ------
    InputError
        They are of several.
    """
    found = {*systems}
    if len(found) > 1:
        raise InputError(f"cells are of several reference systems: {sorted(found)}")
    return found.pop()


def epsg_number(system: str | None, path: str) -> int:
    """EPSG number of a reference system in whatever words, such as those of a file.

    Raises
    ------
    InputError
        It has none.
    """
    if system and system.startswith("EPSG:") and system[5:].isdigit():
        return int(system[5:])
    number = None
    if system:
        from pyproj import CRS

        number = CRS.from_user_input(system).to_epsg()
    if number is None:
        raise InputError(f"the reference system of {path} has no EPSG number; write it with one")
    return int(number)
