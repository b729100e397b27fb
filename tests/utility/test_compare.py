"""compare: every kind of result, sets of tables, what is withheld, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import NoiseCertificate
from diskret.errors import InputError
from diskret.population import Population
from diskret.protect.perturbed_result import PerturbedResult
from diskret.tables import Noise
from diskret.tables.perturbed import published_with


@pytest.fixture
def table():
    cells = pa.table(
        {
            "region": ["N", "N", "S", "S", "W", "W"],
            "sex": ["f", "m"] * 3,
            "persons": [14, 3, 0, 120, 1, 7],
        }
    )
    return dk.Table.from_cells(cells, by={"region": None, "sex": None}, count="persons")


@pytest.fixture
def sums():
    cells = pa.table({"region": ["N", "S"], "sales": [12.5, 700.25]})
    return dk.Table.from_cells(cells, by={"region": None}, value="sales", decimals=2)


def changed(table, value, withheld=None):
    noise = Noise.of(np.asarray(value))
    if withheld is not None:
        noise = replace(noise, withheld=withheld)
    return published_with(table, noise, name="persons", changed="rounding")


def rounded(table, base=5):
    return (table.count + base // 2) // base * base


def test_array_published_and_result_say_the_same(table):
    value = rounded(table)
    published = changed(table, value)
    result = PerturbedResult(table, NoiseCertificate(published, (), ()), {}, None)
    expected = dk.utility.compare(table, value).figures
    for protected in (value.tolist(), value.astype(float), published, result):
        np.testing.assert_equal(dk.utility.compare(table, protected).figures, expected)
    assert expected["mean"] > 0


def test_nothing_changed_is_nothing_lost(table):
    figures = dk.utility.compare(table, table.count).figures
    lost = ("mean", "largest", "mse", "relative", "root", "hellinger", "broken_equations")
    assert [figures[name] for name in lost] == [0] * len(lost)
    ones = ("unchanged_share", "hellinger_utility", "rank_correlation", "variance_ratio")
    assert [figures[name] for name in ones] == pytest.approx([1] * len(ones))


def test_what_is_withheld_is_no_deviation(table):
    hidden = table.count == 3
    found = dk.utility.compare(table, changed(table, rounded(table), hidden))
    masked = np.ma.masked_where(hidden, rounded(table))
    as_nan = np.where(hidden, np.nan, rounded(table))
    for other in (masked, as_nan):
        np.testing.assert_equal(dk.utility.compare(table, other).figures, found.figures)
    there = (table.count != 0) & ~hidden
    assert found.deviations.cells == there.sum()
    assert found.hidden.cells == 1
    assert found.hidden.share == 1 / (table.count != 0).sum()
    assert found.hidden.value == pytest.approx(3 / table.count.sum())


def test_suppression_is_told_by_what_is_withheld(table):
    result = dk.suppress(table, dk.rules.MinimumFrequency(4))
    found = dk.utility.compare(table, result)
    hidden = result.published.suppressed
    assert found.hidden.cells == hidden.sum() > 0
    assert found.hidden.value == pytest.approx(table.count[hidden].sum() / table.count.sum())
    assert found.deviations.largest == 0
    assert found.zeros.false_nonzeros == 0


def test_zeros_are_told_apart(table):
    value = table.count.copy()
    value[table.count == 0] = 2
    value[table.count == 1] = 0
    found = dk.utility.compare(table, value)
    zeros = int((table.count == 0).sum())
    assert found.zeros.cells == found.zeros.false_nonzeros == zeros
    assert found.zeros.false_zeros == (table.count == 1).sum()
    assert found.zeros.largest == 2
    assert found.deviations.cells == table.count.size - zeros
    deviation, cells = found.noise
    assert dict(zip(deviation, cells, strict=True))[-1] == found.zeros.false_zeros
    assert 2 not in deviation


def test_groups_follow_the_structure_of_the_table(table):
    value = table.count.copy()
    value[0, 0] += 4  # the grand total
    value[1:, 0] += 2  # regions
    found = dk.utility.compare(table, value)
    assert found.by_dimension.group.tolist() == [0, 1, 2]
    assert found.by_dimension.cells.tolist() == [1, 5, 5]
    assert found.by_dimension.mean.tolist() == [4, 6 / 5, 0]
    assert set(found.by_level) == {"region", "sex"}
    assert found.by_level["region"].mean.tolist() == pytest.approx([4 / 3, 6 / 8])
    assert found.by_level["sex"].mean.tolist() == pytest.approx([10 / 4, 0])


def test_tables_of_a_set_are_pooled(table):
    other = table.recode("region", {"N+S": ["N", "S"]})
    both = [table, other]
    found = dk.utility.compare(both, [rounded(one) for one in both])
    alone = [dk.utility.compare(one, rounded(one)) for one in both]
    assert found.cells == sum(one.cells for one in alone)
    sizes = [one.deviations.cells for one in alone]
    means = [one.deviations.mean for one in alone]
    assert found.deviations.mean == pytest.approx(np.average(means, weights=sizes))
    assert found.additivity.broken == sum(one.additivity.broken for one in alone)
    assert [a.table for a in found.associations] == [1, 2]
    assert found.by_level["sex"].cells.sum() == sum(sizes)


def test_a_variable_of_one_table_only_has_its_own_cells(table):
    one_way = dk.Table.from_cells(
        pa.table({"size": ["a", "b"], "persons": [100, 45]}), by={"size": None}, count="persons"
    )
    found = dk.utility.compare([table, one_way], [rounded(table), rounded(one_way)])
    assert found.by_level["size"].cells.tolist() == [1, 2]
    assert found.by_level["region"].cells.sum() == (table.count != 0).sum()


def test_sums_are_in_their_own_unit(sums):
    found = dk.utility.compare(sums, [713.0, 12.5, 700.0])
    # 712.75 is published as 713, 700.25 as 700
    assert found.deviations.largest == 0.25
    assert found.deviations.mean == pytest.approx(0.5 / 3)
    assert found.additivity.largest == 0.5
    assert found.associations == ()
    assert math.isnan(found.figures["cramers_v_change"])


def test_frames_have_the_users_kind():
    import polars as pl

    cells = pl.DataFrame({"region": ["N", "S"], "persons": [14, 3]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="persons")
    found = dk.utility.compare(table, [15, 15, 0])
    assert isinstance(found.to_frame(), pl.DataFrame)
    assert found.to_frame().row(0, named=True)["false_zeros"] == 1
    frames = found.frames()
    assert all(isinstance(frame, pl.DataFrame) for frame in frames.values())
    assert frames["size"].rows(named=True)[0] == {
        "from": 1,
        "to": 9,
        "cells": 1,
        "largest": 3.0,
        "mean": 3.0,
        "bias": -3.0,
        "relative": 1.0,
        "unchanged": 0.0,
    }
    assert frames["noise"].rows() == [(-3.0, 1), (-2.0, 1), (1.0, 1)]
    assert frames["level"]["variable"].to_list() == ["region", "region"]
    shares = frames["deviations"].filter(pl.col("deviation") == 3)["share"]
    assert shares.to_list() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        ([1, 2], r"shape \(2,\), the table has \(4, 3\)"),
        ("rounded", "an array of numbers"),
        (np.full((4, 3), 0.5), "12 published values have more than the 0 decimals.*region=Total"),
    ],
)
def test_what_is_no_protected_version_is_refused(table, protected, message):
    with pytest.raises(InputError, match=message):
        dk.utility.compare(table, protected)


def test_a_published_table_of_other_cells_is_refused(table):
    other = table.recode("region", {"N+S": ["N", "S"]})
    with pytest.raises(InputError, match="variables or codes differ"):
        dk.utility.compare(table, changed(other, rounded(other)))
    later = replace(table, vintage="2026")
    with pytest.raises(InputError, match="vintages differ"):
        dk.utility.compare(table, changed(later, rounded(later)))
    women = replace(table, where=Population((("sex", ("f",)),)))
    with pytest.raises(InputError, match="filters differ"):
        dk.utility.compare(table, changed(women, rounded(women)))
    assert dk.utility.compare(women, changed(women, women.count)).deviations.mean == 0


def test_a_result_that_counts_units_is_not_compared_with_records():
    records = pa.table(
        {
            "region": ["N", "N", "S", "S"],
            "person": ["a", "a", "b", "c"],
            "key": pa.array([3, 3, 9, 2]),
        }
    )
    table = dk.tabulate(records, by={"region": None}, unit="person", record_key="key")
    noise = dk.PerturbationTable.maximum_entropy(max_noise=2, variance=1)
    result = dk.perturb(table, noise)
    with pytest.raises(InputError, match="measures differ.*compare a result with"):
        dk.utility.compare(table, result)
    assert dk.utility.compare(result.table, result).deviations.largest <= 2


def test_tables_that_cannot_be_pooled_are_refused(table, sums):
    with pytest.raises(InputError, match="different measures.*'count'.*'sales'"):
        dk.utility.compare([table, sums], [table.count, [1.0, 1.0, 0.0]])
    with pytest.raises(InputError, match="list of as many results"):
        dk.utility.compare([table], [])
    with pytest.raises(InputError, match="at least one"):
        dk.utility.compare([], [])
    with pytest.raises(InputError, match="table 1: "):
        dk.utility.compare([table], [[1]])
