"""The queries behind the questions: portable SQLGlot trees over internal names.

Records are the relation ``source`` with columns ``c0 …``; internal names are ``leaf`` (number
of the combination of leaves), ``u`` (unit), ``h`` (holding), ``k`` (record key), ``w`` (weight),
``v0 …`` (measures), ``t0 …`` (measures times weight, null beyond 64 bits) and ``x0 …`` (marks: 1
or 0). Sums of 64-bit integers are wider than 64 bits in the engines, so that leaving the range is
seen, not wrapped.

The same question gives the same tree, built once, which nobody may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import ErrorLevel, exp
from sqlglot.expressions import Select

from diskret.engines.columns import INT64, Check

_once = lru_cache(maxsize=128)


@dataclass(frozen=True)
class Shape:
    """How the records are read.

    `codes`: expression of each dimension; the relation ``m0 …`` maps its values (``raw``) to what
        they add to the leaf number (``leaf``).
    `measures`: expression of each measure.
    `unit`, `holding`, `key`: expressions, or None.
    `modulus`: of the record keys.
    `where`: condition on the records that count, or None for all.
    `marks`: expression that tells each mark, and whether the records with a value in the relation
        ``g0 …`` (column ``raw``) bear it, or all others.
    `weight`: expression of the weights, or None.
    `together`: whether one relation ``m`` maps the values of all dimensions (``raw0 …``) to the
        leaf number (``leaf``), in place of ``m0 …``.
    """

    codes: tuple[str, ...]
    measures: tuple[str, ...]
    unit: str | None = None
    holding: str | None = None
    key: str | None = None
    modulus: int = 1
    where: str | None = None
    marks: tuple[tuple[str, bool], ...] = ()
    weight: str | None = None
    together: bool = False


@dataclass(frozen=True)
class SomeRecords:
    """Some of the records, with what tells their contributors apart.

    `contributor`: ``"u"``, ``"h"``, or None: each record is a contributor of its own.
    `where`: condition on the records that belong here, or None for all.
    `keyed`: whether record keys are wanted.
    `largest`: how many of the largest |contributions| are wanted.
    `weighted_alike`: whether to ask if each of them has one weight in all its records.
    """

    contributor: str | None
    where: str | None = None
    keyed: bool = False
    largest: int = 0
    weighted_alike: bool = False


def text(query: Select, dialect: str) -> str:
    """Write a query in the engine's dialect; what that cannot say is an error."""
    return query.sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE)


@_once
def record_count(where: str) -> Select:
    """How many records satisfy a condition."""
    return exp.select("COUNT(*) AS records").from_("source").where(where)


@_once
def code_counts(code: str, limit: int, where: str | None = None) -> Select:
    """Distinct values of a dimension with their numbers of records, at most `limit`."""
    counts = exp.select(f"{code} AS raw", "COUNT(*) AS records").from_("source")
    return _only(counts, where).group_by(code).limit(limit)


def key_counts(keys: Sequence[str], weight: str | None, where: str | None = None) -> Select:
    """A row for each combination of keys (``g0 …``) with its records and their weight.

    A sum of weights that leaves 64 bits is null.
    """
    groups = [f"g{i}" for i in range(len(keys))]
    read = [f"{key} AS {group}" for key, group in zip(keys, groups, strict=True)]
    records = exp.select(*read, *([f"{weight} AS w"] if weight else [])).from_("source")
    return (
        exp.select(*groups, "COUNT(*) AS records")
        .select(*([f"{_int64('SUM(w)')} AS weight"] if weight else []))
        .from_(_only(records, where).subquery("records"))
        .group_by(*groups)
    )


def key_values(columns: Sequence[str], keys: Sequence[str], where: str | None = None) -> Select:
    """The records, and after their columns what they have in each key (``g0 …``)."""
    read = [f"{key} AS g{i}" for i, key in enumerate(keys)]
    return _only(exp.select(*columns, *read).from_("source"), where)


@_once
def check_counts(checks: tuple[Check, ...], where: str | None = None) -> Select:
    """For each check the number of records that fail it: ``n0 …``."""
    counts = [f"COUNT(CASE WHEN {c.wrong} THEN 1 END) AS n{i}" for i, c in enumerate(checks)]
    return _only(exp.select(*counts).from_("source"), where)


