"""Ends of intervals as vertices in fractions tell them, and programmes that lose their way."""

from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor
from types import SimpleNamespace

import numpy as np
import pytest
from kinds_of_records import Shown, publication
from scipy import sparse

from diskret.attack import component, examine, linear_programme, search, shortest, solver
from diskret.attack.component import Component, Start, attack_component, shown_in_time
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.linear_programme import Answer, LinearProgramme
from diskret.attack.moves import joined
from diskret.attack.search import SearchResult, Wanted
from diskret.attack.short_moves import put_together
from diskret.attack.shortest import Move, Shortest
from diskret.attack.solver import OutOfWork, Status
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import ContradictionError, ProofError
from diskret.hierarchy import Hierarchy


def fractions(matrix, right, lower, upper):
    """The vertices of two equations between a few bounded unknowns."""
    (a, b), n = matrix.tolist(), len(lower)
    found = []
    for i, j in combinations(range(n), 2):
        by = a[i] * b[j] - a[j] * b[i]
        others = [k for k in range(n) if k not in (i, j)]
        for at in product(*((int(lower[k]), int(upper[k])) for k in others)) if by else ():
            r, s = (
                int(right[e]) - sum(row[k] * x for k, x in zip(others, at, strict=True))
                for e, row in enumerate((a, b))
            )
            point = dict(zip(others, map(Fraction, at), strict=True))
            point |= {i: Fraction(r * b[j] - a[j] * s, by), j: Fraction(a[i] * s - b[i] * r, by)}
            if all(lower[k] <= x <= upper[k] for k, x in point.items()):
                found.append([point[k] for k in range(n)])
    return found


def system(seed, size=10**7):
    """Two equations between four unknowns that some whole numbers satisfy; one counts for many."""
    draw = np.random.default_rng(seed)
    matrix = draw.choice((-1, 1, 2), (2, 4))
    matrix[[0, 1], draw.integers(0, 4, 2)] = 5003, 4999
    some = draw.integers(0, size, 4)
    lower, upper = some - draw.integers(0, size, 4), some + draw.integers(0, size, 4)
    return matrix, matrix @ some, lower, upper


def programme(matrix, right, lower, upper, **options):
    matrix = sparse.csr_array(np.asarray(matrix))
    return LinearProgramme(matrix, np.array(right), np.array(lower), np.array(upper), **options)


@pytest.mark.parametrize("whole", [True, False])
def test_ends_that_no_small_denominator_tells_are_neither_wider_nor_narrower(whole):
    """A vertex that cannot be made exact: at ten millions its fraction counts as much as at one."""
    between = 0
    for seed in range(15):
        own = system(seed)
        vertices = fractions(*own)
        found = search.search(programme(*own), whole, 10, np.ones(4, bool))
        for k in range(4):
            least, most = (end(x[k] for x in vertices) for end in (min, max))
            between += least.denominator > 4096 or most.denominator > 4096
            near = Fraction(2, 10**5)  # what the solver cannot tell from a whole number
            if whole:
                assert found.lower[k] in {ceil(least), ceil(least - near)}
                assert found.upper[k] in {floor(most), floor(most + near)}
            else:
                assert abs(Fraction(found.lower[k]) - least) < near
                assert abs(Fraction(found.upper[k]) - most) < near
        for point in found.points:
            assert point.solves(sparse.csr_array(own[0]), *own[1:])
            assert point.denominator == 1 or not whole
    assert between > 20


@pytest.mark.parametrize(
    ("value", "sign", "counts", "sums"),
    [
        (2.9999995, 1, 3, 3),
        (2.9999995, -1, 3, 3),
        (3.0000005, 1, 3, 3),
        (3.0000005, -1, 3, 3),
        (2.99, 1, 2, 2.99),
        (3.01, -1, 4, 3.01),
        (-3.01, 1, -4, -3.01),
        (-2.99, -1, -2, -2.99),
        (10**7 + 0.999, 1, 10**7, 10**7 + 0.999),
        (10**7 + 0.001, -1, 10**7 + 1, 10**7 + 0.001),
    ],
)
def test_ends_of_a_vertex_that_is_not_exact_are_rounded_inwards(value, sign, counts, sums):
    """But for the last digits, which the solver does not know."""
    own = programme([[1, 1]], [5], [0, 0], [9, 9])
    answer = Answer(True, np.array([value, 0.0]), None)
    for whole, end in ((True, counts), (False, sums)):
        questions = search._Search(own, whole, 9, np.ones(2, bool))
        assert questions._end(answer, 0, sign) == end
    for numerator, point, up, down in ((7, 3.5, 3, 4), (-7, -3.5, -4, -3), (8, 4, 4, 4)):
        exact = Answer(True, np.array([99.0, 99.0]), Point(np.array([numerator, 1]), 2))
        assert questions._end(exact, 0, sign) == point
        questions.whole = True
        assert questions._end(exact, 0, sign) == (up if sign > 0 else down)
        questions.whole = False


