"""A job of τ-ARGUS as values: its tables, and what is done with them, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from diskret.argus.rule_text import RuleSet
from diskret.argus.text import Place


@dataclass(frozen=True)
class File:
    """A file that a job names, and where."""

    name: str
    place: Place


@dataclass(frozen=True)
class TableText:
    """A table as it is specified.

    cost: a variable, -1 (frequency), -2 (each the same), or "" (the response).
    power: exponent of the cost; 0: its logarithm.
    """

    number: int
    place: Place
    by: tuple[str, ...]
    response: str
    shadow: str = ""
    cost: str = ""
    power: float = 1.0
    rules: RuleSet = field(default_factory=RuleSet)

    @property
    def frequency(self) -> bool:
        """Whether records are counted."""
        return self.response.casefold() == "<freq>"


@dataclass(frozen=True)
class DataText:
    """A file of records, or of cells, with its metadata and the tables made of it.

    additivity: 0: totals must add up; 1: they are computed; 2: they need not add up.
    status: whether the status in a file of cells counts.
    """

    kind: Literal["records", "cells"]
    file: File
    metadata: File
    tables: tuple[TableText, ...]
    additivity: int = 0
    status: bool = True


@dataclass(frozen=True)
class Recode:
    """Coarser codes of a variable of a table: a file of groups, or the levels that are kept."""

    place: Place
    table: int
    variable: str
    file: str = ""
    level: int = 0


@dataclass(frozen=True)
class AprioriText:
    """A file of what is known of single cells."""

    place: Place
    table: int
    file: str
    separator: str
    ignore_unknown: bool = True


@dataclass(frozen=True)
class Suppress:
    """How a table is protected; table 0: all of them, linked.

    files: of the cell key method: the perturbation tables, in their order; "" for none.
    """

    place: Place
    method: str
    table: int
    options: tuple[float, ...] = ()
    files: tuple[str, ...] = ()

    def protects(self, table: int) -> bool:
        """Whether it protects the table of a number."""
        return self.table in (0, table)


@dataclass(frozen=True)
class Write:
    """A file of a protected table."""

    place: Place
    table: int
    kind: int
    options: Mapping[str, bool]
    file: str


@dataclass(frozen=True)
class Batch:
    """A job as it was understood.

    logs: where a log, and the version, are to be written.
    interactive: where the job goes on by hand.
    """

    path: Path
    data: tuple[DataText, ...]
    recodes: tuple[Recode, ...] = ()
    apriori: tuple[AprioriText, ...] = ()
    suppress: tuple[Suppress, ...] = ()
    writes: tuple[Write, ...] = ()
    logbook: File | None = None
    version: File | None = None
    interactive: Place | None = None
    cleared: tuple[Batch, ...] = ()

    @property
    def tables(self) -> tuple[TableText, ...]:
        """All tables, in the order of their numbers."""
        return tuple(table for data in self.data for table in data.tables)

    @property
    def parts(self) -> tuple[Batch, ...]:
        """What was done before the tables were cleared, and what comes after."""
        return (*self.cleared, self)

    def step_of(self, write: Write) -> Suppress | None:
        """What protected a table last when a file of it is written."""
        before = [
            step
            for step in self.suppress
            if step.protects(write.table) and step.place.line < write.place.line
        ]
        return before[-1] if before else None

    def last_step(self, table: int) -> Suppress | None:
        """What protects a table in the end."""
        return next((step for step in reversed(self.suppress) if step.protects(table)), None)
