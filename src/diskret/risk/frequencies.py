"""How often the keys of each record occur in the sample, and are estimated to in the population."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.kinds import is_number
from diskret.parameters import Probability, reading
from diskret.risk.keys import Keys, classes, grouped
from diskret.texts.numbers import Count

#: What a missing value of a key stands for.
Missing = Literal["wildcard", "category", "conservative"]
#: Patterns of missing values on one side times those on the other, up to which rows are grouped.
_WAYS = 20_000
#: What a comparison of two rows, a grouping, and a code in it cost, in nanoseconds.
_PAIR, _GROUPING, _CODE = 4, 60_000, 10


@dataclass(frozen=True, eq=False)
class Frequencies:
    """For each record how many share its keys.

    Parameters
    ----------
    sample
        Number of records in the file, itself included, ``(n,)``, float64: with `alpha` below
        1, matches through missing values count less than a record.
    population
        Sum of their weights, ``(n,)``, float64.
    """

    sample: NDArray[np.float64]
    population: NDArray[np.float64]


@reading
def frequencies(
    keys: Keys,
    weights: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
    alpha: Probability = 1.0,
) -> Frequencies:
    """Count, for each record, the records that agree with it in all keys.

    Parameters
    ----------
    keys
        The keys.
    weights
        Sampling weights > 0, ``(n,)``; None: 1.
    missing
        ``"wildcard"``: a missing value agrees with every value, and a match that needs one
        counts `alpha`. ``"category"``: missing agrees with missing only.
        ``"conservative"``: a match that needs a missing value counts nothing, so a record with
        one stands alone.
    alpha
        From 0 to 1; only with ``"wildcard"``.

    Raises
    ------
    InputError
        An option is unknown.

    Examples
    --------
    >>> from diskret.io import coded
    >>> import pyarrow as pa
    >>> sex = coded(pa.chunked_array([["m", "m", "f", None]]), "sex")
    >>> frequencies(Keys((sex,))).sample.tolist()
    [3.0, 3.0, 2.0, 4.0]
    >>> frequencies(Keys((sex,)), missing="conservative").sample.tolist()
    [2.0, 2.0, 1.0, 1.0]
    """
    found = keys.classes
    count = found.count.astype(float)
    weight = count if weights is None else found.total(weights)
    gaps = found.codes.min(axis=1) < 0
    if missing == "category" or not gaps.any():
        return Frequencies(count[found.of], weight[found.of])
    if missing == "conservative":
        alpha = 0.0
    whole, through = agreeing(found.codes, found.codes, keys.sizes, np.stack([count, weight]))
    sample, population = (whole + alpha * through)[:, found.of]
    # a record with a gap agrees with itself without needing it
    itself = (1 - alpha) * gaps[found.of]
    return Frequencies(
        sample + itself, population + (itself if weights is None else itself * weights)
    )


def agreeing(
    mine: NDArray[np.int32],
    theirs: NDArray[np.int32],
    sizes: Sequence[int],
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add up, for each row, the values of the rows that agree with it in every variable.

    Two rows agree in a variable where their codes are equal or at least one is missing. Rows
    that show the same variables are looked at together: between such a set and another, rows
    agree if they agree in the variables that both show, which is one grouping. With m variables
    that are at most 3^m groupings, and only for patterns that occur; where there are very many of
    these, rows are compared one by one.

    Parameters
    ----------
    mine
        Codes of the rows asked about, -1 where missing, ``(a, m)``.
    theirs
        Codes of the rows that may agree, ``(b, m)``.
    sizes
        Number of codes of each variable.
    values
        What to add up, ``(v, b)``.

    Returns
    -------
    tuple of numpy.ndarray
        Sums over the rows that agree without any missing value, and over those that agree only
        because a value is missing, each ``(v, a)``.

    Examples
    --------
    >>> rows = np.array([[0, 1], [0, -1], [1, 1]], np.int32)
    >>> whole, through = agreeing(rows, rows, [2, 2], np.ones((1, 3)))
    >>> whole.tolist(), through.tolist()
    ([[1.0, 0.0, 1.0]], [[1.0, 2.0, 0.0]])
    """
    whole = np.zeros((len(values), len(mine)))
    through = np.zeros((len(values), len(mine)))
    ways, other_ways = list(_patterns(mine)), list(_patterns(theirs))
    together = len(ways) * (len(other_ways) * _GROUPING + theirs.size * _CODE)
    if len(ways) * len(other_ways) > _WAYS and len(mine) * len(theirs) * _PAIR < together:
        from diskret.risk.frequency_kernels import pair_by_pair

        pair_by_pair(mine, theirs, values, whole, through)
        return whole, through
    there = [_Rows(shown, theirs[rows].T, values[:, rows]) for shown, rows in other_ways]
    for shown, rows in ways:
        own = mine[rows].T
        found = np.zeros((2, len(values), len(rows)))
        for both, others in _shared(there, shown):
            # all variables shared: the rows of both sides are complete
            found[0 if both.all() else 1] += _sums(own[both], others, sizes, both)
        whole[:, rows], through[:, rows] = found
    return whole, through


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that show the same variables: which ``(m,)``, codes ``(m, r)``, values ``(v, r)``."""

    shown: NDArray[np.bool_]
    codes: NDArray[np.int32]
    values: NDArray[np.float64]


def _patterns(codes: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Which variables are shown: each pattern that occurs, and its rows."""
    shown = (codes >= 0).astype(np.int32)
    found = classes(list(shown.T), [2] * shown.shape[1])
    rows = np.split(np.argsort(found.of, kind="stable"), np.cumsum(found.count)[:-1])
    yield from zip(found.codes > 0, rows, strict=True)


