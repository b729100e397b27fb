"""Files of every day: what is wrong is told with its place, and nothing is lost silently."""

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples, some_quick

import diskret as dk
from diskret.errors import HierarchyError, InputError
from diskret.io import DataFile, to_arrow
from diskret.texts.messages import translated


def written(tmp_path, content, name="firms.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(tmp_path, rows, name="firms.xlsx", change=None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if change is not None:
        change(book)
    path = tmp_path / name
    book.save(path)
    return path


def tabulated(file, **more):
    return dk.tabulate(file, by={"region": None}, value="v", total="All", **more)


def of_cells(file):
    return dk.Table.from_cells(file, by={"region": None}, value="v")


def numbers(file):
    return dk.Microdata(file, keys=["region"], numeric=["v"]).numbers()


def audited(file):
    return dk.audit(file, {"region": None}, "v")


READERS = [tabulated, of_cells, numbers, audited]


@pytest.mark.parametrize("read", READERS)
def test_a_text_in_a_column_of_numbers_is_told_with_file_line_column_and_remedy(tmp_path, read):
    path = written(tmp_path, 'region;v\nTotal;9\n\nN;"2"\nS;n.a.\nW;7\n')
    with pytest.raises(InputError) as error:
        read(path)
    said = str(error.value)
    assert said.startswith(f"{path}")
    assert "line 5" in said and "'n.a.'" in said and "'v'" in said
    remedies = (
        "say how the file writes them: DataFile(path, decimal=",
        "suppressed=",
        "put numbers",
    )
    assert any(one in said for one in remedies)
    assert "Zeile 5" in translated(said, "de") and " line " not in translated(said, "de")


@pytest.mark.parametrize("read", READERS)
def test_the_row_of_a_sheet_is_that_of_the_spreadsheet(tmp_path, read):
    rows = [["Turnover 2025"], ["region", "v"], ["Total", 9], ["N", 2], ["S", "k.A."]]
    path = workbook(tmp_path, rows)
    with pytest.raises(InputError, match=r"firms.xlsx.*row 5") as error:
        read(DataFile(path, header=2))
    assert "'k.A.'" in str(error.value)
    assert "Zeile 5" in translated(str(error.value), "de")


def test_the_first_of_many_values_is_told_and_not_the_first_by_the_alphabet(tmp_path):
    rows = "".join(f"N;{100 + i}\n" for i in range(3))
    path = written(tmp_path, f"region;v\n{rows}S;z\n" + "".join(f"N;a{i}\n" for i in range(9)))
    with pytest.raises(InputError, match=r"line 5: 10 records: texts .*'a0', .*, …\)"):
        tabulated(path)


@pytest.mark.parametrize("read", [tabulated, of_cells, audited])
def test_a_missing_code_is_told_with_its_line(tmp_path, read):
    path = written(tmp_path, "region;v\nN;2\n;7\nTotal;9\n")
    with pytest.raises(InputError, match=r"firms.csv.*line 3"):
        read(path)


@pytest.mark.parametrize("end", some_quick(["\n", "\r\n", "\r"], ["\r\n"]))
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["region;v", "N;1", "S", "W;3"], 3),  # cut off
        (["region;v", "N;1", "", "S;2;5", "W;3"], 4),  # too long, behind an empty line
        (["region;v", '"N', 'x";1', "S;2", "Source: office"], 5),  # a line below the table
    ],
)
def test_a_line_of_another_length_is_told_with_its_number(tmp_path, read, lines, line, end):
    path = written(tmp_path, end.join(lines))
    with pytest.raises(InputError, match=rf"firms.csv, line {line}: \d fields?, and there are 2"):
        read(path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "lines",
    [
        ["region;v", 'N;"1', "S;2", "W;3"],  # in the last field
        ["region;v", '"N;1', "S;2", "W;3"],  # in the first
        ["region;note;v", 'N;"a;1', 'S;b";2', "W;c;3"],  # two that close each other
        ["v;region", '1;"N', "2;S", '3;"W', "4;O"],  # two in the last field
        ["region;note;v", 'N;"a";1', 'S;"b;2', 'W;c";3'],
    ],
)
def test_an_open_quotation_mark_swallows_no_record(tmp_path, read, lines, end):
    path = written(tmp_path, end.join([*lines, ""]))
    with pytest.raises(InputError, match=r"firms.csv, line \d: .*quotation mark"):
        read(path)
    said = DataFile(path, encoding="cp1252")
    with pytest.raises(InputError, match=r"firms.csv, line \d: .*quotation mark"):
        read(said)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_may_go_over_lines(tmp_path, end):
    path = written(tmp_path, end.join(["region;note;v", 'N;"two', 'lines";1', "S;;2", ""]))
    assert tabulated(path).measure.sum.tolist() == [3, 1, 2]
    assert dk.Microdata(path, keys=["region"]).frame.column("note")[0].as_py() == f"two{end}lines"


