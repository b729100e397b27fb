"""How far unknowns move, against programmes of scipy: vertices, rays, whole numbers, windows."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from diskret.attack.component import Component, Start, attack_component, shown_in_time
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.moves import joined
from diskret.attack.search import Wanted, search
from diskret.attack.surroundings import outer_bounds
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import ContradictionError


def connected(matrix):
    """Whether equations connect all unknowns."""
    reached = np.arange(matrix.shape[1]) == 0
    for _ in range(matrix.shape[1]):
        reached = reached | ((matrix != 0).T @ ((matrix != 0) @ reached > 0) > 0)
    return bool(reached.all())


class System:
    """Equations that connect a few unknowns and that some whole numbers satisfy."""

    def __init__(self, seed, n=7, m=4, signs=(-1, 1), free=0.2, scale=1):
        draw = np.random.default_rng(seed)
        self.matrix = np.zeros((1, n), dtype=np.int64)
        while not connected(self.matrix):
            self.matrix = draw.choice(signs, (m, n)) * (draw.random((m, n)) < 0.5)
        self.some = draw.integers(0, 9, n)
        open_ = draw.random((2, n)) < free
        self.lower = np.where(open_[0], -UNKNOWN, np.minimum(self.some, draw.integers(0, 5, n)))
        self.upper = np.where(open_[1], UNKNOWN, self.some + draw.integers(0, 7, n))
        # everything so many times as large
        self.some = self.some * scale
        self.lower = np.where(open_[0], -UNKNOWN, self.lower * (scale * ~open_[0]))
        self.upper = np.where(open_[1], UNKNOWN, self.upper * (scale * ~open_[1]))
        self.right = self.matrix @ self.some
        self.size = n

    @property
    def args(self):
        return sparse.csr_array(self.matrix), self.right, self.lower, self.upper

    def programme(self, **options):
        return LinearProgramme(*self.args, **options)

    def end(self, direction, whole=False, scale=1):
        """The most of a sum, by scipy, in units of the scale."""
        low = np.where(self.lower > -UNKNOWN, self.lower / scale, -np.inf)
        high = np.where(self.upper < UNKNOWN, self.upper / scale, np.inf)
        answer = milp(
            -np.asarray(direction, float),
            constraints=LinearConstraint(self.matrix, self.right / scale, self.right / scale),
            bounds=Bounds(low, high),
            integrality=np.full(self.size, int(whole)),
        )
        return np.inf if answer.status in (3, 4) else -answer.fun

    def interval(self, unknown, whole=False):
        unit = (np.arange(self.size) == unknown).astype(float)
        return -self.end(-unit, whole), self.end(unit, whole)

    def holds(self, point):
        return point.solves(*self.args)


@pytest.mark.parametrize("scale", [1, 2**27, 2**44, 2**52])
def test_vertices_and_rays_are_exact_and_as_far_as_can_be(scale):
    bounded = endless = untold = 0
    for seed in range(scaled(100)):
        system = System(seed, free=0.4, scale=scale)
        programme = system.programme()
        draw = np.random.default_rng(seed)
        for _ in range(4):
            direction = draw.choice([-1.0, 0.0, 1.0], system.size)
            answer = programme.farthest(direction)
            end = system.end(direction, scale=scale)
            assert answer.bounded == np.isfinite(end)
            if answer.bounded:
                bounded += 1
                point = answer.point
                assert point is not None and system.holds(point)
                far = sum(int(d) * int(x) for d, x in zip(direction, point.numerator, strict=True))
                assert far / point.denominator / scale == pytest.approx(end, abs=1e-6)
            else:
                endless += 1
                ray = answer.ray
                if ray is None:  # the solver does not always tell one
                    untold += 1
                    continue
                assert direction @ ray > 0 and not (system.matrix @ ray).any()
                assert not ((ray < 0) & (system.lower > -UNKNOWN)).any()
                assert not ((ray > 0) & (system.upper < UNKNOWN)).any()
    assert bounded and 4 * untold < endless


def test_whole_numbers_are_as_far_as_can_be_and_keep_what_is_fixed():
    between = 0
    for seed in range(scaled(100)):
        system = System(seed, n=7, m=3, signs=(-2, -1, 1, 2), free=0.0)
        programme = system.programme()
        for unknown in range(0, system.size, 3):
            for sign in (1, -1):
                unit = sign * (np.arange(system.size) == unknown).astype(float)
                point = programme.farthest_whole(unknown, sign, 500)
                assert point is not None and point.denominator == 1 and system.holds(point)
                end = sign * point.numerator[unknown]
                assert end == pytest.approx(system.end(unit, whole=True))
                answer = programme.farthest(unit)
                near = programme.whole_near(answer.vertex, {unknown: int(sign * end)})
                if near is not None:
                    assert system.holds(near) and near.numerator[unknown] == sign * end
                between += bool(answer.broken.any())
        assert programme.farthest_whole(0, 0, 500) is not None
    assert between


def test_there_may_be_no_whole_numbers():
    row = sparse.csr_array(np.array([[2, 2]]))
    programme = LinearProgramme(row, np.array([5]), np.zeros(2, np.int64), np.full(2, 9))
    with pytest.raises(ContradictionError):
        programme.farthest_whole(0, 1, 500)
    assert programme.whole_near(programme.begin().vertex, {}) is None
    with pytest.raises(ContradictionError):
        LinearProgramme(row, np.array([50]), np.zeros(2, np.int64), np.full(2, 9)).begin()
    # numbers that are too wide for a search with tolerances
    wide = LinearProgramme(row, np.array([6]), np.zeros(2, np.int64), np.full(2, 2**50))
    assert wide.farthest_whole(0, 1, 500) is None


def test_a_face_is_what_lies_on_the_same_bounds():
    system = System(3, free=0.0)
    programme = system.programme()
    answer = programme.farthest(np.ones(system.size))
    face = programme.face(answer.point)
    x, unit = answer.point.numerator, answer.point.denominator
    low, high = x == system.lower * unit, x == system.upper * unit
    assert (face.lower == np.where(high, system.upper, system.lower)).all()
    assert (face.upper == np.where(low, system.lower, system.upper)).all()
    assert face.holds(answer.point)


@pytest.mark.parametrize("whole", [False, True])
def test_searches_find_every_interval(whole):
    """Bounds are those of all tables; points show them, in whole numbers if they have to."""
    for seed in range(scaled(100)):
        system = System(seed, n=6, m=3, free=0.15)
        asked = np.random.default_rng(seed).random(system.size) < 0.8
        found = search(system.programme(), whole, 1000, asked)
        for point in found.points:
            assert system.holds(point) and (point.denominator == 1 or not whole)
        for unknown in np.flatnonzero(asked).tolist():
            low, high = system.interval(unknown)
            if whole:
                low, high = np.ceil(low - 1e-6), np.floor(high + 1e-6)
            assert found.lower[unknown] == pytest.approx(low, abs=1e-6)
            assert found.upper[unknown] == pytest.approx(high, abs=1e-6)
            # what points show: the ends, or far away where there is none
            shown = found.low[unknown], found.high[unknown]
            if not whole:
                assert shown[0] == pytest.approx(low) if np.isfinite(low) else shown[0] < -900
                assert shown[1] == pytest.approx(high) if np.isfinite(high) else shown[1] > 900
        assert {id(point) for point in found.needed} <= {id(point) for point in found.points}
        for values, way in ((found.low, np.minimum), (found.high, np.maximum)):
            best = way.reduce([point.numerator / point.denominator for point in found.needed])
            assert np.array_equal(best, values)


def test_what_is_wanted_of_counts_is_shown_where_whole_numbers_show_it():
    """Bounds may lie beyond all whole numbers; what is wanted is how far these go."""
    beyond = 0
    for seed in range(scaled(100)):
        system = System(seed, n=7, m=4, signs=(-2, -1, 1, 2), free=0.0)
        ends = np.array([system.interval(i, whole=True) for i in range(system.size)])
        low, high = np.rint(ends).astype(np.int64).T
        wanted = Wanted(low, high, high - low)
        found = search(system.programme(), True, 1000, np.ones(system.size, bool), wanted)
        assert np.array_equal(found.low, low) and np.array_equal(found.high, high)
        assert (found.lower <= low).all() and (found.upper >= high).all()
        beyond += bool((found.lower < low).any() or (found.upper > high).any())
        # one side, or how far apart they are, is as much to be asked for alone
        for one in (
            Wanted(low, low, low * 0),
            Wanted(high, high, low * 0),
            replace(wanted, low=high, high=low),
        ):
            found = search(system.programme(), True, 1000, np.ones(system.size, bool), one)
            assert (found.low <= one.low).all() and (found.high >= one.high).all()
            assert (found.high - found.low >= one.width).all()
    assert beyond


def test_outer_bounds_hold_whatever_block_they_are_of(monkeypatch):
    """Blocks of two lose no table, one block of everything has the intervals, rounded outwards."""
    wider = 0
    for seed in range(scaled(100)):
        system = System(seed, n=7, m=4)
        asked = np.ones(system.size, dtype=bool)
        for size in (2, 60):
            monkeypatch.setattr("diskret.attack.surroundings._BLOCK", size)
            seen = np.zeros(system.size, dtype=bool)
            for block, lows, highs in outer_bounds(*system.args, asked):
                seen[block] = True
                for unknown, low, high in zip(block.tolist(), lows, highs, strict=True):
                    least, most = system.interval(unknown)
                    assert low <= least + 1e-6 and high >= most - 1e-6
                    wider += low < np.floor(least) or high > np.ceil(most)
                    if size == 60:
                        assert low >= np.floor(least + 1e-6) and high <= np.ceil(most - 1e-6)
            assert seen.all()
    assert wider


@pytest.mark.parametrize("alone", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_an_unknown_that_stands_in_no_equation_keeps_its_own_bounds(alone, sign):
    """One of three unknowns stands alone, and the others sum to 7 or differ by it."""
    row = np.insert([1, sign], alone, 0)[None]
    lower, upper = np.insert([0, 0], alone, 2), np.insert([9, 9], alone, 4)
    tables = [
        x
        for x in product(*(range(low, high + 1) for low, high in zip(lower, upper, strict=True)))
        if row[0] @ x == 7
    ]
    asked = np.ones(3, dtype=bool)
    [found] = outer_bounds(sparse.csr_array(row), np.array([7]), lower, upper, asked)
    assert found[0].tolist() == [0, 1, 2]
    assert found[1].tolist() == np.min(tables, axis=0).tolist()
    assert found[2].tolist() == np.max(tables, axis=0).tolist()


def test_unknowns_without_any_equation_keep_their_own_bounds():
    none = sparse.csr_array((0, 2), dtype=np.int64)
    lower, upper = np.array([-1, 3]), np.array([5, 8])
    asked = np.ones(2, dtype=bool)
    found = list(outer_bounds(none, np.zeros(0, dtype=np.int64), lower, upper, asked))
    assert np.concatenate([own[0] for own in found]).tolist() == [0, 1]
    assert np.concatenate([own[1] for own in found]).tolist() == lower.tolist()
    assert np.concatenate([own[2] for own in found]).tolist() == upper.tolist()


# ── with a start, and in time ─────────────────────────────────────────────────────────


def attacked(system, how, exact, given, deadline=NEVER, whole=True):
    n = system.size
    component = Component(np.arange(n), *system.args)
    value = np.where(given, system.some, 0)
    start = Start(value, given, joined([], n))
    ends = np.array([system.interval(i, whole=True) for i in range(n)])
    low, high = np.rint(ends).astype(np.int64).T
    wanted = Wanted(low, high, high - low)
    ticks = []
    found = how(
        component, exact, np.ones(n, bool), start, wanted, whole, 1000, ticks.append, deadline
    )
    points = [*found.points]
    assert all(system.holds(point) for point in points)
    values = np.array([point.numerator / point.denominator for point in points])
    return found, values.reshape(-1, n), (low, high), sum(ticks)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("known", ["all", "some", "none"])
def test_what_is_shown_in_time_holds_and_reaches_what_is_wanted(exact, known):
    """Bounds are what single equations say; points go as far as whole numbers do."""
    for seed in range(scaled(100)):
        system = System(seed, free=0.0)
        draw = np.random.default_rng(seed)
        given = {"all": True, "some": draw.random(system.size) < 0.5, "none": False}[known]
        given = np.full(system.size, given) if isinstance(given, bool) else given
        found, values, (low, high), ticked = attacked(system, shown_in_time, exact, given)
        assert not found.exact and ticked == 2 * system.size
        assert np.array_equal(found.lower, system.lower)
        assert np.array_equal(found.upper, system.upper)
        assert np.array_equal(values.min(axis=0), low) and np.array_equal(values.max(axis=0), high)


@pytest.mark.parametrize("known", [True, False])
def test_attacks_of_all_of_a_part_and_of_its_surroundings_agree(known):
    for seed in range(scaled(100)):
        system = System(seed, free=0.0)
        given = np.full(system.size, known)
        for exact in (True, False):
            found, values, (low, high), ticked = attacked(system, attack_component, exact, given)
            assert found.exact == exact and ticked == 2 * system.size
            assert (found.lower <= low).all() and (found.upper >= high).all()
            assert np.array_equal(values.min(axis=0), low)
            assert np.array_equal(values.max(axis=0), high)


def test_original_values_that_are_no_table_are_no_start():
    """Totals that were rounded on their own: the attack begins somewhere else."""
    for seed in range(scaled(60)):
        system = System(seed, free=0.0)
        system.some = system.some + 1
        system.some[0] += 100
        given = np.full(system.size, True)
        for how in (shown_in_time, attack_component):
            for exact in (True, False):
                found, values, (low, high), _ = attacked(system, how, exact, given)
                assert np.array_equal(values.min(axis=0), low)
                assert np.array_equal(values.max(axis=0), high)
                assert (found.lower <= low).all() and (found.upper >= high).all()


def test_when_time_is_over_bounds_are_still_told():
    system = System(1, free=0.0)
    late, given = Deadline(-1.0), np.zeros(system.size, bool)
    for exact in (True, False):
        found, values, _, _ = attacked(system, shown_in_time, exact, given, late)
        assert not len(values) and np.array_equal(found.lower, system.lower)
        with pytest.raises(OutOfTime):
            attacked(system, attack_component, exact, given, late)
    assert Point(system.some, 1).solves(*system.args)
