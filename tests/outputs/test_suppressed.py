"""Tables whose unsafe cells are hidden: what is shown is true, what is hidden stays unknown."""

import numpy as np
import pandas as pd
import pytest
from hidden_cells import Shown
from profiles import scaled
from scipy.optimize import linprog

import diskret.outputs.hiding as hiding
import diskret.outputs.protected as protection
from diskret.errors import InputError
from diskret.outputs import Profile, Project, crosstab, groupby, pivot_table, suppressed

RULES = Profile(threshold=5, p_percent=10, dominance=(2, 90), verdicts={"zero": "pass"})


def firms(seed=1):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "town": draw.choice(list("ABCD"), 200),
            "job": draw.choice(list("xyz"), 200, p=[0.5, 0.43, 0.07]),
            "pay": np.round(draw.lognormal(3, 1.3, 200), 2),
        }
    )
    frame["all"] = "t"
    return frame


@pytest.mark.parametrize("seed", range(4))
def test_shown_cells_are_true_and_hidden_ones_have_a_range(seed):
    frame = firms(seed)
    whole = pd.crosstab(frame.town, frame.job, margins=True)
    assert crosstab(frame.town, frame.job, profile=RULES, margins=True).verdict == "fail"
    found = suppressed(frame.town, frame.job, profile=RULES)
    assert found.verdict == "pass" and found.certificate is not None
    shown = found.output.notna().to_numpy()
    assert (found.output.to_numpy()[shown] == whole.to_numpy()[shown]).all()
    assert shown[-1].all() and shown[:, -1].all()  # margins
    # all that an outsider knows, as a linear programme of the test's own
    counts = whole.to_numpy()[:-1, :-1]
    hidden = np.argwhere(~shown[:-1, :-1])
    rows, right = [], []
    for axis in (0, 1):
        for line in np.unique(hidden[:, axis]):
            rows.append(hidden[:, axis] == line)
            right.append(sum(counts[row, column] for row, column in hidden[rows[-1]]))
    for at, (row, column) in enumerate(hidden):
        goal = np.eye(len(hidden))[at]
        ends = [
            linprog(sign * goal, A_eq=np.array(rows, float), b_eq=right).fun * sign
            for sign in (1, -1)
        ]
        assert ends[0] < counts[row, column] - 1e-6 or ends[1] > counts[row, column] + 1e-6


def test_sums_too_and_what_was_accepted_before_is_looked_at():
    frame = firms()
    project = Project(frame, profile=RULES)
    options = {"values": frame.pay, "aggfunc": "sum"}
    table = project.check(suppressed, frame.town, frame.job, **options)
    assert table.verdict == "pass"
    hidden = table.output.isna()
    assert hidden.to_numpy().any()
    project.accept(table, "pay")
    row = np.flatnonzero(hidden.to_numpy().any(axis=1))[0]
    # the same table less one hidden cell of few: their sum follows from both
    town, job = hidden.index[row], "z"
    rest = frame[~((frame.town == town) & (frame.job == job))]
    assert 0 < len(frame) - len(rest) < 5
    other = project.check(
        crosstab, rest.town, rest["all"], values=rest.pay, aggfunc="sum", margins=False
    )
    assert {"difference", "rest"} & {one.check for one in other.findings}


def test_what_hiding_does_not_answer_is_judged_as_before():
    """Group disclosure: nearly all of a town have one job."""
    frame = pd.DataFrame({"town": ["A"] * 40 + ["B"] * 40, "job": "x"})
    frame.loc[41:70, "job"] = "y"
    frame.loc[:1, "job"] = "y"
    rules = Profile(threshold=3, group_percent=90, verdicts={"zero": "pass"})
    found = suppressed(frame.town, frame.job, profile=rules)
    assert found.verdict == "fail" and {one.check for one in found.findings} == {"group"}


#: What totals, codes and axes are called elsewhere, and a number that is a text.
NAMES = np.array(["All", "Total", "r0", "1", "all"])


def persons(seed, several=True):
    """Small tables of one or two variables on each side, and how they are made."""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(20, 150))
    rows, columns = (["w", "x", "y", "z"][a:][: int(draw.integers(1, 3))] for a in (0, 2))
    most = 4 if len(rows + columns) > 2 else 6
    frame = pd.DataFrame(
        {name: draw.choice(NAMES[: draw.integers(1, most)], number) for name in "wxyz"}
    )
    frame["pay"] = np.round(draw.lognormal(2, 1.5, number), 2)
    frame["firm"] = draw.integers(0, number, number)
    value = "pay" if draw.integers(2) else None
    unit = "firm" if draw.integers(2) else None
    return frame, rows, columns, value, unit


RULES_OF_PERSONS = Profile(
    threshold=5, p_percent=10, dominance=(2, 90), verdicts={"zero": "pass", "missing": "pass"}
)


def pivoted(frame, rows, columns, value, unit, margins=True):
    return pivot_table(
        frame.assign(one=1),
        value or "one",
        rows,
        columns,
        "sum" if value else "count",
        margins=margins,
        margins_name="Σ",
        unit=unit,
        profile=RULES_OF_PERSONS,
    )


