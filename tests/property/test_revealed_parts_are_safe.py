"""Groupings that overlap: no part of a category that subtraction reveals is unsafe."""

from importlib import import_module
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import ProofError, ProtectionError

X, Y = "abcde", "pq"
GROUPS = ["ab|cde", "abc|de", "bc|d", "bcd", "ac|bde", "a|b|c|d|e", "abcd", "cd|ab"]


@st.composite
def small_counts(draw):
    sizes = st.sampled_from([0, 1, 1, 2, 3, 5, 9])
    return np.array(draw(st.lists(sizes, min_size=10, max_size=10))).reshape(len(X), len(Y))


@st.composite
def described_table(draw):
    """How categories are combined, and whether the table is broken down by y, too."""
    return draw(st.sampled_from(GROUPS)), draw(st.booleans())


def made(count, groups, by_y):
    """A table, and what each of its cells holds: letters of x and of y."""
    x, y = np.indices(count.shape).reshape(2, -1)
    frame = pa.table({"x": [X[i] for i in x], "y": [Y[i] for i in y], "n": count.ravel()})
    names = ["x", "y"] if by_y else ["x"]
    frame = frame.group_by(names).aggregate([("n", "sum")])
    trees = {name: dk.Hierarchy.flat([*{"x": X, "y": Y}[name]]) for name in names}
    table = dk.Table.from_cells(frame, by=trees, count="n_sum")
    combined = {own: [*own] for own in groups.split("|") if len(own) > 1}
    return table.recode("x", combined) if combined else table


def cells_of(table):
    """The records of each cell: (letters of x, letters of y)."""
    axes = [
        [frozenset(tree.leaves_below(i)) for i in range(len(tree))]
        for tree in (d.hierarchy for d in table.dimensions)
    ]
    return [at if len(at) == 2 else (*at, frozenset(Y)) for at in product(*axes)]


def leaks(tables, results, count):
    """Differences of published cells that hold one or two, and are no cells of one table."""
    inside = [cells_of(table) for table in tables]
    shown = [
        [cell for cell, gone in zip(own, r.published.suppressed.ravel(), strict=True) if not gone]
        for own, r in zip(inside, results, strict=True)
    ]
    found = []
    for one, other in product(range(len(tables)), repeat=2):
        for (x, y), (less, same) in product(shown[one], shown[other]):
            rest = x - less
            if one == other or y != same or not less < x or len(x) == len(X):
                continue
            of_one_table = any(
                rest == frozenset().union(*(c for c, z in own if z == y and c <= rest))
                for own in (inside[one], inside[other])
            )
            rows = [X.index(letter) for letter in rest]
            columns = [Y.index(letter) for letter in y]
            if not of_one_table and 0 < count[np.ix_(rows, columns)].sum() < 3:
                found.append((rest, y))
    return found


def protected(count, described):
    tables = [made(count, *one) for one in described]
    try:
        results = dk.suppress(
            tables, dk.rules.MinimumFrequency(3), name=[f"t{i}" for i in range(len(tables))]
        )
    except (ProtectionError, ProofError):
        return tables, None
    return tables, results


@examples(100)
@given(small_counts(), st.lists(described_table(), min_size=2, max_size=3))
def test_no_difference_of_published_cells_is_unsafe(count, described):
    tables, results = protected(count, described)
    assert results is None or not leaks(tables, results, count)


def told(rows, part):
    """Whether a sum of records is a sum of published cells, with any factors."""
    return np.linalg.matrix_rank(np.vstack([rows, part])) == np.linalg.matrix_rank(rows)


@examples(50)
@given(small_counts(), described_table(), described_table(), described_table())
def test_no_common_part_of_categories_is_unsafe(count, first, second, third):
    """Linear algebra on the finest combinations, which shares nothing with the attack."""
    tables, results = protected(count, [first, second, third])
    if results is None:
        return
    inside = [cells_of(table) for table in tables]

    def row(cell):
        return np.array([x in cell[0] and y in cell[1] for x, y in product(X, Y)], dtype=float)

    rows = np.array(
        [
            row(cell)
            for own, result in zip(inside, results, strict=True)
            for cell, gone in zip(own, result.published.suppressed.ravel(), strict=True)
            if not gone
        ]
    )
    leaf = [[c for c, _ in dict.fromkeys(own) if len(c) < len(X)] for own in inside]
    everything = {cell for own in inside for cell in own}
    atoms = {
        frozenset.intersection(*(next(c for c in own if letter in c) for own in leaf))
        for letter in X
    }
    for atom, y in product(atoms, [frozenset(Y), *map(frozenset, Y)]):
        held = int(count.ravel() @ row((atom, y)))
        if (atom, y) in everything or not 0 < held < 3:
            continue
        if any(len(y) == len(Y) or len(t.shape) == 2 for t in tables):
            assert not told(rows, row((atom, y)))


def test_without_the_loop_parts_leak(monkeypatch):
    """What would be published then is unsafe, and suppress refuses to certify it."""
    uncleared = import_module("diskret.protect.attack_pattern")
    monkeypatch.setattr(uncleared, "cleared", lambda problem, pattern, *_: (problem, pattern, None))
    prove = import_module("diskret.protect.prove")
    told = import_module("diskret.protect.revealed_sums")
    monkeypatch.setattr(told, "_asking", lambda problem, *_: (problem, None, False, ""))
    count = np.array([[20, 10], [1, 1], [30, 30], [5, 5], [5, 5]])
    tables = [made(count, "ab", False), made(count, "bcd", False)]
    with pytest.raises(ProofError, match=r"1 unsafe part .* x=b \(t0: x=ab without t1: x=a\)"):
        dk.suppress(tables, dk.rules.MinimumFrequency(3), name=["t0", "t1"])
    monkeypatch.setattr(prove, "_judged", lambda *_: (None, None, None))
    results = dk.suppress(tables, dk.rules.MinimumFrequency(3), name=["t0", "t1"])
    assert (frozenset("b"), frozenset(Y)) in leaks(tables, results, count)