# ── where no whole numbers are ───────────────────────────────────────────────────────


def test_sums_that_no_whole_numbers_make_up_are_halves_and_counts_contradict_each_other():
    """Each two of three ages have one together, and nothing else is shown."""
    shown = []
    for pair, rest in (("ox", "y"), ("xy", "o"), ("oy", "x")):
        codes = ("Total", pair, *pair, rest)
        order = Hierarchy(codes, np.array([-1, 0, 1, 1, 0]))
        table = Shown(["age"], {}, np.zeros(12, dtype=np.int64), order)
        table.value = np.array([0, 1, 0, 0, 0])
        table.hidden = np.array([True, False, True, True, True])
        table.empty[:] = False
        shown.append(table)
    found = examine(publication(shown, frequency=False))
    total = found.lower == 1.5
    assert total.sum() == 3 and (found.lower[~total] == 0.5).all()
    assert np.array_equal(found.lower, found.upper)
    with pytest.raises(ContradictionError):
        examine(publication(shown))


def test_halves_of_a_large_part_are_a_table_of_sums_but_none_of_counts():
    """Two unknowns that count twice make 5: there is a table, and not one of whole numbers."""
    row = sparse.csr_array(np.array([[2, 2]]))
    own = Component(np.arange(2), row, np.array([5]), np.zeros(2, np.int64), np.full(2, 9))
    start = Start(np.zeros(2, np.int64), np.zeros(2, bool), joined([], 2))
    asked, ticks = np.ones(2, bool), []
    for whole in (True, False):
        found = attack_component(own, False, asked, start, None, whole, 9, ticks.append)
        assert (found.lower <= 0).all() and (found.upper >= 2.5).all() and not found.exact
        assert [point.denominator for point in found.points] == [2] * (not whole)
        quick = shown_in_time(own, False, asked, start, None, whole, 9, ticks.append, NEVER)
        assert quick.upper.tolist() == [9, 9] and not quick.points and not quick.exact


def test_single_equations_leave_what_nothing_bounds_without_end():
    row, free = sparse.csr_array(np.array([[1, -1]])), np.full(2, UNKNOWN)
    own = Component(np.arange(2), row, np.array([0]), -free, free)
    start = Start(np.zeros(2, np.int64), np.ones(2, bool), joined([], 2))
    quick = shown_in_time(
        own, False, np.ones(2, bool), start, None, True, 9, lambda done: None, NEVER
    )
    assert quick.lower.tolist() == [-np.inf] * 2 and quick.upper.tolist() == [np.inf] * 2


def test_whole_numbers_are_looked_for_around_a_half():
    ends = np.zeros(2, np.int64), np.array([9, 1])
    own = Component(np.arange(2), sparse.csr_array(np.array([[2, 1]])), np.array([5]), *ends)
    vertex = Answer(True, np.array([2.5, 0]), Point(np.array([5, 0]), 2))
    assert component._near(own, vertex).tolist() == [2, 1]
    far = Answer(True, np.full(101, 0.5), None)
    assert component._near(own, far) is None  # too many of them


def test_windows_are_for_numbers_that_can_be_added_up():
    row = sparse.csr_array(np.array([[1, 1, 1]]))
    for largest, right in ((2**58, True), (2**59, False)):
        assert component._adds_up(row, np.array([0, -largest, 1])) == right
    twice = sparse.csr_array(np.array([[1, 2, 1]]))
    assert not component._adds_up(twice, np.array([0, 2**58, 1]))


# ── programmes that lose their way ───────────────────────────────────────────────────


class Lost:
    """A solver that answers some questions otherwise."""

    def __init__(self, solver, **answers):
        self._solver, self._answers = solver, answers

    def __getattr__(self, name):
        return self._answers.get(name) or getattr(self._solver, name)


