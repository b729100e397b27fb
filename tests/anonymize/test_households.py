"""Weights, and other values of households, do not give back who lives together unnoticed."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.anonymize.households import telling
from diskret.errors import InputError

SECRET = dk.SecretKeys(bytes(range(32)))
CLAIM = dk.claims.KAnonymity(3)


def persons(households=1000, seed=1, weight=None):
    """Households of 1 to 4; each with a weight of its own unless others are given."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(households), rng.integers(1, 5, households))
    own = 50 + rng.permutation(households) / 37 if weight is None else weight
    table = pa.table(
        {
            "hid": of,
            "sex": [("f", "m")[at] for at in rng.integers(0, 2, len(of))],
            "w": own[of],
            "rent": (400.0 + rng.permutation(households))[of],
        }
    )
    return dk.Microdata(table, keys=["sex"], weight="w", household="hid", numeric=["rent"])


def given_back(household, values):
    """By hand: households two members of which share a value that nobody else has."""
    found = set()
    for row, (home, value) in enumerate(zip(household, values, strict=True)):
        if value is None:
            continue
        same = {h for h, v in zip(household, values, strict=True) if v == value}
        twin = [r for r in range(len(values)) if r != row and household[r] == home]
        if same == {home} and any(values[r] == value for r in twin):
            found.add(home)
    return len(found)


def test_weights_that_differ_between_all_households_are_refused():
    md = persons()
    several = int((np.bincount(md.table["hid"].to_numpy()) > 1).sum())
    with pytest.raises(
        InputError, match=f"'rent' tells who|'w' tells who .* {several} of {several}"
    ):
        md.release(CLAIM, keys=SECRET)
    with pytest.raises(InputError, match=f"'w' tells who lives together: in {several:,} of"):
        md.release(CLAIM, columns=["sex"], keys=SECRET)
    assert md.release(CLAIM, columns=["sex"], weight=False, keys=SECRET)
    told = md.release(CLAIM, columns=["sex"], tells_household="w", keys=SECRET)
    assert "Records that share a value of w may belong" in " ".join(told.certificate.summary())
    assert md.release(CLAIM, household=True, keys=SECRET)


def test_what_the_message_offers_works_and_keeps_totals():
    md = persons()
    rounded = md.recode("w", width=5).recode("rent", breaks=[0, 900, float("inf")])
    assert rounded.release(CLAIM, columns=["sex"], keys=SECRET)
    assert rounded.weights().sum() == pytest.approx(md.weights().sum(), rel=0.01)
    means = md.microaggregate(["w"], method="individual", k=20)
    assert means.release(CLAIM, columns=["sex"], keys=SECRET)
    assert means.weights().sum() == pytest.approx(md.weights().sum())


def test_the_checklist_has_an_item_for_it():
    def item(md, language="en"):
        return next(
            one for one in md.checklist("factual", language).items if one.name == "together"
        )

    assert item(persons()).state == "missing" and "w, rent" in item(persons()).found
    assert "w" in item(persons(), "de").found
    few = persons(weight=np.repeat([60.0, 80.0], 500)).drop("rent")
    assert item(few).state == "done"


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=20))
def test_households_are_counted_as_by_hand(rows):
    home = [row[0] for row in rows]
    common = dict(rows)  # all members share the value that came last
    values = [None if common[h] == 5 else common[h] for h in home]
    table = pa.table({"hid": home, "v": pa.array(values, pa.int64())})
    found = telling(dk.Microdata(table, household="hid"), ["v"])
    several = {h for h in home if home.count(h) > 1}
    known = sum(common[h] != 5 for h in several)
    expected = given_back(home, values) if several and known >= 0.9 * len(several) else 0
    assert sum(one.households for one in found) == expected


def joined(values):
    return [None if None in row else row for row in zip(*values, strict=True)]


@examples(30)
@given(st.integers(0, 10_000), st.sampled_from([1, 3, 10, 40]), st.integers(2, 3))
def test_columns_together_are_counted_as_by_hand(seed, width, columns):
    """Two or three columns of households that tell little alone may tell everything together."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    names = [f"c{j}" for j in range(columns)]
    drawn = [rng.integers(0, 60, 60) // width * width for _ in names]
    values = {name: own[of].tolist() for name, own in zip(names, drawn, strict=True)}
    md = dk.Microdata(pa.table({"hid": of, **values}), household="hid")
    several = int((np.bincount(of) > 1).sum())
    told = {one.names: one.households for one in telling(md, names)}
    many = [name for name in names if len(set(values[name])) > 20]
    counts = {}
    for size in range(1, columns + 1):
        for chosen in combinations(names, size):
            rows = joined([values[name] for name in chosen])
            counts[chosen] = given_back(of.tolist(), rows)
    for chosen, count in counts.items():
        fewer = [own for own in counts if {*own} < {*chosen}]
        if len(chosen) == 1:
            expected = count
        elif {*chosen} <= {*many} and not any(counts[own] >= several / 10 for own in fewer):
            expected = count if count >= several / 10 else 0
        else:
            expected = 0
        assert told.get(chosen, 0) == expected


def coarse():
    """Weights and rents in steps that many households share; both together nearly none does."""
    md = persons()
    rng = np.random.default_rng(7)
    homes = md.table["hid"].to_numpy()
    rent, w = rng.integers(0, 40, 1000) * 50.0, 50 + rng.integers(0, 40, 1000) * 5.0
    table = md.table.drop_columns(["w", "rent"])
    table = table.append_column("w", pa.array(w[homes]))
    table = table.append_column("rent", pa.array(rent[homes]))
    return dk.Microdata(table, keys=["sex"], weight="w", household="hid", numeric=["rent"])


def test_columns_that_tell_together_are_refused_and_named():
    md = coarse()
    for name in ("w", "rent"):
        assert telling(md, [name]) == ()
    with pytest.raises(InputError, match="'rent', 'w' together tell who lives together"):
        md.release(CLAIM, keys=SECRET)
    with pytest.raises(InputError, match="together tell"):
        md.release(CLAIM, tells_household=["w"], keys=SECRET)
    made = md.release(CLAIM, tells_household=["w", "rent"], keys=SECRET)
    assert "Records that share a value of rent + w may" in " ".join(made.certificate.summary())
    assert md.release(CLAIM, weight=False, keys=SECRET)
    for language in ("en", "de"):
        found = next(i for i in md.checklist("factual", language).items if i.name == "together")
        assert found.state == "missing" and "rent + w" in found.found


def test_variables_of_persons_are_left_alone():
    md = persons(weight=np.full(1000, 60.0))
    ages = pa.array(np.random.default_rng(4).integers(0, 99, md.n))
    table = md.table.drop_columns("rent").append_column("age", ages)
    other = dk.Microdata(table, keys=["sex"], numeric=["age"], weight="w", household="hid")
    assert telling(other, ["age", "w", "sex"]) == ()
    assert telling(persons(), []) == () and telling(dk.Microdata(md.table), ["w"]) == ()
