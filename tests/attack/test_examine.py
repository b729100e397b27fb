"""The attack against printed examples, a third attacker, and sabotage."""

import importlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
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
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack import Attacker, Targets, attacker_bounds, examine, intervals, recheck, unmet
from diskret.attack.exact import Point
from diskret.attack.witnesses import Witnesses
from diskret.errors import ContradictionError, InputError, VerificationError
from diskret.hierarchy import Hierarchy


def found(published, **kwargs):
    """Intervals by codes."""
    rows = intervals(published, **kwargs).to_pylist()
    names = [d.name for d in published.dimensions]
    return {tuple(row[n] for n in names): (row["lower"], row["upper"]) for row in rows}


NACE = Hierarchy(
    ("62", "621", "6211", "6212", "6214", "622", "6222", "6223", "6224"),
    np.array([-1, 0, 1, 1, 1, 0, 5, 5, 5]),
)
LETTERS = Hierarchy.flat(["A", "B", "C"])
BY_NACE = [*MEINDL, [40, 50, 20], [2, 20, 18], [20, 30, 25]]


# ── printed examples ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("frequency", [False, True])
def test_meindl_intervals(frequency):
    published = meindl(*CORNERS, frequency=frequency)
    assert found(published) == {
        ("1", "1"): (0, 28),
        ("1", "3"): (2, 30),
        ("2", "1"): (0, 28),
        ("2", "3"): (2, 30),
    }


def test_a_part_that_was_attacked_is_not_attacked_again(monkeypatch):
    attack = importlib.import_module("diskret.attack.attack_equations")
    attacked = []
    real = attack.attack_component

    def counted(component, *how):
        attacked.append(component)
        return real(component, *how)

    monkeypatch.setattr(attack, "attack_component", counted)
    nine = [(a, b) for a in "123" for b in "123"]
    known = {}
    examine(meindl(*nine), earlier=known)
    assert len(attacked) == 1
    for table, anew in (
        (meindl(*nine), 0),
        (meindl(*nine, frequency=True), 1),
        (meindl(*nine[:6]), 1),
    ):
        number = len(attacked)
        again = examine(table, earlier=known)
        assert len(attacked) - number == anew
        alone = examine(table)
        assert np.array_equal(again.lower, alone.lower)
        assert np.array_equal(again.upper, alone.upper)
        assert np.array_equal(complete(again.witnesses), complete(alone.witnesses))


def test_meindl_intervals_are_shown_by_witnesses():
    result = examine(meindl(*CORNERS))
    assert np.array_equal(result.witness_lower, result.lower)
    assert np.array_equal(result.witness_upper, result.upper)


def test_meindl_hierarchy_is_recomputed_by_subtraction():
    trees = (NACE, LETTERS)
    hidden = hide(trees, ("6223", "A"), ("6223", "C"), ("622", "A"), ("622", "C"))
    value = rolled_up(trees, BY_NACE)
    assert value[0].tolist() == [415, 107, 201, 107]  # printed: 107 201 97 415
    assert found(publish(trees, value, hidden)) == {
        ("622", "A"): (62, 62),  # 107 - 45
        ("622", "C"): (63, 63),
        ("6223", "A"): (2, 2),
        ("6223", "C"): (18, 18),
    }


def test_a_published_partner_gives_everything_away():
    assert all(low < high for low, high in found(meindl(*CORNERS)).values())
    assert all(low == high for low, high in found(meindl(*CORNERS[:3])).values())
    assert examine(meindl(*CORNERS[:3])).outer == 0


# ── a third attacker ─────────────────────────────────────────────────────────────────


def dense_equations(published):
    """Every equation with every cell, by loops over codes."""
    shape = published.shape
    rows = []
    for axis, dimension in enumerate(published.dimensions):
        parent = dimension.hierarchy.parent
        for at in np.ndindex(shape):
            parts = np.flatnonzero(parent == at[axis])
            if len(parts):
                row = np.zeros(shape)
                row[at] = 1
                for part in parts:
                    row[(*at[:axis], part, *at[axis + 1 :])] = -1
                rows.append(row.ravel())
    return np.array(rows)


