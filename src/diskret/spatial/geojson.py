"""Polygons of GeoJSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from diskret.errors import InputError
from diskret.spatial.areas import Ring

#: Degrees of GPS, which GeoJSON has unless it says otherwise.
DEGREES = 4326


def read_geojson(
    collection: Mapping[str, Any], code: str
) -> tuple[int, Iterator[tuple[str, list[Ring]]]]:
    """EPSG number of the file, and code and rings of each feature.

    Raises
    ------
    InputError
        This is no FeatureCollection of polygons with codes; a feature is named by its number.
    """
    features = collection.get("features")
    if collection.get("type") != "FeatureCollection" or not isinstance(features, list):
        raise InputError(
            "this is no GeoJSON FeatureCollection: it needs type = 'FeatureCollection' and a list "
            "of features"
        )
    return _system(collection.get("crs")), _features(cast(list[Any], features), code)


def _system(member: Any) -> int:
    """EPSG number of the member ``crs`` of the GeoJSON of 2008."""
    if member is None:
        return DEGREES
    try:
        name = str(member["properties"]["name"])
    except (TypeError, KeyError):
        name = str(member)
    if "CRS84" in name:
        return DEGREES
    found = re.search(r"EPSG:+(\d+)$", name)
    if found is None:
        raise InputError(f"the file's reference system {name!r} is no EPSG number")
    return int(found[1])


def _features(features: list[Any], code: str) -> Iterator[tuple[str, list[Ring]]]:
    for number, feature in enumerate(features, 1):
        try:
            name = feature["properties"][code]
            geometry = feature["geometry"]
            kind, parts = geometry["type"], geometry["coordinates"]
        except (TypeError, KeyError) as error:
            raise InputError(
                f"feature {number} has no {str(error)}; each needs a geometry and the property "
                f"{code!r} with its code"
            ) from None
        if kind not in ("Polygon", "MultiPolygon") or name is None:
            raise InputError(
                f"feature {number} is a {kind} with the code {name!r}; areas are polygons or "
                "multipolygons, each with a code"
            )
        polygons = [parts] if kind == "Polygon" else parts
        try:
            rings = [
                np.array([corner[:2] for corner in ring], np.float64)
                for polygon in polygons
                for ring in polygon
            ]
        except (TypeError, ValueError, IndexError):
            raise InputError(
                f"feature {number} ({name}) has coordinates that are no numbers"
            ) from None
        yield str(name), rings