THIRDS = [[1, 1, 0], [0, 1, 1], [1, 0, 1]], [3, 3, 3], [0, 0, 0], [9, 9, 9]
#: x of 2x + y = 5 ends at a half.
HALF = [[2, 1]], [5], [0, 0], [9, 9]


@pytest.mark.parametrize(
    "step", [np.full(1, np.inf), np.full(1, 1.0), np.full(1, 0.25)], ids=["far", "on", "beside"]
)
def test_a_basis_that_leads_nowhere_makes_no_point_and_the_end_stays(step):
    """It is too far, comes to no end, or does not keep the equations."""
    own = programme(*HALF)
    own._solver = Lost(own._solver, getBasisSolve=lambda rest: (None, step))
    answer = own.farthest(np.array([1.0, 0.0]))
    assert answer.bounded and answer.point is None
    assert answer.vertex.tolist() == pytest.approx([2.5, 0])
    found = search.search(own, False, 9, np.ones(2, bool))
    assert found.upper.tolist() == pytest.approx([2.5, 5])
    assert found.high.tolist() == [0, 5]  # what is whole needs no basis


def test_numbers_too_large_for_their_denominator_make_no_point():
    for total, told in ((2**62 - 1, False), (2**61 - 1, True)):
        own = programme([[2, 1]], [total], [0, 0], [2**61, 9])
        answer = own.farthest(np.array([1.0, 0.0]))
        assert (answer.point is not None) == told
        assert answer.vertex[0] == total / 2


@pytest.mark.parametrize("ray", [None, [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -1.0, -1.0]])
def test_without_a_ray_nothing_is_shown_to_be_endless_and_nothing_bounds_it(ray):
    """None is told, or one that leads nowhere, or out of bounds; each unknown is asked about."""
    end = np.array([UNKNOWN, UNKNOWN, UNKNOWN, 9])
    own = programme([[1, -1, 0, 0], [0, 0, 1, -1]], [0, 0], [0] * 4, end)
    told = None if ray is None else np.array(ray)
    own._solver = Lost(own._solver, getPrimalRay=lambda: (None, told is not None, told))
    found = search.search(own, True, 100, np.ones(4, bool))
    assert found.upper.tolist() == [np.inf, np.inf, 9, 9]
    assert found.lower.tolist() == [0] * 4 and found.high.tolist() == [0, 0, 9, 9]


@pytest.mark.parametrize(
    ("row", "total", "lower", "upper", "ray", "ends"),
    [
        ([1, 1], 5, [0, 0], [UNKNOWN, 9], [1, -1], [(0, 5), (0, 5)]),
        ([1, -1], 0, [0, 0], [UNKNOWN, 9], [1, 1], [(0, 9), (0, 9)]),
        ([1, 1], 5, [-UNKNOWN, 0], [9, 9], [-1, 1], [(-4, 5), (0, 9)]),
        ([1, -1], 0, [-UNKNOWN, 2], [9, 9], [-1, -1], [(2, 9), (2, 9)]),
        ([1, 1], 5, [0, 0], [UNKNOWN, 9], [1, 0], [(0, 5), (0, 5)]),
    ],
)
def test_rays_that_leave_a_bound_or_an_equation_make_nothing_endless(
    row, total, lower, upper, ray, ends
):
    """Whatever the solver says: else an interval would be told without an end that it has.

    Beside them are two that have none, so that the solver is asked for a ray.
    """
    own = programme([[*row, 0, 0], [0, 0, 1, -1]], [total, 0],
                    [*lower, -UNKNOWN, -UNKNOWN], [*upper, UNKNOWN, UNKNOWN])  # fmt: skip
    told = np.array([*ray, ray[0], ray[0]], dtype=float)
    own._solver = Lost(own._solver, getPrimalRay=lambda: (None, True, told.copy()))
    found = search.search(own, True, 100, np.ones(4, bool))
    interval = [*zip(found.lower.tolist(), found.upper.tolist(), strict=True)]
    assert interval == [*ends, (-np.inf, np.inf), (-np.inf, np.inf)]


def test_a_ray_of_large_numbers_is_none_for_its_unknowns_alone():
    """Two of them only grow by 4999 and 5003 at a time, which no ray tells."""
    own = programme([[4999, -5003, 0, 0], [0, 0, 1, -1]], [0, 0], [0] * 4, [UNKNOWN] * 4)
    found = search.search(own, True, 100, np.ones(4, bool))
    assert np.isinf(found.upper).all() and found.high.tolist() == [0, 0, 100, 100]


