"""Files of protected tables in the formats of τ-ARGUS, as texts that are still to be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.argus.batch import Write
from diskret.argus.cell_files import (
    CodeColumn,
    decimal_text,
    metadata_text,
    quoted,
    tree_text,
)
from diskret.argus.data import Made, cost_of_cells
from diskret.argus.text import Folders
from diskret.errors import JobError
from diskret.rules import Sensitivity
from diskret.system.equations import rectangular_equations
from diskret.tables import Measure

SAFE, SAFE_BY_HAND, UNSAFE, BY_HAND, PROTECTED, SECONDARY, EMPTY = 1, 2, 3, 9, 10, 11, 14
#: What hiding the dearest cell costs in files for solvers.
_DEAREST = 20_000
_OF_RULE = {
    "dominance": UNSAFE,
    "p_percent": UNSAFE,
    "pq": UNSAFE,
    "request": 4,
    "minimum_frequency": 5,
    "zero": 6,
    "apriori": BY_HAND,
}
_PIVOT, _VALUES, _SBS, _INTERMEDIATE, _JJ = 2, 3, 4, 5, 6
#: Types that print unsafe values, whatever the options.
_INTERNAL = (_SBS, _INTERMEDIATE, _JJ)
#: Types of files that are written, and the options that mean something for each.
_OFFERED = {
    1: ("QU", "AS"),
    _PIVOT: ("AS", "SE", "FL", "QU", "SO"),
    _VALUES: ("AS", "SE", "FL", "QU", "SO"),
    _SBS: ("HL", "AS", "SE", "FL"),
    _INTERMEDIATE: ("AS", "SE", "FL", "QU"),
    _JJ: (),
}


@dataclass(frozen=True)
class Output:
    """A file to write; `internal`: it must not leave the office."""

    path: Path
    text: str
    internal: bool


@dataclass(frozen=True, eq=False)
class Done:
    """A protected table as its files show it.

    value: what is published, scaled integers, where `hidden` does not hide it.
    changed: whether values were changed and not hidden.
    """

    made: Made
    sensitivity: Sensitivity
    value: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    decimals: int
    changed: bool = False

    @property
    def status(self) -> NDArray[np.int64]:
        """The status of every cell by its number in τ-ARGUS."""
        says = self.sensitivity
        status = np.full(self.value.shape, SAFE)
        if says.safe is not None:
            status[says.safe & ~self.made.unknown] = SAFE_BY_HAND
        if says.frozen is not None:
            status[says.frozen] = PROTECTED
        status[self.made.table.empty] = EMPTY
        status[self.hidden] = SECONDARY
        of_rule = np.array([*(_OF_RULE.get(name, UNSAFE) for name in says.reasons), SAFE])
        found = np.where(says.unsafe, of_rule[says.reason], status)
        if self.made.taken is not None:  # they are hidden to protect others, whoever says so
            found[self.made.taken & (found == BY_HAND)] = SECONDARY
        return found


def check_write(write: Write, folders: Folders, changed: bool) -> Path:
    """Refuse files that are not written, before anything is computed; where the file will be."""
    if write.kind not in _OFFERED:
        raise JobError(
            f"{write.place}: files of type {write.kind} are not written here; types are 1 (CSV), "
            "2 (pivot), 3 (code, value), 4 (SBS), 5 (intermediate) and 6 (JJ)"
        )
    offered = _OFFERED[write.kind]
    beyond = [name for name, on in write.options.items() if on and name not in offered]
    if beyond:
        raise JobError(
            f"{write.place}: {beyond[0]}+ is not offered for files of type {write.kind}; it takes "
            f"{', '.join(offered) or 'none'}"
        )
    if changed and (write.kind in _INTERNAL or write.options.get("AS")):
        raise JobError(
            f"{write.place}: values of this table are changed and not hidden, so it has no status "
            "to write; use type 1, 2 or 3 without AS+"
        )
    return folders.target(write.file, write.place)


def outputs_of(write: Write, path: Path, done: Done) -> Iterator[Output]:
    """The files that one command writes."""
    internal = write.kind in _INTERNAL or any(
        write.options.get(name, False) for name in ("AS", "SO")
    )
    ways = {1: _csv, _SBS: _sbs, _INTERMEDIATE: _intermediate, _JJ: _jj}
    lines = ways.get(write.kind, _values)
    yield Output(path, "".join(f"{line}\n" for line in lines(write, done)), internal)
    if write.kind == _INTERMEDIATE:
        yield Output(path.with_suffix(".rda"), _metadata(path, done), True)
        for name, text in _trees(path, done):
            yield Output(path.with_name(name), text, True)


# ── parts of lines ──────────────────────────────────────────────────────────────────


def _cells(done: Done, own: bool = False) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The codes and the place of every cell; `own`: codes as in the tree, so that none is twice."""
    trees = [axis.tree for axis in done.made.axes]
    shown = [
        [code if own else axis.shown(code) for code in axis.tree.codes] for axis in done.made.axes
    ]
    for at in np.ndindex(*(len(tree) for tree in trees)):
        yield tuple(codes[i] for codes, i in zip(shown, at, strict=True)), at


