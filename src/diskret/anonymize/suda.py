"""Special uniques: who can be told from all others by few of the keys."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from diskret.anonymize.data import Microdata
from diskret.errors import InputError
from diskret.io import from_arrow
from diskret.parameters import Proportion, Whole, reading
from diskret.risk import Keys, Missing, frequencies
from diskret.risk.suda import (
    Contributions,
    MinimalUniques,
    Scores,
    contributions,
    intrusion,
    intrusion_of_records,
    minimal_uniques,
    scores_of_records,
)


@dataclass(frozen=True, eq=False)
class Suda:
    """What [`Microdata.suda`][diskret.Microdata.suda] found. Confidential.

    Parameters
    ----------
    records
        For each record, in the order of the rows: ``score``; ``dis_score``, the probability that
        a unique match with it is correct; ``msus``, its number of minimal sample uniques;
        ``smallest``, how many keys the smallest of them has, null if there is none.
    contributions
        For each ``key`` the ``percent`` of all scores that comes from sets with it, largest
        first. A set counts for all of its keys, so they add up to more than 100.
    levels
        The same for each ``value`` (as text) of each ``key``, without those that contribute
        nothing.
    special
        Number of records that have a minimal sample unique.
    dis
        Probability that a unique match with the file is correct, by data intrusion simulation.
    max_size
        Sets of up to so many keys were searched.
    missing
        What a missing value stands for.
    """

    records: Any
    contributions: Any
    levels: Any
    special: int
    dis: float
    max_size: int
    missing: Missing
    _found: MinimalUniques = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Suda({self.special:,} of {self._found.n:,} records alone in sets of up to "
            f"{self.max_size} keys; DIS {self.dis:.4f})"
        )

    def msus(self, record: int) -> tuple[tuple[str, ...], ...]:
        """The minimal sample uniques of one record, smallest first.

        Parameters
        ----------
        record
            Its row, counted from 0.

        Raises
        ------
        InputError
            There is no such row.
        """
        if not 0 <= record < self._found.n:
            raise InputError(
                f"there is no row {record!r}; rows are counted from 0 to {self._found.n - 1:,}"
            )
        return self._found.of(record)


@reading
def suda(
    md: Microdata,
    max_size: Annotated[int, Whole(1)] | None = None,
    scores: Scores = "original",
    dis_fraction: Annotated[float, Proportion()] = 0.01,
    missing: Missing = "wildcard",
) -> Suda:
    """Find the special uniques: records that are alone in small sets of keys.

    Parameters
    ----------
    md
        Microdata with keys.
    max_size
        Largest number of keys in a set; None: all keys.
    scores
        ``"original"``: a set of k of m keys scores Π (m - i), i from k to `max_size` - 1
        (Elliot, Manning and Ford 2002); ``"share"``: (2^(m-k) - 1) · k! (m-k)! / m!. A
        record's score is the sum over its minimal sample uniques.
    dis_fraction
        Share of the population that is in the file, for data intrusion simulation.
    missing
        ``"wildcard"``: a missing value is part of no set, and agrees with every value of
        others. ``"conservative"``: it agrees with none. ``"category"``: it is a value like
        others.

    Raises
    ------
    InputError
        There are no keys or too many, or an option is out of range.

    Notes
    -----
    The search is exact and complete. A minimal sample unique is a set of keys in which a record
    is alone, while it is alone in no part of that set.

    Elliot, Manning, Ford (2002), "A computational algorithm for handling the special uniques
    problem", Int. J. Uncertainty, Fuzziness and Knowledge-Based Systems 10; Manning, Haglin,
    Keane (2008), Data Mining and Knowledge Discovery 16; Elliot (2005) for DIS-SUDA.

    Examples
    --------
    >>> persons = pa.table(
    ...     {"sex": ["m", "m", "f", "f"], "job": ["baker", "baker", "baker", "mayor"]}
    ... )
    >>> found = suda(Microdata(persons, keys=["sex", "job"]))
    >>> found
    Suda(2 of 4 records alone in sets of up to 2 keys; DIS 0.0100)
    >>> found.records["score"].to_pylist(), found.msus(3)
    ([0.0, 0.0, 1.0, 1.0], (('job',),))
    """
    keys = md.keys()
    dis = intrusion(frequencies(keys, missing=missing).sample, dis_fraction)
    found = minimal_uniques(keys, max_size, missing)
    score = scores_of_records(found, scores)
    part = contributions(found, keys, scores)
    number = np.bincount(found.record, minlength=md.n)
    first, at = np.unique(found.record, return_index=True)
    smallest = np.zeros(md.n, dtype=np.int64)
    smallest[first] = found.size[at]
    records = pa.table(
        {
            "score": score,
            "dis_score": intrusion_of_records(score, dis, len(keys.columns)),
            "msus": number.astype(np.int64),
            "smallest": pa.array(smallest, mask=smallest == 0),
        }
    )
    by_key, by_level = _tables(keys, part)
    return Suda(
        from_arrow(records, md.kind),
        from_arrow(by_key, md.kind),
        from_arrow(by_level, md.kind),
        len(first),
        dis,
        found.largest,
        missing,
        found,
    )


def _tables(keys: Keys, part: Contributions) -> tuple[pa.Table, pa.Table]:
    """Contributions of keys and of their values, largest first."""
    by_key = pa.table({"key": list(keys.names), "percent": part.keys})
    kept = [np.flatnonzero(level) for level in part.levels]
    by_level = pa.table(
        {
            "key": pa.array(np.repeat(keys.names, [len(at) for at in kept]).tolist(), pa.string()),
            "value": pa.chunked_array(
                [
                    column.categories.take(pa.array(at)).cast(pa.string())
                    for column, at in zip(keys.columns, kept, strict=True)
                ],
                pa.string(),
            ),
            "percent": np.concatenate(
                [level[at] for level, at in zip(part.levels, kept, strict=True)]
            ),
        }
    )
    largest_first = [("percent", "descending")]
    return by_key.sort_by(largest_first), by_level.sort_by(largest_first)
