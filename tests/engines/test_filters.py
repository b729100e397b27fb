"""A filter is understood one way, however it is written."""

from decimal import Decimal

import pytest

from diskret.engines import Bounds
from diskret.engines.filters import canonical, disjoint, told
from diskret.errors import InputError


def test_equal_filters_are_equal_values():
    one = canonical({"size": ["2", "1", 1], "year": 2025, "v": {"min": 10, "max": None}})
    other = canonical({"v": {"min": "10.0"}, "year": " 2025 ", "size": ("1", "2")})
    assert one == other and hash(one) == hash(other)
    assert one == (
        ("size", ("1", "2")),
        ("v", Bounds(Decimal(10), None)),
        ("year", ("2025",)),
    )
    assert canonical(dict(one)) == one
    assert canonical(None) == canonical({}) == ()
    assert canonical({"size": "1"}) != canonical({"size": "2"})


def test_a_filter_is_told_in_words():
    where = canonical({"v": {"min": 1, "max": "2.5"}, "w": {"max": 10**19}, "c": ["b", "a"]})
    assert told(where) == "c = a or b, v 1 to 2.5, w ≤ 10000000000000000000"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (None, "None is no code for column 'c'"),
        (1.5, "1.5 is no code"),
        (["a", ""], "'' is no code"),
        ([], "no code is given for column 'c'"),
        ({}, "at least one"),
        ({"min": None}, "at least one"),
        ({"low": 1, "min": 0}, "bounds of column 'c' are"),
        ({"min": 2, "max": 1}, "both ≥ 2 and ≤ 1"),
        ({"min": True}, "the bound True"),
        ({"max": "1,5"}, "the bound '1,5'"),
        ({"max": float("inf")}, "the bound inf"),
        ({"max": 10**20}, "below 10\\^20"),
        ({"max": "1e-19"}, "18 decimals"),
    ],
)
def test_what_is_no_filter_is_refused(asked, why):
    with pytest.raises(InputError, match=f"where=: .*{why}"):
        canonical({"c": asked})
    with pytest.raises(InputError, match="where= must be"):
        canonical("year")  # pyright: ignore[reportArgumentType]


def test_filters_for_different_codes_of_a_column_are_disjoint():
    one = canonical({"year": ["2024", "2025"], "v": {"min": 5}})
    assert disjoint(one, canonical({"year": "2023"}))
    assert not disjoint(one, canonical({"year": ["2023", "2024"]}))
    assert not disjoint(one, canonical({"size": "1"}))
    assert not disjoint(one, canonical({"v": {"max": 1}}))
    assert not disjoint((), ())
