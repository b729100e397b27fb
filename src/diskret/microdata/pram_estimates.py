"""True frequencies, estimated from randomised records, with their variances."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded, coded, to_arrow
from diskret.io.columns import column, some
from diskret.microdata.transition_figures import PramEstimate, estimate_counts
from diskret.microdata.transitions import TransitionMatrix
from diskret.risk import classes
from diskret.texts.numbers import Count

#: Up to so many cells a table is estimated.
_MOST_CELLS = 10_000_000

#: Variable, or several that changed together → matrix.
Matrices = Mapping[str, Any] | Mapping[tuple[str, ...], Any] | Mapping[str | tuple[str, ...], Any]


def pram_estimate(
    frame: Any,
    matrices: Matrices,
    *,
    weight: str | None = None,
) -> PramEstimate:
    """Estimate the true frequency table of some variables from randomised records.

    Parameters
    ----------
    frame
        Randomised records, any kind of frame.
    matrices
        Variable → its transition matrix (or a frame of it, see
        [`TransitionMatrix.from_frame`][diskret.microdata.TransitionMatrix.from_frame]); None for
        a variable that was not randomised. Variables that changed together are one axis: a tuple
        of their names. Records with a missing value in any of them are left out.
    weight
        Sampling weight; estimates are then those of the population, and variances still those
        of the randomisation alone.

    Raises
    ------
    InputError
        A matrix cannot be inverted, a value is published that its matrix does not have, or the
        table has more than 10,000,000 cells.

    Notes
    -----
    With published frequencies T', E[T'] = Pᵀ T, so T̂ = (Pᵀ)⁻¹ T' is unbiased; P is the Kronecker
    product of the matrices of all axes. V(T') = Σ_k T_k (diag(p_k) − p_k p_kᵀ), hence
    V(T̂) = P⁻ᵀ V(T') P⁻¹ = P⁻ᵀ diag(E T') P⁻¹ − diag(T), which is estimated with T' and T̂. With
    weights the T of variances are sums of squared weights. (Gouweleeuw et al. 1998; van den Hout
    and van der Heijden 2002, "Randomized response, statistical disclosure control and
    misclassification: a review", International Statistical Review 70, for the likelihood.)

    Examples
    --------
    >>> import pyarrow as pa
    >>> records = pa.table({"job": ["a"] * 29 + ["b"] * 11, "sex": ["f", "m"] * 20})
    >>> job = TransitionMatrix(["a", "b"], [[0.9, 0.1], [0.2, 0.8]])
    >>> found = pram_estimate(records, {"job": job, "sex": None})
    >>> found, found.estimate.round(3).tolist()
    (PramEstimate(job, sex: 2 x 2 cells, condition 1.46), [[15.714, 14.286], [4.286, 5.714]])
    """
    table, kind = to_arrow(frame, (weight,))
    if not matrices:
        raise InputError("matrices= names no variable; give at least one with its matrix")
    axes = [_axis(table, names, matrix) for names, matrix in matrices.items()]
    shape = tuple(len(matrix.categories) for _, matrix, _ in axes)
    if prod(shape) > _MOST_CELLS:
        raise InputError(
            f"the table would have {prod(shape):,} cells; estimate fewer variables at once "
            f"(up to {_MOST_CELLS:,} cells)"
        )
    there = np.logical_and.reduce([at >= 0 for _, _, at in axes])
    cell = np.zeros(int(there.sum()), dtype=np.int64)
    for (_, _, at), size in zip(axes, shape, strict=True):
        cell = cell * size + at[there]
    weights = None if weight is None else _weights(table, weight)[there]
    squared = None if weights is None else weights**2
    return estimate_counts(
        tuple(name for name, _, _ in axes),
        tuple(matrix for _, matrix, _ in axes),
        np.bincount(cell, weights, minlength=prod(shape)).reshape(shape).astype(np.float64),
        np.bincount(cell, squared, minlength=prod(shape)).reshape(shape).astype(np.float64),
        kind,
    )


def _axis(
    table: pa.Table, names: str | tuple[str, ...], matrix: Any
) -> tuple[str, TransitionMatrix, NDArray[np.intp]]:
    """Name, matrix, and place of each record in it, −1 where missing."""
    listed = (names,) if isinstance(names, str) else tuple(names)
    columns = [coded(column(table, name), name) for name in listed]
    values, of = combined(columns)
    name = " x ".join(listed)
    if matrix is None:
        made = TransitionMatrix(
            [one for one in values if one is not None], np.eye(len(values) - values.count(None))
        )
    else:
        made = TransitionMatrix.given(matrix)
    return name, made, places(values, made, name)[of]


def combined(columns: Sequence[Coded]) -> tuple[list[Hashable | None], NDArray[np.intp]]:
    """Distinct values that occur, ascending, None where missing; for each record which it has.

    Of several variables the values are tuples, and missing if one of them is.
    """
    found = classes([one.codes for one in columns], [len(one.categories) for one in columns])
    texts = [one.categories.to_pylist() for one in columns]
    values: list[Hashable | None] = []
    for row in found.codes.tolist():
        parts = tuple(text[code] for text, code in zip(texts, row, strict=True) if code >= 0)
        whole = parts[0] if parts and len(columns) == 1 else parts
        values.append(whole if len(parts) == len(columns) else None)
    return values, found.of


def places(
    values: Sequence[Hashable | None], matrix: TransitionMatrix, name: str
) -> NDArray[np.intp]:
    """Where each value stands in a matrix, −1 for None."""
    at: dict[Hashable | None, int] = {one: place for place, one in enumerate(matrix.categories)}
    unknown = [value for value in values if value is not None and value not in at]
    if unknown:
        shown = ", ".join(map(repr, matrix.categories[:5]))
        raise InputError(
            f"{name!r} has {some('value', unknown)}, which its matrix does not have; the matrix "
            f"begins with {shown}. Text and numbers are different values"
        )
    at[None] = -1
    return np.array([at[value] for value in values], dtype=np.intp)


def _weights(table: pa.Table, name: str) -> NDArray[np.float64]:
    try:
        found = column(table, name).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"the weights in {name!r} are not numbers ({error})") from None
    if not np.isfinite(found).all():
        number = Count((~np.isfinite(found)).sum())
        raise InputError(f"{number} {number:weight|weights} in {name!r} {number:is|are} missing")
    return found
