"""CSV and Parquet files hold the cells and nothing else, always as the same bytes."""

import csv
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.hierarchy import Hierarchy
from diskret.publish.formats import data_files as writer
from diskret.publish.formats.data_files import write_csv, write_internal_csv, write_parquet
from diskret.publish.guard import tables as guard
from diskret.publish.guard.tables import parquet_problems
from diskret.tables import Dimension, Published


@pytest.fixture
def published():
    """3 regions by 3 sizes, three inner cells hidden and one empty."""
    region = Dimension("region", Hierarchy(("Total", "N", "S"), np.array([-1, 0, 0])))
    size = Dimension("size", Hierarchy(("Total", "small", "large"), np.array([-1, 0, 0])))
    value = np.array([[2500, 0, 1500], [1000, 1000, 0], [1500, 0, 0]])
    suppressed = np.array([[False, True, False], [False, False, False], [False, True, True]])
    empty = np.array([[False] * 3, [False, False, True], [False] * 3])
    return Published("firms", (region, size), "turnover", False, 2, value, suppressed, empty)


def test_the_public_file_reads_like_this(published, tmp_path):
    write_csv(published, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_bytes().decode("utf-8").split("\n")
    assert lines[0] == "region,size,turnover,status"
    assert lines[1] == "Total,Total,25.00,published"
    assert lines[6] == "N,large,0.00,empty"
    assert lines[8] == "S,small,,suppressed"
    assert lines[10:] == [""]


def test_originals_of_suppressed_cells_never_reach_the_file(published, tmp_path):
    careless = replace(published, value=np.where(published.suppressed, 7654321, published.value))
    write_csv(careless, tmp_path / "careless.csv")
    write_csv(published, tmp_path / "t.csv")
    assert (tmp_path / "careless.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_any_kind_of_column_can_be_written(tmp_path):
    cells = pa.table(
        {
            "code": pa.array(["01", None, "x"]).dictionary_encode(),
            "whole": pa.array([2**60, None, -1]),
            "float": [0.1, float("inf"), None],
            "flag": [True, False, None],
        }
    )
    write_internal_csv(cells, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert text == ("code,whole,float,flag\n01,1152921504606846976,0.1,true\n,,inf,false\nx,-1,,\n")


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5)


@given(
    st.lists(TEXTS, min_size=2, max_size=2, unique=True),
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8),
)
def test_any_text_comes_back(tmp_path_factory, names, rows):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    write_internal_csv(pa.table(columns, names=names), path)
    with path.open(encoding="utf-8", newline="") as file:
        assert [tuple(row) for row in csv.reader(file)] == [tuple(names), *rows]


@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_blocks_leave_no_trace(published, tmp_path, monkeypatch, rows):
    write_csv(published, tmp_path / "whole.csv")
    monkeypatch.setattr(writer, "_ROWS_AT_ONCE", rows)
    write_csv(published, tmp_path / "blocks.csv")
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "blocks.csv").read_bytes()


def test_a_table_without_rows_has_its_header(tmp_path):
    write_internal_csv(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"a\n"


def one_dimension(decimals):
    region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    return Published(
        name="t",
        dimensions=(region,),
        measure="v",
        frequency=False,
        decimals=decimals,
        value=np.array([1250, 0, 0, 0]),
        suppressed=np.array([False, True, True, False]),
        empty=np.array([False, False, False, True]),
    )


@pytest.mark.parametrize(
    ("decimals", "values"), [(0, [1250, None, None, 0]), (2, [Decimal("12.50"), None, None, 0])]
)
def test_values_are_exact_and_null_where_suppressed(tmp_path, decimals, values):
    path = tmp_path / "t.parquet"
    write_parquet(one_dimension(decimals), path)
    cells = pq.read_table(path)
    assert cells["v"].to_pylist() == values
    assert cells["status"].to_pylist() == ["published", "suppressed", "suppressed", "empty"]
    assert not pq.ParquetFile(path).metadata.metadata


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for name in "ab":
        write_parquet(one_dimension(2), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("secret", ["value", "row", "no row", "metadata"])
@pytest.mark.parametrize("rows", [2, 4, 100])
def test_the_guard_refuses_more_than_the_cells(tmp_path, monkeypatch, secret, rows):
    monkeypatch.setattr(guard, "ROWS", rows)
    table = one_dimension(0)
    path = tmp_path / "t.parquet"
    write_parquet(table, path)
    assert not list(parquet_problems(path, table))
    cells = pq.read_table(path)
    if secret == "value":
        cells = cells.set_column(1, "v", [[1250, 7, 5, 0]])
    elif secret == "row":
        cells = pa.concat_tables([cells, cells.slice(3)])
    elif secret == "no row":
        cells = cells.slice(0, 0)
    else:
        cells = cells.replace_schema_metadata({"p": "10"})
    pq.write_table(cells, path, store_schema=secret == "metadata")
    assert list(parquet_problems(path, table))