def _public(done: Done, at: tuple[int, ...]) -> str:
    """What anybody may see of a cell."""
    if done.made.table.empty[at] and not done.hidden[at]:
        return "-"
    return "x" if done.hidden[at] else decimal_text(int(done.value[at]), done.decimals)


def _true(done: Done, at: tuple[int, ...]) -> str:
    return decimal_text(int(done.value[at]), done.decimals)


# ── types of files ──────────────────────────────────────────────────────────────────


def _values(write: Write, done: Done) -> Iterator[str]:
    """One cell a line: codes, value, and the status if it is asked for."""
    options = write.options
    quotes, status = options.get("QU", True), options.get("AS", False)
    only = options.get("SO", False)
    if options.get("FL", write.kind == _PIVOT):
        names = [axis.variable.name for axis in done.made.axes]
        names += [] if only else [done.made.text.response]
        names += ["Status"] if status or only else []
        yield ",".join(quoted(names, quotes))
    found = done.status
    for codes, at in _cells(done):
        empty = bool(done.made.table.empty[at])
        if empty and options.get("SE", False):
            continue
        line = quoted(codes, quotes)
        if not only:
            shown = "-" if empty and not done.hidden[at] else _true(done, at)
            line.append(shown if status else _public(done, at))
        if status or only:
            line.append(str(found[at]))
        yield ",".join(line)


def _csv(write: Write, done: Done) -> Iterator[str]:
    """A page of rows and columns for every code of the further variables."""
    first, *further = done.made.axes
    second = further[0] if further else None
    quotes = write.options.get("QU", True)
    found = done.status

    def cell(at: tuple[int, ...]) -> str:
        if not write.options.get("AS"):
            return _public(done, at)
        return f"{_true(done, at)},{found[at]}"

    for layer in np.ndindex(*(len(axis.tree) for axis in further[1:])):
        for number, (axis, i) in enumerate(zip(further[1:], layer, strict=True), start=3):
            yield f"Var {number},{quoted([axis.shown(axis.tree.codes[i])], quotes)[0]}"
        if second is None:
            names = [done.made.text.response]
        else:
            names = [second.shown(code) for code in second.tree.codes]
        heads = quoted(names, quotes)
        if write.options.get("AS"):
            heads = [text for head in heads for text in (head, quoted(["Status"], quotes)[0])]
        yield ",".join([*quoted([first.variable.name], quotes), *heads])
        for row, code in enumerate(first.tree.codes):
            places = [(row,)] if second is None else [(row, i) for i in range(len(second.tree))]
            line = [cell((*at, *layer)) for at in places]
            yield ",".join([*quoted([first.shown(code)], quotes), *line])


def _sbs(write: Write, done: Done) -> Iterator[str]:
    """Codes, levels if asked for, value, frequency, flag; with p% two shares. Values are true."""
    table, found = done.made.table, done.status
    names = (*done.sensitivity.reasons, "")
    rules = done.made.text.rules.rules
    alone = all(one.numbers[0] == 1 for one in rules if one.kind == "NK")
    measure = _judged_measure(done)
    for codes, at in _cells(done):
        if table.empty[at]:
            continue
        reason = names[done.sensitivity.reason[at]] if done.sensitivity.unsafe[at] else ""
        flag = {"minimum_frequency": "A", "p_percent": "F", "pq": "F", "": "V"}.get(reason, "B")
        if reason == "dominance" and not alone:
            flag = "C"
        if found[at] == SECONDARY:
            flag = "D"
        line = quoted(codes, True)
        if write.options.get("HL"):
            axes = done.made.axes
            line += [str(axis.tree.level[i]) for axis, i in zip(axes, at, strict=True)]
        count = 0 if table.count is None else int(table.count[at])
        line += [_true(done, at), str(count), flag]
        if flag == "F":
            whole = max(int(measure.magnitude[at]), 1)
            line += [f"{100 * int(x) / whole:.4f}" for x in measure.largest[at][:2]]
        yield ",".join(line)


