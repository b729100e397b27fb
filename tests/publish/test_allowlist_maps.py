"""The last guard of maps: whatever else stands in one of their files is found, byte for byte."""

import json
import shutil
import sqlite3
import struct
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.hierarchy import Hierarchy
from diskret.publish.formats.maps.features import features_of
from diskret.publish.formats.maps.files import write_geojson, write_geoparquet, write_gpkg
from diskret.publish.guard.maps import map_problems
from diskret.publish.maps import MAPS
from diskret.publish.pages.places import write_map_page
from diskret.spatial import Areas
from diskret.spatial.wkb import multipolygon, rings_of
from diskret.tables import Dimension, Published

CELLS = Dimension("cell", Hierarchy.flat([f"1kmN2684E{4334 + at}" for at in range(4)]))
SEX = Dimension("sex", Hierarchy.flat(["f", "m"]))
TOWN = Dimension("town", Hierarchy.flat(["A", "B"]))


def square(west, size=100.0):
    return [(west, 0.0), (west + size, 0.0), (west + size, size), (west, size)]


BORDERS = {"town": Areas(["A", "B"], [[square(0.0), square(500.0)], [square(200.0)]], crs=3035)}


def of_cells(form):
    return Dimension("cell", Hierarchy.flat([form.format(at) for at in range(4)]))


def a_table(*dimensions, decimals=0, factor=1):
    """Values that grow; the third is hidden and the fourth empty, in every column."""
    shape = tuple(len(d) for d in dimensions)
    value = np.arange(10, 10 + int(np.prod(shape))).reshape(shape) * factor
    suppressed, empty = (np.zeros(shape, dtype=bool) for _ in range(2))
    suppressed[2:3], empty[3:4] = True, True
    value[suppressed | empty] = 0
    return Published("t", dimensions, "v", False, decimals, value, suppressed, empty)


TABLES = {
    "cells": (a_table(CELLS), {}),
    "cells and sex": (a_table(CELLS, SEX), {}),
    "sex and cells": (
        replace(
            a_table(CELLS, SEX),
            dimensions=(SEX, CELLS),
            **{of: getattr(a_table(CELLS, SEX), of).T for of in ("value", "suppressed", "empty")},
        ),
        {},
    ),
    "cents": (a_table(CELLS, decimals=2, factor=11), {}),
    "large cents": (a_table(CELLS, decimals=2, factor=10**13 + 1), {}),
    "one cell": (a_table(Dimension("cell", Hierarchy(("1kmN2684E4334",), np.array([-1])))), {}),
    "cells of metres": (a_table(of_cells("100mN26840E4334{}")), {}),
    "cells with long ids": (a_table(of_cells("CRS3035RES1000mN2684000E433{}000")), {}),
    "cells of another grid": (a_table(of_cells("OWN25832SIZE500mN5684000E433{}000")), {}),
    "cells and one sex": (a_table(CELLS, Dimension("sex", Hierarchy.flat(["f"]))), {}),
    "towns": (a_table(TOWN), BORDERS),
    "towns and sex": (a_table(TOWN, SEX, decimals=1), BORDERS),
}


def write(folder, table, places, language="en", kinds=MAPS):
    features = features_of(table, places)
    writers = {"geojson": write_geojson, "geoparquet": write_geoparquet, "gpkg": write_gpkg}
    for kind in kinds:
        path = folder / f"t{MAPS[kind]}"
        if kind == "map":
            write_map_page(features, path, title="A title", language=language)
        else:
            writers[kind](features, path)


def problems(folder, kind="cells"):
    return list(map_problems(folder, TABLES[kind][0]))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    for name, (table, places) in TABLES.items():
        (folder / name).mkdir()
        write(folder / name, table, places)
    return folder


