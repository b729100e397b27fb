"""PRAM: categories change at random, with known probabilities."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.microdata.pram_estimates import places
from diskret.microdata.transitions import TransitionMatrix
from diskret.risk import classes
from diskret.unbiased_rounding import rounded_with_margins

#: Draws are whole numbers of so many bits, so that probabilities are met to 10⁻¹².
_BITS = 40

#: A matrix for the categories of a stratum, ascending, and how many records have each.
Design = Callable[[tuple[Hashable, ...], NDArray[np.int64]], TransitionMatrix]
#: So near to a whole number a cell or margin is one.
_NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Stratum:
    """Records that are randomised together, with their matrix."""

    values: tuple[Hashable | None, ...]  # those of the strata variables, None where missing
    rows: NDArray[np.intp]  # its records, ascending, (r,)
    at: NDArray[np.intp]  # place of the value of each in the matrix, −1 if missing, (r,)
    counts: NDArray[np.int64]  # records of each category of the matrix, (L,)
    matrix: TransitionMatrix


def stratified(
    values: Sequence[Hashable | None],
    of: NDArray[np.intp],
    strata: Sequence[Coded],
    design: Design,
    name: str,
) -> list[Stratum]:
    """Divide the records, and ask for a matrix in each stratum.

    `values`, `of`: distinct values and which of them each record has, as `combined` finds them.
    Those that do not occur in a stratum have no place in its matrix unless it is a given one.
    `strata`: variables that divide the records; missing is a stratum of its own. `design`: makes
    the matrix of a stratum.
    """
    made: list[Stratum] = []
    for stratum, rows in _divided(strata, len(of)):
        own = of if len(rows) == len(of) else of[rows]
        number = np.bincount(own, minlength=len(values))
        held = [at for at in np.flatnonzero(number).tolist() if values[at] is not None]
        here = tuple(values[at] for at in held)
        matrix = design(here, number[held].astype(np.int64))
        to = np.full(len(values), -1, dtype=np.intp)
        to[held] = places(here, matrix, name)
        at = to[own]
        counts = np.bincount(at[at >= 0], minlength=len(matrix.categories)).astype(np.int64)
        made.append(Stratum(stratum, rows, at, counts, matrix))
    return made


def drawn(
    stratum: Stratum, draws: NDArray[np.uint64], exact: np.random.Generator | None = None
) -> NDArray[np.intp]:
    """New places of the records of a stratum.

    `draws`: equally likely whole numbers below 2⁶⁴, one for each of its records, ``(r,)``. `exact`:
    source of chance to keep all frequencies exactly: how many records of k become l is then t_k
    p_kl, rounded up or down so that all frequencies stay and each record still changes as likely as
    the matrix says; which ones change is drawn. Returns ``(r,)``, intp, −1 where missing.
    """
    present = stratum.at >= 0
    at = stratum.at if present.all() else stratum.at[present]
    number = (draws >> np.uint64(64 - _BITS)).astype(np.int64)
    number = number if len(at) == len(number) else number[present]
    number += at.astype(np.int64) << _BITS
    likely = stratum.matrix.probabilities
    if exact is None:
        found = np.searchsorted(_bounds(likely), number, side="right") - at * len(likely)
    else:
        moved = _whole_moves(stratum.counts[:, None] * likely, exact)
        found = np.empty(len(at), dtype=np.intp)
        targets = np.tile(np.arange(len(likely)), len(likely))
        found[np.argsort(number, kind="stable")] = np.repeat(targets, moved.ravel())
    if len(found) == len(present):
        return found
    whole = np.full(len(present), -1, dtype=np.intp)
    whole[present] = found
    return whole


def decoded(
    columns: Sequence[Coded], strata: Sequence[Stratum], new: Sequence[NDArray[np.intp]]
) -> list[Coded]:
    """The variables with new places; where one of several is missing, all stay as they are."""
    made: list[Coded] = []
    for number, column in enumerate(columns):
        known = column.categories.to_pylist()
        at: dict[Hashable, int] = {value: code for code, value in enumerate(known)}
        codes = column.codes.copy()
        for stratum, moved in zip(strata, new, strict=True):
            parts = [
                one[number] if len(columns) > 1 else one  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]
                for one in stratum.matrix.categories
            ]
            # one more, for places of −1
            to = np.array([*(at.setdefault(one, len(at)) for one in parts), 0], dtype=np.int32)
            codes[stratum.rows] = np.where(moved >= 0, to[moved], codes[stratum.rows])
        made.append(Coded(column.name, _extended(column, list(at)[len(known) :]), codes))
    return made


def _extended(column: Coded, further: list[Hashable]) -> pa.Array:
    if not further:
        return column.categories
    try:
        added = pa.array(further, type=column.categories.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"the matrix has categories that do not fit {column.name!r} "
            f"({column.categories.type}): {error}"
        ) from None
    return pa.concat_arrays([column.categories, added])


def _divided(
    strata: Sequence[Coded], n: int
) -> list[tuple[tuple[Hashable | None, ...], NDArray[np.intp]]]:
    """Values and records of each stratum, ascending."""
    if not strata:
        return [((), np.arange(n))]
    found = classes([one.codes for one in strata], [len(one.categories) for one in strata])
    texts = [[*one.categories.to_pylist(), None] for one in strata]
    rows = np.split(np.argsort(found.of, kind="stable"), np.cumsum(found.count)[:-1])
    named = [
        tuple(text[code] for text, code in zip(texts, row, strict=True))
        for row in found.codes.tolist()
    ]
    return list(zip(named, rows, strict=True))


def _bounds(likely: NDArray[np.float64]) -> NDArray[np.int64]:
    """Upper bounds of draws for each target, rows one after another; in whole numbers.

    What is impossible has an empty interval, however probabilities are rounded.
    """
    size = len(likely)
    reached = np.rint(np.cumsum(likely, axis=1) * 2**_BITS).astype(np.int64)
    last = size - 1 - np.argmax(likely[:, ::-1] > 0, axis=1) if size else np.zeros(0, np.intp)
    reached[np.arange(size) >= last[:, None]] = 1 << _BITS
    return (reached + (np.arange(size)[:, None] << _BITS)).ravel()


def _whole_moves(expected: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """How many records become what: whole numbers with the margins of those expected."""
    for axis, line in ((1, "row"), (0, "column")):
        sums = expected.sum(axis=axis)
        off = np.flatnonzero(np.abs(sums - np.rint(sums)) > _NEAR)
        if len(off):
            raise InputError(
                f"the sum of {line} {off[0] + 1} of the table to round is {sums[off[0]]:.9g}, "
                "which is no whole number"
            )
    return rounded_with_margins(expected, rng.random, _NEAR)
