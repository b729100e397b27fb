"""The distinct combinations of values in microdata, and how many records have each."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines import KeyQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.columns import whole_numbers
from diskret.io.frames import arrow_types

if TYPE_CHECKING:
    from diskret.workflow.microdata.data import Microdata


@dataclass(frozen=True, eq=False)
class Combinations:
    """What occurs in a file, J combinations of V variables. Confidential.

    Parameters
    ----------
    names
        The variables.
    values
        For each variable what its codes mean, in the type of its column; null: missing.
    codes
        V arrays ``(J,)``, int32, codes from 0 on.
    count
        Number of records, ``(J,)``, int64.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    codes: tuple[NDArray[np.int32], ...]
    count: NDArray[np.int64]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each variable."""
        return tuple(len(values) for values in self.values)

    def shown(self, row: int, names: Sequence[str]) -> str:
        """Values of a combination, for messages."""
        at = [self.names.index(name) for name in names]
        told = [self.values[v][int(self.codes[v][row])].as_py() for v in at]
        return ", ".join(f"{name} = {value!r}" for name, value in zip(names, told, strict=True))


def combinations(md: Microdata, names: Sequence[str], counters: Sequence[str] = ()) -> Combinations:
    """Count the records of each combination, in the engine: Parquet files stay where they are.

    Parameters
    ----------
    md
        The microdata.
    names
        Columns of text, whole numbers, dates or logical values.
    counters
        Those of them whose codes are their values: whole numbers from 0, none missing.

    Raises
    ------
    InputError
        A column is missing, holds numbers with decimals, or cannot be counted.
    """
    types = arrow_types(md.records)
    with DuckDBEngine(md.records) as engine:
        counts = engine.frequencies(KeyQuestion(tuple(names)))
    values: list[pa.Array] = []
    codes: list[NDArray[np.int32]] = []
    for key in counts.keys:
        made = _numbers(key) if key.name in counters else _categories(key)
        values.append(_typed(made[0], types[key.name], key.name))
        codes.append(made[1])
    return Combinations(tuple(names), tuple(values), tuple(codes), counts.records)


def _categories(key: Coded) -> tuple[pa.Array, NDArray[np.int32]]:
    """What is missing is a category of its own, before all others."""
    if key.codes.min() >= 0:
        return key.categories, key.codes
    nothing = pa.nulls(1, key.categories.type)
    return pa.concat_arrays([nothing, key.categories]), key.codes + np.int32(1)


def _numbers(key: Coded) -> tuple[pa.Array, NDArray[np.int32]]:
    """What is counted is its own code."""
    if key.codes.min() < 0:
        raise InputError(
            f"values of {key.name!r}, which is to be counted, are missing; fill in 0 where "
            "nothing is to be counted"
        )
    number = whole_numbers(pa.chunked_array([key.categories]), key.name)
    if number.max(initial=0) >= 2**31 - 1:
        raise InputError(f"values of {key.name!r} are too large to be counted")
    return pa.array(np.arange(number.max(initial=0) + 1)), number[key.codes].astype(np.int32)


def _typed(values: pa.Array, wanted: pa.DataType, name: str) -> pa.Array:
    if values.type == wanted:
        return values
    try:
        return values.cast(pa.string()).cast(wanted)
    except pa.ArrowException as error:
        raise InputError(
            f"values of {name!r} ({wanted}) cannot be made again from their categories "
            f"({error}); turn them into text first"
        ) from error
