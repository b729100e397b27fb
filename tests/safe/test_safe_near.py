"""Which combinations the search looks at together, and what it thinks a change costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.safe import ControlTable, SafeProblem, place_kernels, search_kernels
from diskret.safe.cells import cells
from diskret.safe.costs import SCALE
from diskret.safe.layout import layout
from diskret.safe.potential import potential


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
    for i in range(number):
        near, away = np.full(most, -1), np.zeros(most, dtype=np.int32)
        found = place_kernels.nearest(i, values, weight, window, near, away)
        following = values[i + 1 : i + 1 + window]
        far = ((following != values[i]) * weight).sum(axis=1)
        places = np.argsort(far, kind="stable")[:most]
        assert near[:found].tolist() == (places + i + 1).tolist()
        assert away[:found].tolist() == far[places].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_what_handing_over_records_costs_is_what_squares_of_deviations_change_by(seed):
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
    costs = potential(laid, problem.minimum, None)
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
    one, two = np.empty((2, len(tables)), dtype=np.int32)
    unlike = np.empty(len(tables) + 1, dtype=np.int32)
    for _ in range(20):
        r, q = draw.choice(len(codes), 2, replace=False)
        e = int(draw.integers(-3, 4))
        place_kernels.place(r, laid.values, laid.maps, one)
        place_kernels.place(q, laid.values, laid.maps, two)
        apart = search_kernels._apart(one, two, state, costs.slope, costs.against, unlike)
        before = squares()
        count[r], count[q] = count[r] + e, count[q] - e
        assert search_kernels._cost(apart, e, costs.growth) == SCALE * (squares() - before)
        count[r], count[q] = count[r] - e, count[q] + e
