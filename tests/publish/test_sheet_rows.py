"""Rows that are written column by column are what a writer of single cells makes of them."""

import zipfile
from decimal import Decimal

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from openpyxl.utils.escape import unescape
from xlsxwriter import Workbook

from diskret.errors import InputError
from diskret.publish.formats import sheet_rows
from diskret.publish.formats.workbooks import (
    workbook,
    write_columns_xlsx,
    write_internal_xlsx,
    write_text,
)

#: What files of this format write in a way of their own.
TEXTS = [
    *("a", "", " b", "c ", "\td", "e\n", "<f>", "a & b", '"', "x\x01y", "_x0041_", "_x004", "é"),
    *("\U0001f600" * 3, "a\uffffb", "\r\nz", "=1+1", "&amp;", "]]>", "s" * 32_767, "😀" * 16_383),
]


def cell_by_cell(cells, numbers, path):
    """The sheet of the same rows, by the writer's own words; None: rows without a cell."""
    with Workbook(path, {"constant_memory": True}) as book:
        sheet, style = book.add_worksheet(), book.add_format({"indent": 1})
        for column, name in enumerate(cells.column_names):
            sheet.write_string(0, column, name)
        for row, values in enumerate(zip(*cells.to_pydict().values(), strict=True), 1):
            for column, (name, value) in enumerate(zip(cells.column_names, values, strict=True)):
                if value is not None and name in numbers:
                    sheet.write_number(row, column, value)
                elif value is not None:
                    sheet.write_string(row, column, value, style)


def sheet_of(path):
    with zipfile.ZipFile(path) as opened:
        return opened.read("xl/worksheets/sheet1.xml")


def both(cells, numbers, folder):
    """The sheet column by column, and cell by cell."""
    some = {n: [0 if n in numbers else "t"] for n in cells.column_names}
    cell_by_cell(pa.table(some), numbers, folder / "sample.xlsx")
    sheet_rows.fill(folder / "sample.xlsx", cells, numbers, folder / "made.xlsx")
    cell_by_cell(cells, numbers, folder / "expected.xlsx")
    return sheet_of(folder / "made.xlsx"), sheet_of(folder / "expected.xlsx")


def test_every_text_is_written_as_by_the_writer_of_cells(tmp_path):
    numbers = [None, 0, -1, 2**53, 10**17, 7]
    cells = pa.table(
        {
            "text": pa.array(TEXTS),
            "coded": pa.array([*TEXTS[::-1][:-1], None]).dictionary_encode(),
            "n": pa.array([numbers[at % 6] for at in range(len(TEXTS))], pa.int64()),
            "x": [None if at % 3 == 0 else 10.0 ** (at - 9) / 3 for at in range(len(TEXTS))],
        }
    )
    made, expected = both(cells, {"n", "x"}, tmp_path)
    assert made == expected


def test_rows_without_cells_and_many_columns_and_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(sheet_rows, "_ROWS_AT_ONCE", 7)
    draw = np.random.default_rng(1)
    columns = {
        f"c{at}": [None if draw.random() < 0.9 else f"{draw.integers(5)}" for _ in range(30)]
        for at in range(30)
    }
    columns = {name: [None if i in (3, 4, 29) else v for i, v in enumerate(own)]
               for name, own in columns.items()}  # fmt: skip
    cells = pa.table({name: pa.array(own, pa.string()) for name, own in columns.items()})
    made, expected = both(cells, set(), tmp_path)
    assert made.partition(b"<sheetData>")[2] == expected.partition(b"<sheetData>")[2]


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_what_is_written_is_read_again(tmp_path, rows):
    cells = pa.table(
        {
            "place": pa.array(["N", " S ", "W & E"][:rows], pa.string()),
            "mean": pa.array([Decimal("1.25"), None, Decimal(3)][:rows], pa.decimal128(9, 2)),
            "status": pa.array(["published", "hidden", "published"][:rows], pa.string()),
        }
    )
    write_columns_xlsx(cells, {"mean": 2}, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    read = [*sheet.iter_rows(values_only=True)]
    assert read[0] == ("place", "mean", "status")
    assert read[1:] == [*zip(*cells.to_pydict().values(), strict=True)]
    assert [path.name for path in tmp_path.iterdir()] == ["t.xlsx"]
    if rows:
        assert sheet["B2"].number_format == "#,##0.00" and sheet["C2"].alignment.indent == 1
        assert sheet["A2"].alignment.indent == 0


# ── texts that a writer might take for something else ───────────────────────────────

PLAIN = [
    *(
        "<r>a</r>",
        "<r></r>",
        "<r><t>x</t></r>",
        "<r> & </r>",
        "<r>\x01_x0041_</r>",
        " <r>a</r>",
        "<r>a</r> ",
    ),
    *("=1+1", "{=1}", "+1", "-1", "@a", "http://x.example", "mailto:a@b", "internal:S!A1", "'x"),
    *("\ufeffa", "007", "1e5", "TRUE", "x\x01y", "_x0041_", "a\nb", "s" * 32_767),
]


def texts_read(path, sheet=0):
    cells = [cell for row in openpyxl.load_workbook(path).worksheets[sheet] for cell in row]
    assert not any(cell.hyperlink for cell in cells)
    return [unescape(cell.value) for cell in cells if cell.data_type == "s"]


def test_every_text_arrives_as_it_is(tmp_path):
    with workbook(tmp_path / "t.xlsx") as book:
        sheet, bold = book.add_worksheet(), book.add_format({"bold": True})
        for row, text in enumerate(PLAIN):
            write_text(sheet, row, 0, text)
            write_text(sheet, row, 1, text, bold)
    assert texts_read(tmp_path / "t.xlsx") == [text for text in PLAIN for _ in range(2)]
    assert openpyxl.load_workbook(tmp_path / "t.xlsx").active["B1"].font.bold
    assert b"<r>" not in sheet_of(tmp_path / "t.xlsx")


@pytest.mark.parametrize("text", PLAIN)
def test_names_and_codes_of_columns_arrive_as_they_are(tmp_path, text):
    cells = pa.table({text: [text], "n": [1]})
    write_columns_xlsx(cells, {"n": 0}, tmp_path / "t.xlsx")
    assert texts_read(tmp_path / "t.xlsx") == [text, "n", text]
    write_internal_xlsx(cells, tmp_path / "i.xlsx")
    assert texts_read(tmp_path / "i.xlsx")[1:] == [text, "n", text]


@pytest.mark.parametrize("text", ["s" * 32_768, "😀" * 16_384])
def test_a_text_too_long_for_a_cell_is_refused_and_not_cut(tmp_path, text):
    for cells in (pa.table({text: ["a"]}), pa.table({"a": [text]})):
        for write in (lambda *to: write_columns_xlsx(to[0], {}, to[1]), write_internal_xlsx):
            with pytest.raises(InputError, match=r"has 32,768 characters.*at most 32,767"):
                write(cells, tmp_path / "t.xlsx")
            assert not list(tmp_path.iterdir())
