"""Moves between alternative tables, against fractions of all their values, one by one."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from attack_tables import TREES, publish, rolled_up
from scipy import sparse

from diskret.attack.equations import equations
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.moves import (
    Moves,
    Proposals,
    completed,
    joined,
    packed,
    possible,
    proposed_moves,
    starting_table,
)
from diskret.attack.reduction import reduce
from diskret.attack.short_moves import as_moves, put_together, taken_apart
from diskret.attack.shortest import Move, room


def exactly(values, unit=1):
    return [Fraction(int(x), int(unit)) for x in values]


def rows(moves):
    """Each move as fractions of all unknowns."""
    dense = moves.steps.toarray()
    return [exactly(*pair) for pair in zip(dense, moves.denominator.tolist(), strict=True)]


def tables(moves, base):
    """Each table that moves lead to, as fractions."""
    return [[x + y for x, y in zip(exactly(base), row, strict=True)] for row in rows(moves)]


def holds(table, matrix, right, lower, upper):
    """Whether fractions keep all equations and bounds."""
    sums = [sum(int(a) * x for a, x in zip(row, table, strict=True)) for row in matrix]
    inside = [
        (low == -UNKNOWN or low <= x) and (high == UNKNOWN or x <= high)
        for low, x, high in zip(lower.tolist(), table, upper.tolist(), strict=True)
    ]
    return all(inside) and all(a == int(b) for a, b in zip(sums, right, strict=True))


def random_moves(draw, scale=1):
    """A possible table of six unknowns, and moves of which some lead to others."""
    matrix = np.array([[1, 1, 1, 0, 0, 0], [0, 0, -1, 2, 1, 0]])
    base = draw.integers(0, 9, 6) * scale
    lower = np.where(draw.random(6) < 0.2, -UNKNOWN, base - draw.integers(1, 8, 6) * scale)
    upper = np.where(draw.random(6) < 0.2, UNKNOWN, base + draw.integers(1, 8, 6) * scale)
    kernel = np.array([[1, -1, 0, 0, 0, 0], [1, 0, -1, 0, -1, 0], [0, 0, 0, 1, -2, 0],
                       [0, 0, 0, 0, 0, 1]])  # fmt: skip
    steps = draw.integers(-2, 3, (30, 4)) * (draw.random((30, 4)) < 0.5) @ kernel * scale
    odd = draw.random(30) < 0.2
    steps[odd] += draw.integers(-1, 2, (30, 6))[odd]
    moves = Moves(sparse.csr_array(steps), draw.integers(1, 4, 30))
    return matrix, base, lower, upper, moves


@pytest.mark.parametrize("scale", [1, 2**40, 2**57])
@pytest.mark.parametrize("seed", range(3))
def test_possible_moves_are_those_whose_tables_keep_everything(seed, scale):
    """Of large ones none that does not, and all that are small enough to be added up."""
    draw = np.random.default_rng(seed)
    matrix, base, lower, upper, moves = random_moves(draw, scale)
    right = matrix @ base
    found = rows(possible(moves, base, sparse.csr_array(matrix), lower, upper))
    right_ones = [
        row for row, table in zip(rows(moves), tables(moves, base), strict=True)
        if any(row) and holds(table, matrix, right, lower, upper)
    ]  # fmt: skip
    assert 3 < len(right_ones) < 27
    if scale < 2**57:
        assert found == right_ones
    else:  # all values with their denominators below 2**61
        small = [row for row, unit, one in zip(
            rows(moves), moves.denominator.tolist(), moves.steps.toarray(), strict=True)
            if int(np.abs(base).max()) * unit + int(np.abs(one).max()) < 2**61]  # fmt: skip
        assert found == [row for row in right_ones if row in small]


def test_bounds_far_beyond_what_is_added_up_are_kept_and_denominators_are_checked():
    """Bounds of which multiples are no longer whole numbers of 64 bits."""
    one, row = np.array([5]), sparse.csr_array((0, 1), dtype=np.int64)
    for low, high, right in (
        (-(2**61), 2**61, True),
        (2**61, UNKNOWN, False),
        (-UNKNOWN, -(2**61), False),
        (-UNKNOWN, UNKNOWN, True),
        (5, 6, True),
        (6, 6, False),
        (5, 5, False),
    ):
        tried = Moves(sparse.csr_array(np.array([[3]])), np.array([4]))
        assert len(rows(possible(tried, one, row, np.array([low]), np.array([high])))) == right
    for unit in (0, -1):
        tried = Moves(sparse.csr_array(np.array([[3]])), np.array([unit]))
        assert not rows(possible(tried, one, row, one - 9, one + 9))
    twice = sparse.csr_array((np.array([3, -3]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert not rows(possible(Moves(twice, np.ones(1, int)), one, row, one - 9, one + 9))


def test_sums_that_leave_64_bits_and_come_back_to_zero_balance_nothing():
    """Sixteen times 2**60 is 0 there, and so is 2**58 in units of a sixty-fourth."""
    free, large = np.full(17, UNKNOWN), 2**60
    many = np.array([[1] * 16 + [0], [0] * 15 + [1, 1]])
    often = np.array([[16, 1] + [0] * 15])
    for matrix, step in ((many, [large] * 15 + [large, -large]), (often, [large] + [0] * 16)):
        tried = Moves(sparse.csr_array(np.array([step])), np.ones(1, np.int64))
        assert not rows(possible(tried, 0 * free, sparse.csr_array(matrix), -free, free))
    tried = Moves(sparse.csr_array(np.array([[1]])), np.array([64]))
    base, none = np.array([2**58]), sparse.csr_array((0, 1), dtype=np.int64)
    assert not rows(possible(tried, base, none, base - 5, base))


@pytest.mark.parametrize("seed", range(4))
def test_ends_and_tables_of_moves_are_those_of_their_fractions(seed):
    draw = np.random.default_rng(seed)
    _, base, _, _, moves = random_moves(draw)
    every = [exactly(base), *tables(moves, base)]
    low, high = moves.extremes(base)
    assert low.tolist() == pytest.approx([float(min(t[k] for t in every)) for k in range(6)])
    assert high.tolist() == pytest.approx([float(max(t[k] for t in every)) for k in range(6)])
    # the first one at each end of each unknown that moves
    first = set()
    for k in range(6):
        for end in (min, max):
            far = end(t[k] for t in every)
            first |= {next(i for i, t in enumerate(every) if t[k] == far)} - {0}
    assert [i + 1 for i in np.flatnonzero(moves.farthest(base))] == sorted(first)
    assert moves.tables(base).hidden.all()
    for told in (moves.points(base), [*moves.tables(base)]):
        assert [exactly(p.numerator, p.denominator) for p in told] == every
    some = draw.random(6) < 0.5
    of = moves.of(np.flatnonzero(some))
    kept = [[x for x, mine in zip(row, some, strict=True) if mine] for row in rows(moves)]
    assert rows(of) == [row for row in kept if any(row)]
    chosen = draw.random(30) < 0.5
    assert rows(moves.those(chosen)) == [r for r, c in zip(rows(moves), chosen, strict=True) if c]
    assert rows(moves.only(chosen)) == [
        row for row, c in zip(rows(moves), chosen, strict=True) if c and any(row)
    ]
    assert rows(joined([moves, of.__class__(moves.steps, 2 * moves.denominator)], 6)) == [
        *rows(moves), *[[x / 2 for x in row] for row in rows(moves)]
    ]  # fmt: skip
    assert joined([], 6).steps.shape == (0, 6)


def test_tables_too_large_to_be_told_as_changes_are_told_complete():
    base = np.array([2**60, 5])
    moves = Moves(sparse.csr_array(np.array([[3, -3]])), np.array([7]))
    [_, told] = moves.points(base)
    assert told.numerator.tolist() == [7 * 2**60 + 3, 32]
    hidden = np.array([True, False])
    large = moves.tables(np.array([2**59, 5]))
    assert [t.numerator.tolist() for t in large] == [[2**59, 5], [7 * 2**59 + 3, 32]]
    assert large.hidden.all() and not large.problem()
    small = moves.tables(np.array([4, 5]), hidden)
    assert small.hidden is hidden and [t.numerator.tolist() for t in small] == [[4, 5], [31, 32]]


@pytest.mark.parametrize("seed", range(4))
def test_packed_moves_add_up_to_all_of_them_and_stay_apart(seed):
    draw = np.random.default_rng(seed)
    matrix, _, _, _, moves = random_moves(draw)
    equation = sparse.csr_array(matrix)
    for apart in (None, equation):
        together = packed(moves, apart)
        assert together.steps.shape[0] < 30
        for unit in (1, 2, 3):
            own, new = (
                [row for row, u in zip(rows(of), of.denominator, strict=True) if u == unit]
                for of in (moves, together)
            )
            assert np.array_equal(np.array(own).sum(axis=0), np.array(new).sum(axis=0))
            # each move is in the first table in which nothing of it is taken
            first = []
            for row in own:
                taken = {k for k in range(6) if row[k]}
                if apart is not None:
                    taken |= {-1 - e for e in range(2) if any(matrix[e][k] for k in taken)}
                at = next((i for i, of in enumerate(first) if not taken & of[0]), len(first))
                first[at:] = first[at:] or [(set(), [Fraction(0)] * 6)]
                before = first[at]
                sums = [x + y for x, y in zip(before[1], row, strict=True)]
                first[at] = before[0] | taken, sums
            assert sorted(new) == sorted(row for _, row in first)


# ── from cells to unknowns ───────────────────────────────────────────────────────────


def reduced_table(seed):
    """Values of a table, what is known of its hidden cells, and the unknowns these follow."""
    draw = np.random.default_rng(seed)
    trees = (TREES[seed % 4], TREES[1])
    value = rolled_up(trees, draw.integers(1, 9, [len(tree.leaves) for tree in trees]))
    hidden = draw.random(value.shape) < 0.6
    hidden[np.ix_(*(tree.leaves for tree in trees))] = True
    known = equations(publish(trees, value, hidden))
    none = np.zeros(len(known.cell), dtype=np.int64), np.full(len(known.cell), UNKNOWN)
    return draw, value, known, reduce(known.matrix, known.right, *none)


@pytest.mark.parametrize("seed", range(6))
def test_original_values_and_proposals_are_told_of_the_unknowns_that_cells_follow(seed):
    draw, value, known, reduced = reduced_table(seed)
    truth = value.ravel()[known.cell]
    start, given = starting_table(value, known, reduced)
    assert given.all() and np.array_equal(reduced.link @ start + reduced.offset, truth)
    nothing, given = starting_table(None, known, reduced)
    assert not nothing.any() and not given.any()
    # moves of the unknowns as differences of cells, and some that no unknowns make up
    n, cells = reduced.link.shape[1], value.size
    steps = draw.integers(-2, 3, (8, n)) * (draw.random((8, n)) < 0.5)
    differences = np.zeros((8, cells + 2), dtype=np.int64)
    differences[:, known.cell] = steps @ reduced.link.toarray().T
    differences[:, cells:] = 7  # not looked at
    wrong = differences[:4].copy()
    shown = np.setdiff1d(np.arange(cells), known.cell)
    wrong[np.arange(2), draw.choice(shown, 2)] += 1
    tied = np.flatnonzero(np.diff(reduced.link.indptr) == 0)
    of = np.bincount(reduced.link.indices, minlength=n) > 1
    tied = np.union1d(tied, reduced.link[:, np.flatnonzero(of)].nonzero()[0])
    wrong = wrong[: 2 if not len(tied) else 4]
    for row in wrong[2:]:
        row[known.cell[draw.choice(tied)]] += 1
    proposals = Proposals(
        sparse.csr_array(np.concatenate((wrong, differences))),
        np.concatenate((np.ones(len(wrong), int), np.arange(1, 9))),
    )
    found = proposed_moves(proposals, cells, known, reduced)
    moving = steps.any(axis=1)
    assert found.steps.toarray().tolist() == steps[moving].tolist()
    assert found.denominator.tolist() == np.arange(1, 9)[moving].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_tables_are_completed_by_what_is_not_given_and_only_if_there_is_one(seed):
    draw, value, known, reduced = reduced_table(seed)
    truth, _ = starting_table(value, known, reduced)
    programme = LinearProgramme(reduced.matrix, reduced.right, reduced.lower, reduced.upper)
    n = len(truth)
    assert completed(programme, truth, np.ones(n, bool)).tolist() == truth.tolist()
    for _ in range(4):
        given = draw.random(n) < 0.5
        found = completed(programme, np.where(given, truth, -99), given)
        assert np.array_equal(found[given], truth[given])
        assert holds(exactly(found), reduced.matrix.toarray(), reduced.right,
                     reduced.lower, reduced.upper)  # fmt: skip
    off = truth + (np.arange(n) == reduced.matrix.indices[0])
    assert completed(programme, off, np.ones(n, bool)) is None
    assert completed(programme, truth - 99, np.arange(n) != reduced.matrix.indices[0]) is None
    zero = np.zeros(2, dtype=np.int64)
    half = LinearProgramme(sparse.csr_array([[2, 1]]), np.array([5]), zero, zero + 9)
    assert completed(half, zero, np.array([False, True])) is None


# ── tables as sums of short moves ────────────────────────────────────────────────────


def squares(*sides):
    """Equations of squares of hidden cells, and the square of each; the last one is in none."""
    blocks, label = [np.zeros((0, 0), dtype=np.int64)], []
    for number, side in enumerate(sides):
        lines, every = np.eye(side, dtype=np.int64), np.ones((1, side), dtype=np.int64)
        blocks.append(np.concatenate((np.kron(lines, every), np.kron(every, lines))))
        label += [number] * side**2
    matrix = sparse.block_diag([*blocks, np.zeros((0, 1))]).toarray().astype(np.int64)
    return matrix, np.array([*label, len(sides)])


def connected_parts(matrix, step):
    """Sets of cells that move and that equations connect in which both do."""
    left, found = set(np.flatnonzero(step).tolist()), []
    dense = matrix.toarray()
    while left:
        ahead, part = [left.pop()], set()
        while ahead:
            part.add(cell := ahead.pop())
            near = {c for row in dense if row[cell] for c in np.flatnonzero(row).tolist()} & left
            ahead += near
            left -= near
        found.append(sorted(part))
    return found


def marks(moves):
    """What there is to know of the moves of pieces."""
    return {
        (piece, tuple(move.cell.tolist()), tuple(move.step.tolist()), move.unit)
        for piece, of in moves.items()
        for move in of
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("longest", [4, 8, 40])
def test_tables_are_taken_apart_into_the_moves_that_equations_connect(seed, longest):
    draw = np.random.default_rng(seed)
    sides = 4, 6, 3, 2
    plain, of_plain = squares(*sides)
    n = len(of_plain)
    order = draw.permutation(n)  # pieces lie anywhere
    matrix, label = sparse.csr_array(plain[:, order]), of_plain[order]
    size, back = np.bincount(label), np.argsort(order)
    inside = {int(c): i for p in range(5) for i, c in enumerate(np.flatnonzero(label == p))}
    truth = draw.integers(20, 30, n)
    steps, units = np.zeros((5, n), dtype=np.int64), draw.choice([1, 2, 60], 5)
    for step in steps:
        for p, side in enumerate(sides):
            corner, pairs = np.flatnonzero(of_plain == p)[0], [(0, 1), (2, 3), (4, 5)][: side // 2]
            for across, columns in product(pairs, pairs):
                by = draw.integers(1, 4) * (draw.random() < 0.6)
                for i, j in product((0, 1), repeat=2):
                    at = back[corner + across[i] * side + columns[j]]
                    step[at] += by * (1 if i == j else -1)
        step[back[-1]] = draw.integers(0, 3)
    given = [Point(u * truth + step, int(u)) for u, step in zip(units, steps, strict=True)]
    expected = set()
    for table, step in zip(given, steps, strict=True):
        for part in connected_parts(matrix, step):
            piece = int(label[part[0]])
            moved = int((step[label == piece] != 0).sum())
            if len(part) <= longest and (moved <= longest or 2 * moved <= size[piece]):
                cells = tuple(inside[c] for c in part)
                expected.add((piece, cells, tuple(step[part].tolist()), table.denominator))
    # of too large a denominator, or too large numbers
    given += [Point(61 * truth + steps[0], 61), Point((truth + steps[0]).astype(object), 1)]
    found = taken_apart(matrix, label, truth, given, longest)
    assert marks(found) == expected
    assert sum(map(len, found.values())) == len(expected)
    # put together again they are the same, in few tables
    place = {p: np.flatnonzero(label == p) for p in range(5)}
    whole = [Move(place[p][m.cell], m.step, m.unit) for p, of in found.items() for m in of]
    again = put_together(whole, matrix, truth)
    assert len(again) <= max(1, len(whole))
    for table in again:
        assert table.solves(matrix, matrix @ truth, truth * 0, truth * 0 + 99)
    assert marks(taken_apart(matrix, label, truth, again, n)) == marks(found)
    assert as_moves(whole, n).steps.shape == (len(whole), n)


def test_moves_of_most_of_a_piece_are_none_of_it():
    """Three pairs beside a cell in the middle, which ties them, and one more: a piece of eight."""
    matrix = np.zeros((4, 8), dtype=np.int64)
    for row, cells in enumerate(([0, 1, 6], [2, 3, 6], [4, 5, 6], [6, 7])):
        matrix[row, cells] = 1
    truth, label = np.full(8, 5), np.zeros(8, dtype=np.int64)

    def taken(*pairs):
        step = np.zeros(8, dtype=np.int64)
        for pair in pairs:
            step[[2 * pair, 2 * pair + 1]] = 1, -1
        given = [Point(truth, 1), Point(truth + step, 1)]
        found = taken_apart(sparse.csr_array(matrix), label, truth, given, 2)
        return [move.cell.tolist() for move in found.get(0, [])]

    assert taken() == [] and taken(1) == [[2, 3]]
    assert taken(0, 2) == [[0, 1], [4, 5]]
    assert taken(0, 1, 2) == []


def test_room_is_never_told_larger_than_it_is():
    """Numbers that float64 holds, that it does not, and no bound at all."""
    values = [0, 5, 2**53 - 1, 2**53 + 1, 2**60 + 3]
    for truth, bound in combinations(values, 2):
        ends = np.array([truth, truth]), np.array([bound, bound])
        down, up = room(np.array([bound, truth]), *ends)
        assert up[0] == down[1] == 0
        for told in (down[0], up[1]):
            assert int(told) <= bound - truth
            assert int(told) == bound - truth or bound - truth > 2**53
            assert bound - truth - int(told) <= 2**8
    free = np.array([7])
    assert room(free, np.array([-UNKNOWN]), np.array([UNKNOWN]))[0].tolist() == [np.inf]
    assert room(free, np.array([-UNKNOWN]), np.array([UNKNOWN]))[1].tolist() == [np.inf]
    down, up = room(free, np.array([1 - UNKNOWN]), np.array([UNKNOWN - 1]))
    assert 0 <= UNKNOWN + 6 - int(down[0]) <= 2**10 and 0 <= UNKNOWN - 8 - int(up[0]) <= 2**10
