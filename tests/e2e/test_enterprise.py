"""The τ-ARGUS enterprise sample: 8,169 records whose holdings straddle products and regions."""

import csv

import pytest

import diskret as dk
from diskret.io import Column, read_fixed


@pytest.fixture(scope="module")
def folder(reference_data):
    return reference_data / "data" / "tauargus" / "checkTauArgus"


def test_region_by_product_has_the_expected_values_and_unsafe_cells(folder):
    """Judged by holdings; "protected" cells are the expectation's own a-priori choice."""
    columns = [
        Column("holding", 1, 9),
        Column("product", 12, 2),
        Column("region", 14, 2),
        Column("turnover", 19, 8),
    ]
    enterprise = folder / "enterprise"
    table = dk.tabulate(
        read_fixed(enterprise / "example_enterprise.asc", columns),
        by={"region": dk.Hierarchy.read(enterprise / "KohStatReg.hrc"), "product": None},
        value="turnover",
        holding="holding",
        decimals=2,
    )
    result = dk.suppress(table, dk.rules.PPercent(10))
    with (folder / "gui_expected" / "test_3b.txt").open(encoding="ascii", newline="") as file:
        expected = {(r.strip(), p.strip()): (v, int(s)) for r, p, v, s in csv.reader(file)}
    region, product = (d.hierarchy.codes for d in table.dimensions)
    assert len(expected) == table.count.size == 225
    for i, r in enumerate(region):
        for j, p in enumerate(product):
            value, status = expected[r, p]
            assert table.measure.sum[i, j] == (0 if value == "-" else round(float(value) * 100))
            assert (result.status[i, j] == "primary") == (status == 3), (r, p)
            assert (result.status[i, j] == "empty") == (status == 14), (r, p)
    assert result.certificate.primaries == 17
