"""Short moves, and what single contributors can tell: as often as a programme for each says."""

from dataclasses import replace

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.insider_pieces import settle_pieces
from diskret.attack.insider_quads import Quads
from diskret.attack.insider_search import Search
from diskret.attack.insiders import (
    Insiders,
    Withstood,
    _completed,
    _still_possible,
    withstand,
)
from diskret.attack.moves import Moves, packed
from diskret.attack.shortest import Shortest, room
from diskret.deadline import Deadline, OutOfTime


def grid(draw, shape, people):
    """Hidden cells of a table whose totals are published, and who contributes what to them."""
    n = int(np.prod(shape))
    hidden = np.flatnonzero(draw.random(n) < 0.7)
    at = np.unravel_index(hidden, shape)
    rows = []
    for axis in range(len(shape)):
        others = [at[i] for i in range(len(shape)) if i != axis]
        key = np.ravel_multi_index(others, [shape[i] for i in range(len(shape)) if i != axis])
        rows += [(key == one).astype(np.int64) for one in np.unique(key)]
    matrix = sparse.csr_array(np.array(rows))
    own = np.rint(draw.lognormal(2, 1.5, (people, len(hidden)))) * (
        draw.random((people, len(hidden))) < 0.25
    )
    own = own.astype(np.int64)
    nothing = np.zeros(len(hidden), dtype=bool)
    truth = own.sum(axis=0)
    known = Equations(hidden, matrix, matrix @ truth, ~nothing, nothing, nothing[:0])
    return known, truth, own


