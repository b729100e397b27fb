"""Vertices of large numbers: exact at once where that is sure, else magnified."""

import numpy as np
import pytest
from scipy import sparse

from diskret.attack.linear_programme import LinearProgramme


def two_parts(total, upper):
    """x + y = total, y at least 0 and x between 0 and `upper`."""
    none = np.zeros(2, dtype=np.int64)
    matrix = sparse.csr_array(np.array([[1, 1]]))
    return LinearProgramme(matrix, np.array([total]), none, np.array([upper, total]))


@pytest.fixture
def runs(monkeypatch):
    """Which programmes the solver was given."""
    seen = []
    run = LinearProgramme._run

    def counted(programme):
        seen.append(programme)
        return run(programme)

    monkeypatch.setattr(LinearProgramme, "_run", counted)
    return seen


def test_a_vertex_that_is_exact_is_not_magnified(runs):
    answer = two_parts(10**15 + 10**9, 10**15 + 1).farthest(np.array([1.0, 0.0]))
    assert answer.point.numerator.tolist() == [10**15 + 1, 10**9 - 1]
    assert len(runs) == 1


def test_a_vertex_that_breaks_a_bound_by_less_than_the_solver_sees_is_magnified(runs):
    """From afar x may be all of the total, which is 6 too much."""
    answer = two_parts(10**15 + 7, 10**15 + 1).farthest(np.array([1.0, 0.0]))
    assert answer.point.numerator.tolist() == [10**15 + 1, 6]
    assert len(runs) > 1


def test_bounds_beyond_exact_floats_are_reached_all_the_same(runs):
    """2**60 + 1 is no float: seen from afar, a cell on this bound would lie below it."""
    answer = two_parts(2**61, 2**60 + 1).farthest(np.array([1.0, 0.0]))
    assert answer.point.numerator.tolist() == [2**60 + 1, 2**60 - 1]
    assert len(runs) > 1
