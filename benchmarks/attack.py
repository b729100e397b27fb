"""How long the attack takes on seeded tables with many suppressed cells.

Run from the repository: ``python benchmarks/attack.py [NAME ...]``.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from _memory import peak_megabytes
from numpy.typing import NDArray

from diskret.attack import examine
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published


@dataclass(frozen=True)
class Case:
    """A kind of table: branching of each dimension, records, measure, share of extra cells."""

    branching: tuple[tuple[int, ...], ...]
    records: int
    magnitude: bool = False
    seed: int = 1


CASES = {
    "2d-1k": Case(((5, 5), (5, 5)), 5_000),
    "2d-10k": Case(((9, 9), (10, 10)), 50_000),
    "2d-10k-magnitude": Case(((9, 9), (10, 10)), 50_000, magnitude=True),
    "3d-1k": Case(((3, 3), (3, 3), (5,)), 4_000),
    "3d-1k-magnitude": Case(((3, 3), (3, 3), (5,)), 4_000, magnitude=True),
    "3d-10k": Case(((5, 5), (5, 5), (10,)), 50_000),
    "3d-10k-magnitude": Case(((5, 5), (5, 5), (10,)), 50_000, magnitude=True),
    "2d-100k": Case(((16, 16), (19, 19)), 500_000),
}


def main(names: list[str]) -> None:
    """Print one line for each case."""
    print("case                cells suppressed  seconds  CPU s  proven  exact  witnesses")
    for name in names or list(CASES):
        published = hidden_table(CASES[name])
        start, work = time.perf_counter(), time.process_time()
        found = examine(published)
        seconds, work = time.perf_counter() - start, time.process_time() - work
        near = 1e-9 * published.value.max()
        reached = (found.witness_lower <= found.lower + near) & (
            (found.witness_upper >= found.upper - near) | np.isinf(found.upper)
        )
        print(
            f"{name:<18} {published.value.size:6} {len(found.cell):10} {seconds:8.2f} {work:6.2f}"
            f" {reached.mean():7.1%} {np.mean(found.lower == found.upper):6.1%}"
            f" {found.witnesses.shape[0]:10}"
        )


@dataclass(frozen=True)
class Hidden:
    """A table with suppressed cells, its original values, and which cells are sensitive."""

    published: Published
    value: NDArray[np.int64]
    primary: NDArray[np.bool_]


def hidden_table(case: Case) -> Hidden:
    """A random table with its sensitive cells and simple partners suppressed."""
    rng = np.random.default_rng(case.seed)
    trees = [_tree(branching, "ABCDE"[i]) for i, branching in enumerate(case.branching)]
    leaves = [rng.choice(t.leaves, case.records, p=_zipf(len(t.leaves), rng)) for t in trees]
    shape = tuple(len(t) for t in trees)
    flat = np.ravel_multi_index(leaves, shape)
    size = int(np.prod(shape))
    turnover = np.maximum(1, np.rint(np.exp(rng.normal(4, 1.5, case.records)))).astype(np.int64)

    count = np.bincount(flat, minlength=size).reshape(shape)
    total = np.bincount(flat, turnover, size).astype(np.int64).reshape(shape)
    top = np.zeros((size, 2), dtype=np.int64)
    order = np.lexsort((-turnover, flat))
    rank = np.arange(case.records) - np.searchsorted(flat[order], flat[order])
    for i in range(2):
        chosen = order[rank == i]
        top[flat[chosen], i] = turnover[chosen]
    top = top.reshape(*shape, 2)
    for axis, tree in enumerate(trees):
        for code in range(len(tree) - 1, 0, -1):
            below, above = ((slice(None),) * axis + (i,) for i in (code, int(tree.parent[code])))
            count[above] += count[below]
            total[above] += total[below]
            both = np.concatenate((top[above], top[below]), axis=-1)
            top[above] = -np.sort(-both, axis=-1)[..., :2]

    value = total if case.magnitude else count
    if case.magnitude:
        open_ = total - top.sum(axis=-1) < 0.1 * top[..., 0]
        primary = (count > 0) & ((count < 3) | open_)
    else:
        primary = (count > 0) & (count <= 3)
    hidden = _add_partners(trees, value, primary)
    published = Published(
        name="benchmark",
        dimensions=tuple(Dimension("ABCDE"[i], tree) for i, tree in enumerate(trees)),
        measure="turnover" if case.magnitude else "count",
        frequency=not case.magnitude,
        decimals=0,
        value=np.where(hidden, 0, value),
        suppressed=hidden,
        empty=count == 0,
    )
    return Hidden(published, value, primary)


def _tree(branching: tuple[int, ...], letter: str) -> Hierarchy:
    codes, parent = [letter], [-1]

    def grow(above: int, depth: int) -> None:
        if depth < len(branching):
            for i in range(branching[depth]):
                codes.append(f"{codes[above]}{i:02d}")
                parent.append(above)
                grow(len(codes) - 1, depth + 1)

    grow(0, 0)
    return Hierarchy(tuple(codes), np.array(parent, dtype=np.int32))


def _zipf(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    weight = rng.permutation(1 / np.arange(1, n + 1) ** 0.7)
    return weight / weight.sum()


def _add_partners(
    trees: list[Hierarchy], value: NDArray[np.int64], primary: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Suppress the smallest cells until no equation has a single suppressed cell."""
    hidden = primary.copy()
    views = []
    for axis, tree in enumerate(trees):
        v, h = np.moveaxis(value, axis, 0), np.moveaxis(hidden, axis, 0)
        groups = [np.append(c, i) for i, c in enumerate(tree.children) if len(c)]
        views += [(v, h, g) for g in groups]
    changed = True
    while changed:
        changed = False
        for v, h, group in views:
            alone = np.argwhere(h[group].sum(axis=0) == 1)
            for other in alone.tolist():
                at = (group, *other)
                price = np.where(h[at] | (v[at] == 0), np.iinfo(np.int64).max, v[at])
                h[group[np.argmin(price)], *other] = True
                changed = True
    return hidden


if __name__ == "__main__":
    main(sys.argv[1:])
    print(f"peak memory {peak_megabytes():.0f} MB")
