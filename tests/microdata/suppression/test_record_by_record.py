"""The cheapest values of each record alone, so that what it still shows is common enough."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from suppression_files import agreeing, files, problem_of

from diskret.microdata.suppression import record_by_record, too_rare


def sharing(rows, i, hidden):
    """Records of the original file that agree with what a record shows."""
    shown = np.where(hidden, -1, rows[i])
    return ((shown < 0) | (rows < 0) | (rows == shown)).all(axis=1).sum()


@given(files(), st.integers(1, 4), st.data())
def test_no_cheaper_set_is_enough_for_any_record(rows, k, data):
    n, m = rows.shape
    if n < k:
        return
    price = np.array(data.draw(st.lists(st.sampled_from([1, 1.5, 4]), min_size=m, max_size=m)))
    mask = record_by_record(problem_of(rows, k, price))
    assert not mask[rows < 0].any()
    assert agreeing(np.where(mask, -1, rows)).min() >= k
    for i in range(n):
        cheapest = min(
            price[np.array(hidden) & (rows[i] >= 0)].sum()
            for hidden in product([False, True], repeat=m)
            if sharing(rows, i, np.array(hidden)) >= k
        )
        assert price[mask[i]].sum() == cheapest


@given(files(), st.integers(2, 4), st.data())
def test_records_that_lean_on_others_gaps_are_counted(rows, k, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=rows.size, max_size=rows.size)))
    mask = mask.reshape(rows.shape) & (rows >= 0)
    expected = sum(sharing(rows, i, mask[i]) < k for i in range(len(rows)))
    assert too_rare(problem_of(rows, k), mask) == expected


def test_records_that_are_alike_hide_the_same():
    rows = np.array([[0, 0]] * 4 + [[0, 1]] * 2)
    assert (
        record_by_record(problem_of(rows, 3)).tolist() == [[False, False]] * 4 + [[False, True]] * 2
    )