def test_rays_without_a_point_to_begin_with_or_too_far_show_nothing():
    halves = programme([[2, 2, 0, 0], [0, 0, 1, -1]], [5, 0], [0] * 4, [9, 9, UNKNOWN, UNKNOWN])
    far = programme([[1, -1]], [0], [0, 0], [UNKNOWN, UNKNOWN])
    for own, steps in ((halves, 9), (far, UNKNOWN)):
        found = search.search(own, own is far, steps, np.ones(len(own.lower), bool))
        assert np.isinf(found.upper[-2:]).all()
        assert all(own.holds(point) for point in found.points)
    assert (found.high == 0).all()


@pytest.mark.parametrize("second", [True, False])
def test_a_solver_without_an_answer_is_asked_twice(monkeypatch, second):
    own, run, asked = programme(*HALF), linear_programme.run_in_time, []

    def at_second(*question, **how):
        asked.append(question)
        found = run(*question, **how)
        return found if second and len(asked) > 1 else Status.kUnknown

    monkeypatch.setattr(linear_programme, "run_in_time", at_second)
    if second:
        answer = own.farthest(np.array([1.0, 0.0]))
        assert (answer.point.numerator.tolist(), answer.point.denominator) == ([5, 0], 2)
    else:
        with pytest.raises(ProofError, match="without an answer"):
            own.farthest(np.array([1.0, 0.0]))
    assert len(asked) == 2


def test_a_search_in_whole_numbers_ends_after_so_many_turns(monkeypatch):
    draw = np.random.default_rng(0)
    matrix = draw.integers(-9, 9, (3, 6))
    own = programme(matrix, matrix @ [3, 4, 5, 2, 1, 6], [0] * 6, [99] * 6)
    monkeypatch.setattr(solver, "_TURNS", 0)
    monkeypatch.setattr(solver, "_FEWEST_TURNS", 0)
    assert own.farthest_whole(0, 1, 500) is None
    monkeypatch.undo()
    found = own.farthest_whole(0, 1, 500)
    assert own.holds(found)
    before = own.holds
    own._solver, own.holds = None, lambda point: False  # what does not hold is none
    assert own.farthest_whole(0, 1, 500) is None and before(found)


def test_whole_numbers_are_found_beside_an_unknown_without_end(monkeypatch):
    """Its end is no large number; and what a solver does not tell in full is no answer."""
    own = programme([[2, 1, -1]], [5], [0] * 3, [9, 9, UNKNOWN])
    found = own.farthest_whole(0, 1, 500)
    assert found.numerator[0] == 9 and own.holds(found)
    real = linear_programme.solver_of
    for told in ([], [9.0, 0.0], [np.inf, 0.0, np.inf], [9.0, 0.0, np.nan]):
        said = SimpleNamespace(col_value=told)

        def lost(*of, said=said, **options):
            return Lost(real(*of, **options), getSolution=lambda: said)

        monkeypatch.setattr(linear_programme, "solver_of", lost)
        assert own.farthest_whole(0, 1, 500) is None


def test_an_answer_after_the_deadline_is_none(monkeypatch):
    class Over(Deadline):
        def check(self):
            """Not yet."""

        def seconds(self):
            return 0.0

    own = programme(*HALF)
    monkeypatch.setattr(solver, "_GRACE", 0.0)
    with pytest.raises(OutOfTime):
        solver.run_in_time(own._solver, Over(1.0))


class Counted:
    """A solver that notes what it is told, and searches as long as it may."""

    def __init__(self, columns, most=10**7, fails=False):
        self.columns, self.most, self.fails = columns, most, fails
        self.options, self.heard, self.turns, self.on = {}, [], 0, True
        self.cbMipInterrupt = self
        self.setOptionValue = self.options.__setitem__
        self.subscribe, self.unsubscribe = self.heard.append, self.heard.remove

    def getNumCol(self):  # noqa: N802 — as of the solver
        return self.columns

    def getRunTime(self):  # noqa: N802
        return 7.0

    def getModelStatus(self):  # noqa: N802
        return Status.kOptimal

    def interrupt(self):
        self.on = False

    def run(self):
        while self.heard and self.on and self.turns < self.most:
            self.turns += 1
            self.heard[0](self)
        if self.fails:
            raise KeyboardInterrupt


