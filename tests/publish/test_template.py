"""Workbooks in an office's own layout: the right value in the right cell, the looks kept."""

import zipfile
from decimal import Decimal
from xml.etree import ElementTree

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from office_templates import a_published, a_template, rezipped
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.styles.colors import Color
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from diskret.errors import InputError
from diskret.publish.formats.template.fill import fill_template
from diskret.publish.formats.template.placeholders import read_placeholder

BLOCK = {
    "A1": "{{table: rows=nace; columns=region}}",
    **{"B1": "Total", "C1": "N", "D1": "S"},
    **{"A2": "Total", "A3": "B", "A4": "08", "A5": "C"},
}


@pytest.fixture
def filled(tmp_path):
    """Fill a template with the given cells; returns the sheet as written."""

    def fill(cells=None, change=None, tables=None, **options):
        template = a_template(tmp_path / "layout.xlsx", cells, change)
        fill_template(tables or [a_published()], template, tmp_path / "out.xlsx", **options)
        return openpyxl.load_workbook(tmp_path / "out.xlsx")["Table"]

    return fill


def values(sheet):
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


# ── what is filled with what ────────────────────────────────────────────────────────


def test_single_placeholders_are_filled_missing_dimensions_being_totals(filled):
    sheet = filled(
        {
            "A1": "{{nace=B; region=Total}}",
            "A2": "{{turnover: nace=08, region=N}}",
            "A3": "{{ region = S }}",
            "A4": "{{nace=C; region=S}}",
            "A5": "{{nace=Total}}",
        }
    )
    assert values(sheet) == [[2311.11], ["."], [4400.25], ["–"], [7711.25]]


def test_a_block_is_filled_by_its_codes(filled):
    assert values(filled(BLOCK)) == [
        [None, "Total", "N", "S"],
        ["Total", 7711.25, 3311, 4400.25],
        ["B", 2311.11, ".", "."],
        ["08", 2311.11, ".", "."],
        ["C", 5400.14, 5400.14, "–"],
    ]


def test_a_block_is_found_by_labels_numbers_and_totals_in_any_order(filled):
    sheet = filled(
        {
            "B2": "Industry {{table: rows=nace; columns=region}}",
            **{"C2": "norden", "E2": "Insgesamt"},
            **{"B3": "C", "B5": 8, "B6": "  08   Mining "[2:], "B7": None},
            "B9": "Source: 2024",
        }
        | {"B6": "{{label: nace=Total}}"}
    )
    assert sheet["B2"].value == "Industry"
    assert [sheet[c].value for c in ("C3", "E3")] == [5400.14, 5400.14]
    assert [sheet[c].value for c in ("C5", "E5")] == [".", 2311.11]
    assert [sheet[c].value for c in ("B6", "C6", "E6")] == ["Total", 3311, 7711.25]
    assert sheet["D3"].value is sheet["C4"].value is sheet["C9"].value is None
    assert sheet["B9"].value == "Source: 2024"


def test_a_block_may_have_rows_only_and_other_dimensions_fixed(filled):
    cells = {"A1": "{{table: rows=nace; region=N}}", "A2": "Total", "A3": "08 Bergbau"}
    assert values(filled(cells)) == [[None, None], ["Total", 3311], ["08 Bergbau", "."]]


def test_a_merged_corner_has_its_codes_below_and_beside_its_last_cell(filled):
    cells = {"A1": "Industry {{table: rows=nace; columns=region}}", "B1": "Region"}
    cells |= {"B2": "Total", "C2": "S", "A3": "C"}

    def merge(book, sheet):
        sheet.merge_cells("A1:A2")
        sheet.merge_cells("B1:C1")

    sheet = filled(cells, merge)
    assert [sheet[c].value for c in ("A1", "B3", "C3")] == ["Industry", 5400.14, "–"]
    assert {str(area) for area in sheet.merged_cells.ranges} == {"A1:A2", "B1:C1"}


def test_several_blocks_stand_below_each_other(filled):
    cells = {"A1": "{{table: rows=nace}}", "A2": "B", "A4": "{{table: rows=region}}", "A5": "N"}
    sheet = filled(cells)
    assert [sheet["B2"].value, sheet["B5"].value] == [2311.11, 3311]


