"""How far the anonymised version leads astray: each figure in a class, answered by the blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from diskret.keys import SecretKeys
from diskret.remote.figures import Figures, Name
from diskret.remote.votes import NONE, answer, drawn

Question = Literal["deviation", "significance"]

#: Classes in order. A significant coefficient is more than 1.96 standard errors from zero.
DEVIATIONS = ("sign", "smaller", "close", "larger")
SIGNIFICANCES = ("other", "not", "significant")
_LEVEL = 1.959963984540054


@dataclass(frozen=True)
class Compared:
    """What is told of one figure.

    Parameters
    ----------
    figure
        Its name.
    deviation
        The original is ``"close"``, ``"smaller"``, ``"larger"``, or has the other ``"sign"``;
        ``"none"``: there is no comparison.
    significance
        Of coefficients: ``"kept"``, ``"lost"`` (the original's is not significant), ``"gained"``,
        ``"reversed"`` (significant with the other sign) or ``"none"``; else "".
    """

    figure: Name
    deviation: str
    significance: str = ""


def questions(shown: Figures, threshold: int) -> list[tuple[Name, Question]]:
    """What is asked of the blocks; it follows from the anonymised version alone.

    Figures of fewer records than the threshold, of zero or without a value have no comparison.
    """
    found: list[tuple[Name, Question]] = []
    for name, value in shown.value.items():
        if shown.records[name] >= threshold and value and math.isfinite(value):
            found.append((name, "deviation"))
            if shown.error.get(name, 0) > 0:
                found.append((name, "significance"))
    return found


def answers(
    shown: Figures,
    blocks: Sequence[Figures | None],
    threshold: int,
    within: float,
    strength: float,
    keys: SecretKeys,
    about: Sequence[object],
) -> dict[tuple[Name, Question], int]:
    """The answer to each question about one result: its class, or -1 for no comparison.

    Parameters
    ----------
    shown
        The figures of the anonymised version.
    blocks
        Those of each block of the original; None where nothing could be computed.
    threshold, within
        The fewest records of a figure, and the factor within which it is close.
    strength
        Of each answer, see `probabilities`.
    keys, about
        The office's keys, and all that says which question this is: draws follow from both.
    """
    told: dict[tuple[Name, Question], int] = {}
    for name, question in questions(shown, threshold):
        votes = [_vote(name, question, shown, one, len(blocks), within) for one in blocks]
        classes = len(DEVIATIONS if question == "deviation" else SIGNIFICANCES)
        draw = drawn(keys, *about, name, question, strength)
        told[name, question] = answer(votes, classes, strength, draw)
    return told


def described(shown: Figures, told: Mapping[tuple[Name, Question], int]) -> tuple[Compared, ...]:
    """Answers in words, beside what was shown."""
    return tuple(
        Compared(name, _deviation(told, name), _significance(told, name, shown))
        for name in shown.value
    )


def _vote(
    name: Name,
    question: Question,
    shown: Figures,
    block: Figures | None,
    blocks: int,
    within: float,
) -> int:
    if block is None:
        return NONE
    value = block.value.get(name, 0.0 if shown.adds_up else math.nan)
    if question == "significance":
        error = block.error.get(name, math.nan)
        sign = math.copysign(1, shown.value[name])
        # a block's standard error is that of all records times the root of their number
        z = sign * math.sqrt(blocks) * value / error if error > 0 else math.nan
        return NONE if math.isnan(z) else int(z >= -_LEVEL) + int(z > _LEVEL)
    ratio = value * (blocks if shown.adds_up else 1) / shown.value[name]
    if math.isnan(ratio):
        return NONE
    return int(ratio >= 0) + int(ratio >= 1 / within) + int(ratio > within)


def _deviation(told: Mapping[tuple[Name, Question], int], name: Name) -> str:
    at = told.get((name, "deviation"), NONE)
    return "none" if at == NONE else DEVIATIONS[at]


def _significance(told: Mapping[tuple[Name, Question], int], name: Name, shown: Figures) -> str:
    if name not in shown.error:
        return ""
    at = told.get((name, "significance"), NONE)
    if at == NONE:
        return "none"
    was = abs(shown.value[name]) > _LEVEL * shown.error[name]
    if SIGNIFICANCES[at] == "other":
        return "reversed"
    if SIGNIFICANCES[at] == "significant":
        return "kept" if was else "gained"
    return "lost" if was else "kept"
