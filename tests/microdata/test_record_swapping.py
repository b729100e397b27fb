"""Record swapping of households: partners, borders, rates."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.microdata.record_swap import Households, exchanged
from diskret.microdata.swap_kernels import donors


def one_after_another(needing, ranked, group, area, free, most):
    """The donors by their definition."""
    free, found = free.copy(), np.full(len(needing), -1)
    for at, one in enumerate(needing):
        if free[one] and (found >= 0).sum() < most:
            for other in ranked:
                if free[other] and group[other] == group[one] and area[other] != area[one]:
                    found[at] = other
                    free[[one, other]] = False
                    break
    return found, free


def numbers(draw, n, largest):
    return np.array(draw(st.lists(st.integers(0, largest), min_size=n, max_size=n)), np.intp)


def flags(draw, n):
    return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


@st.composite
def searches(draw):
    n = draw(st.integers(1, 25))
    free = flags(draw, n)
    ranked = np.array(draw(st.permutations(range(n))), np.intp)
    needing = ranked[flags(draw, n) & free[ranked]][:: draw(st.sampled_from([1, -1]))].copy()
    return needing, ranked, numbers(draw, n, 2), numbers(draw, n, 3), free, draw(st.integers(0, n))


@given(searches())
def test_each_is_served_by_the_first_free_one_of_its_group_in_another_area(search):
    needing, ranked, group, area, free, most = search
    wanted, still = one_after_another(needing, ranked, group, area, free, most)
    found = donors(needing, ranked, group, 3, area, free, most)
    assert found.tolist() == wanted.tolist()
    assert (free == still).all()


@st.composite
def problems(draw):
    n, levels = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    fine = numbers(draw, n, 7)
    areas = [fine >> (levels - 1 - level) for level in range(levels)]
    profile = numbers(draw, n, 3)
    return Households(
        areas,
        numbers(draw, n, 3) % (levels + 1),
        [1.0 + numbers(draw, n, 4) for _ in range(levels)],
        draw(st.sampled_from([[profile], [profile, profile // 2], [profile * 0]])),
        flags(draw, n),
    )


@given(problems(), st.sampled_from([0, 0.2, 1]), st.integers(0, 10**6))
def test_partners_are_mutual_alike_and_from_another_area(households, rate, seed):
    made = exchanged(households, rate, np.random.default_rng(seed))
    rows, partner = np.arange(len(households)), made.partner
    moved = partner != rows
    assert (partner[partner] == rows).all() and households.part[moved].all()
    assert (households.areas[-1][partner] != households.areas[-1])[moved].all()
    assert ((made.profile >= 0) == moved).all()
    for number, of in enumerate(households.profiles):
        here = made.profile == number
        assert (of[partner] == of)[here].all()


def possible(households, one, level):
    """Who of those that stay could be the partner of one that stays."""
    staying = households.part & (np.arange(len(households)) != one)
    area = households.areas[level]
    alike = np.any([of == of[one] for of in households.profiles], axis=0)
    return staying & alike & (area != area[one])


@given(problems(), st.sampled_from([0, 0.2, 1]), st.integers(0, 10**6))
def test_who_is_at_risk_and_stays_has_nobody_left_and_rates_are_met_if_they_can_be(
    households, rate, seed
):
    made = exchanged(households, rate, np.random.default_rng(seed))
    levels, level = len(households.areas), len(households.areas) - 1
    moved = made.partner != np.arange(len(households))
    staying = np.flatnonzero(households.part & ~moved)
    for one in staying[households.needs[staying] < levels]:
        assert not (possible(households, one, level) & ~moved).any()
    goal = rate * households.part.sum()
    if moved.sum() <= goal - 2:  # a pair more was possible if there was one
        assert not any((possible(households, one, level) & ~moved).any() for one in staying)
    risky = households.needs < levels
    at_most = 2 * (risky & households.part).sum()
    assert moved.sum() <= at_most or moved.sum() < goal + 2


@given(problems(), st.integers(0, 10**6))
def test_who_is_at_risk_crosses_the_border_of_its_level_unless_nobody_was_there(households, seed):
    made = exchanged(households, 0, np.random.default_rng(seed))
    for one in np.flatnonzero(made.partner != np.arange(len(households))):
        level = households.needs[one]
        if level < len(households.areas):
            area = households.areas[level]
            crossed = area[made.partner[one]] != area[one]
            # a similar one that stays was free all the time
            untouched = made.partner == np.arange(len(households))
            assert crossed or not (possible(households, one, level) & untouched).any()


def test_households_at_risk_swap_with_each_other_and_near_ones_come_first():
    # states of 4 areas; two at risk in each area of the finest level
    n = 1600
    fine = np.arange(n) // 100
    areas, risky = [fine // 4, fine], np.arange(n) % 100 < 2
    needs = np.where(risky, 1, 2)
    whole = np.zeros(n, np.intp)
    risk = [np.ones(n), np.ones(n)]
    households = Households(areas, needs, risk, [whole], np.ones(n, bool))
    made = exchanged(households, 0, np.random.default_rng(1))
    moved = made.partner != np.arange(n)
    assert (moved == risky).all()
    assert (areas[0][made.partner] == areas[0]).all()
    far = exchanged(
        Households(areas, np.where(risky, 0, 2), risk, [whole], np.ones(n, bool)),
        0,
        np.random.default_rng(1),
    )
    assert (areas[0][far.partner] != areas[0])[risky].all()


def test_higher_risks_are_drawn_more_often_and_equal_ones_equally_often():
    n, runs = 600, 200
    area = np.arange(n) % 6
    risk = np.where(np.arange(n) < 60, 0.3, 0.03)
    none, everybody, whole = np.ones(n, np.intp), np.ones(n, bool), np.zeros(n, np.intp)
    often, evenly = np.zeros(n), np.zeros(n)
    for seed in range(runs):
        for hits, weight in ((often, risk), (evenly, np.ones(n))):
            households = Households([area], none, [weight], [whole], everybody)
            made = exchanged(households, 0.1, np.random.default_rng(seed))
            hits += made.partner != np.arange(n)
    assert abs(often.sum() / runs - 60) < 1 and abs(evenly.sum() / runs - 60) < 1
    assert often[:60].mean() > 4 * often[60:].mean()
    rates = evenly / runs
    assert np.abs(rates - 0.1).max() < 5 * (0.1 * 0.9 / runs) ** 0.5
    assert abs(rates[:60].mean() - 0.1) < 0.015


def test_areas_get_what_is_missing_there():
    # areas of very different size; the largest are not served first
    size = np.array([10, 20, 40, 80, 160, 320, 640, 1280])
    area = np.repeat(np.arange(8), size)
    n, rate = len(area), 0.1
    total = np.zeros(8)
    for seed in range(40):
        households = Households(
            [area], np.ones(n, np.intp), [np.ones(n)], [np.zeros(n, np.intp)], np.ones(n, bool)
        )
        made = exchanged(households, rate, np.random.default_rng(seed))
        total += np.bincount(area[made.partner != np.arange(n)], minlength=8)
    rates = total / 40 / size
    # half of the largest area is half of the file, which finds partners outside of it only
    assert (rates[:-1] > 0.09).all() and (rates[:-1] < 0.2).all() and rates[-1] > 0.07
    assert all(abs(one - other) < 0.05 for one, other in pairwise(rates[2:-1]))
