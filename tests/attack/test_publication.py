"""Tables read side by side: common cells, overlapping groupings, filters, sums, rounding."""

from dataclasses import replace

import numpy as np
import pytest

import diskret as dk
from diskret.attack import cell_name, examine, recheck
from diskret.errors import ContradictionError, HierarchyError, InputError, VerificationError
from diskret.hierarchy.coarser import combine
from diskret.population import Population
from diskret.tables import NO_BOUND, Dimension, MeasureSum, Publication, Published

FINE = dk.Hierarchy.flat(list("abcd"))


def shown(name, tree, value, hidden=(), *, variable="x", **circumstances):
    """A one-way table of counts in which cells at some positions are suppressed."""
    value = np.array(value)
    mask = np.isin(np.arange(len(value)), hidden)
    return Published(
        **{
            "name": name,
            "dimensions": (Dimension(variable, tree),),
            "measure": "count",
            "frequency": True,
            "decimals": 0,
            "value": np.where(mask, 0, value),
            "suppressed": mask,
            "empty": np.zeros(len(value), dtype=bool),
            **circumstances,
            "where": Population.of(circumstances.get("where")),
        }
    )


def grouped(groups):
    return combine(FINE, groups).hierarchy


def bounds(*tables, sums=()):
    found = examine(Publication(tables, sums))
    recheck(Publication(tables, sums), found)
    return list(zip(found.lower.tolist(), found.upper.tolist(), strict=True))


# a = 3, b = 1, c = 2, d = 5
PAIRS = grouped({"ab": ["a", "b"], "cd": ["c", "d"]})
MIDDLE = grouped({"bc": ["b", "c"]})


def test_one_cell_in_two_tables_is_one():
    first = shown("first", FINE, [11, 3, 1, 2, 5], [1, 2])
    second = shown("second", grouped({"bcd": list("bcd")}), [11, 3, 8])
    assert bounds(first) == [(0, 4), (0, 4)]
    assert bounds(first, second) == [(3, 3), (1, 1)]


def test_overlapping_groupings_are_refined_to_atoms():
    """No equation ties ab to a and bc; but ab holds all of a, and b is at most bc = 3."""
    pairs, middle = shown("pairs", PAIRS, [11, 4, 7], [1, 2]), shown("m", MIDDLE, [11, 3, 3, 5])
    assert bounds(pairs) == [(0, 11), (0, 11)]
    assert bounds(pairs, middle) == [(3, 6), (5, 8)]


def test_a_filter_is_part_of_the_whole():
    """Every cell is at least what it is among the women: 2, 1, 1, 2 of 3, 1, 2, 5."""
    everybody = shown("all", FINE, [11, 3, 1, 2, 5], [1, 2, 3])
    women = shown("women", FINE, [6, 2, 1, 1, 2], where={"sex": ("f",)})
    assert bounds(everybody) == [(0, 6)] * 3
    assert bounds(everybody, women) == [(2, 4), (1, 3), (1, 3)]


def test_a_filter_on_a_variable_of_the_other_table_is_a_cell_of_it():
    by_x = shown("by x", FINE, [11, 3, 1, 2, 5], [1, 2])
    of_a = shown(
        "of a", dk.Hierarchy.flat(["m", "f"]), [3, 2, 1], variable="sex", where={"x": ("a",)}
    )
    assert bounds(by_x, of_a) == [(3, 3), (1, 1)]
    of_both = replace(of_a, where=Population.of({"x": ["a", "b"]}), value=np.array([4, 2, 2]))
    assert bounds(by_x, of_both) == [(0, 4), (0, 4)]


def test_measures_that_add_up():
    tree = dk.Hierarchy.flat(["N", "S"])
    money = {"variable": "region", "frequency": False}
    revenue = shown("revenue", tree, [100, 60, 40], measure="revenue", **money)
    domestic = shown("domestic", tree, [70, 45, 25], [1, 2], measure="domestic", **money)
    export = shown("export", tree, [30, 15, 15], measure="export", **money)
    assert bounds(domestic) == [(0, 70), (0, 70)]
    known = MeasureSum.read("revenue = domestic + export")
    assert bounds(revenue, domestic, export, sums=(known,)) == [(45, 45), (25, 25)]


def test_other_vintages_and_measures_say_nothing_of_each_other():
    now = shown("now", FINE, [11, 3, 1, 2, 5], [1, 2], vintage="2025")
    before = shown("before", FINE, [11, 3, 1, 2, 5], vintage="2024")
    other = shown("other", FINE, [11, 3, 1, 2, 5], measure="jobs", vintage="2025")
    assert bounds(now, before) == [(0, 4), (0, 4)]
    assert bounds(now, other) == [(0, 4), (0, 4)]


