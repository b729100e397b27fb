"""True frequencies, estimated from randomised records, with their variances."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded, FrameKind, coded, from_arrow, to_arrow
from diskret.io.columns import column
from diskret.io.names import some
from diskret.microdata.transitions import TransitionMatrix
from diskret.risk import classes

#: Above this condition number nothing is left of a double's 16 digits but a few.
_SINGULAR = 1e10
#: Up to so many cells a table is estimated, and its whole covariance matrix given.
_MOST_CELLS = 10_000_000
_MOST_COVARIANCES = 5_000
#: Rounds of expectation and maximisation, and when they change nothing any more.
_ROUNDS = 10_000
_STILL = 1e-9

#: Variable, or several that changed together → matrix.
Matrices = Mapping[str, Any] | Mapping[tuple[str, ...], Any] | Mapping[str | tuple[str, ...], Any]


@dataclass(frozen=True, eq=False)
class PramEstimate:
    """A frequency table as it was before randomisation, estimated.

    Parameters
    ----------
    variables
        The axes of the table; names joined by " x " for variables that changed together.
    matrices
        Their transition matrices; axis j has L_j categories.
    published
        The table of the randomised records, weighted, ``(L_1, …, L_m)``.
    estimate
        Unbiased estimate, of the same shape; may be negative.
    variance
        Estimated variance of `estimate`, from randomisation alone, of the same shape. It
        supposes that records changed independently of each other. Where a margin was kept
        exactly they did not, and tables with other variables vary less than it says.
    squares
        The table of the randomised records with squared weights, of the same shape.
    condition
        Condition number of the transition matrices together, ≥ 1: by how much errors are
        amplified at most.
    kind
        Of frames.
    """

    variables: tuple[str, ...]
    matrices: tuple[TransitionMatrix, ...]
    published: NDArray[np.float64]
    estimate: NDArray[np.float64]
    variance: NDArray[np.float64]
    squares: NDArray[np.float64]
    condition: float
    kind: FrameKind = "pyarrow"

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.estimate.shape))
        return (
            f"PramEstimate({', '.join(self.variables)}: {shape} cells, "
            f"condition {self.condition:.3g})"
        )

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Root of the variance; 0 where its estimate is below 0."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def frame(self) -> Any:
        """A row for each cell: its categories, ``published``, ``estimate``, ``standard_error``."""
        cells = np.indices(self.estimate.shape).reshape(len(self.variables), -1)
        made: dict[str, Any] = {}
        for name, matrix, at in zip(self.variables, self.matrices, cells, strict=True):
            shown = [
                " x ".join(map(str, one)) if isinstance(one, tuple) else one
                for one in matrix.categories
            ]
            made[name] = pa.array(shown).take(pa.array(at))
        figures = {
            "published": self.published,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
        }
        made.update({name: values.ravel() for name, values in figures.items()})
        return from_arrow(pa.table(made), self.kind)

    @cached_property
    def nonnegative(self) -> NDArray[np.float64]:
        """The estimate of maximum likelihood, which is never negative and has the same total.

        Equal to the unbiased one where that is not negative. Else by expectation and
        maximisation: T_k ← T_k Σ_l p_kl T'_l / (T P)_l.
        """
        if self.estimate.min(initial=0) >= 0:
            return self.estimate
        forth = [matrix.probabilities.T for matrix in self.matrices]
        back = [matrix.probabilities for matrix in self.matrices]
        total = self.published.sum()
        made = np.maximum(self.estimate, 0.0) + total / self.estimate.size  # nothing starts at 0
        made *= total / made.sum()
        for _ in range(_ROUNDS):
            reached = along(forth, made)
            ratio = np.divide(self.published, reached, where=reached > 0, out=np.zeros_like(made))
            better = made * along(back, ratio)
            moved = float(np.abs(better - made).sum())
            made = better
            if moved <= _STILL * total:
                break
        return made

    def covariance(self) -> NDArray[np.float64]:
        """Estimated covariances of all cells in C order, ``(cells, cells)``.

        Raises
        ------
        InputError
            There are more than 5,000 cells.
        """
        cells = self.estimate.size
        if cells > _MOST_COVARIANCES:
            raise InputError(
                f"the table has {cells:,} cells, so {cells**2:,} covariances; `variance` holds "
                f"the variances, and tables of up to {_MOST_COVARIANCES:,} cells have covariances"
            )
        inverse = np.ones((1, 1))
        for matrix in self.matrices:
            inverse = np.kron(inverse, _inverse(matrix))
        true = along([_inverse(matrix).T for matrix in self.matrices], self.squares)
        return inverse.T @ (self.squares.reshape(-1, 1) * inverse) - np.diag(true.ravel())


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
    table, kind = to_arrow(frame)
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


def estimate_counts(
    variables: tuple[str, ...],
    matrices: tuple[TransitionMatrix, ...],
    published: NDArray[np.float64],
    squares: NDArray[np.float64],
    kind: FrameKind = "pyarrow",
) -> PramEstimate:
    """The estimate from a published table.

    Parameters
    ----------
    variables, matrices
        Of each axis.
    published
        Published frequencies, ``(L_1, …, L_m)``.
    squares
        The same with squared weights; equal to `published` without weights.
    kind
        Of frames.
    """
    condition = 1.0
    for name, matrix in zip(variables, matrices, strict=True):
        condition *= _condition(name, matrix)
    back = [_inverse(matrix).T for matrix in matrices]
    return PramEstimate(
        variables=variables,
        matrices=matrices,
        published=published,
        estimate=along(back, published),
        variance=along([one**2 for one in back], squares) - along(back, squares),
        squares=squares,
        condition=condition,
        kind=kind,
    )


def along(
    matrices: Sequence[NDArray[np.float64]], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply a table by a matrix along each axis: the Kronecker product, never built."""
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def _inverse(matrix: TransitionMatrix) -> NDArray[np.float64]:
    return np.linalg.inv(matrix.probabilities).astype(np.float64)


def _condition(name: str, matrix: TransitionMatrix) -> float:
    found = float(np.linalg.cond(matrix.probabilities)) if matrix.categories else 1.0
    if found <= _SINGULAR:
        return found
    rows = matrix.probabilities
    apart = np.abs(rows[:, None] - rows).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    first, second = np.unravel_index(int(apart.argmin()), apart.shape)
    alike = (
        f"; {matrix.categories[first]!r} and {matrix.categories[second]!r} become the same "
        "values equally likely"
        if apart[first, second] < 1e-6
        else ""
    )
    raise InputError(
        f"the matrix of {name!r} cannot be inverted (condition number {found:.1e}), so true "
        f"frequencies cannot be estimated{alike}; estimate combined categories, or ask for a "
        "matrix in which values stay more often"
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
    """Where each value stands in a matrix, −1 for None.

    Raises
    ------
    InputError
        A value has no place.
    """
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
        raise InputError(f"{(~np.isfinite(found)).sum():,} weights in {name!r} are missing")
    return found
