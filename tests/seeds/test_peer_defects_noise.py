"""Defects of other programs' noise, rank swapping and shuffling (numbers of the reference list)."""

import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import DiskretError, Microdata

CASC = (
    "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL "
    "ERNVAL"
).split()


def displacement(md, made, name):
    """How many ranks values moved, of records whose values are all different."""
    before, after = (np.argsort(np.argsort(x.table[name].to_numpy())) for x in (md, made))
    return np.abs(before - after)


@pytest.fixture(scope="module")
def census(reference_data):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    return Microdata(table, numeric=table.column_names)


@pytest.fixture(scope="module")
def distinct():
    values = np.random.default_rng(1).permutation(10_000)
    return Microdata(pa.table({"income": values}), numeric=["income"])


def test_6_windows_of_5_and_15_per_cent_differ_and_are_shares(distinct):
    # the peer moves by 3,312 of 10,000 ranks on average with P = 5 as with P = 15
    moved = {
        share: displacement(distinct, distinct.rank_swap(window=share, seed=1), "income")
        for share in (0.05, 0.15)
    }
    assert moved[0.05].max() == 500 and moved[0.15].max() == 1500
    assert 200 < moved[0.05].mean() < 350 and 600 < moved[0.15].mean() < 1050
    for percent in (5, 15):
        with pytest.raises(DiskretError, match=f"window= .* such as 0.05 for 5 %, not {percent}"):
            distinct.rank_swap(window=percent, seed=1)


def test_rank_swapping_loses_no_value_at_the_ends(census):
    # the peer replaces the top and bottom 5 % by their mean unless it is told otherwise
    made = census.rank_swap(seed=1)
    assert (np.sort(made.numbers(), axis=0) == np.sort(census.numbers(), axis=0)).all()
    assert all(made.table[name].type == census.table[name].type for name in CASC)


def test_7_restricted_noise_adds_noise_and_keeps_means_by_column(census):
    first, second = (census.add_noise(method="restricted", seed=seed) for seed in (1, 2))
    before, one, two = census.numbers(), first.numbers(), second.numbers()
    assert ((one != before) & (two != before) & (one != two)).all()
    deviation = before.std(axis=0)
    assert np.abs((one - before).std(axis=0) / deviation - 0.1).max() < 0.001
    assert np.abs((one.mean(axis=0) - before.mean(axis=0)) / deviation).max() < 1e-9
    assert np.allclose(np.cov(one.T), np.cov(before.T), rtol=1e-6)
    # the total still is the sum of its parts
    at = [CASC.index(name) for name in ("PTOTVAL", "POTHVAL", "PEARNVAL")]
    assert np.abs(one[:, at] @ [1, -1, -1]).max() < 1e-6 * deviation[at[0]]


def test_7_noise_on_outliers_does_not_shrink_with_the_number_of_records(census):
    # the peer divides by sqrt(n), so that 50 % are 3.8 % of a deviation
    names = ["AGI", "FEDTAX", "TAXINC"]
    for times in (1, 4):
        md = Microdata(pa.concat_tables([census.table] * times), numeric=names)
        made = md.add_noise(method="outliers", share=0.5, seed=1)
        added = made.numbers() - md.numbers()
        hit = added.any(axis=1)
        assert 0.05 < hit.mean() < 0.6
        found = added[hit].std(axis=0) / md.numbers().std(axis=0)
        assert np.abs(found - 0.5).max() < 4 * 0.5 / np.sqrt(2 * hit.sum())


@pytest.mark.parametrize("method", ["additive", "correlated", "restricted", "romm", "outliers"])
def test_7_every_variable_gets_noise_of_its_own_size_whatever_the_shape(census, method):
    # rows and columns are not confused: few records with many variables, very different units
    values = census.numbers()[:30] * 10.0 ** np.arange(-6, 7)
    table = pa.table(dict(zip(CASC, values.T, strict=True)))
    md = Microdata(table, numeric=CASC)
    made = md.add_noise(method=method, share=0.3, seed=1, **(
        {"quantile": 1e-9} if method == "outliers" else {}))  # fmt: skip
    ratio = (made.numbers() - values).std(axis=0) / values.std(axis=0)
    assert (0.12 < ratio).all() and (ratio < 0.6).all()


def test_9_no_number_is_a_code_for_missing(distinct):
    values = [-999.0, -999.0, 5.0, 8.0, None, 3.0, 12.0, 77.0]
    md = Microdata(pa.table({"income": values}), numeric=["income"])
    noisy = md.add_noise(seed=1).table["income"].to_pylist()
    assert noisy[4] is None and noisy[0] != -999 and noisy[1] != -999
    swapped = md.rank_swap(window=1, seed=1).table["income"]
    assert swapped.null_count == 1 and sorted(swapped.drop_null().to_pylist())[:2] == [-999, -999]


def test_14_files_of_any_size_and_with_many_equal_values_are_swapped():
    # no tables of fixed size, no chains that grow with equal values
    n = 300_000
    values = np.random.default_rng(1).integers(0, 7, n)
    md = Microdata(pa.table({"income": values}), numeric=["income"])
    made = md.rank_swap(seed=1)
    assert (np.bincount(made.table["income"].to_numpy()) == np.bincount(values)).all()
    assert made.history[0].found["exchanged"]["income"] > n - 20
    for few in (1, 2, 3):
        short = Microdata(pa.table({"income": values[:few]}), numeric=["income"])
        assert sorted(short.rank_swap(seed=1).table["income"].to_pylist()) == sorted(values[:few])


def test_16_an_orthogonal_matrix_needs_no_memory_of_records_times_records(census):
    table = pa.concat_tables([census.table] * 50)  # 54,000: a matrix would take 23 GB
    md = Microdata(table, numeric=CASC)
    tracemalloc.start()
    made = md.add_noise(method="romm", share=0.2, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 8 * md.n * len(CASC)
    assert np.allclose(np.cov(made.numbers().T), np.cov(md.numbers().T), rtol=1e-9)


def test_shuffling_works_with_a_single_response(census):
    # the peer needs two at least
    made = census.shuffle("FEDTAX", ["AGI", "TAXINC"], seed=1)
    assert made.history[0].found["deviation"] < 0.05
    assert sorted(made.table["FEDTAX"].to_pylist()) == sorted(census.table["FEDTAX"].to_pylist())


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("add_noise", {"method": "romm"}),
        ("add_noise", {"method": "outliers", "variables": ["AGI", "FEDTAX"]}),
        ("rank_swap", {}),
        ("shuffle", {"variables": ["AGI", "FEDTAX"], "given": ["TAXINC"]}),
    ],
)
def test_20_no_global_random_state_is_used_or_changed_and_no_file_written(
    census, verb, arguments, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = getattr(census, verb)(seed=1, **arguments)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert getattr(census, verb)(seed=1, **arguments).table.equals(first.table)
    assert not getattr(census, verb)(seed=2, **arguments).table.equals(first.table)
    with pytest.raises(TypeError, match="seed"):
        getattr(census, verb)(**arguments)
    assert list(tmp_path.iterdir()) == []
