"""Perturbed counts of all cells, totals included, as one statement where the records lie.

Records are the relation ``source``, as in `diskret.engines.sql`. Further relations, all small:
``m0 …`` map what a dimension's column holds (``raw``) to a leaf (``leaf``), ``a0 …`` a leaf to
itself and all codes above it (``code``), and ``noise`` holds the intervals of keys.

The records are read once and grouped by what their columns hold; totals are added up from these
groups, one dimension after the other. A unit in several groups keeps a row of its own (``u``)
on the way up, so that it counts once in every cell.

Nothing comes back where records are unusable (no or unknown codes, no usable key, no unit, a unit
with two keys), and no cell whose perturbed count is 0 or below a threshold: told apart from empty
cells, it would be known to have contributors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp
from sqlglot.expressions import Select

from diskret.engines.columns import INT64, Reading
from diskret.engines.sql import Shape
from diskret.errors import InputError
from diskret.hierarchy.codes import some


def usable(reading: Reading) -> str:
    """The expression that reads a column, null where a check fails."""
    wrong = " OR ".join(check.wrong for check in reading.checks)
    return f"CASE WHEN NOT ({wrong}) THEN {reading.expression} END"


def perturbed_counts(
    shape: Shape, noise: NoiseIntervals, names: Sequence[str], threshold: int = 1
) -> Select:
    """A row for each cell whose perturbed count is not too small: its codes and that count.

    `noise`: what the relation ``noise`` holds. `names`: columns of the answer: one for each
    dimension and one for the counts. `threshold`: the least perturbed count that comes back, ≥ 1.
    """
    codes = {name: f"d{i}" for i, name in enumerate(names[:-1])}
    return _perturbed(shape, noise, codes, names[-1], threshold)


def placed_counts(
    shape: Shape, noise: NoiseIntervals, sizes: Sequence[int], threshold: int = 1
) -> Select:
    """The same with the position ``at`` of each cell in C order, and its ``value``.

    `sizes`: how many codes each dimension has.
    """
    place = "CAST(0 AS BIGINT)"
    for i, size in enumerate(sizes):
        place = f"({place} * {size} + d{i})"
    return _perturbed(shape, noise, {"at": place}, "value", threshold)


def _perturbed(
    shape: Shape, noise: NoiseIntervals, shown: Mapping[str, str], value: str, threshold: int
) -> Select:
    axes = range(len(shape.codes))
    unit = ["u"] if shape.unit else []
    groups = [f"g{i}" for i in axes]
    ctes = {"leaves": _leaves(shape, groups)} if not unit else _leaves_of_units(shape, groups)
    ctes["placed"] = _placed(groups, unit)
    before = "placed"
    for axis in axes:
        ctes[f"up{axis}"] = _up(before, axis, len(shape.codes), unit, shape.modulus)
        before = f"up{axis}"
    codes = [f"d{i}" for i in axes]
    if unit:
        together = (
            exp.select(*codes, *_totals(shape.modulus, "SUM(n)")).from_(before).group_by(*codes)
        )
        ctes[before := "cells"] = together
    row = f"CASE WHEN n <= {noise.last} THEN n ELSE {_reused(noise)} END"
    within = f"counted = {row} AND low <= k AND k < high"
    columns = {**shown, value: "n + change"}
    query = (
        exp.select(*(exp.alias_(made, name, quoted=True) for name, made in columns.items()))
        .from_(before)
        .join("noise", on=within)
        .where(f"n + change >= {threshold}")
    )
    return preceded(query, ctes)


def preceded(query: Select, relations: Mapping[str, Select]) -> Select:
    """Put relations before a query and those it brings; each may name those before it."""
    before = [
        exp.CTE(this=relation, alias=exp.TableAlias(this=exp.to_identifier(name)))
        for name, relation in relations.items()
    ]
    query.set("with_", exp.With(expressions=[*before, *query.ctes]))
    return query


def _leaves(shape: Shape, groups: list[str]) -> Select:
    """The only pass over the records: how many there are for each combination, and their keys."""
    columns = [f"{code} AS {group}" for code, group in zip(shape.codes, groups, strict=True)]
    query = exp.select(*columns, f"{shape.key} AS k").from_("source")
    query = query.where(shape.where) if shape.where else query
    return (
        exp.select(*groups, *_totals(shape.modulus))
        .select("CASE WHEN COUNT(k) < COUNT(*) THEN 1 ELSE 0 END AS bad")
        .from_(query.subquery("records"))
        .group_by(*groups)
    )


def _leaves_of_units(shape: Shape, groups: list[str]) -> dict[str, Select]:
    """Each unit once for each combination; those in a single one are added up there."""
    columns = [f"{code} AS {group}" for code, group in zip(shape.codes, groups, strict=True)]
    records = exp.select(*columns, f"{shape.unit} AS u", f"{shape.key} AS k").from_("source")
    records = records.where(shape.where) if shape.where else records
    units = (
        exp.select(*groups, "u", "MIN(k) AS k", "MAX(k) AS other_k")
        .select("CASE WHEN u IS NULL OR COUNT(k) < COUNT(*) THEN 1 ELSE 0 END AS bad")
        .from_(records.subquery("records"))
        .group_by(*groups, "u")
    )
    placed = exp.select(
        *groups,
        "k",
        "CASE WHEN COUNT(*) OVER (PARTITION BY u) > 1 THEN u END AS u",
        "CASE WHEN MIN(k) OVER (PARTITION BY u) < MAX(other_k) OVER (PARTITION BY u) "
        "THEN 1 ELSE bad END AS bad",
    ).from_("units")
    leaves = (
        exp.select(*groups, "u", *_totals(shape.modulus), "MAX(bad) AS bad")
        .from_(placed.subquery("contributors"))
        .group_by(*groups, "u")
    )
    return {"units": units, "leaves": leaves}


def _placed(groups: list[str], unit: list[str]) -> Select:
    """Leaves in place of what the columns hold; one unusable row makes all of them unusable."""
    unknown = "".join(f" OR m{i}.leaf IS NULL" for i in range(len(groups)))
    query = exp.select(
        *[f"m{i}.leaf AS d{i}" for i in range(len(groups))],
        *unit,
        "n",
        "k",
        f"MAX(CASE WHEN bad = 1{unknown} THEN 1 ELSE 0 END) OVER () AS bad",
    ).from_("leaves")
    for i, group in enumerate(groups):
        query = query.join(f"m{i}", on=f"{group} = m{i}.raw", join_type="left")
    return query


def _up(before: str, axis: int, dimensions: int, unit: list[str], modulus: int) -> Select:
    """From the leaves of a dimension to all its codes."""
    codes = [f"d{i}" for i in range(dimensions)]
    others = [code for code in codes if code != f"d{axis}"] + unit
    totals = _totals(modulus, "SUM(n)")
    if unit:
        totals = [
            "CASE WHEN u IS NULL THEN CAST(SUM(n) AS BIGINT) ELSE 1 END AS n",
            f"CASE WHEN u IS NULL THEN {_reduced('SUM(k)', modulus)} ELSE MIN(k) END AS k",
        ]
    query = (
        exp.select(f"a{axis}.code AS d{axis}", *others, *totals)
        .from_(before)
        .join(f"a{axis}", on=f"d{axis} = a{axis}.leaf")
        .group_by(f"a{axis}.code", *others)
    )
    return query.where("bad = 0") if axis == 0 else query


def _totals(modulus: int, number: str = "COUNT(*)") -> list[str]:
    return [f"CAST({number} AS BIGINT) AS n", f"{_reduced('SUM(k)', modulus)} AS k"]


def _reduced(keys: str, modulus: int) -> str:
    return f"CAST(MOD({keys}, {modulus}) AS BIGINT)"


def _reused(noise: NoiseIntervals) -> str:
    """Which count's intervals a count beyond the last one takes."""
    if noise.reuse == 1:
        return str(noise.last)
    return f"{noise.last - noise.reuse + 1} + MOD(n - {noise.last + 1}, {noise.reuse})"


