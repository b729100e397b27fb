"""A filled template leaves only if all of it is in the template or published."""

import re
import zipfile
from dataclasses import replace

import pytest
from office_templates import a_published, a_template, rezipped
from openpyxl import load_workbook

from diskret.errors import ProofError
from diskret.publish.digests import public_digests
from diskret.publish.formats.data_files import write_csv
from diskret.publish.formats.template.fill import fill_template, template_texts
from diskret.publish.guard.check import FilledTemplate, check_public
from diskret.publish.guard.template import template_problems
from diskret.publish.json_files import write_json
from diskret.tables.public_files import structure

CELLS = {
    "A1": "Tab. 1: {{title}}",
    "A2": "Industry {{table: rows=nace; columns=region}}",
    **{"B2": "Total", "C2": "N", "A3": "Total", "A4": "B", "A5": "{{label: nace=08}}", "A6": "C"},
    **{"A8": "{{legend}}", "A9": 2025, "A10": 0.1 + 0.2, "A11": True},
}
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def written(tmp_path):
    """A template and the workbook made from it, with all that is needed to check it."""
    published = a_published()

    def dress(book, sheet):
        sheet.oddHeader.left.text = "Office"
        sheet.print_area = "A1:C9"
        sheet["B3"].number_format = '#,##0.00 "€"'
        sheet.column_dimensions["A"].width = 30
        book.create_sheet("Notes")["B2"] = "as every year"

    template = a_template(tmp_path / "layout.xlsx", CELLS, dress)
    folder = tmp_path / "public"
    folder.mkdir()
    fill_template([published], template, folder / "layout.xlsx", language="de")
    texts = template_texts([published], "de", "de-classic")
    return folder / "layout.xlsx", template, [published], texts


def problems(written):
    return " | ".join(template_problems(*written))


def test_what_was_filled_may_leave(written):
    assert problems(written) == ""
    assert load_workbook(written[0])["Table"]["A5"].value == "Bergbau"


def test_a_release_with_a_filled_template_may_leave(written):
    path, template, (published,), texts = written
    folder = path.parent
    write_csv(published, folder / "turnover.csv")
    write_json(structure(published), folder / "turnover.structure.json")
    cells = published.dimensions
    hidden = [cells[0].hierarchy.codes[i] for i in (1, 1, 2, 2)]
    content = {
        **{"schema": "s", "family": "suppression", "name": "turnover", "attacker": "outsider"},
        "intervals": {"nace": hidden, "region": ["N", "S"] * 2, "lower": [0] * 4, "upper": [9] * 4},
        "files": public_digests(folder),
    }
    write_json(content, folder / "turnover.certificate.json")
    filled = FilledTemplate("layout.xlsx", template, texts)
    check_public(folder, [published], filled)
    with pytest.raises(ProofError, match="layout.xlsx is no file of this release"):
        check_public(folder, [published])
    rezipped(path, {SHEET: lambda text: text.replace("<v>3311</v>", "<v>3312</v>")})
    write_json(content | {"files": public_digests(folder)}, folder / "turnover.certificate.json")
    with pytest.raises(ProofError, match="layout.xlsx has a number that is not published"):
        check_public(folder, [published], filled)


def test_it_must_not_be_called_like_a_table(written, tmp_path):
    with pytest.raises(ProofError, match=r"turnover\.xlsx is the name of two files"):
        check_public(tmp_path, written[2], FilledTemplate("turnover.xlsx", written[1], ()))


# ── sabotage: an original value, 4711, wherever it could hide ───────────────────────


