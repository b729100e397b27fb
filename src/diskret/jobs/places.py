"""Places of a job: points become cells of a grid or areas, whose borders maps show."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Source, source, to_arrow
from diskret.io.columns import column
from diskret.io.frames import in_memory, spelled
from diskret.jobs.schema import Section
from diskret.jobs.values import Job, Records, TableJob
from diskret.rules.varying import for_tables
from diskret.spatial import Areas, Grid, locate, quadtree, read_areas
from diskret.spatial.grid import EUROPE
from diskret.tables import Table

_POINTS = ("x", "y", "crs")


@dataclass(frozen=True)
class Points:
    """Columns of coordinates, and the EPSG number of their reference system if it is another."""

    x: str
    y: str
    crs: int | None


@dataclass(frozen=True)
class GridPlaces:
    """Cells of a grid; `merge`: unsafe ones are given up for coarser ones.

    `points`: where the records lie; None: they have the ids of their cells.
    """

    grid: Grid
    coarser: tuple[int, ...]
    merge: bool
    points: Points | None

    def read(self) -> Hierarchy:
        """There is no tree yet: it is made of the cells in which there are records."""
        raise InputError("cells of [places] are those of the records; tables of cells have none")


@dataclass(frozen=True)
class AreaPlaces:
    """Areas in a file of borders; `points` as of `GridPlaces`."""

    path: Path
    code: str
    layer: str | None
    crs: int | None
    points: Points | None

    def areas(self) -> Areas:
        """Read the borders."""
        return read_areas(self.path, self.code, crs=self.crs, layer=self.layer)


@dataclass(frozen=True)
class CellTree:
    """The tree of cells in which there are records."""

    tree: Hierarchy
    merge: bool

    def read(self) -> Hierarchy:
        """The tree."""
        return self.tree


Places = Mapping[str, GridPlaces | AreaPlaces]


def read_places(section: Section) -> dict[str, GridPlaces | AreaPlaces]:
    """The places by the columns that hold their codes, or get them."""
    found: dict[str, GridPlaces | AreaPlaces] = {}
    for name in section.values:
        one = section.section(name)
        if ("grid" in one) == ("file" in one):
            raise one.error("give either 'grid', the width of cells, or 'file', one with borders")
        points = _points(one)
        if "grid" in one:
            one.check(
                required=("grid",), optional=("system", "spelling", "coarser", "merge", *_POINTS)
            )
            try:
                grid = Grid(
                    one.whole("grid", 1, 1),
                    one.whole("system", EUROPE, 1),
                    one.choice("spelling", "long", ("long", "short")),  # pyright: ignore
                )
                coarser = one.wholes("coarser", 1)
                for size in coarser:
                    grid.coarser(size)
            except InputError as error:
                raise one.error(str(error), "coarser") from error
            found[name] = GridPlaces(grid, coarser, one.flag("merge", False), points)
            continue
        one.check(required=("file", "code"), optional=("layer", "system", *_POINTS))
        system = one.whole("system", 0, 1) if "system" in one else None
        found[name] = AreaPlaces(
            one.existing_file("file"), one.text("code", ""), one.text("layer", None), system, points
        )
    return found


def check_places(section: Section, places: Places, tables: Sequence[TableJob]) -> None:
    """Refuse places that no table is broken down by."""
    known = {name for table in tables for name in table.by}
    for name in places:
        if name not in known:
            raise section.error(
                f"no table is broken down by '{name}'; name it in 'by' of a table, e.g. "
                f'by = {{ {name} = "{name}" }} for a grid, or "flat" for areas',
                name,
            )


def opened(job: Job) -> tuple[Job, Source | None]:
    """The records with the codes of their places, and the job with the trees of its cells."""
    if job.records is None or not job.places:
        return job, None if job.records is None else job.records.open()
    if not isinstance(job.records, Records):
        raise InputError(
            f"{job.path.name}: [places] are for records in a file; give others a column of codes "
            "with dk.spatial.locate"
        )
    records = job.records.open()
    table = in_memory(spelled(replace(records, spelling=None, numbers={}), ()))
    trees = dict[str, CellTree]()
    for name, places in job.places.items():
        with _told_for(job, name):
            if places.points is not None:
                if name in table.column_names:
                    raise InputError(
                        f"the records have a column {name!r} already; leave 'x' and 'y' out, or "
                        "call the place otherwise"
                    )
                table = table.append_column(name, _located(job.records, places, places.points))
            if isinstance(places, GridPlaces):
                codes = pc.unique(column(table, name).drop_null()).to_pylist()
                trees[name] = CellTree(places.grid.tree(codes, places.coarser), places.merge)
    tables = tuple(
        replace(one, by={name: trees.get(name, tree) for name, tree in one.by.items()})
        for one in job.tables
    )
    known = replace(
        source(table), spelling=records.spelling, numbers=records.numbers, book=records.book
    )
    return replace(job, tables=tables), known


def merged(table: Table, wanted: TableJob) -> Table:
    """A table with coarser cells where a grid of the job asks for them."""
    for name, tree in wanted.by.items():
        if isinstance(tree, CellTree) and tree.merge:
            (rule,) = for_tables([wanted.rule], [table])
            table = quadtree(table, rule, name)
    return table


def borders(places: Places) -> dict[str, Areas]:
    """What maps need to know beside ids of cells."""
    return {name: one.areas() for name, one in places.items() if isinstance(one, AreaPlaces)}


@contextmanager
def _told_for(job: Job, name: str) -> Generator[None]:
    """Say of which place of the job an input error is."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{job.path.name}, [places.{name}]: {error}") from error


def _points(section: Section) -> Points | None:
    x, y = section.text("x", None), section.text("y", None)
    if x is None and y is None:
        if "crs" in section:
            raise section.error("'crs' is for points: 'x' and 'y' are missing", "crs")
        return None
    if x is None or y is None:
        raise section.error("give both 'x' and 'y', columns of coordinates, or neither")
    return Points(x, y, section.whole("crs", 0, 1) if "crs" in section else None)


def _located(records: Records, places: GridPlaces | AreaPlaces, points: Points) -> pa.ChunkedArray:
    where = places.grid if isinstance(places, GridPlaces) else places.areas()
    table = to_arrow(records.file, numbers=(points.x, points.y))[0]
    read = pa.table({name: column(table, name) for name in (points.x, points.y)})
    found = locate(read, where, x=points.x, y=points.y, crs=points.crs, name="place")
    return found["place"]
