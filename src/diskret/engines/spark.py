"""Records in Spark are aggregated where they are; what comes back has the size of a table."""

from __future__ import annotations

import re
import uuid
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines import one_pass, spark_sql, sql
from diskret.engines.cells import most_codes, with_cells
from diskret.engines.columns import Check, Column, Kind
from diskret.engines.contract import PlacedValues
from diskret.engines.engine import Engine
from diskret.engines.records import Contributors, Survey
from diskret.engines.stepwise import surveyed
from diskret.errors import InputError
from diskret.io import Source
from diskret.io.files import parquet_schemas
from diskret.io.spark_frames import arrow_to_frame, first_line


class SparkEngine(Engine):
    """Records in a Spark data frame, or in files that Spark reads.

    A frame is read in its own session, which is never stopped. Files are read in the active
    session; where there is none, one is started, and stopped with the engine. Nothing is
    written but what Spark itself spills: the engine makes temporary views with names of its
    own, which are dropped. Only aggregates and contributors in several leaf combinations
    come to this process.

    A frame is computed two or three times for one question, once for each query: which codes there
    are, what is in each leaf, and who contributes, if that is listed. If that is expensive, or
    does not give the same rows each time, call ``frame.cache()`` before. Keep adaptive execution
    (``spark.sql.adaptive.enabled``, on unless the session says otherwise): it makes the parts of
    the records fit.

    Parameters
    ----------
    source
        The records.

    Raises
    ------
    InputError
        Spark is not installed or cannot be started, the records lie in a database, or a
        file cannot be read.

    Examples
    --------
    >>> from diskret.io import PostgresTable, source
    >>> SparkEngine(source(PostgresTable("postgresql://localhost/register", "firms")))
    Traceback (most recent call last):
    ...
    diskret.errors.InputError: Spark does not read ...
    """

    name = "spark"

    def __init__(self, source: Source) -> None:
        if source.database is not None:
            raise InputError(
                f"Spark does not read {source.database!r}; leave engine= out, or hand over the "
                "frame of spark.read.jdbc(...)"
            )
        frame = source.spark
        running, ours = session() if frame is None else (frame.sparkSession, False)
        self._views = _Views(running)
        self._close = weakref.finalize(self, _close, self._views, ours)
        self._close.atexit = False  # Spark ends with the process, and its views with it
        try:
            with _explained():
                self._columns = with_cells(_open(self._views, source), source.cells)
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """See `Engine`."""
        session = self._views.session
        if _far(session):
            session.interruptTag(self._views.prefix)
        else:
            # a session interrupts what this thread began, and stops are told by another one
            session.sparkContext.cancelJobsWithTag(self._views.prefix)

    @contextmanager
    def _asked(self) -> Generator[_Records]:
        session = self._views.session
        tagged = session if _far(session) else session.sparkContext
        add, remove = (
            (tagged.addTag, tagged.removeTag)
            if _far(session)
            else (tagged.addJobTag, tagged.removeJobTag)
        )
        with _explained():
            add(self._views.prefix)  # of all jobs that this thread begins
            try:
                yield _Records(self._views, self._columns)
            finally:
                with suppress(*_spark_errors()):
                    remove(self._views.prefix)
                self._views.drop(*(self._views.frames.keys() - {"source"}))


def _far(session: Any) -> bool:
    """Whether Spark Connect is between the session and Spark."""
    return ".connect." in type(session).__module__


@dataclass(frozen=True, eq=False)
class _Views:
    """Temporary views of a session, under names that nobody else has."""

    session: Any
    prefix: str = field(default_factory=lambda: f"diskret_{uuid.uuid4().hex}")
    frames: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def names(self) -> dict[str, str]:
        """Relation → its view."""
        return {relation: f"{self.prefix}_{relation}" for relation in self.frames}

    def make(self, relation: str, frame: Any) -> None:
        """Make a view, replacing an earlier one."""
        self.drop(relation)
        self.frames[relation] = frame
        frame.createOrReplaceTempView(self.names[relation])

    def drop(self, *relations: str) -> None:
        """Drop the views of some relations, as far as there are any."""
        for relation in relations:
            if relation in self.frames:
                name = self.names[relation]
                self.frames.pop(relation)
                with suppress(*_spark_errors()):  # a lost session has no views any more
                    self.session.catalog.dropTempView(name)


