"""Intervals in place of suppressed values: what they must leave open, also all together."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import examine, targets_of, unmet
from diskret.errors import InputError
from diskret.protect.safe_intervals import with_intervals
from diskret.publish.verify.folder import verify
from diskret.tables import NO_BOUND

KEYS = dk.SecretKeys(bytes(range(32)))


@pytest.fixture(scope="module")
def table():
    register = dk.datasets.business_register(3_000, seed=5)
    by = {"nace": register.by["nace"], "region": register.by["region"]}
    made = dk.tabulate(
        register.records, by=by, value="turnover", unit="firm_id", holding="group_id", largest=2
    )
    return made.recode("nace", level=1)


@pytest.fixture(scope="module")
def result(table):
    return dk.suppress(table, dk.rules.PPercent(10))


def test_intervals_hold_the_value_and_its_level(table, result):
    rows = result.safe_intervals(KEYS).to_pylist()
    assert len(rows) == result.published.suppressed.sum()
    [proven] = with_intervals([result], KEYS)
    shown, needs = proven.published, result.certificate.requirements
    value = table.measure.sum.ravel()
    low, high = shown.lower.ravel(), shown.upper.ravel()
    assert (low[needs.cell] <= value[needs.cell] - needs.lower).all()
    assert (high[needs.cell] >= value[needs.cell] + needs.upper).all()
    hidden = shown.suppressed.ravel()
    assert ((low <= value) & (value <= high))[hidden].all()


def test_the_middle_of_an_interval_is_not_the_value(table, result):
    [proven] = with_intervals([result], KEYS)
    hidden = proven.published.suppressed
    low, high = proven.published.lower[hidden], proven.published.upper[hidden]
    middle = (low + high) / 2
    assert (np.abs(middle - table.measure.sum[hidden]) > 0.01 * (high - low)).mean() > 0.9


def test_all_intervals_together_are_attacked(table, result):
    [proven] = with_intervals([result], KEYS)
    needs = result.certificate.requirements
    targets = targets_of(proven.published, table.measure.sum, needs)
    assert not unmet(examine(proven.published, targets=targets), targets).any()


def test_intervals_that_are_safe_one_by_one_need_not_be_together():
    """2 of 12 hidden beside 3: [0, 4] and [2, 5] are wide enough alone, but say 0 ≤ 5 − x ≤ 3."""
    cells = pa.table({"x": ["a", "b", "c"], "n": [7, 2, 3]})
    counts = dk.Table.from_cells(cells, by={"x": None}, count="n")
    result = dk.suppress(counts, dk.rules.MinimumFrequency(3))
    published = result.published
    hidden = np.flatnonzero(published.suppressed)
    assert hidden.tolist() == [2, 3]
    narrow = replace(published, lower=np.array([0, 0, 0, 3]), upper=np.array([0, 0, 4, NO_BOUND]))
    targets = targets_of(narrow, counts.count, result.certificate.requirements)
    assert unmet(examine(narrow, targets=targets), targets).any()
    [proven] = with_intervals([result], KEYS)
    assert not unmet(examine(proven.published, targets=targets), targets).any()


def test_the_key_decides_and_the_same_key_decides_the_same(result):
    assert result.safe_intervals(KEYS).equals(result.safe_intervals(KEYS))
    cells = pa.table({"x": list("abcd"), "n": [500, 2, 300, 400]})
    counts = dk.Table.from_cells(cells, by={"x": None}, count="n")
    small = dk.suppress(counts, dk.rules.MinimumFrequency(3))
    found = {
        str(small.safe_intervals(dk.SecretKeys(bytes(range(n, n + 32)))).to_pylist())
        for n in range(8)
    }
    assert len(found) > 1


def test_published_intervals_are_verified(result, tmp_path):
    formats = ["csv", "xlsx", "parquet", "html"]
    folder = result.write(tmp_path / "out", formats, keys=KEYS, intervals=True, explain=0)
    header = (folder / "public" / "turnover.csv").open(encoding="utf-8").readline()
    assert header.strip() == "nace,region,turnover,status,lower,upper"
    assert verify(folder, keys=KEYS).checked_internal
    read = dk.Published.read(folder)
    [proven] = with_intervals([result], KEYS)
    hidden = read.suppressed
    np.testing.assert_array_equal(read.lower[hidden], proven.published.lower[hidden])


def test_linked_tables_publish_their_intervals_together(table, tmp_path):
    region = dk.suppress([table, table.recode("region", level=1)], dk.rules.PPercent(10))
    with pytest.raises(InputError, match="protected together"):
        region[0].safe_intervals(KEYS)
    assert region[0].published.suppressed.sum() > region[1].published.suppressed.sum() > 0


def test_no_published_interval_is_narrowed_by_the_others(result):
    """The ones that bound the others would be known as primaries, their widths as levels."""
    [proven] = with_intervals([result], KEYS)
    found, hidden = examine(proven.published), proven.published.suppressed
    np.testing.assert_array_equal(proven.published.lower[hidden], np.floor(found.lower))
    np.testing.assert_array_equal(proven.published.upper[hidden], np.ceil(found.upper))
