"""Safety rules as a job writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite

from diskret.argus.text import Place
from diskret.errors import JobError

_RULE = re.compile(r"(\w+)\s*\(([^()]*)\)")
#: How many numbers a rule takes, at least and at most, and how often it may stand.
_SHAPES = {
    "P": (1, 3, 4),
    "NK": (2, 2, 4),
    "FREQ": (2, 2, 2),
    "REQ": (3, 4, 2),
    "ZERO": (1, 1, 1),
    "MIS": (1, 1, 1),
    "WGT": (1, 1, 1),
    "MAN": (1, 1, 1),
}
#: From which of several of a kind on a rule looks at holdings.
_HOLDINGS_FROM = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
_STANDARD_RANGE = 20.0


@dataclass(frozen=True)
class OneRule:
    """A rule with its numbers; `holdings`: it judges holdings and not records."""

    kind: str
    numbers: tuple[float, ...]
    holdings: bool
    place: Place


@dataclass(frozen=True)
class RuleSet:
    """All that is said of what is safe.

    rules: P, NK, FREQ, REQ and ZERO, those that are switched off left out.
    by_hand: range of cells that are unsafe by hand, in percent.
    """

    rules: tuple[OneRule, ...] = ()
    missing_safe: bool = False
    weighted: bool = False
    by_hand: float = _STANDARD_RANGE


def read_rules(text: str, place: Place) -> RuleSet:
    """Read the rules of a table, e.g. ``P(20,3)|FREQ(3,30)|``."""
    found: list[OneRule] = []
    often: dict[str, int] = {}
    said: dict[str, float] = {}
    for part in text.split("|"):
        if not part.strip():
            continue
        call = _RULE.fullmatch(part.strip())
        kind = call[1].upper() if call else ""
        if call is None or kind not in _SHAPES:
            raise JobError(
                f"{place}: {part.strip()!r} is no rule; known are {', '.join(_SHAPES)}, with "
                "numbers in brackets, e.g. P(10,1)|FREQ(3,30)"
            )
        least, most, times = _SHAPES[kind]
        given = numbers(call[2], place)
        if not least <= len(given) <= most or min(given) < 0:
            raise JobError(
                f"{place}: {kind} takes from {least} to {most} numbers that are not negative, not "
                f"{call[2]!r}"
            )
        at = often.get(kind, 0)
        often[kind] = at + 1
        if at >= times:
            raise JobError(f"{place}: {kind} stands more than {times} times")
        if kind in ("MIS", "WGT", "MAN"):
            said[kind] = given[0]
        elif _switched_on(kind, given):
            given = (*given, 1.0) if kind == "P" and len(given) == 1 else given  # nobody else
            holdings = at >= _HOLDINGS_FROM.get(kind, times)
            found.append(OneRule(kind, given, holdings, place))
    return RuleSet(
        tuple(found), bool(said.get("MIS")), bool(said.get("WGT")), said.get("MAN", _STANDARD_RANGE)
    )


def _switched_on(kind: str, given: tuple[float, ...]) -> bool:
    """Whether a rule can find anything; P(0,0) and the like are how programs leave one out."""
    if kind == "NK":
        return given[0] > 0 and given[1] > 0
    if kind == "REQ":
        return given[0] > 0 or given[1] > 0
    return given[0] > 0


def numbers(text: str, place: Place) -> tuple[float, ...]:
    """Numbers between commas; empty ones at the end are left out."""
    fields = [field.strip() for field in text.split(",")]
    while fields and not fields[-1]:
        fields.pop()
    found: list[float] = []
    for field in fields:
        try:
            value = float(field)
        except ValueError:
            value = float("nan")
        if not isfinite(value) or abs(value) > 1e12:
            raise JobError(f"{place}: {field!r} is no number, or too large")
        found.append(value)
    if not found:
        raise JobError(f"{place}: there are no numbers between the brackets")
    return tuple(found)
