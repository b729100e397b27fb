"""Maps of one table, in the formats that are asked for."""

from __future__ import annotations

from pathlib import Path

from diskret.publish.contract import Look
from diskret.publish.formats.maps.features import features_of
from diskret.publish.formats.maps.files import write_geojson, write_geoparquet, write_gpkg
from diskret.publish.in_words import table_words
from diskret.publish.in_words import title as table_title
from diskret.publish.maps import MAPS
from diskret.publish.pages.places import write_map_page
from diskret.tables import Published

_FILES = {"geojson": write_geojson, "geoparquet": write_geoparquet, "gpkg": write_gpkg}


def write_maps(published: Published, folder: Path, look: Look) -> list[str]:
    """Write the maps of a table; the files' names, none if it tells nothing of places."""
    wanted = {one: ending for one, ending in MAPS.items() if one in look.formats}
    features = features_of(published, look.places) if wanted else None
    if features is None:
        return []
    written = list[str]()
    for one, ending in wanted.items():
        path = folder / f"{published.name}{ending}"
        if one == "map":
            words = table_words(look.language, "report")
            title = table_title(published, look.titles.get(published.name), words)
            write_map_page(features, path, title=title, language=look.language)
        else:
            _FILES[one](features, path)
        written.append(path.name)
    return written
