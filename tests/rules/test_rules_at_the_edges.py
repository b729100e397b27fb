"""Rules at their edges: just on the bound, the largest numbers, and what noise must do."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.rules import (
    Dominance,
    GroupDisclosure,
    MarginalValue,
    MinimumFrequency,
    PPercent,
    Request,
)
from diskret.rules.contributions import compared, contributors
from diskret.rules.percentages import LARGEST, ceil_divide, linear, percent_of, percentage
from diskret.tables import Table


def firms(*values, **marks):
    """One cell, a firm a record."""
    columns = {"c": ["1"] * len(values), "v": list(values), "firm": list(range(len(values)))}
    return pa.table(columns | marks)


def tabulated(*values, marks=None, **options):
    return dk.tabulate(firms(*values, **(marks or {})), by={"c": None}, value="v", **options)


# ── what noise must do ──────────────────────────────────────────────────────────────


def test_noise_lowers_a_sum_by_twice_what_estimators_do_not_know():
    found = PPercent(10)(tabulated(100, 40, 5, 3))
    assert found.upper[1] == 2, "10 are asked for, 8 are left"
    assert found.noise_above[1] == 2
    assert found.noise_below[1] == 2 + 2 * 8
    found = Dominance(2, 80, quiet=True)(tabulated(100, 40, 5, 3))
    assert found.upper[1] == 175 - 148
    assert found.noise_below[1] == 27 + 2 * 8


def test_of_rules_without_estimators_noise_goes_as_far_down_as_up():
    found = MinimumFrequency(5)(tabulated(100, 40, 5, 3))
    assert found.noise_below[1] == found.noise_above[1] == 15
    assert not MinimumFrequency(4)(tabulated(100, 40, 5, 3)).noise_below.any()


# ── requests ────────────────────────────────────────────────────────────────────────


def test_a_request_needs_the_largest_contribution_only():
    table = tabulated(70, 20, 10, marks={"y": [1, 0, 0]}, request="y", largest=1)
    assert Request(69)(table).unsafe[1] and not Request(70)(table).unsafe[1]


def test_a_request_of_who_is_not_the_largest_counts_below_the_minimum_only():
    table = tabulated(70, 20, 10, marks={"y": [0, 1, 0]}, request="y")
    assert not Request(1)(table).unsafe[1]
    assert not Request(1, minimum=3)(table).unsafe[1]
    assert Request(1, minimum=4)(table).unsafe[1]


def test_where_nobody_asked_no_number_of_contributors_is_too_small():
    table = tabulated(70, 20, marks={"y": [0, 0]}, request="y")
    assert not Request(1, minimum=9)(table).unsafe.any()


def test_against_more_who_pool_the_minimum_of_requests_grows_if_there_is_one():
    assert Request(70, minimum=3).against(3) == Request(70, minimum=5)
    assert Request(70).against(3) == Request(70)


# ── who is counted ──────────────────────────────────────────────────────────────────


def test_what_is_counted_is_named():
    table = Table.from_cells(pa.table({"c": ["1"], "n": [2]}), by={"c": None}, count="n")
    with pytest.raises(InputError, match="of must be 'records', 'units' or 'holdings'"):
        contributors(table, "firms")
    with pytest.raises(InputError, match="does not know its holdings; give holding="):
        MinimumFrequency(3, of="holdings")(table)


def test_counts_that_are_not_exact_are_not_compared():
    cells = pa.table({"c": ["1", "2"], "n": [3, 7], "v": [30, 70]})
    table = Table.from_cells(cells, by={"c": None}, value="v", count="n", count_within=2)
    for rule in (GroupDisclosure(90), MarginalValue()):
        with pytest.raises(InputError, match="to within 2 only"):
            rule(table)
    exact = Table.from_cells(cells.drop_columns("v"), by={"c": None}, count="n")
    assert compared(exact, "a rule").tolist() == [10, 3, 7]


def test_units_are_counted_where_a_value_is_summed_and_records_where_it_is_not():
    frame = pa.table({"c": ["1"] * 4, "v": [5, 5, 5, 5], "firm": [1, 1, 2, 2]})
    sums = dk.tabulate(frame, by={"c": None}, value="v", unit="firm")
    counts = dk.tabulate(frame, by={"c": None}, unit="firm")
    assert contributors(sums, None).tolist() == [2, 2]
    assert contributors(counts, None).tolist() == [4, 4]


def test_who_has_consented_is_not_protected_and_estimates_others():
    def table(*waived):
        marks = {"w": [bool(one) for one in waived]}
        return tabulated(100, 40, 5, 3, marks=marks, waiver="w", largest=4)

    def level(rule, *waived):
        return PPercent(*rule)(table(*waived)).upper[1]

    assert level((10,), 0, 1, 0, 0) == 2, "10 % of 100, less the 8 that neither of two has"
    assert level((10,), 1, 0, 0, 0) == 0 == level((20,), 1, 0, 0, 0), "8 is 20 % of 40"
    assert level((30,), 1, 0, 0, 0) == 4, "30 % of 40, less the 8 that neither 40 nor 100 has"
    assert level((10, 0, 2), 1, 0, 0, 0) == 1, "10 % of 40, less the 3 that none of three has"
    assert level((10, 0, 2), 0, 0, 0, 1) == 7, "10 % of 100, less the same 3"
    assert level((200,), 1, 1, 0, 1) == 0 < level((3000,), 1, 1, 0, 1), "5, and 43 are beside"
    for rule in (PPercent(3000), Dominance(4, 80, quiet=True), MinimumFrequency(5)):
        assert rule(table(1, 1, 1, 0)).unsafe[1] and not rule(table(1, 1, 1, 1)).unsafe[1]


# ── percentages ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("given, share", [(5, "1/20"), (0.1, "1/1000"), ("33.3", "333/1000")])
def test_a_percentage_is_exact(given, share):
    assert percentage(given, "p") == Fraction(share)


def test_percentages_have_a_least_and_a_most():
    assert percentage("1e-10", "p") == Fraction(1, 10**12)
    assert percentage(10**7, "p") == 10**5
    for beyond in ("0.99e-10", 10**7 + 1):
        with pytest.raises(InputError, match="percentage from 1e-10 to 1e"):
            percentage(beyond, "p")
    for none in (0, -1, "x", "1/0"):
        with pytest.raises(InputError, match="must be a number above 0"):
            percentage(none, "p")
    with pytest.raises(InputError) as told:
        percentage("9" * 50, "p")
    assert "not " + "9" * 20 in str(told.value) and "9" * 21 not in str(told.value)


def test_sums_of_multiples_are_exact_on_both_sides_of_64_bits():
    for size in (2**61, 2**62 - 1, 2**62):
        values = np.array([size, -size, 0])
        for factor in (1, -1, 3, 8):
            found = linear([(factor, values), (1, np.array([1, 1, 1]))])
            assert found.tolist() == [factor * size + 1, -factor * size + 1, 1]
    assert linear([(3, np.zeros(0, dtype=np.int64))]).tolist() == []


def test_shares_are_rounded_up_and_none_is_larger_than_a_value_can_be():
    assert percent_of(np.array([0, 1, 10, 11, 20]), 10, "p").tolist() == [0, 1, 1, 2, 2]
    large = np.array([LARGEST - 1], dtype=object)
    assert ceil_divide(large, 1).tolist() == [LARGEST - 1]
    for beyond in (LARGEST, -LARGEST):
        with pytest.raises(InputError, match="larger than any value can be"):
            ceil_divide(np.array([0, beyond], dtype=object), 1)
    with pytest.raises(InputError, match="larger than any value can be"):
        percent_of(np.array([LARGEST // 2]), 200, "p")
    assert ceil_divide(np.zeros(0, dtype=object), 1).tolist() == []
    assert ceil_divide(large, 1).dtype == np.int64
