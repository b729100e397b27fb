"""Whatever stands in a file, it is read or refused in one sentence."""

import io

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import DiskretError
from diskret.io import Column, DataFile, source, to_arrow

FIELD = st.sampled_from(
    [
        "",
        "a",
        "01",
        "1,5",
        "1.234,5",
        '"x;y"',
        '"a\nb"',
        '"',
        "ä",
        "\x00",
        "1;2",
        "-",
        "1e5",
        "\u2028",
    ]
)
END = st.sampled_from(["\n", "\r\n", "\r"])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "decimal": st.sampled_from([".", ","]),
        "thousands": st.sampled_from(["", "'", " "]),
        "encoding": st.sampled_from(["utf-8", "cp1252", "utf-16", "ascii"]),
        "delimiter": st.sampled_from([";", ",", "\t"]),
        "columns": st.sampled_from([(), ("a",), ("a", "b", "c")]),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


def read(said):
    """Read all columns, and all of them as numbers."""
    try:
        table = to_arrow(said)[0]
        to_arrow(said, table.column_names)
    except DiskretError as error:
        assert str(error) and "Traceback" not in str(error)
    else:
        assert table.num_columns


@examples(150)
@given(
    rows=st.lists(st.tuples(st.lists(FIELD, max_size=4), END), max_size=6),
    encoding=st.sampled_from(["utf-8", "cp1252", "utf-16"]),
    options=OPTIONS,
)
def test_rows_of_any_kind(folder, rows, encoding, options):
    text = "".join(";".join(fields) + end for fields, end in rows)
    path = folder / "rows.csv"
    path.write_bytes(text.encode(encoding, errors="replace"))
    read(DataFile(path, **options))
    read(path)


@examples(150)
@given(content=st.binary(max_size=200), options=OPTIONS)
def test_bytes_of_any_kind(folder, content, options):
    path = folder / "bytes.csv"
    path.write_bytes(content)
    read(DataFile(path, **options))
    read(path)
    read(DataFile(path, columns=[Column("a", 1, 2), Column("b", 4, 1)]))


CELL = st.sampled_from([None, "", "a", 1, 1.5, 2**70, -0.0, True, "#N/A", "#DIV/0!", "1,5", " "])


@examples(60)
@given(rows=st.lists(st.lists(CELL, max_size=4), max_size=5), header=st.integers(1, 4))
def test_sheets_of_any_kind(folder, rows, header):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    path = folder / "sheet.xlsx"
    book.save(path)
    read(DataFile(path, header=header, decimal=","))
    read(DataFile(path, columns=["a", "b"]))


@examples(60)
@given(cut=st.integers(0, 10**6), flip=st.integers(0, 255), shorten=st.booleans())
def test_damaged_workbooks(folder, cut, flip, shorten):
    book, whole = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b"])
    book.active.append([1, "x"])
    book.save(whole)
    data = bytearray(whole.getvalue())
    if shorten:
        data = data[: cut % len(data)]
    else:
        data[cut % len(data)] = flip
    path = folder / "damaged.xlsx"
    path.write_bytes(bytes(data))
    try:
        source(path)
    except DiskretError as error:
        assert "\n" not in str(error)
