"""The fewest areas to hide: as many as brute force finds, and nothing is told any more."""

from dataclasses import replace
from itertools import combinations

import pyarrow as pa
import pytest
from geographies_oracle import Case, many, tells
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.spatial import repair
from diskret.spatial.repair import _Choice

LEAST = 3
RULE = dk.rules.MinimumFrequency(LEAST)


def hide(case, hidden):
    """The case where these areas are one, as totals tell them."""
    for at, name in enumerate(case.by):
        out = set(hidden.get(name, ()))
        case.codes[at] = ["" if code in out else code for code in case.codes[at]]
    return case


def alone(case):
    return [t for t in case.sums() if t.min() >= 0 and 0 < t.sum() < LEAST]


def fewest(seed, new):
    """By trying all sets of areas, small ones first; None: none is enough."""
    case = many(seed)
    areas = [(name, code) for name in new for code in sorted({*case.codes[case.by.index(name)]})]
    for number in range(len(areas) + 1):
        for out in combinations(areas, number):
            hidden = {name: [code for own, code in out if own == name] for name in new}
            if not alone(hide(many(seed), hidden)):
                return number
    return None


def parts(case):
    """How many parts without common pieces a map has."""
    label = {(at, code): {(at, code)} for at, codes in enumerate(case.codes) for code in codes}
    for one in zip(*case.codes, strict=True):
        together = set.union(*(label[place] for place in enumerate(one)))
        label |= dict.fromkeys(together, together)
    return len({id(own) for own in label.values()})


def check(seed, new):
    case = many(seed)
    try:
        found = repair(case.frame, case.by, RULE, new=new)
    except ProtectionError:
        # sums across parts of a map without common pieces are refused where both may hide areas
        assert fewest(seed, new) is None or (len(new) > 1 and parts(case) > 1)
        return
    assert found.number == fewest(seed, new)
    if not found.fewest:  # or they are hidden, and that it is the least is not said
        assert found.bound == 0 and len(new) > 1 and parts(case) > 1
    assert not len(found.left) and found.left.complete
    assert not alone(hide(case, found.hidden))


@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_as_few_areas_are_hidden_as_brute_force_finds(new):
    for seed in range(scaled(60)):
        check(seed, new)


@pytest.mark.slow
@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_five_thousand_repairs_hide_the_fewest(new):
    for seed in range(5_000):
        check(seed, new)


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
    monkeypatch.setattr(_Choice, "made", lambda self: self.fixed)
    with pytest.raises(ProtectionError, match="no areas were found"):
        repair(case.frame, case.by, RULE)
