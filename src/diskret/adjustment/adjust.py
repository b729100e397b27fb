"""Controlled tabular adjustment: sensitive cells to their levels, the rest least, additive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.adjustment.problem import Adjusted, Adjustment
from diskret.adjustment.programme import Solved, solve
from diskret.deadline import Deadline
from diskret.errors import ProtectionError
from diskret.texts.numbers import Count

#: Up to so many sensitive cells all directions are looked for at once.
_AT_ONCE = 30
#: Sensitive cells whose directions are looked for together, and how many programmes in a row
#: may fail to find better ones.
_BLOCK = 6
_PATIENCE = 8
#: Seconds that the search for a first table gets at least: without one nothing can be published.
_FIRST_SECONDS = 5.0
#: Branches of a programme.
_NODES, _NODES_OF_BLOCK = 20_000, 50
_SWEEPS = 100
#: A total that must move and doesn't costs so many times what moving it would.
_SHORT = 20.0


def adjusted(problem: Adjustment, time_limit: float | None = None) -> Adjusted:
    """Move sensitive cells to their levels, everything else least, so that all equations hold.

    Up to 30 sensitive cells a mixed-integer programme finds the cheapest change. Above that
    directions are chosen so that totals stay where they are, a linear programme finds the least
    change for these, and blocks of neighbouring directions are looked for anew as long as that
    makes the change cheaper.

    Parameters
    ----------
    problem
        What is asked.
    time_limit
        Seconds after which the search for a cheaper change stops, five seconds later at most if
        there is no change by then; None: when it finds none. Without one the work of each
        programme is bounded, and the change is the same on every computer.

    Raises
    ------
    ProtectionError
        No change satisfies everything, or none was found.

    References
    ----------
    Dandekar, R. A., Cox, L. H. (2002), Synthetic tabular data: an alternative to complementary
    cell suppression. Castro, J. (2006), Minimum-distance controlled perturbation methods for
    large-scale tabular data protection, European Journal of Operational Research 171, 39-52.

    Examples
    --------
    >>> from scipy import sparse
    >>> equations = sparse.csr_array(np.array([[1, -1, -1]]))
    >>> two, ends = np.array([2]), np.array([12, 10, 2])
    >>> problem = Adjustment(equations, np.array([2]), two, two, ends, ends, np.ones(3))
    >>> adjusted(problem).cost
    4.0
    """
    deadline = Deadline.after(time_limit)
    n, stuck = len(problem.cost), ~(problem.may_rise | problem.may_fall)
    if stuck.any():
        number = Count(stuck.sum())
        raise ProtectionError(
            f"{number} sensitive {number:cell has|cells have} no room to move as far as "
            f"{number:it|they} must in either direction; allow larger changes (largest_change=), "
            "or release frozen cells"
        )
    if len(problem.cell) == 0:
        return Adjusted(np.zeros(n, dtype=np.int64), 0.0, 0.0)
    least = problem.least()
    if len(problem.cell) <= _AT_ONCE:
        found = solve(problem, _open(problem), deadline=deadline, nodes=_NODES)
        if found.change is not None:
            return Adjusted(
                found.change, problem.price(found.change), max(found.bound, least), rounds=1
            )
        if found.impossible:
            raise _impossible()
    change = _first(problem, deadline)
    return _improved(problem, change, deadline, least)


def _open(problem: Adjustment) -> NDArray[np.int8]:
    return np.zeros(len(problem.cell), dtype=np.int8)


def _first(problem: Adjustment, deadline: Deadline) -> NDArray[np.int64]:
    """A change that satisfies everything: balanced; else upwards, downwards, or any."""
    if deadline.seconds() < _FIRST_SECONDS:
        deadline = Deadline.after(_FIRST_SECONDS)
    upwards = np.where(problem.may_rise, 1, -1).astype(np.int8)
    downwards = np.where(problem.may_fall, -1, 1).astype(np.int8)
    found = Solved(None)
    ways = balanced_directions(problem), upwards, downwards, _open(problem)
    for way, part in zip(ways, (0.5, 0.5, 0.5, 1.0), strict=True):
        found = solve(problem, way, deadline=deadline.share(part), nodes=_NODES)
        if found.change is not None:
            return found.change
    if found.impossible:
        raise _impossible()
    raise ProtectionError(
        "no adjustment was found within the time and work allowed; allow larger changes "
        "(largest_change=), or suppress cells instead"
    )


def _impossible() -> ProtectionError:
    return ProtectionError(
        "no additive table moves every sensitive cell as far as it must while all others stay "
        "within largest_change= of their values and empty cells stay empty; allow larger "
        "changes, release frozen cells, or suppress cells instead"
    )


def _improved(
    problem: Adjustment, change: NDArray[np.int64], deadline: Deadline, least: float
) -> Adjusted:
    """Look for better directions in one block after the other."""
    random = np.random.default_rng(1)
    cost, failed, rounds = problem.price(change), 0, 0
    while failed < _PATIENCE and not deadline.passed and cost > least * (1 + 1e-9):
        block, among = _neighbours(problem, int(random.integers(len(problem.cell))), random)
        way = np.sign(change[problem.cell]).astype(np.int8)
        way[block] = 0
        found = solve(
            problem,
            way,
            deadline=deadline,
            nodes=_NODES_OF_BLOCK,
            among=among,
            start=change,
        )
        rounds += 1
        better = None if found.change is None else problem.price(found.change)
        if better is not None and better < cost * (1 - 1e-9) and found.change is not None:
            change, cost, failed = found.change, better, 0
        else:
            failed += 1
    return Adjusted(change, cost, least, rounds)


def _neighbours(
    problem: Adjustment, seed: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Sensitive cells near one of them, and all cells that share equations with these."""
    touches = abs(problem.equations)
    near = np.zeros(len(problem.cost), dtype=np.int64)
    near[problem.cell[seed]] = 1
    block = np.array([seed])
    for _ in range(6):
        near = np.minimum(touches.T @ np.minimum(touches @ near, 1), 1)
        block = np.flatnonzero(near[problem.cell])
        if len(block) >= _BLOCK:
            break
    if len(block) > _BLOCK:
        block = np.union1d([seed], random.choice(block, _BLOCK - 1, replace=False))
    among = np.zeros(len(problem.cost), dtype=np.int64)
    among[problem.cell[block]] = 1
    for _ in range(2):
        among = np.minimum(touches.T @ np.minimum(touches @ among, 1), 1)
    return block, among > 0


