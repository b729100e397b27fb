"""Rules for sums of cells, and against contributors who pool what they know.

A rule that looks at the contributors of one cell alone, however many codes the cell has, judges
the contributors of a union of cells just as well. It says so: its class has the attribute
``judges_unions = True``. These are dominance, p%, pq, request, minimum frequency and zero cells.

All others are left out of account, as what they say has no meaning for a union: marginal value
and group disclosure compare a cell with its totals; `MissingSafe` looks at the cell's codes; an
`Apriori` list and other decisions by hand are about single cells, and that one of them is safe
is no reason to find its sum with others safe.

Of rules that differ by category all that hold for one of its cells judge a union.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.rules.sensitivity import (
    AnyOf,
    Rule,
    Sensitivity,
    declared,
    parts,
    rank,
    rebuilt,
    single,
)
from diskret.rules.shadow import Shadow
from diskret.rules.varying import Varying
from diskret.tables import Table


def judge_unions(rule: Rule, unions: Table, coalition: int = 1) -> Sensitivity:
    """Judge unions of cells by the rules that can, against contributors who pool.

    A union without contributors is safe. Levels are those that a cell with the same
    contributors would have; where contributions may be negative, or are taken away, the
    lower level is not cut at the value.

    Parameters
    ----------
    rule
        A rule, or several joined with ``|``; those that cannot judge unions are left out.
    unions
        Made by `diskret.tables.unions.union_table`, with as many largest
        contributions as ``against(rule, coalition).largest``.
    coalition
        How many contributors pool what they know, ≥ 1.

    Raises
    ------
    InputError
        A rule cannot judge the table, or the coalition is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.rules import MinimumFrequency, MissingSafe
    >>> pairs = Table.from_cells(pa.table({"union": ["1", "2"], "firms": [3, 7]}),
    ...                          by={"union": None}, count="firms")
    >>> rule = MinimumFrequency(3) | MissingSafe({"region": ["99"]})
    >>> judge_unions(rule, pairs).unsafe.tolist()
    [False, False, False]
    >>> judge_unions(rule, pairs, coalition=2).unsafe.tolist()
    [False, True, False]
    """
    used, _ = rules_for_unions(rule)
    if not used:
        return declared(unions, safe=np.zeros(unions.shape, dtype=bool))
    return reduce(or_, [against(one, coalition)(unions) for one in used])


def rules_for_unions(rule: Rule) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Which rules judge unions of cells, in the order of their rank, and which are left out.

    Examples
    --------
    >>> from diskret.rules import GroupDisclosure, MinimumFrequency
    >>> judging, left_out = rules_for_unions(GroupDisclosure(90) | MinimumFrequency(3))
    >>> judging
    (MinimumFrequency(n=3, of=None, range=10, level=None),)
    >>> left_out
    (GroupDisclosure(percent=90, minimum_parent=3, range=10),)
    """
    used: tuple[Rule, ...] = ()
    left: tuple[Rule, ...] = ()
    if isinstance(rule, AnyOf | Varying):
        every = [own for part in parts(rule) for own in single(part)]
        for one in sorted(every, key=rank):
            judging, others = _for_unions(one)
            used, left = used + judging, left + others
        return used, left
    return _for_unions(rule)


def _for_unions(rule: Rule) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The same of a rule that is judged alone."""
    if isinstance(rule, Shadow | Varying):  # all that is inside of one of these is one rule
        used, left = rules_for_unions(rule.rules_inside[0])
        return (
            tuple(rule.with_rules(lambda _, part=part: part) for part in used),
            tuple(rule.with_rules(lambda _, part=part: part) for part in left),
        )
    if getattr(rule, "judges_unions", False):
        return (rule,), ()
    return (), (rule,)


def against(rule: Rule, coalition: int) -> Rule:
    """The rule for cells and unions alike, against contributors who pool what they know.

    With m of them, p% and pq let at least m estimate the largest contribution, and a minimum
    frequency of n asks for n + m - 1 contributors: m - 1 more can take themselves out. A
    dominance rule says with its own n how many pool, and stays as it is, like every rule
    without a method ``against``.

    Parameters
    ----------
    rule
        A rule, or several joined with ``|``.
    coalition
        How many contributors pool what they know, ≥ 1; with 1 the rule stays as it is.

    Returns
    -------
    Rule
        Its `largest` says how many of the largest contributions are needed now.

    Raises
    ------
    InputError
        The coalition is no whole number ≥ 1.

    Examples
    --------
    >>> from diskret.rules import MinimumFrequency, PPercent
    >>> against(PPercent(5) | MinimumFrequency(3), 2).rules[1]
    MinimumFrequency(n=4, of=None, range=10, level=None)
    """
    if isinstance(coalition, bool) or not isinstance(coalition, int) or coalition < 1:
        raise InputError(f"a coalition is a whole number of contributors ≥ 1, not {coalition!r}")
    if coalition == 1:
        return rule

    def grown(one: Any) -> Any:
        return one.against(coalition) if hasattr(one, "against") else one

    return rebuilt(rule, grown)