def check_examples(check: Check, where: str | None = None) -> Select:
    """Values that fail a check; by all of them the first record is found."""
    value = f"CAST({check.column.internal} AS VARCHAR)"
    wrong = exp.select(f"{value} AS example").distinct().from_("source").where(check.wrong)
    return _only(wrong, where).order_by("example").limit(10_000)


@_once
def stayers(shape: Shape, part: SomeRecords) -> Select:
    """Aggregate by contributor, then by leaf those that lie in a single one.

    One pass over the contributors: those that straddle leaves go to the row whose leaf is
    null, which lists them in ``straddlers``.
    """
    outer = ["CASE WHEN low = high THEN low END AS leaf", *of_leaf(shape, part)]
    if part.keyed:
        outer.append("COUNT(CASE WHEN k <> other_k THEN 1 END) AS conflicts")
    if part.contributor:
        outer.append("ARRAY_AGG(c) FILTER (WHERE low < high) AS straddlers")
    query = exp.select(*outer).from_("contributors", copy=False).group_by("1", copy=False)
    query = with_largest(query, shape, part)
    return over_records(shape, query, contributors=_contributors(shape, part))


def of_leaf(shape: Shape, part: SomeRecords) -> list[str]:
    """What is told of the contributors in a leaf, but for their largest contributions."""
    told = ["COUNT(*) AS contributors", "CAST(SUM(records) AS BIGINT) AS records"]
    for i in range(len(shape.measures)):
        # one contributor out of range puts the whole leaf out of range
        told += [
            f"CASE WHEN COUNT(s{i}) = COUNT(*) THEN {_int64(f'SUM(s{i})')} END AS sum{i}",
            f"{_int64(f'SUM(ABS(s{i}))')} AS magnitude{i}",
        ]
    if part.keyed:
        told.append(f"CAST(MOD(SUM(k), {shape.modulus}) AS BIGINT) AS key_sum")
    for j in range(len(shape.marks)):
        told.append(f"CAST(SUM(x{j}) AS BIGINT) AS marked{j}")
        for i in range(len(shape.measures)):
            told.append(f"MAX(CASE WHEN x{j} > 0 THEN ABS(s{i}) END) AS top{j}_{i}")
    return told


def with_largest(query: Select, shape: Shape, part: SomeRecords) -> Select:
    """Add the largest contributions in a leaf to what is told of it; the query is changed."""
    for i in range(len(shape.measures) if part.largest else 0):
        own = "a" if paired(shape, part) else "s"
        query.select(_largest(f"ABS({own}{i})", part.largest, f"largest{i}"), copy=False)
        if paired(shape, part):
            weight = _whose_weight(f"ABS(a{i})", part.largest, f"weight{i}")
            query.select(weight, copy=False)
    return query


@_once
def stayer_rows(shape: Shape, part: SomeRecords, relation: str) -> Select:
    """The rows of a kept `stayers` answer, sorted, without the list of straddlers."""
    names = ["leaf", "contributors", "records", *(["key_sum"] if part.keyed else [])]
    for i in range(len(shape.measures)):
        names += [f"sum{i}", f"magnitude{i}", *([f"largest{i}"] if part.largest else [])]
        names += [f"weight{i}"] if part.largest and paired(shape, part) else []
    for j in range(len(shape.marks)):
        names += [f"marked{j}", *[f"top{j}_{i}" for i in range(len(shape.measures))]]
    return exp.select(*names).from_(relation).where("NOT leaf IS NULL").order_by("leaf")


@_once
def straddlers(shape: Shape, part: SomeRecords, relation: str) -> Select:
    """A row for each straddler of a kept `stayers` answer and each of its leaves.

    Contributors are numbered in the order of their identifiers: numbers by size, text by
    code points.
    """
    listed = exp.select("UNNEST(straddlers) AS c").from_(relation).where("leaf IS NULL")
    number = "ROW_NUMBER() OVER (ORDER BY c) - 1 AS contributor"
    numbered = exp.select("c", number).from_(listed.subquery("listed"))
    columns = ["contributor", "leaf", "COUNT(*) AS records"]
    columns += [f"{_sum(shape, i)} AS sum{i}" for i in range(len(shape.measures))]
    columns += ["MIN(k) AS k"] if part.keyed else []
    columns += ["MIN(w) AS w"] if paired(shape, part) else []
    columns += [f"CAST(SUM(x{j}) AS BIGINT) AS marked{j}" for j in range(len(shape.marks))]
    query = (
        exp.select(*columns)
        .from_("records", copy=False)
        .join("numbered", on=f"{part.contributor} = c", copy=False)
        .group_by("contributor", "leaf", copy=False)
        .order_by("contributor", "leaf", copy=False)
    )
    query = _only(query, part.where)
    return over_records(shape, query, numbered=numbered)


