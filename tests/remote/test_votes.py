"""Answers of blocks: one unit changes no probability by more than its strength allows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.remote.votes import (
    NONE,
    answer,
    budget,
    certain,
    drawn,
    probabilities,
    strength_of,
)

VOTES = st.lists(st.integers(NONE, 3), min_size=1, max_size=30)


def neighbours(votes, classes):
    """The same votes with one of them changed in every way."""
    for at, other in itertools.product(range(len(votes)), range(NONE, classes)):
        yield [*votes[:at], other, *votes[at + 1 :]]


def furthest(mechanism, votes, strength):
    """The largest logarithm of a ratio of probabilities, over all changes of one vote."""
    own = mechanism(votes, 4, strength)
    return max(
        np.abs(np.log(own) - np.log(mechanism(other, 4, strength))).max()
        for other in neighbours(votes, 4)
    )


@examples(60)
@given(VOTES, st.floats(0.01, 3))
def test_one_vote_changes_no_probability_by_more_than_the_strength(votes, strength):
    assert probabilities(votes, 4, strength).sum() == pytest.approx(1)
    assert furthest(probabilities, votes, strength) <= strength * (1 + 1e-9)


def test_a_mechanism_that_follows_the_votes_closer_is_found_out():
    def closer(votes, classes, strength):
        return probabilities(votes, classes, 3 * strength)

    assert furthest(closer, [1] * 5 + [2] * 5, 0.2) > 0.2


@examples(60)
@given(VOTES, st.floats(0.01, 2))
def test_an_answer_tells_as_much_as_hoeffdings_lemma_says_at_most(votes, strength):
    own = probabilities(votes, 4, strength)
    for other in neighbours(votes, 4):
        far = probabilities(other, 4, strength)
        assert float((own * np.log(own / far)).sum()) <= strength**2 / 8 + 1e-12


@pytest.mark.parametrize("strength", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("votes", [[0, 0, 3, 3], [1] * 4, [0, 1, 2, 3, NONE], [0] * 6 + [1] * 6])
def test_the_best_attacker_is_no_more_certain_than_the_budget_says(votes, strength):
    """Brute force over all sequences of five answers, for the change that tells most."""
    own = probabilities(votes, 4, strength)
    for other in neighbours(votes, 4):
        far = probabilities(other, 4, strength)
        for many in (1, 5):
            one = np.array([math.prod(p) for p in itertools.product(own, repeat=many)])
            two = np.array([math.prod(p) for p in itertools.product(far, repeat=many)])
            success = float(np.maximum(one, two).sum()) / 2
            assert success <= certain(many * strength**2) + 1e-12


def test_budgets_and_strengths_belong_together():
    assert certain(budget(0.7)) == pytest.approx(0.7)
    assert 200 * strength_of(0.7, 200) ** 2 == pytest.approx(budget(0.7))
    assert certain(1e9) == 1


def test_votes_that_agree_are_followed_and_lost_ones_are_said():
    assert probabilities([2] * 100, 4, 0.2)[2] > 0.99
    assert probabilities([NONE] * 100, 4, 0.2)[-1] > 0.99
    assert answer([NONE] * 100, 4, 0.2, 0.5) == NONE
    # what lies in the middle counts as much as what half of the blocks vote for
    low, middle, high, none = probabilities([0] * 50 + [2] * 50, 3, 0.2)
    assert low == middle == high > 100 * none


@examples(60)
@given(VOTES, st.floats(0.05, 2))
def test_draws_have_the_probabilities(votes, strength):
    grid = (np.arange(2000) + 0.5) / 2000
    found = [answer(votes, 4, strength, draw) for draw in grid]
    shares = [found.count(one) / 2000 for one in (0, 1, 2, 3, NONE)]
    assert shares == pytest.approx(probabilities(votes, 4, strength).tolist(), abs=2e-3)


def test_a_question_has_one_draw_and_another_key_another_one():
    keys, others = dk.SecretKeys(bytes(range(32))), dk.SecretKeys(bytes(range(1, 33)))
    assert drawn(keys, "a", 1) == drawn(keys, "a", 1)
    assert len({drawn(keys, "a", 1), drawn(keys, "a", 2), drawn(others, "a", 1)}) == 3
    many = [drawn(keys, number) for number in range(2000)]
    assert np.mean(many) == pytest.approx(0.5, abs=0.03)
    assert 0 <= min(many) and max(many) < 1
