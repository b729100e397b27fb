"""Estimates of true values from many published ones: averages, differences, ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise.chances import Confidence, NoiseTable, noise_row
from diskret.errors import InputError
from diskret.parameters import Whole, reading
from diskret.tables import Published

_MOST = 2**17


@dataclass(frozen=True)
class Estimate:
    """What many answers say of one count.

    Parameters
    ----------
    value
        Mean of the answers.
    standard_error
        Its standard error from the spread of the answers; inf for one answer.
    answers, distinct
        Number of answers, and of different ones.
    """

    value: float
    standard_error: float
    answers: int
    distinct: int

    @property
    def count(self) -> int | None:
        """The true count, if three standard errors around the mean hold one whole number.

        None if they hold none or several, or if all answers are the same: the same question
        asked again, with the same noise, says nothing new.
        """
        if self.distinct == 1:
            return None
        low, high = (self.value + side * 3 * self.standard_error for side in (-1, 1))
        return int(np.floor(high)) if ceil(low) == np.floor(high) else None


def average_out(answers: Any) -> Estimate:
    """Estimate a count from answers whose cells add up to it.

    Parameters
    ----------
    answers
        Published values, shape ``(queries,)``, or ``(queries, parts)`` where each answer is a
        sum of cells; whole numbers.

    Notes
    -----
    The noise of different cells has mean 0 and is independent in pairs, so the mean of the
    answers has the true count as its mean, and its variance falls with their number.

    References
    ----------
    Asghar & Kaafar (2020), Averaging attacks on bounded noise-based disclosure control
    algorithms, PoPETs 2020(2), arXiv:1902.06414.

    Examples
    --------
    >>> average_out([[3, 4], [5, 4], [2, 5], [4, 2]])
    Estimate(value=7.25, standard_error=0.6291528696058958, answers=4, distinct=3)
    """
    given = np.asarray(answers)
    sums = given.astype(np.int64)
    if (sums != given).any():
        raise InputError(f"answers are whole numbers; {given[sums != given][0]} is none")
    sums = sums.reshape(len(sums), -1).sum(axis=1) if sums.size else sums.ravel()
    if not len(sums):
        raise InputError("an average needs at least one answer")
    spread = float(sums.std(ddof=1) / np.sqrt(len(sums))) if len(sums) > 1 else float("inf")
    return Estimate(float(sums.mean()), spread, len(sums), len(np.unique(sums)))


@reading
def recovery_probability(
    table: NoiseTable, parts: Sequence[int], queries: Annotated[int, Whole(1)]
) -> float:
    """Probability that the mean of many answers, rounded, is the true count.

    Parameters
    ----------
    table
        The perturbation table.
    parts
        Counts of the cells that one answer adds up, e.g. ``(12, 9)`` for men and women.
    queries
        Number of answers, each with other cells of these counts.

    Notes
    -----
    Exact for independent noise: the distribution of the sum of all noise is the product of the
    rows' characteristic functions.

    Examples
    --------
    >>> class Ends:
    ...     counts, noise, step, reuse = np.array([0, 1]), np.array([-1, 0, 1]), 1, 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> [round(recovery_probability(Ends(), (7,), queries), 4) for queries in (1, 2, 10)]
    [0.5, 0.375, 0.9586]
    """
    if not len(parts):
        raise InputError("an attack needs answers of at least one cell; parts= names none")
    rows = [noise_row(table, count) for count in parts]
    reach = queries * sum(len(row) // 2 for row in rows)
    size = 2 ** ceil(log2(2 * reach + 2))
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for row in rows:
        middle = len(row) // 2
        around = np.zeros(size)
        around[: middle + 1] = row[middle:]
        around[size - middle :] = row[:middle]
        transform *= np.fft.rfft(around)
    sums = np.fft.irfft(transform**queries, size)
    near = (queries - 1) // 2  # less than half a unit in the mean
    right = sums[0] + sums[1 : near + 1].sum() + sums[size - near :].sum() if near else sums[0]
    return float(min(max(right, 0.0), 1.0))


@reading
def queries_needed(
    table: NoiseTable, parts: Sequence[int], confidence: Confidence = 0.95
) -> int | None:
    """Number of answers from which the rounded mean is the true count with this probability.

    About (2 z σ)² with the variance σ² of one answer, the sum of its cells' variances.

    Parameters
    ----------
    table, parts
        As in `recovery_probability`.
    confidence
        Between 0 and 1.

    Returns
    -------
    int or None
        None if the mean noise of an answer is half a unit or more, or if a hundred thousand
        answers would not do.

    Examples
    --------
    >>> class Ends:
    ...     counts, noise, step, reuse = np.array([0, 1]), np.array([-1, 0, 1]), 1, 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> queries_needed(Ends(), (7,))
    9
    """
    size = len(noise_row(table, 0)) // 2
    means = [noise_row(table, count) @ np.arange(-size, size + 1) for count in parts]
    if abs(sum(means)) >= 0.5:
        return None

    def enough(queries: int) -> bool:
        return recovery_probability(table, parts, queries) >= confidence

    # odd numbers: an even one loses the answers whose mean is half a unit off
    most = 1
    while not enough(most):
        most = 2 * most + 1
        if most > _MOST:
            return None
    least = most // 2
    while most - least > 2:
        middle = (least + most) // 2 | 1
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most


def ask_partitions(
    noise: Callable[[NDArray[np.int64], NDArray[np.uint64]], NDArray[np.int64]],
    keys: NDArray[np.uint64],
    modulus: int,
    *,
    queries: int,
    parts: int = 2,
    seed: int = 1,
) -> NDArray[np.int64]:
    """Ask a table builder for many random partitions of the same records.

    Parameters
    ----------
    noise
        Noise of counts and cell keys, arrays of one shape: a lookup of the office.
    keys
        Record keys of the units whose number the attacker is after, uint64 below `modulus`.
    modulus
        Of the keys.
    queries
        Number of partitions.
    parts
        Number of cells of each.
    seed
        Of the partitions.

    Returns
    -------
    array
        Published values, shape ``(queries, parts)``, int64; for `average_out`.
    """
    if modulus > 2**40 or len(keys) > 2**20:
        raise InputError("a simulation takes up to a million records and keys below 2**40")
    draw = np.random.default_rng(seed)
    counts = np.empty((queries, parts), dtype=np.int64)
    sums = np.empty((queries, parts), dtype=np.uint64)
    for query in range(queries):
        part = draw.integers(parts, size=len(keys))
        for cell in range(parts):
            inside = keys[part == cell]
            counts[query, cell] = len(inside)
            sums[query, cell] = inside.sum(dtype=np.uint64) % np.uint64(modulus)
    return counts + noise(counts, sums)


def ratio_estimates(wanted: Published, other: Published, known: Any) -> NDArray[np.float64]:
    """Estimate sums from those of another measure that the attacker knows.

    Where noise is the same share of both, as it is if both have the same keys and a single unit
    contributes, x̂/ŷ = x/y: who knows y knows x.

    Parameters
    ----------
    wanted, other
        Two published measures of the same cells.
    known
        True values of the other measure, shape of the tables, in its own unit; NaN: not known.

    Returns
    -------
    numpy.ndarray
        Estimates in the measure's own unit, shape of the tables; NaN where there is none.

    Raises
    ------
    InputError
        The tables are not about the same cells, or `known` has another shape.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> def table(name, values):
    ...     values, by = np.array(values), (Dimension("firm", Hierarchy.flat(["a", "b"])),)
    ...     none = np.zeros(values.shape, bool)
    ...     return Published(name, by, name, False, 0, values, none, none, changed="cell_key")
    >>> wages, costs = table("wages", [285, 77, 208]), table("costs", [403, 110, 312])
    >>> ratio_estimates(wages, costs, [400, 100, 300]).round().tolist()
    [283.0, 70.0, 200.0]
    """
    one, two = ((own.dimensions, own.where, own.vintage) for own in (wanted, other))
    if one != two:
        raise InputError(
            f"{wanted.name!r} and {other.name!r} are not about the same cells; give two measures "
            "of one table"
        )
    true = np.asarray(known, dtype=np.float64)
    if true.shape != wanted.shape:
        raise InputError(f"known= has the shape {true.shape}, the tables {wanted.shape}")
    x, y = _shown(wanted), _shown(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y != 0, x * true / y, np.nan)


def difference_estimates(published: Published) -> dict[str, NDArray[np.float64]]:
    """Estimate each cell by the published total above it minus the other parts of that.

    Returns
    -------
    dict
        Dimension → estimates in the measure's own unit, shape of the table; NaN where there is
        none: for totals of the dimension, for the only part of a total, which is the same cell,
        and where the total or another part is withheld.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> values = np.array([103, 61, 38])
    >>> none = np.zeros(3, bool)
    >>> by = (Dimension("region", Hierarchy.flat(["N", "S"])),)
    >>> table = Published("t", by, "sales", False, 0, values, none, none, changed="cell_key")
    >>> difference_estimates(table)["region"].tolist()
    [nan, 65.0, 42.0]
    """
    shown = _shown(published)
    found: dict[str, NDArray[np.float64]] = {}
    for axis, dimension in enumerate(published.dimensions):
        along = np.moveaxis(shown, axis, 0)
        estimate = np.full(along.shape, np.nan)
        for parent, children in enumerate(dimension.hierarchy.children):
            if len(children) > 1:
                parts = along[children]
                hidden = np.isnan(parts)
                known = np.where(hidden, 0, parts)
                others = np.where(hidden.sum(axis=0) > hidden, np.nan, known.sum(axis=0) - known)
                estimate[children] = along[parent] - others
        found[dimension.name] = np.moveaxis(estimate, 0, axis)
    return found


def _shown(published: Published) -> NDArray[np.float64]:
    """Published values in the measure's own unit; NaN where there is none."""
    value = published.value / 10.0**published.decimals
    return np.where(published.suppressed, np.nan, value)
