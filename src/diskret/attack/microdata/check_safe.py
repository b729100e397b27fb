"""Count combinations and tables of a safe file again, and compare them with the original."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.microdata.claims import Safe
from diskret.errors import InputError, ProofError
from diskret.tables.counted import Combined, ComparedCounts, TableCounts, combined, compare_counts
from diskret.tables.lists import each
from diskret.texts.numbers import Count

#: Numbers of digits that a count can have.
_CLASSES = 19
_EXAMPLES = 3


@dataclass
class Found:
    """What the check has found so far, table by table. Confidential.

    Parameters
    ----------
    by_table
        For each table its variables, counting variable, cells, largest and mean deviation.
    shown
        How many cells are not empty in the file, by the number of digits of their count, ``(19,)``.
    off, total
        The largest and the sum of their deviations, but for those that were empty, ``(19,)``.
    moved
        The sum of the deviations of all cells that were not empty.
    exact
        How many of these are exact.
    emptied, opened
        How many of them are empty now, and how many were and are so no more.
    kept
        How many cells had to be exact, and are.
    """

    by_table: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    shown: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    off: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    total: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    moved: int = 0
    exact: int = 0
    emptied: int = 0
    opened: int = 0
    kept: int = 0

    @property
    def cells(self) -> int:
        """How many cells were not empty."""
        return sum(table["cells"] for table in self.by_table)

    @property
    def largest(self) -> int:
        """The largest of their deviations."""
        return max((table["largest"] for table in self.by_table), default=0)

    @property
    def mean(self) -> float:
        """The mean of their deviations."""
        return self.moved / max(self.cells, 1)


def check_minimum(name: str, table: pa.Table, minimum: int) -> Combined:
    """Count the records of every combination of all variables.

    Raises
    ------
    ProofError
        Some are fewer than the minimum; says how many combinations, with examples.
    """
    found = combined(table, table.column_names)
    rare = np.flatnonzero(found.count < minimum)
    if len(rare):
        shown = "; ".join(_combination(found, int(at)) for at in rare[:_EXAMPLES])
        number = Count(len(rare))
        raise ProofError(
            f"file {name!r}: {number} of {len(found.count):,} combinations of all variables "
            f"{number:occurs|occur} fewer than {minimum} times, e.g. {shown}; protect the file "
            f"anew with minimum={minimum}, or claim a smaller minimum"
        )
    return found


def check_tables(name: str, file: Combined, claim: Safe, original: Iterable[TableCounts]) -> Found:
    """Count every controlled table again, and compare it with the original.

    Raises
    ------
    ProofError
        A cell deviates by more than is claimed, had to be exact and is not, or was empty and must
        be; or the original counts do not fit together.
    InputError
        The original counts are of other tables than the claim, or what has to be exact is in none.
    """
    asked = each(claim.tables or {})
    exact = {frozenset(one) for one in claim.exact or () if not isinstance(one, Mapping)}
    cells: list[Mapping[str, str | None]] = [
        one for one in claim.exact or () if isinstance(one, Mapping)
    ]
    _all_controlled(name, asked, exact, cells)
    found, totals = Found(), dict[str, int]()
    number = 0
    for number, counts in enumerate(original, start=1):
        if number > len(asked) or (counts.columns, counts.counter) != asked[number - 1]:
            raise InputError(f"file {name!r}: the original counts are not those of its tables")
        total = int(counts.count.sum())
        if totals.setdefault(counts.counter, total) != total:
            raise ProofError(
                f"file {name!r}: the original counts of the table {_of(counts)} add up to "
                f"{total:,}, those of another table to {totals[counts.counter]:,}; count them anew"
            )
        both = compare_counts(counts, file)
        _take_up(name, both, claim, found)
        if not both.counter:
            everything = frozenset(both.columns) in exact
            wanted = [cell for cell in cells if set(cell) == set(both.columns)]
            _exact_cells(name, both, everything, wanted, found)
    if number < len(asked):
        raise InputError(f"file {name!r}: the original counts of some tables are missing")
    return found


def _all_controlled(
    name: str,
    asked: list[tuple[tuple[str, ...], str]],
    exact: Iterable[frozenset[str]],
    cells: Iterable[Mapping[str, str | None]],
) -> None:
    known = {frozenset(columns) for columns, counter in asked if not counter}
    for names in (*exact, *(frozenset(cell) for cell in cells)):
        if names not in known:
            raise InputError(
                f"file {name!r}: cells of the table {' x '.join(sorted(names))} are to be exact, "
                "but it is none of the controlled tables; name it in tables="
            )


def _take_up(name: str, both: ComparedCounts, claim: Safe, found: Found) -> None:
    """Figures of one table."""
    there = both.before > 0
    before, after = both.before[there], both.after[there]
    size = np.abs(after - before)
    worst = int(size.max(initial=0))
    if claim.largest is not None and worst > claim.largest:
        at = np.flatnonzero(there)[int(size.argmax())]
        number = Count((size > claim.largest).sum())
        raise ProofError(
            f"file {name!r}: {number} {number:cell|cells} of the table {_of(both)} "
            f"{number:deviates|deviate} by more than {claim.largest}, e.g. "
            f"{_cell(both, int(at))}; search longer, control fewer tables, or claim a larger "
            "deviation"
        )
    new = np.flatnonzero(~there & (both.after > 0))
    if len(new) and not claim.opened:
        number = Count(len(new))
        raise ProofError(
            f"file {name!r}: {number} {number:cell|cells} of the table {_of(both)} "
            f"{number:is|are} empty in the original, but not in the file, e.g. "
            f"{_cell(both, int(new[0]))}; protect the file anew without new combinations, or "
            "claim opened=True"
        )
    found.shown += np.bincount(_digits(both.after[both.after > 0]), minlength=_CLASSES)
    digits, off = _digits(after[after > 0]), size[after > 0]
    found.total += np.bincount(digits, off, minlength=_CLASSES).astype(np.int64)
    np.maximum.at(found.off, digits, off)
    found.moved += int(size.sum())
    found.exact += int((size == 0).sum())
    found.emptied += int((after == 0).sum())
    found.opened += len(new)
    found.by_table.append(
        {
            "variables": list(both.columns),
            "counter": both.counter,
            "cells": len(size),
            "largest": worst,
            "mean": float(size.mean()) if len(size) else 0.0,
        }
    )


def _digits(count: NDArray[np.int64]) -> NDArray[np.intp]:
    """Number of digits of counts above 0, less 1."""
    return np.searchsorted(10 ** np.arange(_CLASSES, dtype=np.int64), count, side="right") - 1


def _exact_cells(
    name: str,
    both: ComparedCounts,
    everything: bool,
    wanted: Iterable[Mapping[str, str | None]],
    found: Found,
) -> None:
    """Refuse cells that had to be exact, and are not."""
    moved = np.flatnonzero(both.before != both.after)
    if everything:
        found.kept += len(both.before)
    else:
        at = [both.at(cell) for cell in wanted]
        found.kept += len(at)
        moved = np.intersect1d(moved, at)
    if len(moved):
        number = Count(len(moved))
        raise ProofError(
            f"file {name!r}: {number} {number:cell|cells} of the table {_of(both)} had to keep "
            f"{number:its count|their counts}, and did not, e.g. {_cell(both, int(moved[0]))}; "
            "protect the file anew with exact="
        )


def _of(table: ComparedCounts | TableCounts) -> str:
    named = " x ".join(table.columns) or "total"
    return f"{named} ({table.counter})" if table.counter else named


def _cell(both: ComparedCounts, at: int) -> str:
    values = [
        None if codes[at] == 0 else known[int(codes[at]) - 1].as_py()
        for known, codes in zip(both.categories, both.codes, strict=True)
    ]
    shown = ", ".join(map(repr, values)) or "all"
    return f"({shown}): {int(both.after[at]):,} instead of {int(both.before[at]):,}"


def _combination(found: Combined, at: int) -> str:
    values = [
        None if codes[at] == 0 else found.categories[name][int(codes[at]) - 1].as_py()
        for name, codes in found.codes.items()
    ]
    return f"({', '.join(map(repr, values))}): {int(found.count[at])}"
