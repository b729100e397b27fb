"""Survival curves by Kaplan and Meier: each step tells how many had the event, who was left."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.given import column_of, framed, numbers_of
from diskret.outputs.judge_cells import STATISTICS, Part, judge
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of
from diskret.parameters import Number, reading

CHECKS = ("few_events", "few_censored", "few_at_risk", "all_equal")


@reading
def survival(
    data: Any,
    time: str,
    event: str,
    *,
    group: str | None = None,
    every: Annotated[float, Number(above=0)] | None = None,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A survival curve (Kaplan and Meier), made as statsmodels makes it, and checked step by step.

    The curve falls by events / at risk, so its steps tell both numbers, and the difference of the
    numbers at risk tells how many were censored between two steps. All three are judged. With exact
    times nearly every step is a single unit; with `every`, times are rounded up to allowed points
    first, and a step is about all of an interval.

    Parameters
    ----------
    data
        A frame of pandas, or of Polars.
    time
        Name of the column of durations, zero or more.
    event
        Name of the column that says whether the event happened (1), or the unit was censored (0).
    group
        Name of the column whose categories have curves of their own; None: one curve.
    every
        Distance of the allowed time points, in units of `time`; None: times as they are.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records in
        its index. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.

    Returns
    -------
    Checked
        Its `output` is a frame with `group`, `time`, `at_risk`, `events` and `survival`.

    Raises
    ------
    InputError
        A column is missing, a duration is negative or missing, or an event is not 0 or 1.

    Sources
    -------
    Kaplan and Meier (1958), Nonparametric estimation from incomplete observations, Journal of the
    American Statistical Association 53. Guidelines for the checking of output (DwB 2015).

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"years": draw.exponential(5, 300).clip(0, 11.9)})
    >>> firms["closed"] = (firms.years < 11.9).astype(int)
    >>> survival(firms, "years", "closed").verdict
    'fail'
    >>> print(survival(firms, "years", "closed", every=4).summary())
    Survival curve: passes.
    Checked: events of a step, censored units, units at risk, equal values.
    """
    rules = Profile.read(profile)
    frame = framed(data)
    durations = exact = numbers_of(frame, [time], "time")[:, 0]
    happened = numbers_of(frame, [event], "event")[:, 0]
    _check(durations, happened, time, event)
    if every is not None:
        # a duration on a point stays there, whatever its last digit says
        durations = np.ceil(np.round(durations / float(every), 9)) * float(every)
    groups = [""] * len(frame) if group is None else column_of(frame, group, "group")
    curves = steps_of(durations, happened == 1, np.asarray(groups))
    rows = np.asarray(frame.index)
    units = units_of(column_of(frame, unit, "unit"), rows, len(frame))
    findings = judged_steps(curves, units, rules)
    told = (Told(curves.cell, curves.names, rows),)
    made_from = {time: exact, event: happened}
    if group is not None:
        made_from[group] = frame[group].to_numpy()
    output = _curve(curves, group)
    return Checked("survival", output, CHECKS, findings, rules, told, made_from)