def test_work_is_counted_by_columns(monkeypatch):
    """Half as many pivots in a wide programme; so many turns times columns, or a few at least."""
    monkeypatch.setattr(solver, "_TURNS", 600)
    for columns, pivots in ((0, 200_000), (50_000, 100_000), (150_000, 50_000)):
        own = Counted(columns)
        assert solver.run_in_time(own, NEVER, bounded=True) is Status.kOptimal
        assert own.options == {"simplex_iteration_limit": pivots}
        solver.run_in_time(own, NEVER)
        assert own.options["simplex_iteration_limit"] > 10**9
    for columns, turns in ((0, 601), (1, 601), (3, 201), (30, 21), (300, 21)):
        own = Counted(columns)
        solver.run_in_time(own, NEVER, whole=True)
        assert (own.turns, own.heard, own.options) == (turns, [], {})
    done = Counted(1, most=5)
    solver.run_in_time(done, NEVER, whole=True)
    assert done.on and done.turns == 5
    broken = Counted(1, fails=True)
    with pytest.raises(KeyboardInterrupt):
        solver.run_in_time(broken, NEVER, whole=True)
    assert not broken.heard


def test_a_search_ends_a_little_after_the_deadline():
    own = Counted(1)
    solver.run_in_time(own, Deadline.after(100))
    assert 95 < own.options["time_limit"] - 7 < 100.06
    with pytest.raises(OutOfTime):
        solver.run_in_time(own, Deadline.after(-1))


# ── what is known of a search ────────────────────────────────────────────────────────


def test_what_points_show_is_the_least_and_the_most_of_them_and_few_are_needed():
    draw = np.random.default_rng(3)
    for _ in range(20):
        found, points = SearchResult(np.full(3, -9.0), np.full(3, 9.0)), []
        assert found.needed == [] and not found.shown(0, 1) and not found.shown(0, -1)
        for _ in range(6):
            points.append(Point(draw.integers(-20, 21, 3), int(draw.integers(1, 4))))
            found.add(points[-1])
        value = np.array([point.numerator / point.denominator for point in points])
        assert np.array_equal(found.low, value.min(axis=0))
        assert np.array_equal(found.high, value.max(axis=0))
        # the first to reach an end of some unknown, and no other one
        first = {*value.argmin(axis=0).tolist(), *value.argmax(axis=0).tolist()}
        assert [id(point) for point in found.needed] == [id(points[i]) for i in sorted(first)]
        for k in range(3):
            found.tighten(k, 1, 7.0)
            found.tighten(k, 1, 8.0)
            found.tighten(k, -1, -6.0)
            found.tighten(k, -1, -7.0)
            assert (found.lower[k], found.upper[k]) == (-6, 7)
            assert found.shown(k, 1) == (value[:, k].max() >= 7)
            assert found.shown(k, -1) == (value[:, k].min() <= -6)


def test_counts_are_shown_at_their_ends_where_no_vertex_is_whole():
    """Of 2y + w = 5 with w up to 2 only y = 2 is whole, and that is no vertex."""
    own = programme([[1, 1, 0, 0], [0, 0, 2, 1]], [3, 5], [0] * 4, [3, 3, 9, 2])
    found = search.search(own, True, 9, np.ones(4, bool))
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0, 2, 1], [3, 3, 2, 1])
    assert (found.lower.tolist(), found.upper.tolist()) == ([0, 0, 2, 0], [3, 3, 2, 2])


def test_known_points_are_not_asked_for_again(monkeypatch):
    own, every = programme([[1, 1, 1]], [30], [0] * 3, [20] * 3), np.ones(3, bool)
    runs = []
    run = LinearProgramme._run
    monkeypatch.setattr(LinearProgramme, "_run", lambda own: runs.append(own) or run(own))
    anew = search.search(own, True, 9, every)
    asked = len(runs)
    again = search.search(own, True, 9, every, known=anew.needed)
    assert len(runs) - asked < asked
    assert again.low.tolist() == [0] * 3 and again.high.tolist() == [20] * 3


