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
from diskret.attack.exact import LIMIT, Point
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
    if as_changes:  # of the first one, and of the last one
        told = Witnesses.gathered(points[:1], np.ones(reduced.link.shape[1], dtype=bool))
        points = told.with_points(points[1:], points[-1])
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


@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("changes", ["points", "witnesses", "no whole one"])
def test_moves_of_a_rectangle_become_tables(unit, changes):
    known, bounds, reduced = inner_cells_hidden()
    by = [[5, -5, 0, -5, 5, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0, -1, 1, 0]]
    points = as_points(known, reduced, by, unit)
    if changes == "no whole one":
        points = points[1:]
    elif changes == "witnesses":
        points = Witnesses.gathered(points, np.ones(reduced.link.shape[1], dtype=bool))
    parts = [ComponentPoints(np.arange(reduced.link.shape[1]), points)]
    truth = TRUTH.ravel()[known.cell]
    expected = [truth + np.array(move) / unit for move in by]
    if changes != "no whole one":
        expected.insert(0, truth)
    found = put_together(parts, known, reduced, bounds)
    assert [(p.numerator / p.denominator).tolist() for p in found] == [
        table.tolist() for table in expected
    ]


def test_a_part_without_a_point_makes_no_table():
    known, bounds, reduced = inner_cells_hidden()
    n = reduced.link.shape[1]
    whole = ComponentPoints(np.arange(n), as_points(known, reduced, []))
    parts = [whole, ComponentPoints(np.arange(0), [])]
    assert len(put_together(parts, known, reduced, bounds)) == 0
    assert list(complete_tables(parts, reduced.link, reduced.offset)) == []


def apart(*numbers):
    """Cells that nothing ties: 0 and these fractions of each, as tables of all."""
    parts = [
        ComponentPoints(np.array([i]), [Point(np.array([0]), 1)] * whole + [
            Point(np.array([up]), down) for up, down in own
        ])
        for i, (whole, own) in enumerate(numbers)
    ]  # fmt: skip
    link = sparse.csr_array(np.eye(len(parts), dtype=np.int64))
    tables = complete_tables(parts, link, np.zeros(len(parts), dtype=np.int64))
    return [(p.numerator.tolist(), p.denominator) for p in tables]


def test_fractions_share_a_table_while_their_denominator_is_small():
    assert apart((1, [(1, 2)]), (1, [(1, 3)])) == [([0, 0], 1), ([3, 2], 6)]
    large = apart((1, [(1, 999_983)]), (1, [(1, 999_979)]))
    assert large == [([0, 0], 1), ([1, 0], 999_983), ([0, 1], 999_979)]
    assert apart((1, [(1, 1000)]), (1, [(1, 999)])) == [([0, 0], 1), ([999, 1000], 999_000)]
    assert apart((1, [(1, 10**6)]), (1, [])) == [([0, 0], 1), ([1, 0], 10**6)]
    assert apart((0, [(1, 2)]), (1, [(2, 3)])) == [([1, 0], 2), ([3, 4], 6)]


def test_numbers_that_are_too_large_make_no_table():
    assert apart((1, [(LIMIT - 1024, 1)])) == [([0], 1), ([LIMIT - 1024], 1)]
    assert apart((1, [(LIMIT, 1)])) == [([0], 1)]


def test_known_shares_of_cells_are_added_in_units_of_the_table():
    parts = [ComponentPoints(np.array([0]), [Point(np.array([1]), 1), Point(np.array([1]), 2)])]
    link = sparse.csr_array(np.array([[1], [-1], [0]]))
    found = [*complete_tables(parts, link, np.array([0, 7, 3]))]
    assert [(p.numerator.tolist(), p.denominator) for p in found] == [
        ([1, 6, 3], 1),
        ([1, 13, 6], 2),
    ]


def test_points_beside_a_simplest_one_that_is_no_start():
    known, bounds, reduced = inner_cells_hidden()
    by = [[5, -5, 0, -5, 5, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0, -1, 1, 0]]
    start, *moved = as_points(known, reduced, by)
    every = [Point(2 * start.numerator, 2), *moved]
    hidden = np.ones(reduced.link.shape[1], dtype=bool)
    told = Witnesses.gathered([], hidden).with_points(every, start)
    assert told.start.tolist() == [start.numerator.tolist()]
    found = put_together([ComponentPoints(np.arange(len(hidden)), told)], known, reduced, bounds)
    truth = TRUTH.ravel()[known.cell]
    expected = [truth + by[0], truth + by[1], truth]
    assert [(p.numerator / p.denominator).tolist() for p in found] == [
        table.tolist() for table in expected
    ]