def interval_by_linprog(published, cell, lower):
    known = ~published.suppressed.ravel()
    bounds = [
        (v, v) if k else (lower, None)
        for k, v in zip(known, published.value.ravel().tolist(), strict=True)
    ]
    matrix = dense_equations(published)
    ends = []
    for sign in (1, -1):
        cost = np.zeros(known.size)
        cost[cell] = sign
        result = linprog(cost, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
        assert result.status in (0, 3)
        ends.append(sign * result.fun if result.status == 0 else -sign * np.inf)
    return ends


@given(tables(frequency=False))
def test_intervals_agree_with_dense_linear_programmes(case):
    published, _ = case
    result = examine(published)
    for i in range(0, len(result.cell), 1 + len(result.cell) // 8):
        low, high = interval_by_linprog(published, result.cell[i], 0)
        assert result.lower[i] == pytest.approx(low, abs=1e-6)
        assert result.upper[i] == pytest.approx(high, abs=1e-6)


@given(tables())
def test_the_truth_lies_inside_and_witnesses_hold(case):
    published, value = case
    result = examine(published)
    truth = value.ravel()[result.cell]
    assert np.all(result.lower <= truth) and np.all(truth <= result.upper)
    assert np.all(result.lower <= result.witness_lower)
    assert np.all(result.witness_upper <= result.upper)
    recheck(published, result)


@given(tables(frequency=False))
def test_witnesses_of_sums_show_every_end(case):
    published, _ = case
    result = examine(published)
    assert result.witness_lower == pytest.approx(result.lower, abs=1e-9)
    ended = np.isfinite(result.upper)
    assert result.witness_upper[ended] == pytest.approx(result.upper[ended], abs=1e-9)
    assert np.all(result.witness_upper[~ended] > 2 * published.value.max())


@given(tables(dimensions=(1, 3), largest=2, frequency=True))
def test_counts_agree_with_all_tables_of_whole_numbers(case):
    published, value = case
    leaves = np.zeros(value.shape, dtype=bool)
    leaves[np.ix_(*(d.hierarchy.leaves for d in published.dimensions))] = True
    hidden = published.suppressed.copy()
    hidden.ravel()[np.flatnonzero(leaves & hidden)[4:]] = False  # so that all can be tried
    published = replace(published, suppressed=hidden, value=np.where(hidden, 0, value))
    every, guessed = whole_tables(published, below=8)
    assume(every[:, guessed].max(initial=0) < 7)

    result = examine(published)
    lowest, highest = every[:, result.cell].min(axis=0), every[:, result.cell].max(axis=0)
    assert np.all(result.lower <= lowest) and np.all(highest <= result.upper)
    assert np.all(lowest <= result.witness_lower) and np.all(result.witness_upper <= highest)
    wanted = examine(published, targets=Targets(lowest, highest, highest - lowest))
    assert np.array_equal(wanted.witness_lower, lowest)
    assert np.array_equal(wanted.witness_upper, highest)
    assert np.array_equal(wanted.upper, result.upper)


# ── counts whose linear programmes end between whole numbers ─────────────────────────


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_shown_by_whole_numbers(seed):
    result = examine(three_way(seed))
    assert np.all(result.witnesses.denominator == 1)
    assert np.all(result.lower == np.rint(result.lower))
    assert np.all(result.upper == np.rint(result.upper))
    recheck(three_way(seed), result)


@pytest.mark.parametrize("seed", range(5))
def test_targets_within_reach_are_reached(seed):
    published = three_way(seed)
    free = examine(published)
    targets = Targets(
        free.lower.astype(np.int64),
        free.upper.astype(np.int64),
        (free.upper - free.lower).astype(np.int64),
    )
    assert not unmet(examine(published, targets=targets), targets).any()


def test_a_target_beyond_the_interval_is_unmet():
    published = meindl(*CORNERS)
    low, high = np.array([0, 2, 0, 2]), np.array([28, 30, 28, 30])
    width = np.full(4, 28)
    for targets, expected in [
        (Targets(low, high, width), [False] * 4),
        (Targets(low - [1, 0, 0, 0], high, width), [True, False, False, False]),
        (Targets(low, high + [0, 1, 0, 0], width), [False, True, False, False]),
        (Targets(low, high, width + [0, 0, 1, 0]), [False, False, True, False]),
    ]:
        assert unmet(examine(published, targets=targets), targets).tolist() == expected


# ── what an attacker knows beside the table ──────────────────────────────────────────


def test_relative_bounds_narrow_the_interval():
    value = rolled_up(SQUARE, MEINDL)
    published = meindl(*CORNERS)
    result = examine(published, Attacker(relative=50), original=value)
    assert result.lower.tolist() == [16, 6, 4, 18]  # 8 can move by 4, so all others can, too
    assert result.upper.tolist() == [24, 14, 12, 26]


def test_relative_bounds_are_exact_for_large_values():
    published = meindl(frequency=False)
    original = np.full(published.shape, 10**15 + 7)
    lower, upper = attacker_bounds(published, Attacker(relative=12.5), original)
    assert lower[0, 0] == 10**15 + 7 - (10**15 + 7) // 8
    assert upper[0, 0] == 10**15 + 7 + (10**15 + 7) // 8


def test_relative_bounds_need_original_values():
    with pytest.raises(InputError, match="original"):
        examine(meindl(*CORNERS), Attacker(relative=50))


def test_bounds_from_a_frame():
    known = pa.table({"d0": ["1"], "d1": ["1"], "upper": [25.0]})
    got = found(meindl(*CORNERS), attacker=Attacker(upper=known))
    assert got[("1", "1")] == (0, 25)
    assert got[("2", "1")] == (3, 28)


def test_bounds_from_a_callable():
    def at_least_five(published):
        return np.where(published.suppressed, 5.0, np.nan)

    got = found(meindl(*CORNERS), attacker=Attacker(lower=at_least_five))
    assert got[("1", "1")] == (5, 23)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pa.table({"d0": ["1"], "upper": [25.0]}), "missing: 'd1'"),
        (pa.table({"d0": ["9"], "d1": ["1"], "upper": [25.0]}), "'9'"),
    ],
)
def test_bounds_that_cannot_be_read(frame, says):
    with pytest.raises(InputError, match=says):
        examine(meindl(*CORNERS), Attacker(upper=frame))


