"""What a map lost: published figures with their inputs, formulas written out, exact transport."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples, scaled
from scipy.optimize import linprog

import diskret as dk
from diskret.errors import InputError
from diskret.spatial import compare
from diskret.spatial.neighbours import getis_ord, moran
from diskret.spatial.transport import _flow, _within_blocks, transport

# Guidelines for statistical disclosure control methods applied on geo-referenced data (2024),
# chapter 3: worked examples of 4 × 4 and 6 × 6 cells.
TOWN = [[0, 0, 0, 0], [0, 4, 1, 0], [0, 4, 1, 0], [0, 0, 0, 0]]
TOWN_AFTER = [
    [[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1]],
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 10, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 0], [0, 5, 1, 0], [0, 3, 1, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 0], [0, 4, 2, 0], [0, 4, 0, 0], [0, 0, 0, 0]],
]
TOWN_TOLD = [(2.75, 1.25, 3.16), (3.38, 0.75, 1.92), (0.13, 0.13, 0.25), (0.13, 0.13, 0.77)]
TOWN_SHARES = [
    (0.028, 0.125, 1.0),
    (0.033, 0.075, 0.606),
    (0.001, 0.013, 0.080),
    (0.001, 0.013, 0.242),
]
CROSS = [[0, 2, 0, 0], [2, 2, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]]
CROSS_AFTER = [
    [[0, 0, 2, 0], [2, 2, 2, 0], [2, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 2], [2, 2, 2, 0], [0, 0, 0, 0], [0, 0, 0, 2]],
    [[0, 0, 0, 0], [0, 10, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 0], [0, 0, 10, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
]
CROSS_TOLD = [(1, 0.5, 2), (1, 0.5, 2), (5, 1, 2.35), (5, 1, 2.35)]
VALLEY = [
    [2, 4, 0, 0, 0, 0],
    [4, 2, 0, 0, 0, 0],
    [0, 0, 2, 3, 2, 0],
    [0, 0, 0, 5, 4, 1],
    [0, 0, 3, 4, 2, 0],
    [0, 0, 0, 4, 0, 2],
]
VALLEY_AFTER = [
    [3, 3, 0, 0, 0, 0],
    [3, 3, 0, 0, 0, 0],
    *[[0, 0, 2, 2, 2, 2]] * 4,
]


def near(value, printed):
    """As it is printed: half a unit of the last place away at most."""
    places = len(str(printed).partition(".")[2])
    return abs(value - printed) <= 0.5 * 10**-places + 1e-9


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(TOWN, one, told) for one, told in zip(TOWN_AFTER, TOWN_TOLD, strict=True)]
    + [(CROSS, one, told) for one, told in zip(CROSS_AFTER, CROSS_TOLD, strict=True)],
)
def test_deviations_and_hellinger_distance_are_those_of_the_guidelines(before, after, told):
    found = compare(before, after)
    for value, printed in zip((found.mse, found.mae, found.hellinger.distance), told, strict=True):
        assert near(value, printed)


@pytest.mark.parametrize(("after", "told"), list(zip(TOWN_AFTER, TOWN_SHARES, strict=True)))
def test_those_of_shares_are_too(after, told):
    # 0.03375 is printed as 0.033
    found = compare(np.array(TOWN) / 10, np.array(after) / 10)
    assert abs(found.mse - told[0]) < 0.001
    assert near(found.mae, told[1])
    assert near(found.hellinger.scaled, told[2])
    assert near(compare(TOWN, after).hellinger.scaled, told[2])


def test_transport_is_that_of_the_guidelines():
    found = [compare(CROSS, one).transport for one in CROSS_AFTER]
    assert all(one.exact for one in found)
    assert near(found[0].low, 0.4)
    assert near(found[1].low, 0.85)
    assert found[1].low == pytest.approx((2 * 2 + 2 * 5**0.5) / 10)
    assert found[3].low > found[2].low


def test_dispersion_and_moran_are_those_of_the_guidelines():
    found = compare(VALLEY, VALLEY_AFTER)
    # their formula divides by the 36 cells, what they print by 35
    assert near(np.var(VALLEY, ddof=1), 2.69)
    assert near(np.var(VALLEY_AFTER, ddof=1), 1.32)
    assert near((found.vmr[1] - found.vmr[0]) * 36 / 35, -1.12)
    assert found.vmr == pytest.approx((np.var(VALLEY) * 36 / 44, np.var(VALLEY_AFTER) * 36 / 44))
    assert near(found.moran[0], 0.288)
    assert near(found.moran[1], 0.502)
    assert near(found.ilm, 0.107)


def test_the_quadtree_of_the_guidelines_is_spread_as_they_spread_it():
    grid, wide = dk.spatial.Grid(1_000), dk.spatial.Grid(4_000)
    row, column = np.nonzero(VALLEY)
    number = np.array(VALLEY)[row, column]
    # row 0 in the north; the 4 × 4 cells of the example are one wide cell
    north, east = 8_000 - 1_000 * row - 1, 2_000 + 1_000 * column
    north, east = north + 2_400_000 - 4_000, east + 4_000_000
    ids = np.asarray(grid.ids(np.repeat(north, number), np.repeat(east, number)))
    tree = grid.tree(ids, [2_000, 4_000])
    fine = dk.tabulate(pa.table({"cell": ids}), by={"cell": tree})
    merged = dk.spatial.quadtree(fine, dk.rules.MinimumFrequency(5), "cell")
    assert str(wide.size) in "".join(merged.dimensions[0].hierarchy.codes)
    corner = 2_396_000 + 1_000 * np.arange(2, 8)[:, None], 4_002_000 + 1_000 * np.arange(6)
    land = grid.ids(*(axis.ravel() for axis in np.broadcast_arrays(*corner))).to_pylist()
    found = compare(fine, merged, "cell", land=land)
    assert found.cells == 36
    assert near(found.moran[0], 0.288)
    shown = {row["cell"]: row["after"] for row in found.table.to_pylist()}
    assert sum(shown.values()) == pytest.approx(44)


def dense_moran(values, land, queen):
    """The formula with its n × n weights, over the cells of the land."""
    places = np.argwhere(land)
    step = np.abs(places[:, None] - places[None])
    near = step.max(axis=2) == 1 if queen else step.sum(axis=2) == 1
    weights = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
    away = values[land] - values[land].mean()
    return len(away) / weights.sum() * (away @ weights @ away) / (away @ away), near


@pytest.mark.parametrize("seed", range(scaled(30)))
def test_neighbours_are_weighed_as_the_formulas_say(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 9, 2))
    values = np.floor(rng.pareto(1, shape) * 3)
    land = rng.random(shape) < 0.8
    land[0, :2] = True
    values[0, :2] = 0, 7
    for queen, name in ((True, "queen"), (False, "rook")):
        expected, near = dense_moran(values, land, queen)
        assert moran(values, land, name) == pytest.approx(expected)
        x, number = values[land], land.sum()
        weights = near | np.eye(number, dtype=bool)
        own = weights.sum(axis=1)
        below = x.std() * np.sqrt((number * own - own**2) / (number - 1))
        z = (weights @ x - x.mean() * own)[below > 0] / below[below > 0]
        assert getis_ord(values, land, name)[land][below > 0] == pytest.approx(z)


def cheapest(before, after):
    """Exact transport by a linear programme over all pairs of cells."""
    places = np.argwhere(np.ones(before.shape, dtype=bool))
    cost = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)).ravel()
    number = before.size
    equal = np.zeros((2 * number, number * number))
    for at in range(number):
        equal[at, at * number : (at + 1) * number] = 1
        equal[number + at, at::number] = 1
    wanted = np.concatenate([before.ravel() / before.sum(), after.ravel() / after.sum()])
    return linprog(cost, A_eq=equal[:-1], b_eq=wanted[:-1]).fun


@pytest.mark.parametrize("seed", range(scaled(40)))
def test_transport_is_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, 2))
    before, after = (np.floor(rng.pareto(0.8, shape) * 4) for _ in range(2))
    before[0, 0] += 1
    after[-1, -1] += 1
    expected = cheapest(before, after)
    found = transport(before, after)
    assert found.exact
    assert found.low == pytest.approx(expected, abs=1e-9)
    # the bounds for large maps hold, are narrow, and do so however little work is done
    excess = before / before.sum() - after / after.sum()
    low, high = _flow(excess, 10**8)
    assert low <= expected * (1 + 1e-7) + 1e-9
    assert expected <= high * (1 + 1e-7) + 1e-9
    assert high <= 1.04 * low + 1e-7
    for work in (0, 1, 50, 300):
        low, high = _flow(excess, work)
        assert low - 1e-9 <= expected <= high + 1e-9
    assert expected <= _within_blocks(excess) + 1e-9


@pytest.mark.parametrize("fault", ["too steep", "turned round", "torn"])
def test_wrong_prices_prove_less_and_never_too_much(monkeypatch, fault):
    from diskret.spatial import transport_kernels

    right = transport_kernels.cheapest_flow

    def wrong(left, price, *rest):
        found = right(left, price, *rest)
        if fault == "too steep":
            price *= 3
        elif fault == "turned round":
            price *= -1
        else:
            price[len(price) // 2 :] -= 40
        return found

    rng = np.random.default_rng(11)
    before, after = (np.floor(rng.pareto(0.8, (5, 5)) * 4) + 1 for _ in range(2))
    excess = before / before.sum() - after / after.sum()
    expected = cheapest(before, after)
    sound = _flow(excess, 10**8)[0]
    monkeypatch.setattr(transport_kernels, "cheapest_flow", wrong)
    low, high = _flow(excess, 10**8)
    assert low <= expected + 1e-9 <= high + 2e-9
    assert low <= sound + 1e-9


def test_bounds_of_a_larger_map_hold():
    rng = np.random.default_rng(3)
    before = np.floor(np.exp(rng.normal(0, 2, (40, 30))))
    after = np.maximum(before + rng.integers(-1, 2, before.shape) * (before > 0), 0)
    found = transport(before, after)
    excess = before / before.sum() - after / after.sum()
    bounds = _flow(excess, 10**9)
    assert bounds == (found.low, found.high) or found.exact
    assert bounds[0] <= bounds[1] <= 1.04 * bounds[0]
    # any prices that differ by no more than the distance prove a lower bound
    row, column = np.indices(before.shape)
    for price in (row, column, np.hypot(row - 9, column - 9), (row + column) / 2**0.5):
        assert abs((price * excess).sum()) <= bounds[1] + 1e-12


@examples(60)
@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_a_map_that_is_kept_loses_nothing(rows, columns, data):
    cells = st.integers(0, 50)
    before = np.array(
        data.draw(st.lists(cells, min_size=rows * columns, max_size=rows * columns))
    ).reshape(rows, columns)
    found = compare(before, before)
    assert found.mse == found.mae == found.hellinger.distance == 0
    assert np.isnan(found.ilm) or found.ilm == 0
    if before.any():
        assert (found.transport.low, found.transport.high) == (0, 0)
        assert found.largest_agree == 1


def cells(*numbers):
    """Persons by cell of 1 km: (north, east, how many), in kilometres."""
    grid = dk.spatial.Grid(1_000, spelling="short")
    ids = [f"1kmN{2_600 + n}E{4_300 + e}" for n, e, _ in numbers]
    persons = list(itertools.chain(*([one] * n for one, (*_, n) in zip(ids, numbers, strict=True))))
    return dk.tabulate(pa.table({"cell": persons}), by={"cell": grid.tree(ids, [2_000, 4_000])})


def test_wide_cells_are_spread_evenly_and_land_is_respected():
    table = cells((0, 0, 2), (0, 1, 10), (2, 2, 9))
    merged = dk.spatial.quadtree(table, dk.rules.MinimumFrequency(3), "cell", coarsest=2)
    found = compare(table, merged, "cell")
    shown = {row["cell"]: row["after"] for row in found.table.to_pylist()}
    fine = dk.spatial.Grid(1_000)
    square = fine.ids([2_600_000, 2_600_000, 2_601_000, 2_601_000], [4_300_000, 4_301_000] * 2)
    short = dk.spatial.Grid(1_000, spelling="short").ids([2_602_000], [4_302_000])
    assert {fine_id: shown[fine_id] for fine_id in square.to_pylist()} == dict.fromkeys(
        square.to_pylist(), 3.0
    )
    assert found.cells == 9
    assert sum(shown.values()) == 21 and len(shown) == 5 and len(short) == 1
    land = [*square.to_pylist()[:3], "1kmN2602E4302"]
    found = compare(table, merged, "cell", land=land)
    assert found.cells == 4
    assert sorted(found.table["after"].to_pylist()) == [4.0, 4.0, 4.0, 9.0]
    with pytest.raises(InputError, match="lies in none of land"):
        compare(table, merged, "cell", land=square.to_pylist())


def test_what_is_withheld_gets_what_the_others_leave_of_the_coarser_cell():
    table = cells((0, 0, 2), (0, 1, 10), (1, 0, 4), (2, 2, 9), (2, 3, 1), (3, 3, 30))
    tree = table.dimensions[0].hierarchy
    values = table.measure.sum.astype(float)
    for code in ("1kmN2600E4300", "1kmN2601E4300", "1kmN2602E4303", "1kmN2602E4302"):
        values[tree.codes.index(code)] = np.nan
    published = dk.suppress(table, dk.rules.MinimumFrequency(3)).published
    found = compare(table, published, "cell")
    for row in found.table.to_pylist():
        at = tree.codes.index(
            row["cell"].replace("CRS3035RES1000m", "1km").replace("000E", "E")[:-3]
        )
        if not published.suppressed[at]:
            assert row["after"] == values[at] or np.isnan(values[at])
        assert row["before"] == table.measure.sum[at]
    hidden = compare([[2, 10], [4, 9]], [[np.nan, 10], [np.nan, 9]])
    assert hidden.raster.after.tolist() == [[3, 10], [3, 9]]


def test_hot_spots_that_go_are_told():
    before = np.zeros((12, 12))
    before[2:4, 2:4] = 50
    before[8:10, 8:10] = 40
    after = before.copy()
    after[8:10, 8:10] = 0
    kept = compare(before, before, top=8 / 144)
    lost = compare(before, after, top=8 / 144)
    assert kept.hot_agree == kept.largest_agree == 1
    assert lost.largest_agree == 0.5
    assert 0.2 < lost.hot_agree < 0.8


def test_it_is_said_in_both_languages():
    found = compare(CROSS, CROSS_AFTER[1])
    english, german = found.summary("en"), found.summary("de")
    assert "0.847 cell widths" in english and "0,847 Zellbreiten" in german
    assert len(english.splitlines()) == len(german.splitlines()) == 6
    assert set(found.figures) >= {"mse", "ilm", "transport_low", "hot_agree"}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([[1, 2]], [[1], [2]], "same rows and columns"),
        ([1, 2], [1, 2], "same rows and columns"),
        ([[1, np.nan]], [[1, 2]], "is missing"),
        ([[1, 2]], [[1, np.inf]], "is infinite"),
    ],
)
def test_what_is_no_map_is_refused(before, after, why):
    with pytest.raises(InputError, match=why):
        compare(before, after)


def test_tables_that_do_not_belong_together_are_refused():
    table = cells((0, 0, 2), (0, 1, 10))
    with pytest.raises(InputError, match="must name the dimension"):
        compare(table, table)
    with pytest.raises(InputError, match="has no dimension 'place'"):
        compare(table, table, "place")
    with pytest.raises(InputError, match="or a dk.Published"):
        compare(table, [1, 2], "cell")
    with pytest.raises(InputError, match="are for tables"):
        compare([[1]], [[1]], "cell")
    regions = dk.tabulate(pa.table({"cell": ["A", "B"]}), by={"cell": None})
    with pytest.raises(InputError, match="no cells of a grid: 'A', 'B'"):
        compare(regions, regions, "cell")
    far = cells((0, 0, 2), (9_00, 2_900, 10), (-1_600, -3_000, 3))
    assert compare(far, far, "cell").mse == 0
