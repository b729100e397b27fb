"""Missing keys that another column of the released file tells, as its reader sees them."""

from __future__ import annotations

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


def test_what_readers_fill_in_makes_up_no_numbers() -> None:
    frame = pd.DataFrame({"town": ["A", "A", None] + ["B"] * 30 + ["C"] * 30})
    frame["name"] = ["a"] * 3 + ["b"] * 30 + ["c"] * 30
    claim = dk.claims.KAnonymity(3, missing="category")
    file = Leaving("f", to_arrow(frame)[0], ("town",))
    assert file.told("town").by == ("name",)  # who fills in sees three of A, but two are shown
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


def test_what_goes_together_by_chance_tells_nothing() -> None:
    draw = np.random.default_rng(4)
    for _ in range(40):
        key = draw.integers(0, 3, 12).astype(float)
        key[0] = np.nan
        frame = pd.DataFrame({"key": key, "other": draw.integers(0, 9, 12), "id": range(12)})
        file = Leaving("f", to_arrow(frame)[0], ("key",))
        assert file.told("key").by == ()