def test_bounds_that_exclude_each_other():
    below = pa.table({"d0": ["1"], "d1": ["1"], "upper": [-1.0]})
    with pytest.raises(InputError, match="exclude each other"):
        examine(meindl(*CORNERS), Attacker(upper=below))


def test_bounds_in_published_units_are_scaled():
    published = meindl(*CORNERS, decimals=2)
    known = pa.table({"d0": ["1"], "d1": ["1"], "upper": [0.29]})
    _, upper = attacker_bounds(published, Attacker(upper=known))
    assert upper[1, 1] == 29


def test_zeros_known_raises_counts_to_one():
    got = found(meindl(*CORNERS, frequency=True), attacker=Attacker(zeros_known=True))
    assert got[("1", "1")] == (1, 27)


def test_unbounded_cells_are_null_and_shown_to_be_far_away():
    published = meindl(*CORNERS, nonnegative=False)
    assert set(found(published).values()) == {(None, None)}
    result = examine(published)
    assert np.all(result.witness_lower < -1000) and np.all(result.witness_upper > 1000)
    recheck(published, result)


def test_a_hidden_total_of_hidden_parts_has_no_upper_end():
    tree = (Hierarchy.flat(["a", "b"]),)
    published = publish(tree, np.array([0, 0, 0]), np.ones(3, dtype=bool))
    assert found(published) == {("Total",): (0, None), ("a",): (0, None), ("b",): (0, None)}


def test_what_has_no_end_is_shown_far_beyond_what_is_known_of_it_and_no_farther():
    tree = (Hierarchy.flat(["a", "b"]),)
    published = publish(tree, np.array([0, 0, 0]), np.ones(3, dtype=bool))

    def at_least(published):
        return np.array([np.nan, 10.0**6, np.nan])

    result = examine(published, Attacker(lower=at_least))
    assert result.lower.tolist() == [10**6, 10**6, 0] and np.isinf(result.upper).all()
    assert (result.witness_upper >= 10**7).all() and (result.witness_upper < 10**9).all()
    recheck(published, result, Attacker(lower=at_least))


@pytest.mark.parametrize("cells", [CORNERS, [(a, b) for a in "123" for b in "123"]])
def test_progress_comes_to_its_end(cells):
    """Whether equations tie the cells or leave one unknown alone."""
    told = []
    examine(meindl(*cells), progress=lambda *what: told.append(what))
    assert {task for task, _, _ in told} == {"attack"} and told[0][1] == 0
    assert told[-1][1] == told[-1][2] > 0
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_nothing_suppressed_gives_an_empty_examination():
    result = examine(meindl())
    assert len(result.cell) == 0
    recheck(meindl(), result)


