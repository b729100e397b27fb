"""Wider cells where fine ones are unsafe: few persons, one firm that dominates, other variables."""

import re

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.spatial import Grid, quadtree

GRID = Grid(1_000)


def firms(cells):
    """Cell (row, column) → values of its firms, as records."""
    rows = [(place, value) for place, values in cells.items() for value in values]
    corner = np.array([place for place, _ in rows]) * 1_000 + 1_000_000
    return pa.table(
        {
            "cell": GRID.ids(corner[:, 0], corner[:, 1]),
            "value": [value for _, value in rows],
            "firm": range(len(rows)),
        }
    )


def published(table):
    """Leaves: width in metres, and what they hold."""
    tree = table.dimensions[0].hierarchy
    leaves = {tree.codes[at] for at in tree.leaves.tolist()}
    return sorted(
        (int(re.search(r"(?:RES|SIZE)(\d+)m", row["cell"])[1]), row["count"])
        for row in table.cells.to_pylist()
        if row["cell"] in leaves
    )


def test_the_second_largest_of_two_cells_is_exact():
    # (10, 0) and (8, 1): merged, the second largest is 8; who takes the larger of the two seconds
    # finds 1. With 8 the rest is 1: the second firm estimates 10 to within 1, 10 %.
    records = firms({(0, 0): [10], (0, 1): [8, 1]})
    tree = GRID.tree(records["cell"], [2_000])
    fine = dk.tabulate(records, by={"cell": tree}, value="value", unit="firm", largest=2)
    merged = quadtree(fine, dk.rules.PPercent(10), "cell")
    assert merged.measures[0].largest[-1].tolist() == [10, 8]
    assert published(merged) == [(2_000, 3)]
    assert not dk.rules.PPercent(10)(merged).unsafe.any()  # a rest of 1 is 10 % of 10
    assert dk.rules.PPercent(11)(merged).unsafe.all()


def test_only_what_is_unsafe_becomes_coarser_level_by_level():
    records = firms(
        {
            (0, 0): [1] * 2, (0, 1): [1] * 9, (1, 1): [1] * 9,  # with 2 km: 20
            (2, 2): [1] * 5, (3, 3): [1] * 6,  # stay
            (4, 4): [1], (6, 6): [1] * 9,  # with 2 km still 1, with 4 km: 10
        }
    )  # fmt: skip
    tree = GRID.tree(records["cell"], [2_000, 4_000])
    fine = dk.tabulate(records, by={"cell": tree})
    merged = quadtree(fine, dk.rules.MinimumFrequency(3), "cell")
    assert published(merged) == [(1_000, 5), (1_000, 6), (2_000, 20), (4_000, 10)]
    capped = quadtree(fine, dk.rules.MinimumFrequency(3), "cell", coarsest=2)
    assert published(capped) == [(1_000, 5), (1_000, 6), (1_000, 9), (2_000, 1), (2_000, 20)]


def test_nobody_is_lost_and_what_is_left_unsafe_is_for_suppression():
    rng = np.random.default_rng(4)
    places = {(int(a), int(b)): [1] * int(n) for a, b, n in rng.integers(0, [16, 16, 6], (90, 3))}
    records = firms(places)
    tree = GRID.tree(records["cell"], [2_000, 4_000, 8_000])
    fine = dk.tabulate(records, by={"cell": tree})
    rule = dk.rules.MinimumFrequency(4)
    merged = quadtree(fine, rule, "cell", coarsest=2)
    assert sum(count for _, count in published(merged)) == records.num_rows
    unsafe = rule(merged).unsafe
    level = merged.dimensions[0].hierarchy.level
    assert set(level[unsafe].tolist()) <= {1, 2}
    result = dk.suppress(merged, rule)
    assert result.published.suppressed.sum() >= unsafe.sum()


def test_a_cell_is_unsafe_if_it_is_in_any_category_of_another_variable():
    records = firms({(0, 0): [1] * 6, (0, 1): [1] * 6})
    sex = ["w"] * 5 + ["m"] * 1 + ["w"] * 3 + ["m"] * 3
    records = records.append_column("sex", pa.array(sex))
    tree = GRID.tree(records["cell"], [2_000])
    fine = dk.tabulate(records, by={"cell": tree, "sex": None})
    rule = dk.rules.MinimumFrequency(3)
    assert quadtree(fine["count"], rule, "cell").shape[0] == 2
    assert quadtree(dk.tabulate(records, by={"cell": tree}), rule, "cell").shape[0] == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("place",), "no dimension 'place'"), (("cell",), "coarsest must be from 0")],
)
def test_what_is_not_there_is_named(arguments, said):
    records = firms({(0, 0): [1], (0, 1): [1]})
    table = dk.tabulate(records, by={"cell": GRID.tree(records["cell"])})
    with pytest.raises(dk.DiskretError, match=said):
        quadtree(table, dk.rules.MinimumFrequency(3), *arguments, coarsest=5)
