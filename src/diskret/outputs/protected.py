"""Which cells of a table have to be hidden: its records, protected as any table is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.profile import Profile
from diskret.protect.suppress import suppress
from diskret.protect.tabulate import tabulate
from diskret.rules import Dominance, MinimumFrequency, PPercent

_TOTAL = "all"  # no number, as the other codes are


def protected(
    cells: Cells, shape: tuple[int, ...], profile: Profile, decimals: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], Any]:
    """Numbers and hidden cells, each axis with its total last, and what is claimed of them.

    Parameters
    ----------
    cells
        The inner cells of the table.
    shape
        How many categories each axis has.
    profile
        The rules.
    decimals
        Decimals that values are rounded to.

    Raises
    ------
    InputError
        There are no records, or no rule that hiding answers.
    """
    used = np.flatnonzero(cells.used)
    if not len(used):
        raise InputError("the table holds no records: there is nothing to hide")
    owners = np.arange(len(cells.at)) if cells.unit is None else cells.unit
    codes = np.unravel_index(cells.at[used], shape)
    axes = [str(at) for at in range(len(shape))]
    frame: dict[str, Any] = {"unit": owners[used]}
    frame |= {name: own.astype(str) for name, own in zip(axes, codes, strict=True)}
    measure: dict[str, Any] = {}
    if cells.values is not None:
        frame["value"] = cells.values[used]
        measure = {"value": "value", "decimals": decimals, "round_values": True}
    table = tabulate(
        pd.DataFrame(frame),
        by=dict.fromkeys(axes),
        unit="unit",
        total=dict.fromkeys(axes, _TOTAL),
        **measure,
    )
    rule = _rule(profile, cells.values is not None)
    # counts, too: the contributor's attack judges what is left of totals, as anybody subtracts
    result = suppress(table, rule, attacker=Attacker(contributor=True))
    shown: Any = table.count if cells.values is None else table.measure.sum
    whole = [length + 1 for length in shape]
    number, hidden = np.zeros(whole), np.zeros(whole, bool)
    places = [
        [length if code == _TOTAL else int(code) for code in map(str, one.hierarchy.codes)]
        for one, length in zip(result.published.dimensions, shape, strict=True)
    ]
    number[np.ix_(*places)] = shown / 10.0**result.published.decimals
    hidden[np.ix_(*places)] = result.published.suppressed
    return number, hidden, result.certificate


def _rule(profile: Profile, summed: bool) -> Any:
    """The profile's rules as those of tables."""
    rules: list[Any] = []
    if profile.verdict("threshold") != "pass" and profile.threshold > 1:
        rules.append(MinimumFrequency(profile.threshold, of="units"))
    if summed and profile.p_percent is not None and profile.verdict("p_percent") != "pass":
        rules.append(PPercent(float(profile.p_percent)))
    if summed and profile.dominance is not None and profile.verdict("dominance") != "pass":
        number, percent = profile.dominance
        rules.append(Dominance(int(number), float(percent), quiet=True))
    if not rules:
        raise InputError("the profile has no rule by which cells would have to be hidden")
    whole = rules[0]
    for one in rules[1:]:
        whole = whole | one
    return whole
