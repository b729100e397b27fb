"""Maps of published tables: in which files they are, and which variable tells places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from diskret.errors import InputError
from diskret.tables import Published

if TYPE_CHECKING:
    from diskret.spatial import Areas

#: Format → what the names of its files end with, after the name of the table.
MAPS = {
    "geojson": ".geojson",
    "geoparquet": ".geo.parquet",
    "gpkg": ".gpkg",
    "map": ".map.html",
}
#: How many values a place can have on a map, one for each combination of other variables.
MOST_COLUMNS = 200

#: What the page says of places and how it is used → key in the catalogues of `PAGE_WORDS`.
PAGE_TEXTS = {
    **{one: f"places {one}" for one in ("label", "closer", "wider", "all", "density", "shown")},
    "suppressed": "suppressed",
    "empty": "empty",
}
PAGE_WORDS = ("report", "places")

#: Dimension → borders of its codes; grid cells need none.
Places = Mapping[str, "Areas"]


def check_maps(tables: Sequence[Published], places: Places, formats: Collection[str]) -> None:
    """Refuse maps of tables none of which tells places, and borders of what is no variable.

    Raises
    ------
    InputError
        So it is, or a table has too many values for a map.
    """
    unknown = places.keys() - {one.name for table in tables for one in table.dimensions}
    if unknown:
        raise InputError(f"places= names {sorted(unknown)[0]!r}, which is no variable of a table")
    if not set(formats) & set(MAPS):
        return
    if all(place_variable(table, places) is None for table in tables):
        names = sorted({one.name for table in tables for one in table.dimensions})
        raise InputError(
            f"there is nothing to draw a map of: none of the variables {', '.join(names)} has ids "
            "of grid cells as codes; give borders with places={variable: areas}"
        )


def place_variable(published: Published, places: Places) -> int | None:
    """Which dimension of a table tells places: one with borders, or the first of grid cells.

    Raises
    ------
    InputError
        There are too many combinations of the other variables.
    """
    from diskret.spatial.outlines import is_grid

    named = [at for at, one in enumerate(published.dimensions) if one.name in places]
    cells = [
        at
        for at, one in enumerate(published.dimensions)
        if is_grid([one.hierarchy.codes[i] for i in one.hierarchy.leaves])
    ]
    if not named and not cells:
        return None
    axis = (named or cells)[0]
    others = published.size // len(published.dimensions[axis])
    if others > MOST_COLUMNS:
        raise InputError(
            f"{published.name!r} has {others:,} values for each place, more than the "
            f"{MOST_COLUMNS} that a map takes; leave map formats out, or tabulate fewer variables"
        )
    return axis


def page_parts() -> tuple[str, str]:
    """What stands before and behind the data of each page with a map."""
    folder = resources.files("diskret.publish.pages")
    text = folder.joinpath("templates/places.html").read_text(encoding="utf-8")
    before, after = text.split("{{ data }}")
    return before, after
