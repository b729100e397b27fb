"""Plots of what attacks achieve against a perturbation table. Confidential."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diskret.attack import differencing, recovery_probability
from diskret.errors import InputError
from diskret.utility.figures import single_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskret.protect.assess import Assessment

_SHOWN = 10

_WORDS = {
    "en": {
        "constellations": "Risk of small cells beside their total (confidential)",
        "risk": "probability that a true value follows",
        "limit": "limit",
        "privacy": "One unit in one published count (confidential)",
        "with zeros": "counts from 0",
        "beyond zero": "counts from 1",
        "averaging": "Averages of answers with two cells (confidential)",
        "answers": "answers",
        "recovered": "probability of the true count",
        "differencing": "One unit in between (confidential)",
        "count": "count",
        "told": "probability of different values",
    },
    "de": {
        "constellations": "Risiko kleiner Felder neben ihrer Summe (vertraulich)",
        "risk": "Wahrscheinlichkeit, dass ein wahrer Wert folgt",
        "limit": "Grenze",
        "privacy": "Eine Einheit in einem veröffentlichten Wert (vertraulich)",
        "with zeros": "Fallzahlen ab 0",
        "beyond zero": "Fallzahlen ab 1",
        "averaging": "Mittelwerte von Antworten mit zwei Feldern (vertraulich)",
        "answers": "Antworten",
        "recovered": "Wahrscheinlichkeit der wahren Fallzahl",
        "differencing": "Eine Einheit dazwischen (vertraulich)",
        "count": "Fallzahl",
        "told": "Wahrscheinlichkeit verschiedener Werte",
    },
}


def figures_of(found: Assessment, language: str) -> dict[str, Figure]:
    """All plots by name."""
    if language not in _WORDS:
        raise InputError(f"language= must be 'en' or 'de', not {language!r}")
    words = _WORDS[language]
    return {
        "constellations": _constellations(found, words),
        "privacy": _privacy(found, words),
        "averaging": _averaging(found, words),
        "differencing": _differencing(found, words),
    }


def _constellations(found: Assessment, words: dict[str, str]) -> Figure:
    figure, axes = single_plot(words["constellations"], words["risk"], "")
    riskiest = sorted(
        (c for risk in found.constellations for c in risk.constellations if c.risk > 0),
        key=lambda c: c.risk,
    )[-_SHOWN:]
    axes.barh([str(c) for c in riskiest], [c.risk for c in riskiest])
    limit = found.constellations[0].limit
    axes.set_xscale("log")
    axes.axvline(max(limit, 1e-12), color="black", linestyle="--", label=words["limit"])
    axes.legend()
    return figure


def _privacy(found: Assessment, words: dict[str, str]) -> Figure:
    figure, axes = single_plot(words["privacy"], "ε", "δ")
    epsilons = np.linspace(0, 5, 101)
    for loss, name in (
        (found.privacy, words["with zeros"]),
        (found.privacy_beyond_zero, words["beyond zero"]),
    ):
        axes.plot(epsilons, [loss.delta(float(e)) for e in epsilons], label=name)
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def _averaging(found: Assessment, words: dict[str, str]) -> Figure:
    figure, axes = single_plot(words["averaging"], words["answers"], words["recovered"])
    large = (int(found.table.counts[-1]),) * 2
    most = max(2 * (found.answers or 50), found.queries or 0)
    numbers = np.unique(np.geomspace(1, most, 60).astype(int) | 1)
    axes.plot(numbers, [recovery_probability(found.table, large, int(n)) for n in numbers])
    axes.axhline(found.confidence, color="black", linestyle="--")
    axes.set_ylim(0, 1)
    return figure


def _differencing(found: Assessment, words: dict[str, str]) -> Figure:
    figure, axes = single_plot(words["differencing"], words["count"], words["told"])
    counts = range(len(found.table.counts) + 1)
    axes.bar(list(counts), [differencing(found.table, count).told for count in counts])
    axes.set_ylim(0, 1)
    return figure
