"""Old and new boundaries: what became of each area, and what both tell together."""

import numpy as np
import pyarrow as pa
import pytest
from profiles import scaled

import diskret as dk
from diskret.spatial import correspondence, differences


def table(rows):
    old, new, persons = zip(*rows, strict=True)
    return pa.table({"old": old, "new": new, "persons": persons})


def test_each_kind_of_change_is_told():
    rows = [
        ("a", "a", 5), ("b", "c", 5),  # as it was; renamed
        ("d", "d1", 6), ("d", "d2", 4), ("e1", "e", 1), ("e2", "e", 3),
        ("f", "f", 97), ("f", "g", 3), ("g", "g", 40), ("h", None, 2),
    ]  # fmt: skip
    found = correspondence(table(rows), "old", "new", count="persons").to_pylist()
    kinds = {(row["old"], row["new"]): row["kind"] for row in found}
    assert kinds == {
        ("a", "a"): "unchanged", ("b", "c"): "renamed", ("d", "d1"): "split",
        ("d", "d2"): "split", ("e1", "e"): "merged", ("e2", "e"): "merged",
        ("f", "f"): "changed", ("f", "g"): "changed", ("g", "g"): "changed",
        ("h", None): "renamed",
    }  # fmt: skip
    shares = {(row["old"], row["new"]): (row["of_old"], row["of_new"]) for row in found}
    assert shares["f", "g"] == (0.03, 3 / 43)
    assert shares["e1", "e"] == (1.0, 0.25)


def test_three_who_were_moved_over_a_border_are_found_and_hidden():
    rows = [("A", "A", 97), ("A", "B", 3), ("B", "B", 50), ("C", "C", 80), ("D", "D", 60)]
    few = dk.rules.MinimumFrequency(4)
    [one] = differences(table(rows), ["old", "new"], few, count="persons")
    assert (one.number, one.pieces) == (3, (("A", "B"),))
    # the old series is published; the new one hides what tells
    found = dk.spatial.repair(table(rows), ["old", "new"], few, new=["new"], count="persons")
    assert found.hidden == {"new": ("A", "B")} and found.fewest


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_where_nothing_cuts_through_totals_of_both_tell_no_more(seed):
    draw = np.random.default_rng(seed)
    rows = [(str(a), str(b), int(n)) for a, b, n in draw.integers(1, [7, 7, 9], (9, 3))]
    frame = table(rows)
    changes = correspondence(frame, "old", "new", count="persons").to_pylist()
    assert sum(row["records"] for row in changes) == sum(n for _, _, n in rows)
    cut = {(row["old"], row["new"]) for row in changes if row["kind"] == "changed"}
    for one in differences(frame, ["old", "new"], dk.rules.MinimumFrequency(6), count="persons"):
        if len(one.terms) > 1:
            assert set(one.pieces) <= cut
