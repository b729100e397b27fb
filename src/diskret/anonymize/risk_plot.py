"""Records at risk as a picture."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diskret.drawing import ALARM, LINE, MAIN, single_plot
from diskret.errors import InputError
from diskret.texts import Figure, check_language, number, words_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


def risk_plot(risk: NDArray[np.float64], threshold: float | None, language: str) -> Picture:
    """How many records have which risk or more; see `MicrodataRisk.plot`."""
    check_language(language)
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"threshold={threshold:g} must be above 0 and at most 1")
    words = words_in(language, "pictures")
    heading = words.said("confidential", title=words["at risk"])
    figure, axes = single_plot(heading, words["risk at least"], words["records"])
    values, records = np.unique(risk, return_counts=True)
    at_least = records[::-1].cumsum()[::-1]
    # a step down behind each risk that some record has
    axes.step(np.append(values, values[-1]), np.append(at_least, 0), where="pre")
    axes.plot(values, at_least, "o", ms=3, color=MAIN)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlim(values[0] * 0.8, 1.25)
    axes.set_ylim(0, at_least[0] * 1.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: Figure(f"{value:g}").written(language))
    axes.grid(color=LINE, alpha=0.3)
    if threshold is not None:
        above = int((risk > threshold).sum())
        shown = Figure(f"{threshold:.3g}").written(language)
        said = words.said("above", risk=shown, count=number(above, language))
        axes.axvline(threshold, color=ALARM, linestyle="--", label=said)
        axes.legend(loc="lower left")
    return figure
