"""Tables that are shown in thousands."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import AdditivityError, ContradictionError, InputError
from diskret.protect.audit import audit
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
CELLS = pa.table({"region": ["N", "S", "W"], "sales": [12_600, 7_400, 500]})


def sales():
    return dk.Table.from_cells(CELLS, by={"region": None}, value="sales")


def test_values_are_rounded_half_up_and_each_on_its_own(tmp_path):
    table = sales().rounded(1000)
    result = dk.suppress(table, nothing(table))
    assert result.public["sales"].to_pylist() == [21_000, 13_000, 7_000, 1_000]
    folder = result.write(tmp_path / "out", ["csv", "xlsx", "html", "parquet"], keys=KEYS)
    assert dk.Published.read(folder).rounding == 1000
    assert verify(folder, keys=KEYS).checked_internal


def nothing(table):
    """A judgement by which no cell is unsafe."""
    return dk.rules.MinimumFrequency(0)(table) if table.count is not None else _none(table)


def _none(table):
    zero = np.zeros(table.shape, dtype=np.int64)
    return dk.Sensitivity(zero > 0, zero, zero, zero, zero, ())


def test_rounding_is_what_the_attacker_knows():
    """S alone is hidden: 21,000 ± 500 less 13,000 ± 500 and 1,000 ± 500."""
    table = sales().rounded(1000)
    hidden = np.array([False, False, True, False])
    published = dk.Published(
        "sales", table.dimensions, "sales", False, 0, np.array([21_000, 13_000, 0, 1_000]),
        hidden, np.zeros(4, dtype=bool), rounding=1000,
    )  # fmt: skip
    assert dk.attack.intervals(published).to_pylist() == [
        {"region": "S", "lower": 5_500, "upper": 8_500}
    ]


@pytest.mark.parametrize("unit", [0, -5, 0.3])
def test_units_must_fit_the_decimals(unit):
    with pytest.raises(InputError, match="multiple of 1"):
        sales().rounded(unit)


def test_counts_are_not_shown_rounded():
    table = dk.Table.from_cells(CELLS, by={"region": None}, count="sales")
    with pytest.raises(InputError, match="method of protection"):
        table.rounded(10)


def test_another_measure_is_not_rounded_with_it():
    both = dk.tabulate(CELLS, by={"region": None}, value=["sales"])["sales"].rounded(100)
    assert both["sales"].rounding == 100
    assert both["count"].rounding == 1


def test_a_rounded_file_is_taken_as_it_is():
    """Totals of rounded values may be off by half a unit for each term, and are published so."""
    rounded = pa.table({"region": ["Total", "N", "S", "W"], "sales": [21, 13, 7, 0]})
    table = dk.Table.from_cells(rounded, by={"region": None}, value="sales", rounding=1)
    assert (table.measure.decimals, table.rounding) == (1, 10)
    assert table.measure.sum.tolist() == [200, 130, 70, 0]
    thousands = pa.table({"region": ["Total", "N", "S", "W"], "sales": [21_000, 13_000, 7_000, 0]})
    table = dk.Table.from_cells(thousands, by={"region": None}, value="sales", rounding=1000)
    assert dk.suppress(table, _none(table)).public["sales"].to_pylist() == [
        21_000, 13_000, 7_000, 0
    ]  # fmt: skip
    with pytest.raises(InputError, match="combine categories before rounding"):
        table.recode("region", {"SW": ["S", "W"]})


def test_a_rounded_total_that_is_off_by_more_is_refused():
    wrong = pa.table({"region": ["Total", "N", "S"], "sales": [25_000, 13_000, 7_000]})
    with pytest.raises(AdditivityError, match=r"difference 5,000"):
        dk.Table.from_cells(wrong, by={"region": None}, value="sales", rounding=1000)
    finer = pa.table({"region": ["N", "S"], "sales": [13_100, 7_000]})
    with pytest.raises(InputError, match="no multiple of 1000, e.g. 13100"):
        dk.Table.from_cells(finer, by={"region": None}, value="sales", rounding=1000)


def test_a_rounded_publication_is_audited():
    cells = pa.table({"region": ["Total", "N", "S", "W"], "sales": ["21", "13", ".", "1"]})
    by = {"region": None}
    assert audit(cells, by, "sales").exact == 1
    found = audit(cells, by, "sales", rounding=1)
    assert found.frame.to_pylist() == [{"region": "S", "lower": 5.5, "upper": 8.5}]
    assert found.exact == 0
    tens = pa.table({"region": ["Total", "N", "S", "W"], "sales": ["210", "130", ".", "10"]})
    found = audit(tens, by, "sales", rounding=10)
    assert found.exact == 0
    assert found.frame.to_pylist() == [{"region": "S", "lower": 55, "upper": 85}]
    with pytest.raises(ContradictionError):
        audit(tens.set_column(1, "sales", [["210", "130", "40", "10"]]), by, "sales", rounding=10)
