"""What a suppressed value costs."""

import pytest

from diskret import DiskretError
from diskret.microdata.suppression import prices


def test_the_fewer_distinct_values_the_more_a_key_is_spared():
    sex, age, region = prices(["sex", "age", "region"], [2, 90, 16])
    assert sex > region > age > 1 and sex < 1.001


def test_importance_is_an_order_or_ranks():
    order = prices(["a", "b", "c"], [2, 2, 2], ["c", "a", "b"])
    assert order[2] > order[0] > order[1]
    assert prices(["a", "b", "c"], [2, 2, 2], {"c": 1, "a": 4, "b": 5}).tolist() == order.tolist()
    first, second = prices(["a", "b"], [2, 9], {"a": 1, "b": 1})
    assert first == second


def test_keys_without_a_rank_come_after_those_that_have_one():
    a, b, c = prices(["a", "b", "c"], [2, 9, 5], ["b"])
    assert b > a > c
    assert (
        prices(["a", "b"], [2, 9], {"b": 3}).tolist()
        == prices(["a", "b"], [2, 9], ["b", "a"]).tolist()
    )


def test_costs_weigh_more_than_importance():
    a, b = prices(["a", "b"], [2, 9], ["a", "b"], {"a": 0.5, "b": 0.6})
    assert b > a


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"importance": ["a", "b", "a"]}, "names a key twice"),
        ({"importance": ["a", "b", "x"]}, "importance= names 'x', which is no key"),
        ({"costs": {"x": 1}}, "costs= names 'x', which is no key"),
        ({"costs": {"a": 0.0}}, "'a' cannot cost 0.0"),
        ({"keep": ["x"]}, "keep= names 'x'"),
    ],
)
def test_names_and_costs_are_checked(arguments, message):
    with pytest.raises(DiskretError, match=message):
        prices(["a", "b"], [2, 3], **arguments)
