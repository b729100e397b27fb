"""Maps of releases: what other programs read in them, and that nothing else is there."""

import json
import shutil
import sqlite3
from fractions import Fraction
from functools import cache

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProofError, VerificationError
from diskret.publish.formats.maps.features import Column, Features
from diskret.publish.guard.maps import map_problems
from diskret.spatial.outlines import Outlines, outlines_of_cells

KEYS = dk.SecretKeys(bytes(range(32)))
FORMATS = ["csv", "geojson", "geoparquet", "gpkg", "map"]
FEW = dk.rules.MinimumFrequency(5)


@cache
def of_cells(*more):
    """Persons by grid cell, in cells of three widths, and by sex where asked for."""
    land = dk.datasets.country(2_000, seed=5)
    grid = dk.spatial.Grid(1_000, spelling="short")
    persons = dk.spatial.locate(land.persons, grid)
    persons = persons.append_column("sex", pa.array(["m", "f"] * 1_000))
    tree = grid.tree(persons["cell"], [2_000, 4_000])
    table = dk.tabulate(persons, by={"cell": tree, **dict.fromkeys(more)})
    return dk.suppress(dk.spatial.quadtree(table, FEW, "cell", coarsest=2), FEW, name="persons")


def of_areas():
    land = dk.datasets.country(2_000, seed=5)
    table = dk.tabulate(land.persons, by={"municipality": land.tree}, value="income")
    rule = dk.rules.MinimumFrequency(5) | dk.rules.PPercent(10)
    return dk.suppress(table, rule, name="income"), {"municipality": land.municipalities}


def expected(result, variable, label=()):
    """Code of each of the finest places → its public value, from the rows of the public table."""
    tree = next(d for d in result.published.dimensions if d.name == variable).hierarchy
    finest = {tree.codes[at] for at in tree.leaves}
    others = [d.name for d in result.published.dimensions if d.name != variable]
    return {
        row[variable]: (
            None if row["status"] == "suppressed" else row[result.published.measure],
            row["status"],
        )
        for row in result.public.to_pylist()
        if row[variable] in finest and tuple(row[name] for name in others) == label
    }


def read(folder, name):
    """What another program reads in the three files."""
    public = folder / "public"
    return {
        "geojson": geopandas.read_file(public / f"{name}.geojson"),
        "gpkg": geopandas.read_file(public / f"{name}.gpkg"),
        "geoparquet": geopandas.read_parquet(public / f"{name}.geo.parquet"),
    }


def page(folder, name):
    """The data of a page."""
    text = (folder / "public" / f"{name}.map.html").read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def same(frame, variable, value, status, wanted):
    found = {
        code: (None if np.isnan(shown) else shown, state)
        for code, shown, state in zip(
            frame[variable], frame[value].astype(float), frame[status], strict=True
        )
    }
    assert found == wanted
    assert {state for _, state in found.values()} >= {"published", "suppressed"}


def test_other_programs_read_what_is_published(tmp_path):
    result = of_cells()
    result.write(tmp_path / "out", FORMATS, keys=KEYS)
    wanted = expected(result, "cell")
    found = read(tmp_path / "out", "persons")
    for frame in found.values():
        same(frame, "cell", "count", "status", wanted)
        assert frame.geometry.is_valid.all()
    assert found["gpkg"].crs.to_epsg() == found["geoparquet"].crs.to_epsg() == 3035
    assert found["geojson"].crs.to_epsg() == 4326
    squares = outlines_of_cells(found["gpkg"]["cell"].tolist()).squares
    assert len(set(squares[:, 2].tolist())) > 1
    for frame in (found["gpkg"], found["geoparquet"], found["geojson"].to_crs(3035)):
        bounds = frame.bounds.to_numpy()
        expected_bounds = np.c_[squares[:, :2], squares[:, :2] + squares[:, 2:]]
        assert np.abs(bounds - expected_bounds).max() < 0.02
    told = page(tmp_path / "out", "persons")
    states = ["published", "suppressed", "empty"]
    [column] = told["columns"]
    assert {
        code: (None if state == 1 else value, states[state])
        for code, value, state in zip(
            told["codes"], column["values"], column["states"], strict=True
        )
    } == wanted
    assert dk.verify(tmp_path / "out", keys=KEYS).tables == ("persons",)


