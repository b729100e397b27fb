"""Variables that add up, or are the same but for a few records, are attacked together."""

import itertools

import numpy as np
import pandas as pd
import pytest
from profiles import scaled

from diskret.outputs import Profile, Project, crosstab
from diskret.outputs.terms import families

ACRO = Profile.read("acro")


def summed(project, frame, value):
    whole = pd.Series("x", index=frame.index, name="all")
    return project.check(crosstab, frame.town, whole, values=frame[value], aggfunc="sum")


def checks(checked):
    return {one.check for one in checked.findings}


def firms(number=60):
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"town": "A", "home": draw.uniform(800, 1200, number)})
    frame["abroad"] = draw.uniform(1, 2, number)
    frame.loc[7, "abroad"] = 900.0  # nearly all that is sold abroad, little of all that is sold
    frame["sold"] = frame.home + frame.abroad
    return frame


@pytest.mark.parametrize("unit", [1, 1000.0])
def test_two_sums_that_add_up_with_a_third(unit):
    """Nobody shows what is sold abroad; a table of all and one of the rest do."""
    frame = firms()
    frame["home"] /= unit
    project = Project(frame, profile=ACRO)
    assert summed(project, frame, "abroad").verdict == "fail"
    project.accept(summed(project, frame, "sold"), "sold")
    small = frame.drop(
        index=7
    )  # tells of the others what is sold abroad: how it all hangs together
    project.accept(summed(project, small[:40], "abroad"), "abroad, of some")
    assert "rest" in checks(summed(project, frame, "home"))


def test_what_is_cut_off_at_a_limit():
    """The sum of all less that of all but the part above a limit is of two firms."""
    frame = firms()
    frame.loc[[7, 9], "home"] = 3000.0
    frame["cut"] = frame.home.clip(upper=1500.0)
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame, "home"), "as it is")
    found = summed(project, frame, "cut")
    assert checks(found) == {"rest"}
    assert found.findings[0].blanks["units"] == 2


def test_a_variable_that_is_zero_elsewhere_is_a_part_of_it():
    """Sums of v over those with d = 1, and of v times d over all, are the same sums."""
    frame = firms()
    project = Project(frame, profile=ACRO)
    frame["d"] = (np.arange(60) >= 20).astype(int)
    frame["product"] = frame.home * frame.d
    project.accept(summed(project, frame, "product"), "product")
    frame["other"] = frame.home * (np.arange(60) >= 21)
    assert "rest" in checks(summed(project, frame, "other"))


def test_sabotage_by_leaving_out_what_hangs_together(monkeypatch):
    frame = firms()
    frame.loc[[7, 9], "home"] = 3000.0
    frame["cut"] = frame.home.clip(upper=1500.0)
    monkeypatch.setattr("diskret.outputs.beside.families", lambda values: [])
    project = Project(frame, profile=ACRO)
    project.accept(summed(project, frame, "home"), "as it is")
    assert summed(project, frame, "cut").verdict == "pass"


def test_terms_add_up_to_the_variables_that_they_are_of():
    for seed in range(scaled(60)):
        draw = np.random.default_rng(seed)
        number = 80
        parts = draw.lognormal(1, 1, (3, number)) * draw.choice([1, -1], (3, 1), p=[0.8, 0.2])
        whole = {
            "sum": parts[0] + parts[1],
            "three": parts.sum(axis=0),
            "twice": 2 * parts[0] + parts[2],
            "cut": np.minimum(parts[1], np.quantile(parts[1], 0.8)),
            "thousands": parts[2] / 1000,
            "alone": draw.normal(size=number),
        }
        told = [*parts, *whole.values()]
        for one in told[:2]:
            one[draw.random(number) < 0.1] = np.nan
        told = [told[at] for at in draw.permutation(len(told))]
        found = families(told)
        assert len(found) >= 1
        for family in found:
            for at, times in family.times.items():
                made = (times * family.terms).sum(axis=0)
                there = ~np.isnan(told[at])
                scale = np.median(told[at][there] / made[there])
                assert np.allclose(told[at][there], scale * made[there], rtol=1e-8, atol=1e-9)
                assert (times[:, ~there] == 0).all()


