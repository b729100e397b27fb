"""Contributions below 0: no cell has a lower bound, whatever table or method.

The attacker below is written here: its unknowns are the leaf cells alone, of any sign, save those
that are published as empty; every published cell is the sum of the leaves below it.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import diskret as dk

TREES = {
    "two": [("T", None), ("a", "T"), ("b", "T")],
    "deep": [("T", None), ("A", "T"), ("b", "T"), ("a1", "A"), ("a2", "A")],
    "single": [("T", None), ("A", "T"), ("b", "T"), ("a1", "A"), ("c", "T")],
}
FAR = 1e5  # beyond all values below


def tree(name):
    rows = TREES[name]
    return dk.Hierarchy.from_parents({"code": [r[0] for r in rows], "parent": [r[1] for r in rows]})


@st.composite
def firms(draw, dimensions=3):
    """Firms with contributions of both signs, some of 0, and the trees of their codes."""
    kinds = draw(st.lists(st.sampled_from(sorted(TREES)), min_size=1, max_size=dimensions))
    by = {f"d{i}": tree(kind) for i, kind in enumerate(kinds)}
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in by.values())))
    firm = st.tuples(st.sampled_from(leaves), st.sampled_from([-400, -50, -10, 0, 5, 10, 50, 400]))
    drawn = draw(st.lists(firm, min_size=1, max_size=30))
    columns = {name: [codes[i] for codes, _ in drawn] for i, name in enumerate(by)}
    return by, pa.table({**columns, "v": pa.array([v for _, v in drawn], pa.int64())}), drawn


def member(hierarchy):
    """Which leaves each code holds."""
    inside = np.zeros((len(hierarchy), len(hierarchy.leaves)))
    for j, code in enumerate(hierarchy.leaves):
        while code >= 0:
            inside[code, j] = 1
            code = hierarchy.parent[code]
    return inside


def rows_of(table, names, trees):
    """Each cell of a table as a sum of leaf combinations of all variables of `names`."""
    own = {d.name: member(d.hierarchy) for d in table.dimensions}
    rows = np.ones((1, 1))
    for name in names:
        rows = np.kron(rows, own.get(name, np.ones((1, len(trees[name].leaves)))))
    return rows


class Attacker:
    """Bounds of any cell from all that is published, leaves free in sign."""

    @classmethod
    def of(cls, results, names, trees):
        rows = [rows_of(r.table, names, trees) for r in results]
        return cls([r.published for r in results], rows)

    def __init__(self, published, of_each):
        parts = list(zip(published, of_each, strict=True))
        shown = [(rows[~p.suppressed.ravel()], p.value.ravel()[~p.suppressed.ravel()])
                 for p, rows in parts]  # fmt: skip
        self.rows = np.vstack([rows for rows, _ in shown])
        self.values = np.concatenate([values for _, values in shown]).astype(float)
        empty = np.zeros(self.rows.shape[1], dtype=bool)
        for p, rows in parts:
            empty |= rows[p.empty.ravel()].any(axis=0)
        self.bounds = [(0, 0) if nothing else (-FAR, FAR) for nothing in empty]

    def interval(self, row):
        ends = []
        for sign in (1, -1):
            found = linprog(sign * row, A_eq=self.rows, b_eq=self.values, bounds=self.bounds)
            assert found.status == 0, found.message
            ends.append(sign * found.fun)
        return ends


def needs_by_hand(by, drawn, table, p, n):
    """Level of each unsafe cell under p% and minimum frequency, from the firms themselves."""
    level = {}
    for cell, at in enumerate(np.ndindex(table.shape)):
        inside = [
            v
            for codes, v in drawn
            if all(
                t.codes[i] in [t.codes[a] for a in t.ancestors[t.position[c]]]
                for t, i, c in zip(by.values(), at, codes, strict=True)
            )
        ]
        x = [*sorted(map(abs, inside), reverse=True), 0, 0]
        need = Fraction(p, 100) * x[0] - (sum(x) - x[0] - x[1])
        few = Fraction(sum(x), 10) if 0 < len(inside) < n else Fraction(0)
        if need > 0 or 0 < len(inside) < n:
            level[cell] = max(need, few, Fraction(1))
    return level


@given(firms(), st.sampled_from([5, 20, 90]), st.sampled_from(["sequential", "optimal"]))
def test_sums_with_negative_contributions_are_safe(case, p, method):
    by, frame, drawn = case
    table = dk.tabulate(frame, by=by, value="v")
    level = needs_by_hand(by, drawn, table, p, 3)
    rule = dk.rules.PPercent(p) | dk.rules.MinimumFrequency(3)
    found = rule(table)
    assert np.flatnonzero(found.unsafe).tolist() == sorted(level)
    for cell, need in level.items():
        asked = found.upper.ravel()[cell]
        assert need <= asked < need + 1
        value = int(table.measure.sum.ravel()[cell])
        assert found.lower.ravel()[cell] == (min(asked, value) if table.nonnegative else asked)
    if table.nonnegative:
        return  # the other property tests are about these
    # never impossible: with all cells hidden that have a firm, nothing bounds any of them
    result = dk.suppress(table, rule, method=method)
    published = result.published
    assert not published.nonnegative
    assert np.array_equal(published.empty, (table.count == 0) & ~published.suppressed)
    attacker = Attacker.of([result], list(by), by)
    rows = rows_of(table, list(by), by)
    for cell in np.flatnonzero(published.suppressed):
        low, high = attacker.interval(rows[cell])
        need = float(level.get(int(cell), 0))
        value = table.measure.sum.ravel()[cell]
        assert low <= value - need + 1e-6
        assert high >= value + need - 1e-6
        assert high - low >= 1 - 1e-6


@given(firms(), st.sampled_from([5, 50]))
def test_linked_tables_with_negative_contributions_are_safe(case, p):
    by, frame, drawn = case
    if len(by) < 2 or min(v for _, v in drawn) >= 0:
        return
    names = list(by)
    tables = [
        dk.tabulate(frame, by={n: by[n] for n in part}, value="v")
        for part in (names[:1], names[-1:], names[:2])
    ]
    rule = dk.rules.PPercent(p)
    results = dk.suppress(tables, rule, name=["one", "other", "both"])
    attacker = Attacker.of(results, names, by)
    for table, result in zip(tables, results, strict=True):
        rows = rows_of(table, names, by)
        found = rule(table)
        assert result.published.suppressed[found.unsafe].all()
        for cell in np.flatnonzero(result.published.suppressed):
            low, high = attacker.interval(rows[cell])
            value = table.measure.sum.ravel()[cell]
            assert low <= value - found.lower.ravel()[cell] + 1e-6
            assert high >= value + found.upper.ravel()[cell] - 1e-6
            assert high - low >= 1 - 1e-6


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from("xy"),
            st.sampled_from([-400, -50, -10, 5, 50, 400]),
        ),
        min_size=2,
        max_size=20,
    ),
    st.sampled_from([5, 50]),
)
def test_overlapping_groups_with_negative_contributions_are_safe(drawn, p):
    """a + b beside b + c: their common part b is nowhere published, and may have any sign."""
    columns = dict(zip(("d0", "d1", "v"), map(list, zip(*drawn, strict=True)), strict=True))
    by = {"d0": dk.Hierarchy.flat(list("abc")), "d1": dk.Hierarchy.flat(list("xy"))}
    fine = dk.tabulate(pa.table(columns), by=by, value="v")
    if fine.nonnegative:
        return
    groups = [{"a+b": ["a", "b"]}, {"b+c": ["b", "c"]}]
    tables = [fine.recode("d0", group) for group in groups]
    rule = dk.rules.PPercent(p)
    results = dk.suppress(tables, rule, name=["one", "other"])
    leaf = dict(zip(by["d0"].codes, np.vstack([np.ones(3), np.eye(3)]), strict=True))
    leaf |= {"a+b": leaf["a"] + leaf["b"], "b+c": leaf["b"] + leaf["c"]}
    rows = [
        np.kron([leaf[code] for code in table.dimensions[0].hierarchy.codes], member(by["d1"]))
        for table in tables
    ]
    attacker = Attacker([r.published for r in results], rows)
    for table, result, own in zip(tables, results, rows, strict=True):
        found = rule(table)
        assert result.published.suppressed[found.unsafe].all()
        for cell in np.flatnonzero(result.published.suppressed):
            low, high = attacker.interval(own[cell])
            value = table.measure.sum.ravel()[cell]
            assert low <= value - found.lower.ravel()[cell] + 1e-6
            assert high >= value + found.upper.ravel()[cell] - 1e-6
            assert high - low >= 1 - 1e-6
