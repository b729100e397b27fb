"""Household risk against the product over members."""

from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.io import coded
from diskret.risk import household_risk

RISKS = st.one_of(st.sampled_from([0.0, 1.0, 1e-15]), st.floats(0, 1))


def of(ids):
    return coded(pa.chunked_array([ids]), "flat")


@given(st.lists(st.tuples(st.sampled_from(["b", "a", "10", None]), RISKS), min_size=1, max_size=12))
def test_household_risk_is_the_product_over_members(members):
    ids, risks = zip(*members, strict=True)
    found = household_risk(np.array(risks), of(pa.array(ids, pa.string())))
    for i, (own, risk) in enumerate(members):
        joint = 1 - prod(1 - r for h, r in members if h == own) if own is not None else risk
        assert found.records[i] == pytest.approx(joint, abs=1e-12)
    assert found.expected_persons == pytest.approx(found.records.sum())
    assert found.size.sum() == len(members) and len(found.size) == len(found.risk)
    assert len(found.size) == len(set(ids) - {None}) + ids.count(None)


def test_a_member_who_is_recognised_for_certain_makes_it_exactly_one():
    found = household_risk(np.array([0.3, 1.0, 0.3]), of([1, 1, 2]))
    assert found.records.tolist()[:2] == [1.0, 1.0]


def test_tiny_risks_of_many_members_add_up():
    found = household_risk(np.full(100_000, 1e-12), of(np.zeros(100_000, np.int64)))
    assert found.risk[0] == pytest.approx(-np.expm1(-1e-7), rel=1e-9)


def test_unused_categories_are_no_households():
    kept = of(["a", "b", "c"]).without(np.array([False, True, False]))
    found = household_risk(np.array([0.1, 0.2, 0.3]), kept)
    assert found.records.tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert found.size.tolist() == [1, 1, 1]
