"""The office's file of witnesses: tables that prove requirements. Confidential.

Before releases had a `layout`, every witness was told completely; such files are read as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import LIMIT, Point
from diskret.attack.examination import Examination
from diskret.attack.witnesses import Witnesses
from diskret.errors import VerificationError
from diskret.io.arrays import Wanted, checked, checked_csr, read_arrays

_LAYOUT = 2
#: Unpublished values beside the cells of tables: atoms and rounded values, at most so many.
_MOST_OTHERS = 2**40
_STEP = ("step_data", "step_indices", "step_indptr")


def write_witnesses(found: Examination, path: Path) -> None:
    """Write the witnesses of all tables that were attacked together."""
    witnesses = found.witnesses
    step = witnesses.step.copy()
    step.sum_duplicates()  # each entry once and in order, as readers expect
    np.savez_compressed(
        path,
        layout=np.array(_LAYOUT),
        cell=found.cell,
        hidden=witnesses.hidden,
        start=witnesses.start,
        unit=witnesses.unit,
        of=witnesses.of,
        denominator=witnesses.denominator,
        **dict(zip(_STEP, (step.data, step.indices, step.indptr), strict=True)),
    )


def read_witnesses(path: Path, known: Equations | None) -> Examination | None:
    """The witnesses alone; intervals stay open, so that nothing but witnesses can prove.

    Nothing of the file is used before it was checked, and whether the witnesses are any is left to
    `recheck`. Without what is `known` of the tables, because earlier releases are missing, the file
    is only looked at.
    """
    file = _File(path, read_arrays(path, VerificationError))
    most = _MOST_OTHERS if known is None else int(known.cell.max(initial=-1)) + 1
    cell = file.whole("cell", (None,), 0, most - 1, ascending=True)
    told = file.changes(known) if "layout" in file.arrays else file.complete(len(cell), known)
    if told is None:
        return None
    if len(cell) != int(told.hidden.sum()):
        raise VerificationError(f"{path} is damaged: 'cell' and 'hidden' differ")
    problem = told.problem()
    if problem:
        raise VerificationError(f"{path} is damaged: {problem}")
    return Examination.of_witnesses(cell, told)


@dataclass(frozen=True)
class _File:
    """The arrays of one file; each is checked when it is asked for."""

    path: Path
    arrays: Mapping[str, NDArray[Any]]

    def whole(
        self, name: str, shape: tuple[int | None, ...], low: int, high: int, ascending: bool = False
    ) -> NDArray[np.int64]:
        """Whole numbers between two."""
        wanted = Wanted("i", shape, low, high, ascending)
        found = checked(self.arrays, name, wanted, str(self.path), VerificationError)
        return found.astype(np.int64, copy=False)

    def matrix(self, names: tuple[str, str, str], shape: tuple[int, int]) -> sparse.csr_array:
        """A sparse matrix of whole numbers."""
        found = checked_csr(self.arrays, names, shape, LIMIT, str(self.path), VerificationError)
        return found.astype(np.int64, copy=False)

    def changes(self, known: Equations | None) -> Witnesses | None:
        """Witnesses as they are written now."""
        self.whole("layout", (), _LAYOUT, _LAYOUT)
        wanted = Wanted("b", (None,) if known is None else (len(known.cell),))
        hidden = checked(self.arrays, "hidden", wanted, str(self.path), VerificationError)
        denominator = self.whole("denominator", (None,), 1, LIMIT - 1)
        unit = self.whole("unit", (None,), 1, LIMIT - 1)
        start = self.whole("start", (len(unit), len(hidden)), 1 - LIMIT, LIMIT - 1)
        of = self.whole("of", (len(denominator),), 0, len(unit) - 1)
        step = self.matrix(_STEP, (len(denominator), len(hidden)))
        return None if known is None else Witnesses(hidden, start, unit, of, step, denominator)

    def complete(self, cells: int, known: Equations | None) -> Witnesses | None:
        """Witnesses as they were written before, each completely."""
        denominator = self.whole("denominator", (None,), 1, LIMIT - 1)
        others = int(self.whole("beside_columns", (), 0, _MOST_OTHERS))
        rows = len(denominator)
        witnesses = self.matrix(("data", "indices", "indptr"), (rows, cells))
        around = ("beside_data", "beside_indices", "beside_indptr")
        beside = self.matrix(around, (rows, others))
        if known is None:
            return None
        # complete tables are made only if they are as long as there are unknown values
        if (cells, others) != (int(known.hidden.sum()), int((~known.hidden).sum())):
            raise VerificationError(f"{self.path}: the witnesses belong to another table")

        def tables() -> Iterator[Point]:
            for row, unit in enumerate(denominator.tolist()):
                numerator = np.empty(len(known.hidden), dtype=np.int64)
                numerator[known.hidden] = witnesses[[row]].toarray()[0]
                numerator[~known.hidden] = beside[[row]].toarray()[0]
                yield Point(numerator, unit)

        return Witnesses.gathered(tables(), known.hidden)