@_once
def listed(shape: Shape) -> Select:
    """A row for each leaf, unit and holding: who contributes what.

    Where units are not known, holdings only; see `listed_records` for records without one.
    """
    named = [name for name, of in (("u", shape.unit), ("h", shape.holding)) if of]
    columns = ["leaf", *[f"CAST({name} AS VARCHAR) AS {name}" for name in named]]
    columns += ["COUNT(*) AS records"]
    columns += [f"{_sum(shape, i)} AS sum{i}" for i in range(len(shape.measures))]
    columns += [f"CAST(SUM(x{j}) AS BIGINT) AS marked{j}" for j in range(len(shape.marks))]
    query = (
        exp.select(*columns)
        .from_("records", copy=False)
        .group_by("leaf", *[f"records.{name}" for name in named], copy=False)
    )
    return over_records(shape, _only(query, None if shape.unit else "NOT h IS NULL"))


@_once
def listed_records(shape: Shape) -> Select:
    """A row for each record without a holding, where units are not known."""
    query = (
        exp.select("leaf", "1 AS records")
        .select(*[f"v{i} AS sum{i}" for i in range(len(shape.measures))])
        .select(*[f"x{j} AS marked{j}" for j in range(len(shape.marks))])
        .from_("records")
        .where("h IS NULL")
    )
    return over_records(shape, query)


@_once
def key_conflicts(relation: str) -> Select:
    """How many units of a kept `stayers` answer have more than one record key."""
    return exp.select("CAST(SUM(conflicts) AS BIGINT) AS units").from_(relation)


@_once
def key_conflict_examples(shape: Shape) -> Select:
    """A few units with more than one record key."""
    query = (
        exp.select("CAST(u AS VARCHAR) AS example")
        .from_("records")
        .group_by("u")
        .having("MIN(k) < MAX(k)")
        .order_by("example")
        .limit(6)
    )
    return over_records(shape, query)


@_once
def unequal_weights(shape: Shape) -> Select:
    """How many units have more than one weight."""
    units = _of_unequal_weight("u").subquery("unequal")
    return over_records(shape, exp.select("COUNT(*) AS units").from_(units))


@_once
def unequal_weight_examples(shape: Shape) -> Select:
    """A few units with more than one weight."""
    query = _of_unequal_weight("CAST(u AS VARCHAR) AS example").order_by("example").limit(6)
    return over_records(shape, query)


def _of_unequal_weight(selected: str) -> Select:
    return exp.select(selected).from_("records").group_by("u").having("MIN(w) < MAX(w)")


def over_records(shape: Shape, query: Select, **ctes: Select) -> Select:
    """Put the relation ``records`` and further ones before a query, which is changed."""
    leaf = " + ".join(f"m{i}.leaf" for i in range(len(shape.codes))) or "CAST(0 AS INT)"
    leaf = "m.leaf" if shape.together else leaf
    columns = [f"{leaf} AS leaf"]
    named = {"u": shape.unit, "h": shape.holding, "k": shape.key, "w": shape.weight}
    columns += [f"{expression} AS {name}" for name, expression in named.items() if expression]
    columns += [f"{expression} AS v{i}" for i, expression in enumerate(shape.measures)]
    for j, (_, listed) in enumerate(shape.marks):
        there, else_ = (1, 0) if listed else (0, 1)
        columns.append(f"CASE WHEN g{j}.raw IS NULL THEN {else_} ELSE {there} END AS x{j}")
    records = exp.select(*columns).from_("source", copy=False)
    if shape.together:
        equal = [f"{code} = m.raw{i}" for i, code in enumerate(shape.codes)]
        records.join("m", on=" AND ".join(equal), copy=False)
    for i, code in enumerate(() if shape.together else shape.codes):
        records.join(f"m{i}", on=f"{code} = m{i}.raw", copy=False)
    for j, (code, _) in enumerate(shape.marks):
        records.join(f"g{j}", on=f"{code} = g{j}.raw", join_type="left", copy=False)
    records = _only(records, shape.where)
    if shape.weight:
        wide = "CAST(v{0} AS DECIMAL(19, 0)) * CAST(w AS DECIMAL(19, 0))"
        weighted = [f"{_int64(wide.format(i))} AS t{i}" for i in range(len(shape.measures))]
        records = exp.select("*", *weighted).from_(records.subquery("unweighted"), copy=False)
    for name, cte in ({"records": records} | ctes).items():
        query.with_(name, cte, copy=False)
    return query


