"""True counts behind published ones: against all tables of small whole numbers."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_tables import perturbed, published, seed_table, tiny_table, with_totals
from profiles import examples

import diskret as dk
from diskret.attack import FeasibleCounts, feasible_counts, least_noise, unpick
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.tables import Perturbed
from diskret.tables.perturbed import Noise, published_with

LEAVES = st.lists(st.integers(0, 5), min_size=4, max_size=4)


#: Every 3 × 3 table with totals in front whose inner cells are 0 to 8.
TABLES = np.array([with_totals(np.array(x).reshape(2, 2)) for x in product(range(9), repeat=4)])


def tables_within(shown, largest):
    allowed = (np.abs(TABLES - shown) <= largest) & ((shown == 0) | (TABLES > 0))
    return TABLES[allowed.all(axis=(1, 2))]


@examples(25)
@given(LEAVES, st.integers(0, 10_000))
def test_intervals_hold_all_true_tables(leaves, seed):
    true = with_totals(np.array(leaves).reshape(2, 2))
    shown = perturbed(tiny_table(), true, np.random.default_rng(seed))
    found = feasible_counts(published(shown), Perturbed("noise", largest=2))
    possible = tables_within(shown, 2)
    least, most = possible.min(axis=0), possible.max(axis=0)
    assert (found.lower <= least).all()
    assert (found.upper >= most).all()
    assert found.inside(true) == 1
    # nothing is called pinned that is not, and what tables show is possible
    assert (least == most)[found.pinned].all()
    assert found.correct(true) == found.pinned.sum()
    known = ~np.isnan(found.witness_lower)
    assert (found.witness_lower >= least)[known].all()
    assert (found.witness_upper <= most)[known].all()
    open_ = known & (found.witness_lower < found.witness_upper)
    alone = found.alone_lower < found.alone_upper
    assert np.array_equal(found.undecided, alone & ~open_ & ~found.pinned)
    assert np.array_equal(found.narrowed, (least > found.alone_lower) | (most < found.alone_upper))
    # in a table of two variables with flat trees the equations are totally unimodular
    assert np.array_equal(found.lower, least)
    assert np.array_equal(found.upper, most)


@examples(25)
@given(LEAVES, st.integers(0, 10_000))
def test_least_noise_is_the_least_that_contradicts_nothing(leaves, seed):
    true = with_totals(np.array(leaves).reshape(2, 2))
    shown = perturbed(seed_table(), true, np.random.default_rng(seed))
    least = least_noise(published(shown))
    assert least <= np.abs(shown - true).max()
    far = np.where((shown > 0) & (TABLES == 0), 99, np.abs(TABLES - shown)).max(axis=(1, 2))
    assert least == far.min()
    if least:
        with pytest.raises(ContradictionError, match="no values"):
            feasible_counts(published(shown), Perturbed("noise", largest=least - 1))


def test_1_1_2_published_as_1_1_0_is_given_away_if_the_noise_is_tiny():
    shown = published([0, 1, 1])
    tiny = feasible_counts(shown, Perturbed("noise", largest=2))
    assert tiny.lower.tolist() == tiny.upper.tolist() == [2, 1, 1]
    assert tiny.pinned.all()
    larger = feasible_counts(shown, Perturbed("noise", largest=4))
    assert not larger.pinned.any()
    assert larger.upper.tolist() == [4, 3, 3]
    assert larger.narrowed.all()
    assert larger.one_sided.all()


def test_intervals_of_a_guess_that_is_too_small_miss_the_truth():
    # sabotage: D = 1 in place of 2 fits what is published, and is wrong
    true = np.array([6, 4, 2])
    shown = published([6, 6, 1])
    found = feasible_counts(shown, Perturbed("noise", largest=1))
    assert found.inside(true) < 1
    assert feasible_counts(shown, Perturbed("noise", largest=2)).inside(true) == 1


def test_cells_without_witnesses_are_undecided():
    """Of which some are narrowed on one side only; who is told by itself is not undecided."""
    nan = np.nan
    arrays = ([1, 1, 2, 0, 3], [5, 5, 2, 9, 7], [1, 2, 2, 0, 4], [5, 5, 2, 7, 4])
    witnesses = [nan, 2, 2, 3, nan], [nan, 5, 2, 3, nan]
    found = FeasibleCounts(*(np.array(one, dtype=float) for one in (*arrays, *witnesses)))
    assert found.pinned.tolist() == [False, False, False, False, True]
    assert found.narrowed.tolist() == [False, True, False, True, True]
    assert found.one_sided.tolist() == [False, True, False, True, False]
    assert found.undecided.tolist() == [True, False, False, True, False]
    assert found.inside(np.array([1, 2, 2, 8, 4])) == 0.8 == found.inside(np.array([5, 1, 2, 7, 4]))
    assert found.correct(np.array([1, 2, 2, 8, 4])) == 1
    assert found.correct(np.array([1, 2, 2, 8, 5])) == 0


def test_a_solver_that_fails_says_nothing(monkeypatch):
    monkeypatch.setattr(
        "scipy.optimize.linprog", lambda *_, **__: SimpleNamespace(status=4, message="lost")
    )
    with pytest.raises(ProofError, match="the linear solver failed: lost"):
        least_noise(published([20, 7, 7]))


def test_least_noise_ignores_withheld_values():
    shown = published([50, 7, 7])
    assert least_noise(shown) == 12
    hidden = published([50, 7, 7])
    hidden.suppressed[1], hidden.value[1] = True, 0
    assert least_noise(hidden) == 0


def test_least_noise_knows_impossible_cells():
    shown = published([12, 0, 7])
    shown.empty[1] = True
    assert least_noise(shown) == 3  # 9 or 10 of both, as nobody can be in the first part
    shown = published([2, 0, 1])
    shown.empty[1] = True
    assert least_noise(shown) == 1
    shown = published([0, 5, 0])
    shown.empty[0] = True
    with pytest.raises(ContradictionError, match="no noise explains"):
        least_noise(shown)


def test_hierarchies_with_real_keys_keep_the_truth_inside():
    draw = np.random.default_rng(7)
    codes = [f"{a}{b}" for a in "123" for b in "12345"]
    records = pa.table(
        {
            "place": draw.choice(codes, size=800),
            "age": draw.choice(["0", "1", "2", "3"], size=800, p=[0.6, 0.3, 0.08, 0.02]),
            "key": draw.integers(2**32, size=800),
        }
    )
    by = {"place": dk.Hierarchy.from_prefix(codes, [1, 1]), "age": None}
    table = dk.tabulate(records, by=by, record_key="key")
    for ptable, largest in ((tiny_table(), 2), (seed_table(), 4)):
        noise = ptable.lookup()(table.count, table.key_sum)
        shown = published_with(table, Noise.of(table.count + noise), name="t", changed="cell_key")
        assert 0 < least_noise(shown) <= largest == np.abs(noise).max()
        found = feasible_counts(shown, Perturbed("noise", largest=largest))
        assert found.inside(table.count) == 1
        assert found.narrowed.any()
        assert found.correct(table.count) == found.pinned.sum()


def nearest(values, base):
    """Half a base upwards."""
    return (2 * values + base) // (2 * base) * base


@examples(25)
@given(LEAVES, st.sampled_from([3, 5]))
def test_unpicking_finds_what_all_tables_say(leaves, base):
    true = with_totals(np.array(leaves).reshape(2, 2))
    shown = nearest(true, base)
    found = unpick(published(shown, changed="rounding"), base)
    possible = TABLES[(nearest(TABLES, base) == shown).all(axis=(1, 2))]
    assert np.array_equal(found.lower, possible.min(axis=0))
    assert np.array_equal(found.upper, possible.max(axis=0))
    assert found.inside(true) == 1
    assert found.correct(true) == found.pinned.sum()


@pytest.mark.parametrize(
    ("true", "shown"),
    [
        ([8, 4, 4], [9, 3, 3]),  # 3 to 4 each, and only 4 + 4 is 8 or more
        ([4, 2, 2], [3, 3, 3]),  # 2 to 4 each, at most 4 together
    ],
)
def test_base_3_is_unpicked(true, shown):
    assert nearest(np.array(true), 3).tolist() == shown
    found = unpick(published(shown, changed="rounding"), 3)
    assert found.pinned.all()
    assert found.lower.tolist() == true


def test_base_5_with_many_parts_is_not_unpicked():
    true = np.array([30, 6, 6, 6, 6, 6])
    found = unpick(published(nearest(true, 5), changed="rounding"), 5)
    assert not found.pinned.any()
    assert found.inside(true) == 1


def test_values_that_nobody_rounded_are_refused():
    with pytest.raises(ContradictionError):
        unpick(published([30, 3, 3], changed="rounding"), 3)
    with pytest.raises(InputError, match="multiple"):
        unpick(published([10, 4, 6], changed="rounding"), 5)


@pytest.mark.parametrize("attack", [least_noise, lambda table: unpick(table, 3)])
def test_values_are_no_counts(attack):
    with pytest.raises(InputError, match="'sales', not counts"):
        attack(published([9, 3, 6], frequency=False))
