"""Series by old and new areas: each period is looked at, and as few areas hidden as can be."""

from functools import partial
from importlib import import_module
from itertools import combinations

import pyarrow as pa
import pytest
from geographies_oracle import many
from profiles import scaled
from test_repair import LEAST, RULE, alone, fewest, hide

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.spatial import (
    differences,
    differences_by_period,
    repair_by_period,
)
from diskret.spatial import (
    fewest as programme,
)

BY = ["g0", "g1"]
YEARS = {"2024": 0, "2025": 20_000, "2026": 40_000}


def of_years(seed):
    """Period → a case, all with areas of the same codes but other records, and all records."""
    cases = {year: partial(many, seed + more) for year, more in YEARS.items()}
    frames = [
        made().frame.select(BY).append_column("year", pa.array([year] * made().frame.num_rows))
        for year, made in cases.items()
    ]
    return cases, pa.concat_tables(frames)


def fewest_in_all(cases, new):
    """By trying all sets of areas in all periods at once; None: none is enough."""
    areas = sorted(
        {
            (name, code)
            for made in cases.values()
            for name in new
            for code in made().codes[BY.index(name)]
        }
    )
    for number in range(len(areas) + 1):
        for out in combinations(areas, number):
            hidden = {name: [code for own, code in out if own == name] for name in new}
            if not any(alone(hide(made(), hidden)) for made in cases.values()):
                return number
    return None


def check(seed, new):
    cases, frame = of_years(seed)
    own = [fewest(made, new) for made in cases.values()]
    least = [number for number in own if number is not None]
    try:
        same = repair_by_period(frame, BY, RULE, period="year", new=new)
    except ProtectionError:
        assert fewest_in_all(cases, new) is None
        assert len(least) < len(own)
        return False
    assert same.fewest and same.number == fewest_in_all(cases, new)
    each = repair_by_period(frame, BY, RULE, period="year", new=new, same=False)
    assert each.fewest and each.number == sum(least) and len(least) == len(own)
    for found in (same, each):
        for year, made in cases.items():
            assert not alone(hide(made(), found.periods[year].hidden))
            assert not len(found.periods[year].left)
    assert len({repr(one.hidden) for one in same.periods.values()}) == 1
    return same.number > 0


@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_over_all_periods_as_few_areas_are_hidden_as_brute_force_finds(new):
    assert any([check(seed, new) for seed in range(scaled(100))])


@pytest.mark.slow
@pytest.mark.parametrize("new", [["g1"], ["g0", "g1"]], ids=["new", "both"])
def test_five_hundred_series_hide_the_fewest(new):
    for seed in range(500):
        check(seed, new)


def test_each_period_tells_what_its_records_tell():
    for seed in range(scaled(100)):
        cases, frame = of_years(seed)
        told = differences_by_period(frame, BY, RULE, period="year")
        assert list(told) == list(cases)
        for year, made in cases.items():
            alone_there = differences(made().frame, BY, RULE)
            assert {str(one) for one in told[year]} == {str(one) for one in alone_there}


#: Three persons moved with the border in the first year, none of them in the second.
REFORM = pa.table(
    {
        "year": ["2024"] * 5 + ["2025"] * 5,
        "1990": ["A", "A", "B", "C", "D"] * 2,
        "2020": ["A", "B", "B", "C", "D"] * 2,
        "persons": [97, LEAST - 1, 50, 80, 60, 95, 8, 52, 82, 2],
    }
)


def test_what_is_hidden_in_one_year_is_hidden_in_all():
    asked = {"period": "year", "count": "persons", "new": ["1990", "2020"]}
    same = repair_by_period(REFORM, ["1990", "2020"], RULE, **asked)
    each = repair_by_period(REFORM, ["1990", "2020"], RULE, **asked, same=False)
    assert same.periods["2024"].hidden == same.periods["2025"].hidden
    assert each.periods["2024"].hidden != each.periods["2025"].hidden
    assert "in each of 2 periods" in str(same) and "No fewer are enough" in str(same)
    assert "in 2 periods together" in str(each)
    assert "in jedem von 2 Zeiträumen" in same.summary("de")
    hidden = {"2020": ["C", "D"]}
    told = differences_by_period(
        REFORM, ["1990", "2020"], RULE, period="year", count="persons", hidden=hidden
    )
    assert not [one for one in told["2025"] if ("2020", "D") in one.areas]


def test_a_period_that_is_left_out_is_found_out(monkeypatch):
    whole = programme.fewest
    module = import_module("diskret.spatial.repair")
    monkeypatch.setattr(module, "fewest", lambda choices: whole(choices[:1]))
    with pytest.raises((ProtectionError, AssertionError)):
        for seed in range(20):
            check(seed, ["g0", "g1"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"by": ["1990"]}, "two columns"),
        ({"period": "2020"}, "period= names '2020'"),
        ({"period": "month"}, "no column 'month'"),
        ({"new": ["2011"]}, "new= names '2011'"),
    ],
)
def test_what_cannot_be_asked_of_periods_is_refused(change, said):
    asked = {"by": ["1990", "2020"], "rule": RULE, "period": "year"} | change
    with pytest.raises(InputError, match=said):
        repair_by_period(REFORM, **asked)


def test_values_of_firms_are_looked_at_in_each_period():
    firms = pa.table(
        {
            "year": ["1"] * 5 + ["2"] * 5,
            "old": ["A", "A", "A", "B", "B"] * 2,
            "new": ["A", "A", "B", "B", "B"] * 2,
            "value": [50, 60, 900, 40, 50, 50, 60, 7, 40, 500],
            "firm": [*"abcdeabcde"],
        }
    )
    asked = {"period": "year", "value": "value", "unit": "firm"}
    told = differences_by_period(firms, ["old", "new"], dk.rules.PPercent(5), **asked)
    for year, at in (("1", 0), ("2", 5)):
        own = differences(
            firms.slice(at, 5), ["old", "new"], dk.rules.PPercent(5), value="value", unit="firm"
        )
        assert [str(one) for one in told[year]] == [str(one) for one in own]
    assert told["1"].found and told["1"].of_sums
