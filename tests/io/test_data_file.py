"""Files as offices have them: what is said of a file is what it is read by, and nothing else."""

import datetime

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError
from diskret.io import Column, DataFile, to_arrow
from diskret.io.spelling import Spelling
from diskret.io.workbook import _NEVER_COMPUTED  # pyright: ignore[reportPrivateUsage]


def written(tmp_path, content, name="firms.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


# ── numbers ─────────────────────────────────────────────────────────────────────────


def test_only_what_is_used_as_a_number_is_read_as_one(tmp_path):
    """The code 10.110 would be a number of thousands, too."""
    content = "nace;sales\n10.110;1.200,5\n10.110;300\n01.500;-1.000.000,25\n"
    said = DataFile(written(tmp_path, content.encode()), decimal=",", thousands=".")
    table = dk.tabulate(said, by={"nace": None}, value="sales", decimals=2)
    assert table.cells.to_pydict()["nace"] == ["Total", "01.500", "10.110"]
    assert [str(v) for v in table.cells.to_pydict()["sales"]] == [
        "-998499.75",
        "-1000000.25",
        "1500.5",
    ]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f"])
def test_blanks_between_thousands_are_of_any_width(tmp_path, blank):
    content = f"a;v\nx;1{blank}234{blank}567,5\n"
    said = DataFile(written(tmp_path, content.encode()), decimal=",", thousands=" ")
    assert to_arrow(said, ["v"])[0].column("v").to_pylist() == ["1234567.5"]


def test_a_number_in_another_spelling_names_file_column_and_row(tmp_path):
    said = DataFile(written(tmp_path, b"a;v\nx;7,5\ny;7.5\n"), decimal=",")
    with pytest.raises(InputError, match=r"firms.csv: 1 value in column 'v'.*line 3: '7.5'"):
        dk.tabulate(said, by={"a": None}, value="v", decimals=1)


@examples(60)
@given(
    whole=st.integers(-(10**15), 10**15),
    cents=st.integers(0, 99),
    marks=st.sampled_from([(",", "."), (".", ","), (",", "'"), (",", ""), (".", " ")]),
)
def test_numbers_come_back_from_any_spelling(whole, cents, marks):
    decimal, thousands = marks
    text = f"{whole:,}".replace(",", thousands) + f"{decimal}{cents:02d}"
    found = Spelling(decimal, thousands).plain(pa.chunked_array([[text]]), "v")
    assert found.to_pylist() == [f"{whole}.{cents:02d}"]


def test_filters_and_weights_are_numbers_too(tmp_path):
    content = "a;v;w;n\nx;1;1,5;2,5\ny;1;2,5;3,5\n"
    said = DataFile(written(tmp_path, content.encode()), decimal=",")
    table = dk.tabulate(
        said,
        by={"a": None},
        value="v",
        weight="w",
        weight_decimals=1,
        where={"n": {"min": 3}},
    )
    assert [str(v) for v in table.cells.to_pydict()["v"]] == ["2.5", "2.5"]


def test_a_table_of_cells_and_an_audit_read_the_same_file(tmp_path):
    content = "region;v;n\nN;1.000,5;7\nS;.;2\nTotal;1.010,5;9\n"
    said = DataFile(written(tmp_path, content.encode()), decimal=",", thousands=".")
    report = dk.audit(said, {"region": None}, "v")
    assert report.frame.to_pylist()[0]["lower"] == 10
    full = written(tmp_path, content.replace(";.;", ";10;").encode(), "full.csv")
    cells = dk.Table.from_cells(said.at(full), by={"region": None}, value="v", decimals=1)
    assert [str(v) for v in cells.cells.to_pydict()["v"]] == ["1010.5", "1000.5", "10.0"]


def test_microdata_leave_codes_alone(tmp_path):
    content = "nace;income;more\n10.110;1.200,5;1,5\n10.110;300;2,5\n01.500;50,25;\n"
    said = DataFile(written(tmp_path, content.encode()), decimal=",", thousands=".")
    md = dk.Microdata(said, keys=["nace"], numeric=["income"])
    assert md.frame.to_pydict() == {
        "nace": ["10.110", "10.110", "01.500"],
        "income": ["1200.5", "300", "50.25"],
        "more": ["1.5", "2.5", None],
    }
    assert md.numbers().ravel().tolist() == [1200.5, 300, 50.25]


# ── text ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "cp850", "utf-8"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_names_may_be_said_and_text_be_in_any_encoding(tmp_path, encoding, end):
    content = end.join(["Köln;5", "Düren;7", ""]).encode(encoding)
    said = DataFile(written(tmp_path, content), columns=["Ort", "n"], encoding=encoding)
    assert to_arrow(said)[0].to_pydict() == {"Ort": ["Köln", "Düren"], "n": ["5", "7"]}


def test_another_encoding_is_told_with_its_line_and_the_remedy(tmp_path):
    path = written(tmp_path, "Ort;n\nBonn;1\nKöln;5\n".encode("cp1252"))
    for said in (path, DataFile(path, delimiter=";")):
        with pytest.raises(InputError, match=r'line 3: is not UTF-8 .*0xf6.*encoding="cp1252"'):
            to_arrow(said)


@pytest.mark.parametrize(
    ("begins", "says"),
    [
        (b"PK\x03\x04", r"begins like a file that ends in \.xlsx, \.zip"),
        (b"\x1f\x8b", r"ends in \.gz"),
        (b"\xff\xfea\x00", 'encoding="utf-16"'),
    ],
)
def test_what_is_no_text_is_told_by_its_beginning(tmp_path, begins, says):
    path = written(tmp_path, begins + b"\x08\x00\xd6,\n1,2\n")
    with pytest.raises(InputError, match=says):
        to_arrow(path)


def test_a_row_of_another_length_is_named(tmp_path):
    path = written(tmp_path, b"a,b\n1,2\n1,2,3\n")
    with pytest.raises(InputError, match="line 3: 3 fields, and there are 2 columns"):
        to_arrow(path)
    with pytest.raises(InputError, match="columns= names 3 columns, and line 1 has 2 fields"):
        to_arrow(DataFile(path, columns=["a", "b", "c"]))


@pytest.mark.parametrize(
    "read",
    [
        lambda file: dk.Microdata(file, keys=["b"]).frame,
        lambda file: dk.tabulate(file, by={"b": None}),
        lambda file: dk.Table.from_cells(file, by={"b": None}, count="w"),
    ],
)
def test_an_open_quotation_mark_in_the_last_field_swallows_no_records(tmp_path, read):
    file = tmp_path / "open.csv"
    file.write_text('w,b\n1,"two\nlines"\n2,"z\n3,x\n4,y\n', encoding="utf-8")
    with pytest.raises(InputError) as error:
        read(file)
    assert f"{file}" in str(error.value)
    assert "line 4: a quotation mark is opened and never closed" in str(error.value)


def test_an_odd_quotation_mark_inside_a_text_is_a_character(tmp_path):
    file = tmp_path / "inch.csv"
    file.write_text('w,b\n1,5" pipe\n2,x\n', encoding="utf-8")
    assert dk.Microdata(file, keys=["b"]).frame.num_rows == 2


def test_a_quotation_mark_swallows_no_records(tmp_path):
    path = written(tmp_path, b'a,b\n1,"2\n3,4\n')
    with pytest.raises(InputError, match="line 2: a quotation mark"):
        to_arrow(DataFile(path, encoding="latin-1"))


def test_the_delimiter_is_no_mark_of_numbers(tmp_path):
    path = written(tmp_path, b"A;1,5;2,5;3,5\n")
    said = DataFile(path, columns=["a", "b", "c", "d"], decimal=",")
    assert to_arrow(said, ["b", "c", "d"])[0].to_pylist() == [
        {"a": "A", "b": "1.5", "c": "2.5", "d": "3.5"}
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decimal": ";"}, "decimal= must be"),
        ({"decimal": ",", "thousands": ","}, "cannot both be ','"),
        ({"encoding": "klingon"}, "'klingon' is not known"),
        ({"encoding": "hex"}, "'hex' is not known"),
        ({"delimiter": "::"}, "one character"),
        ({"columns": ["a", "a"]}, "must be unique"),
        ({"columns": "ab"}, "list of names"),
        ({"sheet": "x"}, "sheet= is for xlsx files; .* read as csv"),
        ({"columns": [Column("a", 1, 2), Column("b", 2, 2)]}, "overlap"),
        ({"format": "docx"}, "format= must be"),
    ],
)
def test_what_cannot_be_said_of_a_file_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        DataFile("firms.csv", **options)


