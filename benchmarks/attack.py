"""How long the attack takes on seeded tables with many suppressed cells.

Run from the repository: ``python benchmarks/attack.py [NAME ...]``. Cases of 100,000 cells in
three dimensions and more (see `ON_REQUEST`) run only if they are named. Each case is attacked
twice: by the outsider, for the intervals alone, and for the office, which wants to know whether
each sensitive cell can be one unit (of sums: 5 percent) higher and lower, and no other hidden cell
is known exactly. Partners are chosen too simply for all of these claims to be true.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from _memory import peak_megabytes
from numpy.typing import NDArray

from diskret.attack import Attacker, Examination, Requirements, Targets, examine, targets_of, unmet
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
    "3d-100k": Case(((9, 9), (10, 10), (10,)), 400_000),
    "3d-100k-magnitude": Case(((9, 9), (10, 10), (10,)), 400_000, magnitude=True),
    "3d-1m": Case(((20, 20), (20, 20), (5,)), 4_000_000),
}

#: Minutes, and more than a few for the last one.
ON_REQUEST = ("3d-100k", "3d-100k-magnitude", "3d-1m")


def main(names: list[str]) -> None:
    """Print one line for each case."""
    print(
        "case                 cells suppressed  outer  intervals s  CPU s  claims s  CPU s  shown"
        "  witnesses"
    )
    for name in names or [name for name in CASES if name not in ON_REQUEST]:
        hidden = hidden_table(CASES[name])
        published = hidden.published
        targets = targets_of(published, hidden.value, _levels(hidden))
        found, seconds, work = _timed(published)
        claims, more, extra = _timed(published, targets, hidden.value)
        print(
            f"{name:<18} {published.value.size:7} {len(found.cell):10} {found.outer:6}"
            f" {seconds:12.2f} {work:6.2f} {more:9.2f} {extra:6.2f}"
            f" {1 - unmet(claims, targets).mean():6.1%} {len(claims.witnesses):10}",
            flush=True,
        )


def _timed(
    published: Published,
    targets: Targets | None = None,
    original: NDArray[np.int64] | None = None,
) -> tuple[Examination, float, float]:
    """An attack, its seconds, and the seconds of all cores."""
    start, work = time.perf_counter(), time.process_time()
    found = examine(published, Attacker(), targets, original=original)
    return found, time.perf_counter() - start, time.process_time() - work


def _levels(hidden: Hidden) -> Requirements:
    """One unit up and down for each sensitive count, 5 percent for each sensitive sum."""
    cell = np.flatnonzero(hidden.primary)
    value = hidden.value.ravel()[cell]
    level = np.ones_like(value) if hidden.published.frequency else np.maximum(1, value // 20)
    return Requirements(cell, np.minimum(level, value), level, 0 * level)


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