def balanced_directions(problem: Adjustment) -> NDArray[np.int8]:
    """A direction for each sensitive cell, 1 or −1, ``(k,)``; 0 where it follows from others.

    Cells that are no totals are turned, the largest steps first, so that all totals together
    move least if nothing else moves; then one by one as long as that gets less.
    """
    from diskret.adjustment.step_kernels import choose_directions

    n = len(problem.cost)
    parts = below(problem.equations)
    inner = np.flatnonzero(~np.asarray(parts.sum(axis=1) > 0).ravel()[problem.cell])
    way = np.zeros(len(problem.cell), dtype=np.int8)
    way[problem.may_rise & ~problem.may_fall] = 1
    way[~problem.may_rise & problem.may_fall] = -1
    if len(inner) == 0:
        return way
    above = sparse.csr_array(_above(parts, problem.cell[inner]))
    rise = np.where(problem.may_rise, problem.upper, -1)[inner]
    fall = np.where(problem.may_fall, problem.lower, -1)[inner]
    need = np.full((2, n), -1, dtype=np.int64)
    need[0, problem.cell] = np.where(problem.may_rise, problem.upper, -1)
    need[1, problem.cell] = np.where(problem.may_fall, problem.lower, -1)
    found = np.zeros(len(inner), dtype=np.int8)
    moved = np.zeros(n, dtype=np.int64)
    choose_directions(
        np.argsort(-np.maximum(rise, fall), kind="stable"),
        above.indptr.astype(np.int64),
        above.indices.astype(np.int64),
        rise,
        fall,
        problem.cost,
        need[0],
        need[1],
        _SHORT,
        _SWEEPS,
        found,
        moved,
    )
    way[inner] = found
    total = np.setdiff1d(np.flatnonzero(way == 0), inner)
    there = moved[problem.cell[total]]
    way[total] = np.sign(there)
    return way


def below(equations: sparse.csr_array) -> sparse.csr_array:
    """The parts of each total by the first equation of it, ``(n, n)``; parts have empty rows."""
    n = equations.shape[1]
    entries = sparse.coo_array(equations)
    line, column = entries.coords
    total = np.full(equations.shape[0], -1, dtype=np.int64)
    total[line[entries.data > 0]] = column[entries.data > 0]
    first = np.zeros(equations.shape[0], dtype=bool)
    first[np.unique(total, return_index=True)[1]] = True
    kept = (entries.data < 0) & first[line] & (total[line] >= 0)
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    return sparse.csr_array((ones, (total[line[kept]], column[kept])), shape=(n, n))


def _above(parts: sparse.csr_array, cells: NDArray[np.int64]) -> sparse.csr_array:
    """Cells that move with each of some cells, themselves included, ``(len(cells), n)``."""
    n = parts.shape[0]
    at = np.arange(len(cells))
    step = sparse.csr_array((np.ones(len(cells), np.int64), (at, cells)), shape=(len(cells), n))
    upwards = sparse.csr_array(parts.T)
    found = step
    for _ in range(n):
        step = sparse.csr_array(step @ upwards)
        if step.nnz == 0:
            break
        found = found + step
    return sparse.csr_array(found)
