"""What a peer's models of anonymity get wrong, and what is promised here instead."""

import numpy as np
import pyarrow as pa
import pytest

from diskret import Microdata

TABLE = {
    "region": ["N", "N", "N", "N", "S", "S"],
    "illness": ["flu", "flu", "cold", "gout", "flu", "cold"],
    "degree": ["mild", "severe", "mild", "mild", "mild", "mild"],
}


def test_defect_5_multi_attribute_diversity_is_that_of_who_knows_the_others():
    # a peer reports 0 for every record, because a counter is never set
    md = Microdata(pa.table(TABLE), keys=["region"], sensitive=["illness", "degree"])
    found = md.anonymity().records
    assert found["illness_multi_distinct"].to_pylist() == [3, 1, 3, 3, 2, 2]
    assert found["degree_multi_distinct"].to_pylist() == [2, 2, 1, 1, 1, 1]
    assert found["illness_multi_entropy"].to_pylist() == pytest.approx([3, 1, 3, 3, 2, 2])


def test_more_than_five_sensitive_variables_are_judged():
    # a peer takes five at most
    names = [f"s{i}" for i in range(8)]
    table = pa.table({"region": TABLE["region"], **{name: TABLE["illness"] for name in names}})
    found = Microdata(table, keys=["region"], sensitive=names).anonymity()
    assert found.sensitive["distinct"].to_pylist() == [2] * 8


def test_missing_keys_do_not_make_a_class_of_their_own_unless_asked_for():
    # a peer's diversity with missing keys was asked about in its issue 363
    table = pa.table({**TABLE, "region": ["N", "N", None, "N", "S", "S"]})
    md = Microdata(table, keys=["region"], sensitive=["illness"])
    by_missing = {
        missing: md.anonymity(missing).records["illness_distinct"].to_pylist()
        for missing in ("wildcard", "category", "conservative")
    }
    # who misses the region may be anybody; its cold is seen in the north and in the south
    assert by_missing["wildcard"] == [3, 3, 3, 3, 2, 2]
    assert by_missing["category"] == [2, 2, 1, 2, 2, 2]
    assert by_missing["conservative"] == [2, 2, 1, 2, 2, 2]


def test_a_missing_sensitive_value_is_a_value_and_minus_999_is_none():
    # a peer takes -999 for missing
    table = pa.table({"region": ["N"] * 3, "illness": pa.array([-999, None, None])})
    (shown,) = Microdata(table, keys=["region"], sensitive=["illness"]).anonymity().variables
    assert (shown.values, shown.gaps, shown.worst("distinct")) == (2, 2, 2)


def test_text_keys_are_compared_as_they_are():
    # a peer turns text into missing values with a warning, and then everything agrees
    md = Microdata(pa.table(TABLE), keys=["region"], sensitive=["illness"])
    assert md.anonymity().records["frequency"].to_pylist() == [4, 4, 4, 4, 2, 2]


def test_row_order_changes_no_figure():
    order = np.random.default_rng(7).permutation(6)
    table = pa.table({**TABLE, "region": ["N", "N", None, "N", "S", "S"]})
    found, shuffled = (
        Microdata(own, keys=["region"], sensitive=["illness", "degree"]).anonymity().records
        for own in (table, table.take(order))
    )
    assert shuffled.equals(found.take(order))
