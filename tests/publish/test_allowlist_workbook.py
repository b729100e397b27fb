"""The last guard of workbooks of our own: every cell shows what is published, and nothing else."""

import re
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from office_templates import rezipped
from test_public_workbook import REGION, SIZE

from diskret.hierarchy import Hierarchy
from diskret.population import Population
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.symbols import symbol_sets
from diskret.publish.formats.workbooks import write_columns_xlsx
from diskret.publish.guard import sheet_rows
from diskret.publish.guard.own_workbook import columns_workbook, table_workbook
from diskret.publish.guard.workbook import cells_of, same_workbook, sheets
from diskret.tables import NO_BOUND, Dimension, Published
from diskret.tables.side_by_side import exact_columns

ONE, TWO = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"
BOOK, STYLES, LINKS = "xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels"
APP, CORE, THEME = "docProps/app.xml", "docProps/core.xml", "xl/theme/theme1.xml"
TYPES = "[Content_Types].xml"


ALONE = Dimension("x", Hierarchy(("Total",), np.array([-1])))


def a_table(**changes):
    """5 regions by 3 sizes; two cells of region A are hidden, one of B is empty."""
    value = np.array(
        [[2500, 1000, 1500], [1500, 1000, 500], [900, 0, 0], [600, 0, 0], [1000, 0, 1000]]
    )
    suppressed, empty = (np.zeros((5, 3), dtype=bool) for _ in range(2))
    suppressed[2:4, 1:] = True
    empty[4, 1] = True
    table = Published("firms", (REGION, SIZE), "turnover", False, 2, value, suppressed, empty)
    return replace(table, **changes)


def bounded(table, low=100, high=250_000):
    """The same with published ranges."""
    lower, upper = (np.where(table.suppressed, bound, 0) for bound in (low, high))
    return replace(table, lower=lower, upper=upper)


def in_shape(table, dimensions, *shape):
    """The cells of a table in others."""
    arrays = {of: np.resize(getattr(table, of), shape) for of in ("value", "suppressed", "empty")}
    return replace(table, dimensions=dimensions, **arrays)


def long_list():
    many = Dimension("code", Hierarchy.flat([f"{at:02}" for at in range(30)]))
    return in_shape(a_table(), (SIZE, many), 3, 31)


def as_wide_as_may_be():
    many = Dimension("code", Hierarchy.flat([f"{at:02}" for at in range(29)]))
    return in_shape(a_table(), (SIZE, many), 3, 30)


def cube():
    year = Dimension("year", Hierarchy.flat(["2025"]))
    return in_shape(a_table(), (year, REGION, SIZE), 2, 5, 3)


