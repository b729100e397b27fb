"""Microaggregation in several variables: published figures, and defects of other programs.

Numbers of defects are those of the reference list.
"""

import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import Microdata


@pytest.fixture(scope="module")
def casc(reference_data):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    return Microdata(table, numeric=table.column_names)


@pytest.fixture(scope="module")
def francdat(reference_data):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / "francdat.csv")
    return Microdata(table, numeric=["Num1", "Num2", "Num3"], weight="w")


def together(md, name):
    groups = {}
    for record, value in enumerate(md.table.column(name).to_pylist(), start=1):
        groups.setdefault(value, set()).add(record)
    return sorted(map(sorted, groups.values()))


def test_sse_of_mdav_on_the_casc_reference_file(casc):
    # all 13 variables, standardised, 1,080 records: 5.692 %
    found = casc.microaggregate(k=3).history[0].found
    assert round(100 * found["sse_sst"], 3) == 5.692
    assert (found["groups"], found["smallest"], found["largest"]) == (360, 3, 3)


def test_groups_of_the_lecture_example(francdat):
    # those of today's sdcMicro (5.8.1), for MDAV as for its robust relative
    made = francdat.microaggregate(k=2)
    assert together(made, "Num3") == [[1, 5], [2, 3], [4, 6], [7, 8]]
    assert made.table.column("Num3").to_pylist() == [8.5, 15, 15, 52.5, 8.5, 52.5, 3, 3]


def test_8_weights_and_measure_do_something(francdat):
    made = {
        (measure, weights): francdat.microaggregate(k=3, measure=measure, weights=weights)
        for measure in ("mean", "median")
        for weights in (False, True)
    }
    files = [md.table.column("Num3").to_pylist() for md in made.values()]
    assert all(one != other for at, one in enumerate(files) for other in files[:at])


def test_9_no_number_stands_for_missing():
    values = [-999.0, -998.0, -997.0, 5.0, 6.0, 7.0, None]
    md = Microdata(pa.table({"x": values}), numeric=["x"]).microaggregate(k=3)
    assert md.table.column("x").to_pylist() == [-998.0] * 3 + [6.0] * 3 + [None]


def test_9_groups_are_groups_of_whole_records(casc):
    made = casc.microaggregate(k=3)
    _, often = np.unique(made.numbers(), axis=0, return_counts=True)
    assert often.min() == 3 == made.history[0].found["alike"]


@pytest.mark.parametrize("method", ["mdav", "vmdav", "gower", "random_nearest"])
def test_10_variables_that_add_up_are_no_obstacle(casc, method):
    numbers = {name: casc.table.column(name).to_numpy() for name in casc.table.column_names}
    assert (numbers["PTOTVAL"] == numbers["POTHVAL"] + numbers["PEARNVAL"]).all()
    seed = 1 if method == "random_nearest" else None
    made = casc.microaggregate(method=method, k=3, seed=seed)
    assert made.history[0].found["smallest"] == 3
    after = {name: made.table.column(name).to_numpy() for name in numbers}
    assert np.allclose(after["PTOTVAL"], after["POTHVAL"] + after["PEARNVAL"])


def test_16_memory_grows_with_the_records_not_with_their_pairs():
    n = 20_000
    rng = np.random.default_rng(1)
    md = Microdata(
        pa.table({f"x{j}": rng.normal(size=n) for j in range(3)}), numeric=["x0", "x1", "x2"]
    )
    md.microaggregate(k=3)  # compiled before it is measured
    tracemalloc.start()
    md.microaggregate(k=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * n  # all pairs would take 160,000 bytes a record


def test_20_no_global_random_state_is_used_or_changed_and_no_file_written(
    casc, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = casc.microaggregate(method="random", seed=1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert casc.microaggregate(method="random", seed=1).table.equals(first.table)
    assert not casc.microaggregate(method="random", seed=2).table.equals(first.table)
    assert list(tmp_path.iterdir()) == []
