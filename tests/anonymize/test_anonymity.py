"""`Microdata.anonymity`: figures in the caller's kind, agreed with by the independent check."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import DiskretError, Hierarchy, Microdata, claims
from diskret.attack.microdata import certify
from diskret.errors import ProofError

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
# in four keys; relat has gaps, and the households' expenditure is numeric
SOME = ["urbrur", "walls", "relat", "sex"]
SENSITIVE = ["roof", "hhcivil", "expend"]
PERSONS = {
    "age": ["20-29", "20-29", "20-29", "30-39", "30-39", "30-39"],
    "illness": ["flu", "flu", "cold", "flu", None, "cold"],
    "pay": [1.5, 2.5, 2.5, 4.0, float("nan"), 1.5],
}


@pytest.fixture(scope="module")
def testdata(reference_data):
    return csv.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")


@pytest.fixture(scope="module")
def gaps(testdata):
    hidden = np.random.default_rng(1).random(testdata.num_rows) < 0.05
    values = pa.array(testdata["relat"].to_numpy(), mask=hidden)
    return testdata.set_column(testdata.schema.get_field_index("relat"), "relat", values)


def test_records_below_k_are_those_of_the_reference(testdata):
    found = Microdata(testdata, keys=KEYS).anonymity()
    assert (found.k, found.below(2), found.below(3), found.below(5)) == (1, 157, 281, 458)
    assert found.share_below(2) == 157 / 4580
    assert found.records.column_names == ["frequency"]
    with pytest.raises(DiskretError, match="no sensitive variable is named"):
        _ = found.diversity


@pytest.mark.parametrize("missing", ["wildcard", "category", "conservative"])
def test_the_independent_check_finds_the_same_limits(gaps, missing):
    md = Microdata(gaps, keys=SOME, sensitive=SENSITIVE)
    found = md.anonymity(missing, ordered=["hhcivil"])
    table = gaps.select([*SOME, *SENSITIVE])

    def holds(claim):
        try:
            certify("persons", table, SOME, claim)
        except ProofError:
            return False
        return True

    assert found.k == 1 or holds(claims.KAnonymity(found.k, missing=missing))
    assert not holds(claims.KAnonymity(found.k + 1, missing=missing))
    for shown in found.variables:
        own = {"sensitive": shown.name, "missing": missing}
        limits = {figure: shown.worst(figure) for figure in shown.records}
        near, more = 1 - 1e-6, 1 + 1e-6
        least, distance = int(limits["distinct"]), limits["closeness"]
        assert holds(claims.LDiversity(least, **own))
        assert not holds(claims.LDiversity(least + 1, **own))
        assert holds(claims.LDiversity(max(limits["entropy"] * near, 1), kind="entropy", **own))
        assert not holds(claims.LDiversity(limits["entropy"] * more, kind="entropy", **own))
        far = {"ordered": shown.scale == "ordered", **own}
        assert holds(claims.TCloseness(min(distance * more, 1.0), **far))
        assert not holds(claims.TCloseness(distance * near, **far))
        beta = limits["beta"]
        assert holds(claims.BetaLikeness(beta * more, enhanced=False, **own))
        assert not holds(claims.BetaLikeness(beta * near, enhanced=False, **own))
        # too few distinct values for any c, or a value that is absent somewhere
        if np.isfinite(limits["recursive"]):
            c = limits["recursive"]
            assert holds(claims.LDiversity(2, kind="recursive", c=c * more, **own))
            assert not holds(claims.LDiversity(2, kind="recursive", c=c, **own))
        else:
            assert not holds(claims.LDiversity(2, kind="recursive", c=1e9, **own))
        assert holds(claims.DeltaDisclosure(1e9, **own)) == np.isfinite(limits["delta"])
        assert shown.worst("multi_distinct") <= least
    # with two sensitive variables, for an attacker who knows the other one
    two = Microdata(gaps, keys=SOME, sensitive=SENSITIVE[:2]).anonymity(missing)
    least = min(int(one.worst("multi_distinct")) for one in two.variables)
    both = {"sensitive": SENSITIVE[:2], "others_known": True, "missing": missing}
    assert holds(claims.LDiversity(least, **both))
    assert not holds(claims.LDiversity(least + 1, **both))


def test_limits_of_shares_agree_with_the_check_where_values_are_few():
    rng = np.random.default_rng(2)
    table = pa.table({"key": rng.integers(0, 4, 400), "value": rng.integers(0, 3, 400)})
    found = Microdata(table, keys=["key"], sensitive=["value"]).anonymity()

    def holds(claim):
        try:
            certify("t", table, ["key"], claim, sensitive=["value"])
        except ProofError:
            return False
        return True

    assert np.isfinite(found.delta) and np.isfinite(found.enhanced_beta)
    for make, limit in (
        (claims.DeltaDisclosure, found.delta),
        (claims.BetaLikeness, found.enhanced_beta),
        (lambda a: claims.AlphaK(a, found.k), found.alpha),
    ):
        assert holds(make(limit * (1 + 1e-6))) and not holds(make(limit * (1 - 1e-6)))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_the_callers_kind_and_say_how_missing_values_count(kind):
    given = kind(PERSONS)
    found = Microdata(given, keys=["age"], sensitive=["illness", "pay"]).anonymity()
    assert isinstance(found.records, type(given)) and isinstance(found.sensitive, type(given))
    # a missing illness is a value of its own, NaN too
    assert [one.gaps for one in found.variables] == [1, 1]
    distinct = found.records["illness_distinct"]
    assert (distinct.to_pylist() if kind is pa.table else list(distinct)) == [2, 2, 2, 3, 3, 3]
    assert [one.scale for one in found.variables] == ["nominal", "ordered"]
    assert (found.k, found.diversity, found.alpha) == (3, 2, 2 / 3)
    assert found.closeness == pytest.approx(max(one.worst("closeness") for one in found.variables))
    assert repr(found).startswith("Anonymity(6 records; keys: age; k = 3; illness: 2 distinct")


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_minus_zero_is_no_step_of_a_line(zero):
    """In "a" one of four moves by one of two steps to where "b" and the file have it."""
    table = pa.table({"k": ["a"] * 4 + ["b"] * 4, "x": [0.0, zero, 1, 2, 0, 1, 1, 2]})
    md = Microdata(table, keys=["k"], sensitive=["x"])
    assert md.anonymity(ordered="x").closeness == 1 / 16


def test_an_order_is_that_of_the_caller():
    table = {"key": ["a"] * 2 + ["b"] * 2, "level": ["low", "mid", "mid", "high"]}
    md = Microdata(pa.table(table), keys=["key"], sensitive=["level"])
    assert md.anonymity().closeness == pytest.approx(0.25)
    with pytest.raises(DiskretError, match="no order of its own"):
        md.anonymity(ordered="level")  # high stands between low and mid in the alphabet
    found = md.anonymity(ordered={"level": ["low", "mid", "high"]})
    assert found.closeness == pytest.approx(0.25)


def test_values_in_a_tree_are_as_far_as_their_common_code_is_high():
    tree = Hierarchy.from_prefix(["11", "12", "21", "3"], (1, 1))
    table = {"key": ["a", "a", "b", "b", "c"], "nace": ["11", "12", "21", "3", None]}
    md = Microdata(pa.table(table), keys=["key"], sensitive=["nace"])
    found = md.anonymity(trees={"nace": tree})
    # (11, 12) of five values: 3/5 each leave a division, nothing moves within one
    assert found.records["nace_closeness"].to_pylist() == pytest.approx([0.6, 0.6, 0.6, 0.6, 0.8])
    assert found.variables[0].scale == "tree"
    table["nace"][0] = "12"  # half of the shortest way more
    md = Microdata(pa.table(table), keys=["key"], sensitive=["nace"])
    assert md.anonymity(trees={"nace": tree}).variables[0].records["closeness"][0] == (
        pytest.approx(0.6)
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sensitive": ["age"]}, "'age' is a key and sensitive"),
        ({"ordered": ["weight"]}, "'weight', which is not sensitive"),
        ({"ordered": {"illness": ["flu"]}}, "'cold' of 'illness' does not stand in its order"),
        ({"trees": {"illness": Hierarchy.flat(["flu"])}}, "not in its tree in trees=: 'cold'"),
        ({"missing": "any"}, "missing= must be"),
        ({"sensitive": ["town"]}, "no column 'town'"),
    ],
)
def test_mistakes_are_said(given, message):
    md = Microdata(pa.table(PERSONS), keys=["age"], sensitive=["illness"])
    with pytest.raises(DiskretError, match=message):
        md.anonymity(**given)
