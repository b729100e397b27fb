"""Three and more tables whose variables form a circle: what their common records say."""

import numpy as np
import pyarrow as pa
import pytest
from finest_combinations import GROUPS, made, published, records, sums_of_atoms
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import linprog

import diskret as dk
from diskret.attack import Attacker, examine, recheck
from diskret.attack.all_cells import all_cells
from diskret.attack.certificate import refined_to
from diskret.attack.statements import Scope, not_claimed
from diskret.hierarchy import table_circles as circles
from diskret.hierarchy.table_circles import Codes
from diskret.population import Population
from diskret.tables import Publication

#: Everybody of job p is f, everybody of job q is m, and nobody of job r is ill.
PERSONS = {
    ("f", "p", "no"): 4,
    ("f", "p", "yes"): 2,
    ("m", "q", "no"): 6,
    ("m", "q", "yes"): 7,
    ("f", "r", "no"): 5,
    ("m", "r", "no"): 8,
}
#: What two of the tables tell of the hidden cells of the third.
PAIRWISE = [(2, 11), (0, 9), (12, 21), (0, 9)]
AROUND = [("sex", "job"), ("job", "ill"), ("sex", "ill")]
RULES = [dk.rules.MinimumFrequency(2)] * 2 + [dk.rules.MinimumFrequency(3)]


@pytest.fixture(scope="module")
def tables():
    rows = [at for at, n in PERSONS.items() for _ in range(n)]
    columns = zip(("sex", "job", "ill"), zip(*rows, strict=True), strict=True)
    frame = pa.table({name: list(codes) for name, codes in columns})
    return [dk.tabulate(frame, by=dict.fromkeys(by)) for by in AROUND]


@pytest.fixture(params=[5_000, 10])
def most(request, monkeypatch):
    monkeypatch.setattr(circles, "COMBINATIONS", request.param)
    return request.param


def apart(tables):
    """Only the four numbers of sex by illness are hidden, of which one is below 3."""
    hidden = np.zeros((3, 3), dtype=bool)
    hidden[1:, 1:] = True
    none = [np.zeros(table.shape, dtype=bool) for table in tables[:2]]
    return published(tables, np.concatenate([a.ravel() for a in (*none, hidden)]))


def test_what_no_two_of_three_tables_say(tables, most):
    """All three leave one value to each cell."""
    publication = apart(tables)
    found = examine(publication)
    recheck(publication, found)
    for pair in ([0, 2], [1, 2]):
        two = examine(Publication(tuple(publication.tables[i] for i in pair)))
        assert list(zip(two.lower, two.upper, strict=True)) == PAIRWISE
    interval = list(zip(found.lower, found.upper, strict=True))
    if most == 5_000:
        assert interval == [(9, 9), (2, 2), (14, 14), (7, 7)]
        assert refined_to(publication) == "combinations"
    else:
        assert interval == PAIRWISE
        assert refined_to(publication) == "equations"
    said = not_claimed(publication, Scope(complete=all_cells(publication).complete), Attacker())
    assert any("three or more" in line for line in said["en"]) == (most < 5_000)
    assert any("drei oder mehr" in line for line in said["de"]) == (most < 5_000)


def test_the_protector_is_told_what_no_two_tables_say(tables):
    results = dk.suppress(tables, RULES, name=["sex_job", "job_ill", "sex_ill"])
    assert results[0].certificate.repaired == 1  # pairs of tables looked safe
    hidden = [int(result.published.suppressed.sum()) for result in results]
    assert hidden[2] == 4 and sum(hidden) > 4
    found = examine(Publication(tuple(result.published for result in results)))
    ill = results[2].certificate.proof.publication.starts[2]
    own = found.cell == ill + np.flatnonzero(results[2].status.ravel() == "primary")
    assert found.lower[own] <= 1 and found.upper[own] >= 3


def code(name, *leaves):
    """A variable with a flat list of codes."""
    meaning = (None, *map(frozenset, leaves))
    return Codes(name, (-1, *[0] * len(leaves)), meaning)


