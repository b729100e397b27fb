"""What is to be published, and what was found out about it: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from diskret.hierarchy import Hierarchy
from diskret.io import Source
from diskret.jobs.values import HierarchyFile
from diskret.tables import MeasureSum
from diskret.texts import Statement

#: The code of the total in code lists of SDMX, which Eurostat's templates use.
SDMX_TOTAL = "_T"


@dataclass(frozen=True)
class Variable:
    """A variable that a table is broken down by.

    hierarchy: the name of the code tree that it is a level of; None: none is named.
    codes: the codes that are asked for, without the total; None: all that it has.
    """

    name: str
    hierarchy: str | None = None
    codes: frozenset[str] | None = None


@dataclass(frozen=True)
class Description:
    """A table as the publication asks for it.

    field: what it is about: a period, a population; "" if nothing is said.
    field_group: the name under which fields lie in each other, or None.
    indicator: what is summed or counted in its cells.
    indicator_group: the name under which indicators add up, or None.
    lines: of the file, in which it stands.
    """

    name: str
    indicator: str
    by: tuple[Variable, ...]
    field: str = ""
    field_group: str | None = None
    indicator_group: str | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Asked:
    """All that a template asks for.

    file: its name, for messages.
    tables: in the order of the file.
    totals: variable → the code of its total, where the template tells it.
    fields: field → column → code, where the template has a column for it.
    rows: how many rows or cells the template lists.
    codes_at: variable → code → the line in which it stands first.
    listed: whether the template lists cells with their codes, and no names of variables only.
    says_flat: whether a variable of which no tree is named has none.
    says_sums: whether indicators of which nothing is said do not add up.
    notes: what was passed over.
    passed: column that was passed over → code → the line in which it stands first.
    unit: what a line is called there: ``"line"`` or ``"row"``.
    sheets: the line before the first of each sheet → the sheet; lines of a folder of workbooks are
        counted over all its sheets.
    """

    file: str
    tables: tuple[Description, ...]
    rows: int
    totals: Mapping[str, str] = field(default_factory=dict[str, str])
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    codes_at: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    listed: bool = False
    says_flat: bool = False
    says_sums: bool = False
    notes: tuple[Note, ...] = ()
    passed: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    unit: str = "line"
    sheets: Mapping[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True)
class Note:
    """Something that was found, and the lines that it is about."""

    said: Statement
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Question:
    """What only a person can answer.

    said: the question.
    answer: how it is answered: lines of a publication file, which a person completes.
    lines: of the template, which it is about.
    """

    said: Statement
    answer: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class VariableAnswer:
    """What the office says of a variable.

    hierarchies: names of its code trees; several where its codes do not nest in one.
    level: the level of the tree that it shows: a name, or a number of steps below the total.
    column: of the records; None: that of its name.
    flat: its codes add up to the total, without a tree.
    total: the code of its total.
    """

    hierarchies: tuple[str, ...] = ()
    level: str | int | None = None
    column: str | None = None
    flat: bool = False
    total: str | None = None


@dataclass(frozen=True)
class IndicatorAnswer:
    """What the office says of an indicator; `given` are keys of its tables.

    value: the column that is summed; None: that of its name. `count`: records are counted.
    """

    value: str | None = None
    count: bool = False
    where: Mapping[str, Any] = field(default_factory=dict[str, Any])
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class FieldAnswer:
    """Which records a field is about, and what its vintage is."""

    where: Mapping[str, Any] = field(default_factory=dict[str, Any])
    vintage: str | None = None


@dataclass(frozen=True)
class Answers:
    """What a publication file says beside the template; sections of jobs as they stand there.

    path: the publication file; None if there is none.
    records: None: they are not said, or stay where they cannot be looked at here.
    """

    path: Path | None = None
    equations: tuple[MeasureSum, ...] = ()
    no_equation: tuple[str, ...] = ()
    different: tuple[frozenset[str], ...] = ()
    variables: Mapping[str, VariableAnswer] = field(default_factory=dict[str, VariableAnswer])
    indicators: Mapping[str, IndicatorAnswer] = field(default_factory=dict[str, IndicatorAnswer])
    fields: Mapping[str, FieldAnswer] = field(default_factory=dict[str, FieldAnswer])
    hierarchies: Mapping[str, HierarchyFile] = field(default_factory=dict[str, HierarchyFile])
    sections: Mapping[str, Any] = field(default_factory=dict[str, Any])
    records: Source | None = None


@dataclass(frozen=True, eq=False)
class Axis:
    """What several variables have in common: they are levels of one tree.

    variables: in the order in which they are named.
    trees: name → tree; none if the axis is flat, or if nothing is known of it yet.
    column: of the records; its codes are in `recorded`, None if nobody looked.
    total: the code of the total.
    """

    name: str
    variables: tuple[str, ...]
    trees: Mapping[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    flat: bool = False
    column: str | None = None
    recorded: frozenset[str] | None = None
    total: str | None = None

    @cached_property
    def masks(self) -> Mapping[str, Mapping[str, int]]:
        """Tree → code → its leaves, as the bits of a whole number."""
        return {name: leaf_bits(tree) for name, tree in self.trees.items()}


def leaf_bits(tree: Hierarchy) -> dict[str, int]:
    """Code → the leaves below it, as the bits of a whole number.

    >>> leaf_bits(Hierarchy.from_prefix(["011", "012", "02"], (2, 1)))
    {'Total': 7, '01': 3, '011': 1, '012': 2, '02': 4}
    """
    bits = [0] * len(tree)
    for bit, leaf in enumerate(tree.leaves.tolist()):
        bits[leaf] = 1 << bit
    parent = tree.parent.tolist()
    for at in range(len(tree) - 1, 0, -1):
        bits[parent[at]] |= bits[at]
    return dict(zip(tree.codes, bits, strict=True))


@dataclass(frozen=True)
class Breakdown:
    """One dimension of a planned table.

    axis: its name. `tree`: the name of the tree, "" for none.
    codes: those to publish, without the total; or the variables, where their codes are not known.
    """

    axis: str
    tree: str
    codes: frozenset[str]


@dataclass(frozen=True)
class PlannedTable:
    """A table to protect: it holds every table of `descriptions`, in whole or in parts.

    indicators: whose tables have these dimensions, and add up to each other if they are several.
    names: of the tables of the job, one for each indicator.
    cluster: its number, from 1: tables of one cluster are protected together.
    """

    name: str
    field: str
    indicators: tuple[str, ...]
    by: tuple[Breakdown, ...]
    descriptions: tuple[str, ...]
    names: tuple[str, ...] = ()
    cluster: int = 0


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be published, how it hangs together, and what only a person can tell.

    asked: the tables of the template.
    answers: what the publication file says.
    axes: name → axis.
    tables: the tables to protect.
    equations: sums of indicators that tie tables.
    questions: that are open; the programme is written when there are none.
    notes: what was found.
    template: the file or folder of what is asked for, where no publication file names it.
    """

    asked: Asked
    answers: Answers
    axes: Mapping[str, Axis]
    tables: tuple[PlannedTable, ...]
    equations: tuple[MeasureSum, ...]
    questions: tuple[Question, ...]
    notes: tuple[Note, ...]
    template: Path | None = None

    @property
    def clusters(self) -> tuple[tuple[PlannedTable, ...], ...]:
        """The tables of each cluster."""
        last = max((table.cluster for table in self.tables), default=0)
        return tuple(
            tuple(table for table in self.tables if table.cluster == number)
            for number in range(1, last + 1)
        )

    def __str__(self) -> str:
        return (
            f"{len(self.asked.tables)} tables asked for, {len(self.tables)} to protect in "
            f"{len(self.clusters)} clusters, {len(self.questions)} questions open"
        )
