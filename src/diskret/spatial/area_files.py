"""Areas from files of maps: GeoJSON, GeoParquet, GeoPackage and what else GDAL reads."""

# pyarrow and pyogrio have no type information.
# pyright: reportMissingImports=false, reportMissingModuleSource=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from diskret.errors import InputError
from diskret.io.columns import code_text, column
from diskret.spatial.areas import Areas, Ring
from diskret.spatial.geojson import DEGREES, read_geojson
from diskret.spatial.grid import EUROPE
from diskret.spatial.systems import epsg_number, transformed
from diskret.spatial.wkb import rings_of

Named = Iterable[tuple[str, list[Ring]]]


def read_areas(
    source: Any, code: str, *, crs: int | None = None, layer: str | None = None
) -> Areas:
    """Read polygons with codes, such as the borders of municipalities.

    Parameters
    ----------
    source
        Path of a file of GeoJSON (``.geojson``, ``.json``), GeoParquet (``.parquet``), or of what
        else GDAL reads, such as GeoPackage (``.gpkg``) and Shapefile, which needs the extra
        ``geo``; or GeoJSON as ``json.load`` reads it.
    code
        Column or property with the codes. Polygons of one code are one area.
    crs
        EPSG number of a reference system in metres that corners are brought to; None: that of the
        source, or 3035 (ETRS89-LAEA) for degrees. Another one than the source's needs the extra
        ``geo``.
    layer
        Which layer of a GeoPackage; None: its only one.

    Raises
    ------
    InputError
        The file cannot be read, its reference system is not known, a geometry is no polygon or
        has no code; the first one is named by its number.

    References
    ----------
    RFC 7946 (GeoJSON); OGC GeoParquet 1.1; OGC 12-128r19 (GeoPackage).

    Examples
    --------
    >>> square = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
    >>> feature = {
    ...     "type": "Feature",
    ...     "properties": {"code": "A"},
    ...     "geometry": {"type": "Polygon", "coordinates": [square]},
    ... }
    >>> system = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3035"}}
    >>> found = read_areas(
    ...     {"type": "FeatureCollection", "crs": system, "features": [feature]}, "code"
    ... )
    >>> found.codes, found.bounds
    (('A',), (0.0, 0.0, 10.0, 10.0))
    """
    if isinstance(source, Mapping):
        given, features = read_geojson(source, code)
    else:
        path = Path(source)
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        if path.suffix.lower() in (".geojson", ".json"):
            given, features = _geojson(path, code)
        elif path.suffix.lower() in (".parquet", ".geoparquet"):
            given, features = _geoparquet(path, code)
        else:
            given, features = _gdal(path, code, layer)
    wanted = crs or (EUROPE if given == DEGREES else given)
    rings = dict[str, list[Ring]]()
    for name, own in features:
        rings.setdefault(name, []).extend(_moved(ring, given, wanted) for ring in own)
    return Areas(tuple(rings), tuple(tuple(own) for own in rings.values()), wanted)


def _moved(ring: Ring, given: int, wanted: int) -> Ring:
    if given == wanted:
        return ring
    return np.stack(transformed(ring[:, 0], ring[:, 1], given, wanted), axis=1)


def _geojson(path: Path, code: str) -> tuple[int, Named]:
    try:
        collection = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} is no GeoJSON: {error}") from None
    if not isinstance(collection, dict):
        raise InputError(f"{path} is no GeoJSON: it holds no object")
    return read_geojson(collection, code)


def _geoparquet(path: Path, code: str) -> tuple[int, Named]:
    try:
        table = pq.read_table(path)
        about = json.loads((table.schema.metadata or {})[b"geo"])
        geometry = about["primary_column"]
        own = about["columns"][geometry]
    except (pa.ArrowInvalid, KeyError, json.JSONDecodeError):
        raise InputError(
            f"{path} is no GeoParquet: its metadata name no column of geometries"
        ) from None
    if own.get("encoding") != "WKB":
        raise InputError(f"{path} has geometries as {own.get('encoding')!r}; write them as WKB")
    system = own.get("crs", {"id": {"authority": "OGC", "code": "CRS84"}})
    found = (system or {}).get("id", {})
    number = DEGREES if found.get("code") == "CRS84" else found.get("code")
    if not isinstance(number, int):
        raise InputError(f"the reference system of {path} has no EPSG number; write it with one")
    return number, _read(table, geometry, code)


def _gdal(path: Path, code: str, layer: str | None) -> tuple[int, Named]:
    try:
        from pyogrio.errors import DataLayerError, DataSourceError
        from pyogrio.raw import read_arrow
    except ImportError as error:
        raise InputError(
            f"{path} needs pyogrio; install it with: pip install 'diskret[geo]'"
        ) from error
    try:
        about, table = read_arrow(path, layer=layer)
    except (DataSourceError, DataLayerError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    geometry = about["geometry_name"] or "wkb_geometry"
    return epsg_number(about["crs"], str(path)), _read(table, geometry, code)


def _read(table: pa.Table, geometry: str, code: str) -> Iterator[tuple[str, list[Ring]]]:
    codes = code_text(column(table, code), code).to_pylist()
    shapes = column(table, geometry).to_pylist()
    for number, (name, shape) in enumerate(zip(codes, shapes, strict=True), 1):
        if shape is None:
            raise InputError(f"area {name!r}, number {number}, has no geometry; leave it out")
        try:
            yield name, rings_of(shape)
        except InputError as error:
            raise InputError(f"area {name!r}, number {number}: {error}") from None
