"""The attack on a table of which one more cell is published, against programmes of its records."""

import importlib
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from attack_tables import hide as hide_cells
from attack_tables import publish, rolled_up
from kinds_of_records import DEEP, FLAT, KINDS, Shown, publication
from profiles import scaled
from scipy.optimize import linprog

from diskret.attack import Attacker, Targets, examine
from diskret.attack.equations import equations
from diskret.attack.exact import LIMIT, Point
from diskret.attack.explain import setting_of
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.reduction import reduce
from diskret.attack.republished import Alternatives, Republished, connected_parts, within
from diskret.errors import ProofError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published, together
from diskret.tables.requirements import NO_LEVELS

republished = importlib.import_module("diskret.attack.republished")


class Line:
    """A table of one variable; each kind of records is one of the finest codes."""

    def __init__(self, counts):
        self.tree = Hierarchy(("T", "A", *"abc", "B", *"de"), np.array([-1, 0, 1, 1, 1, 0, 5, 5]))
        of = {code: k for k, code in enumerate("abcde")}
        below = [self.tree.leaves_below(i) for i in range(len(self.tree))]
        self.members = [frozenset(map(of.get, codes)) for codes in below]
        self.value = np.array([sum(counts[k] for k in one) for one in self.members])
        self.hidden = np.zeros(len(self.members), dtype=bool)

    def published(self, name, frequency, nonnegative):
        value, dimension = np.where(self.hidden, 0, self.value), Dimension("x", self.tree)
        return Published(
            name, (dimension,), "n", frequency, 0, value, self.hidden, self.hidden & False,
            nonnegative=nonnegative,
        )  # fmt: skip


def a_table(seed):
    """Some hidden cells of counts, or of values that may be negative."""
    draw = np.random.default_rng(seed)
    if seed < 4:  # once A or B is published, the others fall apart
        counts = draw.integers(0, 9, 5)
        table = Line(counts)
        table.hidden = np.arange(8) >= 1 + (seed == 3)
        return counts, table, seed % 2 == 0
    counts = draw.integers(0, 9, len(KINDS))
    table = Shown(["region", "age"], {}, counts, [DEEP, FLAT["age"]][seed % 2])
    table.hidden = draw.random(len(table.members)) < 0.6
    return counts, table, bool(draw.random() < 0.6)


def left_open(table, counts, known, cell, nonnegative):
    """The least and the most that a cell can be beside the others that are `known`."""
    member = np.array([[k in one for k in range(len(counts))] for one in table.members], float)
    ends = []
    for sign in (1, -1):
        bounds = (0 if nonnegative else None, None)
        of = linprog(
            sign * member[cell], A_eq=member[known], b_eq=member[known] @ counts, bounds=bounds
        )
        ends.append(-sign * np.inf if of.status == 3 else sign * of.fun)
    return ends


@cache
def attacks(seed):
    """Each secondary of a table, with the setting, what is asked, and what is left open."""
    counts, table, nonnegative = a_table(seed)
    public = publication([table], frequency=False, nonnegative=nonnegative)
    found = examine(public)
    alone = found.cell[found.lower == found.upper]
    setting = setting_of(public, found, NO_LEVELS, table.value, Attacker(), alone)
    found_of: list[tuple[Any, ...]] = []
    for part in connected_parts(setting.reduced):
        for secondary in part.cell.tolist():
            asked = part.cell != secondary
            known = ~table.hidden
            known[found.cell[secondary]] = True
            open_ = [
                left_open(table, counts, known, int(cell), nonnegative)
                for cell in setting.cell[part.cell[asked]]
            ]
            ends = np.array(open_).reshape(-1, 2).T
            found_of.append((setting, part, secondary, asked, ends))
    return found_of


def attacked(setting, part, secondary, asked):
    known = Alternatives(setting.truth[part.cell], whole=False)
    attack = Republished(setting, part, known, secondary)
    # the original values are a table, from which cells outside a component do not move
    moves, z = attack.y >= 0, attack.reduced.offset.copy()
    z[moves] += attack.turn[moves] * attack.truth[attack.y[moves]]
    assert np.array_equal(attack.sign * z[attack.z] + attack.offset, setting.truth[part.cell])
    still = int(np.searchsorted(part.cell, secondary))
    return attack.unknowns(asked), *attack.intervals(asked, known.reach(still))