def insiders_of(draw, truth, own):
    k = len(truth)
    pairs = np.zeros((4, k), dtype=np.int64)
    for row in pairs:
        row[draw.choice(k, 2, replace=False)] = 1
    target = sparse.csr_array(np.concatenate((np.eye(k, dtype=np.int64), pairs)))
    most = np.maximum(target @ truth // 8, 1)

    def level(at, who):
        return most[at], most[at]

    return Insiders(
        sparse.csr_array(own),
        (own > 0).sum(axis=0),
        1,
        target,
        (most, most),
        level,
        np.ones(k, dtype=bool),
    )


def told(known, truth, own, insiders):
    """Who can tell which target on which side, by a programme for each."""
    found = set()
    for who in range(len(own)):
        alone = (own[who] > 0) & (insiders.number == 1)
        bounds = [
            (t, t) if a else (c, None) for t, a, c in zip(truth, alone, own[who], strict=True)
        ]
        for t in range(insiders.target.shape[0]):
            of = insiders.target[[t]].toarray()[0]
            for side, most in ((1, insiders.most[1][t]), (-1, insiders.most[0][t])):
                answer = linprog(
                    -side * of.astype(float),
                    A_eq=known.matrix,
                    b_eq=known.right,
                    bounds=bounds,
                )
                far = np.inf if answer.status == 3 else -answer.fun - side * (of @ truth)
                if far < most - 1e-6:
                    found.add((who, t, side))
    return found


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_what_is_open_is_what_a_programme_for_each_leaves_open(seed):
    draw = np.random.default_rng(seed)
    known, truth, own = grid(draw, (3, 4) if seed % 2 else (3, 3, 2), 7)
    insiders = insiders_of(draw, truth, own)
    bounds = np.zeros_like(truth), np.full_like(truth, UNKNOWN)
    search = Search(known, bounds, truth, False)
    first = settle_pieces(known, bounds, truth, [], insiders, False, search)
    again = settle_pieces(known, bounds, truth, first.tables, insiders, False, search)
    later = settle_pieces(known, bounds, truth, [], insiders, False, search, before=first.tables)
    expected = told(known, truth, own, insiders)
    alone = replace(insiders, coalition=0)
    outsider = settle_pieces(known, bounds, truth, [], alone, False, search)
    outside = {(t, side) for who, t, side in expected if not own[who].any()}
    first_of_all = settle_pieces(
        known, bounds, truth, [], insiders, False, search, outsider_first=True
    )
    # contributors are asked if nothing is open to an outsider, and only then
    asked = outsider if any(map(len, outsider.open)) else first
    assert sum(map(len, first_of_all.open)) == sum(map(len, asked.open))
    assert first_of_all.asked == asked.asked
    for settled in (first, again, later):
        open_ = {
            (int(who), int(t), int(side))
            for one in settled.open
            for who, t, side in zip(one.who, one.target, one.side, strict=True)
        }
        everybody = {(t, side) for who, t, side in open_ if who < 0}
        assert outside <= everybody
        assert everybody == {
            (int(t), int(side))
            for one in outsider.open
            for t, side in zip(one.target, one.side, strict=True)
        }
        if not everybody and settled is later:
            assert not settled.tables  # whatever was found is found again
        # whom nobody outside withstands, nobody inside does
        assert {one for one in open_ if one[0] >= 0} == {
            one for one in expected if one[1:] not in everybody
        }
        for table in settled.tables:
            assert table.solves(known.matrix, known.right, *bounds)


def test_there_is_something_to_find():
    draw = np.random.default_rng(1)
    known, truth, own = grid(draw, (3, 4), 7)
    assert told(known, truth, own, insiders_of(draw, truth, own))


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_a_move_is_the_shortest_there_is(seed):
    draw = np.random.default_rng(seed)
    known, truth, _ = grid(draw, (4, 4), 5)
    k = len(truth)
    down, up = room(truth, np.zeros_like(truth), np.full_like(truth, UNKNOWN))
    cells, side, need = draw.choice(k, 2, replace=False), int(draw.choice([1, -1])), 5
    move, none = Shortest(known.matrix).look(np.sort(cells), side, need, down, up)
    of = np.isin(np.arange(k), cells) * float(-side)
    answer = linprog(
        np.ones(2 * k),
        A_ub=np.append(of, -of)[None],
        b_ub=[-need],
        A_eq=sparse.hstack([known.matrix, -known.matrix]),
        b_eq=np.zeros(known.matrix.shape[0]),
        bounds=[(0, end if np.isfinite(end) else None) for end in (*up, *down)],
    )
    assert none == (answer.status == 2)
    if move is not None:
        step = np.zeros(k, dtype=np.int64)
        step[move.cell] = move.step
        assert not (known.matrix @ step).any()
        assert np.all(truth * move.unit + step >= 0)
        assert side * step[cells].sum() >= need * move.unit
        assert np.abs(step).sum() / move.unit == pytest.approx(answer.fun)


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_what_cannot_move_far_enough_is_told_why(seed):
    draw = np.random.default_rng(seed)
    known, truth, _ = grid(draw, (4, 4), 5)
    k = len(truth)
    shortest = Shortest(known.matrix)
    down, up = room(truth, np.zeros_like(truth), 2 * truth + 1)
    some = 0
    for cell in range(k):
        answer = linprog(
            -(np.arange(k) == cell).astype(float),
            A_eq=known.matrix,
            b_eq=np.zeros(known.matrix.shape[0]),
            bounds=np.c_[-down, up],
        )
        need = int(-answer.fun + 1e-6) + 1
        move, none = shortest.look(np.array([cell]), 1, need, down, up)
        weights = shortest.weights
        assert move is None and none and weights is not None
        # the same sum in every move, and no room for it
        for _ in range(3):
            goal = draw.normal(size=k)
            other = linprog(
                goal,
                A_eq=known.matrix,
                b_eq=np.zeros(known.matrix.shape[0]),
                bounds=np.c_[-down, up],
            ).x
            assert weights @ other == pytest.approx(other[cell], abs=1e-6)
        most = np.maximum(weights, 0) @ up + np.maximum(-weights, 0) @ down
        assert most < need
        some += bool(np.any(weights != (np.arange(k) == cell)))
    assert some


def test_contributors_who_leave_no_room_share_a_programme(monkeypatch):
    # a cell of 60 that six contributors share must fall by 20 for any other to move as far
    truth = np.array([60, 90, 90, 90])
    own = np.zeros((6, 4), dtype=np.int64)
    own[:, 0] = 50  # nobody knows what others have taken away
    matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]))
    nothing = np.zeros(4, dtype=bool)
    known = Equations(np.arange(4), matrix, matrix @ truth, ~nothing, nothing, nothing[:0])
    target = sparse.csr_array(np.eye(4, dtype=np.int64)[1:2])
    most = np.array([20]), np.array([20])
    insiders = Insiders(
        sparse.csr_array(own),
        np.full(4, 7),
        1,
        target,
        most,
        lambda at, who: (most[0][at], most[1][at]),
        np.ones(4, dtype=bool),
    )
    asked = []
    look = Shortest.look

    def counted(self, *question):
        asked.append(question)
        return look(self, *question)

    monkeypatch.setattr(Shortest, "look", counted)
    bounds = np.zeros_like(truth), np.full_like(truth, UNKNOWN)
    search = Search(known, bounds, truth, False)
    settled = settle_pieces(known, bounds, truth, [], insiders, False, search)
    open_ = [one for of in settled.open for one in zip(of.who, of.side, strict=True)]
    assert sorted(open_) == [(who, 1) for who in range(6)]
    # there and back for everybody, and once for all who are in the way
    assert len(asked) <= 2


def test_a_move_that_is_dear_is_avoided():
    """Two ways for the first cell to rise: with the second or with the third one."""
    matrix = sparse.csr_array(np.array([[1, 1, 1]]))
    for dear, other in ((1, 2), (2, 1)):
        price = np.ones(3)
        price[dear] = 9
        move, _ = Shortest(matrix, price).look(
            np.array([0]), 1, 2, np.full(3, 5.0), np.full(3, 5.0)
        )
        assert move is not None and move.cell.tolist() == [0, other]


