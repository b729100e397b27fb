"""Fewer unknowns: the same whole numbers as before, by trying all; bounds by plain rules."""

from itertools import product

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack.exact import UNKNOWN
from diskret.attack.moves import leaders
from diskret.attack.reduction import labels, propagate, reduce

#: Values that are tried of each unknown.
VALUES = range(-4, 5)


def system(draw, entries=(-1, 1), share=0.5):
    """A few equations between up to five unknowns with bounds, and everything that solves them."""
    n, m = int(draw.integers(2, 6)), int(draw.integers(1, 5))
    matrix = draw.choice(entries, (m, n)) * (draw.random((m, n)) < share)
    some = draw.integers(-3, 4, n)
    right = matrix @ some + (draw.random(m) < 0.1)
    lower = np.where(draw.random(n) < 0.6, draw.integers(-4, 1, n), -UNKNOWN)
    upper = np.where(draw.random(n) < 0.6, draw.integers(0, 5, n), UNKNOWN)
    return matrix, right, lower, upper


def solutions(matrix, right, lower, upper):
    every = np.array([*product(VALUES, repeat=matrix.shape[1])])
    every = every[((every >= lower) & (every <= upper)).all(axis=1)]
    return every[(every @ matrix.T == right).all(axis=1)]


def rows(vectors):
    return {tuple(row) for row in vectors.tolist()}