# ── the noise as an engine joins it: an interval of keys a row. Secret ───────────────────


class Lookup(Protocol):
    """What is read of a [`Lookup`][diskret.cellkey.Lookup], which stands above the engines."""

    @property
    def counts(self) -> NDArray[np.int64]: ...  # noqa: D102 - described there

    @property
    def modulus(self) -> int: ...  # noqa: D102

    @property
    def bounds(self) -> NDArray[np.uint64]: ...  # noqa: D102

    @property
    def noise(self) -> NDArray[np.int64]: ...  # noqa: D102

    @property
    def step(self) -> int: ...  # noqa: D102

    @property
    def reuse(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class NoiseIntervals:
    """Which noise each interval of cell keys means, for each count from 1 to `last`.

    `table`: columns ``counted``, ``low``, ``high`` (keys from low to below high) and ``change``,
        all int64; the intervals of a count cover all keys once.
    `last`: the largest count that has intervals of its own.
    `reuse`: larger counts take those of the last so many counts in turn.
    `modulus`: of the keys.
    """

    table: pa.Table
    last: int
    reuse: int
    modulus: int

    @classmethod
    def of(cls, lookup: Lookup) -> NoiseIntervals:
        """NoiseIntervals that are not empty; neighbours with the same noise are one.

        >>> from types import SimpleNamespace
        >>> bounds = np.array([[9, 9, 9], [4, 4, 9], [3, 6, 9]], dtype=np.uint64)
        >>> noise = np.array([[0, 0, 0], [-1, 0, 1], [-1, 2, 2]])
        >>> lookup = SimpleNamespace(
        ...     counts=np.arange(3), modulus=9, bounds=bounds, noise=noise, step=1, reuse=1
        ... )
        >>> intervals = NoiseIntervals.of(lookup).table.to_pydict()
        >>> intervals["counted"], intervals["high"], intervals["change"]
        ([1, 1, 2, 2], [4, 9, 3, 9], [-1, 1, -1, 2])
        """
        if lookup.step != 1:
            raise InputError(
                f"counts get whole numbers as noise, and this lookup has steps of 1/{lookup.step}; "
                "take a perturbation table for counts"
            )
        if lookup.modulus > INT64:
            raise InputError(f"the modulus of the lookup is {lookup.modulus}; at most 2^63 - 1")
        last = int(lookup.counts[-1])
        if last < 1:
            raise InputError("the lookup has a row for the count 0 only, which stays 0")
        row = np.searchsorted(lookup.counts, np.arange(1, last + 1))
        high = lookup.bounds[row].astype(np.int64)
        noise = lookup.noise[row]
        count = np.broadcast_to(np.arange(1, last + 1)[:, None], high.shape)
        filled = np.diff(high, axis=1, prepend=0) > 0
        high, noise, count = high[filled], noise[filled], count[filled]
        below = np.unique(count[noise < -count])
        if len(below):
            raise InputError(
                f"the lookup takes counts of {some([str(c) for c in below])} below 0; the noise of "
                "a count of i must be at least -i"
            )
        ends = np.append((count[1:] != count[:-1]) | (noise[1:] != noise[:-1]), True)
        high, noise, count = high[ends], noise[ends], count[ends]
        low = np.where(np.append(True, count[1:] != count[:-1]), 0, np.roll(high, 1))
        columns = {"counted": count, "low": low, "high": high, "change": noise}
        return cls(pa.table(columns), last, lookup.reuse, lookup.modulus)
