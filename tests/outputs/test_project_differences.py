"""Results that are harmless alone and not together; every set of few is found, none is missed."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from diskret.errors import InputError, ProofError
from diskret.outputs import Checked, Profile, Project, Told, crosstab, model

ACRO = Profile.read("acro")


def people(number=60):
    return pd.DataFrame(
        {"town": ["A"] * 11 + ["B"] * (number - 11), "age": [70] + [40] * (number - 1)}
    )


def counted(frame):
    return crosstab(frame.town, pd.Series("x", index=frame.index, name="all"), profile=ACRO)


def test_eleven_less_ten():
    frame = people()
    project = Project(frame, profile=ACRO)
    project.accept(project.check(counted(frame)), "everybody")
    later = counted(frame[frame.age < 60])
    assert later.verdict == "pass"  # ten persons: ACRO's rule lets it go
    beside = project.check(later)
    assert beside.verdict == "fail"
    assert "tells something of 1 units" in beside.reasons()[0]
    with pytest.raises(ProofError, match="must not leave"):
        project.accept(beside, "young")


def test_two_regressions_that_differ_by_one_firm():
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"x": draw.normal(size=80), "y": draw.normal(50, 5, 80)})
    project = Project(frame)
    project.accept(project.check(model(smf.ols("y ~ x", frame).fit())), "all")
    rest = model(smf.ols("y ~ x", frame.drop(index=7)).fit())
    assert rest.verdict == "pass"
    assert project.check(rest).verdict == "fail"
    other = model(smf.ols("y ~ x", frame[:40]).fit())
    assert project.check(other).verdict == "pass"


def test_union_of_districts():
    """A district less three tiles of a grid: no two results differ by few, several do."""
    grid = ["1"] * 20 + ["2"] * 15 + ["3"] * 17 + ["4"] * 30
    district = ["N"] * 55 + ["S"] * 27
    frame = pd.DataFrame({"grid": grid, "district": district})
    all_of = pd.Series("x", index=frame.index, name="all")
    project = Project(frame)
    project.accept(project.check(crosstab(frame.grid, all_of, profile=ACRO)), "grid")
    found = project.check(crosstab(frame.district, all_of, profile=ACRO))
    assert found.verdict == "fail"
    assert found.findings[0].blanks == {"other": "grid", "units": 3}


def told(rows, sets, names):
    shown = np.ones(len(names), bool)
    part = Told(sets.astype(np.int32), tuple((str(one),) for one in names), shown, rows=rows)
    return Checked("frequencies", None, ("threshold",), (), ACRO, (part,))


def singled_out(groupings, threshold):
    """By brute force: is any union of atoms of fewer units a combination of cells?"""
    atoms, sizes = np.unique(np.column_stack(groupings), axis=0, return_counts=True)
    cells = [
        (atoms[:, at] == value).astype(float)
        for at in range(len(groupings))
        for value in np.unique(groupings[at])
        if value >= 0
    ]
    matrix = np.array(cells)
    rank = np.linalg.matrix_rank(matrix)
    small = np.flatnonzero(sizes < threshold)
    best = 0
    for size in range(1, len(small) + 1):
        for chosen in itertools.combinations(small, size):
            units = int(sizes[list(chosen)].sum())
            if units >= threshold or (best and units >= best):
                continue
            wanted = np.zeros(len(atoms))
            wanted[list(chosen)] = 1
            if np.linalg.matrix_rank(np.vstack([matrix, wanted])) == rank:
                best = units
    return best


@pytest.mark.parametrize("seed", range(40))
def test_smallest_set_is_found(seed):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"n": np.arange(45)})
    basis = [draw.integers(0, 3, 45) for _ in range(2)]
    groupings = []
    for number in range(int(draw.integers(2, 5))):
        sets = basis[number % 2].copy()
        moved = draw.choice(45, int(draw.integers(0, 4)), replace=False)
        sets[moved] = draw.integers(-1, 3, len(moved))
        groupings.append(sets)
    project = Project(frame, profile=Profile(threshold=4, excepting=["head"]))
    least = 0
    for number, sets in enumerate(groupings):
        checked = project.check(told(np.asarray(frame.index), sets, range(3)))
        least = singled_out(groupings[: number + 1], 4)
        found = [one for one in checked.findings if one.check == "difference"]
        assert bool(found) == bool(least)
        assert not any(one.check == "too_large" for one in checked.findings)
        if found:
            assert found[0].blanks["units"] == least
            return
        project.accept(checked, f"result {number}")


def test_what_was_known_is_no_news():
    frame = people()
    rules = Profile.read(ACRO)
    own = Profile(threshold=10, excepting=["head"], verdicts={**rules.verdicts})
    project = Project(frame, profile=own)
    project.accept(project.check(counted(frame)), "everybody")
    beside = project.check(counted(frame[frame.age < 60]))
    project.accept(beside, "young", who="head", why="the eleventh agreed")
    assert project.check(counted(frame)).verdict == "pass"
    with pytest.raises(ProofError, match="'clerk' is not named in excepting"):
        project.accept(beside, "again", who="clerk", why="urgent")
    assert [one.who for one in project.accepted] == ["", "head"]


def test_units_are_counted_and_not_records():
    frame = people()
    frame["person"] = np.where(frame.index < 11, 0, frame.index)
    project = Project(frame, unit="person", profile=ACRO)
    assert project.check(counted(frame)).verdict == "fail"


def test_bad_input_is_named():
    frame = people()
    project = Project(frame, profile=ACRO)
    with pytest.raises(InputError, match="check it first"):
        project.accept(counted(frame), "x")
    with pytest.raises(InputError, match="is taken or empty"):
        project.accept(project.check(counted(frame)), "")
    other = frame.set_index(frame.index + 5)
    with pytest.raises(InputError, match="made from a record 60 that is not in the project"):
        project.check(counted(other))
    with pytest.raises(InputError, match="the same index"):
        Project(frame.set_index("town"))
    with pytest.raises(InputError, match="no column"):
        Project(frame, unit="who")
    with pytest.raises(InputError, match="must be a pandas frame"):
        Project([1, 2])
