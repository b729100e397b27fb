"""The τ-ARGUS enterprise sample: 8,169 records whose holdings straddle all variables.

Expected are the tables that τ-ARGUS gave for P(10,1) judged by holdings, ZERO(10), missing
codes safe, and 10 % for cells set by hand.
"""

import csv

import numpy as np
import pyarrow as pa
import pytest
from side_by_side_attack import unprotected

import diskret as dk
from diskret.io import Column, read_fixed
from diskret.rules import Apriori, MissingSafe, PPercent, ZeroCells

COLUMNS = [
    Column("holding", 1, 9),
    Column("act", 10, 2),
    Column("product", 12, 2),
    Column("region", 14, 2),
    Column("mun", 16, 3),
    Column("turnover", 19, 8),
]
RULE = PPercent(10) | ZeroCells(10)
MISSING = {"act": ["00"]}  # as the metadata of the sample say; the other variables: blanks
SAFE, UNSAFE, PROTECTED, SECONDARY, EMPTY = "1", "3", "10", "11", "14"


@pytest.fixture(scope="module")
def folder(reference_data):
    return reference_data / "data" / "tauargus" / "checkTauArgus"


@pytest.fixture(scope="module")
def trees(folder, tmp_path_factory):
    enterprise = folder / "enterprise"
    divisions = dk.Hierarchy.read(enterprise / "nace_divisions.hrc")
    # τ-ARGUS counts records without an activity below the total, though not in the tree
    above = [None, *(divisions.codes[p] for p in divisions.parent[1:]), "Total"]
    act = dk.Hierarchy.from_parents(pa.table({"code": [*divisions.codes, "00"], "parent": above}))
    # one code stands twice in this tree, with other municipalities below: for 1 and for 2
    lines = (enterprise / "NUTS.hrc").read_text(encoding="ascii").splitlines()
    first, second = (number for number, line in enumerate(lines) if line == "@11")
    assert (first, second) == (149, 203)
    lines[second] = "@11 again"
    repaired = tmp_path_factory.mktemp("trees") / "NUTS.hrc"
    repaired.write_text("\n".join(lines), encoding="ascii")
    return {
        "act": act,
        "product": None,
        "region": dk.Hierarchy.read(enterprise / "KohStatReg.hrc"),
        "mun": dk.Hierarchy.read(repaired),
    }


@pytest.fixture(scope="module")
def records(folder):
    return read_fixed(folder / "enterprise" / "example_enterprise.asc", COLUMNS)


@pytest.fixture(scope="module")
def tabulated(records, trees):
    def tabulate(*by):
        return dk.tabulate(
            records,
            by={name: trees[name] for name in by},
            value="turnover",
            holding="holding",
            decimals=2,
        )

    return tabulate


@pytest.fixture(scope="module")
def expected(folder):
    def read(name, table):
        """Values and status in the shape of the table; each cell is there exactly once."""
        rows, columns = (dimension.hierarchy for dimension in table.dimensions)
        value = np.zeros(table.shape, dtype=np.int64)
        status = np.full(table.shape, "", dtype=object)
        path = folder / "gui_expected" / name
        with path.open(encoding="ascii", newline="") as file:
            for row, column, cell, said in csv.reader(file):
                i, j = rows.position[row.strip()], columns.position[column.strip()]
                if status[i, j]:  # the code that is there twice
                    j = columns.position[f"{column.strip()} again"]
                assert not status[i, j]
                value[i, j] = 0 if cell.strip() == "-" else round(float(cell) * 100)
                status[i, j] = said.strip()
        assert (status != "").all()
        return value, status

    return read


def contributions(table, cell):
    return [int(x) for x in table.measure.largest[cell] if x]


CASES = [
    # (variables, expectation, cells, unsafe, empty)
    (("act", "product"), "test_1.txt", 1665, 283, 694),
    (("act", "product"), "test_2a.txt", 1665, 283, 694),
    (("act", "region"), "test_2b.txt", 1665, 339, 472),
    (("region", "mun"), "test_3a.txt", 3390, 36, 2703),
    (("region", "product"), "test_3b.txt", 225, 17, 13),
]


