"""The queries in the words of Spark, whatever its session has set.

Sums of 64-bit integers would wrap or fail on the way to a total that fits, and sums of decimals are
slow: the upper and the lower 32 bits are added up apart, and put together once. Products of
decimals stay within 38 digits, beyond which Spark rounds them. What Spark's cast from text would
let pass (digits of other scripts) or leave (blanks that DuckDB trims) is settled before it. Nothing
here depends on ``spark.sql.ansi.enabled``.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines import sql

# As for PostgreSQL; in brackets, because a session may read a backslash in two ways.
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"
#: What DuckDB trims: all space separators of Unicode. Spark's TRIM knows the first one only.
BLANKS = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"


def text(query: Select, views: Mapping[str, str]) -> str:
    """Write a query.

    >>> text(sql.code_counts("c0", 9), {"source": "diskret_1"})
    'SELECT c0 AS raw, COUNT(*) AS records FROM diskret_1 AS source GROUP BY c0 LIMIT 9'
    """
    whole = query.copy()
    for floor in list(whole.find_all(exp.Floor)):
        sum_ = floor.this
        if isinstance(sum_, exp.Add) and isinstance(sum_.this, exp.Mul) and sum_.find(exp.TryCast):
            product = sum_.this
            floor.replace(_rounded_product(product.this.sql("spark"), product.expression.name))
    for case in list(whole.find_all(exp.Case)):
        if isinstance(within := case.args["ifs"][0].this, exp.Between):
            if isinstance(within.this, exp.Sum):
                case.replace(_parsed(_total_of_64_bits(within.this.this.sql("spark"))))
    for cast in list(whole.find_all(exp.Cast)):
        if isinstance(cast.this, exp.Sum) and cast.to.is_type("bigint"):  # numbers of records
            cast.replace(_parsed(f"TRY_SUM(CAST({cast.this.this.sql('spark')} AS BIGINT))"))
    for node in reversed(list(whole.bfs())):  # from the inside outwards
        if (adapted := _adapted(node, views)) is not node:
            node.replace(adapted)
    return sql.text(whole, "spark")


def _adapted(node: exp.Expr, views: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Table) and node.name in views:
        return exp.alias_(exp.to_table(views[node.name]), node.name, table=True)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "MAX":
        x, k = (part.sql("spark") for part in node.expressions)
        return _parsed(f"SLICE(SORT_ARRAY(COLLECT_LIST({x}), FALSE), 1, {k})")
    if isinstance(node, exp.Anonymous) and node.name.upper() == "ARG_MAX":
        w, order, k = node.expressions
        pairs = ", ".join(part.sql("spark") for part in order.expressions)
        sorted_ = f"SORT_ARRAY(COLLECT_LIST(STRUCT({pairs})), FALSE)"
        return _parsed(f"TRANSFORM(SLICE({sorted_}, 1, {k.name}), pair -> pair.{w.name})")
    if isinstance(node, exp.Sum):
        upper, lower = _halves(node.this.sql("spark"))
        wide = "CAST({0} AS DECIMAL(19, 0))".format
        return _parsed(f"({wide(upper)} * 4294967296 + {wide(lower)})")
    if isinstance(node, exp.Trim):
        return exp.Trim(this=node.this.copy(), expression=exp.Literal.string(BLANKS))
    if isinstance(node, exp.TryCast) and isinstance(node.this, exp.Trim):
        x = node.this.sql("spark")
        return _parsed(f"CASE WHEN {x} RLIKE '{_NUMBER}' THEN {node.sql('spark')} END")
    if isinstance(node, exp.Mul) and node.this.find(exp.TryCast):
        return _exact_product(node.this.sql("spark"), node.expression.name)
    return node


def _halves(x: str) -> tuple[str, str]:
    """The sums of the upper and of the lower 32 bits; null, never wrapped, from 2³¹ rows on."""
    x = f"CAST({x} AS BIGINT)"
    return f"TRY_SUM(SHIFTRIGHT({x}, 32))", f"TRY_SUM({x} & 4294967295)"


def _total_of_64_bits(x: str) -> str:
    """A sum of 64-bit integers; null if it leaves the range, which the smallest of them does too.

    It is put together without decimals, because it is asked for each contributor.
    """
    upper, lower = _halves(x)
    upper, lower = f"({upper} + SHIFTRIGHT({lower}, 32))", f"({lower} & 4294967295)"
    return (
        f"CASE WHEN {upper} BETWEEN -2147483648 AND 2147483647 "
        f"AND NOT ({upper} = -2147483648 AND {lower} = 0) "
        f"THEN SHIFTLEFT({upper}, 32) | {lower} END"
    )


def _exact_product(number: str, unit: str) -> exp.Expr:
    """A decimal times a power of ten; null where that is no whole number of 19 digits."""
    decimals = len(unit) - 1
    rounded = f"CAST({number} AS DECIMAL(38, {decimals}))"
    return _parsed(
        # decimals of different scales would be rounded to be compared
        f"CASE WHEN {number} = TRY_CAST({rounded} AS DECIMAL(38, 18)) "
        f"THEN TRY_CAST({number} AS DECIMAL(19, {decimals})) * {unit} END"
    )


def _rounded_product(number: str, unit: str) -> exp.Expr:
    """A decimal times a power of ten, half a unit upwards: whole part and fraction apart.

    No product or sum of them needs more than 38 digits. The unit stands first, so that these are
    not taken for products that have to be whole.
    """
    above = f"FLOOR({unit} * PMOD({number}, 1) + 0.5)"
    whole = f"TRY_CAST({unit} * TRY_CAST(FLOOR({number}) AS DECIMAL(19, 0)) AS DECIMAL(19, 0))"
    return _parsed(f"{whole} + {above}")


def _parsed(written: str) -> exp.Expr:
    return exp.maybe_parse(written, dialect="spark")