@pytest.mark.parametrize("kind", TABLES)
def test_what_is_written_may_leave(written, kind, tmp_path):
    assert len(list((written / kind).iterdir())) == len(MAPS)
    assert problems(written / kind, kind) == []
    write(tmp_path, *TABLES[kind], "de", ["map"])
    assert problems(tmp_path, kind) == []
    assert list(map_problems(tmp_path / "nothing", TABLES[kind][0])) == []


@pytest.mark.parametrize("ending", MAPS.values())
def test_another_table_does_not_leave_in_its_place(written, ending, tmp_path):
    table, _ = TABLES["cells"]
    shutil.copy(written / "cells" / f"t{ending}", tmp_path)
    other = Dimension("cell", Hierarchy.flat([f"1kmN2684E{4335 + at}" for at in range(4)]))
    shorter = Dimension("cell", Hierarchy.flat(CELLS.hierarchy.codes[1:4]))
    wrong = [
        replace(table, value=table.value * 2),
        replace(table, suppressed=table.empty, empty=table.suppressed),
        replace(table, measure="w"),
        replace(table, dimensions=(other,)),
        replace(a_table(shorter), name="t"),
        a_table(CELLS, SEX),
        replace(table, decimals=1),
        replace(table, dimensions=(replace(CELLS, name="place"),)),
    ]
    for one in wrong:
        assert list(map_problems(tmp_path, one)) != [], one
    [problem] = map_problems(tmp_path, wrong[-1])
    assert problem == f"t{ending} shows places of 'cell', which is no variable of the table"
    (tmp_path / f"t{ending}").write_bytes(b"4711")
    [problem] = map_problems(tmp_path, table)
    assert "cannot be read" in problem


def found(written, tmp_path, kind, ending, change):
    path = tmp_path / f"t{ending}"
    shutil.copy(written / kind / path.name, path)
    change(path)
    return problems(tmp_path, kind)


# ── GeoJSON ─────────────────────────────────────────────────────────────────────────


def put(*path_and_value):
    *path, key, value = path_and_value

    def change(content):
        for step in path:
            content = content[step]
        content[key] = value

    return change


ONE = ("features", 0)
RING = (*ONE, "geometry", "coordinates", 0)
GEOJSON = [
    ("cells", put("name", "p = 5"), "has other members than features"),
    ("cells", put("type", "Collection"), "has other members than features"),
    ("cells", lambda c: c.pop("type"), "has other members than features"),
    ("cells", put(*ONE, "id", 7), "has features with other members"),
    ("cells", put(*ONE, "type", "p = 5"), "has features with other members"),
    ("cells", put(*ONE, "properties", "p", 5), "has other properties than the table has columns"),
    ("cells", put(*ONE, "properties", "v", 12), "does not hold the published values"),
    ("cells", put(*ONE, "properties", "status", "empty"), "does not hold the published values"),
    ("cells", put("features", 1, "properties", "v", 4711), "does not hold the published values"),
    (
        "cells",
        lambda c: c["features"].append(c["features"][0]),
        "does not hold the published values",
    ),
    ("cells", lambda c: c["features"].pop(), "does not hold the published values"),
    ("cells", lambda c: c["features"].clear(), "cannot be read"),
    ("cells", put(*ONE, "geometry", "bbox", [0, 0, 1, 1]), "has a geometry with other members"),
    ("cells", put(*ONE, "geometry", "type", "MultiPoint"), "has a geometry with other members"),
    ("cells", put(*RING, 0, 0, 9.5), "has a place that lies elsewhere"),
    ("cells", put(*RING, 2, 1, 48.5), "has a place that lies elsewhere"),
    ("cells", put(*RING, [[0.0, 0.0]] * 5), "has a place that lies elsewhere"),
    (
        "cells",
        lambda c: put(*RING, 4, c["features"][0]["geometry"]["coordinates"][0][1])(c),
        "has a place that lies elsewhere",
    ),
    (
        "cells",
        lambda c: c["features"][0]["geometry"]["coordinates"][0].append([9.5, 48.5]),
        "has a place that lies elsewhere",
    ),
    (
        "cells",
        lambda c: c["features"][0]["geometry"]["coordinates"].append(
            c["features"][0]["geometry"]["coordinates"][0]
        ),
        "has a place that lies elsewhere",
    ),
    ("cells", put(*ONE, "geometry", "coordinates", []), "has a place that lies elsewhere"),
    (
        "towns",
        put("features", 1, "geometry", "coordinates", 0, [1, 2, 3]),
        "has a place that lies elsewhere",
    ),
    (
        "towns",
        put("features", 1, "geometry", "coordinates", 0, [[1, 2, 3]]),
        "has a place that lies elsewhere",
    ),
    ("towns and sex", put(*ONE, "properties", "v f", 1.5), "does not hold the published values"),
]