@dataclass(frozen=True, eq=False)
class _Records:
    """Records as `answer` wants them.

    `attached`: what queries may name, made known to Spark once one does. `combinations`: what the
    columns of codes hold together, as far as a survey found it.
    """

    views: _Views
    columns: tuple[Column, ...]
    attached: dict[str, pa.Table] = field(default_factory=dict[str, pa.Table])
    combinations: dict[tuple[str, ...], pa.Table] = field(
        default_factory=dict[tuple[str, ...], pa.Table]
    )

    def fetch(self, query: Select) -> pa.Table:
        return self._frame(query).toArrow()

    def placed_values(self, query: Select, rows: int) -> Iterator[PlacedValues]:
        """Cells of a block come packed in a row, for rows of a frame come one by one."""
        from pyspark.sql import functions as f

        cells = f.flatten(f.collect_list(f.array("at", "value")))
        blocks = self._frame(query).groupBy(f.expr(f"at div {rows}").alias("block"))
        for block in blocks.agg(cells.alias("cells")).orderBy("block").toLocalIterator():
            pairs = np.array(block["cells"], dtype=np.int64).reshape(-1, 2)
            yield pairs[:, 0], pairs[:, 1]

    def _frame(self, query: Select) -> Any:
        for name in {table.name for table in query.find_all(exp.Table)}:
            if name in self.attached and name not in self.views.frames:
                self._make(name)
        return self.views.session.sql(spark_sql.text(query, self.views.names))

    def stream(self, query: Select) -> pa.RecordBatchReader:
        return self.fetch(query).to_reader()

    def attach(self, name: str, table: pa.Table) -> None:
        self.views.drop(name)
        self.attached[name] = table

    def survey(self, codes: Sequence[str], checks: Sequence[Check], where: str | None) -> Survey:
        found = self.fetch(one_pass.combinations(codes, checks, where))
        if len(found) > one_pass.MOST_COMBINATIONS:
            return surveyed(self.fetch, codes, checks, where, most_codes(self.columns))
        self.combinations[tuple(codes)] = found
        return one_pass.survey(found, len(codes), len(checks))

    def placed(self, shape: sql.Shape) -> sql.Shape:
        """One mapping for all dimensions, where their combinations are known: one broadcast."""
        found = self.combinations.get((*shape.codes, *(code for code, _ in shape.marks)))
        if found is None or not shape.codes:
            return shape
        mappings = [self.attached[f"m{i}"] for i in range(len(shape.codes))]
        self.attach("m", one_pass.mapping(found, mappings))
        return replace(shape, together=True)

    def contributors(self, shape: sql.Shape, part: sql.SomeRecords) -> Contributors:
        return one_pass.read(self.fetch(one_pass.contributors(shape, part)), part)

    def _make(self, name: str) -> None:
        from pyspark.sql.functions import broadcast

        # Spark does not know that the table is small, and would sort all records for the join
        frame = arrow_to_frame(self.attached[name], self.views.session)
        self.views.make(name, broadcast(frame))


def _close(views: _Views, ours: bool) -> None:
    views.drop(*views.frames.copy())
    if ours:
        with suppress(*_spark_errors()):
            views.session.stop()


# ── what the records hold ───────────────────────────────────────────────────────────

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("string", "char", "varchar", "void"), "text"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    "decimal": "decimal",
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("boolean", "date", "time", "timestamp", "timestamp_ntz"), "other"),
}
# The zone of a session must not decide about codes.
_UTC = (
    "CONCAT(CAST(TIMESTAMPADD(MICROSECOND, UNIX_MICROS({c}), "
    "TIMESTAMP_NTZ '1970-01-01 00:00:00') AS STRING), '+00')"
)


