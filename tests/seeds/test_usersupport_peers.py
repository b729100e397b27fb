"""Three public reports where other programs leave a leak that a contributor sees.

Numbers 135, 160 and 194 of github.com/sdcTools/UserSupport.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import Requirements, certify, examine, targets_of, unmet
from diskret.errors import ProofError
from diskret.suppression import Pattern

CONTRIBUTOR = dk.Attacker(contributor=True)
FEW = dk.rules.MinimumFrequency(3)


def counts(*numbers):
    codes = [f"c{i}" for i in range(len(numbers))]
    return dk.Table.from_cells(pa.table({"c": codes, "n": numbers}), by={"c": None}, count="n")


def hidden(result):
    return np.flatnonzero(result.published.suppressed).tolist()


# ── 135: three singletons ───────────────────────────────────────────────────────────


def test_three_singletons_sum_to_three_and_that_is_not_claimed():
    result = dk.suppress(counts(1, 1, 7, 1, 0), FEW)
    assert hidden(result) == [1, 2, 4]  # the total of 10 leaves 1 + 1 + 1 = 3 for them
    said = " ".join(result.certificate.public()["not_claimed"]["en"])
    assert "every hidden count is at least 1" in said and "contributor" in said


def test_a_contributor_who_is_one_of_three_would_know_that_the_others_are_two():
    """The remainder of 3 is no problem, but who is alone in a cell takes it out: 2 are left."""
    assert hidden(dk.suppress(counts(1, 1, 7, 1, 0), FEW, attacker=CONTRIBUTOR)) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "attacker",
    [
        dk.Attacker(zeros_known=True),
        dk.Attacker(zeros_known=True, contributor=True),
        dk.Attacker(contributor=True, coalition=2),
    ],
    ids=["zeros known", "contributor with zeros known", "coalition"],
)
@pytest.mark.parametrize("numbers", [(1, 1, 7, 1, 0), (1, 0, 0, 2, 8)])
def test_three_singletons_are_closed_by_one_cell_more(numbers, attacker):
    plain = dk.suppress(counts(*numbers), FEW)
    closed = dk.suppress(counts(*numbers), FEW, attacker=attacker)
    assert len(hidden(closed)) == len(hidden(plain)) + 1


# ── 160: the secondaries leave one firm nearly alone ────────────────────────────────


def dominated():
    """Four regions; A is dominated, B is the cheapest company, and one firm is large in both.

    A: 90 + 4 + 3; B: 55 + 10 + 8 + 7, of which the 55 belong to the firm with the 90 in A.
    """
    firms = {
        "A": [("giant", 90), ("a", 4), ("b", 3)],
        "B": [("giant", 55), ("c", 8), ("d", 7), ("e", 6)],
        "C": [("f", 40), ("g", 40), ("h", 30), ("i", 20)],
        "D": [("k", 60), ("l", 50), ("m", 40)],
    }
    rows = [(region, firm, sales) for region, own in firms.items() for firm, sales in own]
    region, firm, sales = zip(*rows, strict=True)
    frame = pa.table({"region": region, "firm": firm, "sales": sales})
    return dk.tabulate(frame, by={"region": None}, value="sales", unit="firm", contributions=True)


def largest_share(table, result):
    """The share of the largest firm in all that is suppressed."""
    listed = table.contributions
    at = {table.dimensions[0].hierarchy.codes[i] for i in hidden(result)}
    own = np.isin(listed.leaf[:, 0], [i for i, c in enumerate(listed.by["region"]) if c in at])
    firms = np.unique(listed.unit[own], return_inverse=True)[1]
    sums = np.bincount(firms, weights=listed.values["sales"][own])
    return sums.max() / sums.sum()


def test_the_remainder_of_a_dominated_cell_is_not_dominated_again():
    table = dominated()
    with pytest.warns(UserWarning, match="dominance"):
        rule = dk.rules.Dominance(1, 80)
    plain = dk.suppress(table, rule, attacker=dk.Attacker())
    assert hidden(plain) == [1, 2]
    assert largest_share(table, plain) > 0.8
    closed = dk.suppress(table, rule, attacker=CONTRIBUTOR)
    assert largest_share(table, closed) <= 0.8
    assert 1 in hidden(closed)


# ── 194: a remainder of nothing, and whole numbers ──────────────────────────────────


def choosing(*cells):
    """A method that hides these cells, whatever it is asked for."""

    def method(problem):
        suppressed = np.zeros(len(problem.cost), dtype=bool)
        suppressed[list(cells)] = True
        suppressed[problem.requirements.cell] = True
        return Pattern(suppressed, "chosen")

    return method


@pytest.mark.parametrize("attacker", [dk.Attacker(), CONTRIBUTOR], ids=["outsider", "contributor"])
def test_a_remainder_of_zero_tells_every_cell_of_it(attacker):
    """15 = 10 + 5 + x + x: both are 0, which the attack sees; so one cell more is suppressed."""
    tax = {"c": ["c0", "c1", "c2", "c3"], "tax": [10, 5, 0, 0], "firms": [8, 9, 4, 5]}
    table = dk.Table.from_cells(pa.table(tax), by={"c": None}, value="tax", count="firms")
    rule = dk.rules.ZeroCells(1)
    assert rule(table).unsafe.tolist() == [False, False, False, True, True]
    result = dk.suppress(table, rule, method=choosing(3, 4), attacker=attacker)
    assert {3, 4} < set(hidden(result))
    found = result.certificate.examination
    assert (found.witness_lower < found.witness_upper).all()


def test_two_cells_that_sum_to_one_are_no_protection_in_whole_numbers():
    """x + y = 1 leaves [0, 1]: too little for a count of 1, which must be able to be 2."""
    result = dk.suppress(counts(10, 5, 1, 0), FEW)
    zero = np.arange(5) == 4
    careless = replace(
        result.published,
        suppressed=np.isin(np.arange(5), [3, 4]),
        value=np.array([16, 10, 5, 0, 0]),
        empty=zero & False,
    )
    values = np.array([16, 10, 5, 1, 0])
    one = Requirements(*(np.array([number]) for number in (3, 1, 1, 1)))
    targets = targets_of(careless, values, one)
    found = examine(careless, targets=targets, original=values)
    assert (found.lower.tolist(), found.upper.tolist()) == ([0, 0], [1, 1])
    assert unmet(found, targets).tolist() == [True, False]
    with pytest.raises(ProofError, match="1 suppressed cell"):
        certify(careless, dk.Attacker(), one, found, values)
    own = result.certificate.examination
    at = own.cell.tolist().index(3)
    assert own.witness_lower[at] <= 0 and own.witness_upper[at] >= 2


def test_whole_numbers_are_shown_by_whole_numbers():
    result = dk.suppress(counts(10, 5, 1, 1), FEW, attacker=CONTRIBUTOR)
    found = result.certificate.examination
    assert (found.witnesses.denominator == 1).all()
    both = np.isin(found.cell, [3, 4])
    sums = np.array(
        [table.numerator[found.witnesses.hidden][both].sum() for table in found.witnesses]
    )
    assert sums.min() <= 1 and sums.max() >= 3  # 1 + 1 = 2 is unsafe itself
