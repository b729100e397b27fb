"""Rests beside filters that only a contributor could compute."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.protect import insiders
from diskret.protect.insider_rests import CountedRests
from diskret.protect.known_contributions import _Apart


def released(firms, filtered=5, **more):
    """All firms by region, and those with few staff: the codes that each table hides."""
    region, staff, sales = zip(*firms, strict=True)
    records = pa.table(
        {"region": region, "staff": staff, "sales": sales, "firm": range(len(firms))}
    )
    of = {"by": {"region": None}, "value": "sales", "unit": "firm", "contributions": True}
    of |= {"largest": 5}
    every = dk.tabulate(records, **of)
    small = dk.tabulate(records, **of, where={"staff": {"max": filtered}})
    results = dk.suppress(
        [every, small], dk.rules.MinimumFrequency(3), name=["every", "small"],
        attacker=dk.Attacker(contributor=True), **more,
    )  # fmt: skip
    return [
        {code for code, hidden in zip(codes, one.published.suppressed, strict=True) if hidden}
        for one in results
        for codes in [one.published.dimensions[0].hierarchy.codes]
    ]


# the only firm in S takes itself out of N and S together; in N two large firms stand beside four
# small ones that the filter lets through
ALONE = [
    *[("N", 1, 10)] * 4, *[("N", 9, 50)] * 2, ("S", 9, 30),
    *[("W", 1, 100)] * 4, *[("W", 9, 900)] * 4,
]  # fmt: skip


@pytest.mark.parametrize("least", [100, -100], ids=["nonnegative", "signed"])
def test_a_firm_that_computes_a_hidden_cell_does_not_compute_its_rest(least):
    firms = [*ALONE, ("W", 1, least)]
    every, small = released(firms)
    assert {"N", "S", "W"} <= every or "N" in small


@pytest.mark.parametrize("least", [100, -100], ids=["nonnegative", "signed"])
def test_without_rests_among_the_targets_it_does(monkeypatch, least):
    """The test itself is able to fail."""
    monkeypatch.setattr(insiders.InsiderJudge, "rests", lambda *_: [])
    assert released([*ALONE, ("W", 1, least)]) == [{"N", "S"}, set()]


def test_a_rest_with_enough_firms_hides_nothing():
    firms = [*ALONE, ("N", 9, 20)]
    assert released(firms) == [{"N", "S"}, set()]


def women_beside_men():
    """Men by age and staff, and of those of some ages women and men: what both tables show."""
    people = pa.table({"sex": list("fmmmm"), "age": list("uuxwu"), "staff": [1, 4, 1, 5, 5]})
    staff, age = dk.Hierarchy.flat(map(str, range(1, 9))), dk.Hierarchy.flat(list("uvwx"))
    men = dk.tabulate(people, by={"staff": staff, "age": age}, where={"sex": "m"})
    some = dk.tabulate(people, by={"sex": None}, where={"age": ["u", "x"], "staff": {"max": 6}})
    results = dk.suppress(
        [men, some], dk.rules.MinimumFrequency(3), name=["men", "some"], method="modular",
        attacker=dk.Attacker(contributor=True),
    )  # fmt: skip
    return [dict(zip(*of.values(), strict=True)) for of in map(by_code, results)]


def by_code(result):
    columns = result.public.to_pydict()
    codes = list(zip(*(columns[d.name] for d in result.published.dimensions), strict=True))
    return {"code": codes, "value": columns["count"]}


def alone_she_computes_a_man(men, some):
    """The only woman takes herself out of all: the men of u and x. What is left of men is in w."""
    women, all_of_some, all_men = some["f",], some["Total",], men["Total", "Total"]
    return women is None and None not in (all_of_some, all_men) and men["Total", "w"] is None


def test_who_is_in_another_category_is_owed_what_others_have():
    assert not alone_she_computes_a_man(*women_beside_men())


def test_if_nobody_looks_at_categories_she_computes_it(monkeypatch):
    """The test itself is able to fail."""
    monkeypatch.setattr(_Apart, "from_cells", lambda self, who, cell: cell < 0)
    assert alone_she_computes_a_man(*women_beside_men())


def men_by_age_and_few_staff_by_sex():
    """All men by age, and who has few staff by sex: 3 men and a woman; 2 men have more staff."""
    people = pa.table(
        {"sex": list("mfmmfmm"), "age": list("xxvwwvx"), "staff": [1, 6, 1, 1, 1, 5, 5]}
    )
    age, sex = dk.Hierarchy.flat(list("uvwx")), dk.Hierarchy.flat(list("fm"))
    men = dk.tabulate(people, by={"age": age}, where={"sex": "m"})
    few = dk.tabulate(people, by={"sex": sex}, where={"staff": {"max": 4}})
    results = dk.suppress(
        [men, few], dk.rules.MinimumFrequency(3), name=["men", "few"], method="modular",
        attacker=dk.Attacker(contributor=True),
    )  # fmt: skip
    return [dict(zip(*of.values(), strict=True)) for of in map(by_code, results)]


def she_computes_who_is_left(men, few):
    """The only woman takes herself out of those with few staff: the men of these, then the rest."""
    return few["f",] is None and None not in (men["Total",], few["Total",])


def test_who_is_in_another_category_computes_no_rest_of_counts():
    assert not she_computes_who_is_left(*men_by_age_and_few_staff_by_sex())


def test_if_she_might_be_in_that_category_she_computes_it(monkeypatch):
    """The test itself is able to fail."""
    level = CountedRests.level
    monkeypatch.setattr(
        CountedRests,
        "level",
        lambda self, at, who, nowhere: level(self, at, who, np.zeros_like(nowhere)),
    )
    assert she_computes_who_is_left(*men_by_age_and_few_staff_by_sex())
