"""Tables whose unsafe cells are hidden, with others so that nobody can compute them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.outputs.beside import within
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.profile import Profile
from diskret.outputs.tables import crosstab
from diskret.outputs.units import units_of
from diskret.protect.suppress import suppress
from diskret.protect.tabulate import tabulate
from diskret.rules import Dominance, MinimumFrequency, PPercent

#: Checks that hiding a cell answers.
_ANSWERED = ("threshold", "dominance", "p_percent", "all_equal")


def suppressed(
    index: Any,
    columns: Any,
    *,
    values: Any = None,
    aggfunc: str | None = None,
    decimals: int = 2,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A table with true totals whose unsafe cells are hidden, together with enough others.

    What fails in `crosstab` is hidden, and the other cells that have to be are chosen and proven
    as of `diskret.suppress`; `Checked.certificate` says what is claimed. Rules that hiding does not
    answer are judged as before: group disclosure, zeros, missing and negative values. In a project
    the cells that are shown are attacked beside all that has left.

    Parameters
    ----------
    index, columns
        A pandas Series each, as of `crosstab`.
    values, aggfunc
        A Series of numbers and ``"sum"``; both None: records are counted.
    decimals
        Decimals that sums are shown with.
    unit, profile
        As of `crosstab`.

    Raises
    ------
    InputError
        As of `crosstab`; or another function is asked for.
    ProtectionError
        The totals themselves are unsafe, so nothing could be shown.

    Sources
    -------
    Hundepool et al. (2012), Statistical Disclosure Control, chapter 4.

    Examples
    --------
    >>> import pandas as pd
    >>> towns = [3 * ["A"] + 20 * ["B"] + 30 * ["C"], 25 * ["A"] + 30 * ["B"] + 15 * ["C"]]
    >>> people = pd.DataFrame({"town": towns[0] + towns[1], "job": 53 * ["x"] + 70 * ["y"]})
    >>> found = suppressed(people.town, people.job)
    >>> found.verdict, int(found.output.isna().sum().sum())
    ('pass', 4)
    """
    import pandas as pd

    rules = Profile.read(profile)
    if aggfunc not in (None, "sum"):
        raise InputError(f"aggfunc= of a table with hidden cells must be 'sum', not {aggfunc!r}")
    for argument, one in (("index", index), ("columns", columns)):
        if not isinstance(one, pd.Series):
            raise InputError(
                f'{argument}= must be a pandas Series such as df["region"], or a list of them, '
                f"not {type(one).__name__}"
            )
    base = crosstab(
        index, columns, values=values, aggfunc=aggfunc, margins=True, unit=unit, profile=rules
    )
    rows, row_names = pd.factorize(index, sort=True)
    across, column_names = pd.factorize(columns, sort=True)
    kept = (rows >= 0) & (across >= 0)
    if values is not None:
        kept &= ~np.asarray(values.isna())
    owners = units_of(unit, index.index, len(index))
    frame: dict[str, Any] = {
        "row": np.char.add("r", rows[kept].astype(str)),
        "column": np.char.add("c", across[kept].astype(str)),
        "unit": (np.arange(len(rows)) if owners is None else owners)[kept],
    }
    measure: Mapping[str, Any] = {}
    if values is not None:
        frame["value"] = np.asarray(values, np.float64)[kept]
        measure = {"value": "value", "decimals": decimals, "round_values": True}
    table = tabulate(pd.DataFrame(frame), by={"row": None, "column": None}, unit="unit", **measure)
    # a contributor, also to counts: then what totals leave of hidden cells is judged as well
    result = suppress(table, _rule(rules, values is not None), attacker=Attacker(contributor=True))
    order = [_places(result.published.dimensions[at].hierarchy.codes, "rc"[at]) for at in (0, 1)]
    number = result.published.value[np.ix_(*order)] / 10.0**result.published.decimals
    hidden = result.published.suppressed[np.ix_(*order)]
    output = base.output.copy().astype(object if values is None else float)
    output.iloc[:, :] = np.where(hidden, np.nan, number)
    if not hidden.any() and values is None:
        output = base.output
    gone = _names(hidden, [str(one) for one in row_names], [str(one) for one in column_names])
    told = tuple(_shown(told, gone) for told in base.told)
    together = [one for one in within(told, owners, rules) if one.verdict != "pass"]
    return Checked(
        base.kind,
        output,
        (*base.made, "suppressed", "within"),
        (*_left(base.findings, gone), *together),
        rules,
        told,
        base.made_from,
        certificate=result.certificate,
    )


def _rule(profile: Profile, summed: bool) -> Any:
    """The profile's rules as those of tables."""
    rules: list[Any] = [MinimumFrequency(max(profile.threshold, 2), of="units")]
    if summed and profile.p_percent is not None:
        rules.append(PPercent(float(profile.p_percent)))
    if summed and profile.dominance is not None:
        number, percent = profile.dominance
        rules.append(Dominance(int(number), float(percent), quiet=True))
    whole = rules[0]
    for one in rules[1:]:
        whole = whole | one
    return whole


def _places(codes: Any, letter: str) -> list[int]:
    """Where the categories lie among the codes, in their order, and the total last."""
    at = {str(code): place for place, code in enumerate(codes)}
    inner = [code for code in at if code[:1] == letter and code[1:].isdigit()]
    inner.sort(key=lambda code: int(code[1:]))
    total = next(code for code in at if code not in inner)
    return [*(at[code] for code in inner), at[total]]


def _names(hidden: NDArray[np.bool_], rows: list[str], columns: list[str]) -> set[tuple[str, ...]]:
    """What the hidden cells are called; totals are All."""
    labels = [*rows, "All"], [*columns, "All"]
    return {
        (labels[0][row], labels[1][column]) for row, column in zip(*np.nonzero(hidden), strict=True)
    }


def _left(findings: tuple[Finding, ...], hidden: set[tuple[str, ...]]) -> list[Finding]:
    """Findings that hiding does not answer."""
    left: list[Finding] = []
    for one in findings:
        if one.check in _ANSWERED:
            places = tuple(place for place in one.places if place not in hidden)
            if places:
                left.append(replace(one, places=places))
        else:
            left.append(one)
    return left


def _shown(told: Told, hidden: set[tuple[str, ...]]) -> Told:
    """What is told by the cells that are shown."""
    gone = np.array([name in hidden for name in told.names] + [False])[told.sets]  # -1: the last
    return replace(told, sets=np.where(gone, -1, told.sets).astype(np.int32))
