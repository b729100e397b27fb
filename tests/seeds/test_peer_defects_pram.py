"""Defects of other programs' PRAM that this one does not share (numbers of the reference list)."""

import random

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import Microdata
from diskret.microdata import TransitionMatrix


@pytest.fixture(scope="module")
def testdata(reference_data):
    return csv.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")


def test_18_columns_that_do_not_change_are_not_touched_nor_turned_into_text(testdata):
    md = Microdata(testdata, keys=["roof"])
    made = md.pram("roof", seed=1)
    assert made.changed == {"roof"} and list(made.history[0].found["changed"]) == ["roof"]
    for name in set(testdata.column_names) - {"roof"}:
        before, after = (one.table.column(name).chunk(0).buffers()[1] for one in (md, made))
        assert before.address == after.address


def test_20_no_global_random_state_is_used_or_changed_and_no_file_written(
    testdata, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    md = Microdata(testdata, keys=["roof"])
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = md.pram("roof", seed=1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert md.pram("roof", seed=1).table.equals(first.table)
    assert not md.pram("roof", seed=2).table.equals(first.table)
    assert list(tmp_path.iterdir()) == []


def test_the_matrix_is_not_drawn_it_follows_from_the_frequencies(testdata):
    md = Microdata(testdata, keys=["roof"])
    found = md.transitions("roof", stay=0.8)
    assert (
        found.matrix.probabilities.tolist() == md.transitions("roof").matrix.probabilities.tolist()
    )
    counts = next(iter(found.risks.values())).frequencies
    assert counts.sum() == 4580
    assert np.abs(found.matrix.published(counts) - counts).max() <= 1e-12 * 4580
    assert found.frame.column("posterior").to_numpy().min() >= 0.8 - 1e-12


def test_the_classical_matrix_of_the_lecture_keeps_the_margin_of_testdata(testdata):
    # R* = alpha R + (1 - alpha) I with R = P Q, pd = 0.8, alpha = 0.5; the peer reaches 1e-16
    md = Microdata(testdata, keys=["water"])
    risk = next(iter(md.transitions("water").risks.values()))
    classical = TransitionMatrix.staying(risk.matrix.categories, 0.8).two_step(
        risk.frequencies, share=0.5
    )
    shares = risk.frequencies / risk.frequencies.sum()
    assert np.abs(classical.published(shares) - shares).max() <= 2e-16
    made = md.pram("water", matrix=classical, seed=1)
    assert 0 < made.history[0].found["changed"]["water"] < 4580 / 2


def test_the_frame_of_the_caller_stays_as_it_was(testdata):
    frame = testdata.to_pandas()
    before = frame.copy()
    Microdata(frame, keys=["roof"]).pram("roof", seed=1, exact=True)
    assert frame.equals(before)


def test_text_and_numbers_are_randomised_alike():
    numbers = Microdata(pa.table({"x": [1, 2, 3] * 40})).pram("x", seed=1)
    texts = Microdata(pa.table({"x": ["1", "2", "3"] * 40})).pram("x", seed=1)
    assert numbers.table.column("x").cast(pa.string()) == texts.table.column("x")
