"""The tables of a job made and protected by the methods of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diskret.argus.batch import Batch, Suppress
from diskret.argus.data import Made, Opened, made
from diskret.argus.outputs import Done
from diskret.argus.rules import OnRecords
from diskret.argus.text import said_at
from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.progress import Progress
from diskret.protect.adjust import adjust
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.protect.round_table import round_table
from diskret.protect.suppress import suppress
from diskret.rules import Rule, Sensitivity
from diskret.rules.sensitivity import parts

#: The methods of τ-ARGUS that hide cells, and ours for each.
HIDES = {"MOD": "modular", "OPT": "optimal", "GH": "hypercube", "NET": "network"}


def tables_of(part: Batch, read: Sequence[Opened]) -> list[Made]:
    """The tables of a part, in the order of their numbers."""
    return [
        made(data, text, _of(part.recodes, text.number), _of(part.apriori, text.number))
        for data in read
        for text in data.text.tables
    ]


def carried_out(
    part: Batch, read: Sequence[Opened], contributor: bool | None, before: int, progress: Progress
) -> tuple[list[Done], list[Result | PerturbedResult | None]]:
    """Make all tables of a part, and protect those that are to be protected."""
    tables = tables_of(part, read)
    done = [_judged(one) for one in tables]
    results: list[Result | PerturbedResult | None] = [None] * len(tables)
    for step in part.suppress:
        wanted = range(len(tables)) if step.table == 0 else [step.table - 1]
        found = _protected(
            step,
            [tables[i] for i in wanted],
            [f"table_{before + i + 1}" for i in wanted],
            contributor,
            progress,
        )
        for i, result in zip(wanted, found, strict=True):
            results[i], done[i] = result, _shown(tables[i], result, done[i].sensitivity)
    return done, results


def _of(steps: Sequence[Any], number: int) -> list[Any]:
    return [step for step in steps if step.table == number]


def _judged(one: Made) -> Done:
    """A table before it is protected."""
    with said_at(one.text.place):
        says = one.rule(one.table)
    measure = one.table.measure
    return Done(one, says, measure.sum, says.unsafe, measure.decimals)


def _shown(one: Made, result: Result | PerturbedResult, says: Sensitivity) -> Done:
    """A table as it is protected."""
    if isinstance(result, Result):
        measure, hidden = one.table.measure, result.published.suppressed
        return Done(one, result.sensitivity, measure.sum, hidden, measure.decimals)
    shown = result.published
    nothing = np.zeros(one.table.shape, dtype=bool)
    return Done(one, says, shown.value, nothing, shown.decimals, changed=True)


def _protected(
    step: Suppress,
    tables: Sequence[Made],
    names: Sequence[str],
    contributor: bool | None,
    progress: Progress,
) -> Sequence[Result | PerturbedResult]:
    with said_at(step.place):
        if step.method == "RND":
            base, steps, minutes = (*step.options, *(0, 0, 0)[len(step.options) :])[:3]
            return [
                round_table(
                    tables[0].table,
                    base,
                    "controlled",
                    rule=tables[0].rule,
                    steps=int(steps) or None,
                    time_limit=60 * minutes or None,
                    name=names[0],
                    progress=progress,
                )
            ]
        if step.method == "CTA":
            return [adjust(tables[0].table, tables[0].rule, name=names[0])]
        minutes = step.options[0] if step.method == "OPT" and step.options else 0
        whom = singletons(step, tables) if contributor is None else contributor
        return suppress(
            [one.table for one in tables],
            [_as_given(one.rule, whom) for one in tables],
            cost=[_cost(one) for one in tables],
            method=HIDES[step.method],
            attacker=Attacker(contributor=whom),
            time_limit=60 * minutes or None,
            name=list(names),
            progress=progress,
        )


def singletons(step: Suppress, tables: Sequence[Made]) -> bool:
    """Whether single contributors are to be looked at, and can be."""
    asked = step.options[2:3] if step.method == "GH" else step.options[1:4]
    told = all(
        not one.table.frequency
        and one.table.weight is None
        and one.table.recorded
        and not any(isinstance(part, OnRecords) for part in parts(one.rule))
        for one in tables
    )
    return step.method in ("GH", "MOD") and any(asked) and told


def _as_given(rule: Rule, contributor: bool) -> Rule:
    """Refuse what sums that contributors know cannot be judged by."""
    if contributor and any(isinstance(part, OnRecords) for part in parts(rule)):
        raise InputError(
            "rules of holdings and of records together cannot be judged for contributors; leave "
            "one of them out, or protect against an outsider"
        )
    return rule


def _cost(one: Made) -> Any:
    price = one.cost
    return price if isinstance(price, str) else lambda table: price
