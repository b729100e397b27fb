"""Every method on tables so small that all patterns can be tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from profiles import scaled
from suppression_problems import cheapest, cost_of, flat, is_safe, problem_of, with_totals

from diskret.errors import ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.suppression import Method, Problem, hypercube, network, optimal, sequential

#: Cells that may become secondaries: all others are frozen, totals before inner cells.
MOST = 8

Shape = Callable[[np.random.Generator], list[Hierarchy]]


def tree(random: np.random.Generator, codes: int) -> Hierarchy:
    parent = [-1, 0, *(int(random.integers(0, i - 1)) for i in range(2, codes))]
    return Hierarchy(tuple(f"c{i}" for i in range(codes)), np.array(parent, dtype=np.int32))


#: Trees of each kind of table, and whether it is a network.
SHAPES: dict[str, tuple[Shape, bool]] = {
    "a list": (lambda _: [flat(7)], True),
    "one tree": (lambda random: [tree(random, 9)], True),
    "two lists": (lambda _: [flat(3), flat(3)], True),
    "a list and a tree": (lambda random: [flat(2), tree(random, 6)], True),
    "two trees": (lambda random: [tree(random, 5), tree(random, 4)], False),
    "three lists": (lambda _: [flat(2), flat(2), flat(2)], False),
}


def tiny_problem(seed: int) -> tuple[Problem, str]:
    """Counts or sums, with frozen cells, sliding levels, bounds, and costs of 0; its shape."""
    random = np.random.default_rng(seed)
    shape = list(SHAPES)[seed % len(SHAPES)]
    trees = SHAPES[shape][0](random)
    sizes = [len(t.leaves) for t in trees]
    # with an empty cell a table of 2 × 2 × 2 leaves nothing to choose
    leaves = random.choice([0, 1, 1, 2, 3, 4, 5, 8, 13][len(trees) // 3 :], size=sizes)
    integer = bool(random.random() < 0.5)
    problem = problem_of(
        with_totals(leaves, trees), trees, integer=integer, level=int(random.integers(1, 3))
    )
    value = problem.system.value
    cell, n = problem.requirements.cell, len(value)
    totals = np.bincount(problem.system.equations.indices[problem.system.equations.data > 0])
    order = np.lexsort((random.random(n), np.append(totals, np.zeros(n - len(totals)))))
    candidates = order[~np.isin(order, cell) & ~problem.frozen[order]]
    frozen = problem.frozen.copy()
    frozen[candidates[MOST:]] = True
    share = random.choice([np.inf, np.inf, 1.0, 2.0]) * np.maximum(value, 1)
    costs = [value, np.ones(n), random.integers(0, 4, n)]
    sliding = random.integers(0, 4, len(cell)) if random.random() < 0.4 else np.zeros(len(cell))
    return replace(
        problem,
        frozen=frozen,
        cost=costs[random.integers(0, 3)].astype(np.float64),
        requirements=replace(problem.requirements, sliding=sliding.astype(np.int64)),
        lower=np.maximum(value - share, 0),
        upper=value + share,
    ), shape


def compare(seeds: Sequence[int]) -> Counter[str]:
    """Every method against the cheapest pattern; how many tables of each shape have one."""
    protected: Counter[str] = Counter()
    for seed in seeds:
        problem, shape = tiny_problem(seed)
        least = cheapest(problem)
        methods = [sequential, hypercube, *([network] if SHAPES[shape][1] else [])]
        if least == np.inf:
            for method in (optimal, *methods):
                with pytest.raises(ProtectionError):
                    method(problem)
            continue
        protected[shape] += 1
        pattern = optimal(problem)
        assert pattern.complete, seed
        assert cost_of(problem, pattern.suppressed) == pattern.bound == least, seed
        assert is_safe(problem, pattern.suppressed), seed
        for method in methods:
            assert costs_at_least(least, method, problem), (seed, method.__name__)
    return protected


def costs_at_least(least: float, method: Method, problem: Problem) -> bool:
    suppressed = method(problem).suppressed
    return cost_of(problem, suppressed) >= least and is_safe(problem, suppressed)


def test_the_optimum_of_tiny_tables_is_that_of_all_patterns():
    protected = compare(range(scaled(120)))
    assert set(protected) == set(SHAPES)


@pytest.mark.slow
def test_the_optimum_of_500_tiny_tables_is_that_of_all_patterns():
    protected = compare(range(70, 570))
    assert all(protected[shape] >= 20 for shape in SHAPES)


def test_a_method_that_hides_too_much_is_noticed():
    problem, _ = tiny_problem(0)

    def everything(problem: Problem):
        pattern = sequential(problem)
        return replace(pattern, suppressed=~problem.frozen)

    assert costs_at_least(cheapest(problem), sequential, problem)
    assert not costs_at_least(cheapest(problem) + 1, sequential, problem)
    assert not costs_at_least(np.inf, everything, problem)
