"""The statement that perturbs counts, written out for an administrator: nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines import columns, postgres_sql, spark_sql, sql
from diskret.engines.codes import mappings
from diskret.engines.columns import Column
from diskret.engines.perturbed import ancestors, as_in_the_tree
from diskret.engines.perturbed_sql import NoiseIntervals, perturbed_counts, preceded, usable
from diskret.engines.sql import Shape
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy

#: Dialects that compare text by code points unless told otherwise, so that "a" and "A" are two
#: codes. Tests run the first three.
DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "snowflake", "trino")


def perturbed_text(
    by: Mapping[str, Hierarchy],
    noise: NoiseIntervals,
    *,
    table: Sequence[str],
    record_key: str,
    unit: str | None,
    threshold: int,
    value: str,
    dialect: str,
) -> str:
    """One statement that names nothing but the table of the records.

    `record_key`, `unit`: columns: whole numbers below the modulus of `noise`; who is counted, or
    None. `threshold`: the least perturbed count that comes back, ≥ 1.
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect= is one of {', '.join(DIALECTS)}, not {dialect!r}")
    named = [*by, record_key, *([unit] if unit else [])]
    read = [Column(name, f"c{i}", "other", "") for i, name in enumerate(named)]
    key = Column(record_key, f"c{len(by)}", "integer", "")
    shape = Shape(
        codes=tuple(columns.code(column) for column in read[: len(by)]),
        measures=(),
        unit=usable(columns.identifier(read[-1], required=True)) if unit else None,
        key=usable(columns.record_key(key, noise.modulus)),
        modulus=noise.modulus,
    )
    relations = {"source": _source(table, read), **_small(by), "noise": _values(noise.table)}
    query = perturbed_counts(shape, noise, [*by, value], threshold)
    return _written(preceded(query, relations), dialect)


def _small(by: Mapping[str, Hierarchy]) -> dict[str, Select]:
    trees = list(by.values())
    relations: dict[str, Select] = {}
    spelled = [as_in_the_tree("text", tree) for tree in trees]
    for i, (mapping, tree) in enumerate(zip(mappings(spelled, trees), trees, strict=True)):
        leaf = mapping["leaf"].to_pylist()
        relations[f"m{i}"] = _values(mapping)
        relations[f"a{i}"] = _values(ancestors(tree, leaf, tree.codes))
    return relations


def _source(table: Sequence[str], read: Sequence[Column]) -> Select:
    parts = [exp.to_identifier(part, quoted=True) for part in table]
    named = exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))
    columns = [
        exp.alias_(exp.column(exp.to_identifier(column.name, quoted=True)), column.internal)
        for column in read
    ]
    return exp.select(*columns).from_(named)


def _values(table: pa.Table) -> Select:
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    listed = exp.values(rows, alias="listed", columns=table.column_names)
    return exp.select(*table.column_names).from_(listed)


def _written(query: Select, dialect: str) -> str:
    if dialect == "postgres":
        return postgres_sql.text(query, {})
    if dialect == "spark":
        return spark_sql.text(query, {})
    return sql.text(query, dialect)