@pytest.mark.parametrize(("by", "name", "cells", "unsafe", "empty"), CASES)
def test_values_and_unsafe_cells_are_the_expected_ones(
    tabulated, expected, by, name, cells, unsafe, empty
):
    table = tabulated(*by)
    value, status = expected(name, table)
    missing = {variable: codes for variable, codes in MISSING.items() if variable in by}
    rule = RULE | MissingSafe(missing) if missing else RULE
    found = rule(table).unsafe
    assert (table.count.size, found.sum(), table.empty.sum()) == (cells, unsafe, empty)
    assert np.array_equal(table.measure.sum, value)
    assert np.array_equal(table.empty, status == EMPTY)
    assert np.array_equal(found, status == UNSAFE)


@pytest.mark.parametrize(("by", "name", "cells", "unsafe", "empty"), CASES[:3])
def test_without_missing_safe_the_cells_of_unknown_activity_differ(
    tabulated, expected, by, name, cells, unsafe, empty
):
    """The rule alone hits more than is expected, only where the activity is missing."""
    table = tabulated(*by)
    _, status = expected(name, table)
    found = RULE(table).unsafe
    more = list(zip(*np.nonzero(found != (status == UNSAFE)), strict=True))
    assert found.sum() == unsafe + len(more) > unsafe
    unknown = table.dimensions[0].hierarchy.position["00"]
    for cell in more:
        assert cell[0] == unknown
        # p% would be right: besides the two largest, less than a tenth of the largest is left
        x1, x2 = [*contributions(table, cell), 0][:2]
        assert 10 * (table.measure.sum[cell] - x1 - x2) < x1
    # of those whom p% does not hit none is there: safe cells of this code are safe by p% too
    others = np.flatnonzero(~found[unknown] & ~table.empty[unknown])
    assert set(status[unknown, others]) <= {SAFE, SECONDARY}


def test_there_are_no_zeros_with_contributors_in_the_sample(tabulated):
    for by in {by for by, *_ in CASES}:
        assert not ZeroCells(10)(tabulated(*by)).unsafe.any()


def test_two_linked_tables_lose_fewer_cells_than_theirs(tabulated, expected):
    """Against an outsider, as theirs; τ-ARGUS hides 74 and 127 cells besides the unsafe ones."""
    tables = [tabulated("act", "product"), tabulated("act", "region")]
    names = ["test_2a.txt", "test_2b.txt"]
    theirs = [
        (expected(name, table)[1] == SECONDARY).sum()
        for name, table in zip(names, tables, strict=True)
    ]
    assert theirs == [74, 127]
    results = dk.suppress(tables, RULE | MissingSafe({"act": MISSING["act"]}), name=["2a", "2b"])
    assert [r.certificate.primaries for r in results] == [283, 339]
    assert sum(r.certificate.secondaries for r in results) < sum(theirs)
    assert not unprotected(results)


def test_the_apriori_file_freezes_the_cells_that_are_expected_to_be_protected(
    folder, tabulated, expected
):
    table = tabulated("region", "product")
    _, status = expected("test_3b.txt", table)
    apriori = Apriori(
        folder / "gui_expected" / "test_3a.hst",
        reason="published in another table",
        who="the sample",
        date="2017-01-01",
    )
    result = dk.suppress(table, RULE | apriori)
    frozen = result.sensitivity.frozen
    assert frozen.sum() == 15
    assert np.array_equal(frozen, status == PROTECTED)
    assert not (frozen & result.published.suppressed).any()
    assert result.certificate.primaries == 17
    assert np.array_equal(result.status == "primary", status == UNSAFE)
    assert result.settings["apriori"]["region"][:2] == ["Total", "RegA"]


def test_a_cell_that_is_unsafe_cannot_be_frozen(folder, tabulated, tmp_path):
    table = tabulated("region", "product")
    unsafe = np.argwhere(RULE(table).unsafe)[0]
    codes = [d.hierarchy.codes[i] for d, i in zip(table.dimensions, unsafe, strict=True)]
    path = tmp_path / "clash.hst"
    path.write_text(f"{codes[0]},{codes[1]},p\n", encoding="ascii")
    clash = Apriori(path, reason="a test", who="the test", date="2017-01-01")
    with pytest.raises(dk.DiskretError, match=f"region={codes[0]}, product={codes[1]}"):
        dk.suppress(table, RULE | clash)
