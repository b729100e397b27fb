"""The queries in the words of PostgreSQL, which is asked without anything being made in it.

What other engines keep in temporary tables stands before each query as a common table
expression: small tables as array literals, kept answers as the queries they answer.
PostgreSQL drops the columns of a kept answer that a query does not ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines import sql
from diskret.engines.columns import Column

# No comma, no underscore, no "NaN"; an exponent of four digits belongs to no usable number, and
# PostgreSQL would write out all its digits.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_TOO_LARGE = "100000000000000000000"  # DECIMAL(38, 18) has 20 digits before the point


def text(query: Select, relations: Mapping[str, Select]) -> str:
    """Write a query, with the relations it may name before it.

    Parameters
    ----------
    query
        One of `diskret.engines.sql`.
    relations
        Name → what it stands for; each may name those before it.

    Examples
    --------
    >>> from diskret.engines.sql import code_counts
    >>> text(code_counts("c0", 9), {"source": exp.select("1 AS c0")})
    'WITH source AS (SELECT 1 AS c0) SELECT c0 AS raw, COUNT(*) AS records FROM source GROUP BY \
c0 LIMIT 9'
    """
    before = [
        exp.CTE(this=relation.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))
        for name, relation in relations.items()
    ]
    whole = query.copy()
    whole.set("with_", exp.With(expressions=[*before, *whole.ctes]))
    return sql.text(cast(Select, whole.transform(_adapted)), "postgres")


def source(path: Sequence[str], columns: Sequence[Column]) -> Select:
    """The table as the relation ``source``; text compares by code points, as elsewhere."""
    *schema, table = path
    named = exp.table_(table, db=schema[0] if schema else None, quoted=True)
    return exp.select(*[_column(column) for column in columns]).from_(named)


def small_table(table: pa.Table) -> Select:
    """A small table of text or whole numbers."""
    listed = [_array(column) for column in table.columns]
    names = [exp.to_identifier(name) for name in table.column_names]
    alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=names)
    return exp.select(*table.column_names).from_(exp.Unnest(expressions=listed, alias=alias))


def _column(column: Column) -> exp.Expr:
    named = exp.column(exp.to_identifier(column.name, quoted=True))
    read = _by_code_points(exp.cast(named, "TEXT")) if column.kind == "text" else named
    return exp.alias_(read, column.internal)


def _array(values: pa.ChunkedArray) -> exp.Expr:
    if pa.types.is_integer(values.type):
        listed, kind = map(str, values.to_pylist()), f"INT{values.type.bit_width // 8}"
    else:
        listed, kind = map(_quoted, values.to_pylist()), "TEXT"
    text = exp.Literal.string("{" + ",".join(listed) + "}")
    return exp.cast(text, f"{kind}[]", dialect="postgres")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _adapted(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Anonymous) and node.name.upper() == "MAX":
        value, k = node.expressions
        return _largest(value, value, k)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "ARG_MAX":
        return _largest(*node.expressions)
    if isinstance(node, exp.TryCast):
        return _try_decimal(node)
    if isinstance(node, exp.Cast) and node.to.this == exp.DType.VARCHAR:
        return _by_code_points(node)
    return node


def _largest(value: exp.Expr, order: exp.Expr, k: exp.Expr) -> exp.Expr:
    x, by = value.sql("postgres"), order.sql("postgres")
    sliced = f"(ARRAY_AGG({x} ORDER BY {by} DESC) FILTER (WHERE NOT {x} IS NULL))[1:{k.name}]"
    return exp.maybe_parse(sliced, dialect="postgres")


def _try_decimal(tried: exp.TryCast) -> exp.Expr:
    """A decimal, or null where there is none: PostgreSQL's own cast would raise an error."""
    x, kind = tried.this.sql("postgres"), tried.to.sql("postgres")
    exact = f"CASE WHEN ABS(CAST({x} AS DECIMAL)) < {_TOO_LARGE} THEN CAST({x} AS {kind}) END"
    if isinstance(tried.this, exp.Trim):  # text; anything else is a number already
        exact = f"CASE WHEN {x} ~ '{_NUMBER}' THEN {exact} END"
    return exp.maybe_parse(exact, dialect="postgres")


def _by_code_points(value: exp.Expr) -> exp.Expr:
    return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))
