"""From microdata and the words of a user to what SAFE is asked, and back to records."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.safe_cells import CellWishes
from diskret.anonymize.safe_combinations import Combinations, distinct
from diskret.errors import InputError
from diskret.io.columns import some
from diskret.progress import Progress
from diskret.safe import ControlTable, SafeFile, SafeProblem, SpecialCell
from diskret.safe.cells import Cells, cells, deviations
from diskret.safe.check import unknown
from diskret.safe.problem import groups
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@dataclass(frozen=True)
class Control:
    """The tables that are controlled, by the names of their variables."""

    #: column that is counted, or "" for records → tables
    tables: Mapping[str, tuple[tuple[str, ...], ...]]
    strata: tuple[str, ...]  # variables of the strata; they come first in the file
    wishes: CellWishes  # allowances and exact cells
    public: tuple[str, ...]  # columns that follow from others, and that are carried along
    #: as in `SafeProblem`
    minimum: int
    new: bool

    def variables(self) -> Counter[str]:
        """The variables of the tables, each with the number of tables that have it."""
        return Counter(name for of in self.tables.values() for table in of for name in table)


def safe_problem(
    found: Combinations, control: Control, progress: Progress
) -> tuple[SafeProblem, Combinations, Cells]:
    """State the problem, and number its cells.

    Variables that follow from each other stand together, from coarse to fine. First come
    those with strata, then those with exact tables, then those in most of the tables: what
    is near in the file is treated together.

    Returns: the combinations have the order of the problem.
    """
    parts = groups(found.codes, found.sizes)
    if control.public:
        _check_public(found, control, parts)
    times = control.variables()
    exact = {name for table in control.wishes.exact_tables() for name in table}

    def rank(part: Sequence[int]) -> tuple[bool, bool, int, int]:
        names = [found.names[v] for v in part]
        return (
            any(name in control.strata for name in names),
            any(name in exact for name in names),
            max(times[name] for name in names),
            -min(part),
        )

    order = sorted(parts, key=rank, reverse=True)
    ordered, codes = _ordered(found, [v for part in order for v in part])
    at = {name: v for v, name in enumerate(ordered.names)}
    ends = np.cumsum([0, *map(len, order)]).tolist()
    problem = SafeProblem(
        ordered.names,
        codes,
        ordered.count,
        ordered.sizes,
        _tables(ordered, control, at),
        control.minimum,
        tuple(tuple(range(low, high)) for low, high in zip(ends, ends[1:], strict=False)),
        control.new,
    )
    known = cells(problem, progress)
    _check_exact(ordered, problem, known)
    return problem, ordered, known


def _ordered(
    found: Combinations, order: Sequence[int]
) -> tuple[Combinations, NDArray[np.signedinteger[Any]]]:
    """The variables in another order, the combinations ascending in it; and as one array.

    A variable lies in one piece, because tables are counted variable by variable, and in the
    smallest type that all of them fit in: there are millions of combinations.
    """
    rows, _ = distinct([found.codes[v] for v in order], [found.sizes[v] for v in order])
    kind = np.result_type(np.int8, *(found.codes[v].dtype for v in order))
    codes = np.empty((len(rows), len(order)), dtype=kind, order="F")
    for at, v in enumerate(order):
        codes[:, at] = found.codes[v][rows]
    ordered = Combinations(
        tuple(found.names[v] for v in order),
        tuple(found.values[v] for v in order),
        tuple(codes[:, at] for at in range(len(order))),
        found.count[rows],
    )
    return ordered, codes


def _tables(
    found: Combinations, control: Control, at: Mapping[str, int]
) -> tuple[ControlTable, ...]:
    wishes, special = control.wishes, control.wishes.special(found)
    exact = {frozenset(table) for table in wishes.exact}
    same = [name for name in control.tables if name and (found.codes[at[name]] == 1).all()]
    # what counts 1 in every record counts records
    records = {frozenset(table): table for name in ("", *same) for table in control.tables[name]}
    loose = [frozenset(cell) for cell, allowance in wishes.cells if allowance is not None]
    stray = [", ".join(sorted(t)) for t in [*wishes.allowances, *loose] if t not in records]
    if stray:
        raise InputError(
            f"weights= names {some('table', stray)}, which is not controlled; name it in tables=, "
            "too"
        )

    def ordered(table: Iterable[str]) -> list[str]:
        return sorted(table, key=at.__getitem__)

    def places(table: Iterable[str]) -> tuple[int, ...]:
        return tuple(at[name] for name in ordered(table))

    def cells_of(key: frozenset[str]) -> tuple[SpecialCell, ...]:
        return tuple(
            SpecialCell(
                tuple(cell["codes"][name] for name in ordered(key)),
                cell["allowance"],
                cell["exact"],
            )
            for cell in special.get(key, ())
        )

    return (
        *(
            ControlTable(
                places(key), None, wishes.allowances.get(key, 0), key in exact, cells_of(key)
            )
            for key in records
        ),
        *(
            ControlTable(places(table), at[name])
            for name, tables in control.tables.items()
            if name and name not in same
            for table in tables
        ),
    )


def _check_public(found: Combinations, control: Control, parts: Sequence[Sequence[int]]) -> None:
    """Refuse public columns that would not be known once combinations occur more often."""
    others = [v for v, name in enumerate(found.names) if name not in control.public]
    rows, several = distinct([found.codes[v] for v in others], [found.sizes[v] for v in others])
    unclear = np.flatnonzero(several > 1)
    if len(unclear):
        row = rows[unclear[0]]
        same = np.ones(len(found.count), dtype=np.bool_)
        for v in others:
            same &= found.codes[v] == found.codes[v][row]
        names = [found.names[v] for v in others]
        one, two = (found.shown(at, control.public) for at in np.flatnonzero(same)[:2].tolist())
        number = Count(len(unclear))
        raise InputError(
            f"public= names {some('column', [*control.public])}, which the other variables do not "
            f"tell: {number} {number:combination comes|combinations come} with several values, "
            f"e.g. {found.shown(int(row), names)} with {one} and with {two}; name the column in "
            "columns= or in a table, and it is protected with the others"
        )
    alone = [
        found.names[part[0]]
        for part in parts
        if len(part) == 1 and found.names[part[0]] in control.public and found.sizes[part[0]] > 1
    ]
    if control.new and alone:
        raise InputError(
            f"public= names {some('column', alone)}, which follows from several variables "
            "together: what a new combination would have there is not known; leave "
            "new_combinations= out, or the column"
        )


def _check_exact(found: Combinations, problem: SafeProblem, known: Cells) -> None:
    few = np.flatnonzero(known.exact & (known.original > 0) & (known.original < problem.minimum))
    if len(few):
        cell = int(few[0])
        table = problem.tables[int(known.table[cell])]
        number = Count(len(few))
        raise InputError(
            f"{number} {number:cell|cells} that {number:is|are} to stay exact {number:has|have} "
            f"fewer than {problem.minimum} records, e.g. {said(found, table, known.codes(cell))} "
            f"with {known.original[cell]}: no safe file has such a cell; combine categories "
            "first, or keep a coarser table exactly"
        )


def said(found: Combinations, table: ControlTable, codes: Sequence[int]) -> str:
    """A cell in the user's own words."""
    told: list[str] = []
    for v, code in zip(table.columns, codes, strict=True):
        told.append(f"{found.names[v]} = {found.values[v][code].as_py()!r}")
    return ", ".join(told) or "the total"


