"""Pictures of a perturbation table, for those who decide on it. Confidential like the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.drawing import SHADES, new_figure, panels
from diskret.texts import Words, words_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from diskret.cellkey.table import PerturbationTable

#: Probabilities are written into the cells of a map as long as these can be read.
_MOST_WRITTEN = 400


def cumulative_map(table: PerturbationTable, language: str) -> Figure:
    """How likely noise is at most so large, as colours; see `PerturbationTable.heat_map`."""
    words = words_in(language, "perturbation_table")
    shown = np.ma.asarray(table.probabilities.cumsum(axis=1).clip(0, 1))
    figure, axes = _map(table, shown, table.noise, words)
    axes.set_xlabel(words["noise"])
    axes.set_title(words["cumulative"])
    return figure


def heat_map(table: PerturbationTable, language: str) -> Figure:
    """What becomes of each count, as colours; see `PerturbationTable.heat_map`."""
    words = words_in(language, "perturbation_table")
    targets = np.unique((table.counts[:, None] * table.step + table.noise)[table.probabilities > 0])
    shown = np.zeros((len(table.counts), len(targets)))
    for row, count in enumerate(table.counts):
        used = table.probabilities[row] > 0
        place = np.searchsorted(targets, count * table.step + table.noise[used])
        shown[row, place] = table.probabilities[row, used]
    figure, axes = _map(table, np.ma.masked_equal(shown, 0), targets, words)
    axes.set_xlabel(words["published"])
    axes.set_title(words["title"])
    return figure


def _map(
    table: PerturbationTable, shown: Any, across: NDArray[np.int64], words: Words
) -> tuple[Figure, Axes]:
    """Probabilities as colours, a row for each count; those that are masked are left white."""
    width, height = 0.45 * len(table.noise) + 2.5, 0.4 * len(table.counts) + 1.5
    figure = new_figure(min(width, 20), min(height, 40))
    axes = panels(figure, 1, 1)[0, 0]
    image = axes.imshow(shown, cmap=SHADES, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(across)), [f"{z / table.step:g}" for z in across], fontsize=8)
    axes.set_yticks(range(len(table.counts)), _labels(table, words), fontsize=8)
    there = np.argwhere(~np.ma.getmaskarray(shown))
    if len(there) <= _MOST_WRITTEN:
        for row, column in there:
            p = shown[row, column]
            colour = "white" if p > 0.6 else "black"
            axes.text(column, row, f"{p:.2f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_ylabel(words["true"])
    figure.colorbar(image, ax=axes)
    return figure, axes


def distributions(table: PerturbationTable, language: str) -> Figure:
    """The noise of each count, as bars; see `PerturbationTable.distributions`."""
    rows = [row for row, count in enumerate(table.counts) if count > 0]
    across = min(len(rows), 3)
    down = -(-len(rows) // across)
    figure = new_figure(min(3.2 * across, 20), min(1.9 * down + 0.5, 40))
    words = words_in(language, "perturbation_table")
    labels = _labels(table, words)
    noise = table.noise / table.step
    places = panels(figure, down, across, share=True).ravel()
    for panel, row in zip(places, rows, strict=False):
        panel.bar(noise, table.probabilities[row], width=0.8 / table.step)
        mean, variance = round(table.means[row], 9) + 0.0, table.variances[row]
        moments = words.said("moments", mean=f"{mean:.3g}", variance=f"{variance:.3g}")
        panel.set_title(f"{labels[row]}: {moments}", fontsize=8)
    for panel in places[len(rows) :]:
        panel.set_visible(False)
    figure.supxlabel(words["noise"])
    figure.supylabel(words["probability"])
    return figure


def _labels(table: PerturbationTable, words: Words) -> list[str]:
    labels = [str(count) for count in table.counts]
    if table.reuse > 1:  # larger counts take several rows in turn
        return labels
    return [*labels[:-1], words.said("more", count=labels[-1])]
