"""What is done and what is missing before microdata may be called anonymous."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diskret.anonymize.checks import Figure, Finding, State, formal_checks, risk_checks
from diskret.anonymize.levels import PRESETS, Level
from diskret.io import FrameKind, from_arrow
from diskret.parameters import reading
from diskret.texts import Words, number, words_in

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

_MARKS = {"done": "[x]", "missing": "[ ]", "unknown": "[?]"}
_SHARES = ("share", "rate", "rate_limit")
_DECIMALS = {"persons": 0, "largest": 4}
_NAMES = 5


@dataclass(frozen=True)
class Check:
    """One point of a checklist.

    Parameters
    ----------
    name
        What was checked, the same in every language.
    title
        What it is called.
    state
        ``"done"``, ``"missing"``, or ``"unknown"`` where only a person can tell.
    found
        What was found, a sentence.
    next
        What to do about it; empty if nothing.
    """

    name: str
    title: str
    state: State
    found: str
    next: str


@dataclass(frozen=True, eq=False)
class Checklist:
    """What is done and what is missing for a level of anonymity. Confidential.

    Parameters
    ----------
    level
        The level.
    language
        Of the sentences.
    items
        The checks.
    kind
        Kind of frame of the caller.
    """

    level: str
    language: str
    items: tuple[Check, ...]
    kind: FrameKind = field(repr=False)

    def __repr__(self) -> str:
        return f"Checklist({self.level!r}: {self._counted('en')})"

    def __str__(self) -> str:
        words = words_in(self.language, "checklist")
        lines = [words[f"levels.{self.level}"], ""]
        for item in self.items:
            lines.append(f"{_MARKS[item.state]} {item.title}: {item.found}")
            if item.next:
                lines.append(f"    {words['next']}: {item.next}")
        return "\n".join([*lines, "", f"{self._counted(self.language)} {words['judgement']}"])

    @property
    def missing(self) -> tuple[Check, ...]:
        """What has to be done."""
        return tuple(item for item in self.items if item.state == "missing")

    @property
    def unknown(self) -> tuple[Check, ...]:
        """What only a person can tell."""
        return tuple(item for item in self.items if item.state == "unknown")

    @property
    def frame(self) -> Any:
        """The checks as the caller's kind of frame: check, state, found, next."""
        words = words_in(self.language, "checklist")
        columns = {
            "check": [item.title for item in self.items],
            "state": [words[item.state] for item in self.items],
            "found": [item.found for item in self.items],
            "next": [item.next for item in self.items],
        }
        return from_arrow(pa.table(columns), self.kind)

    def _counted(self, language: str) -> str:
        states = Counter(item.state for item in self.items)
        counts = {state: states[state] for state in ("done", "missing", "unknown")}
        return words_in(language, "checklist").said("summary", **counts)


@reading
def checklist(md: Microdata, level: Level = "factual", language: str = "en") -> Checklist:
    """What is done and what is missing for a level of anonymity of German statistics law.

    The law knows three levels: formal anonymity (no direct identifiers), factual anonymity (values
    can be attributed only with a disproportionate effort of time, cost and labour, § 16 (6) no. 1
    BStatG) and absolute anonymity (nobody can be recognised, § 16 (1) no. 4 BStatG). It names
    no figures: the ones used here are common in practice, and whether a level is reached is for
    the office to decide. A missing value of a key agrees with every value.

    Parameters
    ----------
    md
        The microdata, protected or not.
    level
        ``"formal"``, ``"factual"`` or ``"absolute"``.
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        Level or language is unknown, or weights are faulty.

    References
    ----------
    Gesetz über die Statistik für Bundeszwecke (BStatG), § 16. Ronning, Sturm, Höhne, Lenz,
    Rosemann, Scheffler, Vorgrimler: Handbuch zur Anonymisierung wirtschaftsstatistischer
    Mikrodaten, Statistisches Bundesamt 2005. Christians, Wirth: Mikrozensus-Regionalfile, GESIS
    2009 (areas of at least 100,000 persons).

    Examples
    --------
    >>> import diskret as dk
    >>> persons = pa.table({"job": ["baker", "mayor", "baker"], "town": ["N", "S", "N"]})
    >>> found = checklist(dk.Microdata(persons, keys=["job", "town"]))
    >>> [item.name for item in found.missing]
    ['region', 'uniques', 'k-anonymity', 'risk']
    """
    words = words_in(language, "checklist")
    risks = () if level == "formal" else risk_checks(md, PRESETS[level])
    findings = [*formal_checks(md), *risks]
    items = tuple(_told(finding, words) for finding in findings)
    return Checklist(level, language, items, md.kind)


def _told(finding: Finding, words: Words) -> Check:
    shown = {name: _shown(name, value, words.language) for name, value in finding.figures.items()}
    said = f"checks.{finding.check}.{finding.case}"
    return Check(
        finding.check,
        words[f"titles.{finding.check}"],
        finding.state,
        words.said(f"{said}.found", **shown),
        words.said(f"{said}.next", **shown),
    )


def _shown(name: str, value: Figure, language: str) -> str | int:
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if name in _SHARES:
            return f"{number(100 * value, language, 3)}\N{NO-BREAK SPACE}%"
        return number(value, language, _DECIMALS.get(name, 2))
    more = f" (+ {len(value) - _NAMES})" if len(value) > _NAMES else ""
    return ", ".join(value[:_NAMES]) + more
