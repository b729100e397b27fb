"""Controlled tabular adjustment: exact on small tables, sound on all."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

from diskret.adjustment import Adjustment, adjusted, programme
from diskret.adjustment.adjust import balanced_directions, below
from diskret.adjustment.programme import solve
from diskret.deadline import Deadline
from diskret.errors import ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.solver import Solver
from diskret.system.equations import rectangular_equations
from diskret.tables import Dimension
from diskret.tables.add_up import add_up


def problem_of(shape, inner, sensitive, lower, upper, room):
    """An adjustment of a flat table with these inner cells; `sensitive` are flat positions."""
    dimensions = tuple(
        Dimension(name, Hierarchy.flat([f"{name}{i}" for i in range(n)]))
        for name, n in zip("xyz", shape, strict=False)
    )
    value = np.zeros([n + 1 for n in shape], dtype=np.int64)
    value[tuple(slice(1, None) for _ in shape)] = inner
    value = add_up(value, [d.hierarchy for d in dimensions]).ravel()
    up = np.where(value > 0, room, 0)
    return value, Adjustment(
        rectangular_equations(dimensions),
        np.array(sensitive, dtype=np.int64),
        np.array(lower, dtype=np.int64),
        np.array(upper, dtype=np.int64),
        np.minimum(up, value),
        up,
        np.ones(len(value)),
    )


def cheapest(problem, shape):
    """The least cost over all changes of the inner cells, tried one by one."""
    size = [n + 1 for n in shape]
    trees = [Hierarchy.flat(map(str, range(n))) for n in shape]
    inside = np.ravel_multi_index(np.meshgrid(*[range(1, n) for n in size], indexing="ij"), size)
    inside = inside.ravel()
    best = np.inf
    for steps in product(*[range(-problem.down[i], problem.up[i] + 1) for i in inside]):
        change = np.zeros(size, dtype=np.int64)
        change.ravel()[inside] = steps
        change = add_up(change, trees).ravel()
        if problem.satisfied(change):
            best = min(best, problem.price(change))
    return best


@examples(40)
@given(data=st.data())
def test_small_tables_are_adjusted_at_the_least_cost(data):
    inner = np.array(data.draw(st.lists(st.integers(0, 9), min_size=4, max_size=4))).reshape(2, 2)
    value, _ = problem_of((2, 2), inner, [], [], [], 3)
    able = np.flatnonzero(value > 1).tolist()
    cells = data.draw(st.lists(st.sampled_from(able), max_size=4, unique=True)) if able else []
    cells.sort()
    levels = [data.draw(st.integers(1, 2)) for _ in cells]
    _, problem = problem_of((2, 2), inner, cells, levels, levels, 3)
    best = cheapest(problem, (2, 2))
    if best == np.inf:
        with pytest.raises(ProtectionError):
            adjusted(problem)
        return
    found = adjusted(problem)
    assert problem.satisfied(found.change)
    assert found.cost == best
    assert found.bound <= best + 1e-6


@pytest.mark.long
@examples(20)
@given(st.integers(0, 10**6))
def test_first_directions_give_a_lawful_change_not_better_than_the_final_one(seed):
    random = np.random.default_rng(seed)
    inner = random.integers(5, 60, (4, 5))
    _, problem = problem_of((4, 5), inner, [], [], [], 8)
    cells = np.sort(
        random.choice(np.flatnonzero(np.arange(30) % 6 * (np.arange(30) >= 6)), 6, False)
    )
    levels = random.integers(1, 6, 6)
    _, problem = problem_of((4, 5), inner, cells, levels, levels, 8)
    first = solve(problem, balanced_directions(problem), deadline=Deadline.after(10))
    assert first.change is not None and problem.satisfied(first.change)
    assert adjusted(problem).cost <= problem.price(first.change)


def test_one_sided_levels_leave_one_direction():
    value, problem = problem_of((2, 2), [[9, 9], [9, 9]], [4], [3], [0], 6)
    assert value[4] == 9
    change = adjusted(problem).change
    assert change[4] == -3
    assert np.abs(change).sum() == 12  # a square of four inner cells, no total moves


def test_zeros_stay_zero_and_nothing_becomes_negative():
    value, problem = problem_of(
        (3, 3), [[0, 5, 3], [1, 0, 8], [4, 2, 0]], [6, 7], [2, 2], [2, 2], 4
    )
    after = value + adjusted(problem).change
    assert (after >= 0).all()
    assert (after[value == 0] == 0).all()


def test_sensitive_cells_without_room_are_refused():
    _, problem = problem_of((2, 2), [[9, 9], [9, 9]], [4], [7], [7], 3)
    with pytest.raises(ProtectionError, match="1 sensitive cell has no room"):
        adjusted(problem)


def test_a_row_with_all_others_fixed_cannot_be_adjusted():
    _, problem = problem_of((2, 2), [[5, 0], [0, 6]], [4], [1], [1], 3)
    problem.down[[0, 1, 3]], problem.up[[0, 1, 3]] = 0, 0
    with pytest.raises(ProtectionError, match="no additive table"):
        adjusted(problem)


def test_many_sensitive_cells_are_adjusted_by_directions_and_blocks():
    random = np.random.default_rng(5)
    inner = random.integers(1, 40, (9, 9))
    cells = np.flatnonzero((np.arange(100) >= 10) & (np.arange(100) % 10 > 0))[::2]
    level = np.ones(len(cells), dtype=np.int64)
    _, problem = problem_of((9, 9), inner, cells, level, level, 5)
    found = adjusted(problem)
    assert problem.satisfied(found.change)
    assert len(cells) > 30
    assert found.cost < 1.4 * problem.least()  # all totals near their values


def test_a_change_that_is_not_additive_is_no_solution():
    _, problem = problem_of((2, 2), [[9, 9], [9, 9]], [4], [2], [2], 6)
    change = adjusted(problem).change
    assert problem.satisfied(change)
    change[8] += 1
    assert not problem.satisfied(change)


def test_parts_of_a_total_follow_its_first_equation():
    equations = sparse.csr_array(np.array([[1, -1, -1, 0, 0], [1, 0, 0, -1, -1], [0, 1, 0, -1, 0]]))
    assert below(equations).toarray().tolist() == [
        [0, 1, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0] * 5,
        [0] * 5,
        [0] * 5,
    ]


def many_sensitive(seed: int) -> Adjustment:
    """A third of all cells of a table are sensitive, more than are asked for at once."""
    random = np.random.default_rng(seed)
    inner = random.integers(1, 40, (11, 11))
    cells = np.flatnonzero((np.arange(144) >= 12) & (np.arange(144) % 12 > 0))[::3]
    level = random.integers(1, 4, len(cells))
    return problem_of((11, 11), inner, cells, level, level, 6)[1]


@pytest.mark.parametrize("few", [False, True])
def test_without_a_limit_work_ends_programmes_and_never_the_clock(monkeypatch, few):
    asked: list[tuple[float | None, int | None]] = []
    run = Solver.run

    def noted(self, seconds=None, *, pivots=None, turns=None):
        asked.append((seconds, turns or pivots))
        return run(self, seconds, pivots=pivots, turns=turns)

    monkeypatch.setattr(Solver, "run", noted)
    problem = many_sensitive(0)
    if few:
        _, problem = problem_of((2, 2), [[9, 9], [9, 9]], [4], [2], [2], 6)
    adjusted(problem)
    assert {seconds for seconds, _ in asked} == {None}
    assert all(work for _, work in asked)
    asked.clear()
    adjusted(problem, time_limit=60)
    assert all(seconds is not None and 0 < seconds <= 60 for seconds, _ in asked)


@pytest.mark.parametrize("turns", [1, 3, 1000])
def test_however_little_work_is_allowed_a_change_is_lawful_and_the_same_twice(monkeypatch, turns):
    monkeypatch.setattr(programme, "_TURNS", 0)
    monkeypatch.setattr(programme, "_FEWEST_TURNS", turns)
    problem = many_sensitive(1)
    first, again = adjusted(problem), adjusted(problem)
    assert problem.satisfied(first.change)
    assert np.array_equal(first.change, again.change)
    assert first.bound <= first.cost


def test_a_first_table_that_is_not_found_is_refused(monkeypatch):
    monkeypatch.setattr(programme, "_PIVOTS", 0)
    monkeypatch.setattr(programme, "_TURNS", 0)
    monkeypatch.setattr(programme, "_FEWEST_TURNS", 0)
    with pytest.raises(ProtectionError, match="within the time and work allowed"):
        adjusted(many_sensitive(2))
