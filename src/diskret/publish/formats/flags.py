"""Codes of status: of observations and their confidentiality, as SDMX, Eurostat and SBS write them.

Sources: SDMX code lists CL_OBS_STATUS 2.3 and CL_CONF_STATUS 1.4; Eurostat's two lists of flags,
in force since 27 January 2025 (observation status: b d e f i m n p u; confidentiality: C, N, P);
the letters of the regulation on structural business statistics (SBS).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from diskret.publish.formats.cube import EMPTY, HIDDEN, NO_FIGURE, SHOWN, Cube


@dataclass(frozen=True)
class Flags:
    """What is written of a cell in public files, by what it is: `OBS_STATUS` and `CONF_STATUS`."""

    name: str
    obs_status: Mapping[int, str]
    conf_status: Mapping[int, str]


_SDMX = Flags(
    "sdmx",
    {SHOWN: "A", EMPTY: "A", HIDDEN: "Q", NO_FIGURE: "M"},
    {SHOWN: "F", EMPTY: "F", HIDDEN: "C", NO_FIGURE: "F"},
)
#: Eurostat writes nothing of an ordinary value.
_EUROSTAT = Flags(
    "eurostat",
    {SHOWN: "", EMPTY: "", HIDDEN: "", NO_FIGURE: "m"},
    {SHOWN: "", EMPTY: "", HIDDEN: "C", NO_FIGURE: ""},
)


def flags_of(cube: Cube) -> Flags:
    """Eurostat's where its symbols are chosen, else those of SDMX."""
    return _EUROSTAT if cube.symbols.name == _EUROSTAT.name else _SDMX


# ── what the office alone may know ──────────────────────────────────────────────────


#: Rule → its letter in SBS; dominance of one contributor, and whatever has none of its own: B.
_SBS = {"minimum_frequency": "A", "p_percent": "F", "pq": "F"}
#: Rule → confidentiality status of SDMX: small counts, dominance by one; else M, other reasons.
_CONF_STATUS = {"minimum_frequency": "A", "p_percent": "O", "pq": "O"}
_DOMINANCE = re.compile(r"Dominance\(n=(\d+)")
FREE, SECONDARY = "F", "D"
#: The letter of a cell that may be published.
SAFE_SBS = "V"


def sbs_letter(rule: str, alone: bool = True) -> str:
    """The letter of a sensitive cell; `alone`: dominance is judged of one contributor only.

    >>> sbs_letter("minimum_frequency"), sbs_letter("dominance"), sbs_letter("dominance", False)
    ('A', 'B', 'C')
    """
    return _SBS.get(rule, "B" if alone or rule != "dominance" else "C")


def conf_status(rule: str, most: int = 1) -> str:
    """The status of a sensitive cell; `most`: contributors that a rule of dominance looks at.

    >>> [conf_status("dominance", n) for n in (1, 2, 3)], conf_status("apriori")
    (['O', 'T', 'M'], 'M')
    """
    if rule == "dominance":
        return {1: "O", 2: "T"}.get(most, "M")
    return _CONF_STATUS.get(rule, "M")


def most_contributors(rule: str) -> int:
    """How many contributors the rules of dominance look at, as the settings of a result name them.

    >>> most_contributors("AnyOf(MinimumFrequency(n=3), Dominance(n=2, k=80))")
    2
    """
    return max([1, *map(int, _DOMINANCE.findall(rule))])