def test_a_file_and_what_is_said_of_it_are_one_value(tmp_path):
    path = written(tmp_path, b"a;v\nx;7,5\n")
    assert DataFile(path, decimal=",") == DataFile(path, decimal=",")
    one, other = (
        dk.tabulate(DataFile(path, decimal=","), by={"a": None}, value="v", decimals=1)
        for _ in range(2)
    )
    assert one.asked.same_records(other.asked)


# ── workbooks ───────────────────────────────────────────────────────────────────────


def workbook(tmp_path, rows, sheet="Daten"):
    book = openpyxl.Workbook()
    book.active.title = "Hinweise"
    book.active.append(["Stand 2025"])
    page = book.create_sheet(sheet)
    for row in rows:
        page.append(row)
    path = tmp_path / "firms.xlsx"
    book.save(path)
    return path


HEAD = ["nace", "firm", "sales", "day", "note"]
ROWS = [
    ["Umsätze 2025"],
    HEAD,
    ["01", 1, 12.5, datetime.datetime(2025, 1, 2), "1.234,5"],
    [2, 2, 7, datetime.datetime(2025, 1, 3), 2.5],
]


def test_a_sheet_is_read_as_it_looks(tmp_path):
    said = DataFile(workbook(tmp_path, ROWS), sheet="Daten", header=2, decimal=",", thousands=".")
    table = to_arrow(said, ["sales", "note"])[0]
    assert table.to_pydict() == {
        "nace": ["01", "2"],
        "firm": [1, 2],
        "sales": [12.5, 7.0],
        "day": [datetime.date(2025, 1, 2), datetime.date(2025, 1, 3)],
        "note": ["1234.5", "2.5"],
    }
    assert table.schema.field("firm").type == pa.int64()


