"""Exact (ε, δ) and differences of nested sets: against sums over all sets of values."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_tables import random_table, seed_table, tiny_table

from diskret.attack import (
    differencing,
    privacy_loss,
    recovery_probability,
    worst_differencing,
)
from diskret.attack.noise.chances import chances
from diskret.cellkey import PerturbationTable
from diskret.errors import InputError

SEEDS = st.integers(0, 10_000)


def delta_by_definition(one, other, epsilon):
    """max over all sets S of P(S) − e^ε P′(S), which is what (ε, δ) promises."""
    values = np.flatnonzero(one + other)
    sets = chain.from_iterable(combinations(values, size) for size in range(len(values) + 1))
    return max(one[list(s)].sum() - np.exp(epsilon) * other[list(s)].sum() for s in sets)


@given(SEEDS, st.floats(0, 3))
def test_delta_is_that_of_the_definition(seed, epsilon):
    table = random_table(np.random.default_rng(seed), rows=3)
    chance = chances(table, 3)
    expected = max(
        max(
            delta_by_definition(chance[n], chance[n + 1], epsilon),
            delta_by_definition(chance[n + 1], chance[n], epsilon),
        )
        for n in range(3)
    )
    assert privacy_loss(table).delta(epsilon) == pytest.approx(expected, abs=1e-12)


@given(SEEDS, st.floats(0, 4), st.floats(0, 2))
def test_delta_falls_with_epsilon(seed, epsilon, more):
    loss = privacy_loss(random_table(np.random.default_rng(seed)))
    assert loss.delta(epsilon + more) <= loss.delta(epsilon) + 1e-12
    assert loss.delta(np.inf) <= loss.delta(epsilon) + 1e-12


@given(SEEDS, st.floats(0.001, 1))
def test_epsilon_is_the_least_that_reaches_delta(seed, delta):
    loss = privacy_loss(random_table(np.random.default_rng(seed)))
    least = loss.epsilon(delta)
    if np.isinf(least):
        assert loss.delta(700) > delta
    else:
        assert loss.delta(least) <= delta + 1e-9
        assert least == 0 or loss.delta(least * 0.999) > delta - 1e-9


def test_closed_form_of_plus_or_minus_one():
    # rows beyond 1: −1, 0, +1 with ¼, ½, ¼; n and n + 1 share two values
    noise = np.array([-1, 0, 1])
    table = PerturbationTable(np.arange(2), noise, np.array([[0, 1, 0], [0.25, 0.5, 0.25]]))
    loss = privacy_loss(table, zeros=False)
    for epsilon in (0.0, 0.3, np.log(2), 1.0):
        assert loss.delta(epsilon) == pytest.approx(0.25 + max(0, 0.5 - 0.25 * np.exp(epsilon)))
    assert loss.delta(np.inf) == 0.25
    assert loss.epsilon(0.25) == pytest.approx(np.log(2))
    assert loss.epsilon(0.2499) == np.inf
    assert loss.counts.tolist() == [1] and privacy_loss(table).counts.tolist() == [0, 1]
    assert loss.deltas(0.3).shape == (1,)
    # a true 0 is always shown as 0, so 1 and 2 are seen with ¾
    assert privacy_loss(table).delta(np.inf) == 0.75


def test_seed_matrix_exposes_a_unit_between_0_and_1():
    loss = privacy_loss(seed_table())
    assert loss.deltas(np.inf)[0] == pytest.approx(0.3125)  # 1 becomes 3 or 4
    assert loss.epsilon(0.3) == np.inf


def test_differences_are_those_of_all_pairs_of_noise():
    table = seed_table()
    found = differencing(table, 4, 2)
    expected: dict[int, float] = {}
    for u in range(-4, 5):
        for v in range(-4, 5):
            chance = table.probability(4, u) * table.probability(6, v)
            if chance:
                expected[2 + v - u] = expected.get(2 + v - u, 0) + chance
    assert dict(zip(found.values.tolist(), found.probability, strict=True)) == pytest.approx(
        expected
    )
    assert found.told == pytest.approx(1 - expected[0])
    assert found.nobody == pytest.approx(1 / (1 + expected[0]))


def test_a_difference_is_noticed_and_the_same_cell_never_differs():
    table, draw = seed_table(), np.random.default_rng(3)
    lookup = table.lookup()
    keys = draw.integers(2**32, size=(20_000, 6), dtype=np.uint64)
    modulus = np.uint64(2**32)
    smaller = keys[:, :5].sum(axis=1) % modulus
    larger = keys.sum(axis=1) % modulus
    five, six = (np.full(len(keys), n) for n in (5, 6))
    one, other = five + lookup(five, smaller), six + lookup(six, larger)
    told = differencing(table, 5).told
    error = np.sqrt(told * (1 - told) / len(keys))
    assert abs((one != other).mean() - told) < 4 * error
    assert np.array_equal(one, five + lookup(five, keys[:, 4::-1].sum(axis=1) % modulus))


def test_worst_difference_is_the_largest():
    table = tiny_table()
    assert worst_differencing(table).told == max(differencing(table, n).told for n in (1, 2, 3, 9))
    assert worst_differencing(table, zeros=True).count in range(4)


def test_pairs_needed_reach_the_confidence_and_not_before():
    found = differencing(tiny_table(), 2)
    pairs = found.pairs_needed(0.999)
    assert 1 - (1 - found.told) ** pairs >= 0.999 > 1 - (1 - found.told) ** (pairs - 1)


def test_what_says_nothing_is_no_attack():
    """1 is always shown as 0, as an empty cell is."""
    noise = np.array([-1, 0])
    table = PerturbationTable(np.arange(2), noise, np.array([[0.0, 1.0], [1.0, 0.0]]))
    same = differencing(table, 0)
    assert (same.told, same.nobody, same.values.tolist()) == (0, 0.5, [0])
    with pytest.raises(InputError, match="these pairs never differ"):
        same.pairs_needed()
    with pytest.raises(InputError, match="a count is at least 0, not -1"):
        recovery_probability(table, (-1,), 3)


def test_no_noise_tells_at_once():
    none = PerturbationTable(np.arange(2), np.array([0]), np.ones((2, 1)))
    assert differencing(none, 7).pairs_needed() == 1
    assert privacy_loss(none).delta(5) == 1
    assert [privacy_loss(none).epsilon(delta) for delta in (0.99, 1)] == [np.inf, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 2}, "steps of 1/2"),
        ({"counts": np.array([0, 1, 5])}, "without a gap"),
        ({"probabilities": np.array([[0, 1, 0], [0.2, 0.5, 0.2], [0.2, 0.6, 0.2]])}, "row 1 to"),
        ({"noise": np.array([-2, 0, 1])}, "negative counts, e.g. row 1"),
    ],
)
def test_tables_that_are_none_for_counts_are_refused(change, message):
    given = {
        "counts": np.arange(3),
        "noise": np.array([-1, 0, 1]),
        "probabilities": np.array([[0, 1, 0], [0.25, 0.5, 0.25], [0.2, 0.6, 0.2]]),
    }
    with pytest.raises(InputError, match=message):
        privacy_loss(PerturbationTable(**{**given, **change}))