def test_texts_are_in_the_language(filled):
    cells = {
        "A1": "Tab. 1: {{title}}",
        **{"A2": "{{label: region=N}}", "A3": "{{label: region=S}}", "A4": "{{legend}}"},
        **{
            "A5": "{{turnover: title}}",
            "A6": "{{label: nace=Total}}",
            "A7": "{{nace=08; region=N}}",
        },
    }
    sheet = filled(cells, language="de", symbols="de-letters", titles={"turnover": "Umsatz"})
    assert [row[0] for row in values(sheet)] == [
        "Tab. 1: Umsatz",
        *("Norden", "S"),
        "g = Zahlenwert geheim zu halten; 0 = nichts vorhanden oder genau null",
        *("Umsatz", "Insgesamt", "g"),
    ]
    assert filled(cells)["A2"].value == "North"


def test_a_legend_takes_lines_where_the_cell_wraps(filled):
    def wrap(book, sheet):
        sheet["A1"].alignment = Alignment(wrap_text=True)

    assert filled({"A1": "{{legend}}"}, wrap)["A1"].value.count("\n") == 1


def test_several_tables_are_told_by_their_names(filled):
    tables = [a_published(), a_published("firms", 0)]
    sheet = filled({"A1": "{{turnover: region=N}}", "A2": "{{firms: region=N}}"}, tables=tables)
    assert values(sheet) == [[3311], [331100]]


def test_texts_never_become_formulas(filled):
    sheet = filled({"A1": "{{title}}"}, titles={"turnover": "=1+1"})
    assert (sheet["A1"].value, sheet["A1"].data_type) == ("=1+1", "s")


@given(st.integers(0, 10**15 - 1), st.integers(0, 12))
def test_numbers_are_written_exactly(tmp_path_factory, scaled, decimals):
    folder = tmp_path_factory.mktemp("exact")
    published = a_published(decimals=decimals)
    published.value[0, 0] = scaled
    template = a_template(folder / "t.xlsx", {"A1": "{{nace=Total}}"})
    fill_template([published], template, folder / "out.xlsx")
    with zipfile.ZipFile(folder / "out.xlsx") as archive:
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    (written,) = [element.text for element in sheet.iter() if element.tag.endswith("}v")]
    assert Decimal(written) == Decimal(scaled).scaleb(-decimals)


def test_values_beyond_a_spreadsheet_are_refused(filled):
    published = a_published()
    published.value[0, 0] = 10**15
    with pytest.raises(InputError, match="more than 15 digits"):
        filled({"A1": "{{nace=Total}}"}, tables=[published])


# ── what stays ──────────────────────────────────────────────────────────────────────


def test_looks_and_print_settings_stay(filled):
    def dress(book, sheet):
        cell = sheet["B2"]
        cell.number_format = '#,##0.0 "k€"'
        cell.font = Font(name="Arial", bold=True, color=Color(theme=4, tint=-0.5))
        cell.fill = PatternFill("solid", fgColor="DDEEFF")
        sheet["A9"] = CellRichText("Source", TextBlock(InlineFont(vertAlign="superscript"), "1)"))
        sheet.column_dimensions["A"].width = 33
        sheet.row_dimensions[2].height = 44
        sheet.freeze_panes = "B2"
        sheet.print_area = "A1:D5"
        sheet.print_title_rows = "1:1"
        sheet.page_setup.orientation = "landscape"
        sheet.oddFooter.center.text = "Page &P"
        book.create_sheet("Notes")["A1"] = "Made in 2025"

    sheet = filled(BLOCK, dress)
    cell = sheet["B2"]
    assert (cell.value, cell.number_format, cell.font.name, cell.font.b) == (
        *(7711.25, '#,##0.0 "k€"', "Arial", True),
    )
    assert (cell.fill.fgColor.rgb, cell.font.color.rgb) == ("00DDEEFF", "FF254061")
    assert sheet["C3"].alignment.horizontal == "right"
    assert (sheet.column_dimensions["A"].width, sheet.row_dimensions[2].height) == (33, 44)
    assert (sheet.freeze_panes, sheet.print_title_rows) == ("B2", "$1:$1")
    assert sheet.print_area == "'Table'!$A$1:$D$5"
    assert sheet.page_setup.orientation == "landscape"
    assert sheet.oddFooter.center.text == "Page &P"
    assert sheet["A9"].value == "Source1)"
    assert sheet.parent.sheetnames == ["Table", "Notes"]


