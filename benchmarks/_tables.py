"""Seeded random tables and the problems that rules make of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from diskret import Hierarchy, tabulate
from diskret.attack import Attacker
from diskret.deadline import Deadline
from diskret.protect.plan import TableToProtect, plan
from diskret.rules import MinimumFrequency, PPercent, Rule
from diskret.suppression import Problem
from diskret.tables import Table


def random_problem(
    branching: tuple[tuple[int, ...], ...], records: int, what: str, seed: int
) -> Problem:
    """Counts below 4, or sums (p = 10 %), of skewed records in a table with these trees.

    Parameters
    ----------
    branching
        For each variable how many children the codes of each level have: ``(5,)`` is flat.
    records
        Number of records; a cell of the leaves gets a share that falls along each variable.
    what
        ``"count"`` or ``"value"``, also the cost.
    seed
        Of the records.
    """
    table = random_table(branching, records, what, seed)
    if what == "count":
        return problem_of(table, MinimumFrequency(4), "count")
    return problem_of(table, PPercent(10), "value")


def random_table(
    branching: tuple[tuple[int, ...], ...], records: int, what: str, seed: int
) -> Table:
    """The table of such a problem, see `random_problem`."""
    random = np.random.default_rng(seed)
    trees = [_tree(levels, "ABCDE"[i]) for i, levels in enumerate(branching)]
    columns = {f"v{i}": _codes(tree, records, random) for i, tree in enumerate(trees)}
    turnover = np.maximum(np.rint(np.exp(random.normal(4, 1.5, records))), 1)
    frame = pa.table({**columns, "turnover": turnover.astype(np.int64)})
    by = dict(zip(columns, trees, strict=True))
    return tabulate(frame, by=by, value=None if what == "count" else "turnover")


def problem_of(table: Table, rule: Rule, cost: str, seconds: float | None = None) -> Problem:
    """The problem that a method gets for one table against the outsider."""
    return plan(
        [TableToProtect(table, rule, rule(table), cost, None, None, 0, "table")],
        keys=None,
        attacker=Attacker(),
        deadline=Deadline.after(seconds),
        progress=lambda *_: None,
    )


def _tree(branching: tuple[int, ...], letter: str) -> Hierarchy:
    codes, parent, level = [letter], [-1], [0]
    for children in branching:
        below: list[int] = []
        for above in level:
            for child in range(children):
                below.append(len(codes))
                codes.append(f"{codes[above]}.{child:03}")
                parent.append(above)
        level = below
    order = np.argsort(codes)  # depth first
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    above = np.array([-1 if parent[i] < 0 else place[parent[i]] for i in order], dtype=np.int32)
    return Hierarchy(tuple(codes[i] for i in order), above)


def _codes(tree: Hierarchy, records: int, random: np.random.Generator) -> pa.Array:
    """Leaf codes, some much more frequent than others."""
    leaves = [tree.codes[i] for i in tree.leaves]
    share = 1 / np.arange(2, len(leaves) + 2)
    share = random.permutation(share / share.sum())
    return pa.array(np.array(leaves)[random.choice(len(leaves), records, p=share)])
