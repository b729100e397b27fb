"""k-map: how many persons of a known population share the keys of each record."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.risk.agreement import agreeing
from diskret.risk.frequencies import Missing, check_missing
from diskret.risk.keys import Keys, classes


def k_map(
    keys: Keys,
    population: Keys,
    counts: NDArray[np.float64] | None = None,
    missing: Missing = "wildcard",
    alpha: float = 1.0,
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
    check_missing(missing, alpha)
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
    if _number(kind) and _number(other.categories.type):
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


def _number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _checked(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    wrong = np.flatnonzero(~(np.isfinite(counts) & (counts >= 0)))
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} counts of the population are missing or below 0 (the first in row "
            f"{wrong[0] + 1}); each row must say how many persons it stands for"
        )
    return counts