def _only(query: Select, where: str | None) -> Select:
    return query.where(where, copy=False) if where else query


def _contributors(shape: Shape, part: SomeRecords) -> Select:
    """Each contributor's lowest and highest leaf, numbers of records, sums and keys."""
    measures = range(len(shape.measures))
    weighted, value = paired(shape, part), "t" if shape.weight else "v"
    if part.contributor is None:
        query = exp.select(
            "leaf AS low",
            "leaf AS high",
            "1 AS records",
            *[f"{value}{i} AS s{i}" for i in measures],
            *([f"v{i} AS a{i}" for i in measures] if weighted else []),
            *(["w"] if weighted else []),
            *(["k", "k AS other_k"] if part.keyed else []),
            *[f"x{j}" for j in range(len(shape.marks))],
        )
    else:
        ends = ["MIN(leaf) AS low", "MAX(leaf) AS high"]
        query = exp.select(f"{part.contributor} AS c", *ends, *of_contributor(shape, part))
        query = query.group_by(part.contributor, copy=False)
    return _only(query.from_("records", copy=False), part.where)


def of_contributor(shape: Shape, part: SomeRecords) -> list[str]:
    """What is told of a contributor: number of records, sums, weight, keys and marks."""
    measures = range(len(shape.measures))
    weighted = paired(shape, part)
    return [
        "COUNT(*) AS records",
        *[f"{_sum(shape, i)} AS s{i}" for i in measures],
        *([f"{_int64(f'SUM(v{i})')} AS a{i}" for i in measures] if weighted else []),
        *(["MIN(w) AS w"] if weighted else []),
        *(["MIN(k) AS k", "MAX(k) AS other_k"] if part.keyed else []),
        *[f"SUM(x{j}) AS x{j}" for j in range(len(shape.marks))],
    ]


def paired(shape: Shape, part: SomeRecords) -> bool:
    """Whether contributors have weights; a holding, with units of several, answers for itself."""
    return shape.weight is not None and part.contributor != "h"


def _sum(shape: Shape, i: int) -> str:
    """The sum of a measure over records, weighted where there are weights."""
    if shape.weight is None:
        return _int64(f"SUM(v{i})")
    return f"CASE WHEN COUNT(t{i}) = COUNT(*) THEN {_int64(f'SUM(t{i})')} END"


def _int64(wide: str) -> str:
    """A wide sum as a 64-bit integer; null if it leaves the range."""
    return f"CASE WHEN {wide} BETWEEN -{INT64} AND {INT64} THEN CAST({wide} AS BIGINT) END"


def _largest(value: str, k: int, alias: str) -> exp.Alias:
    """The k largest values, descending, as a list: DuckDB's max(x, k).

    Far cheaper than ranking all contributors in a window, which other engines need.
    """
    largest = exp.Anonymous(this="MAX", expressions=[exp.maybe_parse(value), exp.convert(k)])
    return exp.Alias(this=largest, alias=exp.to_identifier(alias))


def _whose_weight(value: str, k: int, alias: str) -> exp.Alias:
    """The weights of those who have the k largest values, heavier ones first among equals."""
    order = exp.Anonymous(this="ROW", expressions=[exp.maybe_parse(value), exp.column("w")])
    weights = [exp.column("w"), order, exp.convert(k)]
    found = exp.Anonymous(this="ARG_MAX", expressions=weights)
    return exp.Alias(this=found, alias=exp.to_identifier(alias))
