"""Suppression problems for tests, and an attacker that shares no code with any method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, milp

from diskret.attack import Requirements
from diskret.errors import ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.suppression import Method, Pattern, Problem
from diskret.system import Cell, System
from diskret.tables import Dimension, Table

#: Two regions of three each.
REGIONS = Hierarchy(
    ("Total", "N", "N1", "N2", "N3", "S", "S1", "S2", "S3"),
    np.array([-1, 0, 1, 1, 1, 0, 5, 5, 5], dtype=np.int32),
)

# ── an attacker of the test's own ───────────────────────────────────────────────


def violations(problem: Problem, suppressed: NDArray[np.bool_]) -> list[int]:
    """Cells whose requirement the attacker's interval does not meet, by brute force."""
    return list(_violated(problem, suppressed))


def is_safe(problem: Problem, suppressed: NDArray[np.bool_]) -> bool:
    """Whether there are no violations; stops at the first."""
    return next(_violated(problem, suppressed), None) is None


def _violated(problem: Problem, suppressed: NDArray[np.bool_]) -> Iterator[int]:
    """The published primaries, then hidden cells of too little room, primaries first."""
    requirements = problem.requirements
    needs = {
        int(cell): (int(lower), int(upper), max(int(sliding), 1))
        for cell, lower, upper, sliding in zip(
            requirements.cell,
            requirements.lower,
            requirements.upper,
            requirements.sliding,
            strict=True,
        )
    }
    yield from (cell for cell in needs if not suppressed[cell])
    for cell in sorted(np.flatnonzero(suppressed).tolist(), key=lambda c: c not in needs):
        below, above, width = needs.get(cell, (0, 0, 1))
        down = -extreme(problem, suppressed, cell, -1)
        up = extreme(problem, suppressed, cell, 1)
        if down < below - 1e-6 or up < above - 1e-6 or down + up < width - 1e-6:
            yield cell


def extreme(problem: Problem, suppressed: NDArray[np.bool_], cell: int, sign: int) -> float:
    """The largest change of a cell (the smallest for sign -1), as far as it can matter."""
    hidden = np.flatnonzero(suppressed)
    value = problem.system.value[hidden]
    lower, upper = problem.lower[hidden] - value, problem.upper[hidden] - value
    at = int(np.searchsorted(hidden, cell))
    needs = problem.requirements
    far = 1 + max(int(need.max(initial=1)) for need in (needs.lower, needs.upper, needs.sliding))
    lower[at], upper[at] = max(lower[at], -far), min(upper[at], far)
    matrix = problem.system.equations.toarray().astype(float)[:, hidden]
    goal = np.zeros(len(hidden))
    goal[at] = -sign
    if problem.integer:
        lower, upper = np.ceil(lower), np.floor(upper)
        answer = milp(
            goal,
            integrality=np.ones(len(hidden)),
            bounds=(lower, upper),
            constraints=LinearConstraint(matrix, 0, 0),
        )
    else:
        answer = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=np.c_[lower, upper])
    assert answer.status == 0
    return float(answer.x[at])


# ── problems ────────────────────────────────────────────────────────────────────


def problem_of(
    count: NDArray[np.int64],
    hierarchies: list[Hierarchy],
    minimum: int = 3,
    integer: bool = True,
    level: int = 1,
) -> Problem:
    """Protect all cells below `minimum` of a table that is given with its totals."""
    dimensions = tuple(
        Dimension(f"v{axis}", hierarchy) for axis, hierarchy in enumerate(hierarchies)
    )
    system = System.of_table(Table(dimensions, count))
    value = system.value
    cell = np.flatnonzero((value > 0) & (value < minimum))
    levels = np.full(len(cell), level)
    return Problem(
        system=system,
        requirements=Requirements(
            cell, np.minimum(levels, value[cell]), levels, np.zeros_like(levels)
        ),
        cost=value.astype(np.float64),
        frozen=value == 0,
        lower=np.zeros(len(value)),
        upper=np.full(len(value), np.inf),
        integer=integer,
    )


def with_totals(leaves: NDArray[np.int64], hierarchies: list[Hierarchy]) -> NDArray[np.int64]:
    """All combinations of codes from the combinations of leaf codes."""
    for axis, hierarchy in enumerate(hierarchies):
        below = np.zeros((len(hierarchy), len(hierarchy.leaves)), dtype=np.int64)
        for column, leaf in enumerate(hierarchy.leaves):
            below[hierarchy.ancestors[leaf], column] = 1
        leaves = np.moveaxis(np.tensordot(below, leaves, (1, axis)), 0, axis)
    return leaves


def flat(codes: int) -> Hierarchy:
    """Some codes below one total."""
    return Hierarchy(
        ("Total", *(f"c{i}" for i in range(codes))), np.r_[-1, np.zeros(codes)].astype(np.int32)
    )


@st.composite
def hierarchies(draw: st.DrawFn, largest: int) -> Hierarchy:
    """A small tree; chains of single children are frequent."""
    size = draw(st.integers(2, largest))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, size)]
    return Hierarchy(tuple(f"c{i}" for i in range(size)), np.array(parent, dtype=np.int32))


