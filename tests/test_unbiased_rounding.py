"""Fractions become whole numbers: margins stay, and on average nothing changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError
from diskret.microdata.pram import _whole_moves
from diskret.microdata.transitions import TransitionMatrix
from diskret.unbiased_rounding import rounded_with_margins


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=9),
    st.floats(0, 1),
    st.integers(0, 2**32),
    st.booleans(),
    st.booleans(),
)
def test_margins_stay_and_cells_move_to_a_neighbour(counts, stay, seed, two_step, last):
    plain = TransitionMatrix.staying(range(len(counts)), stay)
    matrix = plain.two_step(counts) if two_step else plain.balanced(counts)
    table = np.array(counts)[:, None] * matrix.probabilities
    made = rounded_with_margins(table, np.random.default_rng(seed).random, 1e-6, last=last)
    assert made.sum(axis=0).tolist() == counts and made.sum(axis=1).tolist() == counts
    assert (np.abs(made - table) < 1 + 1e-5).all()
    assert (made[table == 0] == 0).all() and (made >= 0).all()


@pytest.mark.parametrize("last", [False, True])
def test_the_mean_of_many_draws_is_the_table(last):
    table = np.array([[1.3, 0.5, 1.2], [0.2, 1.0, 0.8], [0.5, 0.5, 1.0]])
    rng = np.random.default_rng(7)
    draws = 4_000
    rounded = (rounded_with_margins(table, rng.random, 1e-6, last=last) for _ in range(draws))
    mean = sum(rounded) / draws
    error = np.sqrt(table % 1 * (1 - table % 1) / draws)
    assert (np.abs(mean - table) <= 4 * error).all()


def test_margins_that_are_not_whole_are_refused():
    with pytest.raises(DiskretError, match="row 1 of the table to round is 0.7"):
        _whole_moves(np.array([[0.3, 0.4], [0.7, 0.6]]), np.random.default_rng(1))


@pytest.mark.parametrize("last", [False, True])
def test_a_fraction_left_alone_by_rounding_errors_becomes_the_nearest_number(last):
    table = np.array([[2.0, 1.0 - 3e-6, 1.0], [0.0, 1.0, 4e-6]])
    made = rounded_with_margins(table, np.random.default_rng(2).random, 1e-6, last=last)
    assert made.tolist() == [[2, 1, 1], [0, 1, 0]]