@pytest.mark.parametrize(("kind", "change", "named"), GEOJSON)
def test_whatever_is_changed_in_geojson_is_found(written, tmp_path, kind, change, named):
    def rewritten(path):
        content = json.loads(path.read_text("utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    told = found(written, tmp_path, kind, ".geojson", rewritten)
    assert any(named in one for one in told), told


@pytest.mark.parametrize("size", [1e-6, -1e-6, 1.5e-7])
def test_corners_in_degrees_may_be_rounded_only(written, tmp_path, size):
    def moved(path):
        content = json.loads(path.read_text("utf-8"))
        ring = content["features"][0]["geometry"]["coordinates"][0]
        for corner in ring:
            corner[0] += size
        path.write_text(json.dumps(content), encoding="utf-8")

    told = found(written, tmp_path, "cells", ".geojson", moved)
    assert told == ["t.geojson has a place that lies elsewhere"]


# ── GeoParquet ──────────────────────────────────────────────────────────────────────


def about(change):
    """A file with something else said of its geometries."""

    def changed(table):
        content = json.loads(table.schema.metadata[b"geo"])
        change(content)
        return table.replace_schema_metadata({b"geo": json.dumps(content).encode()})

    return changed


def shapes(change, column="geometry"):
    def changed(table):
        at = table.column_names.index(column)
        return table.set_column(at, column, pa.array(change(table[column].to_pylist())))

    return changed


def with_heights(shape):
    """The same as a multipolygon with heights."""
    count = struct.unpack_from("<I", shape, 18)[0]
    ring = np.frombuffer(shape, "<f8", 2 * count, 22).reshape(-1, 2)
    raised = np.c_[ring, np.full(count, 4711.0)].tobytes()
    head = struct.pack("<BII", 1, 1006, 1) + struct.pack("<BII", 1, 1003, 1)
    return head + struct.pack("<I", count) + raised


def moved(shape, by):
    [ring] = rings_of(shape)
    return multipolygon([[ring + by]])


def folded(shape):
    """All at one of its corners."""
    [ring] = rings_of(shape)
    return multipolygon([[np.repeat(ring[:1], 5, axis=0)]])


def field_with_metadata(table):
    at = table.column_names.index("v")
    field = table.schema.field(at).with_metadata({"rule": "p = 5"})
    changed = table.set_column(at, field, table["v"])
    return changed.replace_schema_metadata(table.schema.metadata)


ELSEWHERE = "has a place that lies elsewhere"
PARQUET = [
    ("cells", about(put("note", "p = 5")), "says more of its geometries than it must"),
    ("cells", about(put("version", "p = 5")), "says more of its geometries"),
    ("cells", about(put("primary_column", "p = 5")), "says more of its geometries"),
    (
        "cells",
        about(put("columns", "geometry", "encoding", "p = 5")),
        "says more of its geometries",
    ),
    (
        "cells",
        about(put("columns", "geometry", "geometry_types", ["p"])),
        "says more of its geometries",
    ),
    ("cells", about(put("columns", "geometry", "bbox", [4711])), "says more of its geometries"),
    (
        "cells",
        about(put("columns", "geometry", "crs", "name", "p = 5")),
        "says more of its geometries",
    ),
    ("cells", about(put("columns", "other", {})), "says more of its geometries"),
    (
        "cells",
        lambda t: t.append_column("p", t["v"]).replace_schema_metadata(t.schema.metadata),
        "has other columns",
    ),
    (
        "cells",
        lambda t: t.rename_columns(["cell", "w", "status", "geometry"]).replace_schema_metadata(
            t.schema.metadata
        ),
        "has other columns",
    ),
    (
        "cells",
        lambda t: t.replace_schema_metadata({**t.schema.metadata, b"p": b"5"}),
        "has other metadata",
    ),
    ("cells", lambda t: t.replace_schema_metadata(None), "has other metadata"),
    ("cells", shapes(lambda v: [12, *v[1:]], "v"), "does not hold the published values"),
    ("cells", shapes(lambda v: v[::-1]), ELSEWHERE),
    ("cells", shapes(lambda v: [moved(v[0], 0.5), *v[1:]]), ELSEWHERE),
    ("cells", shapes(lambda v: [folded(v[0]), *v[1:]]), ELSEWHERE),
    (
        "towns",
        shapes(lambda v: [v[0], multipolygon([[np.array([[0, 0], [np.nan, 1.0]])]])]),
        ELSEWHERE,
    ),
    ("cells", shapes(lambda v: [multipolygon([[np.zeros((5, 2))]]), *v[1:]]), ELSEWHERE),
    (
        "cells",
        shapes(lambda v: [v[0] + b"4711", *v[1:]]),
        "has more in its geometries than corners",
    ),
    ("cells", shapes(lambda v: [with_heights(v[0]), *v[1:]]), "has more in its geometries"),
    ("towns", shapes(lambda v: [v[0], v[1] + b"4711"]), "has more in its geometries than corners"),
    ("towns", shapes(lambda v: [v[0], multipolygon([[np.full((5, 2), np.nan)]])]), ELSEWHERE),
    ("cells", shapes(lambda v: [v[0][:-9], *v[1:]]), "ends before its last corner"),
]


@pytest.mark.parametrize(("kind", "change", "named"), PARQUET)
def test_whatever_is_changed_in_geoparquet_is_found(written, tmp_path, kind, change, named):
    def rewritten(path):
        table = change(pq.read_table(path))
        with pq.ParquetWriter(path, table.schema, store_schema=False) as file:
            file.write_table(table)
            file.add_key_value_metadata(table.schema.metadata or {})

    told = found(written, tmp_path, kind, ".geo.parquet", rewritten)
    assert any(named in one for one in told), told


def test_metadata_of_a_column_are_found(written, tmp_path):
    told = found(
        written,
        tmp_path,
        "cells",
        ".geo.parquet",
        lambda path: pq.write_table(field_with_metadata(pq.read_table(path)), path),
    )
    assert any("has other metadata" in one for one in told), told


# ── GeoPackage ──────────────────────────────────────────────────────────────────────


GPKG = [
    ("UPDATE t SET v = 12 WHERE fid = 1", "does not hold the published values"),
    ("UPDATE t SET v = 4711 WHERE fid = 2", "does not hold the published values"),
    ("UPDATE t SET fid = 4711 WHERE fid = 4", "numbers places otherwise than in their order"),
    ("ALTER TABLE t ADD COLUMN p INTEGER", "has other columns"),
    ("ALTER TABLE t RENAME COLUMN v TO w", "has other columns"),
    ("CREATE TABLE notes (p TEXT)", "has other tables"),
    ("DROP TABLE gpkg_geometry_columns", "has other tables"),
    ("CREATE VIEW p AS SELECT * FROM t", "has views, triggers"),
    ("CREATE INDEX p ON t (v)", "has views, triggers"),
    ("CREATE TRIGGER p AFTER INSERT ON t BEGIN SELECT 4711; END", "has views, triggers"),
    ("UPDATE gpkg_contents SET description = 'p = 5'", "says of its layer what it must not"),
    ("UPDATE gpkg_contents SET identifier = 'p = 5'", "says of its layer what it must not"),
    ("UPDATE gpkg_contents SET last_change = '2026-01-01T00:00:00.000Z'", "says of its layer"),
    ("UPDATE gpkg_contents SET min_x = 4711", "has another box around all places"),
    ("UPDATE gpkg_contents SET max_y = 4711", "has another box around all places"),
    ("UPDATE gpkg_contents SET min_y = 4711", "has another box around all places"),
    ("UPDATE gpkg_contents SET max_x = 4711", "has another box around all places"),
    (
        "INSERT INTO gpkg_contents SELECT 'p', data_type, 'p', description, last_change, "
        "min_x, min_y, max_x, max_y, srs_id FROM gpkg_contents",
        "cannot be read",
    ),
    ("UPDATE gpkg_geometry_columns SET z = 1", "has other geometries"),
    (
        "INSERT INTO gpkg_spatial_ref_sys VALUES ('x', 7, 'NONE', 7, 'p', '')",
        "other reference systems",
    ),
    (
        "UPDATE gpkg_spatial_ref_sys SET organization = 'p' WHERE srs_id = 0",
        "other reference systems",
    ),
    ("UPDATE sqlite_sequence SET seq = 4711", "counts other places"),
    ("INSERT INTO sqlite_sequence VALUES ('p', 4711)", "counts other places"),
    ("INSERT INTO gpkg_tile_matrix_set VALUES ('t', 3035, 0, 0, 5, 5)", "has tiles"),
    ("INSERT INTO gpkg_tile_matrix VALUES ('t', 0, 1, 1, 1, 1, 1, 1)", "has tiles"),
]


@pytest.mark.parametrize(("statement", "named"), GPKG)
def test_whatever_is_changed_in_a_geopackage_is_found(written, tmp_path, statement, named):
    def changed(path):
        with sqlite3.connect(path) as opened:
            opened.execute(statement)
        opened.close()

    told = found(written, tmp_path, "cells", ".gpkg", changed)
    assert any(named in one for one in told), told


def test_pages_that_were_deleted_are_found(written, tmp_path):
    def changed(path):
        with sqlite3.connect(path) as opened:
            opened.execute("CREATE TABLE p (x BLOB)")
            opened.execute("INSERT INTO p VALUES (randomblob(9000))")
            opened.execute("DROP TABLE p")
        opened.close()

    told = found(written, tmp_path, "cells", ".gpkg", changed)
    assert told == ["t.gpkg has views, triggers, or pages that were deleted"]


GEOMETRIES = [
    ("cells", 0, lambda raw: b"XX" + raw[2:], "has other boxes around places"),
    ("cells", 0, lambda raw: raw[:4] + b"\1\0\0\0" + raw[8:], "has other boxes around places"),
    ("cells", 3, lambda raw: raw[:8] + raw[16:24] * 2 + raw[24:], "has other boxes around places"),
    ("cells", 0, lambda raw: raw + b"4711", "has more in its geometries than corners"),
    ("cells", 0, lambda raw: raw[:40] + with_heights(raw[40:]), "has more in its geometries"),
    ("cells", 0, lambda raw: raw[:40] + multipolygon([[np.zeros((5, 2))]]), ELSEWHERE),
    ("towns", 1, lambda raw: raw + b"4711", "has more in its geometries than corners"),
    ("towns", 1, lambda raw: raw[:8] + bytes(32) + raw[40:], "has other boxes around places"),
]


@pytest.mark.parametrize(("kind", "at", "change", "named"), GEOMETRIES)
def test_geometries_in_a_geopackage_are_read_to_the_byte(
    written, tmp_path, kind, at, change, named
):
    def changed(path):
        with sqlite3.connect(path) as opened:
            [(raw,)] = opened.execute("SELECT geometry FROM t WHERE fid = ?", (at + 1,)).fetchall()
            opened.execute("UPDATE t SET geometry = ? WHERE fid = ?", (change(raw), at + 1))
        opened.close()

    told = found(written, tmp_path, kind, ".gpkg", changed)
    assert any(named in one for one in told), told


# ── the page ────────────────────────────────────────────────────────────────────────


PAGE = [
    ("cells", ('"decimals":0', '"decimals":0,"p":5'), "holds the key p"),
    ("cells", ('"language":"en"', '"language":"fr"'), "says more than what is published"),
    ("cells", ('"note":""', '"note":"p = 5"'), "says more than what is published"),
    ("cells", ('"found":[]', '"found":["1 without 2"]'), "says more than what is published"),
    ("cells", ('"decimals":0', '"decimals":1'), "has other decimals"),
    ("cells", ('"label":"v"', '"label":"p"'), "has other columns"),
    ("cells and sex", ('"label":"f"', '"label":"p"'), "has other columns"),
    ("cells", ('"values":[11,', '"values":[12,'), "does not hold the published values"),
    ("cells", ('"states":[0,1', '"states":[0,0'), "does not hold the published values"),
    (
        "cells",
        ('"codes":["1kmN2684E4334"', '"codes":["1kmN2684E4339"'),
        "does not hold the published",
    ),
    ("cells", ('"squares":[[4334000', '"squares":[[4711000'), ELSEWHERE),
    ("cells", ('"rings":[]', '"rings":[[[0,0,1,0,1,1,0,1,0,0]]]'), "has outlines of other places"),
    ("cells", ('"squares":[[', '"squares":null,"codez":[['), "holds the key codez"),
    ("towns", ('"rings":[[[', '"rings":[[[1,2,3,4]],[['), "has outlines of other places"),
    ("towns", ('"rings":[[[', '"rings":[[[4,7,11,'), "cannot be read"),
    ("cells", ('"use strict"', '"use strict";fetch("//x")'), "has another text around its data"),
    ("cells", ('"note":""', '"note":"<b>"'), "has markup among its data"),
    ("cells", ('"variable":"cell"', '"variable":"p"'), "shows places of 'p', which is no variable"),
    ("cells", ('"closer":"', '"closer":"p = 5'), "has other words"),
]


@pytest.mark.parametrize(("kind", "change", "named"), PAGE)
def test_whatever_is_changed_on_a_page_is_found(written, tmp_path, kind, change, named):
    def changed(path):
        text = path.read_text("utf-8")
        assert change[0] in text, text[-3000:]
        path.write_text(text.replace(*change, 1), encoding="utf-8")

    told = found(written, tmp_path, kind, ".map.html", changed)
    assert any(named in one for one in told), told


def test_a_place_stands_on_a_page_once(written, tmp_path):
    def changed(path):
        text = path.read_text("utf-8")
        before, rest = text.split('id="data">')
        data, after = rest.split("</script>", 1)
        content = json.loads(data)
        content["codes"].insert(0, content["codes"][0])
        for row in content["squares"]:
            row.insert(0, row[0])
        content["columns"][0]["values"].insert(0, 4711)
        content["columns"][0]["states"].insert(0, 0)
        new = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        data = data.replace(data.strip(), new)
        path.write_text(f'{before}id="data">{data}</script>{after}', encoding="utf-8")

    told = found(written, tmp_path, "cells", ".map.html", changed)
    assert told == ["t.map.html does not hold the published values"]


def test_cells_are_drawn_where_their_ids_say_even_with_borders(written, tmp_path):
    def changed(path):
        text = path.read_text("utf-8")
        start = text.index('"squares":')
        end = text.index(',"columns"', start)
        ring = "[[0,0,1,0,1,1,0,1,0,0]]"
        outlines = f'"squares":null,"rings":[{",".join([ring] * 4)}]'
        path.write_text(text[:start] + outlines + text[end:], encoding="utf-8")

    told = found(written, tmp_path, "cells", ".map.html", changed)
    assert told == ["t.map.html has a place that lies elsewhere"]
