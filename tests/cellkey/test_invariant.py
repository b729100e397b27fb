"""Invariant noise: both constructions, the bias that it must have, and exact preservation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import optimize

from diskret.cellkey import (
    controlled_noise,
    least_bias_table,
    two_step_table,
    value_frequencies,
)
from diskret.cellkey.controlled import _draws, _rounded
from diskret.errors import InputError

frequencies = st.lists(st.integers(0, 400), min_size=4, max_size=14).map(np.array)
T = np.array([900, 400, 210, 150, 100, 0, 80, 60, 41])


def transitions(table):
    """R: from each value 0, … to each, ``(rows, rows)``; nothing may leave it."""
    rows = len(table.counts)
    moves = np.zeros((rows, rows))
    for i in range(rows):
        for v, p in zip(table.noise.tolist(), table.probabilities[i].tolist(), strict=True):
            if p:
                moves[i, i + v] += p
    return moves


def with_larger(t):
    return np.append(t, 7)  # some cells above the largest value


@pytest.mark.parametrize(
    "construct", [lambda t: two_step_table(t, 4, 0.6), lambda t: least_bias_table(t, 3, 0.4)]
)
@examples(25)
@given(t=frequencies)
def test_frequencies_are_kept_in_expectation(construct, t):
    if (t[1:] > 0).sum() < 2:
        with pytest.raises(InputError, match="values? from 1 on occurs?"):
            construct(t)
        return
    table = construct(t)
    moves, all_t = transitions(table), with_larger(t)
    assert np.abs(all_t @ moves - all_t).max() <= 1e-12 * max(all_t.max(), 1)
    assert np.abs(moves.sum(axis=1) - 1).max() <= 1e-12
    assert table.probabilities.min() >= 0
    assert moves[0, 0] == moves[-1, -1] == 1  # zeros and large values stay
    assert abs(all_t @ table.means) <= 1e-9 * max(all_t.sum(), 1)


def test_two_steps_are_bayes_reverse():
    """t = (40, 20, 10), half of the cells step to a neighbour: by hand."""
    table = two_step_table(np.array([0, 40, 20, 10]), 2, stay=0.5)
    first = np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]])
    t = np.array([40, 20, 10])
    reverse = np.array([[first[k, j] * t[k] / (t @ first)[j] for k in range(3)] for j in range(3)])
    assert transitions(table)[1:4, 1:4] == pytest.approx(first @ reverse)


def test_damping_mixes_with_no_noise():
    full, half = two_step_table(T, 4), two_step_table(T, 4, damping=0.5)
    assert half.probabilities == pytest.approx(0.5 * full.probabilities + 0.5 * (full.noise == 0))


def test_the_least_bias_is_found():
    """Against a general solver, on three values."""
    t = np.array([30.0, 20.0, 12.0])
    steps = np.arange(3)[None, :] - np.arange(3)[:, None]

    def bias(p):
        return (t * (p.reshape(3, 3) * steps).sum(axis=1) ** 2).sum()

    found = optimize.minimize(
        bias,
        np.full(9, 1 / 3),
        method="SLSQP",
        bounds=[(0, 0.4 if i % 4 == 0 else 1) for i in range(9)],
        constraints=[
            {"type": "eq", "fun": lambda p: p.reshape(3, 3).sum(axis=1) - 1},
            {"type": "eq", "fun": lambda p: (t @ p.reshape(3, 3) - t)[:2]},  # the third follows
        ],
        options={"ftol": 1e-9, "maxiter": 500},
    )
    assert found.success
    moves = transitions(least_bias_table(np.r_[0, t].astype(int), 2, 0.4))[1:4, 1:4]
    assert bias(moves.ravel()) == pytest.approx(found.fun, rel=1e-5)


def test_no_value_stays_more_often_than_asked():
    table = least_bias_table(T, 3, 0.5)
    stay = [table.probability(i, 0) for i in range(1, 9) if T[i]]
    assert max(stay) <= 0.5 + 1e-6


def test_values_without_neighbours_stay_as_rarely_as_possible():
    """1,000 cells of value 1 can change places only with the 10 and 20 of values 2 and 3."""
    table = least_bias_table(np.array([0, 1000, 10, 20]), 2, 0.5)
    assert table.probability(1, 0) == pytest.approx(1 - 30 / 1000, abs=1e-5)
    assert table.probability(2, 0) <= 0.5 + 1e-6


def test_invariance_and_mean_zero_rows_leave_no_noise_at_all():
    """The most that values move in total under both: nothing (see the module's first lines)."""
    t = T[T > 0][1:].astype(float)
    value = np.flatnonzero(T > 0)[1:].astype(float)
    k = len(t)
    index = np.arange(k * k).reshape(k, k)
    rows, right = [], []
    for i in range(k):
        for coefficient, value_of in (
            (np.eye(k)[i][:, None] * np.ones(k), 1.0),  # rows sum up to 1
            (np.eye(k)[i][:, None] * (value - value[i]), 0.0),  # mean 0
            (t[:, None] * np.eye(k)[i], t[i]),  # invariance
        ):
            rows.append(coefficient.ravel())
            right.append(value_of)
    gain = np.ones((k, k)) - np.eye(k)
    found = optimize.linprog(-gain.ravel(), A_eq=np.array(rows), b_eq=right, bounds=(0, 1))
    assert found.success and index.size == k * k
    assert -found.fun == pytest.approx(0, abs=1e-7)
    # without mean 0 in every row there is noise, and its rows do have a bias
    table = least_bias_table(T, 3, 0.5)
    assert np.abs(table.means).max() > 0.01


def test_simulated_frequencies_and_means_are_those_of_the_table():
    table = two_step_table(T, 4, 0.5)
    lookup = table.lookup()
    random = np.random.default_rng(11)
    cells = 200_000
    for i in (1, 3, 8):
        key = random.integers(0, 2**32, cells, dtype=np.uint64)
        noise = lookup(np.full(cells, i), key)
        error = 4 * np.sqrt(table.variances[i] / cells)
        assert abs(noise.mean() - table.means[i]) < error


@examples(25)
@given(t=frequencies, seed=st.integers(0, 10**6))
def test_controlled_noise_keeps_every_frequency_exactly(t, seed):
    if (t[1:] > 0).sum() < 2:
        return
    table = least_bias_table(t, 3, 0.4)
    random = np.random.default_rng(seed)
    count = random.permutation(np.repeat(np.arange(len(t) + 1), np.append(t, 5)))
    key = random.permutation(len(count)).astype(np.uint64)
    noise = controlled_noise(count, key, table)
    assert np.array_equal(np.bincount(count + noise), np.bincount(count))
    assert not noise[(count == 0) | (count == len(t))].any()
    assert np.abs(noise).max() <= 3
    order = random.permutation(len(count))
    assert np.array_equal(controlled_noise(count[order], key[order], table), noise[order])


def test_every_move_is_rounded_up_or_down_and_right_on_average():
    t = np.array([0, 7, 5, 3])
    table = two_step_table(t, 2, stay=0.4)
    expected = np.append(t, 0)[:, None] * table.probabilities
    total, runs = np.zeros_like(expected), 4000
    for run in range(runs):
        draws = _draws(np.array([run]), np.array([run], dtype=np.uint64), expected.size)
        moves = _rounded(expected, table, draws)
        assert (np.abs(moves - expected) < 1 + 1e-6).all()
        total += moves
    # a fraction f is 1 with probability f: four standard errors
    fraction = expected - np.floor(expected + 1e-9)
    error = 4 * np.sqrt(np.maximum(fraction * (1 - fraction), 1e-12) / runs) + 1e-6
    assert (np.abs(total / runs - expected) < error).all()


def test_another_set_of_cells_is_refused():
    table = least_bias_table(np.array([0, 40, 30, 20]), 2)
    count = np.repeat([1, 2, 3], [40, 30, 21])
    with pytest.raises(InputError, match="not invariant for these cells"):
        controlled_noise(count, np.arange(91, dtype=np.uint64), table)


def test_impossible_figures_are_refused():
    with pytest.raises(InputError, match="even max_noise"):
        two_step_table(T, 3)
    with pytest.raises(InputError, match="damping= above 0"):
        two_step_table(T, 2, damping=0)
    with pytest.raises(InputError, match="most_stay= from 0"):
        least_bias_table(T, 2, 1.0)
    with pytest.raises(InputError, match="frequencies are numbers"):
        least_bias_table(np.array([3, -1, 2]), 2)


def test_frequencies_are_counted_over_all_tables():
    assert value_frequencies([np.array([[0, 2], [5, 2]]), np.array([2, 9])], 5).tolist() == [
        1, 0, 3, 0, 0, 1,
    ]  # fmt: skip


def test_noise_that_takes_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr("diskret.cellkey.invariant._PIVOTS", 0)
    with pytest.raises(InputError, match="Iteration limit reached"):
        least_bias_table(T, 3, 0.4)
