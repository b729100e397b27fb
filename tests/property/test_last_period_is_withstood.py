"""Protection holds against somebody who knows last period's values, found over leaves alone."""

from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import diskret as dk
from diskret.errors import InputError, ProtectionError

TREES = {
    "flat": [("T", None), ("a", "T"), ("b", "T"), ("c", "T")],
    "deep": [("T", None), ("A", "T"), ("b", "T"), ("a1", "A"), ("a2", "A")],
}


def tree(name):
    rows = TREES[name]
    return dk.Hierarchy.from_parents({"code": [r[0] for r in rows], "parent": [r[1] for r in rows]})


def member(hierarchy):
    inside = np.zeros((len(hierarchy), len(hierarchy.leaves)))
    for j, code in enumerate(hierarchy.leaves):
        while code >= 0:
            inside[code, j] = 1
            code = hierarchy.parent[code]
    return inside


@st.composite
def periods(draw):
    """A table of sums, and what was published of its cells last period; None: nothing."""
    by = {f"d{i}": tree(draw(st.sampled_from(sorted(TREES)))) for i in range(2)}
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in by.values())))
    sizes = st.sampled_from([0, 20, 50, 50, 130, 400])
    values = draw(st.lists(sizes, min_size=len(leaves), max_size=len(leaves)))
    columns = dict(zip(by, map(list, zip(*leaves, strict=True)), strict=True))
    table = dk.Table.from_cells(pa.table({**columns, "v": values}), by=by, value="v")
    change = st.sampled_from([None, None, -30, -10, 0, 10, 30])
    changes = draw(st.lists(change, min_size=table.measure.sum.size,
                            max_size=table.measure.sum.size))  # fmt: skip
    before = [
        None if c is None else int(v) * (100 + c) // 100
        for v, c in zip(table.measure.sum.ravel(), changes, strict=True)
    ]
    return by, table, before


def known_by_hand(value, before, percent):
    """Bounds of one cell from last period's value, without those that are wrong."""
    if not before:
        return 0, np.inf
    low = before * (1 - Fraction(percent, 100))
    high = before * (1 + Fraction(percent, 100))
    return (max(ceil(low), 0) if low <= value else 0, floor(high) if high >= value else np.inf)


class Attacker:
    """Bounds of any cell, by optimising over the leaves."""

    def __init__(self, table, suppressed, known):
        rows = np.kron(*(member(d.hierarchy) for d in table.dimensions))
        shown = ~suppressed
        value = table.measure.sum.ravel().astype(float)
        low, high = (np.array(ends, dtype=float) for ends in zip(*known, strict=True))
        limited = suppressed & np.isfinite(high)
        self.rows = rows
        self.programme = {
            "A_eq": rows[shown],
            "b_eq": value[shown],
            "A_ub": np.vstack([rows[limited], -rows[suppressed]]),
            "b_ub": np.append(high[limited], -low[suppressed]),
            "bounds": (0, None),
        }

    def interval(self, cell):
        ends = []
        for sign in (1, -1):
            found = linprog(sign * self.rows[cell], **self.programme)
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
        return ends


def violated(table, suppressed, known, unsafe, level):
    """The cells that this attacker narrows down too far."""
    attacker, value = Attacker(table, suppressed, known), table.measure.sum.ravel()
    wrong = []
    for cell in np.flatnonzero(suppressed):
        low, high = attacker.interval(cell)
        need = level[cell] if unsafe[cell] else 0
        down = min(need, value[cell])
        if low > value[cell] - down + 1e-6 or high < value[cell] + need - 1e-6:
            wrong.append(cell)
        elif high - low < 1 - 1e-6:
            wrong.append(cell)
    return wrong


@given(periods(), st.sampled_from([15, 40, 120]), st.data())
def test_last_periods_values_do_not_help(case, percent, data):
    by, table, before = case
    value = table.measure.sum.ravel()
    unsafe = np.zeros(value.size, dtype=bool)
    real = np.flatnonzero(value)
    if not len(real):
        return
    unsafe[data.draw(st.lists(st.sampled_from(real.tolist()), min_size=1, max_size=3))] = True
    level = np.maximum(np.ceil(value / 10).astype(np.int64), 1)
    levels = np.where(unsafe, level, 0).reshape(table.shape)
    rule = dk.Sensitivity(
        unsafe.reshape(table.shape), np.minimum(levels, table.measure.sum), levels,
        (levels > 0).astype(np.int64), np.where(levels > 0, 0, -1).astype(np.int8), ("given",),
    )  # fmt: skip
    frame = table.cells.select(list(by)).append_column("then", pa.array(before, pa.int64()))
    frame = frame.append_column("remark", pa.array(["x"] * value.size))
    attacker = dk.Attacker.around(frame, percent, value="then", mistaken="drop")
    known = [known_by_hand(int(v), b, percent) for v, b in zip(value, before, strict=True)]
    try:
        result = dk.suppress(table, rule, attacker=attacker)
    except ProtectionError:
        # then not even hiding every cell that may be hidden helps
        everything = (value > 0) | unsafe
        assert set(np.flatnonzero(unsafe)) & set(violated(table, everything, known, unsafe, level))
        return
    suppressed = result.published.suppressed.ravel()
    assert suppressed[unsafe].all()
    assert not violated(table, suppressed, known, unsafe, level)


@given(periods(), st.sampled_from([15, 40]))
def test_bounds_that_are_wrong_are_told_one_by_one(case, percent):
    by, table, before = case
    frame = table.cells.select(list(by)).append_column("then", pa.array(before, pa.int64()))
    attacker = dk.Attacker.around(frame, percent, value="then")
    share = Fraction(percent, 100)
    wrong = sum(
        bool(b) and not b * (1 - share) <= int(v) <= b * (1 + share)
        for v, b in zip(table.measure.sum.ravel(), before, strict=True)
    )
    nothing = np.zeros(table.shape, dtype=np.int64)
    unsafe = nothing.astype(bool)
    reason = np.full(table.shape, -1, dtype=np.int8)
    rule = dk.Sensitivity(unsafe, nothing, nothing, nothing, reason, ())
    try:
        dk.suppress(table, rule, attacker=attacker)
    except InputError as error:
        many = "cell" if wrong == 1 else "cells"
        assert f"exclude the true value of {wrong:,} {many} of" in str(error)
        return
    assert wrong == 0
