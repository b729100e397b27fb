"""The cell key method from records to what leaves: the same cell, the same value, everywhere."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.cellkey import Lookup, PerturbationTable
from diskret.errors import InputError
from diskret.protect.linked import check_alike

NOISE = PerturbationTable(
    np.arange(4),
    np.arange(-3, 4),
    np.array(
        [
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0.5, 0.1, 0.3, 0.1, 0],
            [0, 0.1, 0.2, 0.4, 0.2, 0.1, 0],
            [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05],
        ]
    ),
)
SUMS = dk.MagnitudeNoise(NOISE, scale=0.3, shares=(1, 0.5))
TREE = dk.Hierarchy.from_parents(
    pa.table({"code": ["all", "A", "B", "A1", "A2"], "parent": [None, "all", "all", "A", "A"]})
)
BY = {"area": TREE, "sex": dk.Hierarchy.flat(["f", "m"])}

#: Records are tabulated several times in each example.
few = examples(12)


def records(number, seed=4, units=None):
    """Persons with keys; where `units` is less than `number` some have several records."""
    random = np.random.default_rng(seed)
    unit = np.arange(number) if units is None else random.integers(0, units, number)
    keys = random.integers(0, 2**32, number)
    return pa.table(
        {
            "area": random.choice(["A1", "A2", "B"], number),
            "sex": random.choice(["f", "m"], number),
            "person": unit,
            "income": random.integers(0, 90, number),
            "weight": random.integers(10, 40, number) / 10,
            "key": keys[unit],
        }
    )


def tabulated(frame, by=BY, **options):
    return dk.tabulate(frame, by=by, record_key="key", **options)


def counted(table):
    """The true counts, which every table of records knows."""
    assert table.count is not None
    return table.count


def shown(result):
    """Published values by their codes, the names of the variables with them."""
    rows = result.public if isinstance(result.public, pa.Table) else pa.table(result.public)
    names = [d.name for d in result.published.dimensions]
    return {
        frozenset((name, row[name]) for name in names if row[name] not in ("all", "Total")): row[
            result.published.measure
        ]
        for row in rows.to_pylist()
    }


@few
@given(st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_same_cell_has_same_value_in_any_table(number, seed, repeated):
    """Other variables, another order of variables and rows, filters with the same units."""
    frame = records(number, seed, units=max(number // 2, 1) if repeated else None)
    options = {"unit": "person"} if repeated else {}
    whole = shown(dk.perturb(tabulated(frame, **options), NOISE))
    order = np.random.default_rng(seed).permutation(number)
    shuffled = frame.take(order)
    turned = dk.perturb(tabulated(shuffled, dict(reversed(BY.items())), **options), NOISE)
    assert shown(turned) == whole
    margin = shown(dk.perturb(tabulated(shuffled, {"sex": BY["sex"]}, **options), NOISE))
    assert margin.items() <= whole.items()
    if "f" in frame["sex"].to_pylist():
        women = dk.perturb(tabulated(frame, {"area": TREE}, where={"sex": "f"}, **options), NOISE)
        for codes, value in shown(women).items():
            assert value == whole[codes | {("sex", "f")}]


@few
@given(st.integers(1, 30), st.integers(0, 10**6))
def test_same_sum_has_same_value_in_any_table(number, seed):
    frame = records(number, seed)
    table = tabulated(frame, value=["income", "weight"], decimals={"weight": 1})
    whole = shown(dk.perturb(table["income"], SUMS))
    margin = tabulated(frame.slice(0, number), {"sex": BY["sex"]}, value="income", largest=2)
    assert shown(dk.perturb(margin, SUMS)).items() <= whole.items()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda frame: frame])
def test_result_is_of_the_kind_of_frame_that_came(kind):
    frame = kind(records(50).to_pydict()) if kind in (pd.DataFrame, pl.DataFrame) else records(50)
    result = dk.perturb(tabulated(frame), NOISE)
    assert type(result.public) is type(result.cells) is type(frame)
    assert shown(result) == shown(dk.perturb(tabulated(records(50)), NOISE))


@pytest.mark.long
def test_another_process_finds_the_same_values():
    script = (
        "import test_perturb as t, diskret as dk\n"
        "print(dk.perturb(t.tabulated(t.records(80)), t.NOISE).published.value.ravel().tolist())"
    )
    here = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(here)},
    )
    found = dk.perturb(tabulated(records(80)), NOISE).published.value
    assert done.stdout.strip() == str(found.ravel().tolist())


def test_noise_has_mean_0_and_the_variance_of_its_row():
    """By simulation over cells of 1 to 5 persons, within 4 standard errors."""
    cells = 4000
    random = np.random.default_rng(1)
    for count, variance in ((1, 1.2), (2, 1.2), (5, 2.1)):
        area = np.repeat(np.arange(cells), count).astype(str)
        frame = pa.table({"area": area, "key": random.integers(0, 2**32, cells * count)})
        result = dk.perturb(tabulated(frame, {"area": None}), NOISE)
        noise = result.noise[1:]
        assert abs(noise.mean()) < 4 * np.sqrt(variance / cells)
        assert abs(noise.var() - variance) < 4 * np.sqrt(12 / cells)


def test_zero_stays_zero_and_is_not_told_to_be_empty():
    frame = records(5).set_column(0, "area", pa.array(["B"] * 5))
    public = shown(dk.perturb(tabulated(frame), NOISE))
    assert public[frozenset({("area", "A1")})] == 0
    statuses = dk.perturb(tabulated(frame), NOISE).public["status"].unique().to_pylist()
    assert statuses == ["published"]


def test_structural_zeros_are_shown_as_nothing():
    frame = records(5).set_column(0, "area", pa.array(["B"] * 5))
    given = pa.table({"area": ["A1", "A1", "A1"], "sex": ["Total", "f", "m"]})
    table = tabulated(frame)
    result = dk.perturb(table, NOISE, structural_zeros=given)
    assert int(result.published.empty.sum()) == 3
    mask = result.published.empty
    again = dk.perturb(table, NOISE, structural_zeros=mask)
    assert again.public.equals(result.public)
    with pytest.raises(InputError, match=r"1 cell.*impossible holds records"):
        dk.perturb(table, NOISE, structural_zeros=pa.table({"area": ["B"], "sex": ["Total"]}))


def test_threshold_looks_at_the_changed_value_only():
    table = tabulated(records(60))
    plain = dk.perturb(table, NOISE)
    result = dk.perturb(table, NOISE, threshold=10)
    withheld = result.published.suppressed
    assert np.array_equal(withheld, plain.published.value < 10)
    original = table.count
    assert np.any(withheld & (original >= 10)) or np.any(~withheld & (original < 10))
    assert result.public["count"].null_count == withheld.sum()
    assert "10" not in str(result.certificate.public())


def test_units_are_counted_once_and_named_in_the_settings():
    frame = records(60, units=9)
    result = dk.perturb(tabulated(frame, unit="person"), NOISE)
    assert result.settings["counted"] == "units"
    assert int(result.cells["original"][0].as_py()) == len(set(frame["person"].to_pylist()))
    assert dk.perturb(tabulated(records(60)), NOISE).settings["counted"] == "records"


def test_counts_of_units_have_a_name_of_their_own():
    jobs = pa.table({"person": [1, 1, 2, 3], "area": ["a", "b", "b", "b"], "key": [7, 7, 5, 9]})
    table = dk.tabulate(jobs, by={"area": None}, unit="person", record_key="key", key_modulus=10)
    units = dk.perturb(table, NOISE.lookup(10))
    assert units.published.measure == "units" and "units" in units.public.column_names
    # person 1 is in both areas, so the total is less than the sum and equations tell nothing
    assert table.units.tolist() == [3, 1, 3] and units.known is None
    alone = dk.tabulate(jobs, by={"area": None}, record_key="key", key_modulus=10)
    records = dk.perturb(alone, NOISE.lookup(10), name="records")
    assert records.published.measure == "count"
    assert records.known.largest == NOISE.max_noise
    # they are other figures, so one does not contradict the other
    check_alike([units, records])


def test_what_is_known_is_the_largest_noise_of_counts_only():
    table = tabulated(records(60), value=["income", "weight"], decimals={"weight": 1})
    assert dk.perturb(table["count"], NOISE).known == dk.Perturbed("noise", largest=3)
    assert dk.perturb(table["income"], SUMS).known is None
    assert dk.perturb(table["weight"], NOISE, weighted_count=True).known is None


def test_settings_tell_the_office_which_table_was_used_but_no_key():
    table = tabulated(records(60))
    first, second = (dk.perturb(table, lookup) for lookup in (NOISE, NOISE.lookup()))
    other = dk.perturb(table, NOISE.lookup(order="shuffled", seed=3))
    used = "perturbation_table"
    assert first.settings[used] == second.settings[used] != other.settings[used]
    assert not set(map(str, table.key_sum.ravel())) & set(map(str, first.settings.values()))


# ── weighted counts, means ──────────────────────────────────────────────────────────


def test_weighted_count_is_the_perturbed_count_times_the_mean_weight():
    table = tabulated(records(60), value="weight", decimals=1)
    counts = dk.perturb(table["count"], NOISE).published.value
    result = dk.perturb(table["weight"], NOISE, weighted_count=True)
    mean = table["weight"].measure.sum / 10 / np.maximum(counted(table), 1)
    assert np.array_equal(result.published.value / 10, np.floor(counts * mean + 0.5))
    finer = dk.perturb(table["weight"].rounded(0.5), NOISE, weighted_count=True)
    assert np.all(finer.published.value % 5 == 0)
    assert np.any(finer.published.value % 10 == 5)


def test_means_are_made_of_what_is_published():
    """No exact mean stands beside a changed count; a division by 0 gives no figure."""
    frame = records(40).set_column(0, "area", pa.array(["A1"] * 39 + ["B"]))
    table = tabulated(frame, value="income")
    income, persons = dk.perturb(table["income"], SUMS), dk.perturb(table["count"], NOISE)
    mean = dk.derive.mean(income, persons, decimals=3)
    top, bottom = income.published.value, persons.published.value
    assert np.all(mean.empty == (bottom == 0))
    there = bottom > 0
    assert mean.value[there] / 1000 == pytest.approx(top[there] / bottom[there], abs=5e-4)
    exact = table["income"].measure.sum[there] / table.count[there]
    assert np.any(np.abs(mean.value[there] / 1000 - exact) > 0.01)
    assert dk.derive.share(persons, of="sex").frame.num_rows == 15


def test_sums_may_be_shown_in_thousands():
    table = tabulated(records(60), value="income", largest=2)
    exact, rounded = dk.perturb(table, SUMS), dk.perturb(table.rounded(10), SUMS)
    value = rounded.published.value
    assert np.all(value % 10 == 0)
    # noise is added before anything is rounded: at most half a ten from what is shown in ones
    assert np.abs(value - exact.published.value).max() <= 5


@pytest.mark.parametrize("extra", [1.0, None])
def test_extra_protection_follows_a_rule(extra):
    table = tabulated(records(20), value="income", largest=2)
    rule = dk.rules.PPercent(50)
    noise = replace(SUMS, extra=extra, risk=1.0)
    moved = dk.perturb(table, noise, rule=rule).noise != dk.perturb(table, SUMS).noise
    unsafe = rule(table).unsafe
    assert unsafe.any()
    assert np.array_equal(moved, unsafe)
    again = dk.perturb(table, noise, rule=rule(table))
    assert again.settings["sensitive"] == unsafe.sum()


# ── cells that were tabulated elsewhere ─────────────────────────────────────────────


def elsewhere(table):
    cells = table.cells
    keys = cells.select(["area", "sex"]).append_column("key", pa.array(table.key_sum.ravel()))
    return dk.Table.from_cells(cells, by=BY, count="count"), keys


def test_cell_keys_given_with_cells_make_the_same_noise_as_records():
    table = tabulated(records(60))
    cells, keys = elsewhere(table)
    assert dk.perturb(cells, NOISE, cell_keys=keys).public.equals(dk.perturb(table, NOISE).public)
    few = keys.filter(pa.array(table.count.ravel() > 0))
    assert dk.perturb(cells, NOISE, cell_keys=few).public.equals(dk.perturb(table, NOISE).public)


def test_a_cell_without_its_key_is_named():
    cells, keys = elsewhere(tabulated(records(60)))
    with pytest.raises(InputError, match=r"1 cell with records has no key.*area=all, sex=Total"):
        dk.perturb(cells, NOISE, cell_keys=keys.slice(1))


@pytest.mark.parametrize(
    ("keys", "match"),
    [
        (lambda k: k.select(["area", "sex"]), r"one column of keys"),
        (lambda k: k.append_column("more", k["key"]), r"one column of keys"),
        (
            lambda k: k.set_column(2, "key", pa.array([2**32] * k.num_rows)),
            r"15 cell keys in 'key' are not from 0 to 4,294,967,295",
        ),
        (lambda k: pa.concat_tables([k, k.slice(0, 1)]), r"more than once"),
    ],
)
def test_cell_keys_that_cannot_be_used_are_refused(keys, match):
    cells, right = elsewhere(tabulated(records(60)))
    with pytest.raises(InputError, match=match):
        dk.perturb(cells, NOISE, cell_keys=keys(right))


def test_cell_keys_have_the_modulus_of_the_lookup():
    cells = dk.Table.from_cells(
        pa.table({"sex": ["Total", "f", "m"], "n": [3, 2, 1]}), by={"sex": None}, count="n"
    )
    keys = pa.table({"sex": ["Total", "f", "m"], "key": [4, 3, 1]})
    one = Lookup(np.arange(2), 5, np.array([[5, 5], [3, 5]], np.uint64), np.array([[0, 0], [0, 1]]))
    assert dk.perturb(cells, one, cell_keys=keys).published.value.tolist() == [4, 3, 1]


# ── what is refused ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"noise": SUMS}, r"publishes counts and a MagnitudeNoise is for sums"),
        ({"weighted_count": True}, r"publishes counts and weighted_count="),
        ({"measure": "income"}, r"'income' is a sum.*MagnitudeNoise.*table\[\"count\"\]"),
        ({"measure": "income", "noise": SUMS, "weighted_count": True}, r"adds up weights"),
        ({"measure": "income", "noise": SUMS, "threshold": 5}, r"threshold= is for counts"),
        ({"measure": "income", "noise": replace(SUMS, extra=1.0)}, r"rule= says which these are"),
        ({"rule": dk.rules.MinimumFrequency(3)}, r"counts need no rule"),
        ({"threshold": 0}, r"a whole number from 1 upwards, not 0"),
        ({"noise": NOISE.lookup(256)}, r"tabulate with key_modulus=256"),
        ({"noise": "sorted"}, r"not an object of type 'str'"),
        ({"cell_keys": pa.table({"sex": ["f"]})}, r"keys of its own"),
        ({"structural_zeros": np.zeros(3, bool)}, r"bool array of shape \(5, 3\)"),
        ({"keyless": True}, r"no cell keys; tabulate with record_key="),
    ],
)
def test_what_does_not_fit_is_refused(options, match):
    options = dict(options)
    key = {} if options.pop("keyless", False) else {"record_key": "key"}
    table = dk.tabulate(records(30), by=BY, value="income", **key)
    table = table[options.pop("measure", "count")]
    with pytest.raises(InputError, match=match):
        dk.perturb(table, options.pop("noise", NOISE), **options)


def test_records_are_no_table():
    with pytest.raises(InputError, match=r"perturb\(\) takes tables"):
        dk.perturb(records(3), NOISE)
