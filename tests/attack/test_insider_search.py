"""Questions about single tables, compared with all tables that there are."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack import insider_search, solver
from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN
from diskret.attack.insider_search import Search
from diskret.attack.linear_programme import LinearProgramme

#: Cells have values from 0 to this.
MOST = 3


class Question:
    """Some cells of a small table with equations that need not have whole vertices.

    A cell stands apart in an equation of its own, so that it cannot move. With `latent` one is a
    cell that nobody published: its value is not told, but stands in the equations.
    """

    def __init__(self, seed, whole, latent=False):
        draw = np.random.default_rng(seed)
        n = 6
        matrix = np.zeros((4, n + 1), dtype=np.int64)
        for row in matrix[:3]:  # every two of three have a cell in common
            row[draw.choice(n, 3, replace=False)] = 1, 1, draw.choice([-1, 1])
        matrix[3, n] = 1
        matrix[:3] = matrix[:3] if seed % 3 else [[1, 1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0],
                                                 [1, 0, 1, 0, 0, 1, 0]]  # fmt: skip
        real = draw.integers(0, MOST + 1, n + 1)
        real[n] = 10**6
        self.latent = np.arange(n + 1) == (5 if latent else -1)
        self.whole = whole
        self.truth = np.where(self.latent, 0, real)
        self.known = Equations(
            np.arange(n + 1), sparse.csr_array(matrix), matrix @ real, ~self.latent, self.latent,
            np.zeros(int(self.latent.sum()), dtype=bool),
        )  # fmt: skip
        # who asks knows some values to be no lower than they are, or exactly
        known = draw.random(n + 1) < 0.3
        self.low = np.where(known, real, 0)
        self.high = np.where(known & (draw.random(n + 1) < 0.5), real, MOST)
        self.low[n] = self.high[n] = real[n]
        self.cells = np.sort(draw.choice(n, draw.integers(1, 4), replace=False))
        self.side = draw.choice([-1, 1], len(self.cells))
        self.need = int(draw.integers(1, 4))
        self.search = Search(self.known, (self.low * 0, self.high * 0 + UNKNOWN), self.truth, whole)

    def far(self, tables):
        """How far tables move the cells."""
        return (tables - self.truth)[..., self.cells] @ self.side

    def look(self, **options):
        return self.search.look(self.cells, self.side, self.need, self.low, self.high, **options)

    def there_is_one(self):
        if self.whole:
            ranges = [range(a, b + 1) for a, b in zip(self.low, self.high, strict=True)]
            every = np.array([*product(*ranges)])
            every = every[(every @ self.known.matrix.T == self.known.right).all(axis=1)]
            return bool((self.far(every) >= self.need).any())
        return self.least_length() < np.inf

    def least_length(self):
        """The total length of the shortest move that goes far enough, inf if there is none."""
        n, sign = len(self.truth), np.zeros(len(self.truth))
        sign[self.cells] = self.side
        answer = linprog(
            np.ones(2 * n),
            A_ub=-np.append(sign, -sign)[None],
            b_ub=[-self.need],
            A_eq=sparse.hstack([self.known.matrix, -self.known.matrix]),
            b_eq=self.known.right - self.known.matrix @ self.truth,
            bounds=[*zip(0 * self.high, self.high - self.truth, strict=True),
                    *zip(0 * self.low, self.truth - self.low, strict=True)],
        )  # fmt: skip
        return answer.fun if answer.status == 0 else np.inf


def check(asked, found):
    """It is a table that the asking one takes to be possible, and it goes far enough."""
    assert found.solves(asked.known.matrix, asked.known.right, asked.low, asked.high)
    assert asked.far(found.numerator / found.denominator) >= asked.need - 1e-9
    assert found.denominator == 1 or not asked.whole


@pytest.mark.parametrize("whole", [False, True])
def test_a_table_is_found_if_there_is_one(whole):
    several = 0
    for seed in range(scaled(1000)):
        asked = Question(seed, whole)
        found = asked.look()
        assert (found is not None) == asked.there_is_one(), seed
        if found is not None:
            check(asked, found)
            several += found.denominator > 1 or whole
            moved = found.numerator / found.denominator - asked.truth
            if not whole:
                assert np.abs(moved).sum() == pytest.approx(asked.least_length()), seed
    assert several


@pytest.mark.parametrize("latent", [False, True])
def test_whole_numbers_are_searched_for_where_none_are_near(monkeypatch, latent):
    monkeypatch.setattr(LinearProgramme, "whole_near", lambda *given: None)
    for seed in range(scaled(400)):
        asked = Question(seed, True, latent)
        found = asked.look()
        assert (found is not None) == asked.there_is_one(), seed
        if found is not None:
            check(asked, found)


@pytest.mark.parametrize("latent", [False, True])
def test_a_vertex_that_is_not_exact_shows_nothing_but_where_whole_numbers_are(monkeypatch, latent):
    farthest = LinearProgramme.farthest
    monkeypatch.setattr(
        LinearProgramme, "farthest", lambda *given: replace(farthest(*given), point=None)
    )
    for seed in range(scaled(200)):
        assert Question(seed, False, latent).look() is None
        asked = Question(seed, True, latent)
        assert (asked.look() is not None) == asked.there_is_one(), seed


@pytest.mark.parametrize("latent", [False, True])
def test_a_question_that_takes_too_much_work_is_left_open(monkeypatch, latent):
    every = [Question(seed, False, latent) for seed in range(20)]
    assert any(asked.look() is not None for asked in every)
    monkeypatch.setattr(solver, "_PIVOTS", 0)
    assert all(asked.look() is None for asked in every)


@pytest.mark.parametrize("whole", [False, True])
def test_the_same_beside_a_cell_that_nobody_published(whole):
    for seed in range(scaled(1000)):
        asked = Question(seed, whole, latent=True)
        asked.low[5], asked.high[5] = 0, MOST
        found = asked.look()
        assert (found is not None) == asked.there_is_one(), seed
        if found is not None:
            check(asked, found)
        assert asked.look(near=True) is None


@pytest.mark.parametrize("whole", [False, True])
def test_near_what_is_asked_about_other_cells_keep_their_values(monkeypatch, whole):
    monkeypatch.setattr(insider_search, "_NEAR", 4)
    less = 0
    for seed in range(scaled(400)):
        asked = Question(seed, whole)
        near, found = asked.look(near=True), asked.look()
        assert (found is not None) == asked.there_is_one(), seed
        if near is not None:
            check(asked, near)
            check(asked, found)
            assert (near.numerator != asked.truth * near.denominator).sum() <= 4
        less += near is None and found is not None
    assert less
