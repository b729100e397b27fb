"""What 1,000 questions about one unit tell: bisection, deviations that spell data, one record less.

Everywhere the attacker knows all other records, the anonymised version and who lies in which block.
"""

import math

import numpy as np
import pandas as pd
import pytest
from remote_access import KEYS, persons

import diskret as dk
from diskret.errors import InputError
from diskret.remote.compare import _vote, answers, described
from diskret.remote.figures import Figures, computed, prepared
from diskret.remote.office import _blocks
from diskret.remote.query import Asked
from diskret.remote.records import block_of, levels_of
from diskret.remote.votes import NONE, answer, certain, drawn, probabilities, strength_of

BLOCKS = 40
QUESTIONS = [
    Asked("t", "table", by=("job",)),
    Asked("t", "table", by=("job",), figures=(("pay", "sum"),)),
    Asked("t", "table", by=("job",), figures=(("pay", "median"), ("age", "mean"))),
    Asked("t", "table", by=("job",), where={"age": (30.0, math.inf), "job": ("a", "b")}),
    Asked("h", "histogram", column="pay", bins=(0.0, 2000.0, 4000.0)),
    Asked("m", "ols", formula="pay ~ age * C(job)"),
    Asked("m", "ols", formula="log(pay) ~ log(age)"),
    Asked("m", "poisson", formula="age ~ C(job)"),
]


def told_of(shown, *about):
    return described(shown, answers(shown, *about))


def blocks_of(asked, frame, unit="person"):
    block = block_of(frame, unit, BLOCKS, KEYS, "persons")
    return _blocks(asked, frame, block, BLOCKS, levels_of(persons()))


def same(one, other):
    if one is None or other is None:
        return one is other
    return [*one.value] == [*other.value] and np.array_equal(
        [*one.value.values()], [*other.value.values()], equal_nan=True
    )


def test_all_records_of_a_unit_lie_in_one_block_however_it_is_spelled():
    frame = pd.DataFrame({"person": [f"Person {at // 2}" for at in range(200)]})
    frame.loc[1::2, "person"] = " " + frame.person[1::2].str.upper()
    block = block_of(frame, "person", BLOCKS, KEYS, "persons")
    assert (block[::2] == block[1::2]).all() and len({*block}) > 1


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.ConvergenceWarning")
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda one: one.canonical)
def test_a_unit_changes_one_block_whatever_is_asked(asked):
    """So one vote: this is all that the bound needs to know of a question."""
    frame = persons(1200)
    other = frame.copy()
    other.loc[other.person == 7, ["job", "age", "pay"]] = ["c", 64.0, 1e9]
    without = frame[frame.person != 7].reset_index(drop=True)
    own = blocks_of(asked, frame)
    for changed in (other, without):
        unlike = [
            at
            for at, (a, b) in enumerate(zip(own, blocks_of(asked, changed), strict=True))
            if not same(a, b)
        ]
        assert len(unlike) <= 1


def test_blocks_that_follow_from_the_order_are_found_out():
    """Dealt by position, one unit less moves all that follow: the test above would see it."""
    frame = persons(1200)
    without = frame[frame.person != 7].reset_index(drop=True)
    asked = QUESTIONS[0]
    levels = levels_of(frame)
    own, less = (
        _blocks(asked, one, np.arange(len(one)) % BLOCKS, BLOCKS, levels)
        for one in (frame, without)
    )
    assert sum(not same(a, b) for a, b in zip(own, less, strict=True)) > 1


# ── bisection ───────────────────────────────────────────────────────────────────────


def bisected(told_larger, low, high, times):
    """An attacker who asks whether a value is larger than the middle, and believes it."""
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if told_larger(middle) else (low, middle)
    return low, high


def target(frame, pay):
    """A sum in which the attacker knows all but one unit."""
    frame = frame.copy()
    frame.loc[frame.person == 7, "pay"] = pay
    return frame


def test_comparisons_of_the_whole_original_are_bisected_and_answers_are_not():
    """The pay of one person: told to the euro where the deviation is that of all records."""
    secret, frame = 4711.0, persons(1200)
    rest = frame[frame.person != 7].pay.sum()
    whole = target(frame, secret).pay.sum()
    low, high = bisected(lambda middle: whole > rest + middle, 0, 10_000, 14)
    assert low <= secret <= high and high - low < 1

    asked = Asked("t", "table", by=("all",), figures=(("pay", "sum"),))
    strength = strength_of(0.7, 1000)

    def larger(middle):
        # the attacker's anonymised version says what he likes, here rest + middle
        frame_of = target(frame, secret).assign(all="x")
        block = block_of(frame_of, "person", BLOCKS, KEYS, "persons")
        name = ("x", "pay sum")
        shown = Figures({name: rest + middle}, {}, {name: 1200}, True)
        votes = [
            _vote(name, "deviation", shown, one, BLOCKS, 1.1)
            for one in _blocks(asked, frame_of, block, BLOCKS, {})
        ]
        return answer(votes, 4, strength, drawn(KEYS, middle)) == 3

    low, high = bisected(larger, 0, 10_000, 14)
    assert not low <= secret <= high


