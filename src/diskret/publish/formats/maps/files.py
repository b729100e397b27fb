"""GeoJSON, GeoParquet and GeoPackage of a table: the same content always gives the same bytes."""

# pyarrow, pyproj and pyogrio have no type information.
# pyright: reportMissingImports=false, reportMissingModuleSource=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from diskret.errors import InputError
from diskret.publish.formats.maps.features import Features
from diskret.spatial.geojson import DEGREES
from diskret.spatial.systems import transformed
from diskret.spatial.wkb import multipolygon

#: What GDAL writes as the time of the last change, so that the same content gives the same bytes.
UNCHANGED = "1970-01-01T00:00:00.000Z"
_GEOMETRY = "geometry"
#: Decimals of degrees: a centimetre.
_DIGITS = 7


def write_geojson(features: Features, path: Path) -> None:
    """Write GeoJSON as RFC 7946 has it: degrees, polygons or multipolygons.

    Sides of squares are straight between their corners in degrees.
    """
    shapes = _in_degrees(features)
    rows = features.attributes().to_pylist()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('{"type":"FeatureCollection","features":[')
        for at, (row, shape) in enumerate(zip(rows, shapes, strict=True)):
            several = len(shape) > 1
            feature = {
                "type": "Feature",
                "properties": row,
                "geometry": {
                    "type": "MultiPolygon" if several else "Polygon",
                    "coordinates": shape if several else shape[0],
                },
            }
            file.write((",\n" if at else "\n") + _json(feature))
        file.write("\n]}\n")


def write_geoparquet(features: Features, path: Path) -> None:
    """Write GeoParquet 1.1: geometries as WKB in the reference system of the places."""
    about = {
        "version": "1.1.0",
        "primary_column": _GEOMETRY,
        "columns": {
            _GEOMETRY: {
                "encoding": "WKB",
                "geometry_types": ["MultiPolygon"],
                "crs": _projjson(features.outlines.crs),
            }
        },
    }
    table = _with_geometry(features)
    with pq.ParquetWriter(path, table.schema, store_schema=False) as file:
        file.write_table(table)
        file.add_key_value_metadata({"geo": _json(about)})


def write_gpkg(features: Features, path: Path) -> None:
    """Write a GeoPackage with one layer, called like the table, and nothing that GDAL adds."""
    try:
        from pyogrio import set_gdal_config_options
        from pyogrio.raw import write_arrow
    except ImportError as error:
        raise InputError(
            f"{path.name} needs pyogrio; install it with: pip install 'diskret[geo]'"
        ) from error
    set_gdal_config_options({"OGR_CURRENT_DATE": UNCHANGED})
    try:
        write_arrow(
            _with_geometry(features),
            path,
            layer=features.name,
            driver="GPKG",
            geometry_name=_GEOMETRY,
            geometry_type="MultiPolygon",
            crs=f"EPSG:{features.outlines.crs}",
            layer_options={"SPATIAL_INDEX": "NO", "GEOMETRY_NAME": _GEOMETRY},
            dataset_options={"ADD_GPKG_OGR_CONTENTS": "NO"},
        )
    finally:
        set_gdal_config_options({"OGR_CURRENT_DATE": None})


def _with_geometry(features: Features) -> pa.Table:
    shapes = [multipolygon(features.outlines.polygons(at)) for at in range(len(features.codes))]
    return features.attributes().append_column(_GEOMETRY, pa.array(shapes, pa.binary()))


def _in_degrees(features: Features) -> list[list[list[Any]]]:
    """Polygons of each place, all corners brought to degrees at once."""
    polygons = [features.outlines.polygons(at) for at in range(len(features.codes))]
    rings = [ring for own in polygons for polygon in own for ring in polygon]
    corners = np.concatenate(rings)
    degrees = np.stack(
        transformed(corners[:, 0], corners[:, 1], features.outlines.crs, DEGREES), axis=1
    )
    parts = iter(np.split(np.round(degrees, _DIGITS), np.cumsum([len(ring) for ring in rings])))
    return [[[next(parts).tolist() for _ in polygon] for polygon in own] for own in polygons]


def _projjson(crs: int) -> Any:
    try:
        from pyproj import CRS
    except ImportError as error:
        raise InputError(
            "GeoParquet needs pyproj for the words of its reference system; install it with: "
            "pip install 'diskret[geo]'"
        ) from error
    return CRS.from_epsg(crs).to_json_dict()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
