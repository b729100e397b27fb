"""Points in polygons and in circles: exact on borders, whatever the shapes."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples, scaled

import diskret as dk
from diskret.errors import InputError
from diskret.spatial import Areas, Around, locate


def inside(rings, x, y):
    """By the definition, in fractions: an odd number of borders lies to the east."""
    crossings = 0
    for ring in rings:
        for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True):
            if (y1 <= y) != (y2 <= y):
                at = Fraction(x1) + (Fraction(x2) - x1) * (Fraction(y) - y1) / (y2 - y1)
                crossings += x < at
    return crossings % 2 == 1


def tiling(rng, columns, rows):
    """Quadrangles that cover a land without gaps: moved corners of a lattice."""
    corner = np.stack(np.meshgrid(np.arange(columns + 1), np.arange(rows + 1)), axis=-1) * 100
    corner = corner + rng.integers(-30, 31, corner.shape)
    codes, rings = [], []
    for row in range(rows):
        for column in range(columns):
            four = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            codes.append(f"{row}-{column}")
            rings.append([[corner[at].tolist() for at in four]])
    return codes, rings


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_points_of_a_tiling_lie_in_one_area_each(seed):
    rng = np.random.default_rng(seed)
    codes, rings = tiling(rng, *rng.integers(1, 6, 2))
    areas = Areas(codes, rings)
    corners = np.concatenate([np.array(ring) for own in rings for ring in own])
    middles = (corners[:-1] + corners[1:]) / 2
    anywhere = rng.integers(-60, 560, (60, 2))
    points = np.concatenate([corners, middles, anywhere])
    found = areas.ids(points[:, 1], points[:, 0]).to_pylist()
    for (x, y), code in zip(points.tolist(), found, strict=True):
        expected = [c for c, own in zip(codes, rings, strict=True) if inside(own, x, y)]
        assert [code] == (expected or [None])


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_whatever_rings_there_are_an_odd_number_of_them_is_inside(seed):
    # borders that cross themselves, holes, several parts
    rng = np.random.default_rng(seed)
    rings = [rng.integers(0, 40, (int(rng.integers(3, 30)), 2)).tolist() for _ in range(3)]
    points = rng.integers(-2, 42, (300, 2))
    found = Areas(["A"], [rings]).ids(points[:, 1], points[:, 0]).to_pylist()
    expected = ["A" if inside(rings, x, y) else None for x, y in points.tolist()]
    assert found == expected


def crosses(one, other):
    """Whether two pieces of a border cross between their ends: solved for where, in fractions."""
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = *one, *other
    across = (x2 - x1) * (y4 - y3) - (y2 - y1) * (x4 - x3)
    if across == 0:
        return False
    s = Fraction((x3 - x1) * (y4 - y3) - (y3 - y1) * (x4 - x3), across)
    t = Fraction((x3 - x1) * (y2 - y1) - (y3 - y1) * (x2 - x1), across)
    return 0 < s < 1 and 0 < t < 1


@pytest.mark.parametrize("seed", range(scaled(100)))
def test_borders_that_cross_themselves_are_told(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 9))
    ring = rng.integers(0, int(rng.integers(4, 60)), (size, 2)).tolist()
    if len(np.unique(ring, axis=0)) < 3 or len({y for _, y in ring}) < 2:
        return
    ring = [corner for corner, next_ in zip(ring, [*ring[1:], ring[0]], strict=True)
            if corner != next_]  # fmt: skip
    pieces = list(zip(ring, [*ring[1:], ring[0]], strict=True))
    expected = any(crosses(a, b) for i, a in enumerate(pieces) for b in pieces[:i])
    areas = Areas(["Z", "A"], [[[(0, 0), (1, 0), (1, 1)]], [ring]])
    if expected:
        with pytest.raises(InputError, match="borders of area 'A' cross each other: that from"):
            areas.check()
    else:
        assert areas.check() is areas


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_a_land_without_gaps_is_right_and_a_turned_corner_is_found(seed):
    rng = np.random.default_rng(seed)
    codes, rings = tiling(rng, 3, 3)
    assert len(Areas(codes, rings).check()) == 9
    at = int(rng.integers(9))
    rings[at] = [[rings[at][0][corner] for corner in (0, 2, 1, 3)]]
    with pytest.raises(InputError, match=f"borders of area '{codes[at]}' cross"):
        Areas(codes, rings).check()


def test_crossings_across_a_whole_continent_are_exact():
    # 2,147 km long and a millimetre beside each other, then across each other
    far = 2_147_000.0
    sharp = [(0, 0), (far, far), (far, far + 0.001), (0, 0.001)]
    assert Areas(["A"], [[sharp]]).check().codes == ("A",)
    with pytest.raises(InputError, match="cross each other"):
        Areas(["A"], [[[(0, 0), (far, far + 0.001), (far, far), (0, 0.001)]]]).check()


def test_long_borders_are_exact_to_the_millimetre():
    # along a line of 2,000 km with no point of whole millimetres near its middle
    ring = [(0, 0), (2_000_000.001, 999_999.999), (0, 999_999.999)]
    rng = np.random.default_rng(1)
    x = np.round(rng.uniform(0, 2_000_000, 200), 3)
    on = np.round(x * 999_999.999 / 2_000_000.001, 3)
    exact = [[(round(a * 1000), round(b * 1000)) for a, b in ring]]
    for move in (-0.001, 0, 0.001):
        found = Areas(["A"], [[ring]]).ids(on + move, x).to_pylist()
        points = np.rint(np.stack([x, on + move], axis=1) * 1000).astype(int).tolist()
        assert found == ["A" if inside(exact, *point) else None for point in points]


def test_a_hole_and_a_second_part_are_other_rings():
    outer = [(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)]
    hole = [(4, 4), (6, 4), (6, 6), (4, 6)]
    island = [(20, 0), (21, 0), (21, 1), (20, 1)]
    areas = Areas(["A", "B"], [[outer, hole, island], [hole]])
    found = areas.ids([1, 5, 0.5, 4, 6, 11], [1, 5, 20.5, 4, 6, 11])
    assert found.to_pylist() == ["A", "B", "A", "B", "A", None]


def test_areas_that_overlap_are_named_with_the_row():
    square = [(0, 0), (10, 0), (10, 10), (0, 10)]
    other = [(5, 0), (15, 0), (15, 10), (5, 10)]
    areas = Areas(["A", "B"], [[square], [other]])
    with pytest.raises(InputError, match=r"1 point lies in two areas, the first in row 2: 'A'"):
        areas.ids([5, 5, 5], [1, 7, 12])


@pytest.mark.parametrize(
    ("codes", "rings", "message"),
    [
        (["A", "A"], [[[(0, 0), (1, 0), (1, 1)]]] * 2, "'A' comes twice"),
        (["A"], [[[(0, 0), (1, 0), (0, 0)]]], "fewer than three corners"),
        (["A"], [[[(0, 0), (1, 0), (float("nan"), 1)]]], "ring of area 'A'"),
        (["A"], [[]], "'A' has no ring"),
        (["A"], [], "1 code and 0 lists"),
        ([], [], "no area"),
        (["A"], [[[(0, 0), (1e9, 0), (1, 1)]]], "metres of a reference system"),
        (["A"], [[[(0, 0), (3e6, 1e6), (1, 1)]]], "straight for more than"),
        (["A"], [[[(0, 0), (3, 0), (5, 0)]]], "no width"),
    ],
)
def test_what_is_no_area_is_refused(codes, rings, message):
    with pytest.raises(InputError, match=message):
        Areas(codes, rings).ids([0.5], [0.5])


def test_a_coordinate_that_is_none_is_named():
    areas = Areas(["A"], [[[(0, 0), (1, 0), (1, 1)]]])
    for wrong in (float("nan"), float("inf"), 1e9):
        with pytest.raises(InputError, match="in row 2: north"):
            areas.ids([0, wrong], [0, 0])


def circle(points, codes, radius, x, y):
    """By the definition: the nearest, the first of several, if it is within the radius."""
    away = [(x - px) ** 2 + (y - py) ** 2 for px, py in points]
    at = away.index(min(away))
    return codes[at] if away[at] <= radius**2 else None


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12),
    st.integers(1, 8),
)
def test_places_belong_to_the_nearest_point_within_the_radius(points, radius):
    points = list(dict.fromkeys(points))
    codes = [f"S{at % 5}" for at in range(len(points))]
    x, y = np.meshgrid(np.arange(-2, 15), np.arange(-2, 15))
    around = Around(codes, [b for _, b in points], [a for a, _ in points], radius)
    found = around.ids(y.ravel(), x.ravel()).to_pylist()
    expected = [
        circle(points, codes, radius, a, b)
        for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    ]
    assert found == expected


def test_a_circle_holds_its_border_and_not_a_millimetre_more():
    around = Around(["S"], [0], [0], 500)
    assert around.ids([300, 300.001], [400, 400]).to_pylist() == ["S", None]


@pytest.mark.parametrize(
    ("codes", "north", "radius", "message"),
    [
        (["S"], [0, 1], 5, "1 code for 2 north"),
        ([], [], 5, "must be a point"),
        (["S"], [0], 0, "above 0"),
        (["S"], [float("nan")], 5, "row 1: north"),
    ],
)
def test_circles_that_are_none_are_refused(codes, north, radius, message):
    with pytest.raises(InputError, match=message):
        Around(codes, north, north if len(north) != 2 else [0], radius)


def test_a_frame_gets_a_column_and_stays_what_it_is():
    homes = pd.DataFrame({"x": [1.0, 9.0], "y": [1.0, 9.0]}, index=[7, 8])
    areas = Areas(["A"], [[[(0, 0), (5, 0), (5, 5), (0, 5)]]])
    found = locate(homes, areas, name="district")
    assert found.index.tolist() == [7, 8]
    assert found["district"].iloc[0] == "A"
    assert pd.isna(found["district"].iloc[1])
    assert locate(homes, areas).columns.tolist()[-1] == "area"


def test_who_lives_near_a_station_tells_of_a_district():
    # one of district A's 21 persons lives further than 900 m from the station, and all of B
    homes = pa.table({"x": [100.0 * i for i in range(20)] + [950] + [5_000] * 30, "y": [0.0] * 51})
    district = Areas(
        ["A", "B"],
        [[[(-1, -1), (2_500, -1), (2_500, 1), (-1, 1)]], [[(2_500, -1), (9e3, -1), (9e3, 1)]]],
    )
    station = Around(["near"], [0], [1_000], 900)
    homes = locate(locate(homes, district, name="district"), station, name="station")
    few = dk.rules.MinimumFrequency(4)
    found = dk.spatial.differences(homes, ["district", "station"], few)
    assert [str(one) for one in found] == ["district A without station near: 1 record"]
