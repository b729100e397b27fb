"""What may be asked in place of a sparse table, as far as the counts that it would show tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.serve.answers import Shown, is_sparse
from diskret.serve.data import DataSet
from diskret.serve.question import Family, Question

#: How many are offered, and how many are looked at.
_OFFERED, _LOOKED_AT = 3, 200


def coarser(
    question: Question, family: Family, shown: Shown, data: DataSet
) -> tuple[Question, ...]:
    """Up to three questions for coarser codes or fewer variables that are hardly sparse.

    Sums of what the sparse table would show stand for their counts, so nothing else is told; they
    may turn out sparse all the same. Those with most cells come first, and none is coarser than one
    before it.

    `question`: with a sparse table; `family`: its counts, and `shown`: what would be shown of them.
    """
    found: list[tuple[tuple[int, ...], Question]] = []
    for steps, one in islice(_candidates(question, data), _LOOKED_AT):
        if any(all(s >= t for s, t in zip(steps, own, strict=True)) for own, _ in found):
            continue
        value = _added(shown.value, family, one.family(data), data)
        if not is_sparse(value, data.small, data.share):
            found.append((steps, one))
        if len(found) == _OFFERED:
            break
    return tuple(one for _, one in found)


def as_text(questions: Sequence[Question]) -> str:
    """What the questions have in place of ``"by"``, as JSON."""
    return "; ".join(
        json.dumps(
            [
                {"variable": name, "level": one.level(name)} if one.level(name) else name
                for name in one.by
            ],
            ensure_ascii=False,
        )
        for one in questions
    )


def _candidates(question: Question, data: DataSet) -> Iterator[tuple[tuple[int, ...], Question]]:
    """How many steps each variable is coarser, and the question; the largest tables first."""
    ways = [_ways(name, question, data) for name in question.by]
    sizes = [
        [1 if level is None else len(data.variable[name].level(level).codes) for level in own]
        for name, own in zip(question.by, ways, strict=True)
    ]
    every = [*product(*(range(len(own)) for own in ways))][1:]
    size = {steps: prod(own[s] for own, s in zip(sizes, steps, strict=True)) for steps in every}
    for steps in sorted(every, key=lambda steps: (-size[steps], steps)):
        levels = {
            name: level
            for name, own, s in zip(question.by, ways, steps, strict=True)
            if (level := own[s]) is not None
        }
        own = tuple(sorted((name, level) for name, level in levels.items() if level))
        one = replace(question, by=tuple(levels), levels=own)
        try:
            one.check(data)
        except InputError:  # its filter takes a part of a coarser code
            continue
        yield steps, one


def _ways(name: str, question: Question, data: DataSet) -> list[int | None]:
    """The level of a variable, the coarser ones, and None: without it."""
    variable, own = data.variable[name], question.level(name)
    levels: list[int | None] = [own]
    for level in range((own or variable.depth) - 1, 0, -1):
        if not variable.level(level).keeps_apart(variable.level(levels[-1] or 0)):
            levels.append(level)
    return [*levels, None]


def _added(
    value: NDArray[np.int64], family: Family, wanted: Family, data: DataSet
) -> NDArray[np.int64]:
    """Cells of a family as sums of cells of a finer one."""
    kept = dict(wanted.where)
    for axis in reversed(range(len(family.variables))):
        name = family.variables[axis]
        variable = data.variable[name]
        fine = variable.level(family.level(name))
        # any code that records have says where its group belongs
        first = np.zeros(len(fine.codes), dtype=np.int64)
        first[fine.group] = np.arange(len(fine.group))
        if name in wanted.variables:
            coarse = variable.level(wanted.level(name))
            total = np.zeros((len(coarse.codes), *np.delete(value.shape, axis)), dtype=np.int64)
            np.add.at(total, coarse.group[first], np.moveaxis(value, axis, 0))
            value = np.moveaxis(total, 0, axis)
        else:
            own = variable.places(kept.get(name, variable.codes))
            value = value[(slice(None),) * axis + (np.isin(first, own),)].sum(axis)
    return value
