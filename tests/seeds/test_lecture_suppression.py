"""Heinzl, lecture "Statistische Geheimhaltung": the table religion × school."""

import pyarrow as pa
import pytest

import diskret as dk

SCHOOL = ["without", "at school", "basic", "middle", "college", "university"]
RELIGION = ["catholic", "protestant", "orthodox", "jewish", "other"]
COUNTS = [
    [13, 10, 2, 0, 22],
    [8, 8, 0, 0, 7],
    [136, 128, 3, 0, 89],
    [76, 90, 3, 0, 12],
    [24, 24, 1, 0, 30],
    [58, 60, 4, 4, 82],
]


@pytest.fixture
def table():
    rows = [(s, r, COUNTS[i][j]) for i, s in enumerate(SCHOOL) for j, r in enumerate(RELIGION)]
    rows += [(s, "Total", t) for s, t in zip(SCHOOL, [47, 23, 356, 181, 79, 208], strict=True)]
    rows += [("Total", r, t) for r, t in zip(RELIGION, [315, 320, 13, 4, 242], strict=True)]
    rows += [("Total", "Total", 894)]
    school, religion, n = zip(*rows, strict=True)
    cells = pa.table({"school": school, "religion": religion, "persons": n})
    return dk.Table.from_cells(cells, by={"school": None, "religion": None}, count="persons")


def test_minimum_frequency_of_three_gives_the_printed_pattern(table):
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), cost="value")
    cells = result.cells.to_pylist()
    status = {(c["school"], c["religion"]): c["status"] for c in cells}
    assert {k for k, s in status.items() if s == "primary"} == {
        ("without", "orthodox"),
        ("college", "orthodox"),
    }
    # the printed table blanks the 10 and the 24 as well
    assert {k for k, s in status.items() if s == "secondary"} == {
        ("without", "protestant"),
        ("college", "protestant"),
    }


def test_an_outsider_cannot_tell_the_hidden_counts(table):
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), cost="value")
    hidden = dk.attack.intervals(result.published).to_pylist()
    got = {(c["school"], c["religion"]): (c["lower"], c["upper"]) for c in hidden}
    assert got == {
        ("without", "protestant"): (9, 12),
        ("without", "orthodox"): (0, 3),
        ("college", "protestant"): (22, 25),
        ("college", "orthodox"): (0, 3),
    }


def test_each_secondary_is_needed_by_both_primaries(table):
    """Rows without, college; columns protestant, orthodox: four cells, each the others' key."""
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), cost="value")
    got = [
        (
            (r["school"], r["religion"]),
            r["kind"],
            (r["needed_by_school"], r["needed_by_religion"]),
            (r["lower"], r["upper"]),
            (r["required_lower"], r["required_upper"]),
        )
        for r in result.explain().to_pylist()
    ]
    # 47 - 13 - 10 - 0 - 22 = 2 without school; then 13 - 2 - 0 - 3 - 3 - 4 = 1 at college
    two = (("without", "orthodox"), (2, 2), (1, 3))
    one = (("college", "orthodox"), (1, 1), (0, 2))
    assert sorted(got) == sorted(
        (secondary, "protects", *primary)
        for secondary in [("without", "protestant"), ("college", "protestant")]
        for primary in (two, one)
    )


def test_zeros_are_hidden_for_the_marginal_value(table):
    result = dk.suppress(table, dk.rules.MarginalValue(), cost="value")
    rows = result.explain().to_pylist()
    # with any of the three published, 4 of 4 at university follow by subtraction
    assert {(r["school"], r["religion"]) for r in rows} == set(hidden_as(result, "secondary"))
    needed_by = {(r["needed_by_school"], r["needed_by_religion"]) for r in rows}
    assert needed_by == {("university", "jewish")}
    assert {(r["kind"], r["lower"], r["upper"]) for r in rows} == {("protects", 4, 4)}


def hidden_as(result, status):
    cells = result.cells.to_pylist()
    return {(c["school"], c["religion"]): c["count"] for c in cells if c["status"] == status}


def test_marginal_value_gives_the_printed_pattern(table):
    result = dk.suppress(table, dk.rules.MarginalValue(), cost="value")
    # all four of the religion have the same school: the cell equals its column total
    assert hidden_as(result, "primary") == {("university", "jewish"): 4}
    assert hidden_as(result, "secondary") == {
        ("college", "orthodox"): 1,
        ("college", "jewish"): 0,
        ("university", "orthodox"): 4,
    }


def test_marginal_value_hides_how_many_of_the_religion_have_that_school(table):
    result = dk.suppress(table, dk.rules.MarginalValue(), cost="value")
    found = dk.attack.intervals(result.published).to_pylist()
    got = {(c["school"], c["religion"]): (c["lower"], c["upper"]) for c in found}
    assert got == {
        ("college", "orthodox"): (0, 1),
        ("college", "jewish"): (0, 1),
        ("university", "orthodox"): (4, 5),
        ("university", "jewish"): (3, 4),
    }


def test_strict_marginal_value_leaves_the_distance_to_the_total(table):
    result = dk.suppress(table, dk.rules.MarginalValue(strict=True), cost="value")
    found = dk.attack.intervals(result.published).to_pylist()
    lower = {(c["school"], c["religion"]): c["lower"] for c in found}
    assert lower["university", "jewish"] <= 4 - 1 - 1


def test_merging_religions_gives_the_printed_column(table):
    merged = table.recode("religion", {"other": ["orthodox", "jewish", "other"]})
    got = {(c["school"], c["religion"]): c["count"] for c in merged.cells.to_pylist()}
    assert [got[s, "other"] for s in [*SCHOOL, "Total"]] == [24, 7, 92, 15, 31, 90, 259]
    assert {r for _, r in got} == {"Total", "catholic", "protestant", "other"}
    assert not dk.rules.MinimumFrequency(3)(merged).unsafe.any()
