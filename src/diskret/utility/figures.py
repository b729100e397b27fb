"""Empty figures of matplotlib, which is loaded only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskret.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "plots need matplotlib; install it with: pip install 'diskret[plots]'"
        ) from error
    # not pyplot, which keeps every figure that it made
    return Figure(figsize=(width, height), layout="constrained")


def single_plot(title: str, across: str, upwards: str) -> tuple[Figure, Axes]:
    """A figure with one pair of axes.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    return figure, axes