# ── large and small values together ──────────────────────────────────────────────────


@pytest.mark.parametrize("size", [10**6, 10**9, 10**12, 10**15])
def test_large_values_stay_exact(size):
    trees = (Hierarchy.flat([*"abc"]), Hierarchy.flat([*"abc"]), Hierarchy.flat([*"ab"]))
    random = np.random.default_rng(3)
    leaves = random.integers(1, 9, (3, 3, 2)) * random.choice([1, size // 10], (3, 3, 2))
    value = rolled_up(trees, leaves)
    hidden = np.zeros(value.shape, dtype=bool)
    hidden[1:, 1:, 1:] = True
    published = publish(trees, value, hidden)
    result = examine(published)
    recheck(published, result)
    truth = value.ravel()[result.cell]
    assert np.all(result.lower <= truth) and np.all(truth <= result.upper)
    assert np.array_equal(result.witness_lower, result.lower)
    assert np.array_equal(result.witness_upper, result.upper)


def test_decimals_come_back_in_published_units():
    got = found(meindl(*CORNERS, decimals=1))
    assert got[("1", "3")] == (0.2, 3.0)


# ── sabotage ─────────────────────────────────────────────────────────────────────────


def test_published_values_that_do_not_add_up_are_refused():
    published = meindl(*CORNERS)
    value = published.value.copy()
    value[0, 0] += 1
    with pytest.raises(ContradictionError, match="d0=Total, d1=Total is 191.*add up to 190"):
        examine(replace(published, value=value))


def test_two_values_of_one_hidden_cell_are_refused():
    published = meindl(("1", "1"), ("3", "3"))
    value = published.value.copy()
    value[1, 0] += 1  # the row now says 21 and the column 20
    value[3, 0] -= 1
    with pytest.raises(ContradictionError, match="d0=1, d1=1"):
        examine(replace(published, value=value))


def test_too_little_room_for_a_group_of_rows_is_refused():
    """Rows 1 to 4 hold 12, but all of it must stand in columns that hold 9."""
    trees = (Hierarchy.flat(range(1, 9)), Hierarchy.flat(range(1, 7)))
    value, hidden = np.zeros((9, 7), dtype=np.int64), np.zeros((9, 7), dtype=bool)
    value[:, 0] = [21, 3, 3, 3, 3, 2, 2, 2, 3]
    value[0] = [21, 3, 3, 3, 4, 4, 4]
    hidden[1:5, 1:4] = hidden[5:, 1:] = True
    with pytest.raises(ContradictionError, match="36 cells are involved"):
        examine(publish(trees, value, hidden))


def test_bounds_that_no_table_satisfies_are_refused():
    def wrong(published):
        return np.where(published.suppressed, 29.0, np.nan)

    with pytest.raises(ContradictionError, match="4 cells are involved"):
        examine(meindl(*CORNERS), Attacker(lower=wrong))


def complete(witnesses):
    return np.stack([point.numerator for point in witnesses])


def changed(result, **fields):
    """An examination with some other numbers of its witnesses."""
    return replace(result, witnesses=replace(result.witnesses, **fields))


@pytest.fixture
def honest():
    published = three_way(1, frequency=False)
    return published, examine(published)


def test_a_falsified_witness_is_refused(honest):
    published, result = honest
    false = result.witnesses.start.copy()
    false[0, 0] += 1
    with pytest.raises(VerificationError, match="breaks an equation between d0=a, d1=a"):
        recheck(published, changed(result, start=false))


def test_falsified_changes_are_refused(honest):
    """A witness is its start and what it changes there; neither can be another."""
    published, result = honest
    told = result.witnesses
    step, last = told.step, len(told) - 1
    assert step[[last]].nnz > 1
    more = step.copy()
    more.data[-1] += 1
    with pytest.raises(VerificationError, match=f"witness {last} .* breaks an equation"):
        recheck(published, changed(result, step=more))
    far = step.copy()
    far.data = far.data * 10**6  # still balanced, as all equations are linear
    with pytest.raises(VerificationError, match="leaves the bounds|no witness shows"):
        recheck(published, changed(result, step=far))
    shifted = sparse.csr_array((step.data, (step.indices + 1) % step.shape[1], step.indptr))
    with pytest.raises(VerificationError):
        recheck(published, changed(result, step=shifted))
    short = step.copy()
    short.data = np.sign(short.data)
    with pytest.raises(VerificationError):
        recheck(published, changed(result, step=short))
    nothing = sparse.csr_array(step.shape, dtype=np.int64)
    with pytest.raises(VerificationError, match="no witness shows"):
        recheck(published, changed(result, step=nothing, denominator=told.unit[told.of]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: {"of": t.of + 1}, "not there"),
        (lambda t: {"of": t.of - 1}, "not there"),
        (lambda t: {"of": t.of[1:]}, "not there"),
        (lambda t: {"unit": t.unit * 7}, "no multiple"),
        (lambda t: {"unit": t.unit * 0}, "no multiple"),
        (lambda t: {"start": t.start[:, 1:]}, "do not belong"),
        (lambda t: {"start": t.start[:0]}, "do not belong"),
        (lambda t: {"step": t.step[:-1]}, "do not belong"),
        (lambda t: {"step": t.step[:, 1:]}, "do not belong"),
        (lambda t: {"denominator": -t.denominator}, "positive denominators"),
        (lambda t: {"start": t.start + 2**61}, "too large"),
    ],
)
def test_what_are_no_tables_is_refused_before_it_is_computed_with(honest, change, says):
    published, result = honest
    with pytest.raises(VerificationError, match=says):
        recheck(published, changed(result, **change(result.witnesses)))


def test_a_witness_beyond_the_bounds_is_refused(honest):
    published, result = honest

    def above(published):
        return np.where(published.suppressed, 1.0, np.nan)

    with pytest.raises(VerificationError, match="leaves the bounds"):
        recheck(published, result, Attacker(lower=above))


def test_a_claim_without_witness_is_refused(honest):
    published, result = honest
    with pytest.raises(VerificationError, match="no witness shows"):
        recheck(published, replace(result, witness_upper=result.witness_upper + 1))


def test_another_denominator_is_refused(honest):
    published, result = honest
    with pytest.raises(VerificationError):
        recheck(published, changed(result, denominator=result.witnesses.denominator * 2))


def test_fractions_of_counts_are_refused():
    published = three_way(1)
    result = examine(published)
    told = result.witnesses
    doubled = {"step": told.step * 2, "denominator": told.denominator * 2}
    with pytest.raises(VerificationError, match="whole numbers"):
        recheck(published, changed(result, **doubled))
    some = Witnesses.gathered([*told][:-1], told.hidden)
    last = Point(2 * told[len(told) - 1].numerator, 2)
    with pytest.raises(VerificationError, match="whole numbers"):
        recheck(published, replace(result, witnesses=some.with_points([last])))


def test_witnesses_of_another_table_are_refused(honest):
    _, result = honest
    with pytest.raises(VerificationError, match="has others"):
        recheck(meindl(*CORNERS), result)


# ── reproducible ─────────────────────────────────────────────────────────────────────


def test_the_same_attack_gives_the_same_result():
    first, second = examine(three_way(2)), examine(three_way(2))
    assert np.array_equal(complete(first.witnesses), complete(second.witnesses))
    assert np.array_equal(first.upper, second.upper)


@given(tables(dimensions=(2, 3), frequency=False))
def test_the_order_of_dimensions_does_not_matter(case):
    published, _ = case
    turned = replace(
        published,
        dimensions=published.dimensions[::-1],
        value=published.value.T,
        suppressed=published.suppressed.T,
        empty=published.empty.T,
    )
    one, other = examine(published), examine(turned)
    for a, b in ((one.lower, other.lower), (one.upper, other.upper)):
        whole, back = np.zeros(published.value.size), np.zeros(published.value.size)
        whole[one.cell], back[other.cell] = a, b
        assert whole == pytest.approx(back.reshape(turned.shape).T.ravel(), abs=1e-6)


def test_progress_ends_at_the_total():
    told = []
    examine(three_way(0), progress=lambda *now: told.append(now))
    assert told[-1][0] == "attack"
    assert told[-1][1] == told[-1][2]


def test_only_published_tables_are_attacked():
    with pytest.raises(InputError, match="'str'; give result.published, or Published.read"):
        intervals("out/public")
