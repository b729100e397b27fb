"""Who contributes what, one by one, from the answers of an engine."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import Kind
from diskret.engines.contributions import find, read_integers, read_marked, read_sums
from diskret.engines.identities import identities, nobodys
from diskret.engines.protocol import LeafQuestion, Listed


def read(
    named: pa.Table,
    alone: pa.Table | None,
    question: LeafQuestion,
    kinds: Mapping[str, Kind],
    leaves: NDArray[np.int64],
) -> Listed:
    """Read the answers of `sql.listed` and `sql.listed_records`.

    Parameters
    ----------
    named
        The answer about units and holdings.
    alone
        That about records that belong to neither: each is a contributor of its own. None if
        units are known.
    question
        What was asked.
    kinds
        ``"u"`` and ``"h"``, as far as they are known → the kind of their column.
    leaves
        The numbers of all leaf combinations, ascending.

    Raises
    ------
    InputError
        A sum leaves the range of 64-bit integers.
    """
    tables = [named] if alone is None else [named, alone]
    unit = identities(named["u"], kinds["u"], "unit") if "u" in kinds else None
    holding = identities(named["h"], kinds["h"], "holding") if "h" in kinds else None
    if unit is not None and holding is not None:
        # a null holding is that of the unit alone
        holding = np.where(named["h"].is_null().to_numpy(), unit, holding)
    leaf = np.concatenate([read_integers(table, "leaf") for table in tables])
    records = np.concatenate([read_integers(table, "records") for table in tables])
    sums = np.concatenate([read_sums(table, "sum", list(question.values)) for table in tables])
    marked = np.concatenate([read_marked(table, len(question.marks)) for table in tables])
    if alone is not None and holding is not None:
        holding = np.append(holding, np.zeros(len(alone), dtype=np.uint64))
    # engines answer in any order; records alike in everything may change places
    keys = [*marked.T, *sums.T, *(who for who in (holding, unit) if who is not None), leaf]
    order = np.lexsort(keys)
    if alone is not None and holding is not None:
        nobody = np.flatnonzero(order >= len(named))
        told = repr((list(question.by), list(question.values), question.where.conditions)).encode()
        told += b"".join(key[order].astype("<i8").tobytes() for key in (leaf, *sums.T))
        holding[order[nobody]] = nobodys(len(alone), told)
    return Listed(
        leaf=find(leaves, leaf[order]),
        unit=None if unit is None else unit[order],
        holding=None if holding is None else holding[order],
        records=records[order],
        sums={name: sums[order, i] for i, name in enumerate(question.values)},
        marked={name: marked[order, j] for j, name in enumerate(question.marks)},
    )
