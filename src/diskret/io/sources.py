"""Records as an engine takes them, wherever they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from diskret.io.cells import ComputedCells
from diskret.io.code_book import CodeBook
from diskret.io.database import PostgresTable
from diskret.io.spelling import Spelling

FrameKind = Literal["pandas", "polars", "pyarrow", "duckdb", "spark"]


@dataclass(frozen=True, eq=False)
class Source:
    """Records as an engine takes them: in memory, in files on disk, in Spark, or in a database.

    `columns`: column names as the user wrote them; empty for a database, which is asked by the
        engine.
    `kind`: the kind of frame to give back.
    `arrow`: the records, or None if they stay in `paths`.
    `paths`, `format`: files to scan (``"parquet"``, or ``"csv"`` in which every column is read as
        text so that leading zeros stay).
    `delimiter`: separator of CSV files.
    `database`: the table of a database that the records stay in.
    `spark`: the Spark data frame that the records are, or None.
    `spelling`: how numbers are written in columns of text; None: as usual.
    `numbers`: columns with codes that mean missing, as they are if they are used as numbers.
    `book`: what a file of SAS, SPSS or Stata says of its columns.
    `cells`: a column of cells of a grid that engines compute; None: there is none.
    `opened`: what all this was made from, as far as messages say where in it a record stands.
    """

    columns: tuple[str, ...]
    kind: FrameKind
    arrow: pa.Table | None = None
    paths: tuple[Path, ...] = ()
    format: Literal["parquet", "csv"] | None = None
    delimiter: str = ","
    database: PostgresTable | None = None
    spark: Any = None
    spelling: Spelling | None = None
    numbers: Mapping[str, pa.ChunkedArray] = field(default_factory=dict[str, pa.ChunkedArray])
    book: CodeBook | None = None
    cells: ComputedCells | None = None
    opened: Any = None
