"""A job as it was understood: where the records are, what to protect, where to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import DataFile, PostgresTable, Source, source, to_arrow
from diskret.io.columns import column
from diskret.jobs.noise import NoiseJob
from diskret.jobs.schema import Section
from diskret.parameters import Choice, Number, Positive, Whole
from diskret.population import EVERYBODY, Population
from diskret.protect.tabulate import Marking
from diskret.publish.formats.symbols import SymbolSet
from diskret.rules import Rule
from diskret.tables import Table
from diskret.tables.add_up import Additivity
from diskret.tables.derived import KINDS, MOST_DECIMALS

if TYPE_CHECKING:
    from diskret.jobs.places import AreaPlaces, GridPlaces

#: Stands for no hierarchy; no code tree can have this name.
FLAT = "flat"
#: Names of files and folders.
FILE_STEM = re.compile(r"\w([\w .-]*[\w-])?")


@dataclass(frozen=True)
class Records:
    """The file the records are in, and the engine that reads it."""

    file: DataFile
    engine: Literal["duckdb", "spark"] = "duckdb"

    def open(self) -> Source:
        """The records as a source for an engine."""
        return source(self.file)


@dataclass(frozen=True)
class DatabaseRecords:
    """The table of a database the records are in."""

    table: PostgresTable

    def open(self) -> Source:
        """The records as a source for an engine."""
        return source(self.table)


class Tree(Protocol):
    """A code tree, wherever it comes from."""

    def read(self) -> Hierarchy:
        """Read it."""
        ...


@dataclass(frozen=True)
class HierarchyFile:
    """A code tree in a file: ``.hrc``, or ``.csv`` with code, parent and perhaps label.

    `total` is the code of the root where the file names none; `lead` and `encoding` are
    those of a ``.hrc`` file. In a ``.csv`` file the tree may also lie in the columns
    `levels`, or in the codes of `column`, whose levels add `prefix` characters. `labels` are
    files of labels by language, "" for one that names the languages itself.
    """

    path: Path
    total: str = "Total"
    lead: str = "@"
    encoding: str = "utf-8"
    levels: tuple[str, ...] = ()
    prefix: tuple[int, ...] = ()
    column: str | None = None
    labels: Mapping[str, Path] = field(default_factory=dict[str, Path])

    def read(self) -> Hierarchy:
        """Read the tree and its labels."""
        tree = self._tree()
        for language, path in self.labels.items():
            tree = tree.with_labels(path, language or None, self.encoding)
        return tree

    def _tree(self) -> Hierarchy:
        if self.path.suffix.lower() != ".csv":
            return Hierarchy.read(self.path, self.total, self.lead, self.encoding)
        records = to_arrow(DataFile(self.path, encoding=_but_usual(self.encoding)))[0]
        try:
            return self._of(records)
        except InputError as error:
            raise type(error)(f"{self.path}: {error}") from error

    def _of(self, records: pa.Table) -> Hierarchy:
        if self.levels:
            columns = {name: column(records, name) for name in self.levels}
            return Hierarchy.from_levels(columns, self.total)
        if self.column is not None:
            return Hierarchy.from_prefix(column(records, self.column), self.prefix, self.total)
        return Hierarchy.from_parents(records, self.total)


def _but_usual(encoding: str) -> str | None:
    """None for UTF-8, which a file of which nothing is said has."""
    return None if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


@dataclass(frozen=True)
class CellsFile:
    """A file of cells that a table is made of; the arguments of `diskret.Table.from_cells`.

    `status`, `lower`, `upper`, `cost`, `who`, `date`: as of `Apriori.of_cells`.
    """

    file: DataFile
    count: str | None = None
    largest: tuple[str, ...] = ()
    magnitude: str | None = None
    signed: bool | None = None
    rounding: Positive | None = None
    additivity: Additivity = "check"
    count_within: Annotated[int, Whole(0)] = 0
    status: str | None = None
    lower: str | None = None
    upper: str | None = None
    cost: str | None = None
    who: str | None = None
    date: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """What the file says of its cells, with the column."""
        named = {name: getattr(self, name) for name in ("status", "lower", "upper", "cost")}
        return {name: column for name, column in named.items() if column is not None}


@dataclass(frozen=True)
class TableJob:
    """A table to protect; the arguments of `diskret.tabulate` and `diskret.suppress`.

    name: file name stem.
    by: column → file of its tree, or None for a flat one; in the order of the dimensions.
    total: column → code of its total, where the job says it.
    rule: all rules, joined; `NoRule` where values are changed without any.
    value: column to sum, None for a frequency table.
    cells: the file of cells that the table is made of; None: records.
    decimals, round_values, unit, holding, weight, weight_decimals, vintage, method, cost,
        time_limit, budget: as in `diskret.tabulate` and `diskret.suppress`.
    where: which records count, in its canonical form.
    request, waiver, waiver_note: as in `diskret.tabulate`.
    recode: column → new code → the codes it combines.
    rounding: unit of the published values, e.g. 1000; None: exact.
    shadow: column that rules of sums look at in place of `value`, which `rule` does already.
    title: language → title of the table.
    frozen: cells that must stay published: column → code, one mapping for each cell, with a code
        for every column of `by`.
    previous: folder of last period's release, which holds a table of the same name.
    previous_discount: as in `diskret.suppress`.
    noise: how values are changed; None: cells are suppressed.
    said: the section of the job file; None: there is none.
    """

    name: str
    by: Mapping[str, Tree | None]
    rule: Rule
    value: str | None = None
    decimals: Annotated[int, Whole(0, 12)] = 0
    round_values: bool = False
    unit: str | None = None
    holding: str | None = None
    weight: str | None = None
    weight_decimals: Annotated[int, Whole(0, 9)] = 0
    vintage: str = ""
    where: Population = EVERYBODY
    request: Marking | None = None
    waiver: Marking | None = None
    waiver_note: str = ""
    title: Mapping[str, str] = field(default_factory=dict[str, str])
    recode: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[str, ...]]]
    )
    total: Mapping[str, str] = field(default_factory=dict[str, str])
    cells: CellsFile | None = None
    rounding: Positive | None = None
    shadow: str | None = None
    method: Literal["auto", "sequential", "modular", "optimal", "hypercube", "network"] = "auto"
    cost: str = "value"
    time_limit: Positive | None = None
    budget: Annotated[int, Whole(1)] | None = None
    frozen: tuple[Mapping[str, str], ...] = ()
    previous: Path | None = None
    previous_discount: Annotated[float, Number(low=0, below=100)] = 0
    noise: NoiseJob | None = None
    said: Section | None = field(default=None, compare=False, repr=False)

    @property
    def search(self) -> tuple[str, float | None, int | None]:
        """How a pattern is searched for; the same for tables that are protected together."""
        return self.method, self.time_limit, self.budget

    @property
    def measure(self) -> str:
        """What is published: the name of the value, or ``"count"``."""
        return self.value or "count"


@dataclass(frozen=True)
class DerivedJob:
    """A derived figure; the arguments of one of the functions of `diskret.derive`.

    name: file name stem.
    kind: ``"mean"``, ``"share"``, ``"growth"`` or ``"index"``.
    tables: names of the tables of the job that it is made of.
    of: columns of whose total it is a share.
    base: the vintage that is 100 in an index.
    earlier: folders of earlier releases, where a table with the name of the first is found.
    decimals: of the figure.
    """

    name: str
    kind: Annotated[str, Choice(KINDS)]
    tables: tuple[str, ...]
    of: tuple[str, ...] = ()
    base: str = ""
    earlier: tuple[Path, ...] = ()
    decimals: Annotated[int, Whole(0, MOST_DECIMALS)] = 1


@dataclass(frozen=True)
class EditionJob:
    """The last delivery, which this one is the next edition of.

    previous: its folder; tables are found there by their names.
    discount: percent by which hiding a cell costs less if it was hidden then; see
        `previous_discount` of `diskret.suppress`.
    revision: whether the same period is delivered again, so that both are attacked together; None:
        it is not, and refused if it looks like that.
    """

    previous: Path
    discount: Annotated[float, Number(low=0, below=100)] = 50
    revision: bool | None = None


@dataclass(frozen=True)
class Output:
    """Where and how to write."""

    folder: Path
    formats: tuple[str, ...] = ("csv", "xlsx")
    language: str = "en"
    symbols: str | SymbolSet = "de-classic"
    template: Path | None = None
    combined: str | Mapping[str, tuple[str, ...]] | None = None
    intervals: bool = False
    ledger: str | None = None
    release: str | None = None
    neutralise: bool = False
    agency: str = "OFFICE"


@dataclass(frozen=True)
class Job:
    """A job file as it was understood: pure data; every path is seen from the current folder.

    `records` is None if every table is made of a file of cells.

    `previous_within`: the attacker knows that no value has changed by more than so many percent
    since the release that a table names in `previous`.

    `contributor`: whether to protect against contributors, and `coalition`, how many pool what
    they know; None: see `default_attacker`.
    """

    path: Path
    records: Records | DatabaseRecords | None
    tables: tuple[TableJob, ...]
    sums: tuple[str, ...]
    attacker: Attacker
    output: Output
    previous_within: float | None = None
    contributor: bool | None = None
    coalition: int = 1
    derived: tuple[DerivedJob, ...] = ()
    keyed_ties: bool = False
    places: Mapping[str, GridPlaces | AreaPlaces] = field(
        default_factory=dict[str, "GridPlaces | AreaPlaces"]
    )
    edition: EditionJob | None = None


@dataclass(frozen=True, eq=False)
class JobTable:
    """A table of a job, tabulated, with what the job asks for it.

    name: under which it is published.
    hidden: the cells to hide, instead of a search; proven like any other pattern.
    known: cells that everybody knows already, and that are not hidden unless they are unsafe.
    """

    job: Job
    wanted: TableJob
    table: Table
    name: str
    hidden: NDArray[np.bool_] | None = None
    known: NDArray[np.bool_] | None = None
