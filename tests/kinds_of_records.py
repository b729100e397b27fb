"""Tables of counts as sets of kinds of records, for attacks that start from the records.

A kind is a combination of all codes there are. A cell is the set of kinds in it, and what the
world cannot tell is what all numbers of records of each kind leave open that agree with it.
"""

from itertools import product

import numpy as np
from scipy.optimize import linprog

from diskret.hierarchy import Hierarchy
from diskret.hierarchy.coarser import combine
from diskret.population import Population
from diskret.tables import Dimension, Publication, Published

CODES = {"region": ["N", "S"], "sex": ["f", "m"], "age": ["o", "x", "y"]}
NAMES = [*CODES]
#: All kinds of records there can be.
KINDS = [dict(zip(NAMES, codes, strict=True)) for codes in product(*CODES.values())]


FLAT = {name: Hierarchy.flat(codes) for name, codes in CODES.items()}
DEEP = Hierarchy(("Total", "ox", "o", "x", "y"), np.array([-1, 0, 1, 1, 0]))
GROUPED = [combine(FLAT["age"], {one: [*one]}).hierarchy for one in ("ox", "xy")]


class Shown:
    """A table of counts: what it shows, whom its filter lets through, and who is in each cell."""

    def __init__(self, by, where, counts, age=FLAT["age"]):
        self.by, self.where = by, where
        self.inside = {k for k, kind in enumerate(KINDS) if all(kind[n] in where[n] for n in where)}
        self.trees = [{**FLAT, "age": age}[name] for name in by]
        self.shape = tuple(map(len, self.trees))
        self.members = [
            frozenset(
                k for k in self.inside
                if all(KINDS[k][n] in tree.leaves_below(i)
                       for n, tree, i in zip(by, self.trees, at, strict=True))
            )
            for at in product(*map(range, self.shape))
        ]  # fmt: skip
        self.value = np.array([sum(counts[k] for k in one) for one in self.members])
        self.hidden = np.zeros(len(self.members), bool)
        self.empty = self.value == 0

    def published(self, name, frequency=True, nonnegative=True):
        return Published(
            name, tuple(map(Dimension, self.by, self.trees)), "n", frequency, 0,
            np.where(self.hidden, 0, self.value).reshape(self.shape),
            self.hidden.reshape(self.shape), (self.empty & ~self.hidden).reshape(self.shape),
            nonnegative=nonnegative, where=Population.of(self.where), recorded=True,
        )  # fmt: skip


def random_tables(draw, number, hide=0.0):
    counts = draw.integers(0, 4, len(KINDS))
    shown = []
    for _ in range(number):
        by = [str(name) for name in draw.choice(NAMES, draw.integers(1, 3), replace=False)]
        where = {
            name: sorted(map(str, draw.choice(CODES[name], draw.integers(1, len(CODES[name])),
                                              replace=False)))
            for name in NAMES if draw.random() < 0.35
        }  # fmt: skip
        trees = [FLAT["age"], DEEP, *GROUPED]
        own = Shown(by, where, counts, trees[int(draw.integers(len(trees)))])
        own.hidden = draw.random(len(own.members)) < hide
        shown.append(own)
    return counts, shown


def publication(shown, **options):
    return Publication(tuple(t.published(f"t{i}", **options) for i, t in enumerate(shown)))


def ends(shown, counts, cells, signs):
    """The least and the most that some cells can add up to, whoever the records are."""
    member = np.array(
        [[k in one for k in range(len(KINDS))] for table in shown for one in table.members], float
    )
    hidden = np.concatenate([table.hidden for table in shown])
    value = member @ counts
    of = np.asarray(signs, float) @ member[cells]
    found = [
        linprog(sign * of, A_eq=member[~hidden], b_eq=value[~hidden], bounds=(0, None))
        for sign in (1, -1)
    ]
    return [np.inf if one.status == 3 else one.fun * sign
            for one, sign in zip(found, (1, -1), strict=True)]  # fmt: skip


def hide(table, *cells):
    """Hide cells by their codes, in the order of the variables."""
    for codes in cells:
        at = [tree.position[c] for tree, c in zip(table.trees, codes, strict=True)]
        table.hidden[np.ravel_multi_index(at, table.shape)] = True
    return table
