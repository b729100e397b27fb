"""Findings about a perturbation table as sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from diskret.attack import ConstellationRisk
from diskret.texts import Figure, Statement, check_language, number, percent

if TYPE_CHECKING:
    from diskret.protect.assess import Assessment

#: A mean noise of this size is no rounding error of printed probabilities.
_BIASED = 0.005


@dataclass(frozen=True)
class Verdict:
    """One finding in a sentence, and whether it keeps the office's limits.

    statement: the finding.
    kept: true or False where the office set a limit, None where it set none.
    """

    statement: Statement
    kept: bool | None = None


class Judged(ABC):
    """What attacks achieve, as findings, some of which keep a limit of the office or do not."""

    @abstractmethod
    def _judged(self) -> tuple[Verdict, ...]: ...

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All findings."""
        return self._judged()

    def __repr__(self) -> str:
        limits = [verdict.kept for verdict in self.verdicts if verdict.kept is not None]
        return f"{type(self).__name__}({sum(limits)} of {len(limits)} limits kept)"

    @property
    def accepted(self) -> bool:
        """Whether all limits that the office set are kept."""
        return all(verdict.kept is not False for verdict in self.verdicts)

    def lines(self, language: str = "en") -> list[str]:
        """The findings in plain sentences, ``"en"`` or ``"de"``; for the office only."""
        check_language(language)
        mark = {True: "✓ ", False: "✗ ", None: "  "}
        return [mark[v.kept] + getattr(v.statement, language) for v in self.verdicts]


def verdicts_of(found: Assessment) -> tuple[Verdict, ...]:
    """All findings, in the order in which they are read."""
    return (
        Verdict(_said("confidential")),
        _bias(found),
        *(_constellations(risk, keyed=False) for risk in found.constellations),
        _constellations(found.keyed, keyed=True),
        *_averaging(found),
        _differencing(found),
        _privacy(found),
        Verdict(_said("same noise")),
    )


def _bias(found: Assessment) -> Verdict:
    means = found.table.means
    worst = int(np.argmax(np.abs(means)))
    size = abs(float(means[worst]))
    if size < _BIASED:
        return Verdict(
            _said("unbiased"),
            True,
        )
    count = int(found.table.counts[worst])
    return Verdict(
        _said("biased", mean=Figure(number(means[worst], "en", 3)), count=str(count)),
        False,
    )


def _constellations(risk: ConstellationRisk, keyed: bool) -> Verdict:
    worst = risk.worst
    up_to = max(max(c.parts) for c in risk.constellations)
    kept = worst.risk <= risk.limit
    cells = {
        "parts": str(len(worst.parts)),
        "keyed": _said("keyed") if keyed else "",
        "up_to": str(up_to),
    }
    if worst.risk == 0:
        return Verdict(_said("nothing follows", **cells), kept)
    if risk.certainty == 1:
        follows = _said("for certain")
    else:
        follows = _said("likely", certainty=in_percent(risk.certainty))
    return Verdict(
        _said(
            "value follows",
            **cells,
            true=f"({', '.join(map(str, worst.parts))} | {sum(worst.parts)})",
            follows=follows,
            chance=_chance(worst.risk),
            worst=str(worst),
            limit=_limit(risk.limit, kept, shuffle=keyed),
        ),
        kept,
    )


def _limit(limit: float, kept: bool, *, shuffle: bool = False) -> Statement:
    """Whether a limit is kept, and perhaps that intervals of keys should be shuffled if not."""
    if kept:
        return _said("within", limit=in_percent(limit))
    return _said("above, shuffle" if shuffle else "above", limit=in_percent(limit))


def _averaging(found: Assessment) -> Iterator[Verdict]:
    if found.answers is None:
        yield Verdict(_said("no average"))
    else:
        yield Verdict(_said("averages", answers=found.answers, sure=in_percent(found.confidence)))
    if found.queries is not None and found.recovered is not None:
        kept = found.recovered <= found.limit
        yield Verdict(
            _said(
                "recovered",
                queries=found.queries,
                recovered=in_percent(found.recovered),
                limit=_limit(found.limit, kept),
            ),
            kept,
        )


def _differencing(found: Assessment) -> Verdict:
    pair = found.difference
    if pair.told <= 0:
        return Verdict(_said("never different"))
    pairs = pair.pairs_needed(found.confidence)
    return Verdict(
        _said(
            "different",
            count=str(pair.count),
            more=str(pair.count + 1),
            told=in_percent(pair.told),
            pairs=_said("pairs", pairs=str(pairs)) if pairs > 1 else _said("one pair"),
            sure=in_percent(found.confidence),
        )
    )


def _privacy(found: Assessment) -> Verdict:
    without = found.privacy_beyond_zero
    return Verdict(
        _said(
            "exposed",
            all=in_percent(found.privacy.delta(np.inf)),
            beyond_zero=in_percent(without.delta(np.inf)),
            delta=Figure(number(without.delta(1.0), "en", 3)),
        )
    )


def _chance(share: float) -> Figure:
    if share >= 0.0005:
        return in_percent(share)
    percents = max(share * 100, 0.0001)
    text = f"{number(percents, 'en', 4)}\N{NO-BREAK SPACE}%"
    return Figure(text if share >= 1e-6 else f"< {text}")


def in_percent(share: float) -> Figure:
    """A share for a blank of a text, as percent with one decimal."""
    return Figure(percent(share, "en"))


def _said(key: str, **blanks: object) -> Statement:
    return Statement.said("assessment", f"counts.{key}", **blanks)
