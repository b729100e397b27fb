"""Cells of grids: ids as the rules write them, exact borders, exact parents."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import InputError
from diskret.spatial import Grid, locate


def test_ids_are_written_as_the_regulation_says():
    # Regulation (EU) 2018/1799, article 3: CRS3035RES1000mN, northing, E, easting of the
    # south-western corner in metres
    assert Grid(1_000).ids([3150999.9], [3858000]).to_pylist() == [
        "CRS3035RES1000mN3150000E3858000"
    ]
    short = {100: "100mN31509E38580", 1_000: "1kmN3150E3858", 10_000: "10kmN315E385"}
    for size, written in short.items():
        assert Grid(size, spelling="short").ids([3150999.9], [3858000]).to_pylist() == [written]


@pytest.mark.parametrize("size", [200, 2_000, 5_000])
def test_a_grid_that_is_not_official_has_no_official_ids(size):
    [id] = Grid(size, spelling="short").ids([3150999.9], [3858000]).to_pylist()
    assert id.startswith(f"OWN3035SIZE{size}mN")
    with pytest.raises(InputError, match="no cells? of a grid"):
        Grid(1_000).corners([id])


@examples(60)
@given(
    st.lists(
        st.tuples(
            st.floats(900_000, 5_499_999.999, allow_nan=False),
            st.floats(900_000, 7_399_999.999, allow_nan=False),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([100, 250, 1_000, 3_000, 10_000]),
    st.integers(2, 12),
)
def test_every_point_lies_in_its_cell_and_its_cell_in_one_parent(points, size, times):
    north, east = np.array(points).T
    grid = Grid(size)
    south, west = grid.corners(grid.ids(north, east).to_pylist())
    assert ((south <= north) & (north < south + size)).all()
    assert ((west <= east) & (east < west + size)).all()
    wide = grid.coarser(size * times)
    outer = wide.corners(wide.ids(north, east).to_pylist())
    for inner, around in zip((south, west), outer, strict=True):
        assert ((around <= inner) & (inner + size <= around + size * times)).all()


def test_points_on_a_border_belong_to_the_north_and_east():
    least = np.nextafter(2684000.0, 0)
    ids = Grid(1_000, spelling="short").ids([2684000, least], [4334000, 4334000]).to_pylist()
    assert ids == ["1kmN2684E4334", "1kmN2683E4334"]


@examples(40)
@given(
    st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=40),
    st.sampled_from([(), (2_000,), (10_000,), (2_000, 4_000, 20_000)]),
)
def test_trees_of_cells_are_those_of_their_corners(places, coarser):
    grid = Grid(1_000)
    south, west = np.array(sorted(places)).T * 1_000 + 1_000_000
    ids = grid.ids(south, west).to_pylist()
    tree = grid.tree(ids[::-1] + ids, coarser)
    above = dict(zip(tree.codes, tree.parent.tolist(), strict=True))
    for at, id in enumerate(ids):
        code = id
        for size in sorted(coarser):
            code = tree.codes[above[code]]
            [written] = Grid(size).ids(south[at : at + 1], west[at : at + 1]).to_pylist()
            assert code == written
        assert above[code] == 0
    assert sum(tree.is_leaf) == len(ids)


def test_countries_keep_their_parts_of_a_cell_apart():
    tree = Grid(1_000).tree(
        ["DE_CRS3035RES1000mN2684000E4334000", "FR_CRS3035RES1000mN2684000E4334000"], [10_000]
    )
    assert tree.codes == (
        "Total",
        "DE_CRS3035RES10000mN2680000E4330000",
        "DE_CRS3035RES1000mN2684000E4334000",
        "FR_CRS3035RES10000mN2680000E4330000",
        "FR_CRS3035RES1000mN2684000E4334000",
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Grid(1_000).ids([2684000, 52.5], [4334000, 13.4]), "first in row 2"),
        (lambda: Grid(1_000).ids([2684000, np.nan], [4334000, 4334000]), "first in row 2"),
        (lambda: Grid(1_000).ids([2684000], [np.inf]), "first in row 1"),
        (lambda: Grid(1_000).corners(["1kmN2684E4334", "2kmN2684E4334"]), "'2kmN2684E4334'"),
        (lambda: Grid(1_000).corners(["CRS3035RES1000mN2684500E4334000"]), "whole multiples"),
        (lambda: Grid(1_000).tree(["1kmN2684E4334"], [2_500]), "is 1000 m times"),
        (
            lambda: Grid(1_000).tree(["1kmN2684E4334", "CRS3035RES1000mN2684000E4334000"]),
            "one cell",
        ),
        (lambda: Grid(0), "whole number"),
    ],
)
def test_what_is_no_cell_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.parametrize(
    "made", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_points_get_cells_in_the_frame_that_came_in(made):
    frame = made({"x": [4334999.0, 4335000.0], "y": [2684010.5, 2684010.5], "who": [7, 8]})
    with_cells = locate(frame, Grid(1_000, spelling="short"))
    assert type(with_cells) is type(frame)
    assert list(with_cells["cell"] if made is not pa.table else with_cells["cell"].to_pylist()) == [
        "1kmN2684E4334",
        "1kmN2684E4335",
    ]


def test_the_index_of_a_pandas_frame_stays():
    frame = pd.DataFrame({"x": [4334999.0, 4335000.0], "y": [2684010.5] * 2}, index=[9, 4])
    assert locate(frame, Grid(1_000))["cell"].index.tolist() == [9, 4]


def test_a_missing_coordinate_is_named_with_its_row():
    frame = pa.table({"x": [4334999.0, None], "y": [2684010.5, 2684010.5]})
    with pytest.raises(InputError, match=r"'x' (is|are) missing \(first in row 2\)"):
        locate(frame, Grid(1_000))


def test_degrees_become_metres_where_they_are_named():
    pytest.importorskip("pyproj")
    # EPSG guidance note 7-2, Lambert azimuthal equal area: 50°N 5°E is at N 2999718.85,
    # E 3962799.45 in ETRS89-LAEA
    frame = pa.table({"x": [5.0], "y": [50.0]})
    cell = locate(frame, Grid(100, spelling="short"), crs=4258)["cell"].to_pylist()
    assert cell == ["100mN29997E39627"]
