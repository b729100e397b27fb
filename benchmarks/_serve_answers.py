"""Answers to random questions about made-up people, as a user of the service gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret import PerturbationTable, SecretKeys
from diskret.engines import LeafQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.hierarchy import Hierarchy
from diskret.io import source
from diskret.serve import DataSet, Measure, Question, Tabulator, Variable
from diskret.serve.allowance import Allowance
from diskret.serve.answers import Refused
from diskret.serve.question import Family

#: Variables and how many codes they have: 36,864 cells.
SHAPE = {"region": 24, "age": 12, "work": 16, "origin": 8}


@dataclass(frozen=True)
class Seen:
    """A table as its reader knows it.

    `by`: which axes it has; `kept`: for each axis of the population which codes count; `value`:
    what is shown, in the shape of `by`; `coarse`: of an axis that is shown by coarser codes, which
    of them each code belongs to.
    """

    by: tuple[int, ...]
    kept: tuple[NDArray[np.bool_], ...]
    value: NDArray[np.int64]
    coarse: Mapping[int, NDArray[np.int64]] = field(default_factory=dict[int, NDArray[np.int64]])


def people(records: int, shape: Sequence[int], seed: int = 1) -> NDArray[np.int64]:
    """How many people each cell holds: few codes hold most of them, and cells vary beyond that."""
    draw = np.random.default_rng(seed)
    chance = np.exp(draw.normal(0, 1, tuple(shape)))
    for axis, size in enumerate(shape):
        share = draw.permutation(1 / np.arange(1, size + 1) ** 1.4)
        chance *= np.expand_dims(share, tuple(i for i in range(len(shape)) if i != axis))
    return draw.multinomial(records, (chance / chance.sum()).ravel()).reshape(tuple(shape))


def census(
    count: NDArray[np.int64],
    noise: PerturbationTable,
    names: Sequence[str],
    seed: int = 2,
    *,
    groups: Mapping[str, Sequence[int]] | None = None,
    pay: NDArray[np.int64] | None = None,
    share: float = 0.2,
) -> DataSet:
    """People as records with random keys, in a data set without a limit of practical meaning.

    `groups`: variables with coarser levels, and how many codes make one of each. `pay`: a value of
    each record, in the order of their cells, whose sums have noise of so large a `share`.
    """
    cell = np.repeat(np.arange(count.size), count.ravel())
    columns: dict[str, Any] = {}
    for name, size, at in zip(names, count.shape, np.unravel_index(cell, count.shape), strict=True):
        codes = pa.array([f"{i:03d}" for i in range(size)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(at), codes).dictionary_decode()
    columns["key"] = np.random.default_rng(seed).integers(2**32, size=len(cell))
    variables = (
        _variable(name, tuple(f"{i:03d}" for i in range(size)), (groups or {}).get(name, ()))
        for name, size in zip(names, count.shape, strict=True)
    )
    if pay is not None:
        columns["pay"] = pay
    return DataSet(
        "census",
        pa.table(columns),
        "key",
        tuple(variables),
        noise,
        questions=10**9,
        most_variables=9,
        measures=() if pay is None else (Measure("pay", noise=share),),
        presence="confidential" if pay is None else "public",
    )


def _variable(name: str, codes: tuple[str, ...], groups: Sequence[int]) -> Variable:
    if not groups:
        return Variable(name, codes)
    levels = {f"{n}": [f"g{n:03d} {int(code) // n:03d}" for code in codes] for n in groups}
    return Variable(name, tree=Hierarchy.from_levels({**levels, name: [*codes]}))


class _Once:
    """An engine that counts the finest table once and gives its rows for every other one."""

    def __init__(self, data: DataSet):
        self._names = [*data.variable]
        by: dict[str, Hierarchy | None] = {
            name: Hierarchy.flat(one.codes, "Total") for name, one in data.variable.items()
        }
        values = {one.column: one.decimals for one in data.measures}
        with DuckDBEngine(source(data.records)) as engine:
            self._all = engine.leaves(
                LeafQuestion(
                    by=by, record_key=data.record_key, values=values, largest=int(bool(values))
                )
            )

    def leaves(self, question: LeafQuestion) -> Any:
        columns = [self._names.index(name) for name in question.by]
        return replace(self._all, position=self._all.position[:, columns])

    def stop(self) -> None:
        """There is nothing that runs."""


class _Unlimited(Allowance):
    """Counts nothing: with 10,000 tables that takes longer than everything else."""

    def ask(self, families: Sequence[Family], who: str, data: DataSet) -> None:
        """Whoever asks may."""


def service(data: DataSet, seed: int = 3) -> Tabulator:
    """What answers: the tabulator itself, but for its limits and for counting anew each time."""
    once = _Once(data)
    engine = cast("Callable[[Any], Any]", lambda _: nullcontext(once))
    tables = Tabulator([data], SecretKeys(bytes([seed, *range(31)])), engine=engine)
    tables.allowance = _Unlimited()
    return tables


def questions(data: DataSet, seed: int, measure: str = "count") -> Iterator[Question]:
    """Random ones, none twice: one to three variables, filters of half the codes on others.

    Of variables with coarser levels, each is as likely as the finest one.
    """
    draw = np.random.default_rng(seed)
    names, had = [*data.variable], set[Family]()
    while True:
        by = draw.permutation(names)[: draw.choice([1, 2, 3], p=[0.3, 0.5, 0.2])].tolist()
        where = {}
        for name in names:
            codes = np.array(data.variable[name].codes)
            kept = codes[draw.random(len(codes)) < 0.5]
            if name not in by and draw.random() < 0.75 and len(kept) > 1:
                where[name] = kept.tolist()
        levels = [
            {"variable": name, "level": int(draw.integers(1, data.variable[name].depth + 1))}
            if data.variable[name].depth > 1
            else name
            for name in by
        ]
        of = [] if measure == "count" else [one.name for one in data.measures]
        question = Question.of(
            {"data": data.name, "by": levels, "where": where, "measure": measure, "of": of}
        )
        if (family := question.family(data)) not in had:
            had.add(family)
            yield question


def planned(data: DataSet, seed: int) -> Iterator[Question]:
    """Of somebody who wants the finest table: all variables but one, of that a random half."""
    draw = np.random.default_rng(seed)
    names, had = [*data.variable], set[Family]()
    while True:
        name = draw.choice(names)
        codes = np.array(data.variable[name].codes)
        kept = codes[draw.random(len(codes)) < 0.5].tolist()
        by = [other for other in names if other != name]
        if len(kept) < 2:
            continue
        question = Question.of({"data": data.name, "by": by, "where": {name: kept}})
        if (family := question.family(data)) not in had:
            had.add(family)
            yield question


def answers(tables: Tabulator, asked: Iterator[Question], most: int, who: str) -> list[Seen]:
    """The first answers that are given; what is refused as sparse tells nothing."""
    found: list[Seen] = []
    for question in asked:
        with suppress(Refused):
            found.append(seen(tables, question, who))
        if len(found) == most:
            break
    return found


def by_finest(one: Seen) -> list[Seen]:
    """An answer by coarser codes as one by finest codes for each of these, with a filter on it."""
    rest = tuple(axis for axis in one.by if axis not in one.coarse)
    parts: list[Seen] = []
    for at in np.ndindex(*(int(group.max()) + 1 for group in one.coarse.values())):
        kept, value = [*one.kept], one.value
        for (axis, group), i in sorted(zip(one.coarse.items(), at, strict=True), reverse=True):
            value = value.take(i, one.by.index(axis))
            kept[axis] = group == i
        parts.append(Seen(rest, tuple(kept), value))
    return parts


def seen(tables: Tabulator, question: Question, who: str) -> Seen:
    """One answer as its reader knows it."""
    data = tables.data[question.data]
    answer, where, names = tables.answer(question, who=who), dict(question.where), [*data.variable]
    by = tuple(names.index(name) for name in question.by)
    kept = tuple(
        np.isin(np.array(data.variable[name].codes), where.get(name, data.variable[name].codes))
        for name in names
    )
    order = np.argsort(by).tolist()
    coarse = {
        names.index(name): data.variable[name].level(level).group
        for name, level in question.levels
        if data.variable[name].standard(level)
    }
    return Seen(tuple(sorted(by)), kept, answer.value.transpose(order), coarse)
