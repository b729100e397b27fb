"""A published table as a picture of its places, for papers and slides."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.drawing import single_plot
from diskret.errors import InputError
from diskret.publish.contract import Protected
from diskret.publish.formats.maps.features import Column, Features, features_of
from diskret.publish.in_words import table_words
from diskret.publish.in_words import title as table_title
from diskret.publish.maps import Places
from diskret.tables import Published
from diskret.tables.cells import STATUS
from diskret.texts import check_language, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLASSES = 7
#: Decimals of values per km².
_DENSITY = 2
_NOTHING, _LINE = "#eeeeee", "#888888"


def draw_map(
    shown: Published | Protected,
    places: Places | None = None,
    *,
    of: Mapping[str, str] | None = None,
    title: str | None = None,
    language: str = "en",
) -> Figure:
    """Draw the published values of a table as a map; needs the extra ``plots``.

    Nothing but what is published is in the picture. Classes hold equal numbers of places, from
    light to dark; suppressed places are hatched. Cells of several widths are coloured by what they
    hold per km², for a wide cell holds more than those beside it, however few live there.

    Parameters
    ----------
    shown
        A result, or what was published.
    places
        Variable → borders of its codes, see [`Areas`][diskret.spatial.Areas]; grid cells need none.
    of
        Other variables → the code to draw; left out: the total.
    title
        Heading; None: the measure and the variables.
    language
        ``"en"`` or ``"de"``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        No variable tells places, a place has no borders, `of` names something that is not there, or
        matplotlib is missing.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> cells = pa.table({"cell": ["1kmN2684E4334"] * 9 + ["1kmN2684E4335"] * 8})
    >>> result = dk.suppress(dk.tabulate(cells, by={"cell": None}), dk.rules.MinimumFrequency(3))
    >>> dk.draw_map(result).axes[0].get_title()
    'Count by cell'
    """
    check_language(language)
    published = shown if isinstance(shown, Published) else shown.published
    features = features_of(published, places or {})
    if features is None:
        raise InputError(
            f"no variable of {published.name!r} has ids of grid cells as codes; give borders: "
            "places="
        )
    column = _column(published, features, dict(of or {}))
    words = table_words(language, "report", "places")
    figure, axes = single_plot(table_title(published, title, words), "", "")
    figure.set_layout_engine("constrained")
    from matplotlib import colormaps
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Patch

    def outlines(those: NDArray[np.intp]) -> list[Any]:
        return [_path(features, at) for at in those.tolist()]

    state = [np.flatnonzero(column.state == at) for at in range(len(STATUS))]
    keys = list[Patch]()
    values, decimals = column.scaled, published.decimals
    if (km2 := features.km2) is not None:
        values = np.rint(values / 10**decimals / km2 * 10**_DENSITY).astype(np.int64)
        decimals = _DENSITY
    classes, bounds = _classes(values[state[0]])
    shades = colormaps["viridis_r"].resampled(max(len(bounds) - 1, 2))
    for at in range(len(bounds) - 1):
        own = state[0][classes == at]
        colour = shades(at)
        axes.add_collection(PathCollection(outlines(own), color=colour, edgecolor="white", lw=0.2))
        ends = [scaled(one, decimals, language) for one in bounds[at : at + 2].tolist()]
        keys.append(Patch(color=colour, label=" – ".join(ends)))
    for place, hatch, label in ((1, "////", "suppressed"), (2, None, "empty")):
        if len(state[place]):
            look: dict[str, Any] = {
                "facecolor": "white" if hatch else _NOTHING,
                "edgecolor": _LINE,
                "lw": 0.2,
            }
            axes.add_collection(PathCollection(outlines(state[place]), hatch=hatch, **look))
            keys.append(Patch(hatch=hatch, label=words[label], **look))
    heading = None if km2 is None else words["places density"]
    figure.legend(handles=keys, title=heading, loc="outside right center", frameon=False)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _column(published: Published, features: Features, of: dict[str, str]) -> Column:
    others = [one for one in published.dimensions if one.name != features.variable]
    labels = tuple(of.pop(one.name, one.hierarchy.total) for one in others)
    if of:
        raise InputError(f"of= names {next(iter(of))!r}, which is no other variable of the table")
    found = [one for one in features.columns if one.labels == labels]
    if not found:
        raise InputError(f"of= asks for {' '.join(labels)!r}, which is not in the table")
    return found[0]


def _classes(values: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Which class each value is in, and the ends of classes with equal numbers of values."""
    if not len(values):
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    ordered = np.sort(values)
    inner = ordered[len(ordered) * np.arange(1, _CLASSES) // _CLASSES]
    inner = np.unique(inner[inner > ordered[0]])
    bounds = np.concatenate([ordered[:1], inner, ordered[-1:]])
    return np.searchsorted(inner, values, side="right"), bounds


def _path(features: Features, place: int) -> Any:
    from matplotlib.path import Path

    rings: Sequence[NDArray[np.float64]] = [
        ring for polygon in features.outlines.polygons(place) for ring in polygon
    ]
    codes = [
        code
        for ring in rings
        for code in (Path.MOVETO, *[Path.LINETO] * (len(ring) - 2), Path.CLOSEPOLY)
    ]
    return Path(np.concatenate(rings), codes)