def test_properties_and_unused_styles_do_not_come_along(filled, tmp_path):
    def sign(book, sheet):
        book.properties.creator = "Meier 4711"
        book.properties.description = "4711"
        sheet["F1"].number_format = "0.000"
        del sheet["F1"]

    filled(BLOCK, sign)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        everything = b"".join(map(archive.read, archive.namelist()))
    assert b"Meier" not in everything and b"4711" not in everything
    assert b"openpyxl" not in everything.lower()


def test_the_same_gives_the_same_bytes(filled, tmp_path):
    filled(BLOCK)
    first = (tmp_path / "out.xlsx").read_bytes()
    filled(BLOCK)
    assert (tmp_path / "out.xlsx").read_bytes() == first


# ── what cannot be filled ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"A1": "{{nace=X}}"}, "sheet 'Table', cell A1: 'X' is no code or label of 'nace'"),
        ({"A1": "{{size=X}}"}, "no dimension 'size'.*nace, region"),
        ({"A1": "{{firms: nace=C}}"}, "no table 'firms'; begin with one of turnover:"),
        ({"A1": "{{label: size=C}}"}, "no dimension 'size'"),
        ({"A1": "{{what}}"}, "cannot be understood"),
        ({"A1": "{{nace=C; nace=B}}"}, "'nace' is there twice"),
        ({"A1": "{{nace=C"}, "braces that are not closed"),
        ({"A1": "about {{nace=C}}"}, "a cell of its own"),
        ({"A1": "{{table: columns=nace}}"}, "needs rows="),
        ({"A1": "{{table: rows=size}}", "A2": "x"}, "no dimension 'size'"),
        ({"A1": "{{table: rows=nace; columns=nace}}", "A2": "B", "B1": "B"}, "there twice"),
        ({"A1": "{{table: rows=nace}}"}, "no code of 'nace' beside the marker"),
        (
            {"A1": "{{table: rows=nace}}", "A2": "C", "A3": "Note"},
            "'Note' is no code.*leave a cell",
        ),
        ({"A1": "{{table: rows=nace}}", "A2": "C", "A3": "C"}, "'C' is there more than once"),
        ({**BLOCK, "B2": "{{nace=C}}"}, "cell B2: a block fills this cell as well"),
        ({"A1": "plain"}, "there is no placeholder in the template"),
    ],
)
def test_what_cannot_be_filled_is_named(filled, tmp_path, cells, message):
    with pytest.raises(InputError, match=message):
        filled(cells)
    assert not (tmp_path / "out.xlsx").exists()


def test_a_label_of_two_codes_is_refused(filled):
    published = a_published()
    tree = published.dimensions[1].hierarchy.with_labels({"S": "North"})
    object.__setattr__(published.dimensions[1], "hierarchy", tree)
    with pytest.raises(InputError, match="could be 'N', 'S' of 'region'; write the code"):
        filled({"A1": "{{region=North}}"}, tables=[published])


def test_merged_bodies_are_refused(filled):
    with pytest.raises(InputError, match="the cell C2 is the hidden part of a merged one"):
        filled(BLOCK, lambda book, sheet: sheet.merge_cells("B2:C2"))


@pytest.mark.parametrize(
    ("inner", "at"),
    [
        ("a=1,5", {"a": "1,5"}),
        ("a=x:y; b=2", {"a": "x:y", "b": "2"}),
        ("t: a=1, b=2", {"a": "1", "b": "2"}),
        ("size=1-9, region=N", {"size": "1-9", "region": "N"}),
    ],
)
def test_codes_may_hold_commas_and_colons(inner, at):
    assert read_placeholder(inner).at == at


def test_without_openpyxl_the_remedy_is_named(filled, monkeypatch, tmp_path):
    a_template(tmp_path / "t.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install 'diskret\[excel\]'"):
        fill_template([a_published()], tmp_path / "t.xlsx", tmp_path / "out.xlsx")


# ── what a template may not hold ────────────────────────────────────────────────────


