"""Arrays from files: type, shape and range are checked before anything computes with them.

Compiled code trusts what it is given: an index beyond the end of an array stops the process, or
reads what is none of its business. So nothing that lies in a file gets there unchecked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import DiskretError, InputError
from diskret.parameters import shortly


@dataclass(frozen=True)
class Wanted:
    """What an array must be.

    `kind`: kind of its elements as numpy names it: ``"i"`` int64 or int32, ``"u"`` unsigned of any
        width, ``"iu"`` one of these, ``"f"`` float64, ``"b"`` bool, ``"U"`` text.
    `shape`: its lengths; None where any length is right.
    `low`, `high`: the smallest and the largest admissible element; None: any.
    `ascending`: whether each element is larger than the one before.
    """

    kind: str
    shape: tuple[int | None, ...]
    low: float | int | None = None
    high: float | int | None = None
    ascending: bool = False


def from_lists(owner: Any, kinds: Mapping[str, type[np.generic]], optional: bool = True) -> None:
    """Make arrays of the fields of a new object that were given as lists, or the like.

    If they are `optional`, None stays None.
    """
    for name, kind in kinds.items():
        given = getattr(owner, name)
        alike = isinstance(given, np.ndarray) and given.dtype.kind == np.dtype(kind).kind
        if not alike and not (optional and given is None):
            object.__setattr__(owner, name, from_list(given, name, kind))


def from_list(given: Any, name: str, kind: type[np.generic]) -> NDArray[Any]:
    """An array of a list of numbers, or of rows of equal length; errors as of `from_lists`.

    >>> from_list([[1, 2], [3, 4]], "counts", np.int64).shape
    (2, 2)
    """
    try:
        found = np.asarray(given)
    except ValueError:  # rows of different lengths
        found = np.array(None)
    if found.dtype.kind not in "biuf" or not found.ndim:
        raise InputError(
            f"{name} must be a list of numbers, or rows of equal length, not {shortly(given)}"
        )
    with np.errstate(invalid="ignore"):
        made = found.astype(kind)
    if not ((made == found) | (made != made) & (found != found)).all():  # noqa: PLR0124
        raise InputError(f"{name} must hold numbers of type {made.dtype}, not {shortly(given)}")
    return made


def read_arrays(path: Path, wrong: type[DiskretError] = InputError) -> dict[str, NDArray[Any]]:
    """All arrays of an ``.npz`` file; nothing in it is executed."""
    try:
        with zipfile.ZipFile(path) as archive:  # else numpy would try formats that run code
            members = archive.namelist()
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if f"{name}.npy" in members}
    except FileNotFoundError:
        raise wrong(f"{path}: the file is missing") from None
    except Exception:  # damaged archives raise errors of a dozen kinds
        raise wrong(f"{path} cannot be read: it is damaged, or no archive of arrays") from None


def checked(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    wanted: Wanted,
    source: str,
    wrong: type[DiskretError] = InputError,
) -> NDArray[Any]:
    """An array by its name, if it is what is wanted.

    >>> checked({"at": np.array([3, 9])}, "at", Wanted("i", (2,), 0, 5), "x.npz")
    Traceback (most recent call last):
    diskret.errors.InputError: x.npz is damaged: 'at' holds a number above 5
    """
    found = arrays.get(name)
    problem = _problem(found, wanted)
    if found is None or problem:
        raise wrong(f"{source} is damaged: {name!r} {problem}")
    return found


def checked_csr(
    arrays: Mapping[str, NDArray[Any]],
    names: tuple[str, str, str],
    shape: tuple[int, int],
    limit: int,
    source: str,
    wrong: type[DiskretError] = InputError,
) -> sparse.csr_array:
    """A sparse matrix of whole numbers below `limit` in size, from data, indices and starts."""
    data, indices, starts = names
    rows, columns = shape
    start = checked(arrays, starts, Wanted("i", (rows + 1,), 0), source, wrong)
    entries = int(start[-1])
    column = checked(arrays, indices, Wanted("i", (entries,), 0, columns - 1), source, wrong)
    value = checked(arrays, data, Wanted("i", (entries,), 1 - limit, limit - 1), source, wrong)
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise wrong(f"{source} is damaged: {starts!r} does not ascend from 0")
    first = np.zeros(entries + 1, dtype=bool)
    first[start] = True
    if not (first[1:entries] | (np.diff(column) > 0)).all():
        raise wrong(f"{source} is damaged: {indices!r} does not ascend within its rows")
    return sparse.csr_array((value, column, start), shape=shape)


def _problem(found: NDArray[Any] | None, wanted: Wanted) -> str:
    if found is None:
        return "is missing"
    widths = {"i": (4, 8), "f": (8,)}.get(found.dtype.kind, (found.dtype.itemsize,))
    if found.dtype.kind not in wanted.kind or found.dtype.itemsize not in widths:
        return f"is of the type {found.dtype}"
    if len(found.shape) != len(wanted.shape) or any(
        of is not None and n != of for n, of in zip(found.shape, wanted.shape, strict=True)
    ):
        return f"has the shape {found.shape}"
    if wanted.kind == "f" and not np.isfinite(found).all():
        return "holds what is no number"
    if found.size and wanted.low is not None and found.min() < wanted.low:
        return f"holds a number below {wanted.low}"
    if found.size and wanted.high is not None and found.max() > wanted.high:
        return f"holds a number above {wanted.high}"
    if wanted.ascending and (np.diff(found) <= 0).any():
        return "does not ascend"
    return ""