def test_rounded_values_are_known_to_half_a_unit():
    """12,000 may be 11,500 to 12,500, and the part beside it 7,500 to 8,500."""
    tree = dk.Hierarchy.flat(["N", "S"])
    sales = shown("sales", tree, [12_000, 8_000, 4_000], [2], frequency=False, rounding=1000)
    assert bounds(sales) == [(3_000, 5_000)]
    assert bounds(replace(sales, rounding=1)) == [(4_000, 4_000)]


def test_rounded_totals_may_miss_their_parts_but_not_by_more():
    tree = dk.Hierarchy.flat(["N", "S"])
    assert bounds(shown("t", tree, [14, 8, 4], frequency=False, rounding=2)) == []
    with pytest.raises(ContradictionError):  # the part is more than 7, the total at most 3
        bounds(shown("t", tree, [2, 8, 4], [2], frequency=False, rounding=2))


def test_published_intervals_combine():
    """Each interval alone leaves 0 to 6; together the cells must add up to 9."""
    tree = dk.Hierarchy.flat(["N", "S"])
    low, high = np.array([0, 0, 0]), np.array([0, 6, 5])
    table = shown("t", tree, [9, 5, 4], [1, 2], lower=low, upper=high)
    assert bounds(table) == [(4, 6), (3, 5)]
    open_end = replace(table, upper=np.array([0, NO_BOUND, 5]))
    assert bounds(open_end) == [(4, 9), (0, 5)]


def test_two_values_for_one_cell_are_refused():
    first, second = shown("first", FINE, [11, 3, 1, 2, 5]), shown("second", PAIRS, [12, 4, 8])
    with pytest.raises(ContradictionError, match=r"first: x=Total \(11\) is the same cell as"):
        bounds(first, second)


@pytest.mark.parametrize("name", ["ab", "a", "b", "c", "d"])
def test_the_name_of_a_group_tells_nothing(name):
    """a and b hidden, c and d published: b and c together, under any name, tell them."""
    first = shown("first", FINE, [11, 3, 1, 2, 5], [1, 2])
    # c and d get other names, so that a group may have theirs
    second = shown("second", grouped({name: ["b", "c"], "x": ["a", "d"]}), [11, 8, 3])
    assert bounds(first, second) == [(3, 3), (1, 1)]


def test_a_code_that_could_be_a_part_of_a_group_of_its_name_is_refused():
    """Of files that were tabulated already: is "a" the group of a and b, or a without b?"""
    alone = shown("first", dk.Hierarchy.flat(["a", "c", "d"]), [11, 4, 2, 5], [1, 2])
    named = shown("other", grouped({"a": ["a", "b"]}), [11, 4, 2, 5])
    with pytest.raises(HierarchyError, match="'a'.*codes of their own"):
        bounds(alone, named)
    several = [shown("b", grouped({"e": ["a", "b"]}), [11, 4, 2, 5]) for _ in range(2)]
    several[1] = shown("c", grouped({"e": ["b", "c"]}), [11, 3, 3, 5])
    with pytest.raises(HierarchyError, match="'e'.*codes of their own"):
        bounds(shown("e", dk.Hierarchy.flat(["e", "f"]), [11, 4, 7], [1, 2]), *several)


def test_counts_and_sums_are_attacked_apart():
    sums = shown("sums", FINE, [11, 3, 1, 2, 5], frequency=False, measure="sales")
    with pytest.raises(InputError, match="attack them apart"):
        bounds(shown("counts", FINE, [11, 3, 1, 2, 5], [1, 2]), sums)


def test_a_witness_must_fit_the_unpublished_cells_too():
    tables = Publication(
        (shown("pairs", PAIRS, [11, 4, 7], [1, 2]), shown("m", MIDDLE, [11, 3, 3, 5]))
    )
    found = examine(tables)
    told = found.witnesses
    assert not told.hidden.all()
    forged = told.start.copy()
    forged[0, ~told.hidden] += 1
    with pytest.raises(VerificationError, match="breaks an equation"):
        recheck(tables, replace(found, witnesses=replace(told, start=forged)))
    alone = told.among(np.flatnonzero(told.hidden), told.hidden[told.hidden])
    with pytest.raises(VerificationError, match="unpublished values"):
        recheck(tables, replace(found, witnesses=alone))


def test_cells_are_named_with_their_table():
    tables = Publication((shown("one", FINE, [1] * 5), shown("two", PAIRS, [1] * 3)))
    assert cell_name(tables, 6) == "two: x=ab"
    assert cell_name(tables, 8) == "a cell that is not published"


@pytest.mark.parametrize("text", ["a = b", "a = b + b", "a + b = c", "= b + c", "a b", "a = a + b"])
def test_sums_are_read_strictly(text):
    if text == "a = b":
        assert MeasureSum.read(text) == MeasureSum("a", ("b",))
    elif text == "a + b = c":
        assert MeasureSum.read(text).total == "a + b"
    else:
        with pytest.raises(InputError, match="no sum of measures"):
            MeasureSum.read(text)


