"""What everybody can compute about suppressed cells, as a picture."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diskret.drawing import ALARM, LINE, MAIN, shortened, single_plot
from diskret.errors import InputError
from diskret.protect.result import Result
from diskret.publish.in_words import code_text, table_words
from diskret.publish.in_words import title as table_title
from diskret.publish.pages.suppressed_cells import intervals_of
from diskret.texts import check_language, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST = 60


def draw_intervals(
    result: Result,
    *,
    most: int = 40,
    internal: bool = False,
    title: str | None = None,
    language: str = "en",
) -> Figure:
    """Draw the intervals that everybody can compute of suppressed cells; needs the extra ``plots``.

    The intervals are those of the certificate, the narrowest (as a share of the end farther from
    zero) first, on a scale that shows small and large values (inverse hyperbolic sine).

    Parameters
    ----------
    result
        A table with suppressed cells, as [`suppress`][diskret.suppress] returns it.
    most
        Intervals to draw, 1 to 200.
    internal
        Mark the true values, unsafe cells in another colour. Such a picture is confidential.
    title
        What the table is called; None: the measure and the variables.
    language
        ``"en"`` or ``"de"``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        No cell is suppressed, `most` is out of range, there is no such language, or matplotlib is
        missing.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> firms = pa.table({"region": [*"NSWE"], "firms": [7, 2, 5, 9]})
    >>> table = dk.Table.from_cells(firms, by={"region": None}, count="firms")
    >>> result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    >>> [text.get_text() for text in dk.draw_intervals(result).axes[0].get_yticklabels()]
    ['S', 'W']
    """
    check_language(language)
    if not 1 <= most <= 200:
        raise InputError(f"most={most} must be from 1 to 200")
    published = result.published
    found = intervals_of(published, result.certificate.public())
    if not len(found.cell):
        raise InputError(f"no cell of {result.name!r} is suppressed, so there are no intervals")
    order = found.order[:most]
    words = table_words(language, "pictures")
    named, some = table_title(published, title, words), len(order) < len(found.cell)
    heading = words.said(
        "some intervals" if some else "intervals",
        **({"shown": len(order), "all": len(found.cell)} if some else {}),
        name=named,
    )
    heading = words.said("confidential", title=heading) if internal else heading
    figure, axes = single_plot(heading, words["value"], "", 8, min(0.25 * len(order) + 1.6, 30))
    cells = found.cell[order]
    low = np.array([_number(found.lower[at], -np.inf) for at in order])
    high = np.array([_number(found.upper[at], np.inf) for at in order])
    unit = 10.0**published.decimals
    true = result.table.measure.sum.ravel()[cells] / unit
    ends = np.concatenate([low, high, true if internal else np.zeros(0), [0.0]])
    ends = ends[np.isfinite(ends)]
    least, greatest = float(ends.min()), float(ends.max()) or 1.0
    # what has no end goes beyond everything that has one
    beyond = 2 * max(abs(least), abs(greatest))
    axes.use_sticky_edges = False
    axes.set_xscale("asinh", linear_width=_small(np.abs(ends)))
    unsafe = (result.status.ravel()[cells] == "primary") & internal
    for rows, colour, word in ((~unsafe, MAIN, "secondary"), (unsafe, ALARM, "primary")):
        at = np.flatnonzero(rows)
        start = np.maximum(low[at], -beyond)
        width = np.minimum(high[at], beyond) - start
        label = words[word] if internal and len(at) else None
        # the edge shows intervals that are narrower than a point
        axes.barh(at, width, left=start, height=0.6, color=colour, edgecolor=colour, label=label)
    for at in np.flatnonzero(~np.isfinite(high)).tolist():
        axes.text(beyond, at, " →", va="center", color=LINE)
    for at in np.flatnonzero(~np.isfinite(low)).tolist():
        axes.text(-beyond, at, "← ", va="center", ha="right", color=LINE)
    if internal:
        axes.plot(true, np.arange(len(true)), "|", color="black", ms=9, label=words["true value"])
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    places = np.unravel_index(cells, published.value.shape)
    texts = [
        ", ".join(
            code_text(one, int(at), words)
            for one, at in zip(published.dimensions, place, strict=True)
        )
        for place in zip(*places, strict=True)
    ]
    axes.set_yticks(
        np.arange(len(order)),
        [shortened(one, _LONGEST) for one in texts],
        fontsize=7,
    )
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.grid(axis="x", color=LINE, alpha=0.3)
    axes.xaxis.set_major_formatter(
        lambda x, _: scaled(round(x * unit), published.decimals, language)
    )
    return figure


def _number(end: float | None, endless: float) -> float:
    return endless if end is None else float(end)


def _small(sizes: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Up to where the scale is nearly linear: the smallest size that is not zero."""
    return float(sizes[sizes > 0].min(initial=np.inf)) if (sizes > 0).any() else 1.0
