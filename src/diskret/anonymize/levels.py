"""Levels of anonymity in German statistics law, and what they ask for here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from diskret.attack.microdata.claims import Claim

#: formal: no direct identifiers. factual: recognising somebody takes a disproportionate effort of
#: time, cost and labour. absolute: nobody can be recognised, by reasonable judgement.
Level = Literal["formal", "factual", "absolute"]


@dataclass(frozen=True)
class Preset:
    """What a level asks for; None: nothing.

    The law names no figures. These are common ones, to be replaced where the office has its own.

    Parameters
    ----------
    k
        How many records must share the keys of each.
    risk
        Largest risk that a record is recognised. 0.5: a match is more often wrong than right.
    rate
        Largest expected share of records that are recognised.
    diversity
        Distinct values of each sensitive variable among the records that share their keys.
    region
        Persons of the population in the smallest area. The regional file of the German
        microcensus for research has areas of at least 100,000 (Christians and Wirth 2009).
    """

    k: int | None = None
    risk: float | None = None
    rate: float | None = None
    diversity: int | None = None
    region: int | None = None


PRESETS: dict[Level, Preset] = {
    "formal": Preset(),
    "factual": Preset(risk=0.5, rate=0.01, region=100_000),
    "absolute": Preset(k=5, risk=0.2, rate=0.01, diversity=2, region=500_000),
}


def claims_of(level: Level, sensitive: bool) -> tuple[Claim, ...]:
    """What a release at this level claims; `sensitive`: whether such variables are released."""
    from diskret.attack.microdata.claims import (
        ExpectedBelow,
        KAnonymity,
        LDiversity,
        NoIdentifiers,
        RiskBelow,
    )

    asked = PRESETS[level]
    claims: list[Claim] = [NoIdentifiers()]
    if asked.k is not None:
        claims.append(KAnonymity(asked.k))
    if asked.risk is not None:
        claims.append(RiskBelow(asked.risk))
    if asked.rate is not None:
        claims.append(ExpectedBelow(asked.rate))
    if asked.diversity is not None and sensitive:
        claims.append(LDiversity(asked.diversity))
    return tuple(claims)