def test_values_beyond_what_a_float_holds_are_rounded_once():
    scaled = np.array([2**53 + 1, -(2**53) - 3, 10**17 + 9, 9_007_199_254_741_003, 5])
    squares = outlines_of_cells([f"1kmN{3000 + at}E4000" for at in range(len(scaled))])
    column = Column("value", "status", (), scaled, np.zeros(len(scaled), dtype=np.int64))
    codes = tuple("abcde")
    for decimals in (1, 2, 3):
        shown = Features("t", "cell", codes, squares, (column,), decimals).attributes()
        assert shown["value"].to_pylist() == [float(Fraction(int(n), 10**decimals)) for n in scaled]


def test_borders_are_given_where_codes_do_not_tell_them(tmp_path):
    result, places = of_areas()
    result.write(tmp_path / "out", FORMATS, keys=KEYS, places=places, language="de")
    wanted = expected(result, "municipality")
    for frame in read(tmp_path / "out", "income").values():
        same(frame, "municipality", "income", "status", wanted)
        assert frame.geometry.is_valid.all()
    areas = places["municipality"]
    frame = read(tmp_path / "out", "income")["gpkg"]
    for code, shape in zip(frame["municipality"], frame.geometry, strict=True):
        [ring] = areas.rings[areas.codes.index(code)]
        assert {tuple(corner) for corner in ring.tolist()} == set(shape.geoms[0].exterior.coords)
    assert dk.verify(tmp_path / "out", keys=KEYS).tables == ("income",)


def test_other_variables_are_columns(tmp_path):
    result = of_cells("sex")
    result.write(tmp_path / "out", FORMATS, keys=KEYS)
    for frame in read(tmp_path / "out", "persons").values():
        for code in ("Total", "f", "m"):
            found = expected(result, "cell", (code,))
            same(frame, "cell", f"count {code}", f"status {code}", found)
    labels = [one["label"] for one in page(tmp_path / "out", "persons")["columns"]]
    assert labels == ["Total", "f", "m"]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    result = of_cells()
    for name in ("one", "two"):
        result.write(tmp_path / name, FORMATS, keys=KEYS)
    for path in sorted((tmp_path / "one" / "public").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / "public" / path.name).read_bytes()