def _shared(
    there: Sequence[_Rows], shown: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.bool_], list[_Rows]]]:
    """Put patterns together by the variables that they share with one of them."""
    found: dict[bytes, list[_Rows]] = {}
    for rows in there:
        found.setdefault((rows.shown & shown).tobytes(), []).append(rows)
    for shared, rows in found.items():
        yield np.frombuffer(shared, dtype=np.bool_), rows


def _sums(
    own: NDArray[np.int32],
    others: Sequence[_Rows],
    sizes: Sequence[int],
    both: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """For each row the sums over others with equal codes in the variables of both, ``(v, a)``."""
    values = np.concatenate([rows.values for rows in others], axis=1)
    made = np.empty((len(values), own.shape[1]))
    if not both.any():
        made[:] = values.sum(axis=1, keepdims=True)
        return made
    columns = np.concatenate([own, *(rows.codes[both] for rows in others)], axis=1)
    of, groups = grouped(list(columns), [sizes[j] for j in np.flatnonzero(both).tolist()])
    mine, theirs = of[: own.shape[1]], of[own.shape[1] :]
    for i, row in enumerate(values):
        sums = np.bincount(theirs, weights=row, minlength=groups)
        made[i] = sums[mine]
    return made


@reading
def k_map(
    keys: Keys,
    population: Keys,
    counts: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
    alpha: Probability = 1.0,
) -> NDArray[np.float64]:
    """Count, for each record, the persons of a population that agree with it in all keys.

    A file is a k-map if everybody in it shares the keys with at least k persons of the
    population. Unlike k-anonymity this asks what somebody who searches the population finds.

    Parameters
    ----------
    keys
        The keys of the file, n records.
    population
        The same keys of the population, or of a table of counts, q rows; categories are compared
        by value.
    counts
        Number of persons in each row of the population, ``(q,)``, not below 0; None: 1.
    missing, alpha
        What a missing value stands for, in the file and in the population; as for
        [`frequencies`][diskret.risk.frequencies.frequencies]. A record with a missing value
        that agrees with anybody is one of these persons, and that one counts 1.

    Returns
    -------
    numpy.ndarray
        Number of persons for each record, ``(n,)``; 0 if nobody agrees.

    Raises
    ------
    InputError
        A key is missing from the population or has values of another type, a count is
        missing or below 0, or an option is unknown.

    References
    ----------
    Sweeney (2001), Computational disclosure control: a primer on data privacy protection.

    Examples
    --------
    >>> from diskret.io import coded
    >>> sample = Keys((coded(pa.chunked_array([["baker", "mayor", "smith"]]), "job"),))
    >>> town = Keys((coded(pa.chunked_array([["mayor", "baker"]]), "job"),))
    >>> k_map(sample, town, np.array([1.0, 30.0])).tolist()
    [30.0, 1.0, 0.0]
    """
    mine = keys.classes
    theirs = [_translated(column, population) for column in keys.columns]
    number = np.ones(population.n) if counts is None else _checked(counts)
    sizes = [size + 1 for size in keys.sizes]
    grouped = classes(theirs, sizes)
    people = grouped.total(number)[None, :]
    if missing == "category":
        up = np.ones(len(sizes), dtype=np.int32)
        whole, _ = agreeing(mine.codes + up, grouped.codes + up, [s + 1 for s in sizes], people)
        return whole[0][mine.of]
    whole, through = agreeing(mine.codes, grouped.codes, sizes, people)
    if missing == "conservative":
        alpha = 0.0
    itself = (1 - alpha) * ((mine.codes.min(axis=1) < 0) & (through[0] > 0))
    return (whole[0] + alpha * through[0] + itself)[mine.of]


def _translated(column: Coded, population: Keys) -> NDArray[np.int32]:
    """The population's values in the codes of the file; one more code for all others."""
    other = population.select([column.name]).columns[0]
    kind = column.categories.type
    if is_number(kind) and is_number(other.categories.type):
        kind = pa.float64()
    try:
        values, known = other.categories.cast(kind), column.categories.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"the values of {column.name!r} are of type {other.categories.type} in the population "
            f"and {column.categories.type} in the file, and do not compare ({error}); code both "
            "alike"
        ) from None
    found = pc.index_in(values, value_set=known)
    place = np.append(pc.fill_null(found, len(column.categories)).to_numpy(), -1)
    return place.astype(np.int32)[other.codes]


def _checked(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    wrong = np.flatnonzero(~(np.isfinite(counts) & (counts >= 0)))
    if len(wrong):
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:count|counts} of the population {number:is|are} missing or below 0 "
            f"(the first in row {wrong[0] + 1}); each row must say how many persons it stands for"
        )
    return counts
