"""The office's page with a map of what totals by several geographies tell of few. Confidential."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from diskret.errors import InputError
from diskret.publish.formats.maps.features import Column, Features
from diskret.publish.in_words import table_words
from diskret.publish.pages.places import write_map_page
from diskret.spatial import Areas, Differences
from diskret.spatial.outlines import is_grid, outlines_of_areas, outlines_of_cells
from diskret.tables.cells import STATUS
from diskret.texts import check_language


def map_page(
    found: Differences,
    path: str | PathLike[str],
    geography: str,
    places: Areas | None = None,
    *,
    language: str = "en",
) -> Path:
    """Write a page on which each unsafe sum can be looked at. Confidential, for the office only.

    Beside the map of the areas of one geography stands the list of sums; who clicks on one sees
    which of these areas it takes. The map shows in how many sums each area is.

    Parameters
    ----------
    found
        From [`differences`][diskret.spatial.differences] or the sums left by
        [`repair`][diskret.spatial.repair].
    path
        Where to write; a file that is there is replaced.
    geography
        Whose areas the map shows, one of those that were looked at.
    places
        Their borders. None: their codes are ids of grid cells, and those in some sum are shown.
    language
        ``"en"`` or ``"de"``.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        There is no such geography, or its areas have no borders.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa, pathlib, tempfile
    >>> pieces = pa.table(
    ...     {
    ...         "town": ["A", "A", "B"],
    ...         "cell": ["1kmN2684E4334", "1kmN2684E4335", "1kmN2684E4335"],
    ...         "persons": [50, 3, 60],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> found = dk.spatial.differences(pieces, ["town", "cell"], few, count="persons")
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> dk.map_page(found, folder / "internal.html", "cell").name
    'internal.html'
    """
    check_language(language)
    if geography not in found.geographies:
        raise InputError(
            f"{geography!r} is none of the geographies {', '.join(map(repr, found.geographies))}"
        )
    used = sorted({code for one in found for name, code in one.areas if name == geography})
    if places is not None:
        codes = places.codes
        outlines = outlines_of_areas([*codes, *(one for one in used if one not in codes)], places)
    elif used and is_grid(used):
        codes, outlines = tuple(used), outlines_of_cells(used)
    else:
        raise InputError(
            f"no area of {geography!r} that is in a sum is a cell of a grid; give borders: places="
        )
    at = {code: place for place, code in enumerate(codes)}
    own = [
        [at[code] for name, code in sorted(one.areas) if name == geography] for one in found.found
    ]
    number = np.bincount([place for those in own for place in those], minlength=len(codes))
    words = table_words(language, "report", "places")
    sums = words["places sums"]
    column = Column(sums, "status", (), number.astype(np.int64), _states(number))
    features = Features("differences", geography, tuple(codes), outlines, (column,), 0)
    path = Path(path)
    write_map_page(
        features,
        path,
        title=f"{sums}: {', '.join(found.geographies)}",
        language=language,
        note=words["confidential"],
        found=[
            {"text": one.said(language), "places": those}
            for one, those in zip(found.found, own, strict=True)
        ],
    )
    return path


def _states(
    number: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Areas in no sum are drawn as empty ones."""
    return np.where(number > 0, STATUS.index("published"), STATUS.index("empty"))