HONEST = {
    "a matrix": a_table,
    "a list": lambda: in_shape(a_table(), (REGION,), 5),
    "a long list": long_list,
    "a wide matrix": as_wide_as_may_be,
    "a cube": cube,
    "one column": lambda: in_shape(a_table(), (REGION, ALONE), 5, 1),
    "ranges": lambda: bounded(a_table()),
    "ranges without a lower end": lambda: bounded(a_table(), low=-NO_BOUND),
    "ranges without an upper end": lambda: bounded(a_table(), high=NO_BOUND),
    "ranges without ends": lambda: bounded(a_table(), -NO_BOUND, NO_BOUND),
    "rounded": lambda: a_table(rounding=5, changed="rounding"),
    "circumstances": lambda: a_table(vintage="2025", where=Population((("sex", ("f",)),))),
    "large numbers": lambda: a_table(value=np.where(a_table().value > 0, 2**62 + 1, 0)),
    "negative numbers": lambda: a_table(value=-a_table().value),
    "nothing hidden": lambda: a_table(suppressed=np.zeros((5, 3), dtype=bool)),
    "whole numbers": lambda: a_table(decimals=0),
    "counts": lambda: a_table(decimals=0, frequency=True, measure="count"),
    "texts that stand for characters": lambda: a_table(measure="_x0041_ & <b> \"_x005F_"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_written_may_leave(kind, language, tmp_path):
    table = HONEST[kind]()
    path = tmp_path / "firms.xlsx"
    for symbols in symbol_sets() if kind == "a matrix" else ["de-classic"]:
        write_xlsx(table, path, language=language, symbols=symbols)
        assert list(table_workbook(path, table)) == []
    write_xlsx(table, path, language=language, title=" Turnover of 2025 ")
    assert list(table_workbook(path, table)) == []
    path.unlink()
    assert list(table_workbook(path, table)) == []


def into(part, old, new):
    """Replace the first place of a part; the test fails if it is not there."""

    def change(text):
        assert old in text, text
        return text.replace(old, new, 1)

    return {part: change}


def row_of(number, text):
    """A row of a sheet, as it is written."""
    start = text.index(f'<row r="{number}">')
    return text[start : text.index("</row>", start) + 6]


def without_row(part, number):
    return {part: lambda text: text.replace(row_of(number, text), "")}


def twice_row(part, number):
    return {part: lambda text: text.replace(row_of(number, text), row_of(number, text) * 2)}


def shifted(text):
    """The last row one further down."""
    return text.replace('<row r="9">', '<row r="10">').replace('9" s=', '10" s=')


HIDDEN = '<c r="C7" s="9" t="inlineStr"><is><t>.</t></is></c>'
NUMBER = '<c r="B5" s="5"><v>25</v></c>'
ROWS = "1 row that does not show what is published, e.g. {} (xl/worksheets/sheet1.xml)"
SHOWN = "not show what is published"

SABOTAGE = {
    "a value": (into(ONE, "<v>25</v>", "<v>26</v>"), ROWS.format(5)),
    "a value by little": (into(ONE, "<v>25</v>", "<v>25.000000000001</v>"), ROWS.format(5)),
    "a value as text": (
        into(ONE, NUMBER, '<c r="B5" s="5" t="inlineStr"><is><t>25</t></is></c>'),
        ROWS.format(5),
    ),
    "a value left out": (into(ONE, NUMBER, ""), ROWS.format(5)),
    "a value where one is hidden": (
        into(ONE, HIDDEN, '<c r="C7" s="9"><v>4.711</v></c>'),
        ROWS.format(7),
    ),
    "a hidden cell left out": (into(ONE, HIDDEN, ""), ROWS.format(7)),
    "another symbol": (into(ONE, HIDDEN, HIDDEN.replace(">.<", ">x<")), "several symbols"),
    "the symbol of empty cells": (
        into(ONE, HIDDEN, HIDDEN.replace(">.<", ">–<")),
        "several symbols",
    ),
    "figures as a symbol": (
        {
            ONE: lambda text: text.replace("<t>.</t>", "<t>p5</t>"),
            TWO: lambda text: text.replace("<t>.</t>", "<t>p5</t>"),
        },
        "figures where nothing is published",
    ),
    "a symbol for two": (
        {ONE: lambda text: text.replace("<t>–</t>", "<t>.</t>")},
        "several symbols",
    ),
    "a symbol without a legend": (
        {ONE: lambda text: text.replace("<t>.</t>", "<t>x</t>")},
        "symbols without a legend",
    ),
    "an empty cell with a number": (
        into(
            ONE,
            '<c r="C9" s="9" t="inlineStr"><is><t>–</t></is></c>',
            '<c r="C9" s="7"><v>1</v></c>',
        ),
        ROWS.format(9),
    ),
    "a style": (
        into(ONE, HIDDEN, HIDDEN.replace('s="9"', 's="4"')),
        "one kind that look different",
    ),
    "a style of a number": (
        into(ONE, '<c r="C6" s="7">', '<c r="C6" s="5">'),
        "one kind that look different",
    ),
    "a style of a total": (
        into(ONE, '<c r="C5" s="5">', '<c r="C5" s="7">'),
        "one kind that look different",
    ),
    "a style of a total beside": (
        into(ONE, '<c r="B6" s="5">', '<c r="B6" s="7">'),
        "one kind that look different",
    ),
    "a label": (into(ONE, "A Ärzte", "A Ärzte (4711)"), ROWS.format(6)),
    "a heading": (into(ONE, ">small<", ">small 4711<"), ROWS.format(4)),
    "a variable": (into(ONE, ">size<", ">size 4711<"), ROWS.format(3)),
    "another variable": (into(ONE, ">region<", ">size<"), ROWS.format(4)),
    "a title as a number": (
        into(ONE, 't="inlineStr"><is><t>turnover by region and size</t></is>', "><v>4711</v>"),
        ROWS.format(1),
    ),
    "a cell beside the title": (
        into(ONE, "</c></row>", '</c><c r="B1" s="5"><v>4711</v></c></row>'),
        ROWS.format(1),
    ),
    "a cell beside the values": (
        into(
            ONE,
            '<c r="D5" s="5"><v>15</v></c>',
            '<c r="D5" s="5"><v>15</v></c><c r="E5"><v>7</v></c>',
        ),
        ROWS.format(5),
    ),
    "a line below the title": (
        into(ONE, '<row r="3">', '<row r="2"><c r="A2"><v>4711</v></c></row><row r="3">'),
        SHOWN,
    ),
    "a line below the values": (
        into(ONE, "</sheetData>", '<row r="10"><c r="A10"><v>4711</v></c></row></sheetData>'),
        ROWS.format(10),
    ),
    "a row left out": (without_row(ONE, 9), ROWS.format(9)),
    "a row in between left out": (without_row(ONE, 6), SHOWN),
    "a row twice": (twice_row(ONE, 6), "rows out of order"),
    "a row elsewhere": ({ONE: shifted}, ROWS.format(10)),
    "a row of the legend left out": (without_row(TWO, 9), SHOWN),
    "another title in the legend": (
        into(TWO, "turnover by region and size", "turnover, p = 5"),
        "two titles",
    ),
    "a measure in the legend": (into(TWO, "<t>turnover</t>", "<t>4711</t>"), SHOWN),
    "variables in the legend": (into(TWO, "region, size", "region, size, p"), SHOWN),
    "a number of cells": (into(TWO, "<v>15</v>", "<v>16</v>"), SHOWN),
    "a number of published cells": (into(TWO, "<v>10</v>", "<v>11</v>"), SHOWN),
    "a number of hidden cells": (into(TWO, "<v>4</v>", "<v>2</v>"), SHOWN),
    "a number of empty cells": (into(TWO, "<v>1</v>", "<v>0</v>"), SHOWN),
    "a line behind the legend": (
        into(TWO, "</sheetData>", '<row r="13"><c r="A13"><v>4711</v></c></row></sheetData>'),
        SHOWN,
    ),
    "a number among the symbols": (
        into(TWO, 't="inlineStr"><is><t>confidential</t></is>', "><v>4711</v>"),
        SHOWN,
    ),
    "a cell beside the symbols": (
        into(
            TWO, "confidential</t></is></c>", 'confidential</t></is></c><c r="C2"><v>4711</v></c>'
        ),
        SHOWN,
    ),
    "a heading of the legend": (into(TWO, "<t>Symbols</t>", "<t>p = 5</t>"), SHOWN),
    # ── markup ──
    "a row hidden": (
        into(ONE, '<row r="6">', '<row r="6" hidden="1">'),
        "the attribute hidden of <row>",
    ),
    "a row too thin": (into(ONE, '<row r="6">', '<row r="6" ht="0.1">'), "hidden rows or columns"),
    "a column too thin": (into(ONE, 'width="18.7109375"', 'width="0.1"'), "hidden rows or columns"),
    "a formula": (into(ONE, "<v>25</v>", "<f>4711</f><v>25</v>"), "the element <f>"),
    "an attribute of a cell": (
        into(ONE, NUMBER, NUMBER.replace("<c ", '<c vm="1" ')),
        "the attribute vm of <c>",
    ),
    "an attribute of a value": (
        into(ONE, "<v>25</v>", '<v x="4711">25</v>'),
        "the attribute x of <v>",
    ),
    "an attribute of a text": (
        into(ONE, "<t>.</t>", '<t x="4711">.</t>'),
        "the attribute x of <t>",
    ),
    "two values": (
        into(ONE, "<v>25</v>", "<v>25</v><v>4711</v>"),
        "cells that are no text and no number",
    ),
    "no value": (into(ONE, NUMBER, '<c r="B5" s="5"/>'), ROWS.format(5)),
    "a text beside a value": (
        into(ONE, "<v>25</v>", "<v>25</v><is><t>4711</t></is>"),
        "cells that are no text and no number",
    ),
    "a value as a text": (
        into(ONE, HIDDEN, '<c r="C7" s="9" t="inlineStr"><v>4711</v></c>'),
        "cells that are no text and no number",
    ),
    "a truth": (into(ONE, NUMBER, '<c r="B5" t="b"><v>1</v></c>'), "content that cannot be read"),
    "a number that is none": (into(ONE, "<v>25</v>", "<v>25 p</v>"), "content that cannot be read"),
    "a cell twice": (into(ONE, NUMBER, NUMBER * 2), "cells out of order"),
    "cells out of order": (into(ONE, '<c r="D5"', '<c r="A5"'), "cells out of order"),
    "a cell of another row": (
        into(ONE, '<c r="B5"', '<c r="B6"'),
        "cells that are no text and no number",
    ),
    "a cell that is nowhere": (
        into(ONE, '<c r="B5"', '<c r="B5A"'),
        "cells that are no text and no number",
    ),
    "a cell without a place": (
        into(ONE, '<c r="B5"', "<c"),
        "cells that are no text and no number",
    ),
    "text in a row": (into(ONE, '<row r="6">', '<row r="6">4711'), "text outside of cells"),
    "text behind a row": (into(ONE, "</row>", "</row>4711"), "text outside of cells"),
    "a comment": (into(ONE, "<sheetData>", "<!-- 4711 --><sheetData>"), "a comment or declaration"),
    "an instruction": (
        into(ONE, "<sheetData>", "<?p 4711?><sheetData>"),
        "a comment or declaration",
    ),
    "a declaration": (into(ONE, "<worksheet", "<!DOCTYPE worksheet><worksheet"), "cannot be read"),
    "an entity": (
        into(ONE, "<worksheet", '<!DOCTYPE worksheet [<!ENTITY p "4711">]><worksheet'),
        "cannot be read",
    ),
    "a header": (
        into(ONE, "</worksheet>", "<headerFooter/></worksheet>"),
        "the element <headerFooter>",
    ),
    "a sheet cut short": (into(ONE, "</worksheet>", ""), "cannot be read"),
    "a legend cut short": (into(TWO, "</worksheet>", ""), "cannot be read"),
    "a comment in the legend": (into(TWO, "<sheetData>", "<!-- 4711 --><sheetData>"), "a comment"),
    # ── all around ──
    "a hidden sheet": (into(BOOK, 'sheetId="2"', 'sheetId="2" state="hidden"'), "the hidden sheet"),
    "a name": (
        into(
            BOOK, "<calcPr", "<definedNames><definedName>4711</definedName></definedNames><calcPr"
        ),
        "the element <definedNames>",
    ),
    "another name of a sheet": (into(BOOK, 'name="Table"', 'name="p5"'), "other sheets"),
    "names of two languages": (
        into(BOOK, 'name="Legend"', 'name="Zeichenerklärung"'),
        "other sheets",
    ),
    "sheets the other way round": (
        {LINKS: lambda text: re.sub("sheet([12])", lambda at: f"sheet{3 - int(at[1])}", text)},
        "other sheets",
    ),
    "a sheet that nothing links": (
        into(BOOK, '<sheet name="Legend" sheetId="2" r:id="rId2"/>', ""),
        "other sheets",
    ),
    "a number format": (
        into(STYLES, 'formatCode="#,##0"', 'formatCode="&quot;4711&quot;"'),
        "the number format",
    ),
    "a style by name": (into(STYLES, 'name="Normal"', 'name="4711"'), "the style '4711'"),
    "a comment on styles": (
        into(STYLES, "<fonts", "<!-- 4711 --><fonts"),
        "a comment or declaration",
    ),
    "an author": (into(CORE, "<dc:creator>", "<dc:creator>Meier"), "text outside of cells"),
    "a title of the file": (
        into(CORE, "<dc:creator>", "<dc:title/><dc:creator>"),
        "the element <title>",
    ),
    "a time": (into(CORE, "2000", "2026"), "properties of its own"),
    "a later time": (
        into(CORE, "00Z</dcterms:modified", "47Z</dcterms:modified"),
        "properties of its own",
    ),
    "a company": (into(APP, "<Company>", "<Company>Office"), "text outside of cells"),
    "a program": (into(APP, "Microsoft Excel", "p = 5"), "properties of its own"),
    "a security": (into(APP, "<DocSecurity>0", "<DocSecurity>4711"), "properties of its own"),
    "a truth of properties": (
        into(APP, "<SharedDoc>false", "<SharedDoc>4711"),
        "properties of its own",
    ),
    "a version": (into(APP, "12.0000", "47.1100"), "properties of its own"),
    "a name among properties": (
        into(APP, "<vt:lpstr>Legend", "<vt:lpstr>p5"),
        "properties of its own",
    ),
    "a count among properties": (into(APP, "<vt:i4>2", "<vt:i4>4711"), "properties of its own"),
    "a text in the theme": (
        into(THEME, "<a:themeElements>", "<a:themeElements>4711"),
        "text outside of cells",
    ),
    "an element of the theme": (into(THEME, "<a:dk1>", "<a:p/><a:dk1>"), "the element <p>"),
    "a link to elsewhere": (
        into(LINKS, 'Id="rId1"', 'TargetMode="External" Id="rId1"'),
        "the attribute TargetMode",
    ),
    "another part": ({"xl/comments1.xml": b"<x/>"}, "the part xl/comments1.xml"),
    "another sheet": ({"xl/worksheets/sheet3.xml": b"<x/>"}, "the part xl/worksheets/sheet3.xml"),
    "no theme": ({THEME: None}, "no part xl/theme/theme1.xml"),
    "a comment on types": (
        into(TYPES, "<Default", "<!-- 4711 --><Default"),
        "a comment or declaration",
    ),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("workbook") / "firms.xlsx"
    write_xlsx(a_table(), path)
    return path.read_bytes()


@pytest.mark.parametrize("what", SABOTAGE)
def test_whatever_is_changed_in_a_workbook_is_found(written, what, tmp_path):
    changes, named = SABOTAGE[what]
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    rezipped(path, changes)
    found = list(table_workbook(path, a_table()))
    assert any(named in problem for problem in found), found
    assert all(problem.startswith("firms.xlsx has ") for problem in found)
    assert len(set(found)) == len(found)


def test_a_change_of_nothing_is_none(written, tmp_path):
    """So what is found above is what was changed, and not that the archive was made anew."""
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    rezipped(path, {})
    assert list(table_workbook(path, a_table())) == []


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (bounded(a_table()), into(ONE, "1.00–2,500.00", "4.71–2,500.00")),
        (bounded(a_table()), into(ONE, "1.00–2,500.00", "1.00–2,500.01")),
        (bounded(a_table()), into(ONE, "1.00–2,500.00", ".")),
        (bounded(a_table(), low=-NO_BOUND), into(ONE, "at most 2,500.00", "at least 2,500.00")),
        (bounded(a_table(), high=NO_BOUND), into(ONE, "at least 1.00", "at most 1.00")),
        (bounded(a_table(), high=NO_BOUND), into(ONE, "at least 1.00", "at least 1.01")),
        (bounded(a_table()), into(TWO, "<t>Ranges</t>", "<t>p = 5</t>")),
        (a_table(changed="rounding", rounding=5), into(ONE, "rounded", "p = 5")),
        (a_table(changed="rounding", rounding=5), without_row(ONE, 2)),
        (a_table(changed="rounding", rounding=5), into(TWO, "<t>0.05</t>", "<t>4.71</t>")),
        (a_table(vintage="2025"), into(TWO, "<t>2025</t>", "<t>2026</t>")),
        (long_list(), into(ONE, "<t>code</t>", "<t>p</t>")),
        (cube(), into(ONE, "<t>2025</t>", "<t>2026</t>")),
    ],
)  # fmt: skip
def test_whatever_else_a_table_says_is_compared(table, changes, tmp_path):
    path = tmp_path / "firms.xlsx"
    write_xlsx(table, path)
    rezipped(path, changes)
    assert list(table_workbook(path, table)) != []


def test_a_legend_names_ranges_where_there_are_any(tmp_path):
    path = tmp_path / "firms.xlsx"
    table = bounded(a_table())
    write_xlsx(table, path)
    rezipped(path, {TWO: lambda text: text.replace("lies between", "is 4711", 1)})
    assert list(table_workbook(path, table)) != []


def test_empty_cells_have_one_symbol(tmp_path):
    path = tmp_path / "firms.xlsx"
    table = a_table(empty=a_table().suppressed, suppressed=np.zeros((5, 3), dtype=bool))
    write_xlsx(table, path)
    assert list(table_workbook(path, table)) == []
    changes = into(ONE, "<t>–</t>", "<t>x</t>") | into(TWO, ">.<", ">x<")
    rezipped(path, changes)
    found = "firms.xlsx has several symbols for cells of one kind, or one for both"
    assert list(table_workbook(path, table)) == [found]


def test_another_table_does_not_leave_in_its_place(written, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    table = a_table()
    turned = replace(
        table, **{of: getattr(table, of)[::-1] for of in ("value", "suppressed", "empty")}
    )
    labels = {"A": "Ärzte", "A1": "A1 Hausärzte"}
    tree = Hierarchy(("Total", "A", "A1", "A2"), np.array([-1, 0, 1, 1]), labels)
    shorter = in_shape(table, (Dimension("region", tree), SIZE), 4, 3)
    for other in (turned, shorter, replace(table, measure="profit"), replace(table, decimals=1)):
        assert list(table_workbook(path, other)) != []


@pytest.mark.parametrize("block", [1, 7, 100, 1 << 20])
def test_a_sheet_is_read_in_blocks(written, block, tmp_path, monkeypatch):
    monkeypatch.setattr(sheet_rows, "_BLOCK", block)
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    assert list(table_workbook(path, a_table())) == []
    rezipped(path, SABOTAGE["a comment"][0])
    assert "a comment" in " ".join(table_workbook(path, a_table()))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda raw: b"region;turnover", "is no workbook"),
        (lambda raw: raw[: len(raw) // 2], "is no workbook"),
        (lambda raw: raw + b"4711", "bytes behind its parts"),
        (lambda raw: b"4711" + raw, "bytes between its parts"),
    ],
)
def test_damaged_archives_are_refused_in_words(written, change, named, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(change(written))
    [problem, *_] = table_workbook(path, a_table())
    assert problem.startswith("firms.xlsx ") and named in problem


def test_a_comment_on_the_archive_does_not_leave(written, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"p = 5"
    assert "firms.xlsx has a comment on the archive" in list(table_workbook(path, a_table()))


# ── columns of text ─────────────────────────────────────────────────────────────────

CELLS = pa.table(
    {
        "region": ["Total", "N", "S"],
        "mean": ["21.0", "-22.5", ""],
        "mean_status": ["published", "published", "suppressed"],
        "sales": ["90", "", "0"],
    }
)
DECIMALS = {"mean": 1, "sales": 0}
COLUMNS = {
    "a figure": (into(ONE, "<v>21.0</v>", "<v>22.0</v>"), "1 row", "e.g. 2 "),
    "a sign": (into(ONE, "<v>-22.5</v>", "<v>22.5</v>"), "1 row", "e.g. 3 "),
    "a figure as text": (
        into(ONE, "><v>90</v>", ' t="inlineStr"><is><t>90</t></is>'), "1 row", "e.g. 2 ",
    ),
    "a figure where there is none": (
        into(ONE, '<c r="C4"', '<c r="B4" s="4"><v>4711</v></c><c r="C4"'), "1 row", "e.g. 4 ",
    ),
    "a status": (into(ONE, "suppressed", "primary"), "1 row", "e.g. 4 "),
    "a code": (into(ONE, "<t>N</t>", "<t>E</t>"), "1 row", "e.g. 3 "),
    "a name": (into(ONE, "<t>sales</t>", "<t>sale</t>"), "1 row", "e.g. 1 "),
    "a row less": (without_row(ONE, 4), "1 row", "e.g. 4 "),
    "a row in between less": (without_row(ONE, 3), "2 rows", "e.g. 4, 4 "),
    "a row more": (
        into(ONE, "</sheetData>", '<row r="5"><c r="A5"><v>1</v></c></row></sheetData>'),
        "1 row", "e.g. 5 ",
    ),
    "a style": (into(ONE, '<c r="C4" s="5"', '<c r="C4" s="1"'), "look different", ""),
    "another sheet": ({TWO: b"<x/>"}, f"the part {TWO}", ""),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "de"])
def test_columns_are_compared_with_the_csv(language, tmp_path):
    path = tmp_path / "all.xlsx"
    exact = exact_columns(CELLS, DECIMALS)
    assert list(columns_workbook(path, CELLS, DECIMALS)) == []
    write_columns_xlsx(exact, DECIMALS, path, language)
    assert list(columns_workbook(path, CELLS, DECIMALS)) == []
    nothing = CELLS.slice(0, 0)
    write_columns_xlsx(exact_columns(nothing, DECIMALS), DECIMALS, path, language)
    assert list(columns_workbook(path, nothing, DECIMALS)) == []
    assert list(columns_workbook(path, CELLS, DECIMALS)) != []


@pytest.mark.parametrize("what", COLUMNS)
def test_whatever_is_changed_in_columns_is_found(what, tmp_path):
    changes, *named = COLUMNS[what]
    path = tmp_path / "all.xlsx"
    write_columns_xlsx(exact_columns(CELLS, DECIMALS), DECIMALS, path)
    rezipped(path, changes)
    found = " ".join(columns_workbook(path, CELLS, DECIMALS))
    assert all(one in found for one in named), found


# ── beside one that is written again ────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("a style", "1 cell that does not show what is published, e.g. C7"),
        ("a value", "1 cell that does not show what is published, e.g. B5"),
        ("a value as text", "e.g. B5"),
        ("a number format", "in its part xl/styles.xml"),
        ("another part", "the part xl/comments1.xml"),
        ("no theme", "no part xl/theme/theme1.xml"),
        ("a header", "the element"),
        ("an author", "in its part docProps/core.xml"),
        ("a row hidden", "the attribute hidden of <row>"),
    ],
)
def test_a_workbook_that_differs_from_its_like_is_found(written, what, named, tmp_path):
    path, again = tmp_path / "firms.xlsx", tmp_path / "again.xlsx"
    for one in (path, again):
        one.write_bytes(written)
    assert list(same_workbook(path, again)) == []
    changes, _ = SABOTAGE[what]
    if what == "a header":
        changes = into(
            ONE,
            "</worksheet>",
            "<headerFooter><oddHeader>4711</oddHeader></headerFooter></worksheet>",
        )
        named = "its header"
    rezipped(path, changes)
    assert named in " ".join(same_workbook(path, again))