@examples(100)
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["N", "S", "a b", 'x"y', "two\nlines", "c;d", "", '"', "é"]),
            st.integers(0, 99),
        ),
        min_size=1,
        max_size=6,
    ),
    said=st.booleans(),
)
def test_what_is_written_as_csv_is_read_again_or_refused(tmp_path_factory, records, said):
    """Never fewer records, or others."""
    path = tmp_path_factory.mktemp("round") / "records.csv"
    quoted = ('"' + text.replace('"', '""') + '"' for text, _ in records)
    lines = [f"{text};{v}" for text, (_, v) in zip(quoted, records, strict=True)]
    path.write_text("\n".join(["region;v", *lines, ""]), encoding="utf-8", newline="")
    file = DataFile(path, encoding="utf-8", delimiter=";") if said else path
    try:
        read = to_arrow(file)[0].to_pylist()
    except InputError as error:
        assert "quotation mark" in str(error)
    else:
        assert [(row["region"] or "", row["v"]) for row in read] == [
            (text, str(v)) for text, v in records
        ]


def test_names_below_a_title_are_found_by_their_line(tmp_path):
    path = written(tmp_path, 'Turnover "2025\n\nregion;v\nN;1\nS;x\n')
    said = DataFile(path, header=3)
    assert to_arrow(said)[0].to_pydict() == {"region": ["N", "S"], "v": ["1", "x"]}
    with pytest.raises(InputError, match="line 5: 1 record: texts that are no numbers"):
        tabulated(said)


def test_the_line_that_says_the_delimiter_is_no_record(tmp_path):
    path = written(tmp_path, "sep=;\r\nregion;v,w\r\nN;1\r\nS;2\r\n")
    assert to_arrow(path)[0].column_names == ["region", "v,w"]
    assert to_arrow(path)[0].num_rows == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('region;"v\nin 1000"\nN;1\n', "line 1 holds a quotation mark that is not closed in it"),
        ("region;v;;\nN;1;;\n", "2 columns have no name, the first is number 3"),
        ("\nregion;v\nN;1\n", "line 1 is empty.*header="),
        ("region;v\nN;1\n".encode("utf-16"), 'encoding="utf-16"'),
    ],
)
def test_what_is_wrong_with_names_is_told(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        to_arrow(written(tmp_path, content))


@pytest.mark.parametrize("read", [tabulated, of_cells])
def test_a_point_between_thousands_is_no_reason_to_state_decimals(tmp_path, read):
    path = written(tmp_path, "region;v\nN;1.234\nS;20\n")
    with pytest.raises(InputError, match='between thousands, say so: thousands="."'):
        read(path)


@pytest.mark.parametrize("read", [tabulated, of_cells])
def test_round_thousands_are_not_read_as_a_thousandth(tmp_path, read):
    """2.000 is no fraction, so nothing else would notice."""
    path = written(tmp_path, "region;v\nN;20\nS;2.000\n")
    with pytest.raises(InputError, match=r"line 3.*between thousands, say so: thousands") as told:
        read(path)
    assert "2.000" in str(told.value)
    for plain in ("2000.000", "0.000", "2.0000", "2.00"):
        read(written(tmp_path, f"region;v\nN;20\nS;{plain}\n"))


def test_numbers_that_look_like_thousands_are_warned_of(tmp_path):
    path = written(tmp_path, "region;v\nN;1.234\nS;20\n")
    with pytest.warns(UserWarning, match=r"firms.csv: the numbers in column 'v'.*1\.234"):
        dk.Microdata(path, keys=["region"], numeric=["v"])
    said = DataFile(path, decimal=",", thousands=".")
    assert numbers(said).ravel().tolist() == [1234, 20]


def test_a_hidden_sheet_is_not_taken_for_the_first(tmp_path):
    def hide(book):
        shown = book.create_sheet("data")
        shown.append(["region", "v"])
        shown.append(["N", 7])
        book.active.sheet_state = "hidden"

    path = workbook(tmp_path, [["region", "v"], ["N", 1]], change=hide)
    assert to_arrow(path)[0].to_pydict() == {"region": ["N"], "v": [7]}
    assert to_arrow(DataFile(path, sheet="Sheet"))[0].to_pydict()["v"] == [1]


def test_a_code_that_lost_its_zeros_in_some_rows_is_warned_of(tmp_path):
    path = workbook(tmp_path, [["region", "v"], ["01", 1], [1, 2], [10, 3]])
    with pytest.warns(UserWarning, match=r"row 3, column 'region': holds the number 1.*'01'"):
        tabulated(path)


@pytest.mark.parametrize("of", ["records", "cells"])
def test_codes_that_lost_their_zeros_in_all_rows_are_told(tmp_path, of):
    path = workbook(tmp_path, [["region", "v"], [1, 1], [10, 3]])
    by = {"region": dk.Hierarchy.flat(["01", "10"], "Total")}
    with pytest.raises(HierarchyError, match=r"firms.xlsx.*row 2.*has '01': were leading zeros"):
        if of == "records":
            dk.tabulate(path, by=by, value="v")
        else:
            dk.Table.from_cells(path, by=by, value="v")


def test_names_below_a_title_of_a_sheet_are_told(tmp_path):
    path = workbook(tmp_path, [["Turnover"], ["region", "v"], ["N", 1]])
    with pytest.raises(InputError, match="row 2: has values beyond the 1 columns.*header="):
        to_arrow(path)


@pytest.mark.parametrize("name", ["Summe", "insgesamt", "Total:"])
@pytest.mark.parametrize(
    "read", [lambda file: dk.tabulate(file, by={"region": None}, value="v"), of_cells]
)
def test_a_code_that_is_called_a_total_and_is_one_is_refused_in_small_tables(tmp_path, read, name):
    path = written(tmp_path, f"region;v\nN;1\nS;2\nW;4\n{name};7\n")
    with pytest.raises(InputError, match="is the sum of the other codes"):
        read(path)
    assert read(written(tmp_path, f"region;v\nN;1\nS;2\nW;4\n{name};8\n")).measure.sum[0] == 15


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "iso-8859-15"])
def test_text_that_is_said_to_be_in_another_encoding_than_it_is_is_warned_of(tmp_path, encoding):
    path = written(tmp_path, "region;v\nKöln;1\n")
    with pytest.warns(UserWarning, match="firms.csv: is UTF-8 text"):
        to_arrow(DataFile(path, encoding=encoding))
    true = written(tmp_path, "region;v\nKöln;1\n".encode(encoding))
    assert to_arrow(DataFile(true, encoding=encoding))[0].to_pydict()["region"] == ["Köln"]