@pytest.mark.parametrize("lost", [False, True])
def test_all_that_is_left_open_is_found_and_no_more(lost, monkeypatch):
    """Also where the solver loses its way, and starts again from the original values."""
    if lost:
        programme = republished.LinearProgramme

        def only_from_original_values(*parts, **more):
            if parts[4] is None:
                raise ProofError("lost")
            return programme(*parts, **more)

        monkeypatch.setattr(republished, "LinearProgramme", only_from_original_values)
    compared = endless = 0
    for seed in range(scaled(8)):
        for setting, part, secondary, asked, (low, high) in attacks(seed):
            cells = len(setting.cell)
            far = Targets(np.full(cells, -(10**9)), np.full(cells, 10**9), np.zeros(cells, int))
            unknowns, lower, upper, reach = attacked(
                replace(setting, targets=far), part, secondary, asked
            )
            assert lower[asked] == pytest.approx(low, abs=1e-6), seed
            assert upper[asked] == pytest.approx(high, abs=1e-6), seed
            shown = reach[0][asked], reach[1][asked]
            # beyond all numbers of records, of which there are fewer than 100
            assert (shown[0] <= np.where(np.isinf(low), -100, low) + 1e-6).all()
            assert (shown[1] >= np.where(np.isinf(high), 100, high) - 1e-6).all()
            assert ((shown[0] >= low - 1e-6) & (shown[1] <= high + 1e-6)).all()
            moving = int((high > low + 1e-6).sum())
            assert min(moving, 1) <= unknowns <= moving
            compared, endless = compared + asked.sum(), endless + np.isinf(high).sum()
    assert compared > 50 and endless


def test_what_is_wanted_is_reached_if_it_can_be():
    answers, draw = set(), np.random.default_rng(0)
    for seed in range(scaled(8)):
        for setting, part, secondary, asked, (low, high) in attacks(seed):
            cells = len(setting.cell)
            down, up, width = draw.integers(0, 6, (3, cells))
            wanted = Targets(setting.truth - down, setting.truth + up, width)
            of_these = replace(setting, targets=wanted)
            *_, reach = attacked(of_these, part, secondary, asked)
            ends = (np.rint(np.clip(end, -1e6, 1e6)) for end in (low, high))
            expected = wanted.at(part.cell[asked]).reached(*ends)
            assert of_these.met(part.cell, reach)[asked].tolist() == expected.tolist(), seed
            answers |= {*expected.tolist()}
    assert answers == {True, False}


def test_connected_parts_share_no_equation_and_small_ones_come_first():
    """Blocks of nine and of six hidden cells, four around a hidden total, one that is known."""
    trees = (Hierarchy.flat(list("abcdefg")), Hierarchy.flat(list("xyzuvws")))
    cells = [
        (r, c) for rows, columns in (("abc", "xyz"), ("de", "uvw")) for r in rows for c in columns
    ]
    hidden = hide_cells(
        trees, *cells, ("f", "x"), ("g", "s"), ("g", "Total"), ("Total", "s"), ("Total", "Total")
    )
    value = rolled_up(trees, np.arange(49).reshape(7, 7))
    known = equations(publish(trees, value, hidden))
    lower, upper = unknown_bounds(together(publish(trees, value, hidden)), known, Attacker(), None)
    reduced = reduce(known.matrix, known.right, lower, upper)
    parts = [*connected_parts(reduced)]
    assert [len(part.cell) for part in parts] == [4, 6, 9]
    for part in parts:
        follows = reduced.link[part.cell]
        assert {*follows.indices.tolist()} == {*part.unknown.tolist()}
        assert (np.diff(follows.indptr) == 1).all()
        others = np.setdiff1d(np.arange(reduced.link.shape[1]), part.unknown)
        assert not reduced.matrix[part.row][:, others].nnz
    assert sorted(np.concatenate([part.row for part in parts])) == [*range(len(reduced.right))]


# ── tables that are known ────────────────────────────────────────────────────────────


def test_tables_beyond_those_that_are_kept_count_once(monkeypatch):
    for limits in ({"_TABLES": 2, "_KEPT": 100}, {"_TABLES": 100, "_KEPT": 5}):
        for name, limit in limits.items():
            monkeypatch.setattr(republished, name, limit)
        known = Alternatives(np.array([5, 8]), whole=False)  # the first of them
        told = [known.add(Point(np.array(one), 1)) for one in ([5, 900], [5, 2])]
        assert [[end.tolist() for end in one] for one in told] == [
            [[5, 8], [5, 900]],
            [[5, 2], [5, 8]],
        ]
        assert [end.tolist() for end in known.reach(0)] == [[5, 8], [5, 900]]


def test_numbers_beyond_64_bits_are_not_computed_with():
    assert within(np.array([0, LIMIT // 2])) and within(np.array([], dtype=object))
    assert not within(np.array([0, LIMIT])) and not within(np.array([2**70, 0], dtype=object))
