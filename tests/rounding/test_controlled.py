"""Controlled rounding: additive, within its steps, the nearest there is, fewest steps."""

import sys
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from rounded_tables import KEYS, additive, count_tables, counted
from rounding_oracle import least_distance

import diskret as dk
from diskret.errors import ProtectionError
from diskret.rounding import controlled, multiples
from diskret.rounding.multiples import Found
from diskret.system import System


@given(count_tables(), st.sampled_from([2, 3, 5, 10]))
@examples(25)
def test_it_is_the_nearest_additive_rounding_with_the_fewest_steps(table, base):
    found = controlled(System.of_table(table), base)
    value = found.value.reshape(table.shape)
    off = np.abs(value - table.count)
    assert additive(table, value)
    assert not np.any(value % base)
    assert not np.any(value[table.count == 0])
    assert np.all(off < (found.steps + 1) * base)
    assert np.all(off[table.count % base == 0] <= found.steps * base)
    assert found.distance == off.sum() == least_distance(table, base, found.steps)
    if found.steps:
        assert least_distance(table, base, found.steps - 1) is None


@given(count_tables(most=2), st.sampled_from([3, 5]), st.integers(1, 2))
@examples(20)
def test_steps_that_are_asked_for_are_used(table, base, steps):
    found = controlled(System.of_table(table), base, steps=steps)
    assert additive(table, found.value.reshape(table.shape))
    assert found.steps == steps
    assert found.distance == least_distance(table, base, steps)


def test_three_variables_may_need_a_step():
    table = needs_a_step()
    assert least_distance(table, 2, 0) is None
    with pytest.raises(ProtectionError, match="does not exist; allow more steps"):
        controlled(System.of_table(table), 2, steps=0)
    found = controlled(System.of_table(table), 2)
    assert (found.steps, found.fewest) == (1, True)
    assert found.distance == least_distance(table, 2, 1)


def needs_a_step():
    """The first of some random tables that has no zero-restricted rounding."""
    by = {f"d{i}": dk.Hierarchy.flat(list("abc")) for i in range(3)}
    leaves = list(product("abc", repeat=3))
    for seed in range(500):
        counts = np.random.default_rng(seed).integers(0, 2, len(leaves))
        table = counted(by, leaves, counts.tolist())
        if least_distance(table, 2, 0) is None:
            return table
    raise AssertionError("no such table")


@pytest.mark.long
def test_large_tables_are_improved_in_neighbourhoods(monkeypatch):
    monkeypatch.setattr(sys.modules[controlled.__module__], "_SMALL", 0)
    trees = [dk.Hierarchy.flat([f"{i}" for i in range(7)])] * 3
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in trees)))
    counts = np.random.default_rng(3).integers(0, 75, len(leaves)).tolist()
    table = counted({f"d{i}": t for i, t in enumerate(trees)}, leaves, counts)
    system = System.of_table(table)
    first = controlled(system, 25, budget=0)
    found = controlled(system, 25)
    assert additive(table, found.value.reshape(table.shape))
    assert first.distance > found.distance >= found.least
    assert found.gap < 0.1
    assert (first.work, found.steps) == (0, 0)
    again = controlled(system, 25, budget=found.work)
    assert np.array_equal(again.value, found.value)


def test_more_steps_are_not_tried_when_time_is_over(monkeypatch):
    module, asked = sys.modules[controlled.__module__], []
    nothing = Found(None, True, -np.inf)
    monkeypatch.setattr(module, "chosen", lambda room, **_: asked.append(room) or nothing)
    monkeypatch.setattr(module, "_added_up", lambda *_: None)
    with pytest.raises(ProtectionError, match="any number of steps .* was not found in time"):
        controlled(System.of_table(needs_a_step()), 2, time_limit=0)
    assert len(asked) == 1


def test_the_best_so_far_stands_where_a_search_has_no_work_left(monkeypatch):
    counts = np.random.default_rng(1).poisson(3, (4, 4, 4))
    trees = {name: dk.Hierarchy.flat([f"{name}{i}" for i in range(4)]) for name in "abc"}
    codes = list(product(*([t.codes[i] for i in t.leaves] for t in trees.values())))
    table = counted(trees, codes, counts.ravel().tolist())
    system = System.of_table(table)
    calm = controlled(system, 5)
    for limit in ("_TURNS", "_FEWEST_TURNS"):
        monkeypatch.setattr(multiples, limit, 0)
    found = controlled(system, 5)
    assert additive(table, found.value.reshape(table.shape))
    assert found.steps > calm.steps or found.distance > calm.distance
    assert found.steps > calm.steps or found.least <= calm.distance


@given(count_tables(), st.sampled_from([3, 5]))
@examples(25)
def test_what_is_not_found_in_time_is_added_up(table, base):
    """Without any help of the solver there is an additive rounding, and its steps are true."""
    with pytest.MonkeyPatch.context() as patch:
        nothing = Found(None, False, -np.inf)
        patch.setattr(sys.modules[controlled.__module__], "chosen", lambda *_, **__: nothing)
        found = controlled(System.of_table(table), base, time_limit=0)
        with pytest.raises(ProtectionError, match="was not found in time"):
            controlled(System.of_table(table), base, steps=0, time_limit=0)
    value = found.value.reshape(table.shape)
    off = np.abs(value - table.count)
    reach = np.where(table.count % base == 0, 1, base) + found.steps * base
    assert additive(table, value)
    assert not found.fewest
    assert np.all(off < reach)
    assert not np.any(value % base)


def test_negative_values_are_rounded_too():
    cells = pa.table({"r": ["a", "b", "c"], "v": [-7, 4, 1]})
    table = dk.Table.from_cells(cells, by={"r": None}, value="v")
    result = dk.round_table(table, base=5, method="controlled", keys=KEYS)
    assert result.published.value.tolist() == [0, -5, 5, 0]  # for -2, -7, 4, 1
    assert result.settings["distance"] == 2 + 2 + 1 + 1


@given(st.lists(st.integers(0, 9), min_size=8, max_size=8))
@examples(30)
def test_linked_tables_agree_in_their_common_cells(counts):
    """Tables by a × b and a × c, without their common cross table."""
    frame = pa.table(
        {
            "a": [c[0] for c in product("xy", "pq", "uv")],
            "b": [c[1] for c in product("xy", "pq", "uv")],
            "c": [c[2] for c in product("xy", "pq", "uv")],
            "n": counts,
        }
    )
    flat = {
        name: dk.Hierarchy.flat(list(codes))
        for name, codes in zip("abc", ("xy", "pq", "uv"), strict=True)
    }
    cross = dk.Table.from_cells(frame, by=flat, count="n")
    one = margin(cross, "ab", flat)
    other = margin(cross, "ac", flat)
    results = dk.round_table([one, other], base=5, method="controlled", keys=KEYS)
    first, second = (r.published.value for r in results)
    assert np.array_equal(first[:, 0], second[:, 0])
    assert additive(one, first) and additive(other, second)
    assert not np.any(first % 5) and not np.any(second % 5)


def margin(cross, names, trees):
    """A table of some of the variables, from the cells of one of all."""
    rows = [
        r for r in cross.cells.to_pylist() if all(r[n] == "Total" for n in trees if n not in names)
    ]
    frame = pa.table({n: [r[n] for r in rows] for n in [*names, "count"]})
    return dk.Table.from_cells(frame, by={n: trees[n] for n in names}, count="count")
