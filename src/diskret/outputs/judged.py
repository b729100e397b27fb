"""A result made of cells, with what the checks say of it and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.judge_cells import Part, judge
from diskret.outputs.profile import Profile


def judged(
    output: Any,
    parts: Sequence[Part],
    profile: Profile,
    rows: Any,
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
    without_code
        Variables that have no category for some records.
    more
        What else was found.
    kind
        What the result is; None: as its parts.
    """
    own, made, found = judge(parts, profile)
    missing = profile.verdict("missing")
    if without_code and missing != "pass":
        found = (*found, Finding("missing", missing, tuple((name,) for name in without_code)))
    checks = dict.fromkeys([*made, "missing", *(one.check for one in more)])
    if "unknown" in made:
        checks = dict.fromkeys(made)
    kept = tuple(one for one in more if one.verdict != "pass")
    told = _told([cells for part in parts for cells in part.cells], rows)
    return Checked(kind or own, output, tuple(checks), (*found, *kept), profile, told)


def _told(cells: Sequence[Cells], rows: Any) -> tuple[Told, ...]:
    """The records of each cell, once where several statistics are shown of the same cells."""
    told: list[Told] = []
    seen: set[int] = set()
    for one in cells:
        sets = one.at if one.used.all() else np.where(one.used, one.at, np.int32(-1))
        if id(one) not in seen:
            told.append(Told(sets, tuple(one.names), rows))
        seen.add(id(one))
    return tuple(told)
