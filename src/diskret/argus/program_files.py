"""Files of protected tables for programs: intermediate ones, and problems for solvers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.argus.cell_files import CodeColumn, decimal_text, metadata_text, quoted, tree_text
from diskret.argus.commands import Write
from diskret.argus.data import cost_of_cells
from diskret.argus.done import EMPTY, PROTECTED, SAFE, SAFE_BY_HAND, SECONDARY, Done
from diskret.argus.value_files import cells_of, judged_measure, true_text
from diskret.attack import intervals
from diskret.protect.result import Result
from diskret.rules.parents import same_cell
from diskret.system.equations import rectangular_equations

#: What hiding the dearest cell costs in files for solvers.
_DEAREST = 20_000
#: What an audit found, as columns.
_AUDITED = ("RealLower", "RealUpper", "RealWidth", "LowerPerc", "UpperPerc", "WidthPerc")


def lines_of_intermediate(write: Write, done: Done) -> Iterator[str]:
    """All that is known of every cell, to be read again."""
    table, says, found = done.made.table, done.sensitivity, done.status
    measure, own = judged_measure(done), table.measure
    letters = {SAFE: "S", SAFE_BY_HAND: "S", PROTECTED: "P", SECONDARY: "M", EMPTY: "E"}
    bounds = _audited(done) if write.options.get("AR") else {}
    holdings = table.holdings if write.options.get("HI") else None
    for codes, at in cells_of(done, own=True):
        if table.empty[at]:
            continue
        letter = letters.get(int(found[at]), "U")
        line = quoted(codes, True)
        line += [
            true_text(done, at),
            str(0 if table.count is None else int(table.count[at])),
            *([] if holdings is None else [str(int(holdings[at]))]),
            decimal_text(int(measure.sum[at]), measure.decimals),
            decimal_text(abs(int(own.sum[at])), own.decimals),
            *(decimal_text(int(x), measure.decimals) for x in measure.largest[at]),
            letter,
            *(decimal_text(int(level[at]), own.decimals) for level in (says.lower, says.upper)),
        ]
        if write.options.get("AR"):
            value = true_text(done, at)
            line += _audit_columns(*bounds.get(at, (value, value)), value)
        yield ";".join(line)


def _audited(done: Done) -> dict[tuple[int, ...], tuple[str, str]]:
    """Place of each hidden cell → the bounds that an outsider can find; "" where there is none."""
    if not isinstance(done.result, Result):
        return {}
    published = done.result.published
    rows = intervals(published).to_pylist()
    trees = [dimension.hierarchy for dimension in published.dimensions]
    names = [dimension.name for dimension in published.dimensions]
    found: dict[tuple[int, ...], tuple[str, str]] = {}
    for row in rows:
        at = tuple(tree.position[row[name]] for tree, name in zip(trees, names, strict=True))
        ends = [
            "" if row[side] is None else f"{row[side]:.{published.decimals}f}"
            for side in ("lower", "upper")
        ]
        found[at] = ends[0], ends[1]
    return found


def _audit_columns(lower: str, upper: str, value: str) -> list[str]:
    """Both bounds and the width, then the three in percent of the value; "" without an end."""
    width = str(Decimal(upper) - Decimal(lower)) if lower and upper else ""
    shares: list[str] = []
    for number in (lower, upper, width):
        whole = abs(Decimal(value))
        shares.append(f"{100 * Decimal(number) / whole:.4f}" if number and whole else "")
    return [lower, upper, width, *shares]


def lines_of_problem(write: Write, done: Done) -> Iterator[str]:
    """The table as a problem for solvers: cells with costs, bounds and levels, and equations."""
    table, says, found = done.made.table, done.sensitivity, done.status.ravel()
    measure = table.measure
    price = cost_of_cells(done.made).ravel()
    scale = _DEAREST / max(float(price.max(initial=0)), 1e-300)
    most = -(-3 * int(np.abs(measure.sum).max(initial=0)) // 2)
    bounds = [decimal_text(0 if table.nonnegative else -most, measure.decimals)]
    bounds.append(decimal_text(most, measure.decimals))
    letters = {SAFE: "s", SAFE_BY_HAND: "s", SECONDARY: "m", PROTECTED: "z", EMPTY: "z"}
    place = _places(done, write.options.get("TR", False))
    kept = np.unique(place)
    number = {int(cell): i for i, cell in enumerate(kept)}
    yield "0"
    yield str(len(kept))
    columns = (measure.sum, found, says.lower, says.upper)
    flat = zip(kept.tolist(), *(column.ravel()[kept] for column in columns), strict=True)
    for at, value, status, lower, upper in flat:
        letter = letters.get(int(status), "u")
        levels = (max(int(lower), 1), max(int(upper), 1), 0) if letter == "u" else (0, 0, 0)
        said = [str(number[at]), decimal_text(int(value), measure.decimals)]
        said += [str(max(round(float(price[at]) * scale), 1)), letter, *bounds]
        yield " ".join([*said, *(decimal_text(level, measure.decimals) for level in levels)])
    equations = rectangular_equations(table.dimensions)
    lines: list[str] = []
    for row in range(equations.shape[0]):
        inside = slice(equations.indptr[row], equations.indptr[row + 1])
        terms = zip(equations.indices[inside], equations.data[inside], strict=True)
        # the total first, with -1
        signed = sorted((-int(sign), number[int(place[cell])]) for cell, sign in terms)
        if len({cell for _, cell in signed}) == 1:  # a code with one below it is the same cell
            continue
        lines.append(f"0 {len(signed)} : " + " ".join(f"{cell} ({sign})" for sign, cell in signed))
    lines = list(dict.fromkeys(lines))
    yield str(len(lines))
    yield from lines


def _places(done: Done, once: bool) -> NDArray[np.int64]:
    """For every cell the one it is written as; `once`: codes with one below them are dropped."""
    table = done.made.table
    cells = np.arange(table.measure.sum.size).reshape(table.shape)
    if not once:
        return cells.ravel()
    return cells[np.ix_(*(same_cell(axis.tree) for axis in done.made.axes))].ravel()


def metadata_of(write: Write, path: Path, done: Done) -> str:
    """The metadata of an intermediate file."""
    measure, own = judged_measure(done), done.made.table.measure
    codes = [
        CodeColumn(axis.variable.name, axis.tree.total, name)
        for axis, (name, _) in zip(done.made.axes, _tree_names(path, done), strict=True)
    ]
    holdings = bool(write.options.get("HI")) and done.made.table.holdings is not None
    audited = _AUDITED if write.options.get("AR") else ()
    ranks = range(1, measure.largest.shape[-1] + 1)
    return metadata_text(
        codes,
        [
            (done.made.text.response.strip("<>"), ("NUMERIC", f"<DECIMALS> {own.decimals}")),
            ("Freq", ("FREQUENCY",)),
            *([("FreqHolding", ("NUMERIC",))] if holdings else []),
            ("Shadow", ("NUMERIC", "SHADOW")),
            ("Cost", ("NUMERIC", "COST")),
            *((f"Top{rank}", ("MAXSCORE",)) for rank in ranks),
            ("Status", ("STATUS",)),
            ("LowerPL", ("NUMERIC", "LOWERPL")),
            ("UpperPL", ("NUMERIC", "UPPERPL")),
            *((name, ("NUMERIC",)) for name in audited),
        ],
    )


def _tree_names(path: Path, done: Done) -> Iterator[tuple[str, bool]]:
    """The file of each variable's tree; "" for flat ones."""
    for number, axis in enumerate(done.made.axes, start=1):
        deep = int(axis.tree.level.max()) > 1
        yield (f"{path.stem}_{number}.hrc" if deep else ""), deep


def trees_of(path: Path, done: Done) -> Iterator[tuple[str, str]]:
    """The trees of an intermediate file: their files and what stands in them."""
    for axis, (name, deep) in zip(done.made.axes, _tree_names(path, done), strict=True):
        if deep:
            yield name, tree_text(axis.tree)
