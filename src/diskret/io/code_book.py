"""What a file of SAS, SPSS or Stata says of its columns: labels, and codes that mean missing."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.io.kinds import is_number, is_text

_TAG = re.compile(r"\.[a-z_]")


@dataclass(frozen=True)
class CodeBook:
    """What a file of SAS, SPSS or Stata says of its columns.

    `labels`: column → what it is. `values`: column → code as text → what it means. `missing`:
    column → the ranges of numbers that mean missing in SPSS; `texts`: column of text → the texts
    that do. `tagged`: columns of numbers in which some values are missing for a reason, ``.a`` to
    ``.z``; they are read as text.
    """

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    missing: Mapping[str, tuple[tuple[float, float], ...]] = field(
        default_factory=dict[str, tuple[tuple[float, float], ...]]
    )
    texts: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    tagged: frozenset[str] = frozenset()

    @property
    def with_missing(self) -> frozenset[str]:
        """The columns that have codes that mean missing."""
        return frozenset({*self.missing, *self.texts, *self.tagged})

    def means_missing(self, name: str, values: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        """Where values of a column are codes that mean missing, ``(n,)``; not where there is none.

        The one place that knows. Codes are known again as text, which recoding made of numbers.

        >>> book = CodeBook(missing={"age": ((98, 99),)}, tagged=frozenset({"job"}))
        >>> book.means_missing("age", pa.array([31, 99, None])).tolist()
        [False, True, False]
        >>> book.means_missing("age", pa.array(["20-39", "99"])).tolist()
        [False, True]
        >>> book.means_missing("job", pa.array(["12", ".a"])).tolist()
        [False, True]
        """
        ranges = self.missing.get(name, ())
        if name not in self.with_missing:
            return np.zeros(len(values), dtype=bool)
        kind = values.type
        if is_text(kind):
            known = pc.unique(values).drop_null()
            codes = [text for text in known.to_pylist() if self._is_missing(name, text)]
            return _flags(pc.is_in(values, value_set=pa.array(codes, kind)))
        if not is_number(kind):
            return np.zeros(len(values), dtype=bool)
        found = np.asarray(pc.fill_null(values.cast(pa.float64()), np.nan))
        inside = [(found >= low) & (found <= high) for low, high in ranges]
        return np.logical_or.reduce([np.zeros(len(found), dtype=bool), *inside])

    def without_missing(self, name: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of a column, null where they are codes that mean missing."""
        gone = pa.chunked_array([pa.array(self.means_missing(name, values))])
        return pc.if_else(gone, None, values)

    def _is_missing(self, name: str, text: str) -> bool:
        if text in self.texts.get(name, ()):
            return True
        if name in self.tagged:
            return _TAG.fullmatch(text) is not None
        try:
            number = float(text)
        except ValueError:
            return False
        return any(low <= number <= high for low, high in self.missing.get(name, ()))


def _flags(values: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(values, False), dtype=bool)
