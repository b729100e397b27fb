"""Findings about a perturbation table as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from diskret.attack import ConstellationRisk, Statement
from diskret.texts import number, percent

if TYPE_CHECKING:
    from diskret.protect.assess import Assessment

#: A mean noise of this size is no rounding error of printed probabilities.
_BIASED = 0.005


@dataclass(frozen=True)
class Verdict:
    """One finding in a sentence, and whether it keeps the office's limits.

    statement: the finding, in English and German.
    kept: true or False where the office set a limit, None where it set none.
    """

    statement: Statement
    kept: bool | None = None


def verdicts_of(found: Assessment) -> tuple[Verdict, ...]:
    """All findings, in the order in which they are read."""
    return (
        Verdict(
            Statement(
                "Confidential: these figures tell the parameters of the perturbation table.",
                "Vertraulich: Diese Angaben verraten die Parameter der Überlagerungsmatrix.",
            )
        ),
        _bias(found),
        *(_constellations(risk, _PARTS) for risk in found.constellations),
        _constellations(found.keyed, _KEYED),
        *_averaging(found),
        _differencing(found),
        _privacy(found),
        Verdict(
            Statement(
                "All this presupposes that the same units always get the same noise. Noise that is "
                "drawn anew for each query averages out by repeating one and the same query.",
                "Vorausgesetzt ist, dass dieselben Einheiten immer dieselbe Überlagerung erhalten. "
                "Eine Überlagerung, die für jede Abfrage neu gezogen wird, mittelt sich schon "
                "heraus, wenn man dieselbe Abfrage wiederholt.",
            )
        ),
    )


def _bias(found: Assessment) -> Verdict:
    means = found.table.means
    worst = int(np.argmax(np.abs(means)))
    size = abs(float(means[worst]))
    if size < _BIASED:
        return Verdict(
            Statement(
                "The noise has mean 0 for every count.",
                "Die Überlagerung hat bei jeder Fallzahl den Mittelwert 0.",
            ),
            True,
        )
    count = int(found.table.counts[worst])
    return Verdict(
        Statement(
            f"The noise is biased: its mean is {number(means[worst], 'en', 3)} for a count of "
            f"{count}.",
            f"Die Überlagerung ist verzerrt: Ihr Mittelwert ist {number(means[worst], 'de', 3)} "
            f"bei der Fallzahl {count}.",
        ),
        False,
    )


_PARTS = Statement("", "")
_KEYED = Statement(
    " against an attacker who knows the intervals of keys",
    " gegenüber Angreifern, die die Schlüsselintervalle kennen",
)


def _constellations(risk: ConstellationRisk, how: Statement) -> Verdict:
    worst = risk.worst
    parts = len(worst.parts)
    up_to = max(max(c.parts) for c in risk.constellations)
    kept = worst.risk <= risk.limit
    if worst.risk == 0:
        return Verdict(
            Statement(
                f"{parts} cells and their total{how.en}: no published values give a "
                f"true value from 1 to {up_to} away.",
                f"{parts} Felder und ihre Summe{how.de}: Keine veröffentlichten "
                f"Werte verraten einen wahren Wert von 1 bis {up_to}.",
            ),
            kept,
        )
    true = f"({', '.join(map(str, worst.parts))} | {sum(worst.parts)})"
    if risk.certainty == 1:
        follows, folgt = "follows for certain", "sicher folgt"
    else:
        follows = f"is at least {percent(risk.certainty, 'en')} likely"
        folgt = f"zu mindestens {percent(risk.certainty, 'de')} wahrscheinlich ist"
    return Verdict(
        Statement(
            f"{parts} cells and their total{how.en}: {true} is published so that a "
            f"true value from 1 to {up_to} {follows} with probability "
            f"{_chance(worst.risk, 'en')}, e.g. {worst}. That is "
            f"{'within' if kept else 'above'} the limit of {percent(risk.limit, 'en')}."
            + ("" if kept or how is not _KEYED else " Shuffle the intervals."),
            f"{parts} Felder und ihre Summe{how.de}: {true} wird mit "
            f"Wahrscheinlichkeit {_chance(worst.risk, 'de')} so veröffentlicht, dass ein wahrer "
            f"Wert von 1 bis {up_to} {folgt}, z. B. {worst}. Das liegt "
            f"{'unter' if kept else 'über'} der Grenze von {percent(risk.limit, 'de')}."
            + ("" if kept or how is not _KEYED else " Mischen Sie die Intervalle."),
        ),
        kept,
    )


def _averaging(found: Assessment) -> Iterator[Verdict]:
    if found.answers is None:
        yield Verdict(
            Statement(
                "Averages of many answers do not come to the true count.",
                "Mittelwerte vieler Antworten führen nicht zur wahren Fallzahl.",
            )
        )
    else:
        sure = {language: percent(found.confidence, language) for language in ("en", "de")}
        yield Verdict(
            Statement(
                f"{number(found.answers, 'en')} answers that divide the same units into two cells "
                f"in different ways average the noise out: the mean, rounded, is the true count "
                f"with probability {sure['en']}.",
                f"{number(found.answers, 'de')} Antworten, die dieselben Einheiten verschieden in "
                "zwei Felder teilen, mitteln die Überlagerung heraus: Der gerundete "
                f"Mittelwert ist mit Wahrscheinlichkeit {sure['de']} die wahre Fallzahl.",
            )
        )
    if found.queries is not None and found.recovered is not None:
        kept = found.recovered <= found.limit
        yield Verdict(
            Statement(
                f"With the {number(found.queries, 'en')} answers that readers can get, this "
                f"probability is {percent(found.recovered, 'en')}. That is "
                f"{'within' if kept else 'above'} the limit of {percent(found.limit, 'en')}.",
                f"Mit den {number(found.queries, 'de')} Antworten, die Nutzende erhalten können, "
                f"beträgt diese Wahrscheinlichkeit {percent(found.recovered, 'de')}. Das liegt "
                f"{'unter' if kept else 'über'} der Grenze von {percent(found.limit, 'de')}.",
            ),
            kept,
        )


def _differencing(found: Assessment) -> Verdict:
    pair = found.difference
    if pair.told <= 0:
        return Verdict(
            Statement(
                "Two sets of units that differ by one never show another count.",
                "Zwei Mengen, die sich um eine Einheit unterscheiden, zeigen nie verschiedene "
                "Werte.",
            )
        )
    pairs = pair.pairs_needed(found.confidence)
    sure = {language: percent(found.confidence, language) for language in ("en", "de")}
    several, mehrere = ("pairs", "Paare") if pairs > 1 else ("pair", "Paar")
    return Verdict(
        Statement(
            f"Two queries of which the second can hold one unit more (of {pair.count} and "
            f"{pair.count + 1}) show different counts with probability "
            f"{percent(pair.told, 'en')}; then it is certain that somebody is in between. "
            f"{pairs} {several} of such queries reach {sure['en']}. Noise cannot prevent this; "
            "fixed tables and fixed groupings do.",
            "Zwei Abfragen, von denen die zweite eine Einheit mehr enthalten kann "
            f"({pair.count} und {pair.count + 1}), zeigen mit Wahrscheinlichkeit "
            f"{percent(pair.told, 'de')} verschiedene Werte; dann steht fest, dass jemand "
            f"dazwischen ist. {pairs} {mehrere} solcher Abfragen genügen für {sure['de']}. "
            "Überlagerung verhindert das nicht, feste Tabellen und feste Gliederungen schon.",
        )
    )


def _privacy(found: Assessment) -> Verdict:
    without = found.privacy_beyond_zero
    exposed = {
        language: (
            percent(found.privacy.delta(np.inf), language),
            percent(without.delta(np.inf), language),
            number(without.delta(1.0), language, 3),
        )
        for language in ("en", "de")
    }
    return Verdict(
        Statement(
            f"One unit more or less is exposed by a single count with probability up to "
            f"{exposed['en'][1]} (between 0 and 1 units: {exposed['en'][0]}); δ = "
            f"{exposed['en'][2]} at ε = 1 for counts from 1 on.",
            f"Eine Einheit mehr oder weniger verrät ein einzelner Wert mit Wahrscheinlichkeit bis "
            f"zu {exposed['de'][1]} (zwischen 0 und 1 Einheiten: {exposed['de'][0]}); δ = "
            f"{exposed['de'][2]} bei ε = 1 für Fallzahlen ab 1.",
        )
    )


def _chance(share: float, language: str) -> str:
    if share >= 0.0005:
        return percent(share, language)
    percents = max(share * 100, 0.0001)
    text = f"{number(percents, language, 4)}\N{NO-BREAK SPACE}%"
    return text if share >= 1e-6 else f"< {text}"
