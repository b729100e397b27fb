"""Controlled rounding: multiples of the base that still add up, as near as possible."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.parallel import meanwhile
from diskret.progress import Progress, silent
from diskret.rounding.cell_by_cell import deterministic
from diskret.rounding.multiples import Multiples, chosen
from diskret.system import System
from diskret.tables.add_up import add_up, leaf_mask

#: Up to here the best rounding is sought at once, whatever the number of variables.
_SMALL = 3_000
#: Branches of that search.
_NODES = 2_000
#: And of that in a neighbourhood.
_FEW_NODES = 50
#: Neighbourhoods without gain after which the search ends.
_PATIENCE = 60
#: More steps are never tried.
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Controlled:
    """An additive rounding.

    Parameters
    ----------
    value
        A multiple of the base for each published cell of the system, int64.
    steps
        How many multiples beyond the adjacent ones were allowed, K; 0: zero-restricted.
    fewest
        Whether fewer steps are proven impossible.
    distance
        Σ|rounded − original| over the published cells, scaled units.
    least
        No rounding with so many steps has a smaller distance than this.
    work
        Neighbourhoods that were searched; as `budget` it gives the same rounding again.
    """

    value: NDArray[np.int64]
    steps: int
    fewest: bool
    distance: int
    least: float
    work: int

    @property
    def gap(self) -> float:
        """By which share the distance could be smaller at most."""
        return max(0.0, 1 - self.least / self.distance) if self.distance else 0.0


def controlled(
    system: System,
    base: int,
    *,
    steps: int | None = None,
    time_limit: float | None = None,
    budget: int | None = None,
    draw: int = 0,
    progress: Progress = silent,
) -> Controlled:
    """Round all published cells of a system to multiples of the base that satisfy its equations.

    `system`: cells of one table or of several; unpublished ones stay whatever they can be. `base`:
    scaled units. `steps`: how many multiples beyond the adjacent ones a cell may move; 0: multiples
    stay, others become one of the two adjacent multiples. None: as few as possible. Zeros stay
    zero. `time_limit`: seconds after which the best rounding so far is taken. `budget`: the same in
    neighbourhoods. `draw`: seed of the order of neighbourhoods.

    Σ|z − a| is minimised over all published cells, totals included (Salazar-González, 2005, "A
    unified mathematical programming framework for different statistical disclosure limitation
    methods", Operations Research 53). Of tables of two variables with one flat, the equations are
    a network, so the linear program has whole vertices; where both have a tree it nearly always
    has. Other tables of many cells get a first rounding from the integer program, which
    neighbourhoods then improve: a few codes of one variable exchange, everything else stays. If
    time is over before there is a first one, the leaves of a table are rounded and added up.
    """
    until = None if time_limit is None else time.monotonic() + time_limit
    shown = len(system.value) - len(system.lowest)
    tried = range(_MOST_STEPS) if steps is None else range(steps, steps + 1)
    fewest = True
    for k in tried:
        room = Multiples.of(system, base, k)
        at_once = shown <= _SMALL or all(len(dims) <= 2 for dims in system.tables)
        nodes = _NODES if at_once else _FEW_NODES
        found = meanwhile(
            partial(chosen, room, seconds=_left(until), nodes=nodes, first=not at_once),
            partial(progress, "round", k, k + 1),
        )
        if found.step is None:
            fewest &= found.impossible
            if steps is None and until is not None and time.monotonic() >= until:
                fewest = False
                break
            continue
        step, work = found.step, 0
        if not at_once:
            step, work = _improved(system, room, step, until, budget, draw, progress)
        value = (room.floor + step)[:shown] * base
        distance = int(np.abs(value - system.value[:shown]).sum())
        return Controlled(value, k, fewest, distance, min(found.least, distance), work)
    simple = _added_up(system, base) if steps is None else None
    if simple is not None:
        return simple
    asked = "so many steps" if steps else "steps=0" if steps == 0 else "any number of steps"
    why = "does not exist" if fewest else "was not found in time"
    raise ProtectionError(
        f"a rounding with {asked} whose totals are the sums of their parts {why}; allow more "
        "steps with steps=, or leave steps= out to get the fewest"
    )


def _added_up(system: System, base: int) -> Controlled | None:
    """The nearest multiples of the leaves of a single table, and their sums, however far away."""
    if len(system.tables) != 1 or np.any(system.value < 0):
        return None
    dimensions = system.tables[0]
    leaf = leaf_mask(dimensions)
    original = system.value.reshape(leaf.shape)
    rounded = np.where(leaf, deterministic(original, base), 0)
    value = add_up(rounded, [d.hierarchy for d in dimensions]).ravel()
    off = np.abs(value - system.value)
    # a multiple that is off by K bases, and another value by less than K + 1, took K steps
    return Controlled(value, int((off // base).max()), False, int(off.sum()), 0.0, 0)


def _improved(
    system: System,
    room: Multiples,
    step: NDArray[np.int64],
    until: float | None,
    budget: int | None,
    draw: int,
    progress: Progress,
) -> tuple[NDArray[np.int64], int]:
    """Search neighbourhoods, first small, then larger ones, until none has helped for long."""
    work = 0
    for codes in (2, 3):
        idle = 0
        for free in neighbourhoods(system, codes, draw):
            late = until is not None and time.monotonic() >= until
            if idle >= _PATIENCE or late or work == budget:
                break
            found = chosen(room, start=step, free=free, seconds=_left(until), nodes=_FEW_NODES)
            work += 1
            idle += 1
            if found.step is not None and room.cost(found.step) < room.cost(step):
                step, idle = found.step, 0
            progress("round", work, work + _PATIENCE - idle)
    return step, work


def _left(until: float | None) -> float | None:
    return None if until is None else max(until - time.monotonic(), 0.1)


def neighbourhoods(system: System, codes: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Cells that may change together while all others stay, again and again, ascending.

    For some leaves of a variable these are all their cells and those of the codes above them, up
    to the first that all have in common; for one leaf, up to the total. What the cells of two
    leaves can do without the others is a table of one variable less.

    `system`: of one or several tables. `codes`: number of leaves, 2 or more; now and then it is a
    single one.
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
