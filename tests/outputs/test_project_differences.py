"""Results that are harmless alone and not together; every set of few is found, none is missed."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from profiles import scaled

from diskret.errors import InputError, ProofError
from diskret.outputs import Profile, Project, crosstab, model

ACRO = Profile.read("acro")


def people(number=60):
    return pd.DataFrame(
        {"town": ["A"] * 11 + ["B"] * (number - 11), "age": [70] + [40] * (number - 1)}
    )


def counted(frame, project):
    return project.check(crosstab, frame.town, pd.Series("x", index=frame.index, name="all"))


def checks(checked):
    return {one.check for one in checked.findings}


def test_eleven_less_ten():
    frame = people()
    project = Project(frame, profile=ACRO)
    project.accept(counted(frame, project), "everybody")
    young = frame[frame.age < 60]
    assert crosstab(young.town, young.age > 0, profile=ACRO).verdict == "pass"  # all ACRO sees
    beside = counted(young, project)
    assert beside.verdict == "fail"
    assert beside.reasons() == [
        "Beside everybody, it tells something of 1 unit. Here: everybody: A, x; A, x."
    ]
    with pytest.raises(ProofError, match="must not leave"):
        project.accept(beside, "young")


def test_two_regressions_that_differ_by_one_firm():
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"x": draw.normal(size=80), "y": draw.normal(50, 5, 80)})
    project = Project(frame)
    project.accept(project.check(model, smf.ols("y ~ x", frame).fit()), "all")
    rest = smf.ols("y ~ x", frame.drop(index=7)).fit()
    assert model(rest).verdict == "pass"
    assert project.check(model, rest).verdict == "fail"
    assert project.check(model, smf.ols("y ~ x", frame[40:]).fit()).verdict == "pass"


def test_a_regressor_of_any_two_values_tells_both_sets():
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({"y": draw.normal(50, 5, 80), "code": np.where(np.arange(80) < 30, 1, 2)})
    project = Project(frame)
    project.accept(project.check(model, smf.ols("y ~ code", frame).fit()), "all")
    frame["other"] = np.where(np.arange(80) < 31, 1.0, 0.0)
    assert "difference" in checks(project.check(model, smf.ols("y ~ other", frame).fit()))


def test_union_of_districts():
    """A district less two tiles of a grid: no two results differ by few, several do."""
    grid = ["1"] * 20 + ["2"] * 15 + ["3"] * 17 + ["4"] * 30
    district = ["N"] * 55 + ["S"] * 27
    frame = pd.DataFrame({"grid": grid, "district": district, "all": "x"})
    project = Project(frame, profile=ACRO)
    project.accept(project.check(crosstab, frame.grid, frame["all"]), "grid")
    found = project.check(crosstab, frame.district, frame["all"])
    assert found.verdict == "fail"
    assert found.findings[0].blanks == {"other": "grid", "units": 3}


def test_lost_index_is_for_review():
    frame = people()
    project = Project(frame, profile=ACRO)
    project.accept(counted(frame, project), "everybody")
    part = frame[frame.age < 60]
    assert "records" in checks(counted(part.reset_index(drop=True), project))
    turned = frame.iloc[::-1].reset_index(drop=True)
    assert checks(project.check(crosstab, turned.town, turned.age)) >= {"records"}
    y = np.random.default_rng(1).normal(size=len(frame))
    x = np.column_stack([np.ones(len(frame)), np.arange(len(frame))])
    assert "records" in checks(project.check(model, sm.OLS(y, x).fit()))  # arrays have no index


def test_records_of_units_are_judged_together():
    """Two firms with many plants each: by plants the table is safe, by firms it is not."""
    frame = pd.DataFrame({"r": "N", "j": "a", "firm": [1] * 20 + ["1"] * 20, "v": 1.0})
    whole = {"values": frame.v, "aggfunc": "sum"}
    assert Project(frame).check(crosstab, frame.r, frame.j, **whole).verdict == "pass"
    by_firm = Project(frame, unit="firm").check(crosstab, frame.r, frame.j, **whole)
    assert {"threshold", "dominance", "p_percent"} <= checks(by_firm)
    frame["x"] = np.where(np.arange(40) < 15, 1.0, 0.0)
    fitted = smf.ols("v ~ x", frame.assign(v=np.arange(40.0))).fit()
    assert "support" in checks(Project(frame.drop(columns="v"), unit="firm").check(model, fitted))


def singled_out(earlier, new, threshold):
    """By brute force: the fewest units of a union of atoms that only all cells together tell."""
    groupings = [*earlier, new]
    atoms, sizes = np.unique(np.column_stack(groupings), axis=0, return_counts=True)

    def told(which):
        rows = [
            (atoms[:, at] == one) for at in which for one in np.unique(groupings[at]) if one >= 0
        ]
        return np.array(rows, float).reshape(len(rows), len(atoms))

    def follows(matrix, wanted):
        both = np.vstack([matrix, wanted])
        return np.linalg.matrix_rank(both) == (np.linalg.matrix_rank(matrix) if len(matrix) else 0)

    alone = [told(range(len(earlier))), told([len(earlier)])]
    small = np.flatnonzero(sizes < threshold)
    best = 0
    for size in range(1, threshold):
        for chosen in itertools.combinations(small, size):
            units = int(sizes[list(chosen)].sum())
            if units >= threshold or (best and units >= best):
                continue
            wanted = np.zeros(len(atoms))
            wanted[list(chosen)] = 1
            if follows(told(range(len(groupings))), wanted):
                if not any(follows(matrix, wanted) for matrix in alone):
                    best = units
    return best


@pytest.mark.parametrize("seed", range(scaled(200)))
def test_smallest_set_is_found(seed):
    draw = np.random.default_rng(seed)
    number = 45
    basis = [draw.integers(0, 3, number) for _ in range(2)]
    project = Project(
        pd.DataFrame({"n": range(number)}), profile=Profile(threshold=4, excepting=["clerk"])
    )
    groupings = []
    for result in range(int(draw.integers(2, 5))):
        sets = basis[result % 2].copy()
        moved = draw.choice(number, int(draw.integers(0, 4)), replace=False)
        sets[moved] = draw.integers(-1, 3, len(moved))
        groupings.append(sets)
        inside = pd.Series(sets)[sets >= 0]
        checked = project.check(crosstab, inside, pd.Series("x", index=inside.index))
        assert not any(one.check in ("too_large", "records") for one in checked.findings)
        least = singled_out(groupings[:-1], sets, 4)
        found = [one for one in checked.findings if one.check == "difference"]
        assert bool(found) == bool(least)
        if found:
            assert found[0].blanks["units"] == least
            return
        project.accept(checked, f"result {result}", who="clerk", why="its cells are harmless")


def test_what_was_known_is_no_news():
    frame = people()
    project = Project(frame, profile=Profile(excepting=["head"]))
    project.accept(counted(frame, project), "everybody")
    beside = counted(frame[frame.age < 60], project)
    with pytest.raises(ProofError, match="'clerk' is not named in excepting"):
        project.accept(beside, "young", who="clerk", why="urgent")
    project.accept(beside, "young", who="head", why="the eleventh agreed")
    assert counted(frame, project).verdict == "pass"
    assert [one.who for one in project.accepted] == ["", "head"]


def test_what_left_in_between_counts():
    frame = people()
    project = Project(frame, profile=ACRO)
    early = counted(frame[frame.age < 60], project)
    assert early.verdict == "pass"
    project.accept(counted(frame, project), "everybody")
    with pytest.raises(ProofError, match="other results have left since"):
        project.accept(early, "young")


def test_only_its_own_results_leave():
    """A result that other rules let through, or that was made up, is none of the project's."""
    frame = people()
    project = Project(frame, profile=ACRO)
    easy = crosstab(frame.town, frame.age, profile=Profile(threshold=1))
    with pytest.raises(InputError, match="this project has not checked the result"):
        project.accept(easy, "x")
    other = counted(frame, Project(frame, profile=Profile(threshold=1)))
    with pytest.raises(InputError, match="this project has not checked the result"):
        project.accept(other, "x")


def test_bad_input_is_named():
    frame = people()
    project = Project(frame, profile=ACRO)
    with pytest.raises(InputError, match="is taken or empty"):
        project.accept(counted(frame, project), "")
    with pytest.raises(InputError, match="made from a record 60 that is not in the project"):
        counted(frame.set_index(frame.index + 5), project)
    with pytest.raises(InputError, match="index= must be a Series"):
        project.check(crosstab, frame.town.tolist(), frame.age)
    with pytest.raises(InputError, match="the same index"):
        Project(frame.set_index("town"))
    with pytest.raises(InputError, match="no column"):
        Project(frame, unit="who")
    with pytest.raises(InputError, match="must be a pandas frame"):
        Project([1, 2])
