"""Defects of the peers' risk measures that we must not share."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from diskret import Microdata
from diskret.anonymize.verb import Step
from diskret.risk import individual_risk

KEYS = ["Key1", "Key2", "Key3", "Key4"]


@pytest.fixture(scope="module")
def francdat(reference_data):
    return pd.read_csv(reference_data / "data" / "sdcmicro" / "francdat.csv")


@pytest.fixture(scope="module")
def testdata(reference_data):
    return pd.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")


@pytest.mark.parametrize("compat", [None, "sdcmicro", "lecture"])
def test_1_a_frequency_between_one_and_two_has_a_risk(francdat, compat):
    frame = francdat.astype({"Key4": "Int64"})
    frame.loc[4, "Key4"] = pd.NA
    md = Microdata(frame, keys=KEYS, weight="w")
    found = md.risk(alpha=0.5, compat=compat)
    between = (found.sample_frequency > 1) & (found.sample_frequency < 2)
    assert found.records["sample_frequency"][between].tolist() == [1.5, 1.5]
    # rows 5 and 6, each with half of the other's weight
    assert found.population_frequency[between].tolist() == [545, 278.5]
    apart, together = md.risk(alpha=0.0, compat=compat).risk, md.risk(compat=compat).risk
    assert (found.risk[between] > together[between]).all()
    assert (found.risk[between] < apart[between]).all()
    assert (found.risk[between] > 0.003).all()


def test_2_exact_risk_stays_a_number_for_large_frequencies(testdata):
    f = np.array([150.0, 200.0, 1e4, 1e6])
    for ratio in (1e-6, 0.01, 0.5, 0.999999, 1.0):
        found = individual_risk(f, f / ratio)
        assert (found >= ratio / f * (1 - 1e-12)).all() and (found <= 1 / f).all()
    keys = ["urbrur", "sex"]
    md = Microdata(testdata, keys=keys, weight="sampling_weight")
    exact = md.risk()
    assert exact.sample_frequency.min() > 200
    assert np.isfinite(exact.risk).all()
    assert exact.risk == pytest.approx(md.risk(compat="sdcmicro").risk, rel=1e-4)


def test_3_weights_below_one_give_no_risk_above_one_and_are_told(francdat):
    found = Microdata(francdat.assign(w=0.5), keys=KEYS, weight="w").risk()
    assert found.population_frequency.tolist() == [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 1]
    assert found.risk.tolist() == [0.5, 0.5, 0.5, 1, 1, 1, 1, 0.5]
    assert found.short == 8
    assert "For 8 records the population has fewer" in found.remarks[0]


def test_4_text_is_a_key_like_any_other(francdat):
    numbers = Microdata(francdat, keys=KEYS, weight="w").risk()
    text = francdat.astype(dict.fromkeys(KEYS, str))
    letters = text.replace({name: {"1": "a", "2": "b"} for name in KEYS})
    for frame in (text, letters, letters.astype(dict.fromkeys(KEYS, "category"))):
        found = Microdata(frame, keys=KEYS, weight="w").risk()
        assert found.records.equals(numbers.records)


def test_13_households_may_have_any_kind_of_id(testdata):
    def household(ids):
        md = Microdata(
            testdata.assign(hid=ids), keys=["roof", "relat"], weight="sampling_weight",
            household="hid",
        )  # fmt: skip
        return md.risk().records["household_risk"].tolist()

    ids = testdata["ori_hid"]
    numbers = household(ids)
    for other in (
        "H-" + ids.astype(str),
        ("H-" + ids.astype(str)).astype("category"),
        ids.astype(float),
        pd.Timestamp("2020-01-01") + pd.to_timedelta(ids, unit="D"),
    ):
        assert household(other) == pytest.approx(numbers, rel=1e-12)


def test_13_the_order_of_the_records_does_not_matter(testdata):
    def risks(frame):
        md = Microdata(frame, keys=["roof", "relat", "sex"], weight="w", household="ori_hid")
        return md.risk()

    rng = np.random.default_rng(1)
    # sums of such weights depend on their order, unless somebody sees to it
    testdata = testdata.assign(w=rng.uniform(1, 200, len(testdata)))
    order = rng.permutation(len(testdata))
    straight, shuffled = risks(testdata), risks(testdata.iloc[order])
    assert shuffled.expected == straight.expected
    straight, shuffled = straight.records, shuffled.records
    assert shuffled.equals(straight.iloc[order].reset_index(drop=True))


def test_19_a_step_copies_only_the_columns_it_changes():
    table = pa.table({"job": ["a", "b"], "town": ["x", "y"], "income": [1.0, 2.0]})
    md = Microdata(table, keys=["job", "town"])
    made = md.after({"job": md.coded("job").without(np.array([True, False])).column()},
                    Step("hide", {}))  # fmt: skip

    def addresses(holder, name):
        chunks = holder.table.column(name).chunks
        return [part.address for chunk in chunks for part in chunk.buffers() if part is not None]

    for name in ("town", "income"):
        assert addresses(made, name) == addresses(md, name) != []
    assert addresses(made, "job") != addresses(md, "job")
    # what was already coded is coded once
    assert made.coded("town") is not made.coded("job")
    assert md.coded("town") is md.coded("town")


def test_19_risk_needs_less_than_six_times_the_data_and_leaves_other_columns_alone():
    rng = np.random.default_rng(2)
    n = 100_000
    table = pa.table(
        {
            **{f"k{j}": rng.integers(0, 12, n) for j in range(4)},
            "w": rng.integers(1, 90, n).astype(float),
            "hid": rng.integers(0, n // 3, n),
            # could be turned into no number
            "answers": pa.array([["yes"]] * n),
        }
    )
    md = Microdata(table, keys=["k0", "k1", "k2", "k3"], weight="w", household="hid")
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        found = md.risk().records
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    held = max(pa.total_allocated_bytes() - before, 0)
    assert found.num_rows == n
    assert peak + held < 6 * table.nbytes