@pytest.mark.parametrize("seed", range(3))
def test_the_same_cell_asked_about_again_is_answered_as_by_a_programme_of_its_own(seed):
    """Other room, another distance and other prices, one after the other."""
    draw = np.random.default_rng(seed)
    known, truth, _ = grid(draw, (4, 5), 7)
    n = len(truth)
    kept = Shortest(known.matrix)
    for cell in draw.choice(n, 3, replace=False).tolist():
        for _ in range(12):
            question = (
                np.array([cell]),
                int(draw.choice([-1, 1])) if draw.random() < 0.2 else 1,
                int(draw.integers(1, 200)),
                np.floor(draw.random(n) * truth),
                np.floor(draw.random(n) * 300) * (draw.random(n) < 0.8),
            )
            price = draw.integers(1, 4, n).astype(float)
            if draw.random() < 0.3:
                kept.charge(price)
            else:
                price = kept._price[:n]
            (found, none), (other, impossible) = (
                one.look(*question) for one in (kept, Shortest(known.matrix, price))
            )
            assert none == impossible
            assert (found is None) == (other is None)
            if found is not None:
                paid = [abs(m.step / m.unit) @ price[m.cell] for m in (found, other)]
                assert paid[0] == pytest.approx(paid[1])


def test_moves_of_cells_that_are_published_again_are_used_no_more_the_others_are():
    """Two lines of three cells, of which the first one's last cell was hidden before."""
    before = sparse.csr_array(np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]))
    truth = np.array([5, 5, 5, 7, 7])
    moved = np.array([[1, 0, -1, 2, -2], [1, -1, 0, 0, 0]])
    tables = [Point(truth + step, 1) for step in moved]
    found = Withstood(tables, [], set(), np.arange(5))
    now = np.array([0, 1, 3, 4])
    matrix, no = sparse.csr_array(before[:, now]), np.zeros(4, dtype=bool)
    known = Equations(now, matrix, matrix @ truth[now], ~no, no, no[:0])
    bounds = np.zeros(4, dtype=np.int64), np.full(4, UNKNOWN)
    kept = [
        table.numerator - truth[now] for table in _still_possible(found, known, bounds, truth[now])
    ]
    assert sorted(step.tolist() for step in kept) == [[0, 0, 2, -2], [1, -1, 0, 0]]
    low = bounds[0] + np.array([0, 5, 0, 6])  # and none that leads out of bounds
    assert not list(_still_possible(found, known, (low, bounds[1]), truth[now]))


def test_moves_that_share_an_equation_stay_apart():
    matrix = sparse.csr_array(np.array([[1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]))
    steps = sparse.csr_array(
        np.array([[1, -1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 0, 1, -1]])
    )
    moves = Moves(steps, np.ones(3, dtype=np.int64))
    assert packed(moves).steps.shape[0] == 1
    assert packed(moves, matrix).steps.toarray().tolist() == [
        [1, -1, 0, 0, 1, -1],
        [0, 0, 1, -1, 0, 0],
    ]


def test_every_programme_of_it_ends_at_the_deadline():
    draw = np.random.default_rng(1)
    known, truth, own = grid(draw, (3, 3, 2), 7)
    insiders = insiders_of(draw, truth, own)
    bounds = np.zeros_like(truth), np.full_like(truth, UNKNOWN)
    late = Search(known, bounds, truth, False, Deadline(-1.0))
    with pytest.raises(OutOfTime):  # nobody reports progress that could end it
        settle_pieces(known, bounds, truth, [], insiders, False, late)
    with pytest.raises(OutOfTime):
        late.look(np.array([0]), 1, 1, *bounds)
    told: list[tuple[str, int, int]] = []
    calm = Search(known, bounds, truth, False)
    settle_pieces(known, bounds, truth, [], insiders, False, calm, lambda *of: told.append(of))
    assert len(told) > told[0][2]  # from within a piece, too


@pytest.mark.parametrize("coalition", [1, 2])
def test_a_sum_of_large_numbers_goes_no_farther_than_it_does(coalition):
    """Two cells of 2^58 and one of 9: floating point takes a move of the two by 9 for one by 16."""
    truth = np.array([2**58, 2**58, 9])
    matrix = sparse.csr_array(np.ones((1, 3), dtype=np.int64))
    no = np.zeros(3, dtype=bool)
    known = Equations(np.arange(3), matrix, matrix @ truth, ~no, no, no[:0])
    most = np.array([0]), np.array([10])
    insiders = Insiders(
        sparse.csr_array((1, 3), dtype=np.int64),
        np.full(3, 9),
        coalition,
        sparse.csr_array(np.array([[1, 1, 0]])),
        most,
        lambda at, who: (most[0][at], most[1][at]),
        ~no,
    )
    bounds = np.zeros(3, dtype=np.int64), np.full(3, UNKNOWN)
    table = Point(truth + np.array([2**57, 9 - 2**57, -9]), 1)
    assert table.solves(matrix, known.right, *bounds)
    found = withstand(known, bounds, truth, [table], insiders, False)
    assert [(one.who, one.upper) for one in found.open] == [((), 10)]


def test_a_table_at_hand_counts_where_nothing_else_is_found(monkeypatch):
    """Its fractions are too fine for parts of it to be used, and programmes give no answer."""
    truth = np.array([50, 60, 70, 80])
    matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]))
    no = np.zeros(4, dtype=bool)
    known = Equations(np.arange(4), matrix, matrix @ truth, ~no, no, no[:0])
    most = np.array([2]), np.array([2])
    insiders = Insiders(
        sparse.csr_array((1, 4), dtype=np.int64),
        np.full(4, 9),
        0,
        sparse.csr_array(np.eye(4, dtype=np.int64)[:1]),
        most,
        lambda at, who: (most[0][at], most[1][at]),
        ~no,
    )
    bounds = np.zeros(4, dtype=np.int64), np.full(4, UNKNOWN)
    monkeypatch.setattr(Shortest, "look", lambda *given: (None, False))
    monkeypatch.setattr(Search, "look", lambda *given: None)
    monkeypatch.setattr(Quads, "moves", lambda *given: (np.zeros((0, 4)), np.zeros((0, 4))))
    for far, open_ in ((121, [(2, 2)]), (122, [])):
        step = far * np.array([1, -1, -1, 1])
        found = withstand(known, bounds, truth, [Point(truth * 61 + step, 61)], insiders, False)
        assert [(one.lower, one.upper) for one in found.open] == open_