def test_variables_of_their_own_have_no_terms_in_common():
    draw = np.random.default_rng(1)
    assert families(list(draw.lognormal(1, 1, (5, 100)))) == []
    few = np.full((3, 100), np.nan)
    few[:, :4] = draw.lognormal(1, 1, (3, 4))  # four records: any three of them add up somehow
    few[2, :4] = few[0, :4] + few[1, :4]
    assert families(list(few)) == []


def test_a_sample_of_many_records_says_that_nothing_hangs_together(monkeypatch):
    """And where it might, all are looked at: also variables of which few records have both."""
    draw = np.random.default_rng(1)
    v, w = draw.lognormal(1, 1, (2, 200))
    cut = np.where(draw.random(200) < 0.54, v, v + 1)
    late, early = v.copy(), v.copy()
    late[:100], early[105:] = np.nan, np.nan
    rare = np.where(np.arange(200) % 40 == 3, v, 0)
    for values in ([v, w], [v, w, v + w], [v, cut], [early, late], [w, early, late], [v, rare]):
        whole = families(values)
        with monkeypatch.context() as patch:
            patch.setattr("diskret.outputs.terms._SAMPLE", 20)
            patch.setattr("diskret.outputs.terms._TRIED", 10)
            again = families(values)
        assert [sorted(one.times) for one in again] == [sorted(one.times) for one in whole]


def follows(rows, wanted):
    rank = np.linalg.matrix_rank
    return len(rows) > 0 and rank(np.vstack([rows, wanted])) == rank(rows)


@pytest.mark.parametrize("seed", range(scaled(30)))
def test_every_set_of_terms_is_found(seed):
    """Two tables, then one of the sum: by brute force over all signed sets of records' terms."""
    draw = np.random.default_rng(seed)
    number, kinds = 24, 2
    frame = pd.DataFrame({"v": draw.lognormal(1, 1, number), "w": draw.lognormal(1, 1, number)})
    frame["s"] = frame.v + frame.w
    rules = Profile(
        threshold=3,
        p_percent=None,
        dominance=None,
        excepting=["head"],
        verdicts={"missing": "pass"},
    )
    project = Project(frame, profile=rules)
    rows, groups, last = [], [], None
    basis = draw.integers(0, kinds, number)
    for step, variable in enumerate("vws"):
        sets = basis.copy()
        moved = draw.choice(number, int(draw.integers(0, 3)), replace=False)
        sets[moved] = -1
        own = frame[sets >= 0]
        found = project.check(
            crosstab,
            pd.Series(sets[sets >= 0], index=own.index, name="set"),
            pd.Series("x", index=own.index, name="all"),
            values=own[variable],
            aggfunc="sum",
        )
        for one in np.unique(sets[sets >= 0]):
            inside = sets == one
            rows.append(np.concatenate([inside * (variable in "vs"), inside * (variable in "ws")]))
            groups.append(step)
        if step < 2:
            project.accept(found, variable, who="head", why="to be attacked")
        else:
            last = found
    atoms, at = np.unique(np.array(rows, float), axis=1, return_inverse=True)
    kept = atoms.any(axis=0)
    owner = np.tile(np.arange(number), 2)
    units = [{*owner[at.reshape(-1) == one]} for one in np.flatnonzero(kept)]
    atoms, groups = atoms[:, kept], np.array(groups)
    expected = False
    small = [one for one in range(len(units)) if len(units[one]) < 3]
    known: list = []
    for size in range(1, len(small) + 1):
        for chosen in itertools.combinations(small, size):
            if len(set().union(*(units[one] for one in chosen))) >= 3:
                continue
            for signs in itertools.product((1, -1), repeat=size - 1):
                wanted = np.zeros(atoms.shape[1])
                wanted[list(chosen)] = (1, *signs)
                if any(follows(atoms[mask], wanted) for mask in (groups < 2, groups == 2)):
                    known.append(wanted)
                elif follows(atoms, wanted):
                    held = [(wanted[one != 0] == one[one != 0]).all() for one in known]
                    expected |= not any(held)
    assert expected == ("rest" in checks(last))