@st.composite
def problems(
    draw: st.DrawFn, dimensions: int = 4, tiny: bool = False, networks: bool = False
) -> Problem:
    """Tables of one to four dimensions with hierarchies, zeros, ties and singletons.

    Only `networks`: of two dimensions at most, one of them flat.
    """
    d = draw(st.integers(1, min(dimensions, 2) if networks else dimensions))
    largest = {1: 7, 2: 4, 3: 3} if tiny else {1: 7, 2: 6, 3: 4, 4: 3}
    trees = [draw(hierarchies(largest[d])) for _ in range(d)]
    if networks and d > 1:
        trees[draw(st.integers(0, 1))] = flat(draw(st.integers(0, 5)))
    shape = tuple(len(tree.leaves) for tree in trees)
    size = int(np.prod(shape))
    sizes = st.sampled_from([0, 0, 1, 1, 2, 3, 3, 4, 5, 8, 8, 13])
    leaves = np.array(draw(st.lists(sizes, min_size=size, max_size=size)), dtype=np.int64)
    count = with_totals(leaves.reshape(shape), trees)
    integer = draw(st.booleans())
    problem = problem_of(count, trees, integer=integer, level=1 if integer else draw(levels))
    return problem


levels = st.sampled_from([1, 2, 3])


@st.composite
def hard_problems(draw: st.DrawFn, tiny: bool = False, networks: bool = False) -> Problem:
    """The same with frozen cells, an attacker's bounds, sliding levels, zeros, costs, a start."""
    problem = draw(problems(3, tiny, networks))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value, n = problem.system.value, len(problem.system.value)
    primary = np.zeros(n, dtype=bool)
    primary[problem.requirements.cell] = True
    sometimes = random.random(n)
    frozen = (value == 0) & (draw(st.booleans()) | (sometimes < 0.5))
    frozen |= ~primary & (sometimes < draw(st.sampled_from([0, 0.1, 0.2])))
    known = draw(st.sampled_from([np.inf, 0.5, 1.0]))
    share = known * value if np.isfinite(known) else np.full(n, np.inf)
    return replace(
        problem,
        frozen=frozen,
        lower=np.maximum(value - share, 0),
        upper=value + share,
        cost=random.integers(0, 5, n).astype(np.float64),
        requirements=replace(
            problem.requirements, sliding=random.integers(0, 4, int(primary.sum()))
        ),
        start=~frozen & (random.random(n) < 0.2) if draw(st.booleans()) else None,
    )


def no_requirements() -> Requirements:
    """No primary cell at all."""
    return Requirements(*np.empty((4, 0), dtype=np.int64))


def largest_pattern(problem: Problem) -> NDArray[np.bool_]:
    """Everything suppressed that is not frozen."""
    return ~problem.frozen


def cost_of(problem: Problem, suppressed: NDArray[np.bool_]) -> float:
    """Cost of the secondaries."""
    secondary = suppressed.copy()
    secondary[problem.requirements.cell] = False
    return float(problem.cost[secondary].sum())


def solved(method: Method, problem: Problem) -> Pattern:
    """A pattern, or no example if even the largest one violates a primary's requirement."""
    try:
        return method(problem)
    except ProtectionError:
        impossible = set(violations(problem, largest_pattern(problem)))
        assert impossible & set(problem.requirements.cell.tolist())
        assume(False)
        raise


def lecture_table() -> Problem:
    """Religion by school: the lecture's table, minimum frequency 3."""
    rows = [
        [894, 315, 320, 13, 4, 242],
        [47, 13, 10, 2, 0, 22],
        [23, 8, 8, 0, 0, 7],
        [356, 136, 128, 3, 0, 89],
        [181, 76, 90, 3, 0, 12],
        [79, 24, 24, 1, 0, 30],
        [208, 58, 60, 4, 4, 82],
    ]
    return problem_of(np.array(rows), [flat(6), flat(5)])


def halves_problem() -> Problem:
    """i can rise by 1 only, k1 = k2 follow by a half each, unless q moves as well."""
    names = ("i", "k1", "k2", "m", "p", "q")
    system = System(
        cells=[Cell("x", "", (("cell", name),)) for name in names],
        value=np.array([7, 5, 5, 9, 4, 3]),
        equations=sparse.csr_array(
            np.array(
                [[1, -1, -1, 0, 0, 1], [0, -1, 0, 1, -1, 0], [0, 0, -1, 1, -1, 0]], dtype=np.int8
            )
        ),
    )
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    return Problem(
        system=system,
        requirements=Requirements(zero, zero, one, zero),
        cost=np.array([0.0, 1, 1, 1, 100, 50]),
        frozen=np.zeros(6, dtype=bool),
        lower=np.array([7.0, 0, 0, 0, 0, 0]),
        upper=np.array([8.0, *[np.inf] * 5]),
    )


def cheapest(problem: Problem) -> float:
    """Cost of the cheapest pattern that the attacker cannot undo, by trying all; or inf."""
    for suppressed in sorted(all_patterns(problem), key=lambda p: cost_of(problem, p)):
        if is_safe(problem, suppressed):
            return cost_of(problem, suppressed)
    return np.inf


def all_patterns(problem: Problem) -> Iterator[NDArray[np.bool_]]:
    """The primaries with each choice of the other cells that may be hidden."""
    candidates = np.flatnonzero(~problem.frozen)
    candidates = candidates[~np.isin(candidates, problem.requirements.cell)]
    for choice in product((False, True), repeat=len(candidates)):
        suppressed = np.zeros(len(problem.frozen), dtype=bool)
        suppressed[problem.requirements.cell] = True
        suppressed[candidates[list(choice)]] = True
        yield suppressed
