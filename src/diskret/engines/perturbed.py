"""How the question about perturbed counts is answered, on any engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines import columns, sql
from diskret.engines.cells import tree_of
from diskret.engines.codes import mappings, resolve
from diskret.engines.columns import Kind
from diskret.engines.contract import LeafQuestion, PerturbedBlocks, PerturbedCounts, PlacedValues
from diskret.engines.leaves import answer
from diskret.engines.perturbed_sql import (
    NoiseIntervals,
    perturbed_counts,
    placed_counts,
    usable,
)
from diskret.engines.records import Records, code_counts, column_named, filtered
from diskret.errors import InputError, ProofError
from diskret.hierarchy import Hierarchy


def perturbed(
    question: LeafQuestion, noise: NoiseIntervals, threshold: int, records: Records
) -> PerturbedCounts:
    """Count, perturb and add up; see `Engine.perturbed`."""
    shape, trees = _prepared(question, noise, records)
    names = [*(f"d{i}" for i in range(len(trees))), "value"]
    statement = perturbed_counts(shape, noise, names, threshold)
    found = records.fetch(statement)
    if not len(found):
        _explain_nothing(question, records)
        found = records.fetch(statement)
    return PerturbedCounts(
        by=dict(zip(question.by, trees, strict=True)),
        position=np.stack([_numbers(found, name).astype(np.int32) for name in names[:-1]], axis=1),
        value=_numbers(found, "value"),
    )


def perturbed_blocks(
    question: LeafQuestion,
    noise: NoiseIntervals,
    threshold: int,
    rows: int,
    records: Records,
) -> PerturbedBlocks:
    """The same, some cells at a time; see `Engine.perturbed_blocks`."""
    shape, trees = _prepared(question, noise, records)
    sizes = [len(tree) for tree in trees]
    statement = placed_counts(shape, noise, sizes, threshold)
    found = records.placed_values(statement, rows)
    first = next(found, None)
    if first is None:
        _explain_nothing(question, records)
        found = records.placed_values(statement, rows)
    else:
        found = chain([first], found)
    return PerturbedBlocks(
        dict(zip(question.by, trees, strict=True)), _dense(found, prod(sizes), rows)
    )


def _dense(found: Iterator[PlacedValues], cells: int, rows: int) -> Iterator[NDArray[np.int64]]:
    """All cells, `rows` at a time, with 0 for those that did not come back."""
    start = 0
    value = np.zeros(min(rows, cells), dtype=np.int64)
    for at, shown in found:
        block = at // rows
        if len(at) and block.min() < start // rows:
            raise ProofError("the engine gave cells in another order than it was asked for")
        for number in np.unique(block).tolist():
            while start // rows < number:
                yield value
                start += rows
                value = np.zeros(min(rows, cells - start), dtype=np.int64)
            mine = block == number
            value[at[mine] - start] = shown[mine]
    while start < cells:
        yield value
        start += rows
        value = np.zeros(max(min(rows, cells - start), 0), dtype=np.int64)


def _explain_nothing(question: LeafQuestion, records: Records) -> None:
    """No count that large, or records that cannot be used: then this says which.

    It attaches codes as they are spelled in the records, with padding for example.
    """
    answer(question, records)


def _prepared(
    question: LeafQuestion, noise: NoiseIntervals, records: Records
) -> tuple[sql.Shape, list[Hierarchy]]:
    """What the statement is about, whose small relations are known, and the trees."""
    if question.record_key is None:
        raise InputError("noise comes from record keys: say which column holds them, record_key=")
    if question.key_modulus != noise.modulus:
        raise InputError(
            f"record keys are below {question.key_modulus:,} and those of the lookup below "
            f"{noise.modulus:,}; keys of different moduli cannot be mixed"
        )
    shape = _shape(question, records)
    return shape, _attach(question, noise, records, shape)


def ancestors(tree: Hierarchy, leaf: Sequence[int], codes: Sequence[int | str]) -> pa.Table:
    """Each leaf beside itself and all codes above it.

    `leaf`: what stands for each of its leaves, in their order. `codes`: what stands for each of its
    codes.

    >>> tree = Hierarchy.flat(["N", "S"])
    >>> ancestors(tree, [0, 1], tree.codes).to_pydict()
    {'leaf': [0, 0, 1, 1], 'code': ['N', 'Total', 'S', 'Total']}
    """
    above = [tree.ancestors[p].tolist() for p in tree.leaves.tolist()]
    return pa.table(
        {
            "leaf": [number for number, chain in zip(leaf, above, strict=True) for _ in chain],
            "code": [codes[p] for chain in above for p in chain],
        }
    )


def as_in_the_tree(kind: Kind, tree: Hierarchy) -> pa.Table:
    """The leaves as a column of some kind should spell them; for `resolve` and `mappings`."""
    codes = [tree.codes[p] for p in tree.leaves.tolist()]
    raw = pa.array(codes, pa.string())
    if kind == "integer":
        whole = [int(c) for c in codes if re.fullmatch("0|-?[1-9][0-9]{0,18}", c)]
        raw = pa.array([number for number in whole if abs(number) <= columns.INT64], pa.int64())
    return pa.table({"raw": raw, "records": pa.array([0] * len(raw), pa.int64())})


def _shape(question: LeafQuestion, records: Records) -> sql.Shape:
    key = columns.record_key(
        column_named(records, question.record_key or ""),
        modulus=question.key_modulus,
        digits=question.key_digits,
    )
    unit = None
    if question.unit is not None:
        unit = usable(columns.identifier(column_named(records, question.unit), required=True))
    return sql.Shape(
        codes=tuple(columns.code(column_named(records, name)) for name in question.by),
        measures=(),
        unit=unit,
        key=usable(key),
        modulus=question.key_modulus,
        where=filtered(question.where, records),
    )


def _attach(
    question: LeafQuestion, noise: NoiseIntervals, records: Records, shape: sql.Shape
) -> list[Hierarchy]:
    """Make the small relations of the statement known; the trees of all dimensions."""
    found: list[pa.Table] = []
    trees: list[Hierarchy] = []
    for name, tree in question.by.items():
        column = column_named(records, name)
        if tree is None or column.cells is not None:
            spelled = code_counts(records, column, shape.where)
        else:
            spelled = as_in_the_tree(column.kind, tree)
        found.append(spelled)
        trees.append(resolve(name, spelled, tree or tree_of(column, spelled, "Total")))
    for i, (mapping, tree) in enumerate(zip(mappings(found, trees), trees, strict=True)):
        records.attach(f"m{i}", mapping)
        leaf = np.arange(len(tree.leaves)) * prod(len(t.leaves) for t in trees[i + 1 :])
        records.attach(f"a{i}", ancestors(tree, leaf.tolist(), range(len(tree))))
    records.attach("noise", noise.table)
    return trees


def _numbers(found: pa.Table, name: str) -> NDArray[np.int64]:
    return found[name].to_numpy().astype(np.int64)
