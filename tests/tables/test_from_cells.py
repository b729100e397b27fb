"""Already tabulated files: additivity is checked by name, gaps are filled."""

import pyarrow as pa
import pytest

from diskret.errors import AdditivityError, HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Table

REGIONS = Hierarchy.from_parents(
    {"code": ["D", "N", "S", "N1", "N2"], "parent": ["", "D", "D", "N", "N"]}
)


def frame(**columns):
    return pa.table(columns)


def test_totals_are_added_up_where_they_are_missing():
    cells = frame(region=["N1", "N2", "S"], n=[3, 4, 5])
    table = Table.from_cells(cells, by={"region": REGIONS}, count="n")
    got = dict(zip(REGIONS.codes, table.count.tolist(), strict=True))
    assert got == {"D": 12, "N": 7, "N1": 3, "N2": 4, "S": 5}


def test_wrong_totals_are_named_with_the_difference():
    cells = frame(region=["N1", "N2", "S", "N", "D"], v=["1.50", "2.25", "5", "3.75", "9.00"])
    with pytest.raises(AdditivityError, match=r"region=D: 9\.00 given.*8\.75.*0\.25") as error:
        Table.from_cells(cells, by={"region": REGIONS}, value="v", decimals=2)
    assert "1 of 2 equations of 'v'" in str(error.value)
    assert "along 'region' (N 3.75 + S 5.00)" in str(error.value)


def test_a_missing_part_shows_as_a_wrong_total():
    cells = frame(region=["N1", "N"], n=[3, 7])
    with pytest.raises(AdditivityError, match="region=N"):
        Table.from_cells(cells, by={"region": REGIONS}, count="n")


def test_unknown_and_double_codes():
    with pytest.raises(HierarchyError, match="'X'"):
        Table.from_cells(frame(region=["X"], n=[1]), by={"region": REGIONS}, count="n")
    with pytest.raises(InputError, match="more than once: region=S"):
        Table.from_cells(frame(region=["S", "S "], n=[1, 2]), by={"region": REGIONS}, count="n")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([1, None], "missing"),
        ([1.0, 2.25], "row 2: 2.25|row 2"),
        (["1", "2,5"], "row 2: '2,5'"),
        ([1.0, float("inf")], "finite"),
    ],
)
def test_values_that_cannot_be_read_are_named(values, what):
    with pytest.raises(InputError, match=what):
        Table.from_cells(frame(region=["N1", "S"], v=values), by={"region": REGIONS}, value="v")


@pytest.mark.parametrize("values", [["0.10", "0.20"], [0.1, 0.2]])
def test_values_are_exact(values):
    table = Table.from_cells(
        frame(region=["N1", "S"], v=values), by={"region": REGIONS}, value="v", decimals=2
    )
    assert table.measure.sum[0] == 30


def test_largest_contributions_must_fit_their_cell():
    cells = frame(region=["S"], v=[10], x1=[8], x2=[3])
    with pytest.raises(InputError, match="region=S"):
        Table.from_cells(cells, by={"region": REGIONS}, value="v", largest=["x1", "x2"])


@pytest.mark.parametrize("columns", [([8, 4], [2, None]), (["8", "4"], ["2", " "])])
def test_contributions_that_are_not_there_are_0(columns):
    x1, x2 = columns
    cells = frame(region=["S", "N1"], v=[10, 4], x1=x1, x2=x2)
    table = Table.from_cells(cells, by={"region": REGIONS}, value="v", largest=["x1", "x2"])
    assert dict(zip(REGIONS.codes, table.measure.largest.tolist(), strict=True)) == {
        "D": [8, 4], "N": [4, 0], "S": [8, 2], "N1": [4, 0], "N2": [0, 0]
    }  # fmt: skip


def test_missing_column_lists_what_there_is():
    with pytest.raises(InputError, match="'firms'.*'region', 'n'"):
        Table.from_cells(frame(region=["S"], n=[1]), by={"region": REGIONS}, count="firms")
