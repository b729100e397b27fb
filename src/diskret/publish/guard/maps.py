"""What may stand in maps: published values of the finest places, and their outlines.

Each file is read by code that knows nothing of how it was written. Its values and their status must
be those that are published, squares must lie where the ids of their cells say, and beside the
table's own names and fixed words there must be nothing: no other property, layer, table or script.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.from_json import Form, misfits, parse_json, read_json
from diskret.publish.maps import MAPS, PAGE_TEXTS, PAGE_WORDS, page_parts
from diskret.spatial.geojson import DEGREES
from diskret.spatial.systems import transformed
from diskret.spatial.wkb import rings_of
from diskret.tables import Published
from diskret.tables.public_files import public_cells
from diskret.texts import LANGUAGES, words_in

_STATES = ("published", "suppressed", "empty")
_PAGE: Form = {
    **dict.fromkeys(("language", "title", "note", "variable"), str),
    "words": dict.fromkeys(PAGE_TEXTS, str),
    "decimals": int,
    "codes": [str],
    "squares": ([[int]], None),
    "rings": [[[(int, float)]]],
    "columns": [{"label": str, "values": [int], "states": [int]}],
    "found": [str],
}
#: How far a corner in degrees may lie from where it should: its last decimal, rounded.
_TOLERANCE = 1e-7
_CELL = re.compile(
    r"(?:[A-Z]{2}_)?(?:CRS(?P<crs>3035)RES(?P<long>\d+)m|(?P<short>\d+)(?P<unit>k?m)"
    r"|OWN(?P<own>\d+)SIZE(?P<size>\d+)m)N(?P<north>-?\d+)E(?P<east>-?\d+)"
)
_POLYGONS = ("Polygon", "MultiPolygon")
#: Bytes before well-known binary in a GeoPackage: eight, and a box of four numbers.
_HEAD = 40
#: Tables of a GeoPackage; those that must be empty, and systems that each one has.
_TILES = {"gpkg_tile_matrix", "gpkg_tile_matrix_set"}
_SYSTEM_TABLES = {"gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns"}
_ALWAYS = {-1, 0, DEGREES}


@dataclass(frozen=True)
class _Expected:
    """Code of each place → what stands beside it, in the order of the columns."""

    table: str
    decimals: int
    names: tuple[str, ...]
    labels: tuple[str, ...]
    rows: dict[str, tuple[Any, ...]]
    scaled: dict[str, tuple[Any, ...]]


def map_problems(folder: Path, published: Published) -> Iterator[str]:
    """What is wrong with the maps of a table; nothing if there are none."""
    paths = {one: folder / f"{published.name}{ending}" for one, ending in MAPS.items()}
    checks = {"geojson": _geojson, "geoparquet": _geoparquet, "gpkg": _gpkg, "map": _page}
    for one, path in paths.items():
        if not path.exists():
            continue
        try:
            variable = _variable(path, one)
            names = [dimension.name for dimension in published.dimensions]
            if variable not in names:
                yield f"{path.name} shows places of {variable!r}, which is no variable of the table"
                continue
            expected = _expected(published, names.index(variable))
            yield from (f"{path.name} {problem}" for problem in checks[one](path, expected))
        except (InputError, ValueError, KeyError, TypeError, IndexError, OSError) as error:
            yield f"{path.name} cannot be read ({error!r})"
        except (sqlite3.Error, pa.ArrowException) as error:
            yield f"{path.name} cannot be read ({error})"


def _variable(path: Path, kind: str) -> str:
    """Which variable a map says that its places are of; the first column everywhere."""
    if kind == "map":
        return _page_data(path)["variable"]
    if kind == "geojson":
        content = read_json(path)
        return next(iter(content["features"][0]["properties"]))
    if kind == "geoparquet":
        return pq.read_schema(path).names[0]
    with closing(_opened(path)) as opened:
        (layer,) = opened.execute("SELECT table_name FROM gpkg_contents").fetchone()
        columns = opened.execute("SELECT name FROM pragma_table_info(?)", (layer,)).fetchall()
    return columns[2][0]


def _expected(published: Published, axis: int) -> _Expected:
    cells = public_cells(published)
    dimension = published.dimensions[axis]
    tree = dimension.hierarchy
    finest = {tree.codes[at] for at in tree.leaves}
    others = [d.name for d in published.dimensions if d.name != dimension.name]
    combined = list(zip(*(cells[name].to_pylist() for name in others), strict=True))
    labels = list(dict.fromkeys(combined or [()]))
    rows, scaled = ({code: list[Any]() for code in finest} for _ in range(2))
    columns = (cells[dimension.name], cells[published.measure], cells["status"])
    # cells of each place come in the order of the labels
    for code, value, status in zip(*(column.to_pylist() for column in columns), strict=True):
        if code in finest:
            number = None if value == "" else float(value) if published.decimals else int(value)
            rows[code] += [number, status]
            whole = int(Decimal(value or 0).scaleb(published.decimals))
            scaled[code] += [whole, _STATES.index(status)]
    names = [dimension.name]
    for label in labels:
        names += [" ".join((published.measure, *label)), " ".join(("status", *label))]
    return _Expected(
        published.name,
        published.decimals,
        tuple(names),
        tuple(" ".join(label) for label in labels),
        {code: tuple(row) for code, row in rows.items()},
        {code: tuple(row) for code, row in scaled.items()},
    )


def _rows(found: Sequence[Mapping[str, Any]], expected: _Expected) -> Iterator[str]:
    name, *others = expected.names
    if any(tuple(row) != expected.names for row in found):
        yield "has other properties than the table has columns"
        return
    told = {row[name]: tuple(row[one] for one in others) for row in found}
    if len(told) != len(found) or told != expected.rows:
        yield "does not hold the published values"


def _squares(codes: Sequence[str]) -> tuple[int, NDArray[np.float64]] | None:
    """EPSG number, and corners, shape (cells, 4, 2), by ids alone; None: these are no cells."""
    found = [_CELL.fullmatch(code) for code in codes]
    numbers = list[tuple[int, int, int]]()
    systems = set[int]()
    for one in found:
        if one is None:
            return None
        width = int(one["long"] or one["size"] or one["short"])
        width *= 1_000 if one["unit"] == "km" else 1
        unit = width if one["short"] else 1
        numbers.append((int(one["east"]) * unit, int(one["north"]) * unit, width))
        systems.add(int(one["own"] or 3035))
    (crs,) = systems
    west, south, width = np.array(numbers, np.float64).T[..., None]
    east = west + width * [0, 0, 1, 1]
    return crs, np.stack([east, south + width * [0, 1, 0, 1]], axis=-1)


def _lie_there(
    codes: Sequence[str], shapes: Sequence[list[NDArray[np.float64]]], degrees: bool
) -> bool:
    """Whether places are the squares that ids tell; of other areas, whether these are numbers.

    `shapes`: the rings of each place.
    """
    rings = [ring for own in shapes for ring in own]
    if any(ring.ndim != 2 or ring.shape[1] != 2 or not np.isfinite(ring).all() for ring in rings):
        return False
    squares = _squares(codes)
    if squares is None:
        return True
    if any(len(own) != 1 or len(own[0]) != 5 for own in shapes):
        return False
    crs, corners = squares
    if degrees:
        moved = transformed(corners[..., 0].ravel(), corners[..., 1].ravel(), crs, DEGREES)
        corners = np.stack(moved, axis=1).reshape(corners.shape)
    found = np.stack(rings)
    away = np.abs(found[:, :, None] - corners[:, None]).max(axis=-1)
    allowed = _TOLERANCE if degrees else 0.0
    # four points and again the first, one at each corner
    closed = found[:, 0] == found[:, -1]
    return bool(closed.all() and (away.min(axis=1) <= allowed).all())


# ── GeoJSON ─────────────────────────────────────────────────────────────────────────


def _geojson(path: Path, expected: _Expected) -> Iterator[str]:
    content = read_json(path)
    features = content["features"]
    if set(content) != {"type", "features"} or content["type"] != "FeatureCollection":
        yield "has other members than features"
    kinds = {(*one,) for one in features}, {one["type"] for one in features}
    if kinds != ({("type", "properties", "geometry")}, {"Feature"}):
        yield "has features with other members"
        return
    yield from _rows([one["properties"] for one in features], expected)
    shapes = list[list[NDArray[np.float64]]]()
    for one in features:
        geometry = one["geometry"]
        if {*geometry} != {"type", "coordinates"} or geometry["type"] not in _POLYGONS:
            yield "has a geometry with other members"
            return
        polygons = geometry["coordinates"]
        if geometry["type"] == "Polygon":
            polygons = [polygons]
        shapes.append([np.array(ring, np.float64) for rings in polygons for ring in rings])
    if not _lie_there([one["properties"][expected.names[0]] for one in features], shapes, True):
        yield "has a place that lies elsewhere"


# ── GeoParquet ──────────────────────────────────────────────────────────────────────


def _geoparquet(path: Path, expected: _Expected) -> Iterator[str]:
    table = pq.read_table(path)
    metadata = {key.decode(): value for key, value in (table.schema.metadata or {}).items()}
    if set(metadata) != {"geo"} or any(field.metadata for field in _plain(table.schema)):
        yield "has other metadata"
        return
    about = parse_json(metadata["geo"].decode(), path.name)
    system = _system(about["columns"]["geometry"]["crs"]["id"]["code"])
    column = {"encoding": "WKB", "geometry_types": ["MultiPolygon"], "crs": system}
    if about != {
        "version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}
    }:  # fmt: skip
        yield "says more of its geometries than it must"
    if table.column_names != [*expected.names, "geometry"]:
        yield "has other columns"
        return
    yield from _rows(table.drop_columns(["geometry"]).to_pylist(), expected)
    codes = table[expected.names[0]].to_pylist()
    yield from _shapes(codes, table["geometry"].to_pylist())


def _plain(schema: pa.Schema) -> list[pa.Field]:
    """Fields with metadata other than the number that Parquet gives each."""
    return [one for one in schema if set(one.metadata or {}) - {b"PARQUET:field_id"}]


def _system(code: Any) -> Any:
    from pyproj import CRS

    return CRS.from_epsg(code).to_json_dict()


def _shapes(codes: Sequence[str], shapes: Sequence[bytes]) -> Iterator[str]:
    places = [rings_of(shape) for shape in shapes]
    if not all(map(_bare, shapes, places)):
        yield "has more in its geometries than corners"
    elif not _lie_there(codes, places, degrees=False):
        yield "has a place that lies elsewhere"


def _bare(shape: bytes, rings: Sequence[NDArray[np.float64]]) -> bool:
    """Whether a multipolygon has no heights, measures, or bytes behind it, by its length."""
    polygons = int.from_bytes(shape[5:9], "little")
    return len(shape) == 9 + 9 * polygons + sum(4 + ring.nbytes for ring in rings)


# ── GeoPackage ──────────────────────────────────────────────────────────────────────


def _gpkg(path: Path, expected: _Expected) -> Iterator[str]:
    with closing(_opened(path)) as opened:
        yield from _gpkg_problems(opened, expected)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _gpkg_problems(opened: sqlite3.Connection, expected: _Expected) -> Iterator[str]:
    def asked(sql: str) -> list[tuple[Any, ...]]:
        return opened.execute(sql).fetchall()

    layer = expected.table
    tables = {name for (name,) in asked("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables - _TILES != {*_SYSTEM_TABLES, layer, "sqlite_sequence"}:
        yield "has other tables"
        return
    # indexes of keys have no SQL; tables of tiles come with triggers
    rest = asked("SELECT tbl_name FROM sqlite_master WHERE type != 'table' AND sql IS NOT NULL")
    if {name for (name,) in rest} - _TILES or asked("PRAGMA freelist_count") != [(0,)]:
        yield "has views, triggers, or pages that were deleted"
    if any(asked(f"SELECT count(*) FROM {name}") != [(0,)] for name in tables & _TILES):  # noqa: S608
        yield "has tiles"
    if len(contents := asked("SELECT * FROM gpkg_contents")) != 1:
        yield "has other layers"
        return
    system = contents[0][-1]
    if contents[0][:5] != (layer, "features", layer, "", "1970-01-01T00:00:00.000Z"):
        yield "says of its layer what it must not"
    if asked("SELECT * FROM gpkg_geometry_columns") != [
        (layer, "geometry", "MULTIPOLYGON", system, 0, 0)
    ]:
        yield "has other geometries"
        return
    for row in asked("SELECT srs_id, organization FROM gpkg_spatial_ref_sys"):
        if row[0] not in {*_ALWAYS, system} or row[1] not in ("NONE", "EPSG"):
            yield "has other reference systems"
    if asked("SELECT name, seq FROM sqlite_sequence") != [(layer, len(expected.rows))]:
        yield "counts other places"
    cursor = opened.execute(f"SELECT * FROM {_quoted(layer)}")  # noqa: S608
    names = [one[0] for one in cursor.description]
    if names != ["fid", "geometry", *expected.names]:
        yield "has other columns"
        return
    found = cursor.fetchall()
    yield from _rows([dict(zip(names[2:], row[2:], strict=True)) for row in found], expected)
    if [row[0] for row in found] != [*range(1, len(found) + 1)]:
        yield "numbers places otherwise than in their order"
    # well-known binary stands behind the head of a geometry and the box around it
    shapes = [row[1][_HEAD:] for row in found]
    yield from _shapes([row[2] for row in found], shapes)
    corners = [np.concatenate(rings_of(shape)) for shape in shapes]
    boxes = [np.stack([of.min(axis=0), of.max(axis=0)], axis=1) for of in corners]
    head = b"GP\0\3" + system.to_bytes(4, "little")
    if [row[1][:_HEAD] for row in found] != [head + box.tobytes() for box in boxes]:
        yield "has other boxes around places"
    west, south = np.min(boxes, axis=0)[:, 0]
    east, north = np.max(boxes, axis=0)[:, 1]
    if contents[0][5:-1] != (west, south, east, north):
        yield "has another box around all places"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ── the page ────────────────────────────────────────────────────────────────────────


def _page_data(path: Path) -> Any:
    before, after = page_parts()
    text = path.read_text(encoding="utf-8")
    if not (text.startswith(before) and text.endswith(after)):
        raise InputError(f"{path.name} has another text around its data")
    data = text[len(before) : len(text) - len(after)]
    if "<" in data:
        raise InputError(f"{path.name} has markup among its data")
    return parse_json(data, path.name)


def _page(path: Path, expected: _Expected) -> Iterator[str]:
    content = _page_data(path)
    if odd := list(misfits(content, _PAGE)):
        yield from odd
        return
    if content["language"] not in LANGUAGES or content["note"] or content["found"]:
        yield "says more than what is published"
        return
    words = words_in(content["language"], "published_table", *PAGE_WORDS)
    if content["words"] != {name: words[key] for name, key in PAGE_TEXTS.items()}:
        yield "has other words"
    if content["decimals"] != expected.decimals:
        yield "has other decimals"
    columns = content["columns"]
    labels = [label or expected.names[1] for label in expected.labels]
    if [one["label"] for one in columns] != labels:
        yield "has other columns"
        return
    told = zip(*(one[part] for one in columns for part in ("values", "states")), strict=True)
    found = list(zip(content["codes"], told, strict=True))
    if len(found) != len(expected.scaled) or dict(found) != expected.scaled:
        yield "does not hold the published values"
    shapes = [[np.array(ring).reshape(-1, 2) for ring in own] for own in content["rings"]]
    if content["squares"] is not None:
        west, south, width = np.array(content["squares"], np.float64)[..., None]
        x = west + width * [0, 0, 1, 1, 0]
        corners = np.stack([x, south + width * [0, 1, 1, 0, 0]], axis=-1)
        shapes += [[ring] for ring in corners]  # beside which there are no others
    if len(shapes) != len(content["codes"]):
        yield "has outlines of other places"
    elif not _lie_there(content["codes"], shapes, degrees=False):
        yield "has a place that lies elsewhere"
