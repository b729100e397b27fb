"""Tables as a job of τ-ARGUS with all its files, so that results can be compared there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.argus.cell_files import (
    SEPARATOR,
    CodeColumn,
    decimal_text,
    metadata_text,
    quoted,
    tree_text,
)
from diskret.argus.protection import HIDES
from diskret.errors import InputError, JobError
from diskret.jobs.text_files import TextFile, write_files
from diskret.protect.arguments import rules_for
from diskret.rules import PQ, Dominance, MinimumFrequency, PPercent, Rule, Sensitivity, ZeroCells
from diskret.rules.sensitivity import parts
from diskret.tables import Table

_MINUTES = 10
_MOST = {"P": 2, "NK": 2, "FREQ": 1, "ZERO": 1}
_COSTS = {"value": "", "count": "-1", "cells": "-2"}
_LEADS = "@~#^§"


def write_job(
    table: Table | Sequence[Table],
    rule: Any,
    path: str | PathLike[str],
    *,
    method: Literal["modular", "optimal", "hypercube", "network"] = "modular",
    cost: str = "value",
    singletons: bool = False,
    judged: Literal["here", "there"] = "here",
) -> tuple[Path, ...]:
    """Write tables as a job of τ-ARGUS, to compare its results with ours.

    Each table becomes a ``.tab`` file of all its cells with its metadata (``.rda``), trees
    (``.hrc``) and what is set by hand (``.hst``). The job names them, protects them (several
    together, as linked tables) and writes what τ-ARGUS hides as code, value, status. All files
    are for the office only. They are written all, or none.

    Parameters
    ----------
    table
        A complete table with one measure, or several, as for [`suppress`][diskret.suppress].
    rule
        What is sensitive: a rule or a `Sensitivity` for each table, or one rule for all.
    path
        The job to write (``.arb``). The other files lie beside it; their names begin as its name.
    method
        ``"modular"`` (MOD), ``"optimal"`` (OPT), ``"hypercube"`` (GH) or ``"network"`` (NET).
    cost
        What hiding a cell costs: ``"value"``, ``"count"``, ``"cells"``, or another measure of the
        table.
    singletons
        Whether τ-ARGUS looks at single contributors.
    judged
        ``"here"``: the files say which cells are unsafe and how far they must stay uncertain.
        ``"there"``: the job gives the rules and the files the largest contributions, so that
        τ-ARGUS finds the unsafe cells itself. It knows `PPercent`, `PQ`, `Dominance`,
        `MinimumFrequency` of sums and `ZeroCells`, with whole numbers.

    Returns
    -------
    tuple of Path
        What was written: the job first.

    Raises
    ------
    InputError
        A rule or a code is none that τ-ARGUS can read.
    JobError
        The files cannot be written.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, sections 4.3 and 5.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "N", "S", "S"], "size": ["1", "2", "1", "2"],
    ...                   "turnover": [90, 40, 70, 60], "firms": [2, 5, 9, 9]})
    >>> table = dk.Table.from_cells(cells, by={"region": None, "size": None},
    ...                             value="turnover", count="firms")
    >>> job = pathlib.Path(tempfile.mkdtemp()) / "firms.arb"
    >>> [path.name for path in dk.argus.write_job(table, dk.rules.MinimumFrequency(3), job)]
    ['firms.arb', 'firms_1.tab', 'firms_1.rda']
    >>> dk.argus.run(job).tables[0].unsafe
    1
    """
    target = Path(path)
    if target.suffix.lower() != ".arb":
        raise JobError(f"{target.name}: the name of a job of τ-ARGUS ends in .arb")
    if not target.parent.is_dir():
        raise JobError(f"{target}: there is no folder {str(target.parent)!r} to write to")
    tables = [table] if isinstance(table, Table) else list(table)
    rules = rules_for(rule, tables)
    if method not in HIDES.values():
        raise InputError(f"method= is one of {', '.join(HIDES.values())}, not {method!r}")
    if method in ("optimal", "network") and len(tables) > 1:
        raise InputError(f"τ-ARGUS protects linked tables with MOD and GH only, not {method!r}")
    made = [
        _Cells(target, number, one, judge, cost, judged)
        for number, (one, judge) in enumerate(zip(tables, rules, strict=True), start=1)
    ]
    lines = ["// written by diskret; confidential"]
    for one in made:
        lines += one.opened()
    lines.append("<READTABLE> 0")
    for one in made:
        lines += one.by_hand()
    number = 0 if len(made) > 1 else 1
    lines.append(f"<SUPPRESS> {_call(method, number, singletons)}")
    lines += [f'<WRITETABLE> ({one.number},3,AS+,"{one.stem}.txt")' for one in made]
    outputs = [TextFile(target, "\n".join(lines) + "\n", True)]
    outputs += [output for one in made for output in one.outputs()]
    write_files(outputs)
    return tuple(output.path for output in outputs)


def _call(method: str, number: int, singletons: bool) -> str:
    """The command that protects."""
    one = int(singletons)
    return {
        "modular": f"MOD({number},{_MINUTES},{one},{one},{one})",
        "optimal": f"OPT({number},{_MINUTES})",
        "hypercube": f"GH({number},100,0,{one})",
        "network": f"NET({number})",
    }[method]


@dataclass(frozen=True, eq=False)
class _Cells:
    """A table as files."""

    job: Path
    number: int
    table: Table
    rule: Rule | Sensitivity
    cost: str
    judged: str

    def __post_init__(self) -> None:
        for dimension in self.table.dimensions:
            for code in (dimension.name, *dimension.hierarchy.codes):
                if '"' in code or not code.isprintable() or code.startswith("<"):
                    raise InputError(
                        f"{code!r} has quotation marks, line ends or angle brackets, which "
                        "files of τ-ARGUS cannot hold; rename it"
                    )

    @property
    def stem(self) -> str:
        return f"{self.job.stem}_{self.number}"

    @property
    def response(self) -> str:
        return self.table.measure.name

    @property
    def priced(self) -> str:
        """The column of costs; no other has its name."""
        name = "Cost"
        others = {self.response, *(dimension.name for dimension in self.table.dimensions)}
        while name.casefold() in {other.casefold() for other in others}:
            name += "_"
        return name

    @property
    def columns(self) -> list[CodeColumn]:
        """The variables, with the files of their trees."""
        found: list[CodeColumn] = []
        for at, dimension in enumerate(self.table.dimensions, start=1):
            tree = dimension.hierarchy
            deep = int(tree.level.max()) > 1
            lead = next((c for c in _LEADS if not any(code[:1] == c for code in tree.codes)), "")
            if deep and not lead:
                raise InputError(
                    f"{dimension.name!r}: codes begin with all of {_LEADS}, so none can mark the "
                    "levels of a tree; rename some"
                )
            name = f"{self.stem}_{at}.hrc" if deep else ""
            found.append(CodeColumn(dimension.name, tree.total, name, lead))
        return found

    def sensitivity(self) -> Sensitivity:
        return self.rule if isinstance(self.rule, Sensitivity) else self.rule(self.table)

    def opened(self) -> list[str]:
        """The commands that open the table and say what is unsafe in it."""
        by = "".join(quoted([dimension.name for dimension in self.table.dimensions]))
        cost = _COSTS.get(self.cost, f'"{self.priced}"')
        rules = "MAN(20)" if self.judged == "here" else _rules(self.rule, self.table)
        return [
            f'<OPENTABLEDATA> "{self.stem}.tab"',
            f'<OPENMETADATA> "{self.stem}.rda"',
            f'<SPECIFYTABLE> {by}|"{self.response}"||{cost}',
            f"<SAFETYRULE> {rules}",
        ]

    def by_hand(self) -> list[str]:
        if not self.hst():
            return []
        return [f'<APRIORI> "{self.stem}.hst",{self.number},"{SEPARATOR}",0,0']

    def outputs(self) -> Iterator[TextFile]:
        """All files of the table."""
        others = [(name, options) for name, options, _ in self.others()]
        beside: list[tuple[str, str]] = [
            (f"{self.stem}.tab", "".join(f"{line}\n" for line in self.lines())),
            (f"{self.stem}.rda", metadata_text(self.columns, others)),
        ]
        for column, dimension in zip(self.columns, self.table.dimensions, strict=True):
            if column.tree:
                beside.append((column.tree, tree_text(dimension.hierarchy, column.lead)))
        if text := self.hst():
            beside.append((f"{self.stem}.hst", text))
        for name, text in beside:
            yield TextFile(self.job.with_name(name), text, True)

    def codes(self) -> Iterator[tuple[tuple[int, ...], list[str]]]:
        """The place and the codes of every cell, in quotes."""
        trees = [dimension.hierarchy for dimension in self.table.dimensions]
        for at in np.ndindex(self.table.shape):
            codes = [tree.codes[i] for tree, i in zip(trees, at, strict=True)]
            yield at, quoted(codes)

    def lines(self) -> Iterator[str]:
        """One cell a line, without empty ones but for the totals that name each code."""
        columns = [text for _, _, text in self.others()]
        for at, codes in self.codes():
            if not self.table.empty[at] or np.count_nonzero(at) < 2:
                yield SEPARATOR.join([*codes, *(text(at) for text in columns)])

    def others(self) -> list[tuple[str, Sequence[str], Callable[[tuple[int, ...]], str]]]:
        """The columns after the codes: name, options, and what a cell has in it."""
        table, measure = self.table, self.table.measure
        count = table.units if table.units is not None else table.count

        def number(of: NDArray[np.int64], decimals: int) -> Callable[[tuple[int, ...]], str]:
            return lambda at: decimal_text(int(of[at]), decimals)

        scale = f"<DECIMALS> {measure.decimals}"
        found: list[tuple[str, Sequence[str], Callable[[tuple[int, ...]], str]]] = [
            (self.response, ("NUMERIC", scale), number(measure.sum, measure.decimals))
        ]
        if count is not None:
            found.append(("Freq", ("FREQUENCY",), number(count, 0)))
        if self.cost not in _COSTS:
            price = table[self.cost].measure
            scaled = np.abs(price.sum)
            options = ("NUMERIC", "COST", f"<DECIMALS> {price.decimals}")
            found.append((self.priced, options, number(scaled, price.decimals)))
        for rank in range(measure.largest.shape[-1]):
            largest = number(measure.largest[..., rank], measure.decimals)
            found.append((f"Top{rank + 1}", ("MAXSCORE",), largest))
        if self.judged == "here":
            says = self.sensitivity()
            found += [
                ("Status", ("STATUS",), lambda at: "U" if says.unsafe[at] else "S"),
                ("LowerPL", ("NUMERIC", "LOWERPL"), number(says.lower, measure.decimals)),
                ("UpperPL", ("NUMERIC", "UPPERPL"), number(says.upper, measure.decimals)),
            ]
        return found

    def hst(self) -> str:
        """What is set by hand beside the status: frozen cells, and their costs."""
        if self.judged == "there":
            return ""
        says = self.sensitivity()
        lines: list[str] = []
        for at, codes in self.codes():
            if self.table.empty[at]:
                continue
            if says.frozen is not None and says.frozen[at]:
                lines.append(SEPARATOR.join([*codes, "p"]))
            if says.cost is not None and not np.isnan(says.cost[at]):
                lines.append(SEPARATOR.join([*codes, "c", f"{says.cost[at]:.12g}"]))
        return "".join(f"{line}\n" for line in lines)


# ── rules as τ-ARGUS writes them ────────────────────────────────────────────────────


def _rules(rule: Rule | Sensitivity, table: Table) -> str:
    """The rules of a table, for τ-ARGUS to judge it by."""
    if isinstance(rule, Sensitivity) or table.frequency:
        raise InputError(
            'judged="there" needs a rule that τ-ARGUS knows and a table of sums; use judged="here"'
        )
    units, count = table.units, table.count
    fewer = units is not None and count is not None and not np.array_equal(units, count)
    found = [_rule(part, fewer) for part in parts(rule)]
    for kind, most in _MOST.items():
        if sum(text.startswith(f"{kind}(") for text in found) > most:
            raise InputError(f'τ-ARGUS takes {kind} at most {most} times; use judged="here"')
    return "|".join([*found, "MAN(20)"])


def _rule(rule: Rule, units: bool) -> str:
    """One rule; `units`: the table has fewer units than records, and they are counted."""
    match rule:
        case PPercent(minimum_level=0):
            numbers: tuple[float, ...] = (rule.p, rule.coalition)
            kind = "P"
        case PQ(minimum_level=0):
            kind, numbers = "P", (rule.p, rule.q, rule.coalition)
        case Dominance():
            kind, numbers = "NK", (rule.n, rule.k)
        case MinimumFrequency(of=None, level=None):
            kind, numbers = "FREQ", (rule.n, rule.range)
        case MinimumFrequency(of="records", level=None) if not units:
            kind, numbers = "FREQ", (rule.n, rule.range)
        case ZeroCells():
            kind, numbers = "ZERO", (rule.level,)
        case _:
            raise InputError(
                f'τ-ARGUS has no rule for {rule!r}; judged="here" gives it the unsafe cells'
            )
    if any(number != int(number) for number in numbers):
        raise InputError(f"τ-ARGUS reads whole numbers only, and {rule!r} has others")
    return f"{kind}({','.join(str(int(number)) for number in numbers)})"
