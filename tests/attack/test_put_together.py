"""Points of connected parts become tables: told as changes they are those of complete tables."""

import numpy as np
import pytest
from attack_tables import MEINDL, SQUARE, meindl, rolled_up
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

from diskret.attack import Attacker
from diskret.attack.attack_equations import known_beforehand
from diskret.attack.exact import Point
from diskret.attack.put_together import ComponentPoints, complete_tables, put_together
from diskret.attack.reduction import reduce
from diskret.attack.witnesses import Witnesses
from diskret.tables import together

LEAVES = [(row, column) for row in "123" for column in "123"]
TRUTH = rolled_up(SQUARE, MEINDL)


def inner_cells_hidden():
    """The printed table without its inner cells: what is known of them, and in fewer unknowns."""
    known, bounds = known_beforehand(together(meindl(*LEAVES)), Attacker(), None)
    return known, bounds, reduce(known.matrix, known.right, *bounds)


def as_points(known, reduced, moves, unit=1):
    """The printed values, and what each move makes of them, as points of the unknowns."""
    link = sparse.csc_array(reduced.link)
    leader, sign = link.indices[link.indptr[:-1]], link.data[link.indptr[:-1]]
    truth = TRUTH.ravel()[known.cell]
    points = [Point(truth, 1), *(Point(unit * truth + np.array(move), unit) for move in moves)]
    return [
        Point(sign * (p.numerator - reduced.offset * p.denominator)[leader], p.denominator)
        for p in points
    ]


MOVES = st.lists(
    # the four corners of a rectangle among nine cells, or anything
    st.one_of(
        st.builds(
            lambda by, rows, columns: (
                np.outer(
                    [by * ((i == rows[0]) - (i == rows[1])) for i in range(3)],
                    [(j == columns[0]) * 1 - (j == columns[1]) * 1 for j in range(3)],
                )
                .ravel()
                .tolist()
            ),
            st.integers(-12, 12),
            st.permutations(range(3)),
            st.permutations(range(3)),
        ),
        st.lists(st.integers(-2, 2), min_size=9, max_size=9),
    ),
    max_size=5,
)


@given(MOVES, st.sampled_from([1, 1, 2]), st.booleans())
@examples(100)
def test_told_as_changes_or_complete_the_tables_are_the_same(moves, unit, as_changes):
    known, bounds, reduced = inner_cells_hidden()
    points = as_points(known, reduced, moves, unit)
    if as_changes:
        points = Witnesses.gathered(points, np.ones(reduced.link.shape[1], dtype=bool))
    parts = [ComponentPoints(np.arange(reduced.link.shape[1]), points)]
    found = put_together(parts, known, reduced, bounds)
    every = complete_tables(parts, reduced.link, reduced.offset)
    right = [table for table in every if table.solves(known.matrix, known.right, *bounds)]
    assert [(p.numerator.tolist(), p.denominator) for p in found] == [
        (p.numerator.tolist(), p.denominator) for p in right
    ]
    whole = Witnesses.gathered(right, known.hidden)
    for ours, theirs in ((found.start, whole.start), (found.of, whole.of)):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(found.step.toarray(), whole.step.toarray())


@pytest.mark.parametrize(
    "move",
    [
        [1, 0, 0, 0, 0, 0, 0, 0, 0],  # its row and its column do not add up
        [99, -99, 0, -99, 99, 0, 0, 0, 0],  # below zero
    ],
)
def test_a_table_that_is_impossible_is_no_witness(move):
    known, bounds, reduced = inner_cells_hidden()
    possible = [5, -5, 0, -5, 5, 0, 0, 0, 0]
    points = as_points(known, reduced, [possible, move])
    parts = [ComponentPoints(np.arange(reduced.link.shape[1]), points)]
    found = put_together(parts, known, reduced, bounds)
    assert len(found) == 2  # the printed values, and the possible one


def test_no_table_starts_from_an_impossible_one():
    known, bounds, reduced = inner_cells_hidden()
    points = as_points(known, reduced, [])
    wrong = Point(points[0].numerator + 1, 1)
    parts = [ComponentPoints(np.arange(reduced.link.shape[1]), [wrong, *points])]
    found = put_together(parts, known, reduced, bounds)
    assert [p.numerator.tolist() for p in found] == [TRUTH.ravel()[known.cell].tolist()]
