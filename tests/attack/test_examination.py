"""What an attack found out: joined with more tables, narrowed, of one table, in published units."""

import numpy as np
import pytest
from attack_tables import SQUARE, hide, publish, rolled_up

from diskret.attack import Attacker, examine, moving_together, recheck
from diskret.attack.exact import Point
from diskret.attack.examination import Examination, ends_in_units
from diskret.attack.witnesses import Witnesses
from diskret.deadline import Deadline
from diskret.errors import VerificationError
from diskret.hierarchy import Hierarchy
from diskret.tables import Publication

BOTH = np.array([True, True])
NINE = [(a, b) for a in "123" for b in "123"]


def told(*tables, **more):
    """Two cells, at positions 1 and 5, with these tables."""
    points = [Point(np.array(table), 1) for table in tables]
    cell = np.array([1, 5])
    found = Examination.of_witnesses(cell, Witnesses.gathered(points, BOTH))
    ends = {name: np.array(end) for name, end in more.items()}
    return Examination(**{**vars(found), **ends})


def ends(found):
    return [
        end.tolist() for end in (found.lower, found.upper, found.witness_lower, found.witness_upper)
    ]


def test_more_tables_widen_what_is_shown_and_what_is_said():
    first = told([4, 6], [3, 7], lower=[2.0, 5.0], upper=[9.0, 8.0])
    more = first.with_tables([Point(np.array([1, 9]), 1), Point(np.array([5, 5]), 1)])
    assert ends(more) == [[1, 5], [9, 9], [1, 5], [5, 9]]
    assert len(more.witnesses) == 4
    assert ends(first) == [[2, 5], [9, 8], [3, 6], [4, 7]]


def test_another_attack_narrows_no_farther_than_what_is_shown():
    first = told([4, 6], [3, 7], lower=[0.0, 0.0], upper=[9.0, np.inf])
    other = told([4, 6], lower=[3.5, 2.0], upper=[8.0, 6.5], exact=[True, False])
    both = first.narrowed(other)
    assert ends(both) == [[3, 2], [8, 7], [3, 6], [4, 7]]
    assert both.exact.tolist() == [True, False] and both.outer == 1
    assert first.outer == 0 and not both.quick


def test_each_of_several_tables_has_its_own_cells():
    value = rolled_up(SQUARE, np.arange(9).reshape(3, 3))
    one, other = (publish(SQUARE, value, hide(SQUARE, *cells)) for cells in ((("1", "1"),), ()))
    both = Publication((one, other))
    place = one.value.size + 3
    for exact in (None, np.array([True, False])):
        found = told([4, 6], [3, 7], cell=[5, place], exact=exact) if exact is not None else (
            told([4, 6], [3, 7], cell=[5, place])
        )  # fmt: skip
        assert found.of_tables(Publication((one,))) == [found]
        first, second = found.of_tables(both)
        assert (first.cell.tolist(), second.cell.tolist()) == ([5], [3])
        assert ends(first) == [[3], [4]] * 2 and ends(second) == [[6], [7]] * 2
        assert [point.numerator.tolist() for point in second.witnesses] == [[6], [7]]
        assert second.witnesses.hidden.tolist() == [True]
        assert (first.outer, second.outer) == ((0, 0) if exact is None else (0, 1))


def test_ends_are_rounded_inwards_but_for_the_last_digits_of_a_solver():
    lower, upper = ends_in_units(
        np.array([1.2, 1.9999999, 2.0000004, -np.inf]), np.array([7.7, 6.9999999, 7.0000004, 8]), 0
    )
    assert lower.to_pylist() == [2, 2, 2, None] and upper.to_pylist() == [7, 7, 7, 8]
    lower, upper = ends_in_units(np.array([123.4]), np.array([np.inf]), 2)
    assert lower.to_pylist() == [1.24] and upper.to_pylist() == [None]


def test_cells_that_move_together_are_groups():
    """Two rectangles, and two cells alone in their rows, which everybody can compute."""
    trees = (Hierarchy.flat(list("abcdef")), Hierarchy.flat(list("xyzw")))
    corners = [("a", "x"), ("a", "y"), ("d", "x"), ("d", "y"), ("e", "y"), ("e", "w")]
    corners += [("f", "y"), ("f", "w"), ("b", "z"), ("c", "z")]
    hidden = hide(trees, *corners)
    value = rolled_up(trees, np.arange(1, 25).reshape(6, 4))
    group, sign = moving_together(publish(trees, value, hidden))
    at = np.argwhere(hidden).tolist()
    of = {trees[0].codes[i] + trees[1].codes[j]: n for n, (i, j) in enumerate(at)}
    sets = [{name for name, n in of.items() if group[n] == one} for one in sorted({*group})]
    assert sorted(map(sorted, sets)) == [
        ["ax", "ay", "dx", "dy"], ["bz"], ["cz"], ["ew", "ey", "fw", "fy"]
    ]  # fmt: skip
    assert [sign[of["ax"]] * sign[of[one]] for one in ("ay", "dx", "dy")] == [-1, -1, 1]
    assert [sign[of["ew"]] * sign[of[one]] for one in ("ey", "fw", "fy")] == [-1, -1, 1]
    assert (sign[of["bz"]], sign[of["cz"]]) == (1, 1)


def test_when_time_is_over_single_equations_are_told():
    published = publish(SQUARE, rolled_up(SQUARE, np.full((3, 3), 5)), hide(SQUARE, *NINE))
    found = examine(published, deadline=Deadline.after(-1))
    assert found.quick and not examine(published).quick
    assert found.lower.tolist() == [0] * 9 and found.upper.tolist() == [15] * 9


# ── what is named ────────────────────────────────────────────────────────────────────


def test_witnesses_that_are_none_are_told_by_a_few_cells():
    value = rolled_up(SQUARE, np.full((3, 3), 5))
    published = publish(SQUARE, value, hide(SQUARE, *NINE, ("Total", "1"), ("1", "Total")))
    honest = examine(published)

    def message(found, attacker=Attacker()):
        with pytest.raises(VerificationError) as error:
            recheck(published, found, attacker)
        return str(error.value)

    # too much in one cell breaks two equations, and one is told
    wrong = honest.witnesses[0].numerator.copy()
    wrong[int(np.flatnonzero(honest.cell == 15)[0])] += 1
    forged = Witnesses.gathered([Point(wrong, 1)], honest.witnesses.hidden)
    told_of = message(Examination.of_witnesses(honest.cell, forged))
    assert told_of.count("d0=") == 3 and "breaks an equation between" in told_of
    above = message(honest, Attacker(lower=lambda p: np.where(p.suppressed, 99.0, np.nan)))
    assert above.count("d0=") == 5 and "leaves the bounds of" in above
    far = Examination(**{**vars(honest), "witness_upper": honest.witness_upper + 1})
    assert message(far).count("d0=") == 5 and message(far).startswith("for 11 cells")
    line = (Hierarchy.flat(list("abcdefg")),)
    published = publish(line, rolled_up(line, np.full(7, 5)), np.arange(8) > 0)
    honest = examine(published)
    forged = Witnesses.gathered([Point(np.full(7, 6), 1)], np.ones(7, dtype=bool))
    assert message(Examination.of_witnesses(honest.cell, forged)).count("d0=") == 5
