"""Wider cells where fine ones are unsafe: few persons, one firm that dominates, other variables."""

import re

import numpy as np
import pyarrow as pa
import pytest
from profiles import scaled

import diskret as dk
from diskret.errors import InputError
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


def test_empty_cells_are_shown_or_merged_as_is_asked():
    # cells of 1 km in 8 x 8 km, half of them with nobody; one unsafe cell
    inhabited = {(a, b): [1] * 5 for a in range(8) for b in range(8) if (a // 2 + b // 2) % 2}
    records = firms({**inhabited, (0, 2): [1]})
    every = [GRID.ids([1_000_000 + 1_000 * a], [1_000_000 + 1_000 * b])[0].as_py()
             for a in range(8) for b in range(8)]  # fmt: skip
    tree = GRID.tree(every, [2_000, 4_000])
    fine = dk.tabulate(records, by={"cell": tree})
    rule = dk.rules.MinimumFrequency(3)
    shown = published(quadtree(fine, rule, "cell"))
    assert shown == [(1_000, 0)] * 32 + [(1_000, 5)] * 28 + [(2_000, 16)]
    hidden = published(quadtree(fine, rule, "cell", empty="merge"))
    assert hidden == [(4_000, 36), (4_000, 40), (4_000, 40), (4_000, 40)]
    assert sum(count for _, count in hidden) == records.num_rows
    with pytest.raises(InputError, match="empty must be 'show' or 'merge'"):
        quadtree(fine, rule, "cell", empty="drop")


@pytest.mark.parametrize("seed", range(scaled(6)))
@pytest.mark.parametrize("sizes", [[2_000, 4_000, 8_000], [10_000]])
def test_nested_grids_take_noise_and_rounding(seed, sizes):
    rng = np.random.default_rng(seed)
    places = {(int(a), int(b)): [1] * int(n) for a, b, n in rng.integers(0, [20, 20, 5], (60, 3))}
    records = firms(places)
    keys = dk.SecretKeys(bytes(range(1, 33)))
    keyed = dk.record_keys(records, id="firm", keys=keys)
    tree = GRID.tree(records["cell"], sizes)
    table = dk.tabulate(keyed, by={"cell": tree}, record_key="record_key")
    noise = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2)
    noisy = {row["cell"]: row["count"] for row in dk.perturb(table, noise).public.to_pylist()}
    true = {row["cell"]: row["count"] for row in table.cells.to_pylist()}
    assert noisy.keys() == true.keys()
    assert all(abs(noisy[cell] - true[cell]) <= 3 for cell in true)
    # a cell has the same noise at whatever width it is published, and in a table without the others
    for size in sizes:
        grid = GRID.coarser(size)
        south, west = GRID.corners(keyed["cell"].to_pylist())
        alone = keyed.set_column(0, "cell", grid.ids(south, west))
        coarse = dk.tabulate(alone, by={"cell": None}, record_key="record_key")
        for row in dk.perturb(coarse, noise).public.to_pylist():
            assert noisy[row["cell"]] == row["count"]
    rounded = dk.round_table(table, base=3, method="deterministic")
    for row in rounded.public.to_pylist():
        assert row["count"] % 3 == 0
        assert abs(row["count"] - true[row["cell"]]) <= 1


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_what_is_hidden_in_nested_grids_cannot_be_computed(seed):
    rng = np.random.default_rng(seed)
    places = {(int(a), int(b)): [1] * int(n) for a, b, n in rng.integers(0, [8, 8, 6], (30, 3))}
    records = firms(places)
    tree = GRID.tree(records["cell"], [2_000, 4_000])
    rule = dk.rules.MinimumFrequency(4)
    table = dk.tabulate(records, by={"cell": tree})
    result = dk.suppress(table, rule, method="optimal")
    codes, parent = tree.codes, tree.parent
    shown = {
        row["cell"]: row["count"]
        for row in result.public.to_pylist()
        if row["status"] != "suppressed"
    }
    # by elimination alone: an equation with one hidden cell tells it
    known = dict(shown)
    while True:
        before = len(known)
        for at in np.unique(parent[parent >= 0]).tolist():
            children = [codes[i] for i in np.flatnonzero(parent == at)]
            family = [codes[at], *children]
            hidden = [code for code in family if code not in known]
            if len(hidden) == 1:
                known[hidden[0]] = -1
        if len(known) == before:
            break
    for code, unsafe in zip(codes, rule(table).unsafe.ravel().tolist(), strict=True):
        assert not (unsafe and code in known)


def test_a_coarser_grid_is_published_without_the_finer_cells():
    records = firms({(0, 0): [1], (0, 1): [1] * 9, (4, 4): [1] * 9})
    tree = GRID.tree(records["cell"], [2_000, 4_000])
    coarser = dk.tabulate(records, by={"cell": tree}).recode("cell", level=1)
    assert published(coarser) == [(4_000, 9), (4_000, 10)]
    assert not any("RES1000" in code for code in coarser.dimensions[0].hierarchy.codes)


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_points_are_found_in_the_merged_cells(seed):
    rng = np.random.default_rng(seed)
    points = pa.table({"x": rng.uniform(1e6, 1.02e6, 200), "y": rng.uniform(1e6, 1.02e6, 200)})
    records = dk.spatial.locate(points, GRID)
    tree = GRID.tree(records["cell"], [2_000, 4_000])
    merged = quadtree(dk.tabulate(records, by={"cell": tree}), dk.rules.MinimumFrequency(2), "cell")
    shown = dk.spatial.Cells(merged.dimensions[0].hierarchy)
    found = dk.spatial.locate(points, shown, name="shown")["shown"].to_pylist()
    counted = {row["cell"]: row["count"] for row in merged.cells.to_pylist()}
    assert {code: found.count(code) for code in shown.codes} == {
        code: counted[code] for code in shown.codes
    }
    far = dk.spatial.locate(pa.table({"x": [3e6], "y": [3e6]}), shown)
    assert far["cell"].to_pylist() == [None]


def test_cells_of_two_systems_are_no_cells():
    codes = ["1kmN2684E4334", "OWN25832SIZE1000mN5710000E365000"]
    with pytest.raises(InputError, match="several reference systems"):
        dk.spatial.Cells(dk.Hierarchy.flat(codes))
    with pytest.raises(InputError, match="no id of a cell"):
        dk.spatial.Cells(dk.Hierarchy.flat(["A"]))
