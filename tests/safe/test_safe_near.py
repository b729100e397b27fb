"""Which combinations the search looks at together, and what it thinks a change costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples, some_quick

from diskret.safe import ControlTable, SafeProblem, cost_kernels, place_kernels
from diskret.safe.cells import cells
from diskret.safe.costs import SCALE
from diskret.safe.layout import layout
from diskret.safe.potential import potential


@examples(40)
@given(st.integers(0, 300), st.lists(st.integers(0, 16), max_size=4), st.integers(0, 2**32 - 1))
def test_rows_are_sorted_by_one_group_after_the_other(number, bits, seed):
    draw = np.random.default_rng(seed)
    width = 1 << np.array(bits, dtype=np.int64)
    values = draw.integers(0, width, (300, len(bits))).astype(np.uint16)
    rows = np.sort(draw.choice(300, number, replace=False))
    groups = draw.permutation(len(bits))
    found = place_kernels.sort_rows(rows, values, groups, np.array(bits, np.int64)[groups])
    last_first = [np.arange(number), *(values[rows, g] for g in groups[::-1])]
    assert found.tolist() == np.lexsort(last_first).tolist()


@examples(60)
@given(
    st.integers(1, 40),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
)
def test_the_nearest_of_the_next_rows_are_found(number, groups, window, most, seed):
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 3, (number, groups)).astype(np.int32)
    weight = draw.integers(1, 5, groups).astype(np.int32)
    columns, space = np.ascontiguousarray(values.T), np.empty(window, dtype=np.int32)
    for i in range(number):
        near, away = np.full(most, -1), np.zeros(most, dtype=np.int32)
        found = place_kernels.nearest(i, columns, weight, space, near, away)
        following = values[i + 1 : i + 1 + window]
        far = ((following != values[i]) * weight).sum(axis=1)
        places = np.argsort(far, kind="stable")[:most]
        assert near[:found].tolist() == (places + i + 1).tolist()
        assert away[:found].tolist() == far[places].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_the_same_whatever_combination_they_are_told_from(seed):
    draw = np.random.default_rng(seed)
    codes, original = np.unique(draw.integers(0, 3, (60, 4)), axis=0, return_counts=True)
    tables = tuple(ControlTable(one) for one in ((0,), (1, 2), (2, 0), (0, 2, 3)))
    names, sizes = ("a", "b", "c", "d"), (3, 3, 3, 3)
    problem = SafeProblem(names, codes.astype(np.int32), original, sizes, tables)
    laid = layout(problem, cells(problem))
    one, two = np.empty((2, len(tables)), dtype=np.int32)
    for _ in range(20):
        r, q = draw.choice(len(codes), 2)
        place_kernels.place(q, laid.values, laid.maps, two)
        place_kernels.place(r, laid.values, laid.maps, one)
        place_kernels.place_next(r, q, laid.values, laid.maps, two)
        at = [laid.maps.cells(laid.values[r : r + 1], t)[0] for t in range(len(tables))]
        assert one.tolist() == two.tolist() == at


@pytest.mark.parametrize("wall", [None, 1.0])
@pytest.mark.parametrize("seed", some_quick(range(3), [0]))
def test_what_handing_over_records_costs_is_what_squares_of_deviations_change_by(seed, wall):
    draw = np.random.default_rng(seed)
    codes, original = np.unique(draw.integers(0, 3, (60, 4)), axis=0, return_counts=True)
    tables = (0,), (0, 1), (1, 2), (3,), (0, 2, 3)
    problem = SafeProblem(
        ("a", "b", "c", "d"),
        codes.astype(np.int32),
        original,
        (3, 3, 3, 3),
        tuple(ControlTable(one) for one in tables),
    )
    laid = layout(problem, cells(problem))
    costs = potential(laid, problem.minimum, wall)
    count = draw.integers(0, 7, len(codes))

    def squares() -> int:
        """From the combinations alone."""
        total = 0
        for table in tables:
            key = [tuple(row) for row in codes[:, table].tolist()]
            for cell in set(key):
                inside = np.array([one == cell for one in key])
                total += int((count - original)[inside].sum()) ** 2
        return total

    state = laid.rest.copy()
    place_kernels.add_counts(laid.values, count - original, 1, laid.maps, state)
    one, two, squares_of, walls_of, *space = np.empty((6, len(tables)), dtype=np.int32)
    unlike = np.empty(len(tables) + 1, dtype=np.int32)
    for _ in range(20):
        r, q = draw.choice(len(codes), 2, replace=False)
        e = int(draw.integers(-3, 4))
        place_kernels.place(r, laid.values, laid.maps, one)
        place_kernels.place(q, laid.values, laid.maps, two)
        first = cost_kernels.parts_alone(one, state, costs.slope, squares_of, walls_of)
        second = cost_kernels.parts_alone(two, state, costs.slope, *space)
        apart = cost_kernels.parts_apart(one, two, first, second, squares_of, walls_of)
        looked_up, n = cost_kernels.parts_looked_up(one, two, state, costs.slope, unlike)
        assert apart == looked_up
        assert unlike[:n].tolist() == np.flatnonzero(one != two).tolist()
        before = squares()
        count[r], count[q] = count[r] + e, count[q] - e
        if wall is None:
            assert cost_kernels.cost_of(apart, e, costs.growth) == SCALE * (squares() - before)
        count[r], count[q] = count[r] - e, count[q] + e
