"""Plots of a comparison."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diskret.drawing import SHADES, new_figure, panels, single_plot
from diskret.texts import number, words_in
from diskret.utility.groups import size_bounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskret.utility.comparison import Comparison
    from diskret.utility.table_deviations import FileDeviations

_MOST_BARS = 101
_SQUARES = 60
#: Cells of more records are not shown one by one.
_SMALL = 12


def histogram(comparison: Comparison, language: str) -> Figure:
    """How many cells have which deviation; one bar for each, or bins if there are too many."""
    words = words_in(language, "utility")
    figure, axes = single_plot(words["histogram"], words["signed"], words["number"])
    deviation, cells = comparison.noise
    if len(deviation) and np.ptp(deviation) < _MOST_BARS and not comparison.decimals:
        axes.bar(deviation, cells, width=0.9)
    elif len(deviation):
        axes.hist(deviation, bins=_MOST_BARS, weights=cells)
    return figure


def scatter(comparison: Comparison, language: str) -> Figure:
    """Published against original values, on logarithmic axes that hold 0, too.

    Cells are counted in squares, so the plot of a million cells is as small as that of ten.
    """
    words = words_in(language, "utility")
    figure, axes = single_plot(words["scatter"], words["original"], words["published"])
    unit = 10.0**comparison.decimals
    before, after = comparison.original / unit, comparison.protected / unit
    reach = max(float(np.abs(v).max(initial=1)) for v in (before, after))
    low = min(float(v.min(initial=0)) for v in (before, after))
    edges = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(reach), _SQUARES + 1))
    edges[[0, -1]] = low, np.nextafter(reach, np.inf)  # the ends themselves, not nearly
    counted, _, _ = np.histogram2d(before, after, bins=(edges, edges))
    from matplotlib.colors import LogNorm

    most = LogNorm(1, max(2, counted.max()))
    shown = np.ma.masked_equal(counted.T, 0)
    drawn = axes.pcolormesh(edges, edges, shown, norm=most, cmap=SHADES)
    axes.plot(edges[[0, -1]], edges[[0, -1]], color="black", linewidth=0.5)
    axes.set_xscale("asinh")
    axes.set_yscale("asinh")
    figure.colorbar(drawn, label=words["number"])
    return figure


def size_plot(comparison: Comparison, language: str) -> Figure:
    """Mean and largest deviation by size of the original value."""
    words = words_in(language, "utility")
    figure, axes = single_plot(words["size plot"], words["original"], words["absolute deviation"])
    groups, decimals = comparison.by_size, comparison.decimals
    bounds = zip(*size_bounds(groups.group, decimals), strict=True)
    names = [f"{number(a, language, decimals)}–{number(b, language, decimals)}" for a, b in bounds]
    at = np.arange(len(names))
    axes.bar(at - 0.2, groups.mean, width=0.4, label=words["mean"])
    axes.bar(at + 0.2, groups.largest, width=0.4, label=words["largest"])
    axes.set_xticks(at, names, rotation=30, ha="right")
    axes.legend()
    return figure


def before_and_after(found: FileDeviations, language: str) -> Figure:
    """Small cells in both files, and deviations by number of variables; a row for each kind."""
    words, parts = words_in(language, "utility"), found.named()
    figure = new_figure(10, 3.5 * len(parts))
    from matplotlib import colormaps

    rows = panels(figure, len(parts), 2)
    for (name, one), (left, right) in zip(parts, rows, strict=True):
        sizes = np.arange(1, _SMALL + 1)
        both = (("original", one.original), ("published", one.protected))
        for shift, (word, counts) in zip((-0.2, 0.2), both, strict=True):
            cells = np.bincount(np.minimum(counts, _SMALL + 1), minlength=_SMALL + 2)
            left.bar(sizes + shift, cells[1:-1], width=0.4, label=words[word])
        left.set_title(f"{words[name]}: {words['small cells']}", fontsize="medium")
        left.set_xlabel(words["records in a cell"])
        left.set_xticks(sizes)
        table = one.deviation_table
        at, below = np.arange(len(table.bound)), np.zeros(len(table.bound), dtype=np.int64)
        # from dark blue to yellow: told apart without red and green, and in print
        shades = colormaps["cividis"](np.linspace(0, 1, len(table.dimension)))
        named_cells = zip(table.dimension.tolist(), table.cells.T, shades, strict=True)
        for variables, cells, shade in named_cells:
            right.bar(at, cells, bottom=below, width=0.9, color=shade, label=str(variables))
            below += cells
        right.set_title(words["by variables"], fontsize="medium")
        right.set_xlabel(words["absolute deviation"])
        each = 1 + len(at) // 20
        right.set_xticks(at[::each], [f"{bound:g}" for bound in table.bound[::each]])
        left.set_ylabel(words["number"])
        left.legend()
        right.legend()
    return figure