def hidden_sheet(book, sheet):
    book.create_sheet("secret").sheet_state = "hidden"


def very_hidden_sheet(book, sheet):
    book.create_sheet("secret").sheet_state = "veryHidden"


def hidden_row(book, sheet):
    sheet.row_dimensions[7].hidden = True


def hidden_column(book, sheet):
    sheet.column_dimensions["C"].hidden = True


def row_without_height(book, sheet):
    sheet.row_dimensions[7].height = 0.3


def comment(book, sheet):
    sheet["B1"].comment = Comment("was 4711", "Meier")


def defined_name(book, sheet):
    book.defined_names["original"] = DefinedName("original", attr_text="4711")


def formula(book, sheet):
    sheet["B1"] = "=4711"


def validation(book, sheet):
    rule = DataValidation("list", formula1='"4711,4712"')
    sheet.add_data_validation(rule)
    rule.add("B1")


def number_format(book, sheet):
    sheet["B1"] = 0
    sheet["B1"].number_format = '"4711"'


def currency(book, sheet):
    sheet["B1"].number_format = "0[$4711-407]"


def chart(book, sheet):
    drawn = BarChart()
    drawn.add_data(Reference(sheet, min_col=1, min_row=1, max_row=2))
    sheet.add_chart(drawn)


def link(book, sheet):
    sheet["B1"].hyperlink = "file:///secret/4711.xlsx"


def protection(book, sheet):
    sheet.protection.enable()


def filtered(book, sheet):
    sheet.auto_filter.ref = "A1:B2"


def footer(book, sheet):
    sheet.oddFooter.center.text = "{{title}}"


@pytest.mark.parametrize(
    ("smuggle", "named"),
    [
        (hidden_sheet, "the hidden sheet 'secret'"),
        (very_hidden_sheet, "the hidden sheet 'secret'"),
        (hidden_row, "the hidden row 7 in the sheet 'Table'"),
        (hidden_column, "the hidden column 3"),
        (row_without_height, "the hidden row 7"),
        (comment, "comments"),
        (defined_name, "the name 'original'"),
        (formula, "a formula in B1 in the sheet 'Table'"),
        (validation, "data validation"),
        (number_format, "the number format '\"4711\"'"),
        (currency, "the number format"),
        (chart, "charts, pictures or drawings"),
        (link, "links in the sheet"),
        (protection, "sheet protection"),
        (filtered, "a filter"),
        (footer, "a placeholder in the header or footer"),
    ],
)
def test_what_readers_do_not_see_is_refused(filled, smuggle, named):
    with pytest.raises(InputError, match=f"cannot be published: .*{named}"):
        filled(None, smuggle)


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ("xl/vbaProject.bin", "macros"),
        ("xl/externalLinks/externalLink1.xml", "links to other files"),
        ("xl/pivotCache/pivotCacheRecords1.xml", "pivot tables"),
        ("xl/tables/table1.xml", "tables in the sense of Excel"),
        ("xl/odd.xml", "an unknown part"),
    ],
)
def test_parts_beyond_the_list_are_refused(tmp_path, part, named):
    template = a_template(tmp_path / "t.xlsx")
    rezipped(template, {part: b"<a>4711</a>"})
    with pytest.raises(InputError, match=named):
        fill_template([a_published()], template, tmp_path / "out.xlsx")


@pytest.mark.parametrize("name", ["t.xlsm", "t.xls", "t.ods"])
def test_other_kinds_of_workbooks_are_refused(tmp_path, name):
    a_template(tmp_path / name)
    with pytest.raises(InputError, match=r"without macros \(\.xlsx\)"):
        fill_template([a_published()], tmp_path / name, tmp_path / "out.xlsx")


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "t.xlsx").write_text("region;turnover", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be read as an \.xlsx workbook"):
        fill_template([a_published()], tmp_path / "t.xlsx", tmp_path / "out.xlsx")


@pytest.mark.parametrize(
    "code", ["#,##0.00 [$€-407]", '0.0 "Mio. €"', "[Red]-0;[Blue]0", "dd.mm.yyyy", r"0\ 000", "0%"]
)
def test_customary_number_formats_are_fine(filled, code):
    def form(book, sheet):
        sheet["A1"].number_format = code

    assert filled(None, form)["A1"].number_format == code
