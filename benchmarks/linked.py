"""How long the equations of many linked tables take: each by two of some variables.

python benchmarks/linked.py [tables] [variables] [codes]
"""

from __future__ import annotations

import sys
import time
from itertools import combinations

import numpy as np

from diskret.attack.equations import equations
from diskret.hierarchy import Hierarchy
from diskret.protect.plan import publish
from diskret.rules import MinimumFrequency
from diskret.system import joint_system
from diskret.tables import Dimension, Publication, Table
from diskret.tables.add_up import add_up

SEED = 1


def linked_tables(
    number: int = 20, variables: int = 7, codes: int = 70, seed: int = SEED
) -> list[Table]:
    """Tables of the same records by two variables each, ``(codes + 1)²`` cells or more.

    Every second variable has a hierarchy of two levels.
    """
    rng = np.random.default_rng(seed)
    trees = [_tree(codes, nested=bool(v % 2)) for v in range(variables)]
    records = 20 * codes**2
    of = [rng.zipf(1.3, 4 * records) - 1 for _ in trees]
    inside = np.all([own < len(_leaves(tree)) for own, tree in zip(of, trees, strict=True)], 0)
    place = [_leaves(t)[own[inside][:records]] for own, t in zip(of, trees, strict=True)]
    made: list[Table] = []
    for pair in list(combinations(range(variables), 2))[:number]:
        dimensions = tuple(Dimension(f"v{v}", trees[v]) for v in pair)
        count = np.zeros(tuple(len(d) for d in dimensions), dtype=np.int64)
        np.add.at(count, tuple(place[v] for v in pair), 1)
        made.append(Table(dimensions, add_up(count, [d.hierarchy for d in dimensions])))
    return made


def _tree(codes: int, nested: bool) -> Hierarchy:
    leaves = [f"{i:04d}" for i in range(codes)]
    return Hierarchy.from_prefix(leaves, (3, 1)) if nested else Hierarchy.flat(leaves)


def _leaves(tree: Hierarchy) -> np.ndarray:
    return np.setdiff1d(np.arange(len(tree)), tree.parent)


def main() -> None:
    tables = linked_tables(*map(int, sys.argv[1:3]))
    rule = MinimumFrequency(3)
    shown = Publication(tuple(publish(t, rule(t).unsafe, f"t{i}") for i, t in enumerate(tables)))
    print(f"{len(tables)} tables, {sum(t.measure.sum.size for t in tables):,} cells")
    for name, work in {
        "protector's equations": lambda: joint_system(tables).equations.shape,
        "attacker's equations": lambda: equations(shown).matrix.shape,
    }.items():
        start = time.process_time()
        shape = work()
        print(f"{name}: {shape}, {time.process_time() - start:.2f} s CPU")


if __name__ == "__main__":
    main()
