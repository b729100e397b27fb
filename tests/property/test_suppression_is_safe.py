"""Random tables: every requirement holds against a third attacker, written here.

The attacker below knows nothing of the package's equations: its unknowns are the leaf
cells alone, and every published cell is the sum of the leaves below it.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.errors import ProtectionError

SHAPES = {
    1: ["flat5", "deep"],
    2: ["flat3", "deep", "single"],
    3: ["flat2", "flat3", "two"],
    4: ["flat2", "flat2", "flat2", "flat2"],
}
TREES = {
    "flat2": [("T", None), ("a", "T"), ("b", "T")],
    "flat3": [("T", None), ("a", "T"), ("b", "T"), ("c", "T")],
    "flat5": [("T", None), *((c, "T") for c in "abcde")],
    "two": [
        ("T", None),
        ("A", "T"),
        ("B", "T"),
        ("a1", "A"),
        ("a2", "A"),
        ("b1", "B"),
        ("b2", "B"),
    ],
    "deep": [("T", None), ("A", "T"), ("b", "T"), ("a1", "A"), ("a2", "A"), ("a3", "A")],
    "single": [("T", None), ("A", "T"), ("b", "T"), ("a1", "A"), ("c", "T")],
}


def tree(name):
    rows = TREES[name]
    return dk.Hierarchy.from_parents({"code": [r[0] for r in rows], "parent": [r[1] for r in rows]})


@st.composite
def dimensions(draw):
    number = draw(st.integers(1, 4))
    kinds = draw(st.permutations(SHAPES[number])) if number < 3 else SHAPES[number]
    return {f"d{i}": tree(kind) for i, kind in enumerate(list(kinds)[:number])}


@st.composite
def counted(draw):
    by = draw(dimensions())
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in by.values())))
    sizes = st.sampled_from([0, 0, 1, 1, 2, 3, 4, 9, 30])
    counts = draw(st.lists(sizes, min_size=len(leaves), max_size=len(leaves)))
    columns = dict(zip(by, map(list, zip(*leaves, strict=True)), strict=True))
    frame = pa.table({**columns, "n": counts})
    return by, dk.Table.from_cells(frame, by=by, count="n")


@st.composite
def summed(draw):
    by = draw(dimensions())
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in by.values())))
    firm = st.tuples(st.sampled_from(leaves), st.sampled_from([0, 1, 5, 10, 10, 50, 400]))
    firms = draw(st.lists(firm, min_size=1, max_size=40))
    columns = {name: [codes[i] for codes, _ in firms] for i, name in enumerate(by)}
    frame = pa.table({**columns, "v": [v for _, v in firms]})
    return by, dk.tabulate(frame, by=by, value="v"), firms


FAR = 1e6  # beyond all values below; stands for "no upper bound"


class Attacker:
    """Bounds of any cell from all published cells, by optimising over the leaves."""

    def __init__(self, table, suppressed, whole):
        member = [self.membership(d.hierarchy) for d in table.dimensions]
        self.rows = member[0]
        for m in member[1:]:
            self.rows = np.kron(self.rows, m)
        shown = ~suppressed.ravel()
        values = table.measure.sum.ravel()[shown].astype(float)
        self.constraint = LinearConstraint(self.rows[shown], values, values)
        self.whole = np.full(self.rows.shape[1], int(whole))

    @staticmethod
    def membership(hierarchy):
        member = np.zeros((len(hierarchy), len(hierarchy.leaves)))
        for j, leaf in enumerate(hierarchy.leaves):
            code = leaf
            while code >= 0:
                member[code, j] = 1
                code = hierarchy.parent[code]
        return member

    def reach(self, cell, sign):
        found = milp(
            sign * self.rows[cell],
            constraints=[self.constraint],
            integrality=self.whole,
            bounds=Bounds(0, FAR),
        )
        assert found.status == 0, found.message
        return sign * found.fun

    def interval(self, cell):
        low, high = self.reach(cell, 1), self.reach(cell, -1)
        return low, high


def check(table, result, level, whole):
    suppressed = result.published.suppressed
    attacker = Attacker(table, suppressed, whole)
    value = table.measure.sum.ravel()
    for cell in np.flatnonzero(suppressed):
        low, high = attacker.interval(cell)
        need = level.get(int(cell), None)
        if need is None:
            assert high - low >= 1 - 1e-6, f"secondary {cell} is exact"
        else:
            down, up = need
            assert low <= value[cell] - down + 1e-6
            assert high >= value[cell] + up - 1e-6
    published = ~suppressed
    assert np.array_equal(result.published.value[published], table.measure.sum[published])


def counted_is_safe(case, n):
    _, table = case
    count = table.count.ravel()
    level = {int(c): (1, 1) for c in np.flatnonzero((count > 0) & (count < n))}
    result = dk.suppress(table, dk.rules.MinimumFrequency(n), cost="count")
    assert all(result.published.suppressed.ravel()[c] for c in level)
    assert not result.published.suppressed[table.count == 0].any()
    check(table, result, level, whole=True)


def summed_is_safe(case, p):
    by, table, firms = case
    level = {}
    for cell, at in enumerate(np.ndindex(table.shape)):
        inside = [
            v
            for codes, v in firms
            if all(
                t.codes[i] in [t.codes[a] for a in t.ancestors[t.position[c]]]
                for t, i, c in zip(by.values(), at, codes, strict=True)
            )
        ]
        x = sorted(inside, reverse=True) + [0, 0]
        need = Fraction(p, 100) * x[0] - (sum(x) - x[0] - x[1])
        if need > 0:
            level[cell] = (min(float(need), sum(x)), float(need))
    result = dk.suppress(table, dk.rules.PPercent(p))
    assert all(result.published.suppressed.ravel()[c] for c in level)
    check(table, result, level, whole=False)


@examples(60)
@given(counted(), st.sampled_from([2, 3, 4]))
def test_counts_are_safe(case, n):
    counted_is_safe(case, n)


@given(summed(), st.sampled_from([5, 20, 90]))
def test_sums_are_safe(case, p):
    summed_is_safe(case, p)


@given(counted(), st.data())
def test_frozen_cells_stay_published_or_the_impossible_is_refused(case, data):
    _, table = case
    count = table.count
    free = np.flatnonzero(count.ravel() > 3)
    frozen = np.zeros(count.size, dtype=bool)
    if len(free):
        frozen[data.draw(st.lists(st.sampled_from(free.tolist()), max_size=6))] = True
    frozen = frozen.reshape(table.shape)
    try:
        result = dk.suppress(table, dk.rules.MinimumFrequency(3), frozen=frozen)
    except ProtectionError as error:
        assert "count[" in str(error)
        return
    assert not result.published.suppressed[frozen].any()


@pytest.mark.slow
@given(counted(), st.sampled_from([2, 3, 4, 8]))
def test_thousands_of_counts_are_safe(case, n):
    counted_is_safe(case, n)


@pytest.mark.slow
@given(summed(), st.sampled_from([1, 5, 20, 90]))
def test_thousands_of_sums_are_safe(case, p):
    summed_is_safe(case, p)