def test_tables_of_one_piece_are_completed_by_possible_values_of_unpublished_cells():
    """The last cell is published nowhere; with the one before it adds up to 9."""
    matrix = np.zeros((5, 6), dtype=np.int64)
    matrix[:4, :4] = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    matrix[4, 4:] = 1
    truth, latent = np.array([5, 6, 7, 8, 4, 0]), np.arange(6) == 5
    right = np.array([11, 15, 12, 14, 9])
    known = Equations(
        np.arange(6), sparse.csr_array(matrix), right, ~latent, latent, np.zeros(1, dtype=bool)
    )
    bounds = np.zeros(6, dtype=np.int64), np.full(6, UNKNOWN)
    step = np.array([1, -1, -1, 1, 0, 0])
    moved, whole = Point(truth * 2 + step, 2), Point(np.array([4, 7, 8, 7, 2, 7]), 1)
    base = Point(np.array([15, 18, 21, 24, 10, 17]), 3)
    [done, same] = _completed([moved, whole], [base], known, bounds)
    assert same is whole and done.solves(known.matrix, right, *bounds)
    assert (done.numerator * 6 == (np.array([33, 33, 39, 51, 20, 34])) * done.denominator).all()
    # as they are if no table is at hand, or these values are not possible either
    assert _completed([moved], [], known, bounds) == [moved]
    narrow = bounds[0], np.array([9, 9, 9, 9, 3, 9])
    assert _completed([moved], [base], known, narrow) == [moved]
    # and nobody knows what a move of an unpublished cell would start from
    before = Withstood([whole, moved], [], set(), np.arange(6))
    [kept] = _still_possible(before, known, bounds, truth)
    assert kept.numerator.tolist() == whole.numerator.tolist()


@pytest.mark.parametrize("owed", [(1, 5), (5, 1)])
def test_each_side_is_asked_for_what_is_owed_there(owed):
    """The first cell rises by 3 as the second one falls, and falls by 3 with the last one."""
    truth = np.array([10, 3, 50, 3])
    matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]))
    no = np.zeros(4, dtype=bool)
    known = Equations(np.arange(4), matrix, matrix @ truth, ~no, no, no[:0])
    most = np.array(owed[:1]), np.array(owed[1:])
    insiders = Insiders(
        sparse.csr_array((1, 4), dtype=np.int64),
        np.full(4, 9),
        1,
        sparse.csr_array(np.eye(4, dtype=np.int64)[:1]),
        most,
        lambda at, who: (most[0][at], most[1][at]),
        ~no,
    )
    bounds = np.zeros(4, dtype=np.int64), np.full(4, UNKNOWN)
    found = withstand(known, bounds, truth, [], insiders, False)
    assert [(one.lower, one.upper) for one in found.open] == [tuple(x * (x > 3) for x in owed)]
