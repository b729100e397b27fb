"""Rare combinations of few keys, as rules of offices name them."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pyarrow as pa

from diskret.anonymize.data import Microdata
from diskret.errors import InputError
from diskret.io import from_arrow
from diskret.parameters import Positive, Whole, reading
from diskret.risk import Missing
from diskret.risk.rare_combinations import (
    Levels,
    combinations_of_levels,
    combinations_up_to,
    rare_combinations,
)


@dataclass(frozen=True, eq=False)
class RiskyCombinations:
    """What [`Microdata.risky_combinations`][diskret.Microdata.risky_combinations] found.

    Confidential.

    Parameters
    ----------
    combinations
        For each combination of keys: ``size``, ``keys`` (their names), ``cells`` in which
        somebody stands, ``risky_cells`` among them, and the ``records`` that stand in these.
    records
        For each record, in the order of the rows: in how many ``combinations`` it stands in a
        risky cell, and how many keys the ``smallest`` of them has, null if there is none.
    risky
        Number of records that stand in a risky cell.
    looked_at
        Number of combinations.
    threshold
        Largest count of a risky cell.
    missing
        What a missing value stands for.
    """

    combinations: Any
    records: Any
    risky: int
    looked_at: int
    threshold: float
    missing: Missing

    def __repr__(self) -> str:
        return (
            f"RiskyCombinations({self.risky:,} records in cells of at most {self.threshold:g} "
            f"in {self.looked_at:,} combinations of keys)"
        )


@reading
def risky_combinations(
    md: Microdata,
    size: Annotated[int, Whole(1)] = 3,
    threshold: Positive = 1,
    weighted: bool = False,
    levels: Levels | None = None,
    missing: Missing = "wildcard",
) -> RiskyCombinations:
    """Count the rare cells in every combination of a few keys, and who stands in them.

    Parameters
    ----------
    md
        Microdata with keys.
    size
        All combinations of 1 to so many keys are looked at …
    threshold
        A cell is risky if its count is above 0 and at most this.
    weighted
        Whether counts are sums of sampling weights, and so estimates for the population.
    levels
        … or, for each key that takes part, its level of identification from 1, the most
        identifying: then combinations have one key of each level, where a key may also stand for
        any less identifying level.
    missing
        ``"wildcard"``: a missing value counts in every cell that it would allow.
        ``"conservative"``: in none. ``"category"``: it makes a cell of its own. But for the
        last, records with a missing value in a combination stand in no cell of it.

    Raises
    ------
    InputError
        There are no keys, or no weights, or an option is out of range.

    Notes
    -----
    The rules that Statistics Netherlands checks with μ-ARGUS: de Waal and Willenborg (1996), "A
    view on statistical disclosure control for microdata", Survey Methodology 22.

    Examples
    --------
    >>> persons = pa.table(
    ...     {"town": ["A", "A", "B", "B"], "job": ["baker", "baker", "baker", "mayor"]}
    ... )
    >>> found = risky_combinations(Microdata(persons, keys=["town", "job"]), size=2)
    >>> found
    RiskyCombinations(2 records in cells of at most 1 in 3 combinations of keys)
    >>> found.combinations.select(["keys", "cells", "risky_cells"]).to_pylist()[-1]
    {'keys': 'town, job', 'cells': 3, 'risky_cells': 2}
    """
    keys = md.keys()
    weights = md.weights() if weighted else None
    if weighted and weights is None:
        raise InputError(
            "weighted=True needs sampling weights; name weight= when you make the microdata"
        )
    chosen = (
        combinations_up_to(keys.names, size)
        if levels is None
        else combinations_of_levels(keys.names, levels)
    )
    found = rare_combinations(keys, chosen, threshold, weights, missing)
    combinations = pa.table(
        {
            "size": pa.array([len(names) for names in found.keys], pa.int64()),
            "keys": [", ".join(names) for names in found.keys],
            "cells": found.cells,
            "risky_cells": found.rare,
            "records": found.records,
        }
    )
    records = pa.table(
        {
            "combinations": found.times,
            "smallest": pa.array(found.smallest, mask=found.smallest == 0),
        }
    )
    return RiskyCombinations(
        from_arrow(combinations, md.kind),
        from_arrow(records, md.kind),
        int((found.times > 0).sum()),
        len(chosen),
        threshold,
        missing,
    )