def deviations_by_dimension(
    problem: SafeProblem,
    table: NDArray[np.int64],
    original: NDArray[np.int64],
    protected: NDArray[np.int64],
) -> dict[str, dict[str, int | float]]:
    """Cells that were not empty, their largest and mean deviation, overall and by dimension."""
    dimension = np.array([len(one.columns) for one in problem.tables], dtype=np.int64)[table]
    there = original > 0
    off, of = np.abs(protected - original)[there], dimension[there]
    parts = {"all": np.ones(len(of), dtype=np.bool_)}
    parts |= {str(d): of == d for d in np.unique(of).tolist()}
    return {
        name: {
            "cells": int(part.sum()),
            "largest": int(off[part].max(initial=0)),
            "mean": round(float(off[part].mean()), 4) if part.any() else 0.0,
        }
        for name, part in parts.items()
    }


def safe_records(
    file: SafeFile, found: Combinations, columns: Sequence[str], seed: int
) -> pa.Table:
    """Write each combination out as often as it occurs, in an order drawn at random.

    Variables of `file` are in the order of `found`; `columns` names them in that of the records.
    """
    rng = np.random.default_rng([seed, *b"safe"])
    rows = rng.permutation(np.repeat(np.arange(len(file.count), dtype=np.int32), file.count))
    made: dict[str, pa.ChunkedArray] = {}
    for name in columns:
        v = found.names.index(name)
        codes = pa.array(np.ascontiguousarray(file.codes[:, v])[rows])
        made[name] = pa.chunked_array([found.values[v].take(codes)])
    return pa.table(made)


def found_by_safe(
    md: Microdata,
    names: Sequence[str],
    control: Control,
    problem: SafeProblem,
    file: SafeFile,
    cells: Cells,
    progress: Progress,
) -> dict[str, Any]:
    """The step's entries: records, combinations, controlled tables and their deviations."""
    counted = deviations(problem, file, cells, progress)
    made: dict[str, Any] = {
        "records": [int(problem.count.sum()), int(file.count.sum())],
        "combinations": [len(problem.count), len(file.count)],
        "new": _new(problem, file),
        "tables": [list(table) for table in control.tables[""]],
        "deviations": deviations_by_dimension(
            problem, counted.table, counted.original, counted.protected
        ),
        "opened": int(((counted.original == 0) & (counted.protected > 0)).sum()),
        "left_out": [name for name in md.records.columns if name not in names],
        "optimal": file.optimal,
    }
    if len(control.tables) > 1:
        made["counters"] = {
            name: [list(table) for table in tables]
            for name, tables in control.tables.items()
            if name
        }
    if kept := control.wishes.kept():
        made["exact"] = kept
    if file.sweeps:
        made["sweeps"] = sum(file.sweeps)
    return made


def _new(problem: SafeProblem, file: SafeFile) -> int:
    """How many combinations came up that the original does not have."""
    if not problem.new:
        return 0
    return int(unknown(problem, file).sum())
