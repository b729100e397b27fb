"""Deviations of tables for any method that changes or replaces records."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import diskret as dk
from diskret.anonymize.verb import Step


def persons(n=200, seed=1):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "town": draw.choice(["N", "S", "W"], n).tolist(),
            "age": draw.integers(0, 5, n).tolist(),
            "sex": draw.choice(["f", "m"], n).tolist(),
        }
    )


def replaced(md, records, tables):
    return md.replaced(records, Step("safe", {}, {"tables": tables}))


def test_unchanged_records_deviate_by_nothing():
    md = dk.Microdata(persons(), keys=["town", "age", "sex"])
    found = md.deviations()
    assert len(found.controlled.names) == 6
    assert found.uncontrolled is None
    assert found.controlled.overall.largest == 0


def test_records_that_were_replaced_are_compared_in_the_tables_of_the_step():
    before, after = persons(200, 1), persons(190, 2)
    md = replaced(dk.Microdata(before), after, [["town"], ["town", "age"], []])
    found = md.deviations(uncontrolled=["sex"])
    assert [columns for columns, _ in found.controlled.names] == [("town",), ("town", "age"), ()]
    first, second = before.to_pandas(), after.to_pandas()
    both = pd.concat([first.groupby("town").size(), second.groupby("town").size()], axis=1)
    far = (both[1] - both[0]).abs()
    towns = found.controlled.by_table
    assert (towns.largest[0], towns.mean[0]) == (far.max(), pytest.approx(far.mean()))
    assert towns.largest[2] == 10
    assert found.uncontrolled.names == ((("sex",), ""),)
    shown = found.lines("de")
    assert shown[0] == "Kontrollierte Tabellen"
    assert "Nicht kontrollierte Tabellen" in shown


def test_coarser_categories_are_no_deviation():
    md = dk.Microdata(persons(), keys=["town", "age"])
    coarse = md.recode("town", groups={"S or W": ["S", "W"]})
    found = coarse.deviations([("town", "age")])
    assert found.controlled.overall.largest == 0
    assert found.controlled.overall.cells == 10


def test_what_is_counted_may_be_a_variable():
    before = pa.table({"town": ["N", "N", "S"], "building": [1, 0, 1]})
    after = pa.table({"town": ["N", "N", "N"], "building": [1, 1, 1]})
    md = replaced(dk.Microdata(before), after, [])
    found = md.deviations({"": ["town"], "building": ["town"]}).controlled
    assert found.names == ((("town",), ""), (("town",), "building"))
    counts = zip(found.table, found.original, found.protected, strict=True)
    assert set(counts) == {(0, 2, 3), (0, 1, 0), (1, 1, 3), (1, 1, 0)}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_are_of_the_callers_kind(kind):
    frame = kind(persons(50).to_pydict())
    md = dk.Microdata(frame, keys=["town", "age"]).swap("town", probability=0.5, seed=1)
    found = md.deviations(["town"], uncontrolled=[("town", "age")])
    assert isinstance(found.frame, kind)
    assert list(found.frame["tables_are"]) == ["controlled", "uncontrolled"]
    assert list(found.frame["largest"])[0] == 0 < list(found.frame["largest"])[1]
    frames = found.frames()
    assert set(frames) == {"size", "dimension", "table", "deviations", "transitions"}
    assert all(isinstance(one, kind) for one in frames.values())
    assert list(frames["table"]["table"]) == ["town", "town x age"]


def test_what_cannot_be_counted_is_refused():
    md = dk.Microdata(pa.table({"x": [1.5, 2.5]}))
    with pytest.raises(dk.DiskretError, match="there is no table to count"):
        md.deviations()
    with pytest.raises(dk.DiskretError, match="numbers with decimals"):
        md.deviations(["x"])
    with pytest.raises(dk.DiskretError, match="'y'"):
        md.deviations(["y"])


def test_the_picture_shows_small_cells_of_both_files_and_deviations(tmp_path):
    before = pa.table({"town": ["N"] * 1 + ["S"] * 2 + ["W"] * 4, "sex": ["f"] * 7})
    after = pa.table({"town": ["S"] * 3 + ["W"] * 4, "sex": ["f"] * 7})
    found = replaced(dk.Microdata(before), after, [["town"], ["town", "sex"]]).deviations(
        uncontrolled=["sex"]
    )
    figure = found.plot("de")
    (small, off), (others, _) = figure.axes[:2], figure.axes[2:]
    first, second = [[bar.get_height() for bar in bars] for bars in small.containers]
    assert first == [2, 2, 0, 2, *[0] * 8]  # N 1, S 2, W 4, by town and by town and sex
    assert second == [0, 0, 2, 2, *[0] * 8]
    one, two = [[bar.get_height() for bar in bars] for bars in off.containers]
    assert one == two == [1, 2]  # W as it was; N and S off by one
    assert others.get_title().startswith("Nicht kontrollierte Tabellen")
    figure.savefig(tmp_path / "plot.png")
