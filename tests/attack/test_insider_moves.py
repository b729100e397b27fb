"""Which tables contributors can rule out, and how far: from what each of them has in every cell."""

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack import insider_moves
from diskret.attack.exact import UNKNOWN, Point
from diskret.attack.insider_moves import Shown
from diskret.attack.insiders import Insiders

PEOPLE = 4
NOBODY_KNOWS = np.iinfo(np.int64).max


class Case:
    """Contributors to five cells, some with 0, others not listed; and tables, possible or not.

    The first three cells are connected, and the last two. With `latent` the last one is a cell that
    nobody published.
    """

    def __init__(self, seed, coalition, whole=False, latent=False):
        draw = np.random.default_rng(seed)
        self.there = draw.random((PEOPLE, 5)) < 0.5
        self.own = draw.integers(0, 6, (PEOPLE, 5)) * self.there
        # more than these may contribute, and how many do may not be known
        more = draw.integers(0, 4, 5) * (draw.random(5) < 0.6)
        self.latent = np.arange(5) == (4 if latent else -1)
        self.truth = np.where(self.latent, 0, self.own.sum(axis=0) + more)
        self.number = self.there.sum(axis=0) + more
        self.number[draw.random(5) < 0.2] = -1
        self.number[self.latent] = NOBODY_KNOWS
        self.bounded = draw.random(5) < 0.8
        self.coalition, self.whole = coalition, whole
        self.target = np.array(
            [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [-1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
        )
        self.most = draw.integers(1, 9, 4), draw.integers(1, 9, 4)
        matrix = sparse.csr_array(np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]))
        row, column = np.nonzero(self.there)
        own = sparse.csr_array((self.own[row, column], (row, column)), shape=(PEOPLE, 5))
        target = sparse.csr_array(self.target)
        insiders = Insiders(own, self.number, coalition, target, self.most, None, self.bounded)
        known = SimpleNamespace(matrix=matrix, latent=self.latent)
        self.shown = Shown(known, self.truth, insiders, whole)
        for _ in range(6):
            unit = 1 if whole else int(draw.integers(1, 4))
            step = draw.integers(-9, 10, 5) * (draw.random(5) < 0.6)
            step[self.latent] = draw.integers(0, 12)
            self.shown.add(Point(self.truth * unit + step, unit), draw.random() < 0.7)
        self.moves = [
            [Fraction(x).limit_denominator(6) for x in self.shown._moved[i]]
            for i in range(self.shown._size)
        ]

    def reach(self, place, t, side):
        return side * sum(
            int(s) * d for s, d in zip(self.target[t], self.moves[place], strict=True)
        )

    def knows(self, who):
        """What some have in each cell, and where they are alone."""
        mine, there = self.own[list(who)].sum(axis=0), self.there[list(who)].sum(axis=0)
        alone = np.where(self.number < 0, mine == self.truth, there == self.number)
        return mine, (there > 0) & alone & ~self.latent

    def share(self, who, place):
        """How much of a move these cannot rule out."""
        mine, alone = self.knows(who)
        left = Fraction(1)
        there: Any = self.there[list(who)].any(axis=0)
        for c, moved in enumerate(self.moves[place]):
            if there[c] and alone[c] and moved:
                return 0
            slack = int(self.truth[c]) - int(mine[c])
            if there[c] and self.bounded[c] and moved < -slack:
                left = 0 if self.latent[c] or self.whole else min(left, slack / -moved)
        return left

    def inside(self, t):
        """Who is in a target, or may be in what is left of a published cell."""
        cells = self.target[t] != 0
        if (self.target[t] < 0).any():
            cells = cells | self.latent
        return {who for who in range(PEOPLE) if self.there[who, cells].any()}

    def claims(self):
        return [(t, side) for t in range(4) for side in (1, -1)]


def cases(number):
    for seed in range(scaled(number)):
        for coalition in (1, 2, 3):
            yield Case(seed, coalition, whole=seed % 3 == 0, latent=seed % 4 == 3)


def groups(most):
    return [who for size in range(most + 1) for who in combinations(range(PEOPLE), size)]


def test_how_much_of_a_move_is_left_for_whom():
    some = 0
    for case in cases(100):
        for who in groups(case.coalition):
            found = case.shown.share(who, 1, case.shown._size)
            expected = [case.share(who, place) for place in range(1, case.shown._size)]
            for one, wanted in zip(found.tolist(), expected, strict=True):
                assert wanted - Fraction(1, 10**9) <= one <= wanted
                some += 0 < one < 1
    assert some


