"""The public workbook: what readers see, and that nothing else is in it."""

import re
import zipfile
from dataclasses import replace

import numpy as np
import openpyxl
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.symbols import symbol_sets
from diskret.publish.verify.files import _of_workbook
from diskret.tables import Dimension, Published

REGION = Dimension(
    "region",
    Hierarchy(
        ("Total", "A", "A1", "A2", "B"),
        np.array([-1, 0, 1, 1, 0]),
        {"A": "Ärzte", "A1": "A1 Hausärzte", "B": "Bäcker"},
    ),
)
SIZE = Dimension("size", Hierarchy(("Total", "small", "large"), np.array([-1, 0, 0])))


@pytest.fixture
def published():
    """5 regions by 3 sizes; two cells of region A are hidden, one of B is empty."""
    value = np.array(
        [[2500, 1000, 1500], [1500, 1000, 500], [900, 0, 0], [600, 0, 0], [1000, 0, 1000]]
    )
    suppressed = np.zeros((5, 3), dtype=bool)
    suppressed[2:4, 1:] = True
    empty = np.zeros((5, 3), dtype=bool)
    empty[4, 1] = True
    return Published("firms", (REGION, SIZE), "turnover", False, 2, value, suppressed, empty)


@pytest.fixture
def many():
    """A 2-dimensional frequency table with more codes than run across."""
    dimensions = (SIZE, Dimension("nace", Hierarchy.flat([f"{i:02}" for i in range(30)])))
    value = np.arange(93).reshape(3, 31)
    nowhere = np.zeros((3, 31), dtype=bool)
    return Published("many", dimensions, "count", True, 0, value, nowhere, value == 0)


def read(path):
    return openpyxl.load_workbook(path)


def shown(sheet):
    """The sheet as lines of text."""
    rows = sheet.iter_rows(values_only=True)
    return ["|".join("" if cell is None else str(cell) for cell in row) for row in rows]


def test_a_reader_sees_this(published, tmp_path):
    write_xlsx(published, tmp_path / "t.xlsx")
    book = read(tmp_path / "t.xlsx")
    assert book.sheetnames == ["Table", "Legend"]
    assert shown(book["Table"]) == [
        "turnover by region and size|||",
        "|||",
        "|size||",
        "region|Total|small|large",
        "Total|25|10|15",
        "A Ärzte|15|10|5",
        "A1 Hausärzte|9|.|.",
        "A2|6|.|.",
        "B Bäcker|10|–|10",
    ]
    assert shown(book["Legend"]) == [
        "Symbols|",
        ".|confidential",
        "–|nothing: no units in this cell",
        "|",
        "About this table|",
        "Title|turnover by region and size",
        "Values|turnover",
        "Classified by|region, size",
        "Cells, totals included|15",
        "of these with a number|10",
        "of these confidential|4",
        "of these with nothing to show|1",
    ]


def test_a_german_reader_sees_this(published, tmp_path):
    write_xlsx(published, tmp_path / "t.xlsx", language="de", title="Umsätze 2025")
    book = read(tmp_path / "t.xlsx")
    assert book.sheetnames == ["Tabelle", "Zeichenerklärung"]
    lines = shown(book["Tabelle"])
    assert lines[0] == "Umsätze 2025|||"
    assert lines[3:5] == ["region|Insgesamt|small|large", "Insgesamt|25|10|15"]
    legend = shown(book["Zeichenerklärung"])
    assert legend[1:3] == [".|Zahlenwert geheim zu halten", "–|nichts vorhanden"]
    assert "davon geheim|4" in legend


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("symbols", symbol_sets())
def test_numbers_are_numbers_and_symbols_are_text(published, tmp_path, language, symbols):
    write_xlsx(published, tmp_path / "t.xlsx", language=language, symbols=symbols)
    sheet = read(tmp_path / "t.xlsx").worksheets[0]
    signs = symbol_sets()[symbols]
    for i, row in enumerate(sheet.iter_rows(min_row=5, min_col=2)):
        for j, cell in enumerate(row):
            if published.suppressed[i, j]:
                assert (cell.data_type, cell.value) == ("s", signs.suppressed)
            elif published.empty[i, j] and signs.nothing != "0":
                assert (cell.data_type, cell.value) == ("s", signs.nothing)
            else:
                assert isinstance(cell.value, int | float)
                assert round(cell.value * 100) == published.value[i, j]
                assert cell.number_format == "#,##0.00"


