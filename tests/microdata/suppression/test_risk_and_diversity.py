"""Individual risk and sensitive variables as conditions of local suppression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suppression_files import files, problem_of

from diskret.errors import ProtectionError
from diskret.microdata.suppression import record_by_record
from diskret.microdata.suppression.risk_and_diversity import (
    Sensitive,
    needed,
    spread,
    until_they_hold,
)
from diskret.risk import individual_risk
from diskret.risk.sensitive_figures import distinct, nominal


@given(files(missing=False), st.data())
def test_the_number_of_partners_is_the_smallest_that_bounds_the_risk(rows, data):
    n, m = rows.shape
    weights = np.array(data.draw(st.lists(st.floats(0.5, 20), min_size=n, max_size=n)))
    threshold = data.draw(st.sampled_from([0.02, 0.1, 0.3, 0.5, 1.0]))
    found = needed(problem_of(rows, 1), range(m), weights, threshold)
    for i in range(n):
        alike = (rows == rows[i]).all(axis=1)
        f, total = alike.sum(), weights[alike].sum()
        counts = np.arange(f, n + 1)
        risk = individual_risk(counts.astype(float), total + (counts - f) * weights.min())
        enough = counts[risk <= threshold]
        if not len(enough):
            assert found[i] == n + 1
        elif enough[0] == f:
            assert found[i] == 1
        else:
            assert found[i] == enough[0]


@given(files(missing=False), st.integers(1, 3), st.data())
def test_each_set_of_keys_is_judged_as_the_records_that_share_them(rows, least, data):
    n, m = rows.shape
    values = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), np.int32)
    items = problem_of(rows, 1).items
    asked = Sensitive("illness", values, distinct, lambda found: found >= least)
    holds = spread(items, range(m), asked)
    for hidden in range(1 << m):
        gone = [q for q in range(m) if hidden >> q & 1]
        kept = [q for q in range(m) if q not in gone]
        for i in range(n):
            sharing = (rows[:, kept] == rows[i, kept]).all(axis=1)
            assert holds(gone)[items.of[i]] == (len(np.unique(values[sharing])) >= least)


def test_gaps_of_others_that_spoil_a_distribution_are_answered_by_more_gaps():
    rows = np.array([[0, 0]] * 2 + [[1, 1]] * 2 + [[0, 1]] * 4)
    values = np.array([0, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32)
    problem = problem_of(rows, 2)
    asked = [Sensitive("illness", values, nominal, lambda found: found <= 1e-9)]
    start = np.zeros(rows.shape, dtype=bool)
    assert (until_they_hold(problem, start, asked) == start).all()
    start[4, 0] = True  # agrees with the second class now, whose shares are 2 to 1 then
    more = until_they_hold(problem, start, asked)
    assert (more & start == start).all() and more.sum() > 1
    stays = problem_of(rows, 2, [np.inf, np.inf])
    with pytest.raises(ProtectionError, match="nothing more to hide .* illness: 2"):
        until_they_hold(stays, start, asked)


def test_criteria_are_met_by_the_cheapest_set():
    rows = np.array([[0, 0, 0]] * 3 + [[0, 0, 1]] * 3)
    values = np.array([0, 0, 0, 0, 1, 2], dtype=np.int32)
    problem = problem_of(rows, 2)
    asked = Sensitive("illness", values, distinct, lambda found: found >= 3)
    mask = record_by_record(problem, [spread(problem.items, range(3), asked)])
    assert mask.tolist() == [[False, False, True]] * 3 + [[False] * 3] * 3
