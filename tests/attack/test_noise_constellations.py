"""Small cells beside their total: against Bayes' theorem over all that is possible."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_tables import random_table, seed_table, tiny_table
from profiles import examples

from diskret.attack import (
    constellation_risk,
    differencing,
    keyed_constellation_risk,
    privacy_loss,
    worst_differencing,
)
from diskret.attack.noise.chances import chances
from diskret.attack.noise.linear_keys import together_shown
from diskret.cellkey import Lookup, PerturbationTable
from diskret.errors import InputError

MODULUS = np.uint64(2**32)


def shown(table, true):
    """Published values → probability; a total of one part only is the same cell."""
    cells = [*true, sum(true)]
    if sum(value > 0 for value in true) == 1:
        for noise in table.noise.tolist():
            chance = table.probability(sum(true), noise)
            if chance:
                yield tuple(value + noise if value else 0 for value in cells), chance
        return
    for noises in product(table.noise.tolist(), repeat=len(cells)):
        chance = 1.0
        for cell, noise in zip(cells, noises, strict=True):
            chance *= table.probability(cell, noise)
        if chance:
            yield tuple(c + v for c, v in zip(cells, noises, strict=True)), chance


def risks_by_bayes(table, parts, up_to, certainty, prior=None):
    """Risk of every constellation, by listing all true and all published values."""
    largest = int(table.max_noise)
    support = range(up_to + 2 * largest + 1)
    weight = np.ones(len(support)) if prior is None else np.array(prior)[: len(support)]
    posterior = [defaultdict(lambda: defaultdict(float)) for _ in range(parts + 1)]
    chance_of = {}
    for true in product(support, repeat=parts):
        chance_of[true] = list(shown(table, true))
        for values, chance in chance_of[true]:
            for cell, value in enumerate([*true, sum(true)]):
                posterior[cell][values][value] += chance * float(weight[list(true)].prod())
    risks = {}
    for true in product(range(up_to + 1), repeat=parts):
        if not any(true) or list(true) != sorted(true):
            continue
        risk = 0.0
        for values, chance in chance_of[true]:
            for cell, value in enumerate([*true, sum(true)]):
                of = posterior[cell][values]
                if 1 <= value <= up_to and of[value] >= certainty * sum(of.values()) - 1e-15:
                    risk += chance
                    break
        risks[true] = risk
    return risks


def keyed_risks(lookup, steps, up_to, certainty):
    """The same with real keys; intervals end at multiples of the modulus by `steps`.

    Two keys lie anywhere in their steps i and j: their sum is as often in step i + j as behind.
    """
    largest = int(np.abs(lookup.noise).max())
    key = np.arange(steps, dtype=np.uint64) * np.uint64(lookup.modulus // steps)
    noise = {n: lookup(np.full(steps, n), key).tolist() for n in range(2 * up_to + 4 * largest + 5)}
    chance_of = {}
    for a, b in product(range(up_to + 2 * largest + 3), repeat=2):
        chance = defaultdict(float)
        for i, j, up in product(range(steps), range(steps), (0, 1)):
            k = i if b == 0 else j if a == 0 else (i + j + up) % steps  # the same cell
            values = a + noise[a][i], b + noise[b][j], a + b + noise[a + b][k]
            chance[values] += 1 / (2 * steps**2)
        chance_of[a, b] = chance
    posterior = [defaultdict(lambda: defaultdict(float)) for _ in range(3)]
    for (a, b), chance in chance_of.items():
        for values, probability in chance.items():
            for cell, true in enumerate((a, b, a + b)):
                posterior[cell][values][true] += probability
    risks = {}
    for a, b in product(range(up_to + 1), repeat=2):
        if a > b or b == 0:
            continue
        risks[a, b] = 0.0
        for values, probability in chance_of[a, b].items():
            for cell, true in enumerate((a, b, a + b)):
                of = posterior[cell][values]
                if 1 <= true <= up_to and of[true] >= certainty * sum(of.values()) - 1e-12:
                    risks[a, b] += probability
                    break
    return risks


def as_dict(found):
    return {c.parts: c.risk for c in found.constellations}


@examples(12)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.6]))
def test_two_parts_are_those_of_bayes(seed, certainty):
    table = random_table(np.random.default_rng(seed), largest=1, rows=3)
    found = constellation_risk(table, up_to=2, certainty=certainty)
    assert as_dict(found) == pytest.approx(risks_by_bayes(table, 2, 2, certainty), abs=1e-12)


@pytest.mark.parametrize("certainty", [1.0, 0.7])
def test_three_parts_are_those_of_bayes(certainty):
    table = random_table(np.random.default_rng(5), largest=1, rows=3)
    found = constellation_risk(table, parts=3, up_to=1, certainty=certainty)
    assert as_dict(found) == pytest.approx(risks_by_bayes(table, 3, 1, certainty), abs=1e-12)


def test_prior_is_that_of_bayes():
    table = tiny_table()
    prior = [9.0, 4.0, 2.0, 1.0, 0.5, 0.5, 0.5]
    found = constellation_risk(table, up_to=2, certainty=0.8, prior=prior)
    assert as_dict(found) == pytest.approx(risks_by_bayes(table, 2, 2, 0.8, prior), abs=1e-12)
    huge = constellation_risk(table, up_to=2, certainty=0.8, prior=np.array(prior) * 1e307)
    assert as_dict(huge) == pytest.approx(as_dict(found))
    uniform = constellation_risk(table, up_to=2, certainty=0.8)
    assert as_dict(uniform) != pytest.approx(as_dict(found))


def test_tiny_noise_gives_1_1_2_away():
    table = tiny_table()
    worst = constellation_risk(table).worst
    positive = 1 - table.probability(1, -1)
    # a total shown as 0 beside two parts that are not, or beside one: (x, 0 | 0) is no single cell
    zero = table.probability(2, -2)
    by_hand = zero * (positive**2 + 2 * positive * (1 - positive))
    assert worst.parts == (1, 1)
    assert worst.risk == pytest.approx(by_hand)
    assert worst.risk > 0.05
    assert worst.parts_shown == (1, 1)
    assert worst.total_shown == 0
    assert str(worst) == "(1, 1 | 2) → (1, 1 | 0)"


def test_larger_noise_without_small_counts_keeps_certainty_rare():
    found = constellation_risk(seed_table())
    assert 0 < found.worst.risk < 0.0001
    assert {str(c) for c in found.constellations if not c.risk} >= {"(0, 1 | 1)", "(3, 3 | 6)"}
    assert found.above == ()
    # the total of four ones is shown as 0 beside four parts that are not
    four = constellation_risk(seed_table(), parts=4, up_to=1)
    assert four.worst.parts == (1, 1, 1, 1)
    assert four.worst.risk >= 0.3125**4 * 0.087


def test_what_is_likely_is_given_away_more_often_than_what_is_certain():
    for table in (seed_table(), tiny_table()):
        certain = as_dict(constellation_risk(table))
        likely = as_dict(constellation_risk(table, certainty=0.9))
        assert all(likely[parts] >= risk - 1e-12 for parts, risk in certain.items())
        assert likely != certain


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_cells_are_shown_together_as_simulated_keys_say(order):
    lookup = seed_table().lookup()
    lookup = lookup if order == "sorted" else lookup.shuffled(seed=3)
    draw = np.random.default_rng(1)
    trials = 400_000
    first, second = draw.integers(2**32, size=(2, trials), dtype=np.uint64)
    for a, b in ((1, 1), (2, 3)):
        expected = together_shown(lookup, a, b, 12, 16)
        assert expected.sum() == pytest.approx(1)
        values = [
            count + lookup(np.full(trials, count), key)
            for count, key in ((a, first), (b, second), (a + b, (first + second) % MODULUS))
        ]
        found = np.zeros(expected.shape)
        np.add.at(found, tuple(values), 1 / trials)
        error = np.sqrt(expected * (1 - expected) / trials)
        assert (np.abs(found - expected) <= 5 * error + 1e-6).all()
        assert (found[expected == 0] == 0).all()


def in_turn(reuse, modulus=400):
    """A lookup of rows up to 3 that larger counts take in turn, with all of its keys."""
    noise = [[0, 0], [-1, 1], [-1, 2], [-2, 1]]
    ends = np.array([[400, 400], [200, 400], [280, 400], [120, 400]], dtype=np.uint64)
    lookup = Lookup(np.arange(4), modulus, ends, np.array(noise), reuse=reuse)
    return lookup, np.arange(modulus, dtype=np.uint64)


@pytest.mark.parametrize("reuse", [1, 2, 3])
def test_probabilities_beyond_the_last_row_are_those_of_all_keys(reuse):
    """What a lookup does with larger counts is not lost in its table, nor in one made of that."""
    lookup, key = in_turn(reuse)
    table = lookup.table()
    shown = [np.bincount(n + lookup(np.full(400, n), key), minlength=12) / 400 for n in range(10)]
    for same in (lookup, table.lookup(400), lookup.shuffled(seed=2)):
        assert chances(same.table(), 9) == pytest.approx(np.array(shown))
    assert table.probability(5, 2) == shown[5][7]
    for n in range(9):
        moves = np.convolve(shown[n + 1], shown[n][::-1])
        found = differencing(table, n)
        assert found.told == pytest.approx(1 - moves[11])
    # of two neighbours far beyond the last row, how much is published of one that the other cannot
    pairs = [(shown[n], shown[n + 1]) for n in range(9)]
    apart = max(max(a[b == 0].sum(), b[a == 0].sum()) for a, b in pairs)
    assert privacy_loss(table).delta(np.inf) == pytest.approx(apart)
    assert worst_differencing(table).told == pytest.approx(
        max(1 - np.convolve(b, a[::-1])[11] for a, b in pairs[1:])
    )
    assert (shown[4][6] > 0) == (reuse == 2)  # 4 takes the row of 2: up by two
    labels = [text.get_text() for text in table.heat_map().axes[0].get_yticklabels()]
    assert (labels[-1] == "3") == (reuse > 1)


@pytest.mark.parametrize("reuse", [1, 2])
def test_rows_beyond_the_last_one_are_those_that_the_lookup_takes(reuse):
    """Against all pairs of keys of a small modulus."""
    lookup, key = in_turn(reuse)
    modulus = lookup.modulus
    first, second = (own.ravel() for own in np.meshgrid(key, key))
    total = (first + second) % np.uint64(modulus)
    for a, b in ((1, 3), (2, 3), (4, 5)):
        found = np.zeros((9, 9, 14))
        values = [
            count + lookup(np.full(len(own), count), own)
            for count, own in ((a, first), (b, second), (a + b, total))
        ]
        np.add.at(found, tuple(values), 1 / modulus**2)
        # a key lies anywhere in its interval; pairs at the edges may fall beside it
        assert np.abs(found - together_shown(lookup, a, b, 9, 14)).max() < 3 / modulus


@pytest.mark.parametrize(
    ("lookup", "why"),
    [
        (Lookup(np.array([0, 1, 4]), 10, np.full((3, 1), 10), np.zeros((3, 1))), "without a gap"),
        (Lookup(np.arange(2), 10, np.full((2, 1), 10), np.zeros((2, 1)), step=2), "steps of 1/2"),
    ],
)
def test_keyed_risk_is_for_the_rows_of_all_counts(lookup, why):
    with pytest.raises(InputError, match=why):
        keyed_constellation_risk(lookup)


@pytest.mark.parametrize("seed", range(12))
def test_keyed_risk_is_that_of_bayes(seed):
    draw = np.random.default_rng(seed)
    rows, steps, up_to = draw.integers(2, [5, 4, 3])
    certainty = (1.0, 0.5713, 0.8191)[seed % 3]
    noise = [np.zeros(steps, np.int64)]
    noise += [draw.integers(-min(n, 2), 3, steps) for n in range(1, rows)]
    ends = np.tile(np.arange(1, steps + 1, dtype=np.uint64) * np.uint64(25), (rows, 1))
    reuse = int(draw.integers(1, rows))
    lookup = Lookup(np.arange(rows), 25 * int(steps), ends, np.array(noise), reuse=reuse)
    found = keyed_constellation_risk(lookup, up_to=int(up_to), certainty=certainty)
    expected = keyed_risks(lookup, steps, up_to, certainty)
    assert as_dict(found) == pytest.approx(expected, abs=1e-12)
    risks = [c.risk for c in found.constellations]
    assert risks == sorted(risks, reverse=True)


def test_any_two_cells_are_independent_but_not_all_three():
    lookup = seed_table().lookup()
    together = together_shown(lookup, 1, 2, 12, 16)
    alone = [together.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]
    for axis, pair in enumerate([(1, 2), (0, 2), (0, 1)]):
        expected = np.outer(alone[pair[0]], alone[pair[1]])
        assert together.sum(axis=axis) == pytest.approx(expected, abs=1e-8)
    independent = alone[0][:, None, None] * alone[1][None, :, None] * alone[2]
    assert np.abs(together - independent).max() > 0.01


def test_intervals_in_order_give_more_away_than_probabilities_say():
    # both keys small: then the key of the total is small as well, or both are not so small
    lookup = tiny_table().lookup()
    keyed = as_dict(keyed_constellation_risk(lookup))
    alone = as_dict(constellation_risk(lookup.table()))
    assert keyed.keys() == alone.keys()
    assert keyed[1, 1] > 0.25 > 4 * alone[1, 1]
    shuffled = as_dict(keyed_constellation_risk(lookup.shuffled(seed=1)))
    assert shuffled[1, 1] < keyed[1, 1] / 2


def test_keyed_risk_counts_what_only_one_truth_can_show():
    lookup = tiny_table().lookup()
    draw = np.random.default_rng(2)
    trials = 100_000
    first, second = draw.integers(2**32, size=(2, trials), dtype=np.uint64)
    seen = defaultdict(set)
    for a, b in product(range(6), repeat=2):
        for values in np.argwhere(together_shown(lookup, a, b, 5, 7) > 0).tolist():
            seen[tuple(values)].add((a, b))
    one = np.ones(trials, dtype=np.int64)
    values = np.column_stack(
        [
            one + lookup(one, first),
            one + lookup(one, second),
            2 * one + lookup(2 * one, (first + second) % MODULUS),
        ]
    )
    given_away = np.array(
        [
            any(len({f(t) for t in seen[tuple(v)]}) == 1 for f in (lambda t: t[0], lambda t: t[1]))
            or len({sum(t) for t in seen[tuple(v)]}) == 1
            for v in values.tolist()
        ]
    ).mean()
    risk = as_dict(keyed_constellation_risk(lookup, up_to=2))[1, 1]
    assert abs(given_away - risk) < 4 * np.sqrt(risk * (1 - risk) / trials) + 1e-9


def test_no_noise_gives_everything_away():
    none = PerturbationTable(np.arange(2), np.array([0]), np.ones((2, 1)))
    assert {c.risk for c in constellation_risk(none).constellations} == {1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": 1}, "parts= must be a whole number from 2 to 4"),
        ({"up_to": 0}, "up_to="),
        ({"certainty": 0.5}, "certainty="),
        ({"limit": 2}, "limit="),
        ({"prior": [-1, 2]}, "prior="),
        ({"prior": [0] * 30}, "no cell has any"),
    ],
)
def test_what_cannot_be_assessed_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        constellation_risk(tiny_table(), **options)
