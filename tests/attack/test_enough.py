"""Searches that ask no more of a cell than is wanted of it."""

import numpy as np
from scipy import sparse

from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.search import Wanted, search


def searched(monkeypatch, high, enough):
    """Three cells that add up to 30, each from 0 to 20; and how many programmes were asked."""
    matrix = sparse.csr_array(np.array([[1, 1, 1]]))
    programme = LinearProgramme(matrix, np.array([30]), np.zeros(3, np.int64), np.full(3, 20))
    runs = []
    run = LinearProgramme._run
    with monkeypatch.context() as patch:
        patch.setattr(LinearProgramme, "_run", lambda own: runs.append(own) or run(own))
        wanted = Wanted(np.full(3, 10), np.full(3, high), np.zeros(3, dtype=np.int64))
        every = np.ones(3, dtype=bool)
        return search(programme, False, 100, every, wanted, enough=enough), len(runs)


def test_what_is_enough_is_shown_with_fewer_programmes(monkeypatch):
    ends, most = searched(monkeypatch, 10, enough=False)
    shown, fewer = searched(monkeypatch, 10, enough=True)
    assert fewer < most
    assert (shown.low <= 10).all() and (shown.high >= 10).all()
    assert (ends.low == 0).all() and (ends.high == 20).all()


def test_what_cannot_be_shown_is_asked_to_the_end(monkeypatch):
    """No table takes a cell beyond 20, so 21 is never enough."""
    found, _ = searched(monkeypatch, 21, enough=True)
    assert (found.low == 0).all() and (found.high == 20).all()