def test_parts_of_middle_size_begin_with_what_is_near_the_original_table(monkeypatch):
    """Their intervals are the same; without original values, or with sums too large, too."""
    monkeypatch.setattr(component, "_SMALL", 0)
    monkeypatch.setattr(search, "_SMALL", 0)
    row = sparse.csr_array(np.array([[1, 1, 1]]))
    for size in (1, 2**57):
        right, ends = np.array([30 * size]), (np.zeros(3, np.int64), np.full(3, 20 * size))
        own = Component(np.arange(3), row, right, *ends)
        some = np.array([10, 5, 15]) * size
        wanted = Wanted(some - 3 * size, some + 2 * size, np.full(3, 5 * size))
        for value, given in ((some, True), (some + 1, True), (some, False)):
            start = Start(value, np.full(3, given), joined([], 3))
            found = attack_component(
                own, True, np.ones(3, bool), start, wanted, True, 99, lambda done: None
            )
            assert found.exact
            assert found.lower.tolist() == [0] * 3
            assert found.upper.tolist() == [20.0 * size] * 3
            assert all(point.solves(row, right, *ends) for point in found.points)
            values = np.array([point.numerator for point in found.points])
            assert (values.min(axis=0) <= wanted.low).all()
            assert (values.max(axis=0) >= wanted.high).all()


# ── shortest moves ───────────────────────────────────────────────────────────────────


def look(matrix, need, up, cells=None, own=None):
    n = matrix.shape[1]
    own = own or Shortest(sparse.csr_array(matrix))
    cells = np.arange(n) if cells is None else np.array(cells)
    return own.look(cells, 1, need, np.full(n, 9.0), np.asarray(up, dtype=float))


def equal(n):
    """Cells that move alike."""
    return np.eye(n - 1, n, dtype=np.int64) - np.eye(n - 1, n, 1, dtype=np.int64)


def test_cells_that_move_by_a_third_each_move_by_one_together():
    move, none = look(equal(3), 1, np.full(3, 9))
    assert not none and (move.step.tolist(), move.unit) == ([1, 1, 1], 3)
    # a sixty-first of each is no small fraction: there is a move, and it is not told
    assert look(equal(61), 1, np.full(61, 9)) == (None, False)


def test_moves_that_rounding_takes_too_far_or_that_are_too_large_are_not_told():
    free = np.zeros((0, 2), dtype=np.int64)
    assert look(free, 6, [2.9996, 3.0004]) == (None, False)
    assert look(free, 6, [3, 3])[0].step.tolist() == [3, 3]
    assert look(equal(2), 2**47 + 2, [np.inf, np.inf]) == (None, False)
    assert look(equal(2), 2**46, [np.inf, np.inf])[0].step.tolist() == [2**45, 2**45]


def test_who_is_asked_again_forgets_a_basis_that_leads_nowhere(monkeypatch):
    own, run, asked = Shortest(sparse.csr_array(equal(2))), shortest.run_in_time, []

    def lost(*question, **how):
        asked.append(question)
        found = run(*question, **how)
        return Status.kUnknown if len(asked) == 1 else found

    assert look(equal(2), 4, [9, 9], own=own)[0].step.tolist() == [2, 2]
    monkeypatch.setattr(shortest, "run_in_time", lost)
    assert look(equal(2), 6, [9, 9], own=own)[0].step.tolist() == [3, 3]
    assert len(asked) == 2


def test_who_runs_out_of_work_is_not_asked_again(monkeypatch):
    own, asked = Shortest(sparse.csr_array(equal(2))), []

    def endless(*question, **how):
        asked.append(question)
        raise OutOfWork("too much")

    assert look(equal(2), 4, [9, 9], own=own)[0].step.tolist() == [2, 2]
    monkeypatch.setattr(shortest, "run_in_time", endless)
    assert look(equal(2), 6, [9, 9], own=own) == (None, False)
    assert len(asked) == 1


def test_no_move_without_a_reason_is_no_move_all_the_same():
    own = Shortest(sparse.csr_array(equal(2)))
    assert look(equal(2), 40, [9, 9], own=own) == (None, True)
    assert own.weights is not None
    own._solver = Lost(own._solver, getDualRay=lambda: (None, False, None))
    assert look(equal(2), 41, [9, 9], own=own) == (None, True)
    assert own.weights is None


def test_moves_of_a_cell_that_no_equation_ties_stay_apart():
    """Up by five and down by three: both are told, not their sum."""
    moves = [Move(np.array([0]), np.array([step]), 1) for step in (5, -3)]
    none = sparse.csr_array((0, 1), dtype=np.int64)
    tables = put_together(moves, none, np.array([9]))
    assert [table.numerator.tolist() for table in tables] == [[14], [6]]
