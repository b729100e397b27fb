"""A result made of cells, with what the checks say of it and what it tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.outputs.beside import within
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.judge_cells import QUANTILE, Part, judge
from diskret.outputs.profile import Profile
from diskret.outputs.ranks import divided


def judged(
    output: Any,
    parts: Sequence[Part],
    profile: Profile,
    rows: Any,
    made_from: Mapping[str, Any],
    without_code: Sequence[str] = (),
    more: Sequence[Finding] = (),
    kind: str | None = None,
) -> Checked:
    """What the checks say of a result.

    Parameters
    ----------
    output
        The result, as the researcher gets it.
    parts
        What it shows of which cells.
    profile
        The rules.
    rows
        What each record is called in the frame; None: its number.
    made_from
        The variables that it is made from, by name.
    without_code
        Variables that have no category for some records.
    more
        What else was found.
    kind
        What the result is; None: as its parts.
    """
    called, made, found = judge(parts, profile)
    missing = profile.verdict("missing")
    if without_code and missing != "pass":
        found = (*found, Finding("missing", missing, tuple((name,) for name in without_code)))
    told = (*_told(parts, rows), *_divided(parts, rows, profile))
    more = [*more, *_together(parts, rows, profile)]
    checks = dict.fromkeys([*made, "missing", *(one.check for one in more)])
    if "unknown" in made:
        checks = dict.fromkeys(made)
    kept = tuple(one for one in more if one.verdict != "pass")
    return Checked(kind or called, output, tuple(checks), (*found, *kept), profile, told, made_from)


def _together(parts: Sequence[Part], rows: Any, profile: Profile) -> list[Finding]:
    """What is told by numbers of different records, as those are that have one value or another."""
    inner = [
        part
        if part.hidden  # not all follow from the cells that are shown
        else replace(part, cells=[one for one in part.cells if one.parts is None])
        for part in parts
    ]
    told = _told(inner, rows)
    if len({part.variable for part in parts if part.statistic.kind == QUANTILE.kind}) > 1:
        told += _divided(inner, rows, profile)  # those of one variable make classes
    if len(told) < 2 or len({len(one.sets) for one in told}) > 1:
        return []  # totals follow from cells, which are judged; samples of other records are apart
    return within(told, inner[0].cells[0].unit, profile)


#: Kinds that tell the sums of cells, or numbers that these follow from.
_SUMS = ("sums", "means", "ratios")


def _told(parts: Sequence[Part], rows: Any) -> tuple[Told, ...]:
    """The records of each cell, once where several statistics are shown of the same cells."""
    told: dict[tuple[int, str], Told] = {}
    for part in parts:
        if not part.told:
            continue
        kind = part.statistic.kind
        what = {**dict.fromkeys(_SUMS, "values"), "deviations": "spread"}.get(kind, "")
        for number, one in enumerate(part.cells):
            sets = one.at if one.used.all() else np.where(one.used, one.at, np.int32(-1))
            if part.hidden:  # -1, of a record in no cell, finds the last
                sets = np.where(np.append(part.hidden[number], True)[sets], np.int32(-1), sets)
            own: dict[str, Any] = {what: one.values, "variable": part.variable} if what else {}
            told.setdefault((id(one), what), Told(sets, tuple(one.names), rows, **own))
    return tuple(told.values())


def _divided(parts: Sequence[Part], rows: Any, profile: Profile) -> tuple[Told, ...]:
    """The records of each cell on both sides of each percentile, whose numbers its rank tells.

    Nobody knows them where as many units as the threshold share the percentile.
    """
    told: list[Told] = []
    for part in parts:
        if part.statistic.kind != QUANTILE.kind or not part.told:
            continue
        for one in part.cells:
            value = part.statistic.shown(one)
            halves = divided(one, value)
            at = one.records[0]
            sets = np.full(len(one.at), -1, np.int32)
            known = one.sharing(value) < profile.threshold
            sets[one.used] = np.where(known[at], 2 * at + ~halves.below, -1)
            names = [(*name, *part.label, side) for name in one.names for side in ("<", "≥")]
            told.append(Told(sets, tuple(names), rows, way=np.repeat(halves.way, 2)))
    return tuple(told)
