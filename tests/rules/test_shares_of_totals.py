"""Marginal value and group disclosure: definitions by brute force, levels, zeros."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.publish.verify.folder import verify
from diskret.rules import GroupDisclosure, MarginalValue, MinimumFrequency
from diskret.tables import Table

FLAT = dk.Hierarchy.flat(["a", "b", "c"])
# C and its only child c1 are one cell; so are T's child b and nothing else
CHAIN = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "a1", "a2", "b", "C", "c1"], "parent": [None, "T", "A", "A", "T", "T", "C"]}
)
ONE = dk.Hierarchy.flat(["only"])
TREES = [FLAT, CHAIN, ONE]


def table_of(by, counts, **more):
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in by.values())))
    columns = dict(zip(by, map(list, zip(*leaves, strict=True)), strict=True))
    return Table.from_cells(pa.table({**columns, "n": counts, **more}), by=by, count="n")


def line(*counts):
    return table_of({"x": dk.Hierarchy.flat(list("abcdefg")[: len(counts)])}, list(counts))


@st.composite
def tables(draw):
    by = {name: draw(st.sampled_from(TREES)) for name in "xy"[: draw(st.integers(1, 2))]}
    number = int(np.prod([len(t.leaves) for t in by.values()]))
    size = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5, 40])
    return table_of(by, draw(st.lists(size, min_size=number, max_size=number)))


def leaves_below(tree, code):
    return frozenset(int(leaf) for leaf in tree.leaves if code in tree.ancestors[leaf])


def parents(table, cell, variables=None):
    """Totals of a cell that add up more leaves than it does, found without the package."""
    trees = [d.hierarchy for d in table.dimensions]
    chains = [
        t.ancestors[i] if variables is None or d.name in variables else [i]
        for d, t, i in zip(table.dimensions, trees, cell, strict=True)
    ]
    own = [leaves_below(t, i) for t, i in zip(trees, cell, strict=True)]
    for above in product(*chains):
        if [leaves_below(t, i) for t, i in zip(trees, above, strict=True)] != own:
            yield int(table.count[tuple(int(i) for i in above)])


VARIABLES = st.sampled_from([None, ["x"]])


@given(tables(), st.integers(0, 5), VARIABLES, st.booleans())
def test_marginal_value_as_defined(table, distance, variables, strict):
    sensitivity = MarginalValue(distance, variables, strict)(table)
    for cell in np.ndindex(table.shape):
        x = int(table.count[cell])
        near = [m for m in parents(table, cell, variables) if 0 <= m - x <= distance]
        unsafe = x > 0 and bool(near)
        assert sensitivity.unsafe[cell] == unsafe, cell
        lower = 0
        if unsafe:
            # the smallest way down that leaves "within distance" of every such total
            out = min(k for k in range(1, 99) if all(m - (x - k) > distance for m in near))
            lower = min(out, x) if strict else 1
        assert sensitivity.lower[cell] == lower, cell
        assert sensitivity.upper[cell] == 0
        assert (sensitivity.sliding[cell] > 0) == unsafe
    assert sensitivity.zeros_may_hide == bool(sensitivity.unsafe.any())


@given(tables(), st.integers(1, 100), st.integers(1, 6))
def test_group_disclosure_as_defined(table, percent, minimum_parent):
    sensitivity = GroupDisclosure(percent, minimum_parent)(table)
    for cell in np.ndindex(table.shape):
        x = int(table.count[cell])
        groups = [m for m in parents(table, cell) if m >= minimum_parent]
        held = [m for m in groups if Fraction(x, m) >= Fraction(percent, 100)]
        assert sensitivity.unsafe[cell] == bool(held), cell
        lower = 0
        if held:
            lower = min(
                k
                for k in range(1, x + 1)
                if all(Fraction(x - k, m) < Fraction(percent, 100) for m in held)
            )
        assert sensitivity.lower[cell] == lower, cell
        assert sensitivity.upper[cell] == 0
    assert sensitivity.zeros_may_hide == bool(sensitivity.unsafe.any())


# ── examples ────────────────────────────────────────────────────────────────────────


def test_distance_is_not_strict():
    assert MarginalValue(1)(line(7, 1)).unsafe.tolist() == [False, True, False]
    assert not MarginalValue(1)(line(7, 2)).unsafe.any()
    assert MarginalValue(2)(line(7, 2)).unsafe.tolist() == [False, True, False]
    assert MarginalValue(0)(line(1, 0)).unsafe.tolist() == [False, True, False], "nobody is no part"


def test_share_is_not_strict_and_small_parents_do_not_count():
    assert GroupDisclosure(70)(line(7, 3)).unsafe.tolist() == [False, True, False]
    assert not GroupDisclosure(70)(line(6, 3)).unsafe.any()
    assert not GroupDisclosure(50)(line(1, 1)).unsafe.any()
    assert GroupDisclosure(50, minimum_parent=2)(line(1, 1)).unsafe[1:].all()


def test_a_small_parent_does_not_hide_a_larger_one():
    # a1 is all 2 of A, which is too small a group, and 2 of the 3 in T
    table = table_of({"x": CHAIN}, [2, 0, 1, 0])
    sensitivity = GroupDisclosure(60, minimum_parent=3)(table)
    unsafe = [CHAIN.codes[i] for i in np.flatnonzero(sensitivity.unsafe)]
    assert unsafe == ["A", "a1"]


def test_a_total_of_all_has_no_parent_however_small_the_share():
    found = GroupDisclosure(1)(line(99, 1))
    assert found.unsafe.tolist() == [False, True, True]
    assert found.lower.tolist() == [0, 99, 1]


def test_a_total_of_an_only_child_is_not_its_parent():
    table = table_of({"x": CHAIN}, [10, 10, 10, 10])
    assert not MarginalValue()(table).unsafe.any()
    assert not MarginalValue()(table_of({"x": ONE}, [10])).unsafe.any()


def test_only_the_named_variables_are_judged():
    table = table_of(
        {"x": dk.Hierarchy.flat([*"ab"]), "y": dk.Hierarchy.flat([*"cd"])}, [5, 9, 0, 9]
    )
    assert MarginalValue(variables=["x"])(table).unsafe[1, 1]  # 5 of 5 in column c
    assert not MarginalValue(variables=["y"])(table).unsafe[1, 1]  # 5 of 14 in row a


def test_sums_are_judged_by_contributors_and_may_be_smaller():
    records = pa.table(
        {"x": ["a"] * 5 + ["b"], "v": [100, 100, 100, 100, 99, 7], "firm": [*"ABCDE", "E"]}
    )
    table = dk.tabulate(records, by={"x": None}, value="v", unit="firm")
    for rule in (MarginalValue(0, range=20), GroupDisclosure(100, range=20)):
        sensitivity = rule(table)  # all five firms are in a; one of them is in b, too
        assert sensitivity.unsafe.tolist() == [False, True, False]
        assert sensitivity.lower[1] == 100
        assert sensitivity.upper[1] == 0


def test_reasons_stand_behind_minimum_frequency():
    joined = (GroupDisclosure(50) | MarginalValue() | MinimumFrequency(3))(line(9, 1))
    assert joined.reasons == ("minimum_frequency", "marginal_value", "group_disclosure")
    assert [joined.reason[i] for i in (1, 2)] == [1, 0]
    assert joined.zeros_may_hide
    assert not MinimumFrequency(3)(line(9, 1)).zeros_may_hide


def test_variables_make_a_value():
    assert MarginalValue(variables=["x"]) == MarginalValue(variables=("x",))
    assert hash(MarginalValue(variables=["x"])) == hash(MarginalValue(variables=("x",)))


# ── suppressed, attacked, written ───────────────────────────────────────────────────

WIDE = [[6, 0, 0], [2, 9, 8], [3, 7, 9]]


def wide():
    by = {"x": dk.Hierarchy.flat([*"abc"]), "y": dk.Hierarchy.flat([*"def"])}
    return table_of(by, [n for row in WIDE for n in row])


@pytest.mark.parametrize(
    ("rule", "down"),
    [(MarginalValue(), 1), (MarginalValue(strict=True), 2), (GroupDisclosure(80), 2)],
)
def test_a_table_is_protected_with_the_help_of_zeros(rule, down):
    result = dk.suppress(wide(), rule)
    status = result.status
    assert status[1, 1] == "primary"
    zeros = result.published.suppressed & (wide().count == 0)
    assert zeros.any()
    assert set(status[zeros]) == {"secondary"}
    assert not result.published.empty[zeros].any()
    intervals = dk.attack.intervals(result.published).to_pylist()
    six = next(c for c in intervals if (c["x"], c["y"]) == ("a", "d"))
    assert six["lower"] <= 6 - down


def test_zeros_stay_where_no_such_rule_hits():
    table = table_of(
        {"x": dk.Hierarchy.flat([*"abc"]), "y": dk.Hierarchy.flat([*"def"])},
        [5, 6, 8, 1, 0, 8, 5, 7, 9],
    )
    alone = dk.suppress(table, MinimumFrequency(3))
    joined = dk.suppress(table, MinimumFrequency(3) | MarginalValue(0))
    assert alone.published.suppressed.tolist() == joined.published.suppressed.tolist()
    assert not alone.published.suppressed[table.empty].any()


@pytest.mark.parametrize("may", [False, True])
def test_cheap_as_they_are_zeros_hide_only_where_they_may(may):
    table = table_of(
        {"x": dk.Hierarchy.flat([*"abc"]), "y": dk.Hierarchy.flat([*"def"])},
        [5, 6, 8, 1, 0, 8, 5, 7, 9],
    )
    judged = MinimumFrequency(3)(table)
    judged = replace(judged, upper=0 * judged.upper, zeros_may_hide=may)
    result = dk.suppress(table, judged)
    assert result.published.suppressed[table.empty].any() == may


def test_without_zeros_the_cell_could_not_be_protected():
    table = wide()
    frozen = table.empty.copy()
    frozen[1, 0] = True  # the total of the row of zeros
    with pytest.raises(ProtectionError, match=r"count\[x=a, y=d\] = 6 cannot be protected"):
        dk.suppress(table, MarginalValue(), frozen=frozen)


def test_frozen_zeros_stay():
    table = wide()
    frozen = np.zeros(table.shape, dtype=bool)
    frozen[1, 2] = True
    result = dk.suppress(table, MarginalValue(), frozen=frozen)
    assert not result.published.suppressed[1, 2]
    assert result.published.empty[1, 2]


def test_public_files_show_a_hidden_zero_as_any_hidden_cell(tmp_path):
    result = dk.suppress(wide(), MarginalValue(strict=True))
    result.write(tmp_path / "out")
    assert len((tmp_path / "out" / "public" / "count.csv").read_text().splitlines()) == 17
    read = dk.Published.read(tmp_path / "out")
    hidden = result.published.suppressed
    assert np.array_equal(read.suppressed, hidden)
    assert np.array_equal(read.empty, (wide().count == 0) & ~hidden)
    assert not read.value[hidden].any()
    public = {(c["x"], c["y"]): c for c in result.public.to_pylist()}
    assert {(c["count"], c["status"]) for c in public.values() if c["status"] == "suppressed"} == {
        (None, "suppressed")
    }
    verify(tmp_path / "out")


def test_who_knows_that_zeros_are_shown_contradicts_a_rule_that_hides_them():
    with pytest.raises(InputError, match=r"zeros_known=True.*marginal_value"):
        dk.suppress(wide(), MarginalValue(), attacker=dk.Attacker(zeros_known=True))


@given(tables(), st.sampled_from([MarginalValue(), MarginalValue(2, strict=True),
                                  GroupDisclosure(60), GroupDisclosure(100, 1)]))  # fmt: skip
def test_every_count_is_protected_or_refused(table, rule):
    sensitivity = rule(table)
    try:
        result = dk.suppress(table, rule)
    except ProtectionError as error:
        assert "cannot be protected" in str(error)
        return
    assert result.published.suppressed[sensitivity.unsafe].all()
    names = [d.name for d in table.dimensions]
    found = dk.attack.intervals(result.published).to_pylist()
    assert len(found) == result.published.suppressed.sum()
    for row in found:
        cell = tuple(
            d.hierarchy.position[row[n]] for d, n in zip(table.dimensions, names, strict=True)
        )
        assert row["lower"] <= table.count[cell] - sensitivity.lower[cell]
        assert row["upper"] >= table.count[cell]
        assert row["upper"] - row["lower"] >= 1


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: MarginalValue(-1), "distance= must be"),
        (lambda: MarginalValue(True), "distance= must be"),
        (lambda: MarginalValue(variables="x"), "list of names"),
        (lambda: MarginalValue(variables=[]), "list of names"),
        (lambda: MarginalValue(range=0), "range= must be"),
        (lambda: MarginalValue(variables=["z"])(line(1, 2)), "'z'; it has 'x'"),
        (lambda: GroupDisclosure(0), "percent= must be"),
        (lambda: GroupDisclosure(101), "to 100"),
        (lambda: GroupDisclosure(80, 0), "minimum_parent= must be"),
        (lambda: GroupDisclosure(80, range=-1), "range= must be"),
    ],
)
def test_bad_parameters_are_named(make, what):
    with pytest.raises(InputError, match=what):
        make()


def test_strict_is_for_counts():
    cells = pa.table({"x": ["a"], "v": [5], "n": [5]})
    table = Table.from_cells(cells, by={"x": None}, value="v", count="n")
    with pytest.raises(InputError, match=r"strict=True.*table\['count'\]"):
        MarginalValue(strict=True)(table)
