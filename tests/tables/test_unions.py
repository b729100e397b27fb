"""Unions of cells are what their contributors, counted one by one, are together."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

import diskret as dk
from diskret.errors import InputError
from diskret.tables import Table
from diskret.tables.unions import union_table, union_table_of_parts, unions_exact


def a_file(**more):
    frame = pa.table(
        {
            "region": ["N", "S", "W", "Total"],
            "value": [10, 8, 4, 22],
            "firms": [3, 2, 1, 6],
            "x1": [6, 5, 4, 6],
            "x2": [3, 3, None, 5],
            **more,
        }
    )
    return Table.from_cells(
        frame, by={"region": None}, value="value", count="firms", largest=["x1", "x2"]
    )


def member(*rows):
    return sparse.csr_array(np.array(rows))


def test_contributors_of_different_cells_of_a_file_are_taken_for_different():
    table = a_file()
    assert not unions_exact(table)
    made = union_table(table, member([0, 1, 0, 1], [1, 0, -1, 0], [0, 0, 0, 0]))
    assert made.count.tolist() == made.units.tolist() == [0, 4, 4, 0]
    assert made.measure.sum.tolist() == [0, 14, 14, 0]
    assert made.measure.magnitude.tolist() == [0, 14, 14, 0]
    assert made.measure.largest.tolist() == [[0, 0], [6, 4], [6, 4], [0, 0]]


def test_of_a_cell_as_much_is_known_as_the_file_tells_of_it():
    # only the total names its largest: a union with it knows them, its parts do not
    table = a_file(x1=[0, 0, 0, 20], x2=[0, 0, 0, 1])
    made = union_table(table, member([1, 0, 0, 0], [0, 1, 1, 1]))
    assert made.measure.largest.tolist() == [[0, 0], [20, 1], [0, 0]]


def test_a_part_that_no_table_shows():
    tree = dk.Hierarchy.from_prefix(["A1", "A2", "B1"], (1, 1))
    frame = pa.table({"nace": ["A1", "A2", "B1"], "size": ["s", "s", "l"], "n": [4, 2, 1]})
    table = Table.from_cells(frame, by={"nace": tree, "size": None}, count="n")
    parts = [
        {"nace": frozenset({"A2", "B1"})},
        {"nace": frozenset({"A2", "B1", "Z9"}), "size": frozenset({"s"})},
        {"size": None},
    ]
    assert union_table_of_parts(table, parts).count.tolist() == [0, 3, 2, 7]
    with pytest.raises(InputError, match="does not have: 'age'; it has 'nace', 'size'"):
        union_table_of_parts(table, [{"age": frozenset({"1"})}])


def test_a_part_of_a_code_is_refused_unless_the_code_is_whole():
    frame = pa.table({"region": ["N", "S", "W"], "n": [4, 2, 1]})
    table = Table.from_cells(frame, by={"region": None}, count="n")
    table = table.recode("region", {"N+S": ["N", "S"]})
    both, one = frozenset({"N", "S"}), frozenset({"N", "W"})
    assert union_table_of_parts(table, [{"region": both}]).count.tolist() == [0, 6]
    with pytest.raises(InputError, match=r"1 category of 'region'.*'N', 'S'.*finer codes"):
        union_table_of_parts(table, [{"region": one}])
    # what another table tells of a code
    meaning = {"region": {"W": frozenset({"W1", "W2"})}}
    found = union_table_of_parts(table, [{"region": frozenset({"W1", "W2"})}], meaning)
    assert found.count.tolist() == [0, 1]
    with pytest.raises(InputError, match="finer codes"):
        union_table_of_parts(table, [{"region": frozenset({"W1"})}], meaning)


def test_overlapping_cells_are_refused():
    with pytest.raises(InputError, match=r"1 union holds .*region=S; the cells .* not overlap"):
        union_table(a_file(), member([0, 1, 0, 0], [1, 0, 1, 0]))


def test_a_matrix_of_another_table_is_refused():
    with pytest.raises(InputError, match="each of the table's 4 cells, not by 3"):
        union_table(a_file(), member([0, 1, 0]))


def test_no_unions_and_unions_of_nothing_are_fine():
    stored_zeros = sparse.csr_array((np.zeros(4, np.int64), np.arange(4), [0, 4]), shape=(1, 4))
    assert union_table(a_file(), stored_zeros).count.tolist() == [0, 0]
    assert union_table(a_file(), sparse.csr_array((0, 4), dtype=np.int64)).count.tolist() == [0]
    assert union_table_of_parts(a_file(), []).count.tolist() == [0]
    nowhere = [{"region": frozenset({"X"})}]
    assert union_table_of_parts(a_file(), nowhere).count.tolist() == [0, 0]


def test_weighted_tables_are_refused():
    records = pa.table({"region": ["N", "S"], "v": [5, 3], "w": [2, 1]})
    table = dk.tabulate(records, by={"region": None}, value="v", weight="w")
    with pytest.raises(InputError, match="weighted table cannot be judged"):
        union_table(table, member([0, 1, 1]))


# ── who really contributes ──────────────────────────────────────────────────────────

NACE = dk.Hierarchy.from_prefix(["A1", "A2", "A3", "B1", "C"], (1, 1))
SIZE = dk.Hierarchy.flat(["large", "small"])
GROUPS = {"A1+A3": ["A1", "A3"]}
# every example tabulates
few = examples(25)

record = st.fixed_dictionaries(
    {
        "nace": st.sampled_from(["A1", "A2", "A3", "B1", "C"]),
        "size": st.sampled_from(["large", "small"]),
        "unit": st.integers(0, 5),
        "holding": st.none() | st.integers(0, 2),
        "value": st.integers(-3, 9),
        "other": st.integers(0, 5),
        "asked": st.integers(0, 1),
    }
)
records_ = st.lists(record, min_size=1, max_size=14)
KINDS = {
    "units": {"unit": "unit"},
    "holdings": {"unit": "unit", "holding": "holding"},
    "named": {"holding": "holding"},
    "records": {},
}
kinds = st.sampled_from(sorted(KINDS))


def tabulated(records, kind, **more):
    columns = {name: [r[name] for r in records] for name in records[0]}
    columns["holding"] = pa.array(columns["holding"], pa.int64())
    return dk.tabulate(
        pa.table(columns),
        by={"nace": NACE, "size": SIZE},
        value=["value", "other"],
        request="asked",
        largest=2,
        contributions=True,
        **KINDS[kind],
        **more,
    )


def inside(record, codes):
    """Whether a record belongs to a cell, told by the beginning of its codes."""
    nace, size = codes
    wanted = GROUPS.get(nace, [nace])
    return (nace == "Total" or any(record["nace"].startswith(code) for code in wanted)) and (
        size in ("Total", record["size"])
    )


def by_hand(records, kind, belongs):
    """What the contributors of some records are, one by one."""
    own = {
        "records": lambda i, r: i,
        "units": lambda i, r: r["unit"],
        "holdings": lambda i, r: ("h", r["holding"]) if r["holding"] is not None else r["unit"],
        "named": lambda i, r: i if r["holding"] is None else ("h", r["holding"]),
    }[kind]
    there = [(i, r) for i, r in enumerate(records) if belongs(r)]
    found = {
        "count": len(there),
        "units": len({r["unit"] for _, r in there}),
        "holdings": len({own(i, r) for i, r in there}),
        "request": sum(r["asked"] for _, r in there),
    }
    for name in ("value", "other"):
        sums, asked = defaultdict(int), set()
        for i, r in there:
            sums[own(i, r)] += r[name]
            if r["asked"]:
                asked.add(own(i, r))
        sizes = {who: abs(x) for who, x in sums.items()}
        found[name] = (
            sum(sums.values()),
            sum(sizes.values()),
            [*sorted(sizes.values(), reverse=True), 0, 0][:2],
            max((sizes[who] for who in asked), default=0),
        )
    return found


def told(unions, i):
    """A union in the form of `by_hand`, as far as the table says."""
    found = {"count": int(unions.count[i]), "request": int(unions.marked["request"][i])}
    for name in ("units", "holdings"):
        if getattr(unions, name) is not None:
            found[name] = int(getattr(unions, name)[i])
    for m in unions.measures:
        found[m.name] = (
            int(m.sum[i]),
            int(m.magnitude[i]),
            m.largest[i].tolist(),
            int(m.marked["request"][i]),
        )
    return found


def agrees(unions, i, expected):
    mine = told(unions, i)
    assert mine == {name: expected[name] for name in mine}


@few
@given(records_, kinds, st.data())
def test_a_union_is_what_its_contributors_are_together(records, kind, data):
    table = tabulated(records, kind)
    cells = [(d, s) for d in table.dimensions[0].hierarchy.codes for s in SIZE.codes]
    # disjoint cells: whoever comes first keeps its records
    order = data.draw(st.permutations(range(len(cells))))[: data.draw(st.integers(0, 6))]
    leaves = [(n, s) for n in ("A1", "A2", "A3", "B1", "C") for s in ("large", "small")]
    chosen, taken = [], set()
    for at in order:
        own = {leaf for leaf in leaves if inside({"nace": leaf[0], "size": leaf[1]}, cells[at])}
        if not own & taken:
            chosen.append(at)
            taken |= own
    # the same records, told as what is left of all when the others are taken away
    rest = [leaf for leaf in leaves if leaf not in taken]
    row, signed = np.zeros((2, len(cells)), dtype=np.int64)
    row[chosen], signed[0] = 1, 1
    signed[[cells.index(leaf) for leaf in rest]] = -1
    expected = by_hand(records, kind, lambda r: (r["nace"], r["size"]) in taken)
    unions = union_table(table, member(row, signed))
    agrees(unions, 1, expected)
    agrees(unions, 2, expected)
    # and as parts that no table needs to show
    sizes = [
        {"nace": frozenset(n for n, t in taken if t == s), "size": frozenset({s})}
        for s in ("large", "small")
    ]
    parts = union_table_of_parts(table, sizes)
    for i, size in enumerate(("large", "small"), 1):
        agrees(
            parts,
            i,
            by_hand(
                records, kind, lambda r, s=size: (r["nace"], r["size"]) in taken and r["size"] == s
            ),
        )


@few
@given(records_, kinds)
def test_a_union_of_one_cell_is_that_cell(records, kind):
    table = tabulated(records, kind)
    cells = int(np.prod(table.shape))
    unions = union_table(table, sparse.csr_array(sparse.identity(cells, dtype=np.int64)))
    assert unions_exact(table)
    for name in ("count", "units", "holdings"):
        mine = getattr(table, name)
        if mine is not None:
            assert np.array_equal(getattr(unions, name)[1:], mine.ravel()), name
    for mine, theirs in zip(table.measures, unions.measures, strict=True):
        assert np.array_equal(theirs.sum[1:], mine.sum.ravel())
        assert np.array_equal(theirs.magnitude[1:], mine.magnitude.ravel())
        assert np.array_equal(theirs.largest[1:], mine.largest.reshape(-1, 2))
        assert np.array_equal(theirs.marked["request"][1:], mine.marked["request"].ravel())
    assert np.array_equal(unions.marked["request"][1:], table.marked["request"].ravel())
    assert unions.contributors == table.contributors


@few
@given(records_)
def test_a_recoded_table_knows_its_contributors(records):
    # units that stay where they are, so that it can be recoded; holdings do not matter then
    for r in records:
        r["unit"] = ["A1", "A2", "A3", "B1", "C"].index(r["nace"])
    fine = tabulated(records, "units")
    table = fine.recode("nace", GROUPS).recode("nace", {"B+C": ["B", "C"]})
    codes = table.dimensions[0].hierarchy.codes
    combined = {"A1+A3": ["A1", "A3"], "B+C": ["B", "C"]}
    row = np.zeros((len(codes), 3), dtype=np.int64)
    row[[codes.index("A1+A3"), codes.index("B+C")], 0] = 1
    unions = union_table(table, member(row.ravel()))
    wanted = ["A1", "A3", "B", "C"]
    agrees(
        unions,
        1,
        by_hand(records, "units", lambda r: any(r["nace"].startswith(code) for code in wanted)),
    )
    # a part of a combined code is still known
    part = union_table_of_parts(table, [{"nace": frozenset({"A3", "C"})}])
    agrees(part, 1, by_hand(records, "units", lambda r: r["nace"] in ("A3", "C")))
    assert set(combined) <= set(codes)


STRADDLING = [
    {"nace": "A1", "size": "large", "unit": 1, "holding": None, "value": 5, "other": 0, "asked": 0},
    {"nace": "A2", "size": "large", "unit": 1, "holding": None, "value": 4, "other": 0, "asked": 0},
    {"nace": "B1", "size": "large", "unit": 2, "holding": None, "value": 3, "other": 0, "asked": 0},
]


def test_who_is_in_two_cells_of_a_union_counts_once():
    table = tabulated(STRADDLING, "units")
    codes = table.dimensions[0].hierarchy.codes
    row = np.zeros((len(codes), 3), dtype=np.int64)
    row[[codes.index("A1"), codes.index("A2"), codes.index("B1")], 1] = 1
    unions = union_table(table, member(row.ravel()))
    assert unions.units.tolist() == [0, 2]
    assert unions["value"].measure.largest.tolist() == [[0, 0], [9, 3]]

    # sabotage: the comparison would notice who is left out, and who is counted twice
    listed = table.contributions
    keep = np.arange(len(listed.leaf)) != 1
    fewer = replace(
        listed,
        leaf=listed.leaf[keep],
        unit=listed.unit[keep],
        records=listed.records[keep],
        values={name: values[keep] for name, values in listed.values.items()},
        marked={name: marks[keep] for name, marks in listed.marked.items()},
    )
    expected = by_hand(STRADDLING, "units", lambda r: True)
    agrees(unions, 1, expected)
    for wrong in (fewer, replace(listed, unit=np.arange(3, dtype=np.uint64)), None):
        with pytest.raises(AssertionError):
            agrees(
                union_table(replace(table, contributions=wrong), member(row.ravel())), 1, expected
            )
    assert not unions_exact(replace(table, contributions=None))


def test_who_is_marked_must_be_known():
    table = tabulated(STRADDLING, "units")
    table = replace(table, contributions=replace(table.contributions, marked={}))
    with pytest.raises(InputError, match=r"do not say who asked .*\(request\)"):
        union_table(table, member(np.ones(table.count.size, dtype=np.int64) * 0))


def test_the_same_unit_has_the_same_number_in_other_tables():
    one = tabulated(STRADDLING, "holdings")
    frame = pa.table({"region": ["N", "S"], "firm": ["2", "1"]})
    other = dk.tabulate(frame, by={"region": None}, unit="firm", contributions=True)
    assert set(one.contributions.unit) == set(other.contributions.unit)
    # nobody's holding but their own
    assert np.array_equal(one.contributions.unit, one.contributions.holding)


def test_contributions_are_kept_only_where_asked_for_and_of_use():
    frame = pa.table({"region": ["N", "S"], "firm": [2, 1], "v": [1, 2]})
    assert dk.tabulate(frame, by={"region": None}, unit="firm").contributions is None
    assert dk.tabulate(frame, by={"region": None}, contributions=True).contributions is None
    with pytest.raises(InputError, match="contributions= cannot be combined with weight='firm'"):
        dk.tabulate(frame, by={"region": None}, value="v", weight="firm", contributions=True)