def _open(views: _Views, source: Source) -> tuple[Column, ...]:
    """Make the relation ``source`` with the columns ``c0 …``."""
    from pyspark.sql.functions import expr

    frame = _frame(views.session, source)
    internal = [f"c{i}" for i in range(len(source.columns))]
    renamed = frame.toDF(*internal)  # by place: names may hold anything, and differ in case only
    types = [column.dataType.simpleString() for column in renamed.schema]
    read = [_read(c, name) for c, name in zip(internal, types, strict=True)]
    # Dropping a view also drops what is cached under an equal plan, which may be the user's;
    # with a column of its own no other plan is equal.
    marked = [f"'{views.prefix}' AS mark", *map("{} AS {}".format, read, internal)]
    views.make("source", renamed.select(*map(expr, marked)))
    found = zip(source.columns, internal, types, strict=True)
    return tuple(Column(name, c, _kind(kind), kind) for name, c, kind in found)


def _frame(session: Any, source: Source) -> Any:
    if source.spark is not None:
        return source.spark
    if source.arrow is not None:
        names = [f"c{i}" for i in range(source.arrow.num_columns)]
        return arrow_to_frame(source.arrow.rename_columns(names), session)
    paths = [_as_written(str(path.resolve())) for path in source.paths]
    if source.format == "csv":
        return _csv(session, paths, source)
    known = _schema(parquet_schemas(source.paths))
    reader = session.read if known is None else session.read.schema(known)
    return reader.parquet(*paths).select(*map(_quoted, source.columns))


def _schema(schemas: Sequence[pa.Schema]) -> Any:
    """The columns of Parquet files for Spark, which looks for them with a job of its own.

    None where it has to: types differ between files, or can be read in more than one way.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    first = schemas[0].remove_metadata()
    alike = all(schema.remove_metadata().equals(first) for schema in schemas)
    return from_arrow_schema(first) if alike and all(map(_plain, first.types)) else None


def _plain(kind: pa.DataType) -> bool:
    known = (pa.types.is_string, pa.types.is_signed_integer, pa.types.is_floating)
    return any(told(kind) for told in (*known, pa.types.is_date32, pa.types.is_boolean)) and (
        kind != pa.float16()
    )


def _as_written(path: str) -> str:
    """A local path in which Spark sees no pattern for several files."""
    return "file://" + re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def _csv(session: Any, paths: Sequence[str], source: Source) -> Any:
    """All columns as text, so that leading zeros stay; a line of another length is an error."""
    schema = ", ".join(f"c{i} STRING" for i in range(len(source.columns)))
    return session.read.csv(
        list(paths),
        schema=schema,
        sep=source.delimiter,
        header=True,
        quote='"',
        escape='"',
        multiLine=True,
        mode="FAILFAST",
        encoding="UTF-8",
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _read(column: str, spark_type: str) -> str:
    if spark_type == "timestamp":
        return _UTC.format(c=column)
    if " collate " in spark_type:  # text compares by code points, as elsewhere
        return f"COLLATE({column}, 'UTF8_BINARY')"
    return column


def _kind(spark_type: str) -> Kind:
    return _KINDS.get(spark_type.partition("(")[0].partition(" ")[0], "unusable")


# ── the session that queries run in ─────────────────────────────────────────────────────


def session() -> tuple[Any, bool]:
    """The active session, or a new one; and whether it is new, so that it is ours to stop.

    A new one is configured as Spark's own files and variables say (``SPARK_HOME``,
    ``SPARK_CONF_DIR``, ``spark-submit``).
    """
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(
            "engine Spark needs pyspark, which is not installed; install it with "
            "pip install 'diskret[spark]'"
        ) from error
    with suppress(PySparkRuntimeError):
        return SparkSession.active(), False
    try:
        return SparkSession.builder.appName("diskret").getOrCreate(), True
    except _spark_errors() as error:
        raise InputError(
            f"Spark cannot be started: {first_line(error)}; it needs Java 17 or later (JAVA_HOME) "
            "and a master that can be reached"
        ) from error


@contextmanager
def _explained() -> Generator[None]:
    """Tell what Spark cannot do with the records as an `InputError`."""
    try:
        yield
    except _spark_errors() as error:
        raise InputError(f"the records cannot be read by Spark: {first_line(error)}") from error


def _spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises, and the bridge to it that Spark Connect does without."""
    from pyspark.errors import PySparkException

    with suppress(ImportError):
        from py4j.protocol import Py4JError

        return PySparkException, Py4JError, ConnectionError
    return (PySparkException,)