def test_bounds_are_what_they_have_and_all_of_it_where_they_are_alone():
    for case in cases(100):
        bounds = np.array([0, 1, 0, -5, 0]), case.truth + np.array([9, 0, 9, 9, UNKNOWN // 2])
        for who in groups(case.coalition):
            low, high = case.shown.bounds_of(who, bounds)
            mine, alone = case.knows(who)
            there = case.there[list(who)].any(axis=0)
            least = np.where(there & case.bounded, np.maximum(mine, bounds[0]), bounds[0])
            both = np.maximum(bounds[0], case.truth), np.minimum(bounds[1], case.truth)
            assert low.tolist() == np.where(alone, both[0], least).tolist()
            assert high.tolist() == np.where(alone, both[1], bounds[1]).tolist()
        assert bounds[0].tolist() == [0, 1, 0, -5, 0]


@pytest.mark.parametrize("recent", [False, True])
def test_a_claim_is_proven_by_a_table_that_goes_far_enough(monkeypatch, recent):
    monkeypatch.setattr(insider_moves, "_RECENT", 3)
    some = 0
    for case in cases(100):
        claims, size = case.claims(), case.shown._size
        first = max(0, size - 3) if recent else 0
        for who in groups(case.coalition):
            need = 1 + (case.most[0][0] + len(who)) % 3
            wanted = np.full(len(claims), need)
            found = case.shown.proving(who, claims, wanted, recent)
            for (t, side), place in zip(claims, found.tolist(), strict=True):
                far = [case.reach(i, t, side) * case.share(who, i) for i in range(size)]
                clear = [i for i in range(first, size) if far[i] >= need + Fraction(1, 10**6)]
                if place < 0:
                    assert not clear
                    continue
                assert place >= first and far[place] >= need
                # as far as anybody can ask for if there is such a one, and the shortest then
                most = case.most[int(side > 0)][t]
                full = [i for i in clear if far[i] >= most + Fraction(1, 10**6)]
                assert far[place] >= most or not full
                length = [sum(d != 0 for d in case.moves[i]) for i in range(size)]
                if full or far[place] < most:
                    assert length[place] <= min(length[i] for i in full or clear or [place])
                some += len(who) > 0
    assert some


def test_who_is_not_said_to_contradict_a_table_does_not():
    """For groups of whom nobody is named the same table shows as much; or all, who is in it."""
    named = spared = 0
    for case in cases(100):
        for who in groups(case.coalition - 1):
            for t, side in case.claims():
                for place in range(-1, case.shown._size):
                    most = int(case.most[int(side > 0)][t])
                    has = 0 if place < 0 else case.reach(place, t, side) * case.share(who, place)
                    if place >= 0 and has <= 0:
                        continue
                    found = case.shown.contradicting(who, (t, side), place)
                    assert not {*who} & {*found}
                    near = case.inside(t)
                    others = [one for one in range(PEOPLE) if one not in who and one not in found]
                    if place < 0:
                        assert {*found} == near - {*who}
                        continue
                    named, spared = named + len(found), spared + len(others)
                    room = case.coalition - len(who)
                    for size in range(1, room + 1):
                        for more in combinations(others, size):
                            far = case.reach(place, t, side) * case.share((*who, *more), place)
                            assert far >= min(has, most) - Fraction(1, 10**6)
                            if near & {*more}:
                                assert far >= most - Fraction(1, 10**6)
                    for one in found:  # somebody is named for a reason
                        moving = np.array([d != 0 for d in case.moves[place]]) | case.latent
                        assert case.there[one, moving].any() or one in near
                        if one in near and (has < most or case.share(who, place) < 1):
                            continue
                        told = (case.number >= 0) & ~case.latent | ~case.there[one] | ~moving
                        if room == 1 and told.all():
                            full = most / case.reach(place, t, side)
                            needed = 1 if case.whole else min(1, full)
                            left = case.share((*who, one), place)
                            assert left < needed + Fraction(1, 10**6)
    assert named > spared / 4 and spared > named / 4


def test_as_many_tables_as_there_are_are_kept_each_once():
    case = Case(1, 1)
    before = case.shown._size
    for i in range(150):
        for _ in range(2):
            case.shown.add(Point(case.truth + np.array([i + 20, 0, 0, 0, 0]), 1))
    assert case.shown._size == before + 150
    assert case.shown.proving((), [(0, 1)], np.array([169])).tolist() == [before + 149]
    assert case.shown._reach[before + 149].tolist() == [169, 169, -169, 0]
    assert case.shown.many((0, 1), before, 0) == (
        len(case.shown.contradicting((), (0, 1), before)) > 0
    )


def test_parts_that_nothing_connects_become_tables_of_their_own():
    case = Case(2, 1)
    size, step = case.shown._size, np.array([40, 0, -40, 50, -50])
    case.shown.add(Point(case.truth + step, 1))
    assert [row.tolist() for row in case.shown._moved[size : size + 2]] == [
        [40, 0, -40, 0, 0], [0, 0, 0, 50, -50]
    ]  # fmt: skip
    assert case.shown._cells[size : size + 2].tolist() == [2, 2]
    case.shown.add(Point(case.truth + step, 1), apart=False)
    assert case.shown._moved[size + 2].tolist() == step.tolist()
    case.shown.add(Point(case.truth, 1))
    assert case.shown._size == size + 3


def test_numbers_that_floats_round_are_never_told_larger_than_they_are():
    truth = np.array([2**60, 2**60, 0, 0, 0])
    own = np.zeros((1, 5), dtype=np.int64)
    own[0, 0] = 2**60 - 2**53
    insiders = Insiders(
        sparse.csr_array(own), np.full(5, 9), 1, sparse.csr_array(np.eye(5, dtype=np.int64)),
        (np.full(5, 2**53), np.full(5, 2**53)), None, np.ones(5, dtype=bool),
    )  # fmt: skip
    known = SimpleNamespace(
        matrix=sparse.csr_array(np.ones((1, 5), dtype=np.int64)), latent=np.zeros(5, dtype=bool)
    )
    shown = Shown(known, truth, insiders, True)
    # one more than the contributor leaves, which floats do not tell from all that is left
    shown.add(Point(truth + np.array([-(2**53) - 1, 2**53 + 1, 0, 0, 0]), 1))
    assert shown.share((0,), 0, 1).tolist() == [0]
    assert shown.proving((), [(1, 1)], np.array([2**53 - 2**15])).tolist() == [0]
    assert shown.proving((), [(1, 1)], np.array([2**53])).tolist() == [-1]
