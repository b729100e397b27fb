"""Figures of matplotlib, which is loaded only when something is drawn, in one style.

Colours are told apart by people who cannot tell red from green, and shades and hatches in print
(M. Okabe, K. Ito, *Color Universal Design*, 2008).
"""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diskret.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

#: What is looked at first, what is set against it, and what warns.
MAIN, OTHER, ALARM = "#0072b2", "#e69f00", "#d55e00"
#: Lines and small print.
LINE = "#888888"
#: From light (little) to dark (much).
SHADES = "Blues"

#: State of a cell → how its place is filled. Kinds of suppressed cells are the office's only.
STATES: dict[str, dict[str, Any]] = {
    "published": {"facecolor": "#f4f6f8"},
    "suppressed": {"facecolor": "#9ecae1", "hatch": "////"},
    "primary": {"facecolor": ALARM, "hatch": "xxx"},
    "secondary": {"facecolor": "#9ecae1", "hatch": "////"},
    "empty": {"facecolor": "#dddddd"},
}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "plots need matplotlib; install it with: pip install 'diskret[plots]'"
        ) from error
    # not pyplot, which keeps every figure that it made
    return Figure(figsize=(width, height), layout="constrained")


def panels(figure: Figure, down: int, across: int, share: bool = False) -> NDArray[Any]:
    """Pairs of axes, ``(down, across)``; `share`: all have the same scales."""
    drawn = figure.subplots(down, across, sharex=share, sharey=share, squeeze=False)
    for axes in drawn.ravel():
        axes.set_prop_cycle(color=(MAIN, OTHER, ALARM, LINE))
    return drawn


def single_plot(
    title: str, across: str, upwards: str, width: float = 7, height: float = 4.5
) -> tuple[Figure, Axes]:
    """A figure with one pair of axes; sizes in inches."""
    figure = new_figure(width, height)
    axes = panels(figure, 1, 1)[0, 0]
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    return figure, axes


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters; what is left out leaves a mark.

    >>> shortened("Schleswig-Holstein", 10)
    'Schleswig…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
