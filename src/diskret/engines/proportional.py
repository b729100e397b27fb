"""Which columns of the records are proportional: noise of the cell key method must not differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines.columns import Column
from diskret.engines.contract import LeafQuestion
from diskret.engines.records import Records

#: Records that are looked at first: few columns are proportional there that are not everywhere.
_SAMPLE = 1000
#: Quotients this close are equal: they come from floating point numbers.
_SAME = 1e-9


def sources(question: LeafQuestion, records: Records) -> dict[str, str]:
    """The column that each measure's noise is named after: of proportional ones the first by name.

    All columns and all records are looked at, whatever the question leaves out: the same measure
    has the same noise in every table of these records. Empty where no noise can be asked for.
    """
    if question.record_key is None:
        return {}
    found = _pairs(records.columns, question.values)
    names = {name: [name] for name in question.values}
    if found:
        looked_at = records.fetch(_sample(found))
        found = [pair for pair in found if not _differ_in(looked_at, *pair)]
    if found:
        answer = records.fetch(_quotients(found))
        for i, (one, other) in enumerate(found):
            if _proportional(answer, i):
                names[one.name].append(other.name)
    return {name: min(alike, key=lambda n: (n.casefold(), n)) for name, alike in names.items()}


def _pairs(columns: Sequence[Column], names: Iterable[str]) -> list[tuple[Column, Column]]:
    """The measures beside all other columns that hold numbers."""
    numbers = [c for c in columns if c.kind in ("integer", "decimal", "float", "text")]
    own = {c.name: c for c in columns}
    return [(own[n], other) for n in names for other in numbers if other.name != n]


def _sample(found: Sequence[tuple[Column, Column]]) -> Select:
    """Some records as floating point numbers."""
    used = {c.internal: _number(c) for pair in found for c in pair}
    read = [f"{number} AS {name}" for name, number in used.items()]
    return exp.select(*read).from_("source").limit(_SAMPLE)


def _differ_in(table: pa.Table, one: Column, other: Column) -> bool:
    """Whether a sample shows that two columns are not proportional."""
    y, z = (_floats(table, c) for c in (one, other))
    there = np.nan_to_num(y) != 0
    if not np.array_equal(np.isnan(y), np.isnan(z)) or (there != (np.nan_to_num(z) != 0)).any():
        return True
    ratio = z[there] / y[there]
    return bool(len(ratio)) and not _constant(float(ratio.min()), float(ratio.max()))


def _quotients(found: Sequence[tuple[Column, Column]]) -> Select:
    """For each pair the quotients' ends, and whether the one is missing or 0 without the other."""
    used = {c.internal: c for pair in found for c in pair}
    read = [f"{_number(c)} AS {name}" for name, c in used.items()]
    asked: list[str] = []
    for i, (one, other) in enumerate(found):
        y, z = one.internal, other.internal
        ratio = f"CASE WHEN {y} <> 0 THEN {z} / {y} END"
        unlike = (
            f"CASE WHEN ({y} IS NULL AND NOT {z} IS NULL) OR (NOT {y} IS NULL AND {z} IS NULL) "
            f"OR ({y} = 0 AND {z} <> 0) OR ({y} <> 0 AND {z} = 0) THEN 1 END"
        )
        asked += [
            f"MIN({ratio}) AS low{i}",
            f"MAX({ratio}) AS high{i}",
            f"COUNT({unlike}) AS unlike{i}",
        ]
    numbers = exp.select(*read).from_("source").subquery("numbers")
    return exp.select(*asked).from_(numbers)


def _proportional(answer: pa.Table, number: int) -> bool:
    """Whether the pair of this number is proportional, by the answer to `quotients`."""
    row = answer.to_pylist()[0]
    low, high = row[f"low{number}"], row[f"high{number}"]
    return row[f"unlike{number}"] == 0 and low is not None and _constant(float(low), float(high))


def _constant(low: float, high: float) -> bool:
    return high - low <= _SAME * max(abs(low), abs(high))


def _number(column: Column) -> str:
    """A column as floating point numbers; null where it holds none."""
    c = column.internal
    if column.kind == "text":
        c = f"TRY_CAST(TRIM({c}) AS DECIMAL(38, 18))"
    number = f"CAST({c} AS DOUBLE)"
    if column.kind == "float":
        return f"CASE WHEN {number} <> CAST('NaN' AS DOUBLE) THEN {number} END"
    return number


def _floats(table: pa.Table, column: Column) -> NDArray[np.float64]:
    return table[column.internal].cast(pa.float64()).to_numpy().astype(np.float64)