def into(part, old, new):
    """Replace the first place of a part; the test fails if it is not there."""

    def change(text):
        assert old in text, text
        return text.replace(old, new, 1)

    return {part: change}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (
            into(SHEET, "<v>3311</v>", "<v>4711</v>"),
            "a number that is not published in 'Table', C3",
        ),
        (into(SHEET, "<v>2025</v>", "<v>4711</v>"), "a number that is not published"),
        (into(SHEET, ">.<", ">4711<"), "a text that is not on the list in 'Table', C4"),
        (into(SHEET, ">Bergbau<", ">4711<"), "a text that is not on the list in 'Table', A5"),
        (into(SHEET, ">Tab. 1: ", ">Tab. 4711: "), "a text that is not on the list"),
        (into(SHEET, ">Bergbau<", ">{{nace=B}}<"), "a placeholder that was not filled"),
        (into(SHEET, "<v>2025</v>", "<f>4711</f><v>2025</v>"), "the element <f>"),
        (into(SHEET, "<v>2025</v>", "<v>2025</v><!-- 4711 -->"), "a comment or declaration"),
        (into(SHEET, "<sheetData>", "<sheetData>4711"), "text outside of cells"),
        (into(SHEET, '<row r="3"', '<row r="3" hidden="1"'), "the attribute hidden of <row>"),
        (into(SHEET, '<row r="3"', '<row r="3" value="4711"'), "the attribute value of <row>"),
        (into(SHEET, '<row r="3"', '<row r="3" ht="0.1"'), "hidden rows or columns"),
        (into(SHEET, "<col ", '<col hidden="1" '), "the attribute hidden of <col>"),
        (into(SHEET, "Office", "4711"), "headers or footers other than the template"),
        (
            into(SHEET, "</sheetData>", '</sheetData><dataValidations count="1"/>'),
            "dataValidations",
        ),
        (into("xl/workbook.xml", 'state="visible"', 'state="hidden"'), "the hidden sheet 'Table'"),
        (into("xl/workbook.xml", 'state="visible"', 'state="veryHidden"'), "the hidden sheet"),
        (into("xl/workbook.xml", "_xlnm.Print_Area", "original"), "the name 'original'"),
        (into("xl/workbook.xml", "'Table'!$A$1:$C$9", "4711"), "the name '_xlnm.Print_Area'"),
        (into("xl/workbook.xml", 'name="Notes"', 'name="4711"'), "other sheets than the template"),
        (into("xl/styles.xml", "#,##0.00 &quot;€", "&quot;4711"), "shows figures of its own"),
        (into("xl/styles.xml", "#,##0.00 &quot;€", "[=4711]0 &quot;"), "shows figures of its own"),
        (into("xl/styles.xml", 'name="Normal"', 'name="4711"'), "the style '4711'"),
        (into("docProps/core.xml", "2000-01-01", "4711-01-01"), "properties of its own"),
        (into("docProps/core.xml", "</cp:", "<cp:keywords>4711</cp:keywords></cp:"), "<keywords>"),
        (into("docProps/app.xml", "Microsoft Excel", "4711"), "properties of its own"),
        ({"docProps/custom.xml": b"<a>4711</a>"}, "the part docProps/custom.xml"),
        ({"xl/comments/comment1.xml": b"<a>4711</a>"}, "the part xl/comments/comment1.xml"),
        ({"xl/charts/chart1.xml": b"<a>4711</a>"}, "the part xl/charts/chart1.xml"),
        ({"xl/theme/theme1.xml": b"<a>4711</a>"}, "the part xl/theme/theme1.xml"),
        (
            {"xl/worksheets/sheet9.xml": b"<worksheet><v>4711</v></worksheet>"},
            "a sheet that is not in the workbook",
        ),
        ({"xl/sharedStrings.xml": b"<sst><si><t>4711</t></si></sst>"}, "text that no cell shows"),
        ({"xl/workbook.xml": None}, "content that does not fit together"),
        ({SHEET: b"<worksheet>"}, "content that cannot be read"),
        ({SHEET: b"\xff\xfe"}, "content that cannot be read"),
    ],
)
def test_what_is_not_on_the_list_does_not_leave(written, changes, named):
    rezipped(written[0], changes)
    assert re.search(re.escape(named), problems(written)), problems(written)


def test_the_original_of_a_suppressed_cell_does_not_leave_even_as_a_second_table(written):
    path, template, (published,), texts = written
    other = a_published("firms", 0)
    rezipped(path, into(SHEET, "<v>3311</v>", "<v>331100</v>"))
    assert "not published" in problems(written)
    assert problems((path, template, [published, other], texts)) == ""


def test_bytes_around_the_parts_do_not_leave(written):
    path = written[0]
    clean = path.read_bytes()
    for content in (b"4711" + clean, clean + b"4711"):
        path.write_bytes(content)
        assert "bytes" in problems(written) or "cannot be read" in problems(written)
    path.write_bytes(clean)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"4711"
    assert "a comment on the archive" in problems(written)


def test_the_template_itself_does_not_leave(written):
    path, template, tables, texts = written
    path.write_bytes(template.read_bytes())
    assert problems((path, template, tables, texts)) != ""


# ── what spreadsheet programs write that the library of the tests does not ──────────


STRINGS = "xl/sharedStrings.xml"


def with_shared(path, item, cell="A5", more=""):
    """A text put among those that cells share."""
    place = re.compile(rf'<c r="{cell}"[^>]*>.*?</c>')
    shared = (
        f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{item}{more}</sst>'
    )
    rezipped(
        path,
        {
            SHEET: lambda text: place.sub(f'<c r="{cell}" t="s"><v>0</v></c>', text, count=1),
            STRINGS: shared.encode(),
        },
    )


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ("<si><t>Bergbau</t></si>", ""),
        ("<si><r><t>Berg</t></r><r><rPr><b/></rPr><t>bau</t></r></si>", ""),
        ("<si>\n<r>\n<t>Bergbau</t>\n</r>\n</si>", ""),
        ("<si><t>4711</t></si>", "a text that is not on the list in 'Table', A5"),
        ("<si><r><t>Bergbau</t></r><r><t> 4711</t></r></si>", "a text that is not on the list"),
        ("<si><t>Bergbau</t><rPh><t>4711</t></rPh></si>", "the element <rPh>"),
        ("<si><t>Bergbau</t></si><si><t>4711</t></si>", "a text that no cell shows ('4711')"),
        ("", "content that does not fit together"),
    ],
)
def test_shared_texts_are_read_with_their_cells(written, item, named):
    with_shared(written[0], item)
    found = problems(written)
    assert named in found and bool(found) == bool(named), found


