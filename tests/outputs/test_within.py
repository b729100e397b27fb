"""What the numbers of one result tell together, and what pairs of two values tell of results."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from diskret.outputs import (
    Profile,
    Project,
    concentration,
    correlation,
    groupby,
    model,
    suppressed,
)
from diskret.outputs.differences import Statements, smallest_difference
from diskret.outputs.pairs import pairs_told

ACRO = Profile.read("acro")


def checks(checked):
    return {one.check for one in checked.findings}


def firms(number=80, seed=1):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": draw.choice(list("NS"), number),
            "sales": draw.uniform(1, 2, number),
            "staff": draw.uniform(1, 2, number),
        }
    )


def test_a_variable_that_few_lack_tells_of_these():
    frame = firms()
    rules = Profile(verdicts={"missing": "pass"})
    figures = {"sales": "count", "staff": "count"}
    assert groupby(frame, "region", figures, profile=rules).verdict == "pass"
    frame.loc[3, "staff"] = np.nan
    found = groupby(frame, "region", figures, profile=rules)
    assert checks(found) == {"within"}
    assert found.reasons()[0].startswith("The numbers that it shows tell, taken together, someth")
    assert found.reasons("de")[0].startswith("Die gezeigten Zahlen sagen zusammengenommen etwas")
    frame.loc[frame.index[:30], "staff"] = np.nan
    assert groupby(frame, "region", figures, profile=rules).verdict == "pass"


def test_categories_left_out_of_a_model_are_judged_by_their_sums():
    """y ~ b + d is no table of means, yet all less b less d is a sum of its own."""
    draw = np.random.default_rng(2)
    number = 120
    frame = pd.DataFrame({"b": 0, "d": 0, "x": draw.normal(size=number)}, index=range(number))
    frame.loc[:39, "b"] = 1
    frame.loc[40:79, "d"] = 1
    frame["y"] = draw.uniform(10, 20, number)
    assert model(smf.ols("y ~ b + d + x", frame).fit()).verdict == "pass"
    frame.loc[119, "y"] = 9000.0
    found = model(smf.ols("y ~ b + d + x", frame).fit(), profile=Profile(dominance=(1, 90)))
    assert "within" in checks(found)


def test_what_is_left_of_hidden_counts_is_not_of_few():
    """A line's hidden cells follow as a sum; the units in them are as many as the threshold."""
    rules = Profile(threshold=5, verdicts={"zero": "pass"})
    for seed in range(12):
        draw = np.random.default_rng(seed)
        rows, columns = (
            pd.Series(draw.choice(many, 60, p=share))
            for many, share in ((4, [0.4, 0.3, 0.2, 0.1]), (2, [0.7, 0.3]))
        )
        found = suppressed(rows, columns, profile=rules)
        assert "within" not in checks(found)
        names = tuple(name for one in found.told for name in one.names)
        sizes = [len(one.names) for one in found.told]
        told = Statements.made(names, [one.sets for one in found.told], sizes, None)
        assert smallest_difference(told, 5).units == 0


def test_a_table_whose_hidden_cells_are_few_together_fails(monkeypatch):
    """Sabotage: a method that leaves contributors out, as was done of counts."""
    from diskret.attack import Attacker

    monkeypatch.setattr("diskret.outputs.protected.Attacker", lambda **_: Attacker())
    rules = Profile(threshold=5, verdicts={"zero": "pass"})
    rows = pd.Series([0] * 20 + [1] * 20 + [2] * 8 + [3] * 7)
    columns = pd.Series(
        [0] * 10 + [1] * 10 + [0] * 10 + [1] * 10 + [0] * 2 + [1] * 6 + [0] + [1] * 6
    )
    assert "within" in checks(suppressed(rows, columns, profile=rules))


def test_pairs_are_the_crosstab_of_the_variables():
    draw = np.random.default_rng(3)
    kind = draw.integers(0, 3, 50)
    columns = {f"kind {one}": (kind == one).astype(float) for one in (1, 2)}
    columns |= {"x": draw.normal(size=50), "code": draw.choice([1.0, 2.0], 50)}
    [table] = pairs_told(columns, None, ACRO)
    counted = pd.crosstab(kind, columns["code"])
    for (label,), number in zip(table.names, np.bincount(table.sets), strict=True):
        row, column = label.split(" & ")
        at = int(row[-1]), 1.0 if column == "0" else 2.0
        assert number == counted.loc[at]
    assert pairs_told(columns, None, Profile(verdicts={"pairs": "pass"})) == ()


@pytest.mark.parametrize("made", ["ols", "correlation"])
def test_pairs_count_beside_other_results(made):
    """Two results on samples that differ by 39 records: 15 are b, 15 are d, and only 3 are both."""
    number = 200
    frame = pd.DataFrame({"b": [0, 1] * 100, "d": [0, 0, 1, 1] * 50}, index=range(number))
    frame["y"] = np.random.default_rng(4).normal(size=number)

    def result(own, project):
        if made == "correlation":
            return project.check(correlation, own, ["b", "d"])
        return project.check(model, smf.ols("y ~ b + d", own).fit())

    project = Project(frame)
    project.accept(result(frame, project), "all")
    rest = frame
    for b, d, few in ((1, 1, 3), (1, 0, 12), (0, 1, 12), (0, 0, 12)):
        rest = rest.drop(index=rest.index[(rest.b == b) & (rest.d == d)][:few])
    assert checks(result(rest, project)) >= {"difference"}
    lenient = Project(frame, profile=Profile(verdicts={"pairs": "pass"}))
    lenient.accept(result(frame, lenient), "all")
    assert "difference" not in checks(result(rest, lenient))


def test_concentration_can_be_a_result_of_a_project_with_units():
    frame = firms(200).assign(firm=np.random.default_rng(5).integers(0, 90, 200))
    project = Project(frame, unit="firm", profile=ACRO)
    found = project.check(concentration, frame, "sales", "region", figures=["hhi"])
    assert found.verdict == "pass" and [len(one.sets) for one in found.told] == [200]


def test_cells_of_one_result_are_searched_exactly():
    """Two groupings of one result, by brute force over unions of atoms."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        sets = [draw.integers(-1, 3, 25).astype(np.int32) for _ in range(2)]
        names = tuple((f"{at}",) for at in range(6))
        told = Statements.made(names, sets, [3, 3], None)
        found = smallest_difference(told, 3)
        cells = told.cells.toarray()
        sizes = np.bincount(told.atom[told.atom >= 0], minlength=cells.shape[1])
        best = 0
        for chosen in range(1, 2 ** cells.shape[1]):
            wanted = np.array([chosen >> at & 1 for at in range(cells.shape[1])], float)
            units = int(sizes @ wanted)
            if units < 3 and (not best or units < best):
                solved = np.linalg.lstsq(cells.T, wanted, rcond=None)[0]
                best = units if np.abs(cells.T @ solved - wanted).max() < 1e-9 else best
        assert found.units == best
