"""The office's own workbook: every figure, colours by status, marked confidential."""

import openpyxl
import pyarrow as pa
import pytest

from diskret.errors import InputError
from diskret.publish.formats.workbooks import write_internal_xlsx

CELLS = pa.table(
    {
        "region": ["Total", "A", "B", "C"],
        "turnover": [25.5, 10.25, 15.25, 0.0],
        "status": ["published", "primary", "secondary", "empty"],
        "count": pa.array([12, 2, 10, 0]),
        "upper": [None, float("inf"), 3.0, float("nan")],
        "waived": [False, True, None, False],
    }
)


def test_the_office_sees_every_figure(tmp_path):
    write_internal_xlsx(CELLS, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Cells"]
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    assert rows[0][0] == "Confidential: for internal use only"
    assert rows[1] == CELLS.column_names
    heads = ["general", "right", "general", "right", "right", "general"]
    assert [cell.alignment.horizontal or "general" for cell in sheet[2]] == heads
    assert rows[2] == ["Total", 25.5, "published", 12, None, False]
    assert rows[3] == ["A", 10.25, "primary", 2, "∞", True]
    assert rows[4] == ["B", 15.25, "secondary", 10, 3, None]
    assert rows[5] == ["C", 0, "empty", 0, None, False]


def test_primary_is_red_and_secondary_blue(tmp_path):
    write_internal_xlsx(CELLS, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Cells"]

    def colours(row):
        return {cell.fill.fgColor.rgb for cell in sheet[row] if cell.fill.patternType}

    assert colours(3) == colours(6) == set()
    (red,), (blue,) = colours(4), colours(5)
    assert red[2:4] > red[6:8] and blue[6:8] > blue[2:4]
    assert all(cell.fill.patternType for row in (4, 5) for cell in sheet[row])


def test_it_can_be_filtered_and_its_header_stays(tmp_path):
    write_internal_xlsx(CELLS, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Cells"]
    assert sheet.auto_filter.ref == "A2:F6"
    assert sheet.freeze_panes == "A3"


def test_it_speaks_german(tmp_path):
    write_internal_xlsx(CELLS, tmp_path / "t.xlsx", "de")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["Felder", "Zeichenerklärung"]
    assert book["Felder"]["A1"].value == "Vertraulich: nur für den internen Gebrauch"
    assert book["Zeichenerklärung"]["B2"].value.startswith("sekundär gesperrt")


def test_the_same_cells_give_the_same_bytes(tmp_path):
    write_internal_xlsx(CELLS, tmp_path / "a.xlsx")
    write_internal_xlsx(CELLS, tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_cells_without_status_have_no_colours(tmp_path):
    write_internal_xlsx(CELLS.drop_columns(["status"]), tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Cells"]
    assert not any(cell.fill.patternType for row in sheet.iter_rows() for cell in row)


def test_too_many_columns_are_refused(tmp_path):
    wide = pa.table({f"c{i}": [1] for i in range(16_385)})
    with pytest.raises(InputError, match="16,385 columns.*16,384"):
        write_internal_xlsx(wide, tmp_path / "t.xlsx")
