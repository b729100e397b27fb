"""The same answers in few queries, for an engine where each is a job on many machines.

What codes there are, and how many records fail which check, is told by one row for each
combination of what the columns of codes hold (`combinations`). One relation ``m`` then maps these
combinations to leaf numbers (`mapping`). Contributors in a single leaf and those in several come
from one statement (`contributors`) that moves each record once, to where its contributor is.
"""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines import sql
from diskret.engines.columns import Check
from diskret.engines.records import Contributors, Survey

#: More combinations than this are not worth fetching: columns are then asked one by one.
MOST_COMBINATIONS = 500_000

# ── which codes there are ─────────────────────────────────────────────────────────────


def combinations(codes: Sequence[str], checks: Sequence[Check], where: str | None) -> Select:
    """A row for each combination of codes (``g0 …``): its records, and how many fail which check.

    No part of the answer has more than one row too many. A limit for all of it would bring the
    parts together first, which is a job of its own.

    >>> print(sql.text(combinations(["c0"], [], None), "spark"))
    SELECT * FROM (SELECT c0 AS g0, COUNT(*) AS records FROM source GROUP BY c0) AS found \
WHERE MONOTONICALLY_INCREASING_ID() & 8589934591 <= 500000
    """
    query = exp.select(*[f"{code} AS g{i}" for i, code in enumerate(codes)], "COUNT(*) AS records")
    for i, check in enumerate(checks):
        query.select(f"COUNT(CASE WHEN {check.wrong} THEN 1 END) AS n{i}", copy=False)
    query = query.from_("source", copy=False).group_by(*codes, copy=False)
    query = query.where(where, copy=False) if where else query
    row = "MONOTONICALLY_INCREASING_ID() & 8589934591"  # the lower bits: row of the part, from 0
    return exp.select("*").from_(query.subquery("found")).where(f"{row} <= {MOST_COMBINATIONS}")


def survey(found: pa.Table, codes: int, checks: int) -> Survey:
    """Tell column by column what `combinations` found.

    >>> found = pa.table({"g0": ["N", "N"], "g1": ["a", "b"], "records": [3, 2], "n0": [0, 1]})
    >>> told = survey(found, codes=2, checks=1)
    >>> told.codes[0].to_pydict(), told.failed
    ({'raw': ['N'], 'records': [5]}, (1,))
    """
    counts: list[pa.Table] = []
    for i in range(codes):
        added = found.group_by(f"g{i}").aggregate([("records", "sum")])
        counts.append(
            pa.table({"raw": added[f"g{i}"], "records": added["records_sum"].cast(pa.int64())})
        )
    failed = [pc.sum(found[f"n{i}"]).as_py() or 0 for i in range(checks)]
    return Survey(tuple(counts), tuple(failed))


def mapping(found: pa.Table, mappings: Sequence[pa.Table]) -> pa.Table:
    """What each combination adds up to: ``raw0 …`` and its number ``leaf``.

    `found`: the answer to `combinations`. `mappings`: for each dimension what its values (``raw``)
    add to the number of the leaf (``leaf``).

    >>> found = pa.table({"g0": ["N", "S"], "g1": ["b", "a"]})
    >>> north = pa.table({"raw": ["N", "S"], "leaf": [0, 2]})
    >>> mapping(found, [north, pa.table({"raw": ["a", "b"], "leaf": [0, 1]})])["leaf"].to_pylist()
    [1, 2]
    """
    names = [f"g{i}" for i in range(len(mappings))]
    distinct = found.group_by(names).aggregate([])
    leaf = np.zeros(len(distinct), dtype=mappings[0]["leaf"].type.to_pandas_dtype())
    for name, table in zip(names, mappings, strict=True):
        at = pc.index_in(distinct[name], value_set=table["raw"].combine_chunks())
        leaf += table["leaf"].take(at).to_numpy()
    raw = {f"raw{i}": distinct[name] for i, name in enumerate(names)}
    return pa.table(raw | {"leaf": pa.array(leaf)})


# ── who contributes ─────────────────────────────────────────────────────────────────


def contributors(shape: sql.Shape, part: sql.SomeRecords) -> Select:
    """A row for each leaf, and one for each straddler (``c``) and each of its leaves, in any order.

    Where the records of a contributor come together, they are told to: otherwise they would be
    moved twice, first by contributor and leaf, then by contributor.
    """
    if part.contributor is None:
        return sql.stayers(shape, part)
    several = "low < high"
    columns = [f"CASE WHEN {several} THEN c END AS c", "leaf", *sql.of_leaf(shape, part)]
    if part.keyed:
        columns += [
            "MIN(k) AS k",
            "COUNT(CASE WHEN low_k <> high_k AND leaf = low THEN 1 END) AS conflicts",
        ]
    if sql.paired(shape, part):
        columns.append("MIN(w) AS w")
    if part.weighted_alike:
        columns.append("COUNT(CASE WHEN low_w <> high_w AND leaf = low THEN 1 END) AS unequal")
    query = exp.select(*columns).from_("contributors").group_by("1", "leaf")
    query = sql.with_largest(query, shape, part)
    records = exp.select("*").from_("records")
    records = records.where(part.where) if part.where else records
    together = exp.Anonymous(this="REPARTITION", expressions=[exp.column(part.contributor)])
    records.set("hint", exp.Hint(expressions=[together]))
    told = sql.of_contributor(shape, part)
    told += ["MAX(w) AS other_w"] if part.weighted_alike else []
    parts = (
        exp.select(f"{part.contributor} AS c", "leaf", *told)
        .from_(records.subquery("together"))
        .group_by(part.contributor, "leaf")
    )
    ends = {"low": "MIN(leaf)", "high": "MAX(leaf)"}
    if part.keyed:
        ends |= {"low_k": "MIN(k)", "high_k": "MAX(other_k)"}
    if part.weighted_alike:
        ends |= {"low_w": "MIN(w)", "high_w": "MAX(other_w)"}
    over = [f"{end} OVER (PARTITION BY c) AS {name}" for name, end in ends.items()]
    everywhere = exp.select("*", *over).from_("parts")
    return sql.over_records(shape, query, parts=parts, contributors=everywhere)


def read(found: pa.Table, part: sql.SomeRecords) -> Contributors:
    """Put the answer to `contributors` in order.

    >>> found = pa.table({"c": ["x", None, "x"], "leaf": [2, 0, 0], "records": [1, 5, 1]})
    >>> told = read(found, sql.SomeRecords("u"))
    >>> told.straddlers.select(["contributor", "leaf"]).to_pydict()
    {'contributor': [0, 0], 'leaf': [0, 2]}
    """
    if part.contributor is None:
        return Contributors(found.sort_by("leaf"), None)
    alone = pc.is_null(found["c"])
    stayers = found.filter(alone).drop_columns("c").sort_by("leaf")
    straddlers = found.filter(pc.invert(alone))
    encoded = straddlers["c"].combine_chunks().dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    contributor = rank[encoded.indices.to_numpy()]
    sorted_ = np.lexsort((straddlers["leaf"].to_numpy(), contributor))
    straddlers = straddlers.drop_columns("c").append_column("contributor", pa.array(contributor))
    return Contributors(
        stayers,
        straddlers.take(pa.array(sorted_)),
        conflicts=_total(found, "conflicts"),
        unequal=_total(found, "unequal"),
    )


def _total(found: pa.Table, name: str) -> int:
    return pc.sum(found[name]).as_py() or 0 if name in found.column_names else 0