def narrowed(matrix, right, lower, upper):
    """What each equation leaves for each unknown, in Python's numbers, until nothing changes."""
    low = [None if x == -UNKNOWN else int(x) for x in lower]
    high = [None if x == UNKNOWN else int(x) for x in upper]
    for _ in range(50):
        old = list(low), list(high)
        for row, c in zip(matrix.tolist(), right.tolist(), strict=True):
            for i, a in enumerate(row):
                if not a:
                    continue
                others = [(b, j) for j, b in enumerate(row) if b and j != i]
                least = [b * x if x is not None else None for b, j in others
                         for x in [(old[0] if b > 0 else old[1])[j]]]  # fmt: skip
                most = [b * x if x is not None else None for b, j in others
                        for x in [(old[1] if b > 0 else old[0])[j]]]  # fmt: skip
                # a · x lies between these
                top = None if None in least else c - sum(filter(None, least))
                bottom = None if None in most else c - sum(filter(None, most))
                if a < 0:
                    top, bottom, a = (
                        None if bottom is None else -bottom, None if top is None else -top, -a
                    )  # fmt: skip
                if top is not None:
                    end = -(-top // a)  # rounded outwards
                    high[i] = end if high[i] is None else min(high[i], end)
                if bottom is not None:
                    end = bottom // a
                    low[i] = end if low[i] is None else max(low[i], end)
        if old == (low, high):
            break
    return (
        [-UNKNOWN if x is None else x for x in low],
        [UNKNOWN if x is None else x for x in high],
    )


@pytest.mark.parametrize("entries", [(-1, 1), (-3, -2, -1, 1, 2)])
def test_bounds_are_those_that_equations_leave(entries):
    several = 0
    for seed in range(scaled(600)):
        draw = np.random.default_rng(seed)
        matrix, right, lower, upper = system(draw, entries)
        found = propagate(sparse.csr_array(matrix), right, lower, upper)
        expected = narrowed(matrix, right, lower, upper)
        if all(low <= high for low, high in zip(*expected, strict=True)):
            several += (found[0] != lower).any() or (found[1] != upper).any()
            assert [ends.tolist() for ends in found] == [*expected]
        for one in solutions(matrix, right, lower, upper).tolist():
            assert (found[0] <= one).all() and (found[1] >= one).all()
    assert several


@pytest.mark.parametrize("entries", [(-1, 1), (-2, -1, 1)])
def test_the_reduced_system_has_the_same_solutions(entries):
    known = tied = impossible = 0
    for seed in range(scaled(1000)):
        draw = np.random.default_rng(seed)
        matrix, right, lower, upper = system(draw, entries)
        found = reduce(sparse.csr_array(matrix), right, lower, upper)
        every = solutions(matrix, right, lower, upper)
        if len(found.impossible):
            impossible += 1
            assert not len(every)
            continue
        assert (found.lower < found.upper).all()  # nothing known is left
        inside = abs(found.matrix)
        two = np.diff(inside.indptr) == 2
        if entries == (-1, 1):
            assert not two.any() or inside[np.flatnonzero(two)].data.max() > 1  # nor what is tied
        # each solution is one of the unknowns that are left
        first, sign = leaders(found)
        left = sign * (every[:, first] - found.offset[first])
        assert ((left >= found.lower) & (left <= found.upper)).all()
        assert (left @ found.matrix.T.toarray() == found.right).all()
        assert np.array_equal(left @ found.link.T.toarray() + found.offset, every)
        # and each of these makes one
        if 0 < len(first) < 5:
            again = np.array([*product(VALUES, repeat=len(first))])
            again = again[((again >= found.lower) & (again <= found.upper)).all(axis=1)]
            again = again[(again @ found.matrix.T.toarray() == found.right).all(axis=1)]
            cells = again @ found.link.T.toarray() + found.offset
            assert (cells @ matrix.T == right).all()
            assert ((cells >= lower) & (cells <= upper)).all()
        none = np.diff(found.link.indptr) == 0
        known += none.any()
        tied += len(first) < (~none).sum()
    assert known and tied and impossible


def chain(n, sign=-1):
    """Each unknown is the next one, or its opposite; and the last one more than the first."""
    matrix = np.zeros((n - 1, n), dtype=np.int64)
    at = np.arange(n - 1)
    matrix[at, at], matrix[at, at + 1] = 1, sign
    return matrix


@pytest.mark.parametrize("sign", [-1, 1])
def test_long_chains_are_followed_to_their_end(sign):
    """Of a hundred that are tied one after the other one remains, with the narrowest bounds."""
    n = 101
    right = np.arange(n - 1)
    lower, upper = np.full(n, -UNKNOWN), np.full(n, UNKNOWN)
    wide = reduce(sparse.csr_array(chain(n, sign)), right, lower, upper)
    assert wide.link.shape == (n, 1) and not len(wide.impossible)
    assert (wide.lower, wide.upper) == (-UNKNOWN, UNKNOWN)
    for value in (0, 7):
        cells = wide.link.toarray()[:, 0] * value + wide.offset
        assert (chain(n, sign) @ cells == right).all()
    lower[60], upper[90] = -10_000, 10_000  # farther than bounds go from row to row
    ends = reduce(sparse.csr_array(chain(n, sign)), right, lower, upper)
    cells = [ends.link.toarray()[:, 0] * end + ends.offset for end in (ends.lower, ends.upper)]
    assert min(one[60] for one in cells) >= -10_000 and max(one[90] for one in cells) <= 10_000
    # one unit more, and a bound would be broken
    for end, step in ((ends.lower, -1), (ends.upper, 1)):
        beyond = ends.link.toarray()[:, 0] * (end + step) + ends.offset
        assert abs(int(end[0])) == UNKNOWN or beyond[60] < -10_000 or beyond[90] > 10_000
    assert abs(ends.lower[0]) < UNKNOWN or abs(ends.upper[0]) < UNKNOWN


def test_a_cell_that_many_are_tied_to():
    """x + y = c or x − y = c for many y: one unknown, and each y follows it in its own way."""
    draw = np.random.default_rng(1)
    for first in (0, 7, 19):
        others = np.delete(np.arange(20), first)
        matrix = np.zeros((20, 20), dtype=np.int64)
        matrix[:19, first], matrix[np.arange(19), others] = 1, draw.choice([-1, 1], 19)
        matrix[19] = 1
        some = draw.integers(-50, 50, 20)
        wide = np.full(20, UNKNOWN)
        found = reduce(sparse.csr_array(matrix[:19]), matrix[:19] @ some, -wide, wide)
        assert found.link.shape == (20, 1) and not found.matrix.nnz
        for value in (-3, 4):
            cells = found.link.toarray()[:, 0] * value + found.offset
            assert (matrix[:19] @ cells == matrix[:19] @ some).all()
        if matrix[19] @ found.link.toarray()[:, 0]:  # a last row tells all of it
            told = reduce(sparse.csr_array(matrix), matrix @ some, -wide, wide)
            assert not told.link.nnz and (told.offset == some).all()


@pytest.mark.parametrize("seed", range(8))
def test_cells_that_are_tied_in_a_tree(seed):
    """Whoever is tied to whom, one of them tells all others."""
    draw, n = np.random.default_rng(seed), 20
    matrix, order = np.zeros((n - 1, n), dtype=np.int64), draw.permutation(n)
    for row in range(n - 1):
        other = order[draw.integers(0, row + 1)]
        matrix[row, [other, order[row + 1]]] = draw.choice([-1, 1], 2)
    some, wide = draw.integers(-50, 50, n), np.full(n, UNKNOWN)
    found = reduce(sparse.csr_array(matrix), matrix @ some, -wide, wide)
    assert found.link.shape == (n, 1) and not found.matrix.nnz and not len(found.impossible)
    for value in (-3, 4):
        cells = found.link.toarray()[:, 0] * value + found.offset
        assert (matrix @ cells == matrix @ some).all()


@pytest.mark.parametrize("size", [2**40, 2**58, 2**60, 2**61, 2**62 - 1])
def test_large_numbers_lose_no_table(size):
    """Beside numbers at the edge of 64 bits nothing is narrowed too far."""
    for seed in range(40):
        draw = np.random.default_rng(seed)
        n = 4
        signs = draw.choice([-1, 1] if seed % 2 else [-60, -1, 1, 60], n)
        some = draw.integers(-size // 800, size // 800, n)
        lower = np.where(draw.random(n) < 0.7, -size + draw.integers(0, size // 9, n), -UNKNOWN)
        upper = np.where(draw.random(n) < 0.7, size - draw.integers(0, size // 9, n), UNKNOWN)
        found = propagate(sparse.csr_array(signs[None]), np.array([signs @ some]), lower, upper)
        assert (found[0] >= lower).all() and (found[1] <= upper).all()
        assert (found[0] <= some).all() and (some <= found[1]).all()


def test_large_numbers_are_narrowed_as_far_as_they_can_be_added_up():
    """Two cells of 2^58 to 2^58 + 3: so much is left for the third."""
    far = 2**59 - 8
    row = sparse.csr_array(np.array([[1, 1, -1]]))
    low = np.array([far, far, 0])
    high = np.array([far + 3, far + 2, UNKNOWN])
    found = propagate(row, np.array([far]), low, high)
    assert [ends.tolist() for ends in found] == [
        [far, far, far], [far + 3, far + 2, far + 5],
    ]  # fmt: skip


def test_a_long_row_beside_short_ones_does_not_overflow():
    """Forty cells up to 2^58 are more than 64 bits hold, one that is twice as large is not."""
    far, n = 2**58, 40
    matrix = np.ones((2, n), dtype=np.int64)
    matrix[1, 1:] = 0
    zero = np.zeros(n, dtype=np.int64)
    found = propagate(sparse.csr_array(matrix), np.array([n, 1]), zero - far, zero + far)
    assert (found[0] <= 1).all() and (found[1] >= 1).all()
    assert found[0][0] == found[1][0] == 1


def test_what_is_impossible_is_named():
    """A row without unknowns that does not hold names its cells; bounds that cross, theirs."""
    matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]))
    zero = np.zeros(4, dtype=np.int64)
    apart = reduce(matrix, np.array([3, 4, 1]), zero - 9, zero + 9)
    assert {0, 1} <= set(apart.impossible.tolist()) and not {2, 3} & set(apart.impossible.tolist())
    endless = np.full(4, UNKNOWN)
    apart = reduce(matrix, np.array([3, 4, 1]), -endless, endless)
    assert set(apart.impossible.tolist()) == {0, 1}
    crossed = reduce(matrix, np.array([3, 3, 20]), zero, zero + 9)
    assert set(crossed.impossible.tolist()) == {2, 3}
    fine = reduce(matrix, np.array([3, 3, 1]), zero, zero + 9)
    assert not len(fine.impossible) and fine.link.shape[1] == 2


def test_components_are_those_that_equations_connect():
    matrix = sparse.csr_array(np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]]))
    columns, lines = labels(matrix)
    assert columns[0] == columns[2] == lines[0] == lines[2]
    assert columns[1] == lines[1] != columns[0]
    assert columns[3] not in (columns[0], columns[1])