@pytest.mark.parametrize(
    "changes",
    [
        into(APP, "<AppVersion>12.0000</AppVersion>", ""),
        into(STYLES, '<fonts count="4">', '<fonts  count="4">'),
    ],
)
def test_what_a_part_says_less_or_in_other_order_is_no_matter(written, changes, tmp_path):
    path, again = tmp_path / "firms.xlsx", tmp_path / "again.xlsx"
    for one in (path, again):
        one.write_bytes(written)
    rezipped(path, changes)
    assert list(same_workbook(path, again)) == []


def test_sheets_and_cells_are_told(written, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    assert sheets(path) == ["Table", "Legend"]
    assert cells_of(path, 1)["B5"] == 25.0
    assert cells_of(path, 2)["A1"] == "Symbols"


@pytest.mark.parametrize(
    "changes",
    [
        into(ONE, '<row r="6">', '<row r="6" ht="0.75">'),
        into(STYLES, 'formatCode="#,##0"', 'formatCode="[$€-407]#,##0"'),
        into(STYLES, 'formatCode="#,##0"', 'formatCode="[Color10]#,##0"'),
    ],
)
def test_what_everybody_sees_may_stand_there(written, changes, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    rezipped(path, changes)
    assert list(table_workbook(path, a_table())) == []


@pytest.mark.parametrize("what", ["comment", "extra"])
@pytest.mark.parametrize("at", [0, 1])
def test_nothing_is_said_of_one_part_alone(written, what, at, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    with zipfile.ZipFile(path) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w") as archive:
        for i, (name, content) in enumerate(parts):
            entry = zipfile.ZipInfo(name)
            if i == at:
                setattr(entry, what, b"\x47\x11\x01\x00\x05")
            archive.writestr(entry, content)
    assert "firms.xlsx has a comment on the archive" in list(table_workbook(path, a_table()))


def test_a_comment_in_place_of_a_head_is_found(written, tmp_path):
    path = tmp_path / "firms.xlsx"
    path.write_bytes(written)
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    rezipped(path, into(TYPES, head, "<!-- 4711 -->"))
    found = "firms.xlsx has a comment or declaration ([Content_Types].xml)"
    assert found in list(table_workbook(path, a_table()))