@reading
def logrank(
    data: Any,
    time: str,
    event: str,
    group: str,
    *,
    strata: str | None = None,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A log-rank test of survival in several groups, judged by the events of each group.

    The statistic is made of the events that are observed and expected in each group. They are
    judged as a table of counts: units with and without the event, by group (and stratum).

    Parameters
    ----------
    data, time, event, group
        As for `survival`.
    strata
        Name of the column within whose categories groups are compared; None: none.
    unit, profile
        As for `survival`.

    Returns
    -------
    Checked
        Its `output` has the statistic, the degrees of freedom and the p value.

    Raises
    ------
    InputError
        As for `survival`; or there are not two groups.

    Sources
    -------
    Mantel (1966), Evaluation of survival data and two new rank order statistics, Cancer
    Chemotherapy Reports 50. Guidelines for the checking of output (DwB 2015), 5.9.

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"years": draw.exponential(5, 300).clip(0, 11.9)})
    >>> firms["closed"], firms["east"] = (firms.years < 9).astype(int), firms.index < 150
    >>> logrank(firms, "years", "closed", "east").verdict
    'pass'
    """
    import pandas as pd
    from statsmodels.duration.survfunc import survdiff

    rules = Profile.read(profile)
    frame = framed(data)
    durations = numbers_of(frame, [time], "time")[:, 0]
    happened = numbers_of(frame, [event], "event")[:, 0]
    _check(durations, happened, time, event)
    names = [group] if strata is None else [group, strata]
    keys = [pd.factorize(column_of(frame, name, name), sort=True) for name in names]
    for name, (at, _) in zip(names, keys, strict=True):
        if (at < 0).any():
            raise InputError(f"{name!r} is missing in record {frame.index[at < 0][0]}")
    if len(keys[0][1]) < 2:
        raise InputError(f"group={group!r} must have two categories or more")
    within = None if strata is None else keys[1][0]
    statistic, p_value = survdiff(durations, happened, keys[0][0], strata=within)
    freedom = len(keys[0][1]) - 1
    output = {"statistic": float(statistic), "freedom": freedom, "p_value": float(p_value)}
    rows = np.asarray(frame.index)
    units = units_of(column_of(frame, unit, "unit"), rows, len(frame))
    labels: list[tuple[str, ...]] = [("",)]
    cell = np.zeros(len(frame), np.int64)
    for at, kinds in keys:
        cell = cell * len(kinds) + at
        labels = [(*one, str(kind)) for one in labels for kind in kinds]
    cell = 2 * cell + (happened == 1)
    labels = [(*one[1:], said) for one in labels for said in (f"{event} = 0", f"{event} = 1")]
    cells = Cells(tuple(labels), cell.astype(np.int32), None, units)
    found = judge([Part(STATISTICS["count"], [cells])], rules)[2]
    kept = tuple(one for one in found if one.check == "threshold")
    told = (Told(cells.at, cells.names, rows),)
    made_from = {time: durations, event: happened, **{one: frame[one].to_numpy() for one in names}}
    return Checked("test", output, ("threshold",), kept, rules, told, made_from)


def _check(durations: NDArray[np.float64], happened: NDArray[Any], time: str, event: str) -> None:
    if not len(durations):
        raise InputError("data= has no records")
    if np.isnan(durations).any() or (durations < 0).any():
        raise InputError(f"time={time!r} has durations that are missing or negative")
    if not np.isin(happened, [0, 1]).all():
        raise InputError(f"event={event!r} must be 1 (it happened) or 0 (censored) in all records")


@dataclass(frozen=True, eq=False)
class Steps:
    """Curves as numbers of records.

    `cell`: for each record, the step at which it has its event (even numbers) or after which it is
    censored (odd numbers); `names` of the cells; `group`, `time`: of each step; `last`: whether a
    step is the last of its group; `first`: the one before the first event, without events.
    """

    cell: NDArray[np.int32]
    names: tuple[tuple[str, ...], ...]
    group: list[str]
    time: NDArray[np.float64]
    begins: NDArray[np.intp]


def steps_of(
    durations: NDArray[np.float64], happened: NDArray[np.bool_], groups: NDArray[Any]
) -> Steps:
    """Each group begins with a step at time 0, after which units are censored before any event."""
    cell = np.full(len(durations), -1, np.int32)
    named: list[str] = []
    times: list[float] = []
    begins: list[int] = []
    labels = groups.astype(str)
    for label in np.unique(labels):
        here = labels == label
        at = np.concatenate([[-np.inf], np.unique(durations[here & happened])])
        place = np.searchsorted(at, durations, side="right") - 1  # events come before censoring
        cell[here] = 2 * (len(times) + place[here]) + ~happened[here]
        begins.append(len(times))
        times += [0.0, *at[1:].tolist()]
        named += [str(label)] * len(at)
    names: list[tuple[str, ...]] = []
    for label, one in zip(named, times, strict=True):
        where = (label,) if label else ()
        names += [(*where, f"{one:g}"), (*where, f"> {one:g}")]
    return Steps(cell, tuple(names), named, np.array(times), np.array(begins))


def _at_risk(steps: Steps, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each step, how many are left before it, from how many lie in each cell."""
    leaving = numbers[0::2] + numbers[1::2]
    left = np.zeros(len(leaving), np.int64)
    for begin, end in zip(steps.begins, [*steps.begins[1:], len(leaving)], strict=True):
        left[begin:end] = leaving[begin:end][::-1].cumsum()[::-1]
    return left


def judged_steps(
    steps: Steps, units: NDArray[np.int32] | None, rules: Profile
) -> tuple[Finding, ...]:
    """What is found in curves, step by step."""
    cells = Cells(steps.names, steps.cell, None, units)
    few = (cells.units > 0) & (cells.units < rules.threshold)
    longest = _longest(steps, units)
    left = _at_risk(steps, np.bincount(longest, minlength=len(steps.names)))
    records = np.bincount(steps.cell, minlength=len(steps.names))
    events, everybody = records[0::2], _at_risk(steps, records)
    places = {
        "few_events": steps.names[0::2],
        "few_censored": steps.names[1::2],
        "few_at_risk": steps.names[0::2],
        "all_equal": steps.names[0::2],
    }
    marked = {
        "few_events": few[0::2],
        "few_censored": few[1::2],
        "few_at_risk": (left < rules.threshold) & (left > 0),
        "all_equal": (events == everybody) & (events > 0),
    }
    found: list[Finding] = []
    for check, where in marked.items():
        at = tuple(places[check][one] for one in np.flatnonzero(where))
        if at and rules.verdict(check) != "pass":
            blanks = {} if check == "all_equal" else {"threshold": rules.threshold}
            found.append(Finding(check, rules.verdict(check), at, blanks))
    return tuple(found)


def _longest(steps: Steps, units: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """The last cell of each unit in each group: it is at risk as long as one of its records is."""
    if units is None:
        return steps.cell
    begins = 2 * steps.begins
    group = np.searchsorted(begins, steps.cell, side="right")
    pair = np.unique(np.stack([group, units]), axis=1, return_inverse=True)[1].reshape(-1)
    last = np.zeros(int(pair.max(initial=-1)) + 1, np.int32)
    np.maximum.at(last, pair, steps.cell)
    return last


def _curve(steps: Steps, group: str | None) -> Any:
    """The curves as a frame: what statsmodels' `SurvfuncRight` says, for each group."""
    import pandas as pd

    records = np.bincount(steps.cell, minlength=len(steps.names))
    events, left = records[0::2], _at_risk(steps, records)
    parts = [
        np.cumprod(1 - events[begin:end] / left[begin:end])
        for begin, end in zip(steps.begins, [*steps.begins[1:], len(left)], strict=True)
    ]
    columns: dict[str, Any] = {} if group is None else {group: steps.group}
    columns |= {"time": steps.time, "at_risk": left, "events": events}
    return pd.DataFrame({**columns, "survival": np.concatenate(parts)})
