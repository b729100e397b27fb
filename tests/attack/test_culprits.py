"""Who is to blame: compared with all whole tables that agree with what is published."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import diskret as dk
from diskret.attack import Attacker, culprits
from diskret.attack.culprits import Culprits, Need, Opened, _Asked
from diskret.errors import ProofError
from diskret.tables import Dimension, Publication, Published

SIDE = dk.Hierarchy.flat(["0", "1"])
#: Flat positions in a table of total and two parts on both sides: 0 is the grand total.
LEAVES = (4, 5, 7, 8)


def whole_table(leaves):
    a, b, c, d = leaves
    return np.array([a + b + c + d, a + c, b + d, a + b, a, b, c + d, c, d])


def publication(value, hidden, frequency=True, nonnegative=True):
    mask = np.isin(np.arange(9), hidden)
    return Publication(
        (
            Published(
                "t",
                (Dimension("x", SIDE), Dimension("y", SIDE)),
                "count",
                frequency,
                0,
                np.where(mask, 0, value).reshape(3, 3),
                mask.reshape(3, 3),
                np.zeros((3, 3), dtype=bool),
                nonnegative=nonnegative,
            ),
        )
    )


def opened(value, hidden, chosen, frequency=True, **known):
    """An attack in which some published cells can be taken back."""
    seen = publication(value, [*hidden, *chosen], frequency)
    at = np.array(sorted(chosen), dtype=np.int64)
    return Opened(seen, at, value[at], value[at], known.get("attacker", Attacker()), value)


def interval(value, cell, published):
    """What is possible for a cell in all tables of the same grand total."""
    size = range(int(value[0]) + 1)
    possible = [
        table[cell]
        for table in map(whole_table, product(size, repeat=4))
        if (table[published] == value[published]).all()
    ]
    return min(possible), max(possible)


CASES = [
    (seed, *case)
    for seed in range(10)
    for case in (
        ((4,), (5, 7, 3)),
        ((4, 5), (7, 8, 1, 3)),
        ((8,), (1, 2, 3, 6, 4)),
        ((4, 5, 7, 8), (1, 2, 3, 6)),
    )
]


@pytest.mark.parametrize("frequency", [True, False])
@pytest.mark.parametrize(("seed", "hidden", "chosen"), CASES)
def test_those_to_blame_are_enough_and_none_can_be_spared(seed, hidden, chosen, frequency):
    drawn = np.random.default_rng(seed)
    value = whole_table(drawn.integers(0, 3, 4))
    cell, width = hidden[0], int(drawn.integers(1, 4))
    low, high = value[cell] - int(drawn.integers(0, 2)), value[cell] + int(drawn.integers(0, 3))
    others = [at for at in range(9) if at not in {*hidden, *chosen}]

    def met(published):
        found = interval(value, cell, [*others, *published])
        return found[0] <= low and found[1] >= high and found[1] - found[0] >= width

    attack = opened(value, hidden, chosen, frequency)
    found = attack.blame(cell, Need(low, high, width), np.inf)
    assert found.irreducible
    if met(chosen) or not met(()):
        assert found.cells == ()
        return
    assert set(found.cells) <= set(chosen) and list(found.cells) == sorted(found.cells)
    assert not met(found.cells)
    for one in found.cells:
        assert met([at for at in found.cells if at != one]), one


def test_what_is_taken_back_is_known_as_closely_as_it_was_published():
    """A rounded 6 is something from 4 to 8, so the other part of 9 is between 1 and 5."""
    value = whole_table((3, 6, 0, 0))
    seen = publication(value, [1, 2, 4, 5], frequency=False)
    for half, blamed in ((0, (5,)), (2, ()), (1, ()), (0.5, (5,))):
        around = np.array([6.0])
        attack = Opened(seen, np.array([5]), around - half, around + half, Attacker(), value)
        assert attack.blame(4, Need(2, 4, 2), np.inf) == Culprits(blamed)


def test_both_ends_of_what_is_known_count():
    """Of 9 the taken back part is 6 ± 2: with it published the other one is between 1 and 5."""
    value = whole_table((3, 6, 0, 0))
    seen = publication(value, [1, 2, 4, 5], frequency=False)
    attack = Opened(seen, np.array([5]), np.array([4.0]), np.array([8.0]), Attacker(), value)
    for need, blamed in (
        (Need(1, 3, 0), ()),
        (Need(0, 3, 0), (5,)),
        (Need(3, 5, 0), ()),
        (Need(3, 6, 0), (5,)),
        (Need(3, 3, 4), ()),
        (Need(3, 3, 5), (5,)),
        (Need(3, 3, 9), (5,)),
        (Need(3, 3, 10), ()),
    ):
        assert attack.blame(4, need, np.inf) == Culprits(blamed), need


def test_a_search_that_ends_early_says_so():
    value = whole_table((3, 6, 1, 2))
    attack = opened(value, (4,), (5, 7, 8))
    found = attack.blame(4, Need(1, 4, 3), 0)
    assert not found.irreducible and found.cells
    # two ends of four cells: of all published, those that this rests on, and none
    spent = attack.work
    assert spent == 3 * 2 * 4
    assert opened(value, (4,), (5, 7, 8)).blame(4, Need(1, 4, 3), spent).irreducible is False
    again = opened(value, (4,), (5, 7, 8))
    whole = again.blame(4, Need(1, 4, 3), spent + 1)
    assert again.work > spent and set(whole.cells) <= set(found.cells)


def test_a_cell_that_nothing_bounds_is_nobodys_fault():
    """Neither totals nor the other parts are published: it may be anything."""
    value = whole_table((3, 6, 1, 2))
    attack = opened(value, (0, 1, 3, 4), (5,), frequency=False)
    assert attack.blame(4, Need(0, 10**6, 10**6), np.inf) == Culprits()
    assert attack.blame(4, Need(-1, 10**6, 10**6), np.inf) == Culprits()


def test_what_equations_connect_with_is_touched():
    value = whole_table((3, 6, 1, 2))
    new = publication(value, [4, 5, 7, 8])
    other = Published(
        "other", (Dimension("z", SIDE),), "count", True, 0, np.array([12, 0, 0]),
        np.array([False, True, True]), np.zeros(3, dtype=bool), vintage="2025",
    )  # fmt: skip
    both = Publication((*new.tables, other), (), (("r1", "other"),))
    none = np.zeros(0, dtype=np.int64)
    attack = Opened(both, none, none, none, Attacker(), np.append(value, [12, 5, 7]))
    assert attack.touched(9).tolist() == [4, 5, 7, 8]
    assert attack.touched(4).tolist() == []
    assert attack.touched(20).tolist() == [4, 5, 7, 8, 10, 11]


def test_bounds_of_what_is_only_imagined_hidden_do_not_count():
    """Whoever knows that hidden counts are at least 1 may see a 0 published."""
    value = whole_table((3, 0, 1, 2))
    attack = opened(value, (4,), (5, 7), attacker=Attacker(zeros_known=True))
    assert attack.blame(4, Need(3, 3, 0), np.inf) == Culprits()
    at = np.searchsorted(attack.known.cell, [4, 5])
    assert attack.lower[at].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("need", "interval", "met"),
    [
        (Need(2, 5, 3), (2, 5), True),
        (Need(2, 5, 4), (2, 5), False),
        (Need(1, 5, 0), (2, 5), False),
        (Need(2, 6, 0), (2, 5), False),
        (Need(2, 5, 3), (2 + 4e-6, 5 - 4e-6), True),
        (Need(2, 5, 3), (2 + 6e-6, 5 - 1e-9), False),
        (Need(2, 5, 3), (2, 5 - 6e-6), False),
        (Need(3, 3, 3), (2, 5 - 0.9e-5), True),
        (Need(3, 3, 3), (2, 5 - 1.2e-5), False),
        (Need(0, 0.5, 0.5), (9e-7, 0.5 - 9e-7), True),
        (Need(0, 0.5, 0.5), (2e-6, 0.5), False),
        (Need(2, 5, 3), (-np.inf, np.inf), True),
        (Need(2, 5, 3), (-np.inf, 4), False),
    ],
)
def test_a_need_is_met_up_to_the_last_digits_of_the_solver(need, interval, met):
    assert need.met(*interval) is bool(met)


@pytest.mark.parametrize(("frequency", "blamed"), [(True, (5,)), (False, ())])
def test_whole_numbers_may_be_told_where_fractions_are_not(frequency, blamed):
    """The other part of 9 is 6 or half a unit beside it: a count is 3, a sum is not."""
    value = whole_table((3, 6, 0, 0))
    seen = publication(value, [1, 2, 4, 5], frequency)
    attack = Opened(seen, np.array([5]), np.array([5.5]), np.array([6.5]), Attacker(), value)
    assert attack.blame(4, Need(2.6, 3.4, 0.8), np.inf) == Culprits(blamed)
    one = _Asked(attack, int(np.searchsorted(attack.known.cell, 4)))
    assert one.ends(one.chosen, False) == (2.5, 3.5)
    assert one.ends(one.chosen, True) == (3, 3)
    assert one.ends(one.chosen[:0], True) == (0, 9)


def test_sums_are_not_taken_for_whole_numbers():
    """Of 3 + 6 by 5.5 to 6.5, of 3 + 1 by 0 to 1.3: it takes both for less than a unit of room."""
    value = whole_table((3, 6, 1, 2))
    seen = publication(value, [2, 4, 5, 6, 7, 8], frequency=False)
    low, high = np.array([5.5, 0.0]), np.array([6.5, 1.3])
    attack = Opened(seen, np.array([5, 7]), low, high, Attacker(), value)
    assert attack.blame(4, Need(2.7, 3.5, 1), np.inf) == Culprits((5, 7))


def test_each_end_rests_on_a_bound_of_its_own():
    """Of 3 + 6 the one is left by 4 to 6, of 3 + 1 by 0 to 2: at least 3 and at most 4."""
    value = whole_table((3, 6, 1, 2))
    seen = publication(value, [2, 4, 5, 6, 7, 8], frequency=False)
    low, high = np.array([4.0, 0.0, 0.0]), np.array([6.0, 2.0, 99.0])
    attack = Opened(seen, np.array([5, 7, 8]), low, high, Attacker(), value)
    one = _Asked(attack, int(np.searchsorted(attack.known.cell, 4)))
    lower, upper, rests = one.supported()
    assert (lower, upper) == (3, 4)
    assert one.positions(rests) == (5, 7)
    # only these are gone through: twice before, once none of them, and each left out
    assert attack.blame(4, Need(2, 4, 0), np.inf) == Culprits((5,))
    assert attack.work == 5 * 2 * 6


def test_what_has_no_end_has_none_in_whole_numbers_either():
    value = whole_table((3, 6, 1, 2))
    seen = publication(value, range(9), frequency=False, nonnegative=False)
    attack = Opened(seen, np.array([5]), value[[5]], value[[5]], Attacker(), value)
    assert (attack.lower == -np.inf).all() and (attack.upper == np.inf).all()
    one = _Asked(attack, 4)
    for whole in (False, True):
        assert one.ends(one.chosen, whole) == (-np.inf, np.inf)
    lower, upper, rests = one.supported()
    assert (lower, upper, len(rests)) == (-np.inf, np.inf, 0)


def test_a_value_beyond_what_is_assumed_of_hidden_cells_is_possible():
    """What is assumed may be wrong of a cell that is only imagined hidden."""
    value = whole_table((3, 6, 1, 2))
    seen = publication(value, [4, 5])
    attack = Opened(seen, np.array([5]), np.array([5]), np.array([7]), Attacker(relative=1), value)
    assert attack.lower.tolist() == [3, 5] and attack.upper.tolist() == [3, 7]


def test_a_search_for_whole_numbers_that_ends_early_counts_as_far_as_it_came(monkeypatch):
    value = whole_table((3, 6, 1, 2))
    attack = opened(value, (4,), (5, 7, 8))
    one = _Asked(attack, int(np.searchsorted(attack.known.cell, 4)))
    ended = SimpleNamespace(x=None, fun=None, mip_dual_bound=-2.5)
    monkeypatch.setattr(culprits, "milp", lambda *of, **options: ended)
    assert one.ends(one.chosen, True) == (-2.5, 2.5)
    found = SimpleNamespace(x=np.zeros(4), fun=-2.0, mip_dual_bound=-2.5)
    monkeypatch.setattr(culprits, "milp", lambda *of, **options: found)
    assert one.ends(one.chosen, True) == (-2, 2)


def test_a_solver_that_gives_no_answer_is_no_proof(monkeypatch):
    value = whole_table((3, 6, 1, 2))
    attack = opened(value, (4,), (5, 7, 8))
    lost = SimpleNamespace(status=4, message="numerical difficulties", fun=0.0)
    monkeypatch.setattr(culprits, "linprog", lambda *of, **options: lost)
    with pytest.raises(ProofError, match="without an answer: numerical difficulties"):
        attack.blame(4, Need(1, 4, 3), np.inf)
