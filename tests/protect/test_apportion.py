"""Bounds of what somebody has in cells that nobody tabulated hold for what it really has there."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

from diskret.protect.apportion import (
    ENDLESS,
    Amounts,
    alternatives,
    apportion,
    exactly_told,
    forced,
)

PLACES = 5


def equations_of(cells, population=frozenset()):
    """A row for each cell and one to three others that it consists of.

    Of what lies partly in a population a part has all that lies there, as with filters.
    """
    rows = []
    for whole, members in enumerate(cells):
        for number in (1, 2, 3):
            for parts in combinations([i for i in range(len(cells)) if i != whole], number):
                disjoint = sum(len(cells[i]) for i in parts) == len(members)
                inside = [cells[i] for i in parts if cells[i] <= population]
                cut = bool(inside) and frozenset().union(*inside) != members & population
                union = frozenset().union(*(cells[i] for i in parts))
                if disjoint and union == members and not cut:
                    row = np.zeros(len(cells), dtype=np.int64)
                    row[whole], row[list(parts)] = 1, -1
                    rows.append(row)
    return sparse.csr_array(np.array(rows, dtype=np.int64).reshape(-1, len(cells)))


places = st.frozensets(st.integers(0, PLACES - 1), min_size=1)
drawn = st.lists(places, min_size=3, max_size=7, unique=True)


def given_amounts(cells, people, chosen):
    """What each has in the chosen cells; nothing is not said."""
    who, cell, value = [], [], []
    for number, own in enumerate(people):
        for i, members in enumerate(cells):
            total = sum(own[place] for place in members)
            if chosen[i] and total:
                who.append(number)
                cell.append(i)
                value.append(total)
    return Amounts.exactly(*(np.array(of, dtype=np.int64) for of in (who, cell, value)))


def bounds(found, who, cell):
    at = np.flatnonzero((found.who == who) & (found.cell == cell))
    return (int(found.low[at[0]]), int(found.high[at[0]])) if len(at) else (0, 0)


@examples(80)
@given(
    drawn,
    st.lists(st.lists(st.integers(0, 4), min_size=PLACES, max_size=PLACES), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=7, max_size=7),
)
def test_everybody_is_within_the_bounds(cells, people, chosen):
    rows, given_ = equations_of(cells), np.array(chosen[: len(cells)])
    most = np.array([sum(own[p] for own in people for p in members) for members in cells])
    found = apportion(rows, given_amounts(cells, people, given_), given_, most)
    if exactly_told(rows, given_):
        assert found.done.all() and np.array_equal(found.amounts.low, found.amounts.high)
    for number, own in enumerate(people):
        for i in np.flatnonzero(found.done).tolist():
            low, high = bounds(found.amounts, number, i)
            assert low <= sum(own[place] for place in cells[i]) <= high


@examples(80)
@given(drawn, st.lists(st.integers(0, PLACES - 1), min_size=1, max_size=4), places)
def test_a_record_is_in_one_of_its_alternatives(cells, records, population):
    """What is given are the cells of a table that has all records of a population."""
    given_ = np.array([members <= population for members in cells])
    rows = equations_of(cells, population)
    inside = [own for own in records if any(own in m for m in cells if m <= population)]
    people = [[int(place == own) for place in range(PLACES)] for own in inside]
    most = np.minimum([sum(own in members for own in records) for members in cells], 1)
    found = forced(rows, given_amounts(cells, people, given_), given_, most)
    places_, origin, every = alternatives(rows, found, given_, len(people), 10_000)
    assert every
    for number, own in enumerate(inside):
        done = np.flatnonzero(found.done).tolist()
        told = [
            [bounds(places_, one, i)[0] for i in done]
            for one in np.flatnonzero(origin == number).tolist()
        ]
        assert [int(own in cells[i]) for i in done] in told


@pytest.mark.parametrize(("given_", "told"), [([1, 1, 0], True), ([1, 0, 0], False)])
def test_what_follows_whatever_it_is(given_, told):
    rows = sparse.csr_array(np.array([[1, -1, -1]]))
    assert exactly_told(rows, np.array(given_, dtype=bool)) == told


def test_without_any_bound_nothing_is_said():
    rows = sparse.csr_array(np.array([[1, -1, -1]]))
    one = np.array([0])
    women = Amounts.exactly(one, one + 1, one + 3)
    found = apportion(rows, women, np.array([False, True, False]), np.full(3, ENDLESS))
    assert found.done.tolist() == [False, True, False]
