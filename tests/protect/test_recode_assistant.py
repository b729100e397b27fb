"""The assistant tells what each small recoding would bring and cost."""

import pyarrow as pa
import pytest

import diskret as dk
from diskret.protect.recode_assistant import recode_candidates

REGION = dk.Hierarchy.from_prefix(["N1", "N2", "S1", "S2", "S3", "W"], (1, 1))
RULE = dk.rules.MinimumFrequency(3)


def a_table(kind=pa.table):
    frame = kind(
        {
            "region": ["N1", "N2", "S1", "S2", "S3", "W"],
            "sex": ["f", "m", "f", "m", "f", "m"],
            "persons": [9, 2, 1, 8, 3, 4],
        }
    )
    by = {"region": REGION, "sex": None}
    return dk.Table.from_cells(frame, by=by, count="persons")


def test_every_row_says_what_carrying_it_out_gives():
    table = a_table()
    rows = recode_candidates(table, RULE).to_pylist()
    before = int(RULE(table).unsafe.sum())
    for row in rows:
        if row["level"] is None:
            made = table.recode(row["dimension"], {row["code"]: [row["first"], row["second"]]})
        else:
            made = table.recode(row["dimension"], level=row["level"])
        assert row["unsafe_before"] == before
        assert row["unsafe_after"] == int(RULE(made).unsafe.sum())
        assert row["cells_lost"] == table.count.size - made.count.size


def test_levels_and_pairs_with_an_unsafe_leaf_are_tried():
    rows = recode_candidates(a_table(), RULE).to_pylist()
    tried = {row["code"] or row["level"] for row in rows}
    assert tried == {1, "N", "S1+S2", "S1+S3"}  # not S2+S3, nor the total of two sexes


def test_the_fewest_unsafe_cells_stand_first_then_the_fewest_lost():
    rows = recode_candidates(a_table(), RULE).to_pylist()
    order = [(row["unsafe_after"], row["cells_lost"]) for row in rows]
    assert order == sorted(order)
    assert order[0][0] < order[-1][0]


def test_a_code_that_is_taken_is_not_suggested():
    cells = pa.table({"x": ["a", "b", "a+b"], "n": [1, 5, 5]})
    table = dk.Table.from_cells(cells, by={"x": None}, count="n")
    codes = {row["code"] for row in recode_candidates(table, RULE).to_pylist()}
    assert codes == {"a+b+", "a+a+b"}


def test_what_the_table_cannot_compute_stands_last_without_a_number():
    records = pa.table({"x": ["a", "b", "c"], "unit": [1, 1, 2]})
    table = dk.tabulate(records, by={"x": None}, unit="unit")
    rows = recode_candidates(table, dk.rules.MinimumFrequency(2)).to_pylist()
    assert {row["unsafe_after"] for row in rows} == {None}
    assert [row["cells_lost"] for row in rows] == [1, 1, 1]


def test_what_can_be_computed_stands_before_what_cannot():
    tree = dk.Hierarchy.from_prefix(["A1", "A2", "A3", "B1", "B2", "B3"], (1, 1))
    records = pa.table({"x": ["A1", "A2", "B1", "B2"], "unit": [1, 1, 2, 3]})
    table = dk.tabulate(records, by={"x": tree}, unit="unit")
    rows = recode_candidates(table, dk.rules.MinimumFrequency(2)).to_pylist()
    refused = [row["code"] for row in rows if row["unsafe_after"] is None]
    assert refused == ["A1+A2"]
    assert rows[-1]["code"] == "A1+A2"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_frame_is_of_the_callers_kind(library):
    frames = pytest.importorskip(library, reason=f"optional: {library} is not installed")
    found = recode_candidates(a_table(frames.DataFrame), RULE)
    assert isinstance(found, frames.DataFrame)


def test_what_is_not_tried_in_time_has_no_number():
    late = recode_candidates(a_table(), RULE, time_limit=-1).to_pylist()
    calm = recode_candidates(a_table(), RULE).to_pylist()
    assert {row["unsafe_after"] for row in late} == {None} != {r["unsafe_after"] for r in calm}
    lost = [sorted(row["cells_lost"] for row in rows) for rows in (late, calm)]
    assert lost[0] == lost[1]


def test_progress_is_reported():
    told = []
    rows = recode_candidates(a_table(), RULE, lambda *step: told.append(step)).num_rows
    # told again while one takes long
    steps = [step for step in dict.fromkeys(told) if step != ("recode", 0, 1)]
    assert steps == [("recode", done, rows) for done in range(rows + 1)]


def test_a_recoding_that_takes_a_code_set_by_hand_away_has_no_number():
    priced = dk.rules.Apriori(pa.table({"region": ["S1"], "sex": ["f"], "cost": [3]}))
    rows = recode_candidates(a_table(), RULE | priced).to_pylist()
    gone = [
        row for row in rows if row["level"] is not None or "S1" in (row["first"], row["second"])
    ]
    assert gone
    assert all(row["unsafe_after"] is None for row in gone)
    assert any(row["unsafe_after"] is not None for row in rows)