def test_totals_are_bold_and_codes_indented(published, tmp_path):
    write_xlsx(published, tmp_path / "t.xlsx")
    sheet = read(tmp_path / "t.xlsx")["Table"]
    assert [sheet.cell(row, 1).alignment.indent for row in range(5, 10)] == [0, 1, 2, 2, 1]
    assert [sheet.cell(row, 1).font.bold for row in range(5, 10)] == [True] + [False] * 4
    assert [sheet.cell(5, column).font.bold for column in range(2, 5)] == [True] * 3
    assert [sheet.cell(6, column).font.bold for column in range(2, 5)] == [True, False, False]
    assert sheet.freeze_panes == "B5"


def test_one_dimension_is_a_list(published, tmp_path):
    one = replace(
        published,
        dimensions=published.dimensions[:1],
        value=published.value[:, 0],
        suppressed=published.suppressed[:, 0],
        empty=published.empty[:, 0],
    )
    write_xlsx(one, tmp_path / "t.xlsx")
    assert shown(read(tmp_path / "t.xlsx")["Table"])[2:5] == [
        "region|turnover",
        "Total|25",
        "A Ärzte|15",
    ]


def test_many_codes_make_a_long_list(many, tmp_path):
    write_xlsx(many, tmp_path / "t.xlsx", language="de")
    lines = shown(read(tmp_path / "t.xlsx")["Tabelle"])
    assert lines[0] == "Anzahl nach size und nace||"
    assert lines[2:6] == [
        "size|nace|Anzahl",
        "Insgesamt|Insgesamt|–",
        "Insgesamt|00|1",
        "Insgesamt|01|2",
    ]
    assert lines[-1] == "large|29|92"


def test_three_dimensions_put_two_down_the_side(published, tmp_path):
    third = Dimension("year", Hierarchy.flat(["2025"]))
    stacked = {n: np.stack([getattr(published, n)] * 2) for n in ("value", "suppressed", "empty")}
    cube = replace(published, dimensions=(third, *published.dimensions), **stacked)
    write_xlsx(cube, tmp_path / "t.xlsx")
    lines = shown(read(tmp_path / "t.xlsx")["Table"])
    assert lines[3] == "year|region|Total|small|large"
    assert lines[0] == "turnover by year, region and size||||"
    assert lines[11] == "2025|A1 Hausärzte|9|.|."


def test_a_code_that_begins_like_its_label_is_still_shown(published, tmp_path):
    tree = replace(published.dimensions[0].hierarchy, labels={"A": "Agriculture", "B": "B"})
    first = Dimension("region", tree)
    write_xlsx(replace(published, dimensions=(first, published.dimensions[1])), tmp_path / "t.xlsx")
    sheet = read(tmp_path / "t.xlsx")["Table"]
    assert [sheet.cell(row, 1).value for row in (6, 9)] == ["A Agriculture", "B"]


# ── nothing else is in it ───────────────────────────────────────────────────────────


def everything(path):
    with zipfile.ZipFile(path) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def test_originals_of_suppressed_cells_leave_no_trace(published, tmp_path):
    originals = np.where(published.suppressed, 765432100, published.value)
    write_xlsx(replace(published, value=originals), tmp_path / "careless.xlsx")
    write_xlsx(published, tmp_path / "t.xlsx")
    content = everything(tmp_path / "careless.xlsx")
    assert b"7654321" not in content and b"7,654,321" not in content
    # widths included
    assert content == everything(tmp_path / "t.xlsx")


def test_there_is_nothing_hidden_and_nothing_computed(published, tmp_path):
    write_xlsx(published, tmp_path / "t.xlsx")
    book = read(tmp_path / "t.xlsx")
    assert not book.defined_names
    for sheet in book:
        assert sheet.sheet_state == "visible"
        assert not sheet.defined_names
        assert not any(d.hidden for d in sheet.row_dimensions.values())
        assert not any(d.hidden for d in sheet.column_dimensions.values())
        assert not any(c.comment or c.data_type == "f" for row in sheet.iter_rows() for c in row)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        assert len(archive.namelist()) == 10
        assert not archive.comment


def test_nobody_and_no_time_is_named(published, tmp_path):
    write_xlsx(published, tmp_path / "t.xlsx")
    properties = read(tmp_path / "t.xlsx").properties
    assert not properties.creator and not properties.lastModifiedBy
    assert properties.created.year == properties.modified.year == 2000
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 31, 0, 0, 0)}


