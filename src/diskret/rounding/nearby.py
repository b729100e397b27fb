"""Where a rounding is searched for a better one: some codes of a variable exchange."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.system import System


def neighbourhoods(system: System, codes: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Cells that may change together while all others stay, again and again, ascending.

    For some leaves of a variable these are all their cells and those of the codes above them, up
    to the first that all have in common; for one leaf, up to the total. What the cells of two
    leaves can do without the others is a table of one variable less.

    Parameters
    ----------
    system
        Of one or several tables.
    codes
        Number of leaves, 2 or more; now and then it is a single one.
    seed
        Of the order.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    variables = sorted({d.name for dimensions in system.tables for d in dimensions})
    starts = np.cumsum([0, *(_size(dimensions) for dimensions in system.tables)]).tolist()
    trees = {
        name: [d.hierarchy for dims in system.tables for d in dims if d.name == name]
        for name in variables
    }
    while True:
        name = variables[int(random.integers(len(variables)))]
        tree = trees[name][int(random.integers(len(trees[name])))]
        leaves = [tree.codes[i] for i in random.permutation(tree.leaves)[:codes].tolist()]
        if random.random() < 0.2:
            leaves = leaves[:1]
        cells: list[NDArray[np.int64]] = []
        for start, dimensions in zip(starts, system.tables, strict=False):
            number = np.arange(start, start + _size(dimensions)).reshape(
                [len(d) for d in dimensions]
            )
            for axis, dimension in enumerate(dimensions):
                if dimension.name == name:
                    taken = _between(dimension.hierarchy, leaves)
                    cells.append(np.take(number, taken, axis=axis).ravel())
        yield np.sort(np.concatenate(cells))


def _between(tree: Hierarchy, codes: list[str]) -> NDArray[np.int64]:
    """The codes and those above them, without those above all."""
    own = [set(tree.ancestors[tree.position[c]].tolist()) for c in codes if c in tree.position]
    if not own:
        return np.empty(0, dtype=np.int64)
    common = set[int]() if len(codes) == 1 else set.intersection(*own)
    return np.array(sorted(set.union(*own) - common), dtype=np.int64)


def _size(dimensions: tuple[object, ...]) -> int:
    return int(np.prod([len(d) for d in dimensions], dtype=np.int64))  # type: ignore[arg-type]
