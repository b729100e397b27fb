"""Components too large for every interval: outer bounds, claims in windows, proposals."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from attack_tables import (
    CORNERS,
    MEINDL,
    SQUARE,
    hide,
    meindl,
    publish,
    rolled_up,
    tables,
    three_way,
    whole_tables,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from diskret.attack import (
    Attacker,
    Proposals,
    Targets,
    component,
    examine,
    linear_programme,
    recheck,
    search,
    small_windows,
    surroundings,
    unmet,
)
from diskret.attack.moves import Moves, packed, possible
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.hierarchy import Hierarchy
from diskret.parallel import in_order


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    """Windows of few unknowns, and no component small enough to be examined as a whole."""
    monkeypatch.setattr(component, "EXACT_WORK", -1.0)
    monkeypatch.setattr(surroundings, "_BLOCK", 3)
    monkeypatch.setattr(small_windows, "_BLOCK", 3)
    monkeypatch.setattr(small_windows, "_FIRST", 5)
    monkeypatch.setattr(small_windows, "_MORE", 2)


LEAVES = [(row, column) for row in "123" for column in "123"]
TRUTH = [value for row in MEINDL for value in row]


def all_leaves(frequency=False):
    """The printed table with all inner cells hidden: nine unknowns in six equations."""
    return meindl(*LEAVES, frequency=frequency)


def exactly(monkeypatch, *args, **kwargs):
    """The same attack with all intervals."""
    with monkeypatch.context() as patch:
        patch.setattr(component, "EXACT_WORK", np.inf)
        return examine(*args, **kwargs)


# ── bounds ───────────────────────────────────────────────────────────────────────────


@given(case=tables())
def test_outer_bounds_contain_the_intervals(case):
    published, _ = case
    with pytest.MonkeyPatch.context() as patch:
        exact = exactly(patch, published)
    found = examine(published)
    near = 1e-6 * (1 + np.abs(exact.lower))
    assert np.all(found.lower <= exact.lower + near)
    assert np.all(found.upper >= exact.upper - 1e-6 * (1 + np.abs(published.value).max()))
    free = ~found.exact
    assert found.outer == free.sum()
    assert np.array_equal(found.lower[~free], exact.lower[~free])
    assert np.array_equal(found.upper[~free], exact.upper[~free])
    recheck(published, found)


def test_a_window_that_holds_everything_gives_the_intervals(monkeypatch):
    monkeypatch.setattr(surroundings, "_BLOCK", 100)
    exact = exactly(monkeypatch, all_leaves())
    found = examine(all_leaves())
    assert found.outer == 9 and exact.outer == 0
    assert np.array_equal(found.lower, exact.lower) and np.array_equal(found.upper, exact.upper)


@given(tables(), st.integers(0, 10**6))
def test_bounds_depend_on_nothing_but_what_is_public(case, seed):
    """Neither on the original values nor on what is claimed: else they would tell of levels."""
    published, value = case
    random = np.random.default_rng(seed)
    outsider = examine(published)
    truth = value.ravel()[outsider.cell]
    need = random.integers(0, 9, len(truth))
    informed = examine(published, targets=Targets(truth - need, truth + need, need), original=value)
    assert np.array_equal(outsider.lower, informed.lower)
    assert np.array_equal(outsider.upper, informed.upper)
    assert np.array_equal(outsider.exact, informed.exact)


def test_rounded_values_tie_everything_together(monkeypatch):
    """All cells are unknown, few are asked for; blocks without these are not looked at."""
    value = rolled_up(SQUARE, MEINDL)
    hidden = meindl(*CORNERS).suppressed
    shown = np.where(hidden, 0, (value + 5) // 10 * 10)
    published = replace(meindl(*CORNERS), value=shown, rounding=10)
    monkeypatch.setattr(surroundings, "_BLOCK", 1)
    found, exact = examine(published), exactly(monkeypatch, published)
    assert found.outer == 4
    assert np.all(found.lower <= exact.lower) and np.all(found.upper >= exact.upper)
    assert np.all(np.isfinite(found.upper))
    one = np.ones(4, dtype=np.int64)
    targets = Targets(value[hidden] - one, value[hidden] + one, one)
    claimed = examine(published, targets=targets, original=value)
    assert not unmet(claimed, targets).any()
    recheck(published, claimed)


def test_small_components_are_examined_as_a_whole_as_long_as_the_work_allows(monkeypatch):
    tree = Hierarchy.flat([*"abcdefg"])
    value = rolled_up((tree, tree), np.full((7, 7), 5))
    hidden = np.zeros(value.shape, dtype=bool)
    hidden[1:4, 1:4] = hidden[4:7, 4:8] = True  # 9 cells, and 12
    published = publish((tree, tree), value, hidden)
    for work, outer_bounds in [(2 * 9**3 - 1, 21), (2 * 9**3, 12), (2 * (9**3 + 12**3), 0)]:
        monkeypatch.setattr(component, "EXACT_WORK", work)
        assert examine(published).outer == outer_bounds


# ── claims ───────────────────────────────────────────────────────────────────────────


@given(tables(), st.integers(0, 10**6))
def test_exactly_the_true_claims_are_shown(case, seed):
    published, value = case
    with pytest.MonkeyPatch.context() as patch:
        exact = exactly(patch, published)
    truth = value.ravel()[exact.cell]
    random = np.random.default_rng(seed)
    lowest = np.ceil(exact.witness_lower).astype(np.int64)
    highest = np.floor(np.minimum(exact.witness_upper, 10**6)).astype(np.int64)
    beyond = random.random(len(truth)) < 0.2
    low = np.where(random.random(len(truth)) < 0.5, lowest, truth)
    high = np.where(random.random(len(truth)) < 0.5, highest, truth) + beyond
    targets = Targets(low, high, np.minimum(1, highest - lowest))
    with pytest.MonkeyPatch.context() as patch:
        expected = unmet(exactly(patch, published, targets=targets), targets)
    found = examine(published, targets=targets, original=value)
    recheck(published, found)
    missed = unmet(found, targets)
    assert not np.any(expected & ~missed)
    if not published.frequency:
        assert np.array_equal(missed, expected)


@given(tables(), st.integers(0, 10**6))
def test_components_of_middle_size_keep_their_intervals(case, seed):
    """Their claims are shown in windows first; the intervals do not depend on that."""
    published, value = case
    with pytest.MonkeyPatch.context() as patch:
        exact = exactly(patch, published)
        truth = value.ravel()[exact.cell]
        need = np.random.default_rng(seed).integers(0, 4, len(truth))
        targets = Targets(truth - need, truth + need, need)
        expected = unmet(exactly(patch, published, targets=targets), targets)
        patch.setattr(component, "EXACT_WORK", np.inf)
        patch.setattr(component, "_SMALL", 0)
        patch.setattr(search, "_SMALL", 0)
        found = examine(published, targets=targets, original=value)
    recheck(published, found)
    assert found.outer == 0
    assert found.lower == pytest.approx(exact.lower, abs=1e-9)
    assert found.upper == pytest.approx(exact.upper, abs=1e-9)
    if not published.frequency:
        assert np.array_equal(unmet(found, targets), expected)


@given(tables(dimensions=(1, 3), largest=2, frequency=True))
def test_counts_are_shown_by_whole_numbers_that_exist(case):
    published, value = case
    leaves = np.zeros(value.shape, dtype=bool)
    leaves[np.ix_(*(d.hierarchy.leaves for d in published.dimensions))] = True
    hidden = published.suppressed.copy()
    hidden.ravel()[np.flatnonzero(leaves & hidden)[4:]] = False
    published = replace(published, suppressed=hidden, value=np.where(hidden, 0, value))
    every, guessed = whole_tables(published, below=8)
    assume(every[:, guessed].max(initial=0) < 7)
    cell = np.flatnonzero(hidden)
    lowest, highest = every[:, cell].min(axis=0), every[:, cell].max(axis=0)
    found = examine(published, targets=Targets(lowest, highest, highest - lowest), original=value)
    assert np.all(lowest <= found.witness_lower) and np.all(found.witness_upper <= highest)
    assert np.all(found.lower <= lowest) and np.all(highest <= found.upper)
    recheck(published, found)


def farthest(monkeypatch, published):
    """Claims as far as they can be true."""
    exact = exactly(monkeypatch, published)
    low, high = exact.lower.astype(np.int64), exact.upper.astype(np.int64)
    return Targets(low, high, high - low)


@pytest.mark.parametrize("frequency", [False, True])
@pytest.mark.parametrize(
    "original", [None, rolled_up(SQUARE, MEINDL), 1 + rolled_up(SQUARE, MEINDL)]
)
def test_claims_are_shown_whatever_the_start(monkeypatch, frequency, original):
    """From no original values, from the right ones, and from wrong ones."""
    published = all_leaves(frequency)
    targets = farthest(monkeypatch, published)
    found = examine(published, targets=targets, original=original)
    recheck(published, found)
    assert not unmet(found, targets).any()


def test_a_claim_beyond_the_interval_is_not_shown(monkeypatch):
    published, value = all_leaves(), rolled_up(SQUARE, MEINDL)
    targets = farthest(monkeypatch, published)
    high = targets.high + (np.arange(9) == 4)
    found = examine(published, targets=replace(targets, high=high), original=value)
    assert np.flatnonzero(unmet(found, replace(targets, high=high))).tolist() == [4]


def test_contradictions_are_noticed():
    def wrong(published):
        return np.where(published.suppressed, 21.0, np.nan)

    with pytest.raises(ContradictionError, match="9 cells are involved"):
        examine(all_leaves(), Attacker(lower=wrong))


def test_a_solver_without_an_answer_shows_nothing_and_narrows_nothing(monkeypatch):
    published, value = all_leaves(), rolled_up(SQUARE, MEINDL)
    targets = farthest(monkeypatch, published)
    exact = exactly(monkeypatch, published)

    def lost(*_):
        raise ProofError("no answer")

    monkeypatch.setattr(linear_programme.LinearProgramme, "farthest", lost)
    found = examine(published, targets=targets, original=value)
    recheck(published, found)
    assert np.all(found.lower <= exact.lower) and np.all(found.upper >= exact.upper)
    assert found.witness_lower.tolist() == found.witness_upper.tolist() == TRUTH
    assert unmet(found, targets).all()


def test_the_number_of_threads_does_not_matter(monkeypatch):
    published = three_way(2)
    found = examine(published)
    targets = Targets(
        found.lower.astype(np.int64),
        found.upper.astype(np.int64),
        np.ones(len(found.cell), dtype=np.int64),
    )
    several = examine(published, targets=targets)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = examine(published, targets=targets)
    both = [[table.numerator for table in found.witnesses] for found in (several, alone)]
    assert np.array_equal(*both)
    assert np.array_equal(several.witnesses.denominator, alone.witnesses.denominator)
    assert np.array_equal(several.upper, alone.upper)


def test_the_first_error_in_the_order_of_the_pieces_is_raised():
    def work(piece):
        if piece:
            raise ValueError(piece)
        return piece

    results = in_order(work, [0, 1, 2, 3], workers=2)
    assert next(results) == 0
    with pytest.raises(ValueError, match="1"):
        next(results)


# ── proposals ────────────────────────────────────────────────────────────────────────


def swap(by=1, where=CORNERS, signs=(1, -1, -1, 1)):
    """A move of the printed example as a row of proposals."""
    difference = np.zeros((4, 4), dtype=np.int64)
    for codes, sign in zip(where, signs, strict=True):
        difference[tuple(tree.position[c] for tree, c in zip(SQUARE, codes, strict=True))] = (
            sign * by
        )
    return difference.ravel()


def proposed(*rows, denominator=1):
    units = np.full(len(rows), denominator, dtype=np.int64)
    return Proposals(sparse.csr_array(np.array(rows)), units)


NO_CLAIM = Targets(np.full(9, 99), np.full(9, -99), np.zeros(9, dtype=np.int64))


def shown(proposals, frequency=False):
    """The lowest and the highest values of all inner cells in witnesses."""
    published = all_leaves(frequency)
    value = rolled_up(SQUARE, MEINDL)
    found = examine(published, targets=NO_CLAIM, original=value, proposals=proposals)
    recheck(published, found)
    return found.witness_lower.tolist(), found.witness_upper.tolist()


def corners(low, high):
    """The printed values, and other ends of those in the corners."""
    ends = TRUTH.copy(), TRUTH.copy()
    for end, values in zip(ends, (low, high), strict=True):
        for codes, value in zip(CORNERS, values, strict=True):
            end[LEAVES.index(codes)] = value
    return ends


NOTHING = corners([20, 10, 8, 22], [20, 10, 8, 22])


def test_right_proposals_become_witnesses():
    assert shown(None) == NOTHING
    assert shown(proposed(swap(5))) == corners([20, 5, 3, 22], [25, 10, 8, 27])
    assert shown(proposed(swap(5), swap(-8))) == corners([12, 5, 3, 14], [25, 18, 16, 27])
    low, high = shown(proposed(swap(1), denominator=2))
    half = corners([20, 9.5, 7.5, 22], [20.5, 10, 8, 22.5])
    assert (low, high) == (pytest.approx(half[0]), pytest.approx(half[1]))


@pytest.mark.parametrize(
    "wrong",
    [
        swap(5) + np.eye(16, dtype=np.int64)[5],
        swap(9),
        swap(2**61),
        swap(1, CORNERS, (1, 1, -1, -1)),
        swap(1, [("2", "2"), *CORNERS[1:]]),
        swap(1, product(["Total", "1"], ["Total", "1"]), (1, 1, 1, 1)),
        0 * swap(),
    ],
    ids=["one off", "below zero", "huge", "unbalanced", "elsewhere", "published", "nothing"],
)
def test_wrong_proposals_change_nothing(wrong):
    assert shown(proposed(wrong)) == NOTHING
    assert shown(proposed(wrong, swap(2))) == shown(proposed(swap(2)))


def test_denominators_below_one_and_fractions_of_counts_change_nothing():
    assert shown(proposed(swap(1), denominator=0)) == NOTHING
    assert shown(proposed(swap(1), denominator=-1)) == NOTHING
    assert shown(proposed(swap(1), denominator=2), frequency=True) == NOTHING
    assert shown(proposed(swap(1)), frequency=True) == corners([20, 9, 7, 22], [21, 10, 8, 23])


def test_proposals_beyond_the_tables_are_not_looked_at():
    longer = proposed(np.append(swap(5), [7, 7]))
    assert shown(longer) == shown(proposed(swap(5)))


def test_proposals_need_original_values_and_all_cells():
    with pytest.raises(InputError, match="original="):
        examine(all_leaves(), proposals=proposed(swap()))
    with pytest.raises(InputError, match="15 cells, the tables have 16"):
        shown(proposed(swap()[:15]))
    with pytest.raises(InputError, match="one for each"):
        Proposals(sparse.csr_array(np.ones((2, 3), np.int64)), np.ones(1, np.int64))


@given(tables(frequency=False), st.integers(0, 10**6))
def test_proposals_save_questions_but_change_no_interval(case, seed):
    published, value = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(component, "EXACT_WORK", np.inf)
        exact = examine(published)
        random = np.random.default_rng(seed)
        told, truth = exact.witnesses, value.ravel()[exact.cell]
        rows = np.array([t.numerator[told.hidden] - t.denominator * truth for t in told])
        difference = np.zeros((len(rows), value.size), dtype=np.int64)
        difference[:, exact.cell] = rows
        broken = difference.copy()
        broken[:, exact.cell] += random.integers(-1, 2, rows.shape)
        proposals = Proposals(
            sparse.csr_array(np.concatenate((broken, difference))), np.tile(told.denominator, 2)
        )
        again = examine(published, original=value, proposals=proposals)
    recheck(published, again)
    assert again.lower == pytest.approx(exact.lower, abs=1e-9)
    assert again.upper == pytest.approx(exact.upper, abs=1e-9)
    few = examine(published, targets=None, original=value, proposals=proposals)
    recheck(published, few)


@given(st.integers(0, 10**6))
def test_packed_moves_are_possible_and_show_as_much(seed):
    random = np.random.default_rng(seed)
    matrix = sparse.csr_array(np.kron(np.eye(6, dtype=np.int64), np.ones((1, 3), np.int64)))
    base = random.integers(1, 9, 18)
    steps = np.zeros((20, 18), dtype=np.int64)
    for row in range(20):
        for group in random.choice(6, random.integers(1, 4), replace=False):
            one, other = 3 * group + random.choice(3, 2, replace=False)
            steps[row, [one, other]] = np.array([1, -1]) * random.integers(1, 5)
    moves = Moves(sparse.csr_array(steps), random.integers(1, 3, 20))
    zero, top = np.zeros(18, dtype=np.int64), np.full(18, 9)
    kept = possible(moves, base, matrix, zero, top)
    together = packed(kept)
    assert together.steps.shape[0] <= kept.steps.shape[0]
    right = matrix @ base
    assert all(point.solves(matrix, right, zero, top) for point in together.points(base))
    for one, other in zip(kept.extremes(base), together.extremes(base), strict=True):
        assert np.array_equal(one, other)


def test_moves_that_meet_stay_apart():
    steps = sparse.csr_array(np.array([[1, -1, 0], [0, 1, -1], [1, 0, -1]]))
    assert packed(Moves(steps, np.ones(3, np.int64))).steps.shape[0] == 3


def test_hidden_cells_that_follow_from_others_move_with_them():
    """A total with a single hidden part is the same unknown; proposals must move both."""
    tree = (Hierarchy(("T", "a", "a1", "a2", "b"), np.array([-1, 0, 1, 1, 0])),)
    value = rolled_up(tree, np.array([3, 4, 5]))
    published = publish(tree, value, hide(tree, ("a",), ("a1",), ("b",)))

    def upper(*difference):
        found = examine(published, original=value, proposals=proposed(difference), targets=free)
        return found.witness_upper.tolist()

    free = Targets(np.full(3, 99), np.full(3, -99), np.zeros(3, dtype=np.int64))
    start = upper(0, 0, 0, 0, 0)
    assert upper(0, 1, 1, 0, -1)[:2] >= start[:2]
    assert upper(0, 1, 0, 0, -1) == start
