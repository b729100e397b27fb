"""Sums that are harmless alone and not together; compared with every combination by brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from profiles import scaled

from diskret.attack.row_space import RowSpace
from diskret.attack.singled_out import Limit, Members, fewest_units, unsafe_sum
from diskret.outputs import Profile, Project, crosstab

ACRO = Profile.read("acro")


def summed(project, frame, values, aggfunc="sum"):
    whole = pd.Series("x", index=frame.index, name="all")
    return project.check(crosstab, frame.town, whole, values=values, aggfunc=aggfunc)


def checks(checked):
    return {one.check for one in checked.findings}


def firms(number=60, giant=500.0):
    draw = np.random.default_rng(3)
    turnover = draw.uniform(8, 12, number)
    turnover[0] = giant
    return pd.DataFrame({"town": "A", "turnover": turnover})


def test_ten_firms_of_which_one_has_nearly_everything():
    """The difference has enough firms for every count; its sum gives the largest away."""
    frame = firms(giant=5000.0)
    frame.loc[10:, "turnover"] *= 100  # so the whole town is safe
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame, frame.turnover), "town")
    rest = frame.drop(index=range(10))
    found = summed(project, rest, rest.turnover)
    assert (
        crosstab(rest.town, rest.town, values=rest.turnover, aggfunc="sum", profile=ACRO).verdict
        == "pass"
    )
    assert checks(found) == {"rest"}
    assert found.findings[0].blanks == {"other": "town", "units": 10}
    even = frame.drop(index=range(20, 30))
    assert summed(project, even, even.turnover).verdict == "pass"


def test_means_and_other_units_of_measurement_tell_the_sums_as_well():
    frame = firms(giant=5000.0)
    frame.loc[10:, "turnover"] *= 100
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame, frame.turnover, "mean"), "town")
    rest = frame.drop(index=range(10))
    assert "rest" in checks(summed(project, rest, (rest.turnover / 1000).rename("thousands")))
    assert (
        summed(project, rest, (rest.turnover**2).rename("squares")).verdict == "pass"
    )  # says another thing


def test_a_large_firm_in_exchange_for_a_small_one():
    """No set of few firms has a count that follows, the difference of two does."""
    frame = firms(giant=40.0)
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame.drop(index=1), frame.turnover.drop(1)), "with the large")
    found = summed(project, frame.drop(index=0), frame.turnover.drop(0))
    assert checks(found) == {"rest"}


def safe(amounts, limit):
    """The rule itself, from contributions."""
    ordered = np.sort(amounts)[::-1]
    largest, others = ordered[0], ordered[1 : 1 + limit.others].sum()
    rest = ordered[1 + limit.others :].sum()
    return rest >= limit.share * (largest + limit.together * others)


def follows(cells, wanted):
    rank = np.linalg.matrix_rank
    return len(cells) > 0 and rank(np.vstack([cells, wanted])) == rank(cells)


def brute_force(cells, members, threshold, limit, masks):
    """The fewest units of a signed set that follows, and whether any is unsafe.

    What old or new cells tell alone is known; so is what holds a known set, unless what is left of
    it is unsafe itself.
    """
    signed = [np.array(one) for one in itertools.product((-1, 0, 1), repeat=cells.shape[1])]
    signed = [one for one in signed if one.any() and follows(cells, one)]
    known = [one for one in signed if any(follows(cells[mask], one) for mask in masks)]
    fewest, unsafe = 0, False
    for wanted in signed:
        if any((wanted[one != 0] == one[one != 0]).all() for one in known):
            continue
        inside = np.flatnonzero(wanted[members.atoms])
        units, which = np.unique(members.unit[inside], return_inverse=True)
        if len(units) < threshold and (not fewest or len(units) < fewest):
            fewest = len(units)
        # what a unit has in atoms that are added is one value, and so in those subtracted
        sign = wanted[members.atoms][inside]
        parts = [np.where(sign == way, members.amount[inside], 0) for way in (1, -1)]
        values = sum(np.abs(np.bincount(which, part)) for part in parts)
        unsafe |= not safe(values, limit)
    return fewest, unsafe


LIMITS = (Limit(1, 0.1, 0.0), Limit(0, 1.0, 1.0), Limit(1, 1 / 9, 1.0))


@pytest.mark.parametrize("seed", range(scaled(240)))
def test_every_signed_set_is_found(seed):
    """Also of sets that follow from what is known together with others, and of large units."""
    from scipy import sparse

    draw = np.random.default_rng(seed)
    atoms = int(draw.integers(3, 7))
    groupings = [draw.integers(0, 3, atoms) for _ in range(int(draw.integers(2, 4)))]
    rows = [grouping == one for grouping in groupings for one in np.unique(grouping)]
    cells = np.array(rows, float)
    old = np.arange(len(cells)) < len(np.unique(groupings[0]))
    atom = draw.integers(0, atoms, 24)
    atom[:atoms] = range(atoms)
    unit = draw.permutation(24) if seed % 2 else draw.integers(0, 15, 24)
    if seed % 2 == 0:  # units with records in several atoms
        unit[:atoms] = range(atoms)
    # no ties: where exactly enough is left is a matter of taste
    values = draw.lognormal(1, 1.5, 24)
    if seed % 4 == 2:  # values of a unit that cancel out
        values *= draw.choice([1, -1], 24)
    members = Members.made(atom, atoms, unit, values)
    space = RowSpace.of(sparse.csr_array(cells))
    known = tuple(RowSpace.of(sparse.csr_array(cells[mask])) for mask in (old, ~old))
    limit = LIMITS[seed % 3]
    fewest, unsafe = brute_force(cells, members, 5, limit, [old, ~old])
    found = fewest_units(space, known, members, 5, signed=True)
    assert (found.units if found.atoms is not None else 0) == fewest
    assert (unsafe_sum(space, known, members, limit).atoms is not None) == unsafe


def test_plants_of_one_firm_are_one_unit_however_many_cells_they_lie_in():
    """Twelve plants left out of ten cells; counted cell by cell they would be twelve units."""
    frame = pd.DataFrame({"town": [f"{at % 10}" for at in range(400)], "firm": range(400)})
    frame.loc[:11, "firm"] = -1
    frame["all"] = "x"
    project = Project(frame, unit="firm", profile=ACRO)
    project.accept(project.check(crosstab, frame.town, frame["all"]), "towns")
    rest = frame[frame.firm >= 0]
    found = project.check(crosstab, rest["all"], rest["all"].rename("y"))
    assert [one.blanks["units"] for one in found.findings if one.check == "difference"] == [1]


def test_what_cannot_be_tried_is_for_review(monkeypatch):
    """Sabotage: a search that gives up, or equations that cannot be brought to whole numbers."""
    frame = firms(giant=5000.0)
    frame.loc[10:, "turnover"] *= 100
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame, frame.turnover), "town")
    rest = frame.drop(index=range(10))
    for limit in ("diskret.attack.singled_out._NODES", "diskret.attack.row_space._WORK"):
        with monkeypatch.context() as patch:
            patch.setattr(limit, 0)
            assert checks(summed(project, rest, rest.turnover)) == {"too_large"}
