"""Random projects of researchers, attacked from the records: what nothing accepted may tell.

Each result comes with what it tells: groups of records and the variable that is added up over
them. That is made from the records here; the package is not asked.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from outputs.project_attack import narrowed

from diskret.errors import ProtectionError
from diskret.outputs import (
    Profile,
    Project,
    correlation,
    crosstab,
    density,
    groupby,
    histogram,
    model,
    quantile,
    ratio,
    scatter,
    suppressed,
    ttest,
)

THRESHOLD, PERCENT = 5, 10
RULES = Profile(
    threshold=THRESHOLD,
    freedom=5,
    p_percent=PERCENT,
    dominance=(1, 50),
    excepting=("head",),
    verdicts=dict.fromkeys(
        ("zero", "all_equal", "missing", "negative", "smooth", "weight", "unproven"), "pass"
    ),
)


@dataclass
class World:
    """Records, and of what terms each variable is the sum."""

    frame: pd.DataFrame

    def families(self, told):
        """Name, variable → term → which records have it, and the values of all terms.

        Whoever knows sums of v and of s alone does not know what makes the difference: that s is v
        and w is of use where all three were told.
        """
        frame = self.frame
        every, there = np.ones(len(frame), bool), frame.v.notna().to_numpy()
        same = (frame.t == frame.v).to_numpy()
        terms = {
            "v": {"v": there},
            "w": {"w": every},
            "s": {"v": there, "w": every} if {*"vws"} <= told else {"s": there},
            "t": {"v": there & same, "t": there & ~same} if "v" in told else {"t": there},
        }
        values = np.concatenate([frame[one].to_numpy() for one in "vwst"])
        yield "", {one: {"n": every} for one in ("", *terms)}, np.ones(len(frame))
        yield "sums", terms, np.nan_to_num(values)


def world(draw):
    number = int(draw.integers(40, 90))
    frame = pd.DataFrame(
        {
            "a": draw.integers(0, 3, number),
            "b": draw.integers(0, 2, number),
            "c": draw.choice(4, number, p=[0.4, 0.3, 0.2, 0.1]),
            "v": draw.lognormal(2, draw.choice([0.3, 1.2, 2.0]), number),
            "w": draw.lognormal(1, draw.choice([0.5, 1.5]), number),
            "x": draw.normal(size=number),
        }
    )
    frame["one"] = "x"
    kind = draw.random()
    if kind < 0.15:  # profits and losses
        frame["v"] *= draw.choice([1, -1], number, p=[0.8, 0.2])
    elif kind < 0.3:
        frame.loc[draw.random(number) < 0.1, "v"] = np.nan
    frame["firm"] = range(number) if draw.random() < 0.7 else draw.integers(0, 45, number)
    frame["s"] = frame.v + frame.w
    frame["t"] = frame.v.clip(upper=frame.v.quantile(draw.choice([0.9, 0.97])))
    return World(frame)


def part_of(frame, draw):
    """All records, a subset of a kind, or all but a few."""
    kind = draw.integers(0, 4)
    if kind == 0:
        return frame
    if kind == 1:
        return frame[frame.c != draw.integers(0, 4)]
    few = draw.choice(len(frame), int(draw.integers(1, 9)), replace=False)
    if kind == 2:
        return frame.drop(index=few)
    return frame[~(frame.v >= np.sort(frame.v.dropna())[-int(draw.integers(1, 6))])]


def _counts(sets):
    return [(one, "") for one in sets]


def _groups(own, by, value=None):
    """The records of each group, those with a value if one is asked for."""
    if value is not None:
        own = own[own[value].notna()]
    return [group.index.to_numpy() for _, group in own.groupby(by)]


def _table(own, draw):
    row = draw.choice(["a", "b", "c"])
    column = draw.choice(["one", "b" if row != "b" else "a"])
    return row, column


def a_crosstab(own, draw):
    row, column = _table(own, draw)
    kind = draw.choice(["count", "sum", "mean"], p=[0.4, 0.35, 0.25])
    value = None if kind == "count" else str(draw.choice(list("vwst"), p=[0.4, 0.3, 0.15, 0.15]))
    told = _groups(own, [row, column], value)
    margins = bool(draw.random() < 0.3)
    if margins:
        there = own if value is None else own[own[value].notna()]
        told += [*_groups(there, row), *_groups(there, column), there.index.to_numpy()]
    options = {"margins": margins}
    if value is not None:
        options |= {"values": own[value], "aggfunc": kind}
    return (crosstab, (own[row], own[column]), options), [(one, value or "") for one in told]


def a_suppressed(own, draw):
    row, column = _table(own, draw)
    value = str(draw.choice(list("vw"))) if draw.random() < 0.5 and own.v.notna().all() else None
    options = {} if value is None else {"values": own[value], "aggfunc": "sum"}

    def told(checked):
        shown = checked.output.notna()
        groups = own.groupby([row, column]).groups
        some = [groups[at] for at in groups if shown.loc[at]]
        some += [at for name, at in own.groupby(row).groups.items() if shown.loc[name, "All"]]
        some += [at for name, at in own.groupby(column).groups.items() if shown.loc["All", name]]
        some += [own.index] if shown.loc["All", "All"] else []
        return [(np.asarray(one), value or "") for one in some]

    return (suppressed, (own[row], own[column]), options), told


def _hidden(checked, sides):
    """The records of each cell that is not shown."""
    shown = checked.output.notna()
    groups = sides[0].groupby([sides[0], sides[1]]).groups
    return [np.asarray(groups[at]) for at in groups if not shown.loc[at]]


def a_groupby(own, draw):
    by = [str(draw.choice(["a", "b", "c"]))]
    value = str(draw.choice(list("vwst")))
    figures = {value: [str(draw.choice(["mean", "median", "std", "sum"])), "count"]}
    summed = figures[value][0] in ("mean", "sum")
    sets = _groups(own, by, value)
    told = _counts(sets) + ([(one, value) for one in sets] if summed else [])
    return (groupby, (own, by, figures), {}), told


def a_quantile(own, draw):
    return (quantile, (own, "v", 0.5, ["b"]), {}), _counts(_groups(own, "b", "v"))


def a_ratio(own, draw):
    by = [str(draw.choice(["a", "b"]))]
    both = own[own.v.notna()]
    sets = _groups(both, by)
    return (ratio, (own, "v", "w", by), {}), [(one, name) for one in sets for name in "vw"]


def a_histogram(own, draw):
    edges = [-3.0, draw.choice([-0.5, 0.0]), draw.choice([0.3, 0.6]), 3.5]
    inside = own[(own.x >= edges[0]) & (own.x <= edges[-1])]
    at = np.searchsorted(edges, inside.x, "right")
    return (histogram, (own, "x", edges), {}), _counts(_groups(inside, at))


def a_density(own, draw):
    there = own[own.v.notna()]
    return (density, (own, "v", [1.0, 5.0, 9.0]), {}), _counts([there.index.to_numpy()])


def a_scatter(own, draw):
    return (scatter, (own, "a", "b"), {}), _counts(_groups(own, ["a", "b"]))


def a_correlation(own, draw):
    columns = [str(one) for one in draw.choice(["b", "x", "w", "d"], 2, replace=False)]
    sets = [own.index.to_numpy()]
    if {*columns} == {"b", "d"}:  # few tables of two by two have just this coefficient
        sets += [own.index[own[one] == 1].to_numpy() for one in columns]
        sets.append(own.index[(own.b == 1) & (own.d == 1)].to_numpy())
    return (correlation, (own, columns), {}), _counts(sets)


def a_regression(own, draw):
    value = str(draw.choice(["v", "w"]))
    others = [str(one) for one in draw.choice(["x", "b", "d"], draw.integers(1, 3), replace=False)]
    there = own[own[value].notna()]
    fitted = smf.ols(f"{value} ~ {' + '.join(others)}", own).fit()
    told = [(there.index.to_numpy(), value)]
    two = {one: there[one] == 1 for one in others if one in ("b", "d")}
    told += [(there.index[one].to_numpy(), value) for one in two.values()]
    if len(two) == 2:  # covariances tell it
        told += _counts([there.index[two["b"] & two["d"]].to_numpy()])
    return (model, (fitted,), {}), told


def a_ttest(own, draw):
    return (ttest, (own, "w", "b"), {}), [(one, "w") for one in _groups(own, "b")]


KINDS = {
    a_crosstab: 0.5,
    a_suppressed: 0.1,
    a_groupby: 0.1,
    a_regression: 0.1,
    a_ratio: 0.04,
    a_histogram: 0.04,
    a_correlation: 0.04,
    a_quantile: 0.02,
    a_density: 0.02,
    a_scatter: 0.02,
    a_ttest: 0.02,
}


def attacked(seed, counts=None):
    """What the accepted results of a random project tell, and how many were accepted.

    Results that fail are let go by an exception now and then; what they tell with those before
    is known, and what is looked for begins anew. `counts`: a list that is given what was told in
    the end, and which cells are hidden.
    """
    draw = np.random.default_rng(seed)
    own = world(draw)
    frame = own.frame
    frame["d"] = (draw.random(len(frame)) < 0.5).astype(int)
    project = Project(frame, unit="firm", profile=RULES)
    known: list = []
    hidden: list = []
    told: list = []
    accepted = excepted = 0
    for number in range(int(draw.integers(2, 11))):
        make = list(KINDS)[draw.choice(len(KINDS), p=list(KINDS.values()))]
        (function, arguments, options), new = make(part_of(frame, draw), draw)
        try:
            checked = project.check(function, *arguments, **options)
        except ProtectionError:  # nothing of such a table can be shown
            continue
        new = new(checked) if callable(new) else new
        passed = checked.verdict == "pass"
        if not passed and draw.random() >= 0.1:
            continue
        before, now = ({one for _, one in some} for some in (told, [*told, *new]))
        if not passed or ({*"vws"} <= now and not {*"vws"} <= before):
            # what was told so far, before something is excepted or known to add up
            found = narrowed(own, known, told, RULES, draw)
            if found:
                return f"seed {seed}, before output {number}: {found[:3]}", accepted, excepted
        if passed:
            project.accept(checked, f"{number}")
            if function is suppressed and not options:  # of counts
                hidden += _hidden(checked, arguments)
            told += new
            accepted += 1
        else:
            project.accept(checked, f"{number}", who="head", why="excepted")
            told += new
            known = [*told]
            excepted += 1
    found = narrowed(own, known, told, RULES, draw)
    said = f"seed {seed}: {found[:3]}" if found else ""
    if counts is not None:
        counts.append((frame, told, hidden, excepted))
    return said, accepted, excepted
