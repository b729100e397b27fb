"""Whether a file is safe: nothing in it is rare, and its controlled tables are near the truth."""

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
from diskret.tables.counted import Beside, Combined, TableCounts, beside, combined
from diskret.tables.lists import each

_CLASSES = 19
_EXAMPLES = 3


@dataclass
class Found:
    """What the check has found so far, table by table. Confidential.

    Parameters
    ----------
    by_table
        For each table its variables, counting variable, cells, largest and mean deviation.
    cells, largest, total
        Of cells that were not empty, by the number of digits of the count: how many, and the
        largest and the sum of their deviations, ``(19,)``.
    exact
        How many of them are exact.
    emptied, opened
        How many of them are empty now, and how many were and are so no more.
    kept
        How many cells had to be exact, and are.
    """

    by_table: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cells: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    largest: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    total: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))
    exact: int = 0
    emptied: int = 0
    opened: int = 0
    kept: int = 0

    @property
    def worst(self) -> int:
        """The largest deviation of all."""
        return int(self.largest.max())


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
        raise ProofError(
            f"file {name!r}: {len(rare):,} of {len(found.count):,} combinations of all variables "
            f"occur fewer than {minimum} times, e.g. {shown}; protect the file anew with "
            f"minimum={minimum}, or claim a smaller minimum"
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
        both = beside(counts, file)
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


def _take_up(name: str, both: Beside, claim: Safe, found: Found) -> None:
    """Figures of one table."""
    there = both.before > 0
    before, after = both.before[there], both.after[there]
    size = np.abs(after - before)
    worst = int(size.max(initial=0))
    if claim.largest is not None and worst > claim.largest:
        at = np.flatnonzero(there)[int(size.argmax())]
        raise ProofError(
            f"file {name!r}: {int((size > claim.largest).sum()):,} cells of the table {_of(both)} "
            f"deviate by more than {claim.largest}, e.g. {_cell(both, int(at))}; search longer, "
            "control fewer tables, or claim a larger deviation"
        )
    new = np.flatnonzero(~there & (both.after > 0))
    if len(new) and not claim.opened:
        raise ProofError(
            f"file {name!r}: {len(new):,} cells of the table {_of(both)} are empty in the "
            f"original, but not in the file, e.g. {_cell(both, int(new[0]))}; protect the file "
            "anew without new combinations, or claim opened=True"
        )
    digits = np.searchsorted(10 ** np.arange(_CLASSES, dtype=np.int64), before, side="right") - 1
    found.cells += np.bincount(digits, minlength=_CLASSES)
    found.total += np.bincount(digits, size, minlength=_CLASSES).astype(np.int64)
    np.maximum.at(found.largest, digits, size)
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


def _exact_cells(
    name: str,
    both: Beside,
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
        raise ProofError(
            f"file {name!r}: {len(moved):,} cells of the table {_of(both)} had to keep their "
            f"counts, and did not, e.g. {_cell(both, int(moved[0]))}; protect the file anew with "
            "exact="
        )


def _of(table: Beside | TableCounts) -> str:
    named = " x ".join(table.columns) or "total"
    return f"{named} ({table.counter})" if table.counter else named


def _cell(both: Beside, at: int) -> str:
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