def test_a_cell_that_is_there_twice_is_told_with_its_second_line(tmp_path):
    path = written(tmp_path, "region;v\nN;1\nS;2\nN;3\nTotal;6\n")
    for read in (of_cells, audited):
        with pytest.raises(InputError, match=r"firms.csv: 1 cell .*line 4 is the first"):
            read(path)


def test_cells_that_a_file_lacks_are_told_with_the_file(tmp_path):
    path = written(tmp_path, "region;v\nN;1\nS;.\n")
    with pytest.raises(InputError, match="firms.csv: 1 cell is not in the table: region=Total"):
        audited(path)
    path = written(tmp_path, "region;v\nN;1\nTotal;1\n")
    with pytest.raises(InputError, match="firms.csv, line 3: column 'region' holds the code"):
        dk.tabulate(path, by={"region": None}, value="v")


# ── contributions that a file of cells does not tell ─────────────────────────────────────────────


def told(**columns):
    frame = pa.table({"region": ["N", "S", "W"], "v": [100, 50, 30], **columns})
    count = "n" if "n" in columns else None
    return dk.Table.from_cells(
        frame, by={"region": None}, value="v", count=count, largest=["x1", "x2"]
    )


def test_a_contribution_that_is_missing_is_no_zero():
    """With 0 in its place nothing would be unsafe: one of three firms may have nearly all of N."""
    with pytest.raises(InputError, match="1 cell has nothing in 'x1'.*first in row 1"):
        told(n=[3, 5, 6], x1=[None, 12, 7], x2=[None, 11, 6])
    with pytest.raises(InputError, match="1 cell has nothing in 'x2'"):
        told(n=[3, 5, 6], x1=[90, 12, 7], x2=[None, 11, 6])
    with pytest.raises(InputError, match="2 cells have nothing in 'x2'"):
        told(x1=[100, 12, 7], x2=[None, None, None])


def test_nothing_in_place_of_a_contributor_who_is_not_there_is_none():
    table = told(n=[1, 2, 6], x1=[100, 40, 7], x2=[None, 10, 6])
    assert table.measure.largest.tolist() == [[100, 40], [100, 0], [40, 10], [7, 6]]
    assert told(x1=[100, 40, 20], x2=[None, 10, 6]).measure.largest[1].tolist() == [100, 0]


def test_totals_that_do_not_tell_their_contributions_have_those_of_their_parts():
    frame = pa.table(
        {"region": ["N", "S", "Total"], "v": [100, 50, 150], "n": [3, 4, 7], "x": [90, 20, None]}
    )
    table = dk.Table.from_cells(frame, by={"region": None}, value="v", count="n", largest=["x"])
    assert table.measure.largest.ravel().tolist() == [90, 90, 20]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_of_a_frame_are_named(kind):
    frame = kind({"region": ["N", "S", "W"], "v": [1, 2, None]})
    with pytest.raises(InputError, match="^row 3: 1 record: nothing in column 'v'"):
        dk.tabulate(frame, by={"region": None}, value="v")
    tree = dk.Hierarchy.flat(["N", "W"])
    with pytest.raises(InputError, match="^row 2: 1 record: 1 code in column 'region'"):
        dk.tabulate(frame, by={"region": tree})
