"""Work is counted for everybody who counts, and alike however many threads there are."""

from __future__ import annotations

import pytest

from diskret.effort import counted, spend
from diskret.parallel import in_order, meanwhile, nothing


def test_everybody_around_counts():
    spend(5)  # nobody does
    with counted() as outer:
        spend(1)
        with counted(most=10) as inner:
            spend(4)
        with counted(apart=True) as apart:
            spend(100)
        spend(2)
    assert (outer.done, inner.done, apart.done) == (7, 4, 100)
    assert (outer.left, inner.left) == (1.0, 0.6)
    inner.add(20)
    assert inner.left == 0


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("waiting", [nothing, lambda: None])
def test_what_is_done_at_the_same_time_counts_when_all_of_it_is_done(workers, waiting):
    seen: list[int] = []
    with counted() as effort:

        def piece(work: int) -> int:
            spend(work)
            seen.append(effort.done)
            return work

        for work in in_order(piece, [1, 2, 3], waiting, workers):
            seen.append(effort.done)
            assert work
        assert effort.done == 6
    assert seen == 6 * [0]


def test_what_is_done_meanwhile_counts_at_once():
    with counted() as effort:
        seen = meanwhile(lambda: (spend(3), effort.done), lambda: None)
    assert seen == (None, 3)
