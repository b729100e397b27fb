"""The attacker's intervals in published units, for people and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.attacker import Attacker
from diskret.attack.examination import Examination
from diskret.attack.examine import examine
from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow
from diskret.progress import Progress, silent
from diskret.tables import Published


def intervals(
    published: Published,
    attacker: Attacker | None = None,
    *,
    original: NDArray[np.int64] | None = None,
    kind: FrameKind = "pyarrow",
    progress: Progress = silent,
) -> Any:
    """What an attacker can infer about every suppressed cell.

    Parameters
    ----------
    published
        What the world sees.
    attacker
        What is known beside it; None: the plain outsider.
    original
        Original values in scaled integers; only for ``Attacker(relative=...)``.
    kind
        The kind of frame to return.
    progress
        Told about the task ``"attack"``.

    Returns
    -------
    frame
        One row for each suppressed cell: its codes, `lower` and `upper` in published units
        (whole numbers if nothing is published after the decimal point); null where nothing
        bounds the cell. Values are multiples of 10**-decimals, so the bounds are rounded
        inwards to such multiples.

    Raises
    ------
    InputError
        Something else than a published table was given.
    ContradictionError
        Published values and bounds that no table can satisfy.
    """
    _check_published(published)
    examination = examine(published, attacker or Attacker(), progress=progress, original=original)
    return from_arrow(interval_frame(published, examination), kind)


def _check_published(given: Any) -> None:
    if not isinstance(given, Published):
        raise InputError(
            f"intervals() attacks a published table, not an object of type "
            f"{type(given).__name__!r}; give result.published, or Published.read(folder)"
        )


def interval_frame(published: Published, examination: Examination) -> pa.Table:
    """The intervals of an examination as `intervals` returns them."""
    at = np.unravel_index(examination.cell, published.shape)
    columns = {
        dimension.name: pa.array(np.array(dimension.hierarchy.codes, dtype=object)[i], pa.string())
        for dimension, i in zip(published.dimensions, at, strict=True)
    }
    lower, upper = ends_in_units(examination.lower, examination.upper, published.decimals)
    return pa.table({**columns, "lower": lower, "upper": upper})


def ends_in_units(
    lower: NDArray[np.float64], upper: NDArray[np.float64], decimals: int
) -> tuple[pa.Array, pa.Array]:
    """Ends of intervals in scaled units as published ones, null where they are infinite.

    Examples
    --------
    >>> lower, upper = ends_in_units(np.array([1.5, -np.inf]), np.array([7.0, np.inf]), 0)
    >>> lower.to_pylist(), upper.to_pylist()
    ([2, None], [7, None])
    """
    return (
        _in_units(np.ceil(_near_whole(lower)), decimals),
        _in_units(np.floor(_near_whole(upper)), decimals),
    )


def interval_columns(published: Published, examination: Examination) -> dict[str, list[Any]]:
    """The same as lists that survive being written as JSON."""
    return interval_frame(published, examination).to_pydict()


def _near_whole(bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds without the last digits of the solver, which differ between computers."""
    with np.errstate(invalid="ignore"):
        near = np.abs(bound - np.rint(bound)) <= 1e-6 + 1e-12 * np.abs(bound)
    return np.where(near, np.rint(bound), bound)


def _in_units(scaled: NDArray[np.float64], decimals: int) -> pa.Array:
    known = np.isfinite(scaled)
    whole = np.where(known, scaled, 0).astype(np.int64)
    return pa.array(whole if decimals == 0 else whole / 10**decimals, mask=~known)
