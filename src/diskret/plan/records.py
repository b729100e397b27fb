"""What the records themselves tell: the codes in a column, the decimals of a value."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from diskret.errors import InputError
from diskret.io import Source
from diskret.io.columns import code_text, scaled_integers
from diskret.io.frames import blocks
from diskret.plan.values import Answers

#: So many records are looked at at once.
_ROWS = 1_000_000
#: Values of more decimals are no decimal fractions.
_MOST = 6


def recorded_codes(answers: Answers, column: str) -> frozenset[str] | None:
    """The codes that a column of the records holds; None if they are not looked at."""
    if answers.records is None or column not in answers.records.columns:
        return None
    found: set[str] = set()
    for values in _blocks(answers.records, column):
        codes = code_text(values, column)
        found |= {code for code in codes.unique().to_pylist() if code is not None}
    return frozenset(found)


def recorded_decimals(records: Source, column: str) -> int | None:
    """How many decimals the values of a column have; None: more than a decimal fraction has.

    What is no number at all counts as whole: the job says what is wrong with it.
    """
    decimals = 0
    for block in _blocks(records, column):
        values = block.drop_null()
        while decimals <= _MOST and not _fits(values, column, decimals):
            decimals += 1
        if decimals > _MOST:
            return None if _fits(values, column, 0, rounded=True) else 0
    return decimals


def _fits(values: pa.ChunkedArray, column: str, decimals: int, rounded: bool = False) -> bool:
    try:
        scaled_integers(values, column, decimals, rounded)
    except InputError:
        return False
    return True


def _blocks(records: Source, column: str) -> Iterator[pa.ChunkedArray]:
    for block in blocks(records, [column], _ROWS):
        yield pa.chunked_array([block.column(0)])
