"""Meindl, course "Einführung in die statistische Geheimhaltung": suppression patterns."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import ProofError
from diskret.protect.plan import publish
from diskret.suppression import Pattern

A, B = [[20, 50, 10], [8, 19, 22], [17, 32, 12]], [[40, 50, 20], [2, 20, 18], [20, 30, 25]]


def small_table():
    rows = [(str(i + 1), str(j + 1), A[i][j]) for i in range(3) for j in range(3)]
    rows += [("Total", "Total", 190), ("1", "Total", 80), ("2", "Total", 49), ("3", "Total", 61)]
    rows += [("Total", "1", 45), ("Total", "2", 101), ("Total", "3", 44)]
    x, y, n = zip(*rows, strict=True)
    cells = pa.table({"x": x, "y": y, "n": n})
    return dk.Table.from_cells(cells, by={"x": None, "y": None}, count="n")


def hidden(table, *cells):
    """A mask of cells named by their codes."""
    mask = np.zeros(table.shape, dtype=bool)
    for codes in cells:
        at = [d.hierarchy.position[c] for d, c in zip(table.dimensions, codes, strict=True)]
        mask[tuple(at)] = True
    return mask


def test_printed_intervals():
    table = small_table()
    mask = hidden(table, ("1", "1"), ("1", "3"), ("2", "1"), ("2", "3"))
    found = dk.attack.intervals(publish(table, mask, "t")).to_pylist()
    got = {(c["x"], c["y"]): (c["lower"], c["upper"]) for c in found}
    assert got == {
        ("1", "1"): (0, 28),
        ("1", "3"): (2, 30),
        ("2", "1"): (0, 28),
        ("2", "3"): (2, 30),
    }


def test_the_three_other_corners_all_keep_the_eight_secret():
    """With one of them published, 8 follows: 49 - 19 - 22, 45 - 20 - 17, or from 10 both."""
    corners = [("1", "1"), ("1", "3"), ("2", "1"), ("2", "3")]
    table = small_table()

    def printed(problem):
        return Pattern(hidden(table, *corners).ravel(), "printed")

    result = dk.suppress(table, dk.rules.MinimumFrequency(9), method=printed)
    rows = result.explain().to_pylist()
    assert [
        (r["x"] + r["y"], r["kind"], r["needed_by_x"] + r["needed_by_y"], r["lower"], r["upper"])
        for r in rows
    ] == [("11", "protects", "21", 8, 8), ("13", "protects", "21", 8, 8),
          ("23", "protects", "21", 8, 8)]  # fmt: skip
    assert {(r["required_lower"], r["required_upper"]) for r in rows} == {(7, 9)}


NACE = {
    "code": ["62", "621", "622", "6211", "6212", "6214", "6222", "6223", "6224"],
    "parent": ["", "62", "62", "621", "621", "621", "622", "622", "622"],
}
LEAVES = ["6211", "6212", "6214", "6222", "6223", "6224"]


@pytest.fixture
def nace_table():
    """621 and 622 below 62; totals added up (some printed totals of 622 do not add up)."""
    rows = [
        (code, column, value)
        for code, values in zip(LEAVES, A + B, strict=True)
        for column, value in zip("ABC", values, strict=True)
    ]
    nace, column, n = zip(*rows, strict=True)
    tree = dk.Hierarchy.from_parents(pa.table(NACE))
    cells = pa.table({"nace": nace, "column": column, "n": n})
    return dk.Table.from_cells(cells, by={"nace": tree, "column": None}, count="n")


S_PATTERN = [("6223", "A"), ("6223", "C"), ("622", "A"), ("622", "C")]


def test_the_upper_table_undoes_the_pattern_of_the_lower(nace_table):
    published = publish(nace_table, hidden(nace_table, *S_PATTERN), "t")
    found = dk.attack.intervals(published).to_pylist()
    got = {(c["nace"], c["column"]): (c["lower"], c["upper"]) for c in found}
    assert got["622", "A"] == (107 - 45, 107 - 45) == (62, 62)
    assert got["6223", "A"] == (2, 2)


def test_the_attack_catches_it_and_the_pattern_is_repaired(nace_table):
    def slide(problem):
        return Pattern(hidden(nace_table, *S_PATTERN).ravel(), "slide")

    rule = dk.rules.MinimumFrequency(3)
    result = dk.suppress(nace_table, rule, method=slide)
    assert result.certificate.repaired == 1
    suppressed = result.published.suppressed
    assert suppressed[hidden(nace_table, *S_PATTERN)].all()
    found = dk.attack.intervals(result.published).to_pylist()
    assert all(c["lower"] < c["upper"] for c in found)


def test_every_secondary_of_the_repaired_pattern_keeps_the_two_secret(nace_table):
    """Three linked rectangles: 6223, 622 and 621 with one of its parts, columns A and C."""

    def slide(problem):
        return Pattern(hidden(nace_table, *S_PATTERN).ravel(), "slide")

    result = dk.suppress(nace_table, dk.rules.MinimumFrequency(3), method=slide)
    cells = {(c["nace"], c["column"]) for c in result.cells.to_pylist()
             if c["status"] == "secondary"}  # fmt: skip
    rows = result.explain().to_pylist()
    assert {(r["nace"], r["column"]) for r in rows} == cells
    # one link is enough: row or column gives its neighbour, and so on down to 6223 in A
    ladder = {(n, c) for n, c in cells if c in "AC"}
    protecting = {(r["nace"], r["column"]) for r in rows if r["kind"] == "protects"}
    assert protecting == ladder == cells
    assert {(r["needed_by_nace"], r["needed_by_column"], r["lower"], r["upper"]) for r in rows} == {
        ("6223", "A", 2, 2)
    }


def test_a_method_that_publishes_unsafe_cells_is_refused(nace_table):
    def careless(problem):
        return Pattern(np.zeros(len(problem.frozen), dtype=bool), "careless")

    with pytest.raises(ProofError, match="careless"):
        dk.suppress(nace_table, dk.rules.MinimumFrequency(3), method=careless)
