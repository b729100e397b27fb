"""Plots of what attacks achieve against a perturbation table. Confidential."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.attack import differencing, recovery_probability
from diskret.drawing import single_plot
from diskret.texts import Words, words_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskret.protect.assess import Assessment

_SHOWN = 10


def figures_of(found: Assessment, language: str) -> dict[str, Figure]:
    """All plots by name."""
    words = words_in(language, "assessment")
    return {
        "constellations": _constellations(found, words),
        "privacy": _privacy(found, words),
        "averaging": _averaging(found, words),
        "differencing": _differencing(found, words),
    }


def _plot(words: Words, title: str, across: str, upwards: str) -> tuple[Figure, Any]:
    """A figure and its axes, with title and what they show."""
    title, across, upwards = (words[f"plots.{text}"] for text in (title, across, upwards))
    return single_plot(title, across, upwards)


def _constellations(found: Assessment, words: Words) -> Figure:
    figure, axes = single_plot(words["plots.constellations"], words["plots.risk"], "")
    riskiest = sorted(
        (c for risk in found.constellations for c in risk.constellations if c.risk > 0),
        key=lambda c: c.risk,
    )[-_SHOWN:]
    axes.barh([str(c) for c in riskiest], [c.risk for c in riskiest])
    limit = found.constellations[0].limit
    axes.set_xscale("log")
    axes.axvline(max(limit, 1e-12), color="black", linestyle="--", label=words["plots.limit"])
    axes.legend()
    return figure


def _privacy(found: Assessment, words: Words) -> Figure:
    figure, axes = single_plot(words["plots.privacy"], "ε", "δ")
    epsilons = np.linspace(0, 5, 101)
    for loss, name in (
        (found.privacy, words["plots.with zeros"]),
        (found.privacy_beyond_zero, words["plots.beyond zero"]),
    ):
        axes.plot(epsilons, [loss.delta(float(e)) for e in epsilons], label=name)
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def _averaging(found: Assessment, words: Words) -> Figure:
    figure, axes = _plot(words, "averaging", "answers", "recovered")
    large = (int(found.table.counts[-1]),) * 2
    most = max(2 * (found.answers or 50), found.queries or 0)
    numbers = np.unique(np.geomspace(1, most, 60).astype(int) | 1)
    axes.plot(numbers, [recovery_probability(found.table, large, int(n)) for n in numbers])
    axes.axhline(found.confidence, color="black", linestyle="--")
    axes.set_ylim(0, 1)
    return figure


def _differencing(found: Assessment, words: Words) -> Figure:
    figure, axes = _plot(words, "differencing", "count", "told")
    counts = range(len(found.table.counts) + 1)
    axes.bar(list(counts), [differencing(found.table, count).told for count in counts])
    axes.set_ylim(0, 1)
    return figure
