"""Areas of files: what other programs wrote, in degrees and metres."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.errors import InputError
from diskret.spatial import Grid, locate, read_areas
from diskret.spatial.wkb import polygon, rings_of


def square(west, south, size):
    return [
        [west, south],
        [west + size, south],
        [west + size, south + size],
        [west, south + size],
        [west, south],
    ]


def collection(features, **more):
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"ags": code},
                "geometry": {"type": kind, "coordinates": coordinates},
            }
            for code, kind, coordinates in features
        ],
        **more,
    }


def test_geojson_in_metres_is_taken_as_it_is():
    metres = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}
    given = collection(
        [
            ("A", "Polygon", [square(0, 0, 10), square(2, 2, 2)]),
            ("B", "MultiPolygon", [[square(10, 0, 10)], [square(2, 2, 2)]]),
            ("A", "Polygon", [square(40, 0, 10)]),
        ],
        crs=metres,
    )
    areas = read_areas(given, "ags")
    assert areas.crs == 25832
    assert areas.codes == ("A", "B")
    found = areas.ids([1, 3, 1, 1], [1, 3, 11, 41]).to_pylist()
    assert found == ["A", "B", "B", "A"]
    assert areas.bounds == (0, 0, 50, 10)


def test_geojson_has_degrees():
    # the 1 km cell N2684 E4334 and the point in it, brought to degrees and back
    from pyproj import Transformer

    grid = Grid(1_000, spelling="short")
    there = Transformer.from_crs(3035, 4326, always_xy=True)
    ring = [list(there.transform(x, y)) for x, y in square(4_334_000, 2_684_000, 1_000)]
    areas = read_areas(collection([("A", "Polygon", [ring])]), "ags")
    assert areas.crs == 3035
    east = np.array([4_334_000.5, 4_334_999.5, 4_335_000.5])
    north = np.full(3, 2_684_500.0)
    assert areas.ids(north, east).to_pylist() == ["A", "A", None]
    lon, lat = there.transform(east, north)
    homes = locate(pa.table({"x": lon, "y": lat}), areas, crs=4326)
    assert homes["area"].to_pylist() == ["A", "A", None]
    assert grid.ids(north, east).to_pylist()[0] == "1kmN2684E4334"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "Feature"}, "no GeoJSON FeatureCollection"),
        (collection([("A", "Point", [1, 2])]), "feature 1 is a Point"),
        (collection([(None, "Polygon", [square(0, 0, 1)])]), "the code None"),
        (collection([("A", "Polygon", [[["x", 1]] * 4])]), "feature 1 .A. has coordinates"),
        (
            {"type": "FeatureCollection", "features": [{"properties": {}}]},
            "feature 1 has no 'ags'",
        ),
        (collection([], crs={"properties": {"name": "somewhere"}}), "no EPSG number"),
    ],
)
def test_geojson_that_holds_no_areas_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        read_areas(given, "ags")


def shapes():
    """The same areas as in the test of GeoJSON, by another library."""
    import geopandas
    from shapely import geometry

    return geopandas.GeoDataFrame(
        {"ags": ["A", "B", "A"]},
        geometry=[
            geometry.Polygon(square(0, 0, 10), [square(2, 2, 2)]),
            geometry.MultiPolygon(
                [geometry.Polygon(square(10, 0, 10)), geometry.Polygon(square(2, 2, 2))]
            ),
            geometry.Polygon([(*corner, 7.5) for corner in square(40, 0, 10)]),
        ],
        crs=25832,
    )


@pytest.mark.parametrize("suffix", ["gpkg", "parquet", "geojson", "shp"])
def test_files_of_other_programs_are_read(tmp_path, suffix):
    path = tmp_path / f"areas.{suffix}"
    frame = shapes()
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "geojson":
        frame.to_file(path, driver="GeoJSON", RFC7946="NO")
    else:
        frame.to_file(path)
    areas = read_areas(path, "ags")
    assert areas.crs == 25832
    assert areas.ids([1, 3, 1, 1], [1, 3, 11, 41]).to_pylist() == ["A", "B", "B", "A"]
    moved = read_areas(path, "ags", crs=3035)
    assert moved.crs == 3035
    with pytest.raises(InputError, match="'gen'"):
        read_areas(path, "gen")


def test_layers_are_chosen_by_name(tmp_path):
    path = tmp_path / "areas.gpkg"
    shapes().to_file(path, layer="one")
    shapes().iloc[:1].to_file(path, layer="two")
    assert read_areas(path, "ags", layer="two").codes == ("A",)
    with pytest.raises(InputError, match="cannot be read"):
        read_areas(path, "ags", layer="three")


def test_what_is_no_map_is_refused(tmp_path):
    with pytest.raises(InputError, match="no file"):
        read_areas(tmp_path / "none.gpkg", "ags")
    (tmp_path / "text.gpkg").write_text("no map")
    with pytest.raises(InputError, match="cannot be read"):
        read_areas(tmp_path / "text.gpkg", "ags")
    (tmp_path / "text.json").write_text("[1")
    with pytest.raises(InputError, match="no GeoJSON"):
        read_areas(tmp_path / "text.json", "ags")
    (tmp_path / "list.json").write_text(json.dumps([1]))
    with pytest.raises(InputError, match="holds no object"):
        read_areas(tmp_path / "list.json", "ags")
    pq.write_table(pa.table({"ags": ["A"]}), tmp_path / "plain.parquet")
    with pytest.raises(InputError, match="no GeoParquet"):
        read_areas(tmp_path / "plain.parquet", "ags")


def test_geometries_are_read_in_either_byte_order_and_refused_where_they_end_early():
    whole = polygon([np.array(square(0, 0, 2), float)])
    turned = b"\x00" + b"".join(
        part[::-1]
        for part in [
            whole[1:5],
            whole[5:9],
            whole[9:13],
            *(whole[at : at + 8] for at in range(13, len(whole), 8)),
        ]
    )
    assert [ring.tolist() for ring in rings_of(turned)] == [square(0, 0, 2)]
    for end in (0, 3, 8, 12, len(whole) - 1):
        with pytest.raises(InputError, match="ends before"):
            rings_of(whole[:end])
    point = b"\x01\x01\x00\x00\x00" + bytes(16)
    with pytest.raises(InputError, match="no polygon"):
        rings_of(point)
