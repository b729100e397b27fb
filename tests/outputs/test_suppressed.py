"""Tables whose unsafe cells are hidden: what is shown is true, what is hidden stays unknown."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from diskret.errors import InputError
from diskret.outputs import Profile, Project, crosstab, suppressed

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


def test_bad_input_is_named():
    frame = firms()
    with pytest.raises(InputError, match="must be 'sum', not 'mean'"):
        suppressed(frame.town, frame.job, values=frame.pay, aggfunc="mean")
    with pytest.raises(InputError, match="must be a pandas Series"):
        suppressed([frame.town], frame.job)
