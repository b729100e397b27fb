"""Random projects of researchers, attacked from the records: what nothing accepted may tell.

The attack shares nothing with the package but the names of the rules. It knows the records, takes
what was accepted as sets of records, and asks by a projection which sums of up to three groups of
records, added and subtracted, follow from them.
"""

import itertools

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from diskret.outputs import Profile, Project, crosstab, model

THRESHOLD, PERCENT = 5, 10
RULES = Profile(
    threshold=THRESHOLD,
    freedom=5,
    p_percent=PERCENT,
    dominance=(1, 50),
    excepting=("head",),
    verdicts={"zero": "pass", "all_equal": "pass"},
)


def records(draw):
    number = int(draw.integers(40, 90))
    frame = pd.DataFrame(
        {
            "a": draw.integers(0, 3, number),
            "b": draw.integers(0, 2, number),
            "c": draw.choice(4, number, p=[0.4, 0.3, 0.2, 0.1]),
            "v": draw.lognormal(2, draw.choice([0.3, 1.2]), number),
            "w": draw.lognormal(1, 0.5, number),
            "x": draw.normal(size=number),
        }
    )
    frame["one"] = "x"
    frame["firm"] = range(number) if draw.random() < 0.7 else draw.integers(0, 45, number)
    return frame


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
    return frame[frame.v < np.sort(frame.v)[-int(draw.integers(1, 6))]]


def output(frame, draw):
    """A call for the project, and what it tells: groups of records, and of which variable."""
    own = part_of(frame, draw)
    kind = draw.choice(["count", "sum", "mean", "ols"], p=[0.35, 0.3, 0.2, 0.15])
    if kind == "ols":
        other = draw.choice(["x", "b"])
        fitted = smf.ols(f"v ~ {other}", own).fit()
        sets = [(own.index.to_numpy(), "v")]
        if other == "b":
            sets.append((own.index[own.b == 1].to_numpy(), "v"))
        return (model, (fitted,), {}), sets
    row = draw.choice(["a", "b", "c"])
    column = draw.choice(["one", "b" if row != "b" else "a"])
    told = [group.index.to_numpy() for _, group in own.groupby([row, column])]
    margins = bool(draw.random() < 0.3)
    if margins:
        told += [group.index.to_numpy() for _, group in own.groupby(row)]
        told += [group.index.to_numpy() for _, group in own.groupby(column)]
        told.append(own.index.to_numpy())
    if kind == "count":
        return (crosstab, (own[row], own[column]), {"margins": margins}), [(s, "") for s in told]
    value = str(draw.choice(["v", "w"]))
    options = {"values": own[value], "aggfunc": kind, "margins": margins}
    return (crosstab, (own[row], own[column]), options), [(s, value) for s in told]


def narrowed(frame, told, new, variable):
    """The sums of up to three atoms that follow from what was told and are unsafe.

    `variable` "": numbers of units. Atoms are those of everything told, so that what was known
    before and what is known now can be compared.
    """
    everything = [*told, *new]
    signature = np.array([np.isin(frame.index, one) for one, _ in everything])
    kept = signature.any(axis=0)
    _, atom = np.unique(signature[:, kept], axis=1, return_inverse=True)
    atom = atom.reshape(-1)
    inside = frame[kept]
    atoms = atom.max() + 1
    first = [int(np.flatnonzero(atom == one)[0]) for one in range(atoms)]
    matrix = signature[:, kept][:, first].astype(float)
    firm = inside.firm.to_numpy()
    groups = [np.flatnonzero(atom == one) for one in range(atoms)]

    def found(rows):
        own = matrix[[at for at in rows if not variable or everything[at][1] == variable]]
        if not len(own):
            return set()
        _, size, turned = np.linalg.svd(own, full_matrices=False)
        basis = turned[size > 1e-9 * size.max(initial=1)]
        gap = np.eye(atoms) - basis.T @ basis
        sets = set()
        for number in (1, 2, 3):
            for chosen in itertools.combinations(range(atoms), number):
                block = gap[np.ix_(chosen, chosen)]
                ways = itertools.product((1, -1) if variable else (1,), repeat=number - 1)
                for signs in ((1, *way) for way in ways):
                    sign = np.array(signs)
                    if sign @ block @ sign > 1e-9:
                        continue
                    if unsafe(chosen):
                        sets.add(tuple(zip(chosen, signs, strict=True)))
        return sets

    def unsafe(chosen):
        at = np.concatenate([groups[one] for one in chosen])
        values = inside[variable].to_numpy()[at] if variable else np.ones(len(at))
        sums = np.bincount(np.unique(firm[at], return_inverse=True)[1], values)
        sums = np.sort(sums)[::-1]
        if len(sums) < THRESHOLD:
            return True
        if not variable:
            return False
        rest = sums[2:].sum()
        close = rest < PERCENT / 100 * sums[0] * (1 - 1e-6)
        return close or sums[0] > 0.5 * sums.sum() * (1 + 1e-6)

    before = found(range(len(told)))
    after = found(range(len(everything)))
    known = [dict(one) for one in before]

    def holds(one, other):
        """Whether a set holds a known one, with the same signs or with all of them turned."""
        shared = [one.get(atom) == sign for atom, sign in other.items()]
        turned = [one.get(atom) == -sign for atom, sign in other.items()]
        return all(shared) or all(turned)

    return [one for one in after if not any(holds(dict(one), other) for other in known)]


def attacked(seed):
    """What the accepted results of a random project tell; empty, and how many were accepted."""
    draw = np.random.default_rng(seed)
    frame = records(draw)
    project = Project(frame, unit="firm", profile=RULES)
    told, accepted, excepted = [], 0, 0
    for number in range(int(draw.integers(2, 11))):
        (function, arguments, options), new = output(frame, draw)
        checked = project.check(function, *arguments, **options)
        if checked.verdict != "pass":
            if draw.random() < 0.2:
                project.accept(checked, f"{number}", who="head", why="excepted")
                told += new
                excepted += 1
            continue
        for variable in ("", "v", "w"):
            found = narrowed(frame, told, new, variable)
            if found:
                return (
                    f"seed {seed}, output {number}, {variable!r}: {found[:3]}",
                    accepted,
                    excepted,
                )
        project.accept(checked, f"{number}")
        told += new
        accepted += 1
    return "", accepted, excepted