def test_the_same_table_gives_the_same_bytes_and_leaves_no_other_file(published, tmp_path):
    write_xlsx(published, tmp_path / "a.xlsx")
    write_xlsx(published, tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.xlsx", "b.xlsx"]


def test_text_that_looks_like_a_formula_stays_text(published, tmp_path):
    tree = Hierarchy(("=1+1", "+A", "@x", "https://x.example", "-"), np.array([-1, 0, 0, 0, 0]))
    first = Dimension("=SUM(A1)", tree)
    write_xlsx(replace(published, dimensions=(first, published.dimensions[1])), tmp_path / "t.xlsx")
    sheet = read(tmp_path / "t.xlsx")["Table"]
    assert sheet["A5"].value == "=1+1"
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        content = archive.read("xl/worksheets/sheet1.xml")
        assert not re.search(rb"<f[ >]", content)
        assert b"hyperlink" not in content


def test_text_that_looks_like_markup_stays_text(published, tmp_path):
    tree = Hierarchy(
        ("<r>T</r>", "<r><t>A</t></r>", "<r>B", "C</r>", "D"),
        np.array([-1, 0, 0, 0, 0]),
        {"D": "<r>label</r>"},
    )
    first = Dimension("<r>region</r>", tree)
    marked = replace(published, dimensions=(first, published.dimensions[1]), name="t")
    write_xlsx(marked, tmp_path / "t.xlsx", title="<r>title</r>")
    sheet = read(tmp_path / "t.xlsx")["Table"]
    assert sheet["A1"].value == "<r>title</r>" and sheet["A4"].value == "<r>region</r>"
    stub = [sheet[f"A{row}"].value for row in range(5, 10)]
    assert stub[:4] == ["<r>T</r>", "<r><t>A</t></r>", "<r>B", "C</r>"]
    assert stub[4].endswith("<r>label</r>")
    # and a reader of ours finds the same
    assert _of_workbook(tmp_path / "t.xlsx", marked) == []


def test_a_release_with_codes_like_markup_leaves(tmp_path):
    code, keys = "<r>a</r>", dk.SecretKeys(bytes(range(32)))
    records = pa.table({"<r>x</r>": [code] * 9 + ["b"] * 9 + ["c"] * 2})
    table = dk.tabulate(records, by={"<r>x</r>": None})
    dk.suppress(table, dk.rules.MinimumFrequency(3), name="t").write(
        tmp_path / "out", ["csv", "xlsx"], keys=keys
    )
    assert dk.verify(tmp_path / "out", keys=keys)
    assert code in [row[0].value for row in read(tmp_path / "out/public/t.xlsx")["Table"]]


# ── refused ─────────────────────────────────────────────────────────────────────────


def test_a_table_beyond_the_limits_of_a_sheet_is_refused(published, tmp_path):
    codes = Hierarchy.flat(map(str, range(1_048_576)))
    shape = (1_048_577,)
    nothing = np.zeros(shape, dtype=bool)
    large = replace(
        published,
        dimensions=(Dimension("id", codes),),
        value=np.zeros(shape, dtype=np.int64),
        suppressed=nothing,
        empty=nothing,
    )
    with pytest.raises(InputError, match="1,048,580 rows.*at most 1,048,576.*write CSV"):
        write_xlsx(large, tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())


def test_an_unknown_language_is_refused(published, tmp_path):
    with pytest.raises(InputError, match="must be 'en' or 'de', not 'fr'"):
        write_xlsx(published, tmp_path / "t.xlsx", language="fr")


def test_a_missing_folder_is_a_clear_error(published, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_xlsx(published, tmp_path / "nowhere" / "t.xlsx")


def test_thousands_are_set_apart_as_on_pages_and_older_workbooks_are_known(tmp_path):
    sales = pa.table({"region": ["N", "S", "W", "O"], "sales": [1_200_000, 3, 700_000, 9_000]})
    table = dk.tabulate(sales, by={"region": None}, value="sales")
    result = dk.suppress(table, dk.rules.MinimumFrequency(2), name="t")
    result.write(tmp_path / "out", formats=["csv", "xlsx"], intervals=True, language="de")
    path = tmp_path / "out" / "public" / "t.xlsx"
    published = Published.read(tmp_path / "out" / "public")
    texts = path_texts(path)
    assert any("\N{NO-BREAK SPACE}" in text for text in texts)
    assert _of_workbook(path, published) == []
    write_xlsx(published, path, language="de", dotted=True)
    assert path_texts(path) != texts and _of_workbook(path, published) == []


def path_texts(path):
    """Ranges in place of values."""
    cells = [c.value for row in openpyxl.load_workbook(path).worksheets[0] for c in row]
    return [text for text in cells if isinstance(text, str) and "\N{EN DASH}" in text]