def _judged_measure(done: Done) -> Measure:
    """The measure that the rules look at: the shadow, or the response."""
    table = done.made.table
    return table[done.made.shadow].measure if done.made.shadow else table.measure


def _intermediate(write: Write, done: Done) -> Iterator[str]:
    """All that is known of every cell, to be read again."""
    table, says, found = done.made.table, done.sensitivity, done.status
    measure, own = _judged_measure(done), table.measure
    letters = {SAFE: "S", SAFE_BY_HAND: "S", PROTECTED: "P", SECONDARY: "M", EMPTY: "E"}
    for codes, at in _cells(done, own=True):
        if table.empty[at]:
            continue
        letter = letters.get(int(found[at]), "U")
        line = quoted(codes, True)
        line += [
            _true(done, at),
            str(0 if table.count is None else int(table.count[at])),
            decimal_text(int(measure.sum[at]), measure.decimals),
            decimal_text(abs(int(own.sum[at])), own.decimals),
            *(decimal_text(int(x), measure.decimals) for x in measure.largest[at]),
            letter,
            *(decimal_text(int(level[at]), own.decimals) for level in (says.lower, says.upper)),
        ]
        yield ";".join(line)


def _jj(write: Write, done: Done) -> Iterator[str]:
    """The table as a problem for solvers: cells with costs, bounds and levels, and equations."""
    table, says, found = done.made.table, done.sensitivity, done.status.ravel()
    measure = table.measure
    price = cost_of_cells(done.made).ravel()
    scale = _DEAREST / max(float(price.max(initial=0)), 1e-300)
    most = -(-3 * int(np.abs(measure.sum).max(initial=0)) // 2)
    bounds = [decimal_text(0 if table.nonnegative else -most, measure.decimals)]
    bounds.append(decimal_text(most, measure.decimals))
    letters = {SAFE: "s", SAFE_BY_HAND: "s", SECONDARY: "m", PROTECTED: "z", EMPTY: "z"}
    yield "0"
    yield str(len(found))
    flat = zip(measure.sum.ravel(), found, says.lower.ravel(), says.upper.ravel(), strict=True)
    for at, (value, status, lower, upper) in enumerate(flat):
        letter = letters.get(int(status), "u")
        levels = (max(int(lower), 1), max(int(upper), 1), 0) if letter == "u" else (0, 0, 0)
        said = [str(at), decimal_text(int(value), measure.decimals)]
        said += [str(max(round(float(price[at]) * scale), 1)), letter, *bounds]
        yield " ".join([*said, *(decimal_text(level, measure.decimals) for level in levels)])
    equations = rectangular_equations(table.dimensions)
    yield str(equations.shape[0])
    for row in range(equations.shape[0]):
        inside = slice(equations.indptr[row], equations.indptr[row + 1])
        terms = zip(equations.indices[inside], equations.data[inside], strict=True)
        # the total first, with -1
        signed = sorted((-int(sign), int(cell)) for cell, sign in terms)
        yield f"0 {len(signed)} : " + " ".join(f"{cell} ({sign})" for sign, cell in signed)


def _metadata(path: Path, done: Done) -> str:
    """The metadata of an intermediate file."""
    measure, own = _judged_measure(done), done.made.table.measure
    codes = [
        CodeColumn(axis.variable.name, axis.tree.total, name)
        for axis, (name, _) in zip(done.made.axes, _tree_names(path, done), strict=True)
    ]
    ranks = range(1, measure.largest.shape[-1] + 1)
    return metadata_text(
        codes,
        [
            (done.made.text.response.strip("<>"), ("NUMERIC", f"<DECIMALS> {own.decimals}")),
            ("Freq", ("FREQUENCY",)),
            ("Shadow", ("NUMERIC", "SHADOW")),
            ("Cost", ("NUMERIC", "COST")),
            *((f"Top{rank}", ("MAXSCORE",)) for rank in ranks),
            ("Status", ("STATUS",)),
            ("LowerPL", ("NUMERIC", "LOWERPL")),
            ("UpperPL", ("NUMERIC", "UPPERPL")),
        ],
    )


def _tree_names(path: Path, done: Done) -> Iterator[tuple[str, bool]]:
    """The file of each variable's tree; "" for flat ones."""
    for number, axis in enumerate(done.made.axes, start=1):
        deep = int(axis.tree.level.max()) > 1
        yield (f"{path.stem}_{number}.hrc" if deep else ""), deep


def _trees(path: Path, done: Done) -> Iterator[tuple[str, str]]:
    for axis, (name, deep) in zip(done.made.axes, _tree_names(path, done), strict=True):
        if deep:
            yield name, tree_text(axis.tree)
