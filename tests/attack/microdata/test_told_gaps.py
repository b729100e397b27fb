"""Missing keys that another column of the released file tells, as its reader sees them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

import diskret as dk
from diskret.attack.microdata.check import check
from diskret.attack.microdata.leaving import Leaving
from diskret.errors import ProofError
from diskret.io import to_arrow

KEYS = dk.SecretKeys(bytes(range(32)))
K3 = dk.claims.KAnonymity(3)


def persons() -> pd.DataFrame:
    """56 persons of three towns and both sexes; in one town one woman is the only one."""
    cells = [*product(["A", "B", "C"], ["f", "m"])]
    rows = [cell for cell in cells for _ in range(1 if cell == ("C", "f") else 11)]
    frame = pd.DataFrame(rows, columns=["town", "sex"])
    return frame.assign(name="town of " + frame.town, ill=["x", "y"] * 28)


def fewest(file: pd.DataFrame, keys: list[str]) -> int:
    """How many records the fewest agree with, missing ones with all: pair by pair."""
    values = file[keys].astype(object).where(file[keys].notna(), None).to_numpy()
    agree = [
        sum(
            all(None in (a, b) or a == b for a, b in zip(one, other, strict=True))
            for other in values
        )
        for one in values
    ]
    return min(agree)


def told_by(file: pd.DataFrame, key: str, column: str) -> pd.DataFrame:
    """What an intruder makes of the public file: gaps filled in from another column."""
    shown = file.dropna(subset=[key])
    return file.assign(
        **{
            key: file[key].fillna(
                file[column].map(dict(zip(shown[column], shown[key], strict=True)))
            )
        }
    )


def hidden(frame: pd.DataFrame, **roles: object) -> dk.Microdata:
    """The only woman of her town without her town; one woman of another town as well."""
    md = dk.Microdata(frame, keys=["town", "sex"], sensitive=["ill"], **roles)
    return md.local_suppression(3, importance=["sex", "town"])


def test_a_name_beside_a_code_gives_back_what_was_suppressed() -> None:
    md = hidden(persons())
    file = md.frame
    keys = ["town", "sex"]
    assert file.town.isna().any() and fewest(file, keys) >= 3
    assert fewest(told_by(file, "town", "name"), keys) == 1
    with pytest.raises(ProofError, match="missing values of 'town' are unknown, and 'name' tells"):
        md.release(K3, attributes=["name"], keys=KEYS)
    assert md.release(K3, keys=KEYS).certificate.shown["k"] == 3


def test_a_name_whose_code_is_nowhere_shown_tells_a_place_of_its_own() -> None:
    frame = persons()
    frame.loc[frame.town == "C", "town"] = None  # all of a rare town, as suppression does
    keys = ["town", "sex"]
    assert (
        fewest(frame, keys) >= 3
        and fewest(frame.rename(columns={"name": "of"}), ["of", "sex"]) == 1
    )
    with pytest.raises(ProofError, match="missing values of 'town' are unknown, and 'name' tells"):
        dk.Microdata(frame, keys=keys).release(K3, attributes=["name"], keys=KEYS)
    # a household none of whose members shows a town may live in any
    file = Leaving("f", to_arrow(frame.assign(name=np.arange(56) // 2))[0], ("town", "sex"))
    assert (file.told("town").numbers[44:] == -1).all()


def test_a_name_that_follows_its_code_may_leave() -> None:
    md = hidden(persons(), followers={"town": ["name"]})
    released = md.release(K3, columns=["town", "sex", "name"], keys=KEYS)
    assert fewest(told_by(released.public, "town", "name"), ["town", "sex"]) >= 3


@pytest.mark.parametrize("claim", [K3, dk.claims.RiskBelow(0.4), dk.claims.LDiversity(2)])
def test_every_claim_counts_what_readers_fill_in(claim: object) -> None:
    table, _ = to_arrow(hidden(persons()).frame)
    file = Leaving("f", table, ("town", "sex"), ("ill",))
    assert len(check(file, claim).failing)
    naive = Leaving("f", table, ("town", "sex"), ("ill",), filled=False)
    assert not len(check(naive, claim).failing)  # without what the names tell, it seems to hold


def test_the_order_of_the_original_file_tells_where_a_record_belongs() -> None:
    by_town = persons().iloc[[*range(44), *range(45, 51), 44, *range(51, 56)]]
    md = hidden(by_town)
    before, after = md.frame.town.ffill(), md.frame.town.bfill()
    known = md.frame.assign(town=before.where(before == after))
    assert fewest(known, ["town", "sex"]) < 3 <= fewest(md.frame, ["town", "sex"])
    with pytest.raises(ProofError, match="the order of the records tells them"):
        md.release(K3, shuffle=False, keys=KEYS)
    assert md.release(K3, keys=KEYS).certificate


def test_what_follows_from_a_key_limits_what_a_gap_can_be() -> None:
    rows = [*product("AB", "fm"), ("C", "m"), ("D", "m")] * 20 + [("C", "f"), ("D", "f")]
    frame = pd.DataFrame(rows, columns=["town", "sex"])
    true = frame.assign(land=frame.town.map({"A": "1", "B": "1", "C": "2", "D": "2"}))
    gaps = true.assign(town=true.town.where(true.index < 120))  # of the two women of land 2
    keys = ["town", "sex"]
    assert fewest(gaps, [*keys, "land"]) == 2 and fewest(gaps, keys) == 20
    md = dk.Microdata(gaps, keys=keys)
    assert md.release(K3, keys=KEYS).certificate
    with pytest.raises(ProofError, match="'land' tells them, or which are possible"):
        md.release(K3, attributes=["land"], keys=KEYS)
    # one record to the contrary is not alone for that
    typo = gaps.assign(land=gaps.land.where(gaps.index > 0, "2"))
    two = dk.claims.KAnonymity(2)
    assert dk.Microdata(typo, keys=keys).release(two, attributes=["land"], keys=KEYS).certificate
    # of the population two are women of land 2
    for least, holds in ((2, True), (3, False)):
        file = Leaving("f", to_arrow(gaps)[0], ("town", "sex"))
        assert (not len(check(file, dk.claims.KMap(least, true)).failing)) is holds


@pytest.mark.parametrize("form", [float, "{:06.1f} Euro".format])
def test_an_exact_value_tells_its_class(form: Callable[[float], object]) -> None:
    draw = np.random.default_rng(9)
    income = pd.Series(draw.permutation(3_000) * 1.5)
    true = (income // 900).clip(0, 3).astype(str)
    frame = pd.DataFrame({"class": true.where(draw.random(3_000) > 0.02), "sex": income % 2})
    frame["income"] = income.map(form)
    filled, right = rightly_filled(frame, "class", "income", "sex", of=true)
    assert right == filled > 0.9 * frame["class"].isna().sum()  # but for those beside a limit
    frame["income"] = (income + draw.normal(0, 3_000, 3_000)).map(form)
    assert rightly_filled(frame, "class", "income", "sex", of=true) == (0, 0)


@pytest.mark.parametrize("claim", [dk.claims.LDiversity(2), dk.claims.TCloseness(0.7)])
def test_a_sensitive_value_that_is_told_makes_nobody_diverse(claim: object) -> None:
    frame = persons().query("town != 'C'")
    of_a = np.where(frame.sex == "f", "x", "z")  # in town A all of one sex are ill alike
    frame["ill"] = np.where(frame.town == "A", of_a, frame.ill)
    frame["icd"] = "code of " + frame.ill
    frame.loc[frame.index % 11 < 4, "ill"] = None
    md = dk.Microdata(frame, keys=["town", "sex"], sensitive=["ill"])
    assert md.release(claim, keys=KEYS).certificate  # some have perhaps something else
    with pytest.raises(ProofError, match="missing values of 'ill' are unknown, and 'icd' tells"):
        md.release(claim, attributes=["icd"], keys=KEYS)


def test_what_readers_fill_in_makes_up_no_numbers() -> None:
    frame = pd.DataFrame({"town": ["A", "A", None] + ["B"] * 30 + ["C"] * 30})
    frame["name"] = ["a"] * 3 + ["b"] * 30 + ["c"] * 30
    claim = dk.claims.KAnonymity(3, missing="category")
    file = Leaving("f", to_arrow(frame)[0], ("town",))
    assert file.told("town").by == (("name",),)  # who fills in sees three of A, but two are shown
    assert check(file, claim).failing.tolist() == [0, 1, 2]
    with pytest.raises(ProofError, match="agree in town with fewer than 3"):
        dk.Microdata(frame, keys=["town"]).release(claim, attributes=["name"], keys=KEYS)


def test_a_household_tells_where_its_members_live() -> None:
    frame = persons()
    home = np.arange(len(frame)) // 2
    frame["town"] = frame.town.groupby(home).transform("first")
    md = dk.Microdata(frame.assign(home=home), keys=["town", "sex"], household="home")
    file = md.local_suppression(3, importance=["sex", "town"])
    if not file.frame.town.isna().any():
        pytest.fail("nothing was suppressed")
    with pytest.raises(ProofError, match="'home' tells"):
        file.release(K3, household=True, keys=KEYS)


def places(n: int) -> pd.DataFrame:
    """Records of 60 districts; land and number, or name, tell the district, and all lie around."""
    draw = np.random.default_rng(8)
    district = draw.integers(0, 60, n)
    frame = pd.DataFrame({"district": district, "sex": draw.integers(0, 2, n)})
    frame = frame.assign(land=district // 10, number=district % 10, name=district)
    frame["age"] = draw.integers(0, 90, n)
    return frame.astype(object).mask(draw.random(frame.shape) < 0.01, None)


def rightly_filled(frame: pd.DataFrame, key: str, *columns: str, of: pd.Series) -> tuple[int, int]:
    """How many gaps of a key are filled in, and how many of these with the right value."""
    names = [key, *columns]
    file = Leaving("f", to_arrow(frame[names])[0], (key,))
    number, values = file.numbers(key)
    found = file.told(key).numbers
    gaps = np.flatnonzero((number == -1) & (found >= 0))
    filled = [values[one].as_py() if one < len(values) else None for one in found[gaps].tolist()]
    return len(gaps), sum(a == b for a, b in zip(filled, of.iloc[gaps], strict=True))


@pytest.mark.parametrize("n", [3_000, 150_000])  # of many records some decide what is looked at
def test_columns_tell_together_what_none_tells_alone(n: int) -> None:
    frame = places(n)
    true = places(n).name.where(frame.name.notna(), frame.land * 10 + frame.number)
    both = (frame.district.isna() & frame.land.notna() & frame.number.notna()).sum()
    assert rightly_filled(frame, "district", "land", "number", "age", of=true) == (both, both)
    for alone in ("land", "number"):
        assert rightly_filled(frame, "district", alone, "age", "sex", of=true) == (0, 0)


def test_three_columns_tell_together() -> None:
    draw = np.random.default_rng(3)
    digits = draw.integers(0, 4, (3, 2_000))
    key = pd.Series(digits.sum(axis=0) % 4)  # of which two digits say nothing
    frame = pd.DataFrame(digits.T, columns=["a", "b", "c"]).assign(key=key.where(key.index > 9))
    assert rightly_filled(frame, "key", "a", "b", "c", of=key) == (10, 10)


def test_what_was_told_tells_more() -> None:
    frame = places(3_000)
    true = (frame.land * 10 + frame.number) * 2 + frame.sex
    frame["quarter"] = true.where(frame.index > 600)  # told by district and sex
    noise = np.random.default_rng(4).integers(0, 5, (3_000, 9)).T
    names = ["quarter", "district", "land", "number", "sex"]
    frame = frame[names].assign(**{f"x{i}": x for i, x in enumerate(noise)})
    unknown = frame.district.isna()  # only land and number tell it, and four columns are not tried
    file = Leaving("f", to_arrow(frame)[0], ("quarter", "district"))
    number, values = file.numbers("quarter")
    gaps = np.flatnonzero((number == -1) & unknown & true.notna())
    found = values.take(file.told("quarter").numbers[gaps]).to_pylist()
    assert len(gaps) and found == true.iloc[gaps].tolist()
    alone = Leaving("f", file.table, ()).told("quarter")  # who counts again knows no other keys
    assert (alone.numbers == file.told("quarter").numbers).all()


@pytest.mark.parametrize(("wrong", "least", "most"), [(1, 1, 1), (60, 0.9, 1), (400, 0, 0)])
def test_records_to_the_contrary(wrong: int, least: float, most: float) -> None:
    frame = places(3_000)
    true = frame.land * 10 + frame.number
    gaps = (frame.district.isna() & frame.name.notna()).sum()
    shown = frame.index[frame.district.notna()][:: 2_900 // wrong][:wrong]
    frame.loc[shown, "name"] = np.random.default_rng(2).integers(0, 60, wrong)
    filled, _ = rightly_filled(frame, "district", "name", of=true)
    assert least * gaps <= filled <= most * gaps


def test_a_rule_that_shows_only_where_exceptions_were_suppressed_tells_nothing() -> None:
    draw = np.random.default_rng(6)
    child = draw.random(2_000) < 0.3
    status = np.where(child, "single", draw.choice(["single", "married", "widowed"], 2_000))
    status = pd.Series(status).where(draw.random(2_000) > 0.01)  # of them a child who is married
    frame = pd.DataFrame({"status": status, "age": np.where(child, "child", "adult")})
    frame["twin"] = np.arange(2_000) // 2  # too few alike
    assert rightly_filled(frame, "status", "age", "twin", of=status) == (0, 0)


def test_a_rule_that_can_be_tested_on_few_records_tells_nothing() -> None:
    draw = np.random.default_rng(5)
    pairs = np.append(np.repeat(np.arange(60), 2), np.arange(60, 400))  # most are alone
    key = pd.Series(np.append(np.repeat(draw.integers(0, 4, 60), 2), draw.integers(0, 4, 340)))
    frame = pd.DataFrame({"key": key.where(key.index > 2), "weight": pairs})
    assert rightly_filled(frame, "key", "weight", of=key) == (0, 0)


def test_a_place_of_which_two_columns_tell_is_refused() -> None:
    frame = persons().assign(land=lambda f: f.town.map({"A": "1", "B": "1", "C": "2"}))
    frame["part"] = frame.town.map({"A": "x", "B": "y", "C": "y"})
    md = hidden(pd.concat([frame, frame[frame.town != "C"]]))
    with pytest.raises(ProofError, match="and 'land' \\+ 'part' tells them"):
        md.release(K3, attributes=["land", "part"], keys=KEYS)
    assert md.release(K3, attributes=["part"], keys=KEYS).certificate.shown["k"] == 3


def test_gaps_that_agree_with_nothing_need_not_be_filled_in() -> None:
    """A claim that holds where each gap is alone holds where some gaps are filled in."""
    held = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        n = 30
        keys = draw.integers(0, 2, (n, 2)).astype(float)
        known = pd.DataFrame(keys, columns=["a", "b"])
        gaps = draw.random((n, 2)) < draw.choice([0.0, 0.05])
        known["ill"] = draw.integers(0, 3, n)
        frame = known.assign(**known[["a", "b"]].mask(gaps))
        weight = draw.uniform(1, draw.choice([2, 50]), n)
        claims = [
            *(dk.claims.RiskBelow(t, missing="conservative") for t in (0.05, 0.3, 0.9)),
            dk.claims.ExpectedBelow(0.1, missing="conservative"),
            *(dk.claims.KAnonymity(k, missing="conservative") for k in (2, 4)),
            dk.claims.LDiversity(1.2, kind="entropy", missing="conservative"),
            dk.claims.TCloseness(0.7, missing="conservative"),
            dk.claims.AlphaK(0.9, 2, missing="conservative"),
            dk.claims.BetaLikeness(3.0, missing="conservative"),
        ]
        of = [
            Leaving("f", to_arrow(one)[0], ("a", "b"), ("ill",), weight) for one in (frame, known)
        ]
        for claim in claims:
            shown, filled = (len(check(one, claim).failing) for one in of)
            assert shown or not filled, claim
            held += bool(not shown and gaps.any())
    assert held > 40


def test_what_goes_together_by_chance_tells_nothing() -> None:
    draw = np.random.default_rng(4)
    for _ in range(40):
        key = draw.integers(0, 3, 12).astype(float)
        key[0] = np.nan
        frame = pd.DataFrame({"key": key, "other": draw.integers(0, 9, 12), "id": range(12)})
        file = Leaving("f", to_arrow(frame)[0], ("key",))
        assert file.told("key").by == ()