def test_a_map_shows_no_more_where_other_cells_are_unsafe(tmp_path):
    # the same cells hidden, another rule: nothing in the maps may tell which are unsafe
    cells = pa.table({"cell": [f"1kmN2684E{4334 + at}" for at in range(4)]})
    counts = pa.array([1, 2, 9, 9])
    for name, rule in (("one", 3), ("two", 2)):
        table = dk.Table.from_cells(
            cells.append_column("count", counts), by={"cell": None}, count="count"
        )
        dk.suppress(table, dk.rules.MinimumFrequency(rule), name="t").write(
            tmp_path / name, FORMATS, keys=KEYS
        )
    for ending in (".geojson", ".geo.parquet", ".gpkg", ".map.html"):
        one, two = (tmp_path / name / "public" / f"t{ending}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def rewritten(path, change):
    """A file of GeoJSON with something changed."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def changed_parquet(path, change):
    pq.write_table(change(pq.read_table(path)), path)


def sql(path, *statements):
    with sqlite3.connect(path) as opened:
        for statement in statements:
            opened.execute(statement)
    opened.close()


def page_changed(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


GEOJSON = {
    "a value": lambda c: c["features"][0]["properties"].update(count=4),
    "a status": lambda c: c["features"][0]["properties"].update(status="primary"),
    "a property": lambda c: c["features"][0]["properties"].update(rule="n = 5"),
    "a member": lambda c: c.update(name="persons, n = 5"),
    "a member of a feature": lambda c: c["features"][0].update(id=7),
    "a member of a geometry": lambda c: c["features"][0]["geometry"].update(bbox=[0, 0, 1, 1]),
    "a corner": lambda c: c["features"][0]["geometry"]["coordinates"][0][1].__setitem__(0, 9.5),
    "a height": lambda c: c["features"][0]["geometry"]["coordinates"][0][1].append(3),
    "a place left out": lambda c: c["features"].pop(),
    "a place twice": lambda c: c["features"].append(c["features"][0]),
    "another kind": lambda c: c["features"][0]["geometry"].update(type="Point"),
}
PARQUET = {
    "a column": lambda t: t.append_column("true", t["count"]),
    "a value": lambda t: t.set_column(1, "count", pa.array([7] * len(t))),
    "metadata": lambda t: t.replace_schema_metadata({**t.schema.metadata, b"rule": b"n = 5"}),
    "no metadata": lambda t: t.replace_schema_metadata(None),
    "a row": lambda t: pa.concat_tables([t, t.slice(0, 1)]),
    "squares elsewhere": lambda t: t.set_column(3, "geometry", t["geometry"].take(
        pa.array([1, 0, *range(2, len(t))])
    )),
    "more about geometries": lambda t: t.replace_schema_metadata({
        b"geo": json.dumps(
            json.loads(t.schema.metadata[b"geo"]) | {"note": "n = 5"}
        ).encode()
    }),
    "a word in the reference system": lambda t: t.replace_schema_metadata({
        b"geo": t.schema.metadata[b"geo"].replace(b"ETRS89", b"n = 5")
    }),
}  # fmt: skip
PACKAGE = {
    "a value": ["UPDATE persons SET count = 7 WHERE fid = 1"],
    "a column": ["ALTER TABLE persons ADD COLUMN true_value INTEGER"],
    "a table": ["CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('n = 5')"],
    "a view": ["CREATE VIEW unsafe AS SELECT * FROM persons"],
    "a description": ["UPDATE gpkg_contents SET description = 'n = 5'"],
    "another time": ["UPDATE gpkg_contents SET last_change = '2026-01-01T00:00:00.000Z'"],
    "a system": ["INSERT INTO gpkg_spatial_ref_sys VALUES ('x', 7, 'NONE', 7, 'n = 5', '')"],
    "deleted pages": [
        "CREATE TABLE gone (x BLOB)",
        "INSERT INTO gone VALUES (randomblob(9000))",
        "DROP TABLE gone",
    ],
    "tiles": ["INSERT INTO gpkg_tile_matrix_set VALUES ('persons', 3035, 0, 0, 5, 5)"],
}
PAGE = {
    "a script": ('"use strict";', '"use strict"; fetch("//x");'),
    "a value": ('"values":[', '"values":[7,'),
    "a word": ('"decimals":0', '"decimals":0,"rule":5'),
    "a note": ('"note":""', '"note":"n = 5"'),
    "a difference": ('"found":[]', '"found":["cell 1 without"]'),
    "markup": ('"note":""', '"note":"<b>"'),
    "a place": ('"squares":[[', '"squares":[[4000000,'),
    "decimals": ('"decimals":0', '"decimals":1'),
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    result = of_cells()
    result.write(folder / "out", FORMATS, keys=KEYS)
    assert list(map_problems(folder / "out" / "public", result.published)) == []
    return result, folder / "out"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (kind, change)
        for kind, changes in (
            ("geojson", GEOJSON), ("geo.parquet", PARQUET), ("gpkg", PACKAGE), ("map.html", PAGE),
        )
        for change in changes
    ],
)  # fmt: skip
def test_whatever_is_changed_in_a_map_is_found(release, tmp_path, kind, change):
    result, folder = release
    path = tmp_path / f"persons.{kind}"
    shutil.copy(folder / "public" / path.name, path)
    match kind:
        case "geojson":
            rewritten(path, GEOJSON[change])
        case "geo.parquet":
            changed_parquet(path, PARQUET[change])
        case "gpkg":
            sql(path, *PACKAGE[change])
        case _:
            page_changed(path, *PAGE[change])
    assert list(map_problems(tmp_path, result.published)) != []


@pytest.mark.parametrize("kind", ["geojson", "geo.parquet", "gpkg", "map.html"])
def test_what_is_no_map_any_more_is_found(release, tmp_path, kind):
    result, folder = release
    whole = (folder / "public" / f"persons.{kind}").read_bytes()
    rng = np.random.default_rng(1)
    for cut in [0, 1, 100, *rng.integers(0, len(whole), scaled(6)).tolist()]:
        (tmp_path / f"persons.{kind}").write_bytes(whole[:cut])
        assert list(map_problems(tmp_path, result.published)) != []


def test_verify_reads_maps_even_where_digests_agree(release, tmp_path):
    _, folder = release
    public = shutil.copytree(folder / "public", tmp_path / "download")
    dk.verify(public)
    path = public / "persons.geojson"
    rewritten(path, GEOJSON["a value"])
    certificate = public / "persons.certificate.json"
    content = json.loads(certificate.read_text())
    from diskret.publish.digests import digest

    content["files"][path.name] = digest(path)
    certificate.write_text(json.dumps(content))
    with pytest.raises(VerificationError, match=r"persons\.geojson"):
        dk.verify(public)


def test_a_broken_writer_releases_nothing(tmp_path, monkeypatch):
    import diskret.publish.formats.maps.write as written

    def broken(features, path):
        written_well(features, path)
        rewritten(path, GEOJSON["a value"])

    written_well = written._FILES["geojson"]
    monkeypatch.setitem(written._FILES, "geojson", broken)
    with pytest.raises(ProofError, match=r"persons\.geojson does not hold the published values"):
        of_cells().write(tmp_path / "out", ["csv", "geojson"], keys=KEYS)
    assert not (tmp_path / "out").exists()


def test_tables_without_places_have_no_map(tmp_path):
    table = dk.tabulate(pa.table({"sex": ["m", "f"] * 9}), by={"sex": None})
    result = dk.suppress(table, FEW, name="sex")
    with pytest.raises(InputError, match="nothing to draw a map of"):
        result.write(tmp_path / "out", ["csv", "map"], keys=KEYS)
    land = dk.datasets.country(50)
    with pytest.raises(InputError, match="'town', which is no variable"):
        result.write(tmp_path / "out", ["csv"], keys=KEYS, places={"town": land.districts})
    assert not (tmp_path / "out").exists()


def test_codes_without_borders_are_named(tmp_path):
    table = dk.tabulate(pa.table({"town": ["A"] * 9 + ["B"] * 8}), by={"town": None})
    square = [(0, 0), (9, 0), (9, 9), (0, 9)]
    areas = dk.spatial.Areas(["A"], [[square]])
    with pytest.raises(InputError, match=r"1 code has no borders \('B'\)"):
        dk.suppress(table, FEW).write(
            tmp_path / "out", ["csv", "map"], keys=KEYS, places={"town": areas}
        )


def test_too_many_values_for_a_place_are_refused(tmp_path):
    codes = [str(at) for at in range(300)]
    cells = pa.table({"cell": ["1kmN2684E4334"] * 300, "age": codes, "count": [9] * 300})
    table = dk.Table.from_cells(cells, by={"cell": None, "age": None}, count="count")
    with pytest.raises(InputError, match="301 values for each place"):
        dk.suppress(table, FEW).write(tmp_path / "out", ["csv", "map"], keys=KEYS)


def test_holes_and_islands_are_nested():
    def square(west, size):
        corners = [(west, 0), (west + size, 0), (west + size, size), (west, size)]
        return np.array(corners, float) + (0, (100 - size) / 2)

    # an island in a lake on an island, and another island
    rings = (square(40, 20), square(0, 100), square(200, 10), square(20, 60))
    polygons = Outlines(3035, None, (rings,)).polygons(0)
    areas = [[geopandas.points_from_xy(*ring.T).size for ring in one] for one in polygons]
    assert areas == [[5], [5, 5], [5]]
    from shapely import Polygon

    assert [Polygon(one[0], one[1:]).area for one in polygons] == [400, 6_400, 100]


def test_ids_of_one_grid_spelled_in_two_ways_are_no_cells_of_it():
    # both say a width of 1,000 m, but only one of them as official ids do
    for other in ("1000mN2684E4334", "OWN3035SIZE1000mN2684000E4334000"):
        with pytest.raises(InputError, match="(is no cell|are no cells) of a grid of 1000 m"):
            outlines_of_cells(["1kmN2684E4334", other, "1kmN2684E4335"])
    mixed = outlines_of_cells(["CRS3035RES1000mN2684000E4334000", "1kmN2684E4335"])
    assert mixed.squares.tolist() == [[4334000, 2684000, 1000], [4335000, 2684000, 1000]]
