"""Totals that are not the sum of their parts: told equation by equation, replaced on request."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import AdditivityError, InputError

REGIONS = dk.Hierarchy.from_parents(
    {"code": ["D", "N", "S", "N1", "N2"], "parent": ["", "D", "D", "N", "N"]}
)
SIZES = dk.Hierarchy.flat(["1", "2"])
BY = {"region": REGIONS, "size": SIZES}


def every_cell(change=(), **columns):
    """All 15 cells of the leaves N1, N2, S by size, some totals changed."""
    leaves = pa.table(
        {
            "region": ["N1", "N1", "N2", "N2", "S", "S"],
            "size": ["1", "2", "1", "2", "1", "2"],
            "v": [10, 20, 30, 40, 50, 60],
        }
    )
    cells = dk.Table.from_cells(leaves, by=BY, value="v").cells.to_pylist()
    for row in cells:
        row["v"] += dict(change).get((row["region"], row["size"]), 0)
    return pa.table({**pa.Table.from_pylist(cells).to_pydict(), **columns})


def test_each_broken_equation_is_named_with_dimension_parts_and_difference():
    with pytest.raises(AdditivityError) as error:
        dk.Table.from_cells(every_cell({("N", "1"): 7}), by=BY, value="v")
    told = str(error.value)
    # N, 1 is the total of its parts, a part of D, 1, and a part of N, Total: 3 of 5·1 + 3·2
    assert told.startswith("3 of 11 equations of 'v' do not hold: ")
    assert "region=N, size=1: 47 given, its parts along 'region' (N1 10 + N2 30) sum to 40" in told
    assert "region=N, size=Total: 100 given, its parts along 'size' (1 47 + 2 60) sum" in told
    assert "(difference -7)" in told
    assert "additivity='totals'" in told


def test_parts_that_the_file_does_not_hold_are_told():
    cells = pa.table({"region": ["N1", "N"], "n": [3, 7]})
    with pytest.raises(AdditivityError, match=r"\(N1 3 \+ N2 0 \(not in the file\)\) sum to 3"):
        dk.Table.from_cells(cells, by={"region": REGIONS}, count="n")


@given(
    st.lists(st.integers(-9, 9), min_size=6, max_size=6),
    st.dictionaries(st.integers(0, 14), st.integers(-3, 3), max_size=4),
    st.sets(st.integers(0, 14)),
)
def test_exactly_the_files_that_are_not_additive_are_refused(leaves, change, left_out):
    codes = {"region": ["N1", "N1", "N2", "N2", "S", "S"], "size": ["1", "2"] * 3}
    truth = dk.Table.from_cells(pa.table({**codes, "v": leaves}), by=BY, value="v")
    rows = truth.cells.to_pylist()
    for cell, by in change.items():
        rows[cell]["v"] += by
    rows = [row for cell, row in enumerate(rows) if cell not in left_out]
    if not rows:
        return
    frame = pa.Table.from_pylist(rows)
    # a total is the sum of the leaves in the file, whatever stands between
    inside = {(r["region"], r["size"]): r["v"] for r in rows}
    below = {"D": ["N1", "N2", "S"], "N": ["N1", "N2"]}, {"Total": ["1", "2"]}
    wrong = [
        (region, size)
        for (region, size), v in inside.items()
        if v
        != sum(
            inside.get((r, s), 0)
            for r in below[0].get(region, [region])
            for s in below[1].get(size, [size])
        )
    ]
    if wrong:
        with pytest.raises(AdditivityError):
            dk.Table.from_cells(frame, by=BY, value="v")
    else:
        dk.Table.from_cells(frame, by=BY, value="v")
    repaired = dk.Table.from_cells(frame, by=BY, value="v", additivity="totals")
    assert repaired.recomputed[0].changed == len(wrong)
    again = dk.Table.from_cells(repaired.cells, by=BY, value="v")
    assert np.array_equal(again.measure.sum, repaired.measure.sum)


def test_inner_cells_win_and_the_largest_change_is_kept():
    cells = every_cell({("N", "1"): 7, ("D", "Total"): -100})
    table = dk.Table.from_cells(cells, by=BY, value="v", additivity="totals")
    assert table.measure.sum.tolist() == [[210, 90, 120], [100, 40, 60], [30, 10, 20],
                                          [70, 30, 40], [110, 50, 60]]  # fmt: skip
    [told] = map(str, table.recomputed)
    assert told == (
        "2 of 9 totals of 'v' changed; the largest change: region=D, size=Total from 110 to 210"
    )


def test_an_additive_file_changes_nothing():
    table = dk.Table.from_cells(every_cell(), by=BY, value="v", additivity="totals")
    assert [str(column) for column in table.recomputed] == ["0 of 9 totals of 'v' changed"]
    assert dk.Table.from_cells(every_cell(), by=BY, value="v").recomputed == ()


def test_counts_and_values_are_told_apart():
    cells = every_cell({("D", "Total"): 1}, firms=[99, 1, 1, *[1] * 12])
    table = dk.Table.from_cells(cells, by=BY, value="v", count="firms", additivity="totals")
    assert table.count[0, 0] == 6
    assert [(c.column, c.changed) for c in table.recomputed] == [("firms", 9), ("v", 1)]


@pytest.mark.parametrize(
    ("given", "expected", "taken"),
    [
        ((95, 20), (95, 20), 0),  # fits the new total and is at least what a part says
        ((200, 20), (70, 30), 1),  # more than the new total
        ((60, 40), (70, 30), 1),  # less than the largest of a part
        ((40, 70), (70, 30), 1),  # not descending
    ],
)
def test_largest_contributions_of_a_changed_total_stay_unless_impossible(given, expected, taken):
    cells = pa.table(
        {
            "region": ["N1", "N2", "N"],
            "v": [80, 40, 300],
            "x1": [70, 30, given[0]],
            "x2": [10, 10, given[1]],
        }
    )
    table = dk.Table.from_cells(
        cells, by={"region": REGIONS}, value="v", largest=["x1", "x2"], additivity="totals"
    )
    assert table.measure.sum[1] == 120
    assert tuple(table.measure.largest[1]) == expected
    assert table.recomputed[0].contributions == taken


def test_impossible_contributions_of_other_totals_are_still_refused():
    cells = pa.table({"region": ["N1", "N2", "N"], "v": [80, 40, 120], "x1": [70, 30, 200]})
    with pytest.raises(InputError, match="region=N"):
        dk.Table.from_cells(
            cells, by={"region": REGIONS}, value="v", largest=["x1"], additivity="totals"
        )


def test_rounded_totals_are_not_replaced_and_unknown_ways_are_told():
    with pytest.raises(InputError, match="published as they are"):
        dk.Table.from_cells(every_cell(), by=BY, value="v", rounding=10, additivity="totals")
    with pytest.raises(InputError, match="'check' or 'totals', not 'repair'"):
        dk.Table.from_cells(every_cell(), by=BY, value="v", additivity="repair")


def test_what_changed_is_kept_inside_and_does_not_leave(tmp_path):
    cells = every_cell({("D", "Total"): 98765})
    table = dk.Table.from_cells(cells, by=BY, value="v", additivity="totals")
    result = dk.suppress(table, dk.rules.Apriori(pa.table({
        "region": ["N1"], "size": ["1"], "status": ["unsafe"], "reason": ["x"],
        "who": ["y"], "date": ["2025-01-01"],
    })))  # fmt: skip
    folder = result.write(tmp_path / "out", ["csv", "html"], keys=tmp_path / "keys")
    internal = json.loads((folder / "internal" / "v.certificate.json").read_text("utf-8"))
    [told] = internal["recomputed_totals"]
    assert told.endswith("region=D, size=Total from 98,975 to 210")
    assert "98,975" in (folder / "internal" / "v.report.html").read_text("utf-8")
    for file in (folder / "public").iterdir():
        text = file.read_text("utf-8")
        assert "98,975" not in text
        assert "98975" not in text
        assert "recomputed" not in text