# ── a thousand questions, made to tell one bit ────────────────────────────────────────────


def success(certainty, answers, asked, trials=2000, blocks=100):
    """How often the best attacker tells one of two values, equally likely, of a unit.

    Every question is the worst there is: the other blocks are split evenly, and the unit's block
    votes one way or the other. The attacker adds up what each answer makes more likely.
    """
    half = blocks // 2
    votes = [[0] * half + [3] * (half - 1) + [one] for one in (0, 3)]
    strength = strength_of(certainty, answers)
    own, other = (probabilities(one, 4, strength) for one in votes)
    gain = np.log(own / other)
    right = 0
    for trial in range(trials):
        secret = trial % 2
        draws = np.random.default_rng(trial).random(asked)
        upto = np.cumsum((own, other)[secret])
        evidence = gain[np.minimum(np.searchsorted(upto, draws, "right"), 4)].sum()
        right += (evidence < 0) == secret
    return right / trials


@pytest.mark.parametrize("certainty", [0.6, 0.7])
def test_a_thousand_answers_stay_below_the_rule(certainty):
    found = success(certainty, 1000, 1000)
    assert found <= certainty + 3 * 0.5 / math.sqrt(2000)
    assert certain(1000 * strength_of(certainty, 1000) ** 2) == pytest.approx(certainty)


def test_a_budget_that_is_not_kept_is_seen():
    """A thousand answers where ten were allowed: the simulation is no test that cannot fail."""
    assert success(0.7, 10, 1000) > 0.95


def test_what_a_deviation_spells_is_told_by_the_budget_only():
    """A question that puts a unit's value into every block's figure, as a script could."""
    strength = strength_of(0.7, 1000)
    name = ("x",)
    shown = Figures({name: 1.0}, {}, {name: 1000})
    spelled = {
        bit: [Figures({name: 5.0 if bit else 1.0}, {}, {name: 50})]
        + [Figures({name: 5.0 if at % 2 else 1.0}, {}, {name: 50}) for at in range(99)]
        for bit in (0, 1)
    }
    votes = {
        bit: [_vote(name, "deviation", shown, one, 100, 1.25) for one in own]
        for bit, own in spelled.items()
    }
    ratio = np.log(probabilities(votes[0], 4, strength) / probabilities(votes[1], 4, strength))
    assert 0 < np.abs(ratio).max() <= strength


def test_averaging_is_one_question():
    """The same question a hundred times, by two projects of one strength: one answer."""
    frame = persons(1200)
    asked = QUESTIONS[5]
    shown = computed(asked, prepared(asked, frame, levels_of(frame)))
    blocks = blocks_of(asked, frame)
    about = ("mark", "digest", asked.canonical)
    found = {told_of(shown, blocks, 10, 1.25, 0.1, KEYS, about) for _ in range(20)}
    assert len(found) == 1
    others = dk.SecretKeys(bytes(range(1, 33)))
    assert told_of(shown, blocks, 10, 1.25, 0.1, others, about) not in found


def test_figures_of_few_records_have_no_comparison():
    frame = persons(1200)
    frame.loc[:8, "job"] = "rare"
    asked = Asked("t", "table", by=("job",), figures=(("pay", "mean"),))
    shown = computed(asked, prepared(asked, frame, {}))
    told = told_of(shown, blocks_of(asked, frame), 10, 1.25, 1.0, KEYS, ("x",))
    assert {one.figure[0]: one.deviation for one in told}["rare"] == "none"
    assert {one.deviation for one in told if one.figure[0] != "rare"} != {"none"}


def test_blocks_without_a_result_are_no_error_that_could_be_seen():
    frame = pd.DataFrame({"person": range(100), "job": "a", "age": 30.0, "pay": 1000.0})
    asked = Asked("m", "ols", formula="pay ~ age")
    with pytest.raises(InputError, match="depend on each other"):
        computed(asked, frame)
    assert blocks_of(asked, frame) == [None] * BLOCKS
    shown = Figures({("age",): 1.0}, {("age",): 0.1}, {("age",): 100})
    [told] = told_of(shown, [None] * BLOCKS, 10, 1.25, 1.0, KEYS, ("x",))
    assert (told.deviation, told.significance) == ("none", "none")
    assert _vote(("age",), "deviation", shown, None, BLOCKS, 1.25) == NONE
