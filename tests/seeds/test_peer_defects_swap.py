"""Defects of others in swapping and top coding, not shared here (numbers of the list)."""

import random
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import Microdata
from diskret.errors import InputError

PARTS = ["PTOTVAL", "PEARNVAL", "POTHVAL"]


@pytest.fixture(scope="module")
def testdata(reference_data):
    return csv.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")


def test_9_no_number_stands_for_a_missing_value():
    x = [-999.0, 5.0, 7.0, None, 900.0, 800.0, 700.0, 6.0]
    md = Microdata(pa.table({"x": x}))
    top = md.top_code("x", limit=500)
    assert top.table["x"].to_pylist() == [-999, 5, 7, None, 800, 800, 800, 6]
    low = md.top_code("x", limit=0, bottom=True, k=2)
    assert low.table["x"].to_pylist()[0] == (-999 + 5) / 2
    swapped = md.swap("x", seed=1, probability=1).table["x"].to_pylist()
    assert swapped[3] is None and swapped[0] != -999 and -999 in swapped


def test_10_a_sum_beside_its_parts_does_not_stop_the_ellipsoid(reference_data):
    data = pd.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    md = Microdata(data, numeric=PARTS)
    assert np.linalg.matrix_rank(np.cov(md.numbers().T)) == 2
    made = md.top_code_together()
    assert 0 < made.history[0].found["replaced"] < len(data) / 2
    after = made.numbers()
    agree = (data["PTOTVAL"] == data["PEARNVAL"] + data["POTHVAL"]).to_numpy()
    assert np.allclose(after[agree, 0], after[agree, 1] + after[agree, 2])


def test_14_many_distinct_values_in_few_strata_take_no_longer_road():
    # fixed hash tables with linear chains: here values are sorted, and memory follows the file
    n = 50_000
    made = Microdata(pa.table({"x": np.arange(n)})).swap("x", seed=1, probability=1)
    after = made.table["x"].to_numpy()
    assert (np.sort(after) == np.arange(n)).all() and (after != np.arange(n)).all()


def test_16_no_matrix_of_all_pairs_of_records_is_needed():
    # 60,000 records would take 29 GB
    n = 60_000
    x = np.random.default_rng(1).lognormal(size=(n, 2))
    made = Microdata(pa.table({"a": x[:, 0], "b": x[:, 1]})).top_code_together(["a", "b"])
    assert made.history[0].found["replaced"] > 0


def test_20_seeds_are_arguments_no_state_is_changed_and_no_log_is_written(
    testdata, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    md = Microdata(testdata, keys=["urbrur", "roof", "walls", "water", "sex"])
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = md.swap("urbrur", seed=1, within="sex", targets=3)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert md.swap("urbrur", seed=1, within="sex", targets=3).table.equals(first.table)
    assert list(tmp_path.iterdir()) == []


def test_a_threshold_of_risk_has_a_visible_effect_and_others_are_not_exchanged(testdata):
    # the peer's k_anonymity had none that users could see, and it exchanged households without risk
    md = Microdata(testdata, keys=["urbrur", "roof", "walls", "water", "sex"])
    frequency = md.risk().records["sample_frequency"].to_numpy()
    before = md.coded("urbrur").codes
    for k in (2, 3, 5):
        made = md.swap("urbrur", seed=1, probability=0, targets=k)
        found = made.history[0].found["urbrur"]
        assert found["risky"] == (frequency < k).sum() and found["not_exchanged"] == 0
        moved = made.coded("urbrur").codes != before
        assert moved[frequency < k].all()
        # only partners of risky records besides
        assert moved[frequency >= k].sum() <= found["risky"]


def test_text_and_gaps_can_be_exchanged_not_whole_numbers_only():
    table = pa.table({"town": ["Aa", "Bb", None, "Cc"] * 30, "area": ["n", "s"] * 60})
    made = Microdata(table).swap(["town", "area"], seed=1, probability=0.5).table
    pairs = [tuple(row.values()) for row in made.to_pylist()]
    assert Counter(pairs) == Counter(tuple(row.values()) for row in table.to_pylist())
    assert made["town"].is_null().equals(table["town"].is_null())


@pytest.fixture(scope="module")
def homes(testdata):
    """The households of the sample with their size, urban or rural."""
    size = np.bincount(testdata["ori_hid"])[testdata["ori_hid"].to_numpy()]
    table = testdata.append_column("size", pa.array(size))
    return Microdata(table, keys=["relat", "sex", "age", "roof"], household="ori_hid")


def test_record_swapping_with_k_1_is_refused_and_other_k_have_a_visible_effect(homes):
    # the peer's own example uses k = 1, which flags nobody, and users saw no effect of k
    with pytest.raises(InputError, match="k= must be a whole number from 2"):
        homes.swap_records("urbrur", seed=1, k=1)
    risky = []
    for k in (2, 3, 5):
        made = homes.swap_records("urbrur", seed=1, rate=0, k=k)
        found = made.history[0].found["levels"]["urbrur"]
        shown = ["urbrur", *homes.roles.keys]
        rare = homes.keys(shown).classes
        below = (rare.count < k)[rare.of]
        assert found["risky"] == len(set(homes.table["ori_hid"].to_numpy()[below]))
        # each swap serves one at risk at least; who is left has no partner in the other area
        assert found["moved"] <= 2 * found["swapped"]
        assert found["swapped"] + found["left"] == found["risky"]
        risky.append(found["risky"])
    assert risky[0] < risky[1] < risky[2]


def test_record_swapping_refuses_profiles_that_differ_within_a_household(homes):
    # silently taken from one of the members elsewhere
    with pytest.raises(InputError, match="'age', which differs between members"):
        homes.swap_records("urbrur", seed=1, similar=["size", "age"])


def test_record_swapping_takes_text_gaps_and_writes_no_log(homes, tmp_path, monkeypatch):
    # whole numbers only elsewhere; ids as categories made it hang; a log file by default
    monkeypatch.chdir(tmp_path)
    home = pa.chunked_array([[f"H{one}" for one in homes.table["ori_hid"].to_pylist()]])
    area = [None, "urban", "rural"]
    text = pa.chunked_array([[area[one] for one in homes.table["urbrur"].to_pylist()]])
    table = homes.table.drop_columns(["ori_hid", "urbrur"])
    table = table.append_column("home", home.dictionary_encode()).append_column("area", text)
    md = Microdata(table, keys=homes.roles.keys, household="home")
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    made = md.swap_records("area", seed=1)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert made.history[0].found["moved"] > 0 and list(tmp_path.iterdir()) == []
