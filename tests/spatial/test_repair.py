"""The fewest areas to hide: as many as brute force finds, and nothing is told any more."""

from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from geographies_oracle import Case, many, tells
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.spatial import repair

LEAST = 3
RULE = dk.rules.MinimumFrequency(LEAST)


def hide(case, hidden):
    """The case where these areas are one, as totals tell them."""
    for at, name in enumerate(case.by):
        out = set(hidden.get(name, ()))
        case.codes[at] = ["" if code in out else code for code in case.codes[at]]
    return case


def alone(case, signed=False):
    return [t for t in case.sums() if (signed or t.min() >= 0) and 0 < np.abs(t).sum() < LEAST]


def fewest(made, new, signed=False):
    """By trying all sets of areas, small ones first; None: none is enough."""
    case = made()
    codes = [(name, {*case.codes[case.by.index(name)]} - {""}) for name in new]
    areas = [(name, code) for name, own in codes for code in sorted(own)]
    for number in range(len(areas) + 1):
        for out in combinations(areas, number):
            hidden = {name: [code for own, code in out if own == name] for name in new}
            if not alone(hide(made(), hidden), signed):
                return number
    return None


def in_no_area(seed):
    """A case where some records are in no area of the first geography, perhaps of the second."""
    case = many(seed)
    for at, _ in zip(range(2), range(1 + seed % 2), strict=False):
        case.codes[at] = ["" if code == "0" else code for code in case.codes[at]]
        shown = pa.array([code or None for code in case.codes[at]], pa.string())
        case.frame = case.frame.set_column(at, case.by[at], shown)
    return case


def check(made, new, value=None):
    case, signed = made(), value is not None
    try:
        found = repair(case.frame, case.by, RULE, new=new, value=value)
    except ProtectionError:
        assert fewest(made, new, signed) is None
        return
    assert found.fewest and found.number == fewest(made, new, signed)
    assert not len(found.left) and found.left.complete
    assert not alone(hide(case, found.hidden), signed)


@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_as_few_areas_are_hidden_as_brute_force_finds(new):
    for seed in range(scaled(60)):
        check(partial(many, seed), new)
        check(partial(in_no_area, seed), new)
        check(partial(many, seed), new, "value")


@pytest.mark.parametrize("new", [["g2"], ["g0", "g1", "g2"]], ids=["new", "all"])
def test_three_geographies_hide_as_few_areas_as_brute_force_finds(new):
    for seed in range(scaled(60)):
        check(partial(many, seed, 3), new)


# each has islands: what one of them does or does not tell depends on what is hidden on another one
@pytest.mark.parametrize("seed", [445, 578, 799, 921, 1061, 3631])
def test_what_islands_tell_together_is_hidden_with_the_fewest(seed):
    check(partial(many, seed), ["g0", "g1"])


@pytest.mark.slow
@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_five_thousand_repairs_hide_the_fewest(new):
    for seed in range(5_000):
        check(partial(many, seed), new)
        check(partial(in_no_area, seed), new)
        check(partial(many, seed), new, "value")


@pytest.mark.slow
@pytest.mark.parametrize("new", [["g2"], ["g0", "g1", "g2"]], ids=["new", "all"])
def test_five_thousand_repairs_of_three_geographies_hide_the_fewest(new):
    for seed in range(5_000):
        check(partial(many, seed, 3), new)


def test_no_firm_is_told_too_much_of():
    rule = dk.rules.PPercent(10)
    hidden = 0
    for seed in range(scaled(40)):
        case = Case(seed, 2)
        try:
            found = repair(case.frame, case.by, rule, value="value", unit="unit")
        except ProtectionError:
            continue
        hidden += found.number
        case = hide(case, found.hidden)
        for times in case.sums():
            amounts = case.amounts(times != 0)
            largest = max(amounts.values(), default=0)
            assert not any(
                tells(unit, amounts, rule) for unit, own in amounts.items() if own == largest > 0
            )
    assert hidden


def test_what_was_hidden_before_stays_hidden_and_counts():
    frame = pa.table({"a": ["1"] * 9 + ["2"] * 9, "b": ["x"] * 7 + ["y"] * 4 + ["z"] * 7})
    found = repair(frame, ["a", "b"], RULE, new=["b"])
    assert (found.number, len(found.left)) == (2, 0)
    found = repair(frame, ["a", "b"], RULE, new=["b"], hidden={"b": ["x"]})
    assert "x" in found.hidden["b"] and found.number == 2


def test_what_to_hide_is_said_in_words():
    frame = pa.table({"a": ["1"] * 9 + ["2"] * 9, "b": ["x"] * 7 + ["y"] * 4 + ["z"] * 7})
    found = repair(frame, ["a", "b"], RULE, new=["b"])
    assert str(found).startswith("2 areas to hide: b x, z. No fewer are enough.\nTwo geographies:")
    assert found.summary("de").startswith("2 Gebiete sind zu verbergen: b x, z. Weniger reichen")
    unknown = replace(found, bound=0).summary()
    assert "at least was not shown" in unknown
    assert "At least 1 have to" in replace(found, bound=1).summary()
    nothing = repair(frame, ["a", "b"], dk.rules.MinimumFrequency(2))
    assert str(nothing).startswith("0 areas to hide. No fewer are enough.")


def test_what_no_hidden_area_helps_against_is_named():
    frame = pa.table({"a": ["1"] * 2 + ["2"] * 9, "b": ["x"] * 8 + ["y"] * 3})
    with pytest.raises(ProtectionError, match="keep this secret: a 1: 2 records"):
        repair(frame, ["a", "b"], RULE, new=[])
    with pytest.raises(InputError, match="'c', which is no geography"):
        repair(frame, ["a", "b"], RULE, new=["c"])


def test_a_choice_that_hides_too_little_is_refused(monkeypatch):
    case = many(1)
    assert repair(case.frame, case.by, RULE).number
    module = import_module("diskret.spatial.repair")
    monkeypatch.setattr(module, "fewest", lambda choices: (choices[0].fixed, 0))
    with pytest.raises(ProtectionError, match="no areas were found"):
        repair(case.frame, case.by, RULE)