# ── more than two tables ────────────────────────────────────────────────────────────

TWO = dk.Hierarchy.flat(["a", "b"])


def test_filters_without_common_records_share_what_there_is():
    """All 10 of a and 8 men there: at most 2 women, whatever other sexes there are."""
    everybody = shown("all", TWO, [20, 10, 10])
    men = shown("men", TWO, [13, 8, 5], where={"sex": ("m",)})
    women = shown("women", TWO, [6, 2, 4], [1, 2], where={"sex": ("f",)})
    assert bounds(everybody, women) == [(0, 6), (0, 6)]
    assert bounds(everybody, men, women) == [(1, 2), (4, 5)]


def test_many_filters_without_common_records_share_what_there_is():
    everybody = shown("all", TWO, [20, 10, 10])
    one, two = (shown(c, TWO, [9, 4, 5], where={"size": (c,)}) for c in "12")
    three = shown("3", TWO, [2, 1, 1], [1, 2], where={"size": ("3",)})
    assert bounds(everybody, one, two, three) == [(2, 2), (0, 0)]


def test_filters_with_common_records_need_not_share():
    everybody = shown("all", TWO, [20, 10, 10])
    one = shown("1", TWO, [13, 8, 5], where={"sex": ("f",)})
    two = shown("2", TWO, [6, 2, 4], [1, 2], where={"age": ("18+",)})
    assert bounds(everybody, one, two) == [(0, 6), (0, 6)]


@pytest.mark.parametrize("wider", [{"min": 10}, {"min": 10.5}, {"min": 10, "max": 30}])
def test_bounds_of_a_filter_may_contain_those_of_another(wider):
    """7 firms with 10 and more employees, 3 of them in a: at most 3 with 20 to 30."""
    all_of = shown("wider", TWO, [7, 3, 4], where={"employees": wider})
    some = shown("some", TWO, [6, 3, 3], [1, 2], where={"employees": {"min": 20, "max": 30}})
    assert bounds(all_of, some) == [(2, 3), (3, 4)]


def test_bounds_that_overlap_say_less():
    one = shown("one", TWO, [7, 3, 4], where={"employees": {"min": 10, "max": 20}})
    two = shown("two", TWO, [6, 3, 3], [1, 2], where={"employees": {"min": 15, "max": 30}})
    assert bounds(one, two) == [(0, 6), (0, 6)]


def test_a_code_outside_the_filter_of_its_variable_is_nothing():
    """By sex where sex = f: "m" there is not the "m" of the table of all."""
    sexes = dk.Hierarchy.flat(["f", "m"])
    everybody = shown("all", sexes, [9, 4, 5], variable="sex")
    women = shown("women", sexes, [4, 4, 0], [0, 1], variable="sex", where={"sex": ("f",)})
    assert bounds(everybody, women) == [(4, 4), (4, 4)]


# ── measures of different tables ────────────────────────────────────────────────────

REVENUE = MeasureSum.read("revenue = domestic + export")


def money(name, tree, value, hidden=(), **circumstances):
    kind = {"measure": name.partition(" ")[0], "frequency": False, **circumstances}
    return shown(name, tree, value, hidden, **kind)


def by_total_only(name, value, **circumstances):
    other = dk.Hierarchy.flat(["p", "q"])
    return money(name, other, value, variable="y", **circumstances)


def test_a_part_is_no_more_than_the_sum_where_the_other_part_is_not_tabulated():
    """Revenue of a is 4, so domestic revenue there is at most 4; exports stand by y only."""
    revenue = money("revenue", TWO, [10, 4, 6])
    domestic = money("domestic", TWO, [6, 3, 3], [1, 2])
    exports = by_total_only("export", [4, 1, 3])
    assert bounds(revenue, domestic) == [(0, 6), (0, 6)]
    assert bounds(revenue, domestic, exports, sums=(REVENUE,)) == [(0, 4), (2, 6)]
    losses = by_total_only("export", [4, 1, 3], nonnegative=False)
    assert bounds(revenue, domestic, losses, sums=(REVENUE,)) == [(0, 6), (0, 6)]


def test_a_measure_with_losses_does_not_free_the_parts_of_another():
    """What ab and bc have in common stays ≥ 0 beside a measure that may be negative."""
    pairs = money("revenue", PAIRS, [11, 4, 7], [1, 2])
    middle = money("revenue by others", MIDDLE, [11, 3, 3, 5])
    costs = by_total_only("domestic", [6, 2, 4], nonnegative=False)
    profit = by_total_only("export", [5, 2, 3], nonnegative=False)
    alone = bounds(pairs, middle)
    assert alone == [(3, 6), (5, 8)]
    assert bounds(pairs, middle, costs, profit, sums=(REVENUE,)) == alone