def test_a_sheet_without_names_gets_them(tmp_path):
    said = DataFile(workbook(tmp_path, ROWS[2:]), sheet="Daten", columns=HEAD)
    assert to_arrow(said)[0].column("firm").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([HEAD, ROWS[2], [], ["Source: register"]], "row 3: is empty, and more follows"),
        ([HEAD, [*ROWS[2], "more"]], "row 2: has values beyond the 5 columns"),
        ([HEAD, ["01", 1, "=1+1"]], "cell C2: holds a formula that was never computed; open the"),
        ([HEAD, ["01", 1, "#DIV/0!"]], "row 2, column 'sales': #DIV/0!"),
        ([["a", None, "b"], [1, 2, 3]], "row 1: column 2 has no name"),
        ([["a", "a"], [1, 2]], "must be unique"),
        ([[], [1, 2]], "row 1: is empty; it must hold the column names"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_told_with_its_row(tmp_path, rows, words):
    with pytest.raises(InputError, match=words):
        to_arrow(DataFile(workbook(tmp_path, rows), sheet="Daten"))


def test_sheets_that_are_not_there_are_told(tmp_path):
    with pytest.raises(InputError, match="no sheet 'x'; the sheets are 'Hinweise', 'Daten'"):
        to_arrow(DataFile(workbook(tmp_path, ROWS), sheet="x"))
    path = written(tmp_path, b"no workbook", "no.xlsx")
    with pytest.raises(InputError, match="cannot be read as a workbook"):
        to_arrow(path)
    with pytest.raises(InputError, match=r"no.xls: is read as .xlsx only; open it in a"):
        to_arrow(path.with_suffix(".xls"))


def test_a_column_that_is_missing_may_be_on_another_sheet(tmp_path):
    with pytest.raises(InputError, match=r"sheet 'Hinweise': .*other sheets: 'Daten'; choose one"):
        dk.tabulate(workbook(tmp_path, [["a"], [1]]), by={"a": None})


@pytest.mark.parametrize(
    ("cell", "computed"),
    [
        (b'<c r="B7" s="1"><f>A7+1</f><v>8</v></c>', True),
        (b'<c r="B7" t="str"><f>IF(A7="","",A7)</f><v></v></c>', True),
        (b'<c r="B7"><f t="shared" si="0"/></c>', False),
        (b'<c r="B7" s="1"><f>A7+1</f><v/></c>', False),
    ],
)
def test_a_formula_counts_if_it_was_computed_and_may_be_an_empty_text(cell, computed):
    assert (_NEVER_COMPUTED.search(b'<row r="7">%b</row>' % cell) is None) == computed