@pytest.mark.parametrize("seed", range(scaled(60)))
def test_nobody_can_compute_what_is_hidden(seed):
    """By programmes of the test's own, from the records: outsiders, and units that know theirs."""
    frame, rows, columns, value, unit = persons(seed)
    found = pivoted(frame, rows, columns, value, unit).suppress()
    shown = Shown(found.output, frame, rows, columns, value, unit)
    shown.check_true(1e-6)
    assert found.verdict == "pass"
    assert list(shown.disclosed(RULES_OF_PERSONS, 1e-6)) == []


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_every_call_hides_the_same_cells(seed):
    frame, rows, columns, value, unit = persons(seed + 1000)
    frame = frame.replace("All", "every")  # pandas has no totals beside a category of that name
    totals = pivoted(frame, rows, columns, value, unit).suppress().output
    plain = pivoted(frame, rows, columns, value, unit, margins=False).suppress()
    pd.testing.assert_frame_equal(plain.output, totals.iloc[:-1, :-1], check_names=False)
    sides = [[frame[one] for one in rows], [frame[one] for one in columns]]
    options = {"unit": unit and frame[unit], "profile": RULES_OF_PERSONS}
    if value:
        options |= {"values": frame[value], "aggfunc": "sum"}
    crossed = suppressed(*sides, **options)
    np.testing.assert_array_equal(crossed.output.isna(), totals.isna())
    again = crosstab(*sides, margins=True, **options).suppress()
    pd.testing.assert_frame_equal(again.output, crossed.output)
    assert again.findings == crossed.findings and again.made == crossed.made
    if len(rows + columns) == 2:
        figures = {value: "sum"} if value else None
        listed = groupby(
            frame, rows + columns, figures, unit=unit, profile=RULES_OF_PERSONS
        ).suppress()
        hidden = listed.output.isna() if value is None else listed.output[value].isna()
        grid = totals.iloc[:-1, :-1].isna()
        grid.columns = [one[-1] if isinstance(one, tuple) else one for one in grid.columns]
        assert all(grid.loc[cell] == gone for cell, gone in hidden.items())


def test_the_oracle_finds_a_cell_that_is_shown_and_one_that_follows():
    caught = 0
    for seed in range(5):
        frame, rows, columns, value, unit = persons(seed)
        table = pivoted(frame, rows, columns, value, unit)
        hidden = np.argwhere(table.suppress().output.isna().to_numpy())
        for row, column in hidden[:2]:
            output = table.suppress().output
            output.iloc[row, column] = table.output.fillna(0).iloc[row, column]
            shown = Shown(output, frame, rows, columns, value, unit)
            caught += bool(list(shown.disclosed(RULES_OF_PERSONS)))
    assert caught >= 4


def test_cells_that_are_not_where_they_should_be_are_refused(monkeypatch):
    frame = firms()
    table = crosstab(frame.town, frame.job, margins=True, profile=RULES)
    wrong = hiding._matched
    monkeypatch.setattr(hiding, "_matched", lambda *given: wrong(*given)[::-1])
    with pytest.raises(InputError, match="does not show just what its records have"):
        table.suppress()


def test_an_unsafe_cell_that_the_protector_forgets_stays_a_reason(monkeypatch):
    """The table is judged again, by what it shows."""
    frame = firms()
    table = crosstab(frame.town, frame.job, margins=True, profile=RULES)
    protected = protection.protected

    def forgetful(*given):
        number, hidden, certificate = protected(*given)
        return number, np.zeros_like(hidden), certificate

    monkeypatch.setattr(protection, "protected", forgetful)
    assert table.suppress().verdict == "fail"


def test_a_result_of_a_project_stays_one():
    frame = firms()
    project = Project(frame, profile=RULES)
    table = project.check(crosstab, frame.town, frame.job, margins=True)
    found = table.suppress()
    assert (table.verdict, found.verdict) == ("fail", "pass")
    project.accept(found, "jobs")
    with pytest.raises(InputError, match="hidden already"):
        found.suppress()
    # one person less: the hidden table beside this one tells of him
    less = frame.drop(frame.index[(frame.town == "A") & (frame.job == "x")][0])
    beside = project.check(crosstab, less.town, less.job, margins=True).suppress()
    assert "difference" in {one.check for one in beside.findings}


@pytest.mark.parametrize(
    "make",
    [
        lambda f: crosstab(f.town, f.job, values=f.pay, aggfunc="mean"),
        lambda f: crosstab(f.town, f.job, normalize=True),
        lambda f: groupby(f, "town", {"pay": ["sum", "count"]}),
        lambda f: groupby(f, None, {"pay": "sum"}),
        lambda f: pivot_table(f, "pay", "town", "job", max),
    ],
)
def test_what_cannot_be_hidden_is_refused_with_what_to_do(make):
    with pytest.raises(InputError, match=r"one at a time, .* and divide what both show"):
        make(firms()).suppress()


def test_tables_that_show_something_else_are_refused():
    frame = firms()
    filled = pivot_table(
        frame[(frame.town != "A") | (frame.job != "z")], "pay", "town", "job", "sum", fill_value=-1
    )
    with pytest.raises(InputError, match="leave out records without a category"):
        filled.suppress()
    nothing = Profile(p_percent=None, dominance=None, verdicts={"threshold": "pass"})
    with pytest.raises(InputError, match="no rule by which"):
        crosstab(frame.town, frame.job, profile=nothing).suppress()
    few = frame[:3]
    assert crosstab(few.town, few["all"], profile=RULES).suppress().output.isna().all(axis=None)


def test_records_without_a_category_or_a_value_are_left_out():
    frame = firms()
    frame.loc[:9, "job"] = None
    frame.loc[10:15, "pay"] = np.nan
    found = suppressed(frame.town, frame.job, values=frame.pay, aggfunc="sum", profile=RULES)
    known = frame.dropna(subset=["job", "pay"])
    Shown(found.output, known, ["town"], ["job"], "pay").check_true(1e-6)
    assert {one.check for one in found.findings} == {"missing"}


def test_bad_input_is_named():
    frame = firms()
    with pytest.raises(InputError, match="one at a time"):
        suppressed(frame.town, frame.job, values=frame.pay, aggfunc="mean")
    with pytest.raises(InputError, match="must be a Series"):
        suppressed("town", frame.job)