def test_a_template_may_tell_how_a_text_is_spoken(written):
    """It is read, not written: what stands beside the text is none of it."""
    _, template, *_ = written
    place = "as every year"
    sheet = "xl/worksheets/sheet2.xml"
    spoken = f"<si>\n<r>\n<t>{place}</t></r><rPh><t>as evry yeer</t></rPh></si>"
    with zipfile.ZipFile(template) as archive:
        assert place in archive.read(sheet).decode() or STRINGS in archive.namelist()
    with_text = re.compile(r'<c r="B2"[^>]*>.*?</c>')
    rezipped(
        template,
        {
            sheet: lambda text: with_text.sub('<c r="B2" t="s"><v>0</v></c>', text, count=1),
            STRINGS: f'<sst xmlns="x">{spoken}</sst>'.encode(),
        },
    )
    assert problems(written) == ""


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (
            into(SHEET, '<c r="A10"', '<c r="A11"><is><t>4711</t></is></c><c r="A10"'),
            "more than it shows",
        ),
        (into(SHEET, "<v>2025</v>", "<v>2025</v><v>4711</v>"), "more than it shows"),
        (into(SHEET, "<v>2025</v>", "<is><t>4711</t></is>"), "more than it shows"),
        (into(SHEET, ">Bergbau</t></is>", ">Bergbau</t></is><v>4711</v>"), "more than it shows"),
        (into(SHEET, 't="b"><v>1', 't="b"><v>0'), "a text that is not on the list in 'Table', A11"),
        (
            into(SHEET, "<v>2025</v>", "<v>1e9999999999999999999</v>"),
            "a number that is not published",
        ),
        (into(SHEET, "<v>2025</v>", "<v>1e999999</v>"), "a number that is not published"),
        (into(SHEET, "<v>2025</v>", "<v>3311.005</v>"), "a number that is not published"),
        (into(SHEET, "<v>2025</v>", "<v>0.01</v>"), "a number that is not published"),
        (
            into(SHEET, "<v>2025</v>", "<v>92233720368547758.08</v>"),
            "a number that is not published",
        ),
        (into(SHEET, "<v>2025</v>", "<v>nan</v>"), "a number that is not published"),
        (into("xl/workbook.xml", "'Table'!$A$1:$C$9", "'Table'!$A$1:$C$9,4711"), "the name"),
    ],
)
def test_no_cell_holds_more_than_it_shows(written, changes, named):
    rezipped(written[0], changes)
    assert named in problems(written), problems(written)


def test_a_cell_in_which_there_is_nothing_may_show_zero(written):
    """0 stands for the empty cell, although no other cell is 0."""
    path, template, (published,), texts = written
    assert 0 not in published.value[~published.suppressed & ~published.empty]
    rezipped(path, into(SHEET, "<v>2025</v>", "<v>0</v>"))
    assert problems(written) == ""
    full = replace(published, empty=published.suppressed & False, value=published.value + 1)
    assert "a number that is not published" in problems((path, template, [full], texts))


@pytest.mark.parametrize(("number", "more"), [(3, ""), (4, " and 1 more"), (5, " and 2 more")])
def test_three_cells_are_named_as_examples(written, number, more):
    def change(text):
        for at in range(20, 20 + number):
            text = text.replace(
                "</sheetData>", f'<row r="{at}"><c r="A{at}"><v>4711</v></c></row></sheetData>'
            )
        return text

    rezipped(written[0], {SHEET: change})
    expected = f"a number that is not published in 'Table', A20, A21, A22{more}"
    assert problems(written) == f"layout.xlsx has {expected}"


def test_every_placeholder_of_a_text_is_replaced_by_what_is_on_the_list(written, tmp_path):
    _, _, tables, _ = written
    template = a_template(tmp_path / "t.xlsx", {"A1": "of {{one}} by {{two}}!"})
    path = tmp_path / "f.xlsx"
    fill_template(tables, a_template(tmp_path / "plain.xlsx", {"A1": "{{title}} {{nace=C}}"}), path)
    for text, named in (
        ("of T by T!", ""),
        ("of T by 4711!", "not on the list"),
        ("of 4711 by T!", "not on the list"),
        ("of T by T! 4711", "not on the list"),
        ("of  by !", ""),
    ):
        rezipped(path, {SHEET: SIMPLE.format(text).encode()})
        found = problems((path, template, tables, {"T"}))
        assert named in found and bool(found) == bool(named), (text, found)


SIMPLE = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>{}</t></is></c></row></sheetData></worksheet>'
)


def test_a_template_with_declarations_is_not_read(written):
    template = written[1]
    rezipped(template, into(SHEET, "<worksheet", "<!DOCTYPE worksheet><worksheet"))
    assert "content that does not fit together" in problems(written)