def test_circles_are_what_is_left_of_tables_at_the_ends_of_chains():
    v, w, x, y, z = (code(name, "a", "b") for name in "vwxyz")
    found, complete = circles.circles([[x, y], [y, z], [x, z], [z, w], [w, v]])
    assert complete and [[c.name for c in own] for own in found] == [["x", "y", "z"]]
    assert circles.circles([[x, y], [y, z], [x, z], [x, y, z]]) == ([], True)
    assert circles.circles([[x, y], [y, z], [z, w], [x, w, v]])[1]


def test_depths_form_circles_too():
    """All tables show x, y and z; but each two of the three at full depth in one table only."""
    coarse = {name: code(name, "ab", "cd") for name in "xyz"}
    fine = {
        name: Codes(
            name,
            (-1, 0, 0, 1, 1, 2, 2),
            (None, *map(frozenset, ("ab", "cd", "a", "b", "c", "d"))),
        )
        for name in "xyz"
    }
    mixed = [
        [(fine if name in pair else coarse)[name] for name in "xyz"] for pair in ("xy", "yz", "xz")
    ]
    found, complete = circles.circles(mixed)
    assert complete and [len(own[0].parent) for own in found] == [7]
    assert circles.circles(mixed[:2] + [list(coarse.values())]) == ([], True)


def test_depths_that_cannot_be_compared_are_not_claimed():
    """One table splits ab, the other cd, and a third one both: no order of depths."""
    x = [code("x", *leaves) for leaves in (("a", "b", "cd"), ("ab", "c", "d"), "abcd")]
    y = code("y", "p", "q")
    assert circles.circles([[own, y] for own in x]) == ([], False)
    assert circles.circles([[own, y] for own in x[:2]]) == ([], True)


def test_what_is_part_of_a_split_category_is_split_too():
    """The third table has ab, so the first need not split it, were it not for abc in the second."""
    rows = [(x, y) for x in "abcdef" for y in "pq" for _ in range(9)]
    frame = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows]})
    both = dk.tabulate(frame, by={"x": None, "y": None})
    pairs = both.recode("x", {"ab": ["a", "b"], "de": ["d", "e"]})
    threes = both.recode("x", {"abc": ["a", "b", "c"], "def": ["d", "e", "f"]})
    above = {"code": [*"Tabcdef", "ab", "de"], "parent": [None, *("ab ab T de de T T T".split())]}
    by_x = dk.tabulate(frame, by={"x": dk.Hierarchy.from_parents(above)})
    tables = [pairs, threes, by_x]
    hidden = [np.zeros(table.shape, dtype=bool) for table in tables]
    hidden[0][1:, 1:] = True
    publication = published(tables, np.concatenate([mask.ravel() for mask in hidden]))
    found = examine(publication)
    interval = list(zip(found.lower, found.upper, strict=True))
    # of the 36 in ab at most the 27 in abc can be p or q, and c is 18
    assert interval == [*[(9, 27)] * 2, *[(0, 18)] * 2] * 2


@examples(50)
@given(
    records(),
    st.sampled_from(GROUPS),
    st.sampled_from(GROUPS),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_intervals_are_all_that_linear_reasoning_about_records_says(count, first, second, hide):
    shown = [(("x", "y"), first), (("y", "f"), None), (("x", "f"), second)]
    tables = [made(count, *table, Population()) for table in shown]
    rows = sums_of_atoms(tables)
    value = rows @ count
    hidden = np.array(hide[: len(rows)]) & (value > 0)
    publication = published(tables, hidden)
    assert all_cells(publication).complete
    found = examine(publication)
    for i, cell in enumerate(found.cell):
        ends = []
        for sign in (1, -1):
            answer = linprog(sign * rows[cell], A_eq=rows[~hidden], b_eq=value[~hidden])
            ends.append(sign * answer.fun if answer.status == 0 else np.inf)
        assert found.lower[i] == np.ceil(ends[0] - 1e-6)
        assert found.upper[i] == np.floor(ends[1] + 1e-6)
