"""How the question about leaves is answered with a few queries, on any engine."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot.expressions import Select

from diskret.engines import columns, contributions, filters, listing, marks, proportional, sql
from diskret.engines.codes import MOST_CODES, mappings, positions, refuse_too_many, resolve
from diskret.engines.columns import Check, Column, Kind, Reading, counted
from diskret.engines.contributions import Contributions, Rows
from diskret.engines.protocol import LeafQuestion, Leaves, Listed, Straddlers
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.io.frames import NO_RECORDS
from diskret.population import Bounds, Population


class Records(Protocol):
    """Records on an engine: the relation ``source`` with the columns ``c0 …``."""

    @property
    def columns(self) -> Sequence[Column]:
        """What ``source`` holds."""
        ...

    def fetch(self, query: Select) -> pa.Table:
        """Run a query."""
        ...

    def stream(self, query: Select) -> pa.RecordBatchReader:
        """Run a query whose answer may be large."""
        ...

    def attach(self, name: str, table: pa.Table) -> None:
        """Make a small table ``raw``, ``leaf`` known under a name, replacing an earlier one."""
        ...

    def keep(self, name: str, query: Select) -> None:
        """Let later queries name the answer to this one, replacing an earlier one.

        An engine may store the answer, or put the query into those that name it.
        """
        ...


def answer(question: LeafQuestion, records: Records) -> Leaves:
    """Aggregate the records at leaf level; see [`Engine.leaves`][diskret.engines.Engine]."""
    where = filtered(question.where, records)
    shape, checks = _shape(question, records, where)
    hierarchies = _attach_codes(question, records, shape)
    check(records, checks, where)
    if question.weight is not None and question.unit is not None:
        _refuse_unequal_weights(records, shape)
    measures = list(question.values)
    weight_unit = None if question.weight is None else 10**question.weight_decimals

    passes: dict[str, Contributions] = {}
    wanted = _passes(question)
    kinds = list(wanted)
    for kind, parts in wanted.items():
        # who is marked matters for those whose largest are kept, the last kind
        asked = shape if kind == kinds[-1] else replace(shape, marks=())
        read = [_contributions(records, asked, part, measures, weight_unit) for part in parts]
        passes[kind] = contributions.merge(read, measures)
    first, *_, last = *passes.values(), *passes.values()

    leaves, count, sums = contributions.totals(first, measures)
    if not count.any():
        raise InputError(NO_RECORDS)
    first, last = contributions.align(first, leaves), contributions.align(last, leaves)
    listed = {
        kind: _straddlers(found.straddlers, leaves, measures, list(question.marks))
        for kind, found in passes.items()
    }
    return Leaves(
        by=dict(zip(question.by, hierarchies, strict=True)),
        position=positions(leaves, hierarchies),
        count=count,
        sums=_named(sums, measures),
        magnitudes=_named(last.magnitudes, measures),
        largest=_named(last.largest, measures),
        units=None if question.unit is None else first.contributors,
        holdings=None if question.holding is None else last.contributors,
        unit_straddlers=listed.get("unit"),
        holding_straddlers=listed.get("holding"),
        key_sum=first.key_sum,
        marked=_named(contributions.marked_records(last), list(question.marks)),
        marked_largest={
            mark: _named(last.marked_largest[:, j], measures)
            for j, mark in enumerate(question.marks)
        },
        weight_unit=weight_unit,
        largest_weight=(
            {} if last.largest_weight is None else _named(last.largest_weight, measures)
        ),
        listed=_listed(question, records, shape, leaves, int(count.sum())),
        sources=sources(question, records),
    )


def sources(question: LeafQuestion, records: Records) -> dict[str, str]:
    """The column that each measure's noise is named after: of proportional ones the first by name.

    All columns and all records are looked at, whatever the question leaves out: the same measure
    has the same noise in every table of these records. Empty where no noise can be asked for.
    """
    if question.record_key is None:
        return {}
    found = proportional.pairs(records.columns, question.values)
    names = {name: [name] for name in question.values}
    if found:
        sample = records.fetch(proportional.sample(found))
        found = [pair for pair in found if not proportional.unlike_in(sample, *pair)]
    if found:
        answer = records.fetch(proportional.quotients(found))
        for i, (one, other) in enumerate(found):
            if proportional.proportional(answer, i):
                names[one.name].append(other.name)
    return {name: min(alike, key=lambda n: (n.casefold(), n)) for name, alike in names.items()}


def column_named(records: Records, name: str) -> Column:
    """The column that the user calls by a name."""
    for column in records.columns:
        if column.name == name:
            return column
    names = [column.name for column in records.columns]
    near = difflib.get_close_matches(str(name), names, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(
        f"there is no column {name!r}; the columns are {', '.join(map(repr, names))}{hint}"
    )


def filtered(asked: Population, records: Records) -> str | None:
    """The condition on the records that count; what it names is attached."""
    conditions: list[str] = []
    for i, (name, wanted) in enumerate(asked):
        column = column_named(records, name)
        if isinstance(wanted, Bounds):
            reading = filters.within(column, wanted)
            check(records, reading.checks)
            conditions.append(reading.expression)
        else:
            found = records.fetch(sql.code_counts(columns.code(column), MOST_CODES + 1))
            refuse_too_many(name, found)
            records.attach(f"f{i}", filters.spellings(name, found, wanted))
            conditions.append(filters.having_codes(column, i))
    if not conditions:
        return None
    where = " AND ".join(conditions)
    if not records.fetch(sql.record_count(where))["records"][0].as_py():
        raise InputError(f"no record satisfies where=: {asked}")
    return where


def _shape(
    question: LeafQuestion, records: Records, where: str | None
) -> tuple[sql.Shape, list[Check]]:
    checks: list[Check] = []

    def read(name: str, how: Callable[[Column], Reading]) -> str:
        reading = how(column_named(records, name))
        checks.extend(reading.checks)
        return reading.expression

    def maybe(name: str | None, how: Callable[[Column], Reading]) -> str | None:
        return None if name is None else read(name, how)

    shape = sql.Shape(
        codes=tuple(columns.code(column_named(records, name)) for name in question.by),
        measures=tuple(
            read(name, partial(columns.value, decimals=decimals, rounded=question.round_values))
            for name, decimals in question.values.items()
        ),
        unit=maybe(question.unit, partial(columns.identifier, required=True)),
        holding=maybe(question.holding, partial(columns.identifier, required=False)),
        key=maybe(question.record_key, _key_reader(question)),
        modulus=question.key_modulus,
        where=where,
        marks=_attach_marks(question, records, where),
        weight=maybe(question.weight, partial(columns.weight, decimals=question.weight_decimals)),
    )
    return shape, checks


def _key_reader(question: LeafQuestion) -> Callable[[Column], Reading]:
    return partial(columns.record_key, modulus=question.key_modulus, digits=question.key_digits)


def _attach_marks(
    question: LeafQuestion, records: Records, where: str | None
) -> tuple[tuple[str, bool], ...]:
    """Attach the values that tell each mark; the expressions they are looked up by."""
    told: list[tuple[str, bool]] = []
    for j, mark in enumerate(question.marks.values()):
        code = columns.code(column_named(records, mark.column))
        found = records.fetch(sql.code_counts(code, MOST_CODES + 1, where))
        refuse_too_many(mark.column, found)
        records.attach(f"g{j}", marks.spellings(mark, found))
        told.append((code, mark.listed))
    return tuple(told)


def _attach_codes(question: LeafQuestion, records: Records, shape: sql.Shape) -> list[Hierarchy]:
    """Find the codes in the records and attach what each adds to the leaf number."""
    found = [
        records.fetch(sql.code_counts(code, MOST_CODES + 1, shape.where)) for code in shape.codes
    ]
    hierarchies = [
        resolve(name, table, hierarchy, question.totals.get(name, "Total"))
        for (name, hierarchy), table in zip(question.by.items(), found, strict=True)
    ]
    for i, table in enumerate(mappings(found, hierarchies)):
        records.attach(f"m{i}", table)
    return hierarchies


def check(records: Records, checks: Sequence[Check], where: str | None = None) -> None:
    """Refuse records that cannot be read, with their number and examples."""
    if not checks:
        return
    counts = records.fetch(sql.check_counts(tuple(checks), where)).to_pylist()[0]
    for i, check in enumerate(checks):
        if number := counts[f"n{i}"]:
            found = _found(records, sql.check_examples(check, where))
            raise InputError(
                f"{counted(number)}: {check.problem}{_shown(found)}; {check.remedied(found)}"
            )


def _examples(records: Records, query: Select) -> str:
    return _shown(_found(records, query))


def _found(records: Records, query: Select) -> list[object]:
    return [x for x in records.fetch(query)["example"].to_pylist() if x is not None]


def _shown(found: Sequence[object]) -> str:
    return f" ({some(list(map(repr, found)))})" if found else ""


def _passes(question: LeafQuestion) -> dict[str, list[sql.Part]]:
    """Which contributors to aggregate by; the last kind is the one whose largest are kept.

    The first kind covers all records, so it gives counts, sums and key sums.
    """
    keyed = question.record_key is not None
    k = question.largest if question.values else 0
    own, kind = (None, "record") if question.unit is None else ("u", "unit")
    if question.holding is None:
        return {kind: [sql.Part(own, keyed=keyed, largest=k)]}
    holdings = [
        sql.Part("h", "NOT h IS NULL", largest=k),
        sql.Part(own, "h IS NULL", largest=k),
    ]
    if own or keyed:
        return {kind: [sql.Part(own, keyed=keyed)], "holding": holdings}
    return {"holding": holdings}


def _contributions(
    records: Records,
    shape: sql.Shape,
    part: sql.Part,
    measures: Sequence[str],
    weight_unit: int | None,
) -> Contributions:
    read = partial(
        contributions.read,
        measures=measures,
        largest=part.largest,
        marks=len(shape.marks),
        weight_unit=weight_unit,
    )
    records.keep("kept", sql.stayers(shape, part))
    if part.contributor is None:
        stayers = records.fetch(sql.stayer_rows(shape, part, "kept"))
        return read(stayers, None)
    if part.keyed:
        _refuse_conflicts(records, shape)
    stayers = records.fetch(sql.stayer_rows(shape, part, "kept"))
    straddlers = records.fetch(sql.straddlers(shape, part, "kept"))
    return read(stayers, straddlers)


def _refuse_unequal_weights(records: Records, shape: sql.Shape) -> None:
    units = records.fetch(sql.unequal_weights(shape))["units"][0].as_py()
    if units:
        examples = _examples(records, sql.unequal_weight_examples(shape))
        raise InputError(
            f"units with more than one weight: {units:,}{examples}; a unit stands for equally "
            "many in all its records: give it one weight, or leave unit= out if each record was "
            "sampled on its own"
        )


def _refuse_conflicts(records: Records, shape: sql.Shape) -> None:
    units = records.fetch(sql.key_conflicts("kept"))["units"][0].as_py()
    if units:
        examples = _examples(records, sql.key_conflict_examples(shape))
        raise InputError(
            f"{units:,} units have more than one record key{examples}; a unit needs the same key "
            "in all its records"
        )


def _straddlers(
    rows: Rows, leaves: NDArray[np.int64], measures: Sequence[str], marked: Sequence[str]
) -> Straddlers:
    return Straddlers(
        contributor=rows.contributor,
        leaf=contributions.find(leaves, rows.leaf),
        sums=_named(rows.sums, measures),
        key=rows.key,
        marked=_named(rows.marked, marked if rows.marked.shape[1] else ()),
        weight=rows.weight,
    )


def _listed(
    question: LeafQuestion,
    records: Records,
    shape: sql.Shape,
    leaves: NDArray[np.int64],
    number: int,
) -> Listed | None:
    if question.most_listed is not None and number > question.most_listed:
        return None
    named = {"u": question.unit, "h": question.holding}
    kinds: dict[str, Kind] = {
        key: column_named(records, name).kind for key, name in named.items() if name is not None
    }
    if not question.contributions or not kinds:
        return None
    found = records.fetch(sql.listed(shape))
    alone = None if shape.unit else records.fetch(sql.listed_records(shape))
    return listing.read(found, alone, question, kinds, leaves)


def _named(values: NDArray[np.int64], measures: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    return {name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(measures)}
