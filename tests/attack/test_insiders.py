"""Contributors who know what is theirs: what they tell, and that each part of the attack counts."""

import random
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from insiders_oracle import Case, published
from scipy import sparse

import diskret as dk
from diskret.attack.insider_moves import Shown
from diskret.suppression import Pattern
from diskret.workflow import insiders, prove

RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)


def firms(**cells):
    """A table of two variables; each cell a list of firms by their size."""
    rows = [
        (cell[0], cell[1], f"{cell}{i}", size)
        for cell, sizes in cells.items()
        for i, size in enumerate(sizes)
    ]
    frame = pa.table(dict(zip(("n", "r", "firm", "value"), zip(*rows, strict=True), strict=True)))
    return dk.tabulate(frame, by={"n": None, "r": None}, value="value", unit="firm")


def square(lone):
    return firms(Ax=6 * [50], Ay=lone, Bx=[80], By=6 * [60], Cx=9 * [70], Cy=9 * [70])


def corners(problem):
    hidden = np.zeros(len(problem.cost), dtype=bool)
    hidden[[4, 5, 7, 8]] = True  # Total, A, B, C by Total, x, y
    return Pattern(hidden, "corners")


class Told(Exception):
    pass


def told(monkeypatch, table):
    """What insiders can tell if the four corners are hidden: sides of each target's cells."""
    found = []

    def stop(problem, pattern, open_, asked, judge, publication):
        found.extend((asked.cells(one), one.lower, one.upper) for one in open_)
        raise Told

    monkeypatch.setattr(prove, "repaired_against", stop)
    with pytest.raises(Told):
        dk.suppress(table, RULE, method=corners)
    return found


def test_a_firm_that_is_alone_computes_another_one(monkeypatch):
    assert ([7], 8, 8) in told(monkeypatch, square([100]))


def test_a_firm_among_small_ones_knows_a_lower_bound(monkeypatch):
    found = told(monkeypatch, square([97, 1, 1, 1]))
    assert [(lower > 0, upper) for cells, lower, upper in found if cells == [7]] == [(True, 0)]


def test_more_is_hidden_then():
    result = dk.suppress(square([100]), RULE, method=corners)
    assert result.published.suppressed.sum() > 4
    assert result.certificate.repaired
    assert result.certificate.internal()["insiders_who_pool"] == 1


def test_an_outsider_alone_is_asked_for():
    result = dk.suppress(square([100]), RULE, method=corners, attacker=dk.Attacker())
    assert result.published.suppressed.sum() == 4
    assert result.certificate.public()["attacker"] == "outsider"


# ── nothing of it can be left out ────────────────────────────────────────────────────


def broken(seed):
    case = Case(random.Random(f"{seed} 1 1"), 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [case.table(trees) for trees in case.layouts]
        results = dk.suppress(tables, case.rule, attacker=case.attacker, name=["0"])
    return case.broken([(case.layouts[0], published(results[0]))])


def without_lone(monkeypatch):
    own = Shown.own

    def nobody_alone(self, who):
        cells, value, alone = own(self, who)
        return cells, value, alone & False

    monkeypatch.setattr(Shown, "own", nobody_alone)


def without_lower(monkeypatch):
    asked = insiders._asked

    def only_up(*given):
        found = asked(*given)
        lower, upper = found.insiders.most
        return replace(found, insiders=replace(found.insiders, most=(0 * lower, upper)))

    monkeypatch.setattr(insiders, "_asked", only_up)


def without_sums(monkeypatch):
    targets = insiders._targets

    def cells_only(required, unsafe, cells):
        return targets(required, unsafe.only(np.zeros(len(unsafe), dtype=bool)), cells)

    monkeypatch.setattr(insiders, "_targets", cells_only)


def without_company(monkeypatch):
    contradicting = Shown.contradicting

    def alone_somewhere(self, who, claim, place):
        own = sparse.csr_array(self.insiders.own)
        lone = self.insiders.number[own.indices] == 1
        row = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
        return [i for i in contradicting(self, who, claim, place) if i in row[lone]]

    monkeypatch.setattr(Shown, "contradicting", alone_somewhere)


@pytest.mark.parametrize(
    ("sabotage", "seeds"),
    [(without_lone, [0]), (without_lower, [0]), (without_sums, [0]), (without_company, [0])],
    ids=["lone", "lower", "sums", "company"],
)
def test_each_part_of_the_attack_is_needed(monkeypatch, sabotage, seeds):
    assert not any(broken(seed) for seed in seeds)
    sabotage(monkeypatch)
    assert all(broken(seed) for seed in seeds)
