"""How the question about leaves is answered with a few queries, on any engine."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines import columns, contributions, proportional, sql
from diskret.engines.cells import told, tree_of
from diskret.engines.codes import mappings, positions, refuse_too_many, resolve, spellings_of_mark
from diskret.engines.columns import Check, Column, Kind, Reading
from diskret.engines.contract import LeafQuestion, Leaves, Listed, Straddlers
from diskret.engines.contributions import (
    Contributions,
    Rows,
    find,
    read_integers,
    read_marked,
    read_sums,
)
from diskret.engines.records import (
    Records,
    column_named,
    examples,
    filtered,
    reader,
    refuse_failed,
)
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io.frames import NO_RECORDS
from diskret.io.record_errors import RecordError
from diskret.texts.numbers import Count


def answer(question: LeafQuestion, records: Records) -> Leaves:
    """Aggregate the records at leaf level; see `Engine.leaves`."""
    where = filtered(question.where, records)
    shape, checks = _shape(question, records, where)
    coded = [*shape.codes, *(code for code, _ in shape.marks)]
    survey = records.survey(coded, checks, where)
    coordinates = sum(len(column_named(records, name).checks) for name in question.by)
    refuse_failed(records, checks[:coordinates], survey.failed[:coordinates], where)
    _attach_marks(question, records, survey.codes[len(shape.codes) :])
    hierarchies = _attach_codes(question, records, survey.codes[: len(shape.codes)])
    refuse_failed(records, checks, survey.failed, where)
    shape = records.placed(shape)
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
        raise RecordError(lambda _: NO_RECORDS)
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
        sources=proportional.sources(question, records),
    )


def _shape(
    question: LeafQuestion, records: Records, where: str | None
) -> tuple[sql.Shape, list[Check]]:
    read, checks = reader(records)

    def maybe(name: str | None, how: Callable[[Column], Reading]) -> str | None:
        return None if name is None else read(name, how)

    shape = sql.Shape(
        codes=tuple(read(name, columns.coded) for name in question.by),
        measures=tuple(
            read(name, partial(columns.value, decimals=decimals, rounded=question.round_values))
            for name, decimals in question.values.items()
        ),
        unit=maybe(question.unit, partial(columns.identifier, required=True)),
        holding=maybe(question.holding, partial(columns.identifier, required=False)),
        key=maybe(question.record_key, _key_reader(question)),
        modulus=question.key_modulus,
        where=where,
        marks=tuple(
            (columns.code(column_named(records, mark.column)), mark.listed)
            for mark in question.marks.values()
        ),
        weight=maybe(question.weight, partial(columns.weight, decimals=question.weight_decimals)),
    )
    return shape, checks


def _key_reader(question: LeafQuestion) -> Callable[[Column], Reading]:
    return partial(columns.record_key, modulus=question.key_modulus, digits=question.key_digits)


def _attach_marks(question: LeafQuestion, records: Records, found: Sequence[pa.Table]) -> None:
    """Attach the values that tell each mark."""
    for j, (mark, table) in enumerate(zip(question.marks.values(), found, strict=True)):
        refuse_too_many(mark.column, table)
        records.attach(f"g{j}", spellings_of_mark(mark, table))


def _attach_codes(
    question: LeafQuestion, records: Records, found: Sequence[pa.Table]
) -> list[Hierarchy]:
    """Attach what each code in the records adds to the leaf number; the trees of all dimensions."""
    hierarchies: list[Hierarchy] = []
    spelled: list[pa.Table] = []
    for (name, hierarchy), table in zip(question.by.items(), found, strict=True):
        column, total = column_named(records, name), question.totals.get(name, "Total")
        spelled.append(told(column, table))
        tree = tree_of(column, table, total) if hierarchy is None else None
        if tree is None:
            tree = resolve(name, spelled[-1], hierarchy, total)
        refuse_too_many(name, spelled[-1])
        hierarchies.append(tree)
    for i, table in enumerate(mappings(spelled, hierarchies)):
        records.attach(f"m{i}", table)
    return hierarchies


def _passes(question: LeafQuestion) -> dict[str, list[sql.SomeRecords]]:
    """Which contributors to aggregate by; the last kind is the one whose largest are kept.

    The first kind covers all records, so it gives counts, sums and key sums.
    """
    keyed = question.record_key is not None
    k = question.largest if question.values else 0
    own, kind = (None, "record") if question.unit is None else ("u", "unit")
    alike = question.unit is not None and question.weight is not None
    if question.holding is None:
        return {kind: [sql.SomeRecords(own, keyed=keyed, largest=k, weighted_alike=alike)]}
    holdings = [
        sql.SomeRecords("h", "NOT h IS NULL", largest=k),
        sql.SomeRecords(own, "h IS NULL", largest=k),
    ]
    if own or keyed:
        every = sql.SomeRecords(own, keyed=keyed, weighted_alike=alike)
        return {kind: [every], "holding": holdings}
    return {"holding": holdings}


def _contributions(
    records: Records,
    shape: sql.Shape,
    part: sql.SomeRecords,
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
    found = records.contributors(shape, part)
    if found.unequal:
        shown = examples(records, sql.unequal_weight_examples(shape))
        raise InputError(
            f"units with more than one weight: {found.unequal:,}{shown}; a unit stands for equally "
            "many in all its records: give it one weight, or leave unit= out if each record was "
            "sampled on its own"
        )
    if found.conflicts:
        shown = examples(records, sql.key_conflict_examples(shape))
        number = Count(found.conflicts)
        raise InputError(
            f"{number} {number:unit has|units have} more than one record key{shown}; a unit needs "
            "the same key in all its records"
        )
    return read(found.stayers, found.straddlers)


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
    return read_listed(found, alone, question, kinds, leaves)


def _named(values: NDArray[np.int64], measures: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    return {name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(measures)}


# ── who contributes what, one by one ──────────────────────────────────────────────────


def read_listed(
    named: pa.Table,
    alone: pa.Table | None,
    question: LeafQuestion,
    kinds: Mapping[str, Kind],
    leaves: NDArray[np.int64],
) -> Listed:
    """Read the answers of `sql.listed` and `sql.listed_records`.

    `alone`: that about records that belong to neither: each is a contributor of its own. None if
    units are known. `kinds`: ``"u"`` and ``"h"``, as far as they are known → the kind of their
    column. `leaves`: the numbers of all leaf combinations, ascending.
    """
    tables = [named] if alone is None else [named, alone]
    unit = identities(named["u"], kinds["u"], "unit") if "u" in kinds else None
    holding = identities(named["h"], kinds["h"], "holding") if "h" in kinds else None
    if unit is not None and holding is not None:
        # a null holding is that of the unit alone
        holding = np.where(named["h"].is_null().to_numpy(), unit, holding)
    leaf = np.concatenate([read_integers(table, "leaf") for table in tables])
    records = np.concatenate([read_integers(table, "records") for table in tables])
    sums = np.concatenate([read_sums(table, "sum", list(question.values)) for table in tables])
    marked = np.concatenate([read_marked(table, len(question.marks)) for table in tables])
    if alone is not None and holding is not None:
        holding = np.append(holding, np.zeros(len(alone), dtype=np.uint64))
    # engines answer in any order; records alike in everything may change places
    keys = [*marked.T, *sums.T, *(who for who in (holding, unit) if who is not None), leaf]
    order = np.lexsort(keys)
    if alone is not None and holding is not None:
        nobody = np.flatnonzero(order >= len(named))
        told = repr((list(question.by), list(question.values), question.where.conditions)).encode()
        told += b"".join(key[order].astype("<i8").tobytes() for key in (leaf, *sums.T))
        holding[order[nobody]] = nobodys(len(alone), told)
    return Listed(
        leaf=find(leaves, leaf[order]),
        unit=None if unit is None else unit[order],
        holding=None if holding is None else holding[order],
        records=records[order],
        sums={name: sums[order, i] for i, name in enumerate(question.values)},
        marked={name: marked[order, j] for j, name in enumerate(question.marks)},
    )


# ── who a unit or holding is: the same number in every table, call and engine ───────
#
# It is the BLAKE2b hash, of 64 bits and without a key, of the identifier's canonical text: whole
# numbers as decimal digits, whatever the type of the column (7, 7.0 and the text "7" are one unit,
# as they are within a column); other decimals without trailing zeros; text without padding,
# leading zeros kept, so "07" is another unit. Two of a million units have the same number with a
# probability of 3 in 100 million. Identifiers can be guessed from such numbers: they are
# confidential.


def identities(told: pa.ChunkedArray, kind: Kind, what: str) -> NDArray[np.uint64]:
    """The number of each row's unit or holding; 0 where there is none.

    Only distinct identifiers are hashed.

    `what`: ``"unit"`` or ``"holding"``: identifiers of one are not those of the other.

    >>> one = identities(pa.chunked_array([["7", None, "7"]]), "integer", "unit")
    >>> other = identities(pa.chunked_array([["7.00"]]), "decimal", "unit")
    >>> one[1], one[0] == one[2] == other[0]
    (np.uint64(0), np.True_)
    """
    encoded = told.combine_chunks().dictionary_encode()
    distinct: list[str] = encoded.dictionary.to_pylist()
    if kind == "decimal":
        distinct = [_without_zeros(text) for text in distinct]
    numbers = np.append(_hashed([text.encode() for text in distinct], what.encode()), np.uint64(0))
    return numbers[encoded.indices.fill_null(len(distinct)).to_numpy()]


def nobodys(number: int, told: bytes) -> NDArray[np.uint64]:
    """Numbers for contributors that nothing identifies, different in different tables.

    `told`: what tells the table from others, its contents included.
    """
    return _hashed([told], b"nobody") + np.arange(number, dtype=np.uint64)


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def _hashed(texts: Iterable[bytes], what: bytes) -> NDArray[np.uint64]:
    hashes = [blake2b(text, digest_size=8, person=what).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), dtype=">u8").astype(np.uint64)
