"""The last guard: whatever is not on the list does not leave."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.errors import ProofError
from diskret.hierarchy import Hierarchy
from diskret.publish.digests import public_digests
from diskret.publish.formats.data_files import write_csv, write_parquet
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.workbooks import workbook
from diskret.publish.guard import tables
from diskret.publish.guard.check import check_public
from diskret.publish.json_files import write_json
from diskret.publish.script import write_script
from diskret.tables import Dimension, Published
from diskret.tables.public_files import structure


@pytest.fixture
def published():
    """3 regions by 3 sizes, four inner cells hidden."""
    region = Dimension("region", Hierarchy.flat(["N", "S"]))
    size = Dimension("size", Hierarchy.flat(["large", "small"]))
    value = np.array([[30, 12, 18], [16, 0, 0], [14, 0, 0]])
    suppressed = np.zeros((3, 3), dtype=bool)
    suppressed[1:, 1:] = True
    nowhere = np.zeros((3, 3), dtype=bool)
    return Published("firms", (region, size), "turnover", False, 0, value, suppressed, nowhere)


@pytest.fixture
def certificate():
    """The public certificate of that table, digests still missing."""
    return {
        "schema": "diskret/certificate/1",
        "family": "suppression",
        "name": "firms",
        "attacker": "outsider",
        "claimed": {"en": ["No exact value."], "de": ["Kein exakter Wert."]},
        "not_claimed": {"en": ["Other tables."], "de": ["Andere Tabellen."]},
        "intervals": {
            "region": ["N", "N", "S", "S"],
            "size": ["large", "small", "large", "small"],
            "lower": [0, 4, 0, 2],
            "upper": [12, 16, 12, 14],
        },
        "inputs": {"table": "ab" * 32},
        "software": "diskret 0.1.0",
    }


@pytest.fixture
def public(published, certificate, tmp_path):
    """A folder with CSV, structure, workbook and certificate."""
    folder = tmp_path / "public"
    folder.mkdir()
    write_public(folder, published, certificate)
    return folder


def write_public(folder, published, certificate):
    write_csv(published, folder / "firms.csv")
    write_json(structure(published), folder / "firms.structure.json")
    write_xlsx(published, folder / "firms.xlsx")
    seal(folder, certificate)


def seal(folder, certificate):
    """Write the certificate anew after files have been changed."""
    content = {**certificate, "files": public_digests(folder)}
    write_json(content, folder / "firms.certificate.json")


def test_what_a_release_writes_may_leave(public, published):
    check_public(public, [published])


@pytest.mark.parametrize(
    "name",
    [
        "cells.csv",
        "firms.cells.csv",
        "firms.explanations.csv",
        ".firms.csv",
        "firms.csv~",
        "firms.tau.json",
    ],
)
def test_other_files_do_not_leave(public, published, name):
    (public / name).touch()
    with pytest.raises(ProofError, match=f"{name} is no file of this release"):
        check_public(public, [published])


def test_folders_and_links_do_not_leave(public, published):
    (public / "firms.html").symlink_to(public / "firms.csv")
    with pytest.raises(ProofError, match=r"firms\.html is not a plain file"):
        check_public(public, [published])
    (public / "firms.html").unlink()
    (public / "firms.html").mkdir()
    with pytest.raises(ProofError, match=r"firms\.html is not a plain file"):
        check_public(public, [published])


def test_the_program_that_checks_releases_leaves_as_it_is_only(public, published, certificate):
    path = public / write_script(public)
    seal(public, certificate)
    check_public(public, [published])
    path.write_bytes(path.read_bytes() + b"# 4711")
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"verify\.py is not the program that checks releases"):
        check_public(public, [published])


def test_the_lock_of_an_office_program_stays_behind(public, published):
    (public / ".~lock.firms.xlsx#").write_text("clerk", encoding="utf-8")
    check_public(public, [published])


# ── certificates ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "the key seed"),
        ({"requirements": {"lower": [1]}}, "the key requirements"),
        ({"attacker": {"relative": 50}}, "attacker is not of type str"),
        ({"claimed": [{"cell": 3}]}, "claimed is not of type dict"),
        ({"intervals": {"primary": [True] * 4}}, "the key intervals.primary"),
        ({"intervals": {"lower": [{"original": 7}] * 4}}, "intervals.lower is not of type"),
        ({"software": {"host": "x"}}, "software is not of type str"),
        ({"intervals": {"lower": [1, 2]}}, "one interval for each suppressed cell"),
        ({"intervals": {"lower": [1] * 3, "upper": [9] * 4}}, "one interval for each suppressed"),
        ({"intervals": {"lower": 4}}, "one interval for each suppressed cell"),
        ({"difference": {"name": "changes"}}, "does not name its difference"),
        ({"intervals": [1, 2]}, "one interval for each suppressed cell"),
    ],
)
def test_certificates_hold_admissible_keys_only(public, published, certificate, change, named):
    seal(public, certificate | change)
    with pytest.raises(ProofError, match=named):
        check_public(public, [published])


def test_a_missing_or_broken_certificate_is_refused(public, published):
    path = public / "firms.certificate.json"
    for content in ("[1]", "{", "null"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ProofError, match=r"firms\.certificate\.json cannot be read"):
            check_public(public, [published])
    path.unlink()
    with pytest.raises(ProofError, match=r"firms\.certificate\.json cannot be read"):
        check_public(public, [published])


def test_a_file_the_certificate_does_not_list_is_refused(public, published):
    (public / "firms.html").touch()
    with pytest.raises(ProofError, match=r"not listed: firms\.html"):
        check_public(public, [published])


def test_several_tables_share_a_folder(public, published, certificate):
    other = replace(published, name="other")
    write_csv(other, public / "other.csv")
    write_json(structure(other), public / "other.structure.json")
    with pytest.raises(ProofError):
        check_public(public, [published, other])
    seal(public, certificate)
    content = json.loads((public / "firms.certificate.json").read_text(encoding="utf-8"))
    write_json(content | {"name": "other"}, public / "other.certificate.json")
    check_public(public, [published, other])


# ── cells ───────────────────────────────────────────────────────────────────────────


def test_a_csv_with_other_cells_does_not_leave(public, published, certificate):
    path = public / "firms.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("N,large,,suppressed", "N,large,7,published"), encoding="utf-8")
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"firms\.csv does not hold the cells"):
        check_public(public, [published])


def test_a_csv_with_one_more_column_does_not_leave(public, published, certificate):
    path = public / "firms.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(f"{line},x" for line in lines), encoding="utf-8")
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"the columns must be region, size, turnover, status"):
        check_public(public, [published])


def test_another_structure_does_not_leave(public, published, certificate):
    write_json(structure(published) | {"rule": "p%"}, public / "firms.structure.json")
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"firms\.structure\.json is not the structure"):
        check_public(public, [published])


def test_cells_without_structure_do_not_leave(public, published, certificate):
    (public / "firms.structure.json").unlink()
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"cannot be read without firms\.structure\.json"):
        check_public(public, [published])


def test_a_careless_view_does_not_leave(public, published):
    careless = replace(published, value=np.where(published.suppressed, 7, published.value))
    with pytest.raises(ProofError, match="carries values for suppressed"):
        check_public(public, [careless])


@pytest.mark.parametrize("kind", ["suppressed", "empty"])
def test_one_value_where_none_is_shown_does_not_leave(public, published, kind):
    value, empty = published.value.copy(), published.empty.copy()
    value[1, 1] = 7
    empty[2, 2] = True
    suppressed = published.suppressed & ~empty
    if kind == "empty":
        value, suppressed, empty = value.T, suppressed & (value == 0), value == 7
    careless = replace(published, value=value, suppressed=suppressed, empty=empty)
    with pytest.raises(ProofError, match="carries values for suppressed or empty cells"):
        check_public(public, [careless])


def test_a_release_may_lack_the_csv_or_all_cells(public, published, certificate):
    for name in ("firms.csv", "firms.structure.json"):
        (public / name).unlink()
        seal(public, certificate)
        check_public(public, [published])


@pytest.fixture
def bounded(published):
    """The same table with the bounds of its hidden cells in the files."""
    lower, upper = (np.zeros((3, 3), dtype=np.int64) for _ in range(2))
    lower[published.suppressed], upper[published.suppressed] = [0, 4, 0, 2], [12, 16, 12, 14]
    return replace(published, lower=lower, upper=upper)


def test_bounds_in_a_csv_are_those_that_were_proven(tmp_path, published, bounded, certificate):
    write_public(tmp_path, bounded, certificate)
    check_public(tmp_path, [bounded])
    for side in ("lower", "upper"):
        bound = getattr(bounded, side).copy()
        bound[1, 2] += 1
        with pytest.raises(ProofError, match=r"firms\.csv does not hold the cells"):
            check_public(tmp_path, [replace(bounded, **{side: bound})])
    with pytest.raises(ProofError, match=r"firms\.(csv|structure\.json)"):
        check_public(tmp_path, [published])


@pytest.mark.parametrize("rows", [4, 9, 100])
def test_a_parquet_file_holds_all_cells_and_no_others(
    public, published, certificate, monkeypatch, rows
):
    monkeypatch.setattr(tables, "ROWS", rows)
    path = public / "firms.parquet"
    write_parquet(published, path)
    seal(public, certificate)
    check_public(public, [published])
    written = pq.read_table(path)
    at = written.column_names.index("turnover")
    values = written["turnover"].to_pylist()
    for place in (0, 6):
        other = [7 if i == place else one for i, one in enumerate(values)]
        kind = written["turnover"].type
        wrong = written.set_column(at, "turnover", pa.array(other, kind))
        for cells in (wrong, written.slice(0, 8), pa.concat_tables([written, written.slice(8)])):
            pq.write_table(cells, path, store_schema=False)
            seal(public, certificate)
            with pytest.raises(ProofError, match=r"firms\.parquet does not hold the cells"):
                check_public(public, [published])


def test_one_other_cell_is_enough(public, published, certificate):
    for row, other in (
        ("S,Total,14,published", "S,Total,15,published"),
        ("S,Total,14,published", "S,Total,,empty"),
        ("S,Total,14,published", "S,Total,,suppressed"),
    ):
        write_csv(published, public / "firms.csv")
        text = (public / "firms.csv").read_text(encoding="utf-8")
        assert row in text
        (public / "firms.csv").write_text(text.replace(row, other), encoding="utf-8")
        seal(public, certificate)
        with pytest.raises(ProofError, match=r"firms\.csv"):
            check_public(public, [published])


# ── workbooks ───────────────────────────────────────────────────────────────────────


def comment(book, sheet):
    sheet.write_string("A1", "x")
    sheet.write_comment("A1", "was 7")


def formula(book, sheet):
    sheet.write_formula("A1", "=B1-C1")


def hidden_row(book, sheet):
    sheet.set_row(60_000, None, None, {"hidden": True})
    sheet.write_number(60_000, 0, 7)


def hidden_column(book, sheet):
    sheet.set_column(3, 3, 8, None, {"hidden": True})


def hidden_sheet(book, sheet):
    book.worksheets()[1].hide()


def very_hidden_sheet(book, sheet):
    book.worksheets()[1].very_hidden()


def third_sheet(book, sheet):
    book.add_worksheet("c")


def defined_name(book, sheet):
    book.define_name("original", "=7")


def author(book, sheet):
    book.set_properties({"author": "Meier"})


def company(book, sheet):
    book.set_properties({"company": "Office"})


def custom_property(book, sheet):
    book.set_custom_property("rule", "p% 5")


@pytest.mark.parametrize(
    ("smuggle", "named"),
    [
        (comment, "the part xl/comments1.xml"),
        (formula, "the element <f> .xl/worksheets/sheet1.xml"),
        (hidden_row, "the attribute hidden of <row>"),
        (hidden_column, "the attribute hidden of <col>"),
        (hidden_sheet, "the hidden sheet 'Legend'"),
        (very_hidden_sheet, "the hidden sheet 'Legend'"),
        (third_sheet, "the part xl/worksheets/sheet3.xml"),
        (defined_name, "the element <definedNames>"),
        (author, "text outside of cells .docProps/core.xml"),
        (company, "text outside of cells .docProps/app.xml"),
        (custom_property, "the part docProps/custom.xml"),
    ],
)
def test_a_workbook_with_something_else_in_it_does_not_leave(
    public, published, certificate, smuggle, named
):
    with workbook(public / "firms.xlsx") as book:
        sheet, _ = (book.add_worksheet(title) for title in ("Table", "Legend"))
        smuggle(book, sheet)
    seal(public, certificate)
    with pytest.raises(ProofError, match=f"firms.xlsx has {named}"):
        check_public(public, [published])


def test_markup_across_blocks_is_found(public, published, certificate):
    with workbook(public / "firms.xlsx") as book:
        sheet, _ = (book.add_worksheet(title) for title in ("Table", "Legend"))
        for row in range(0, 60_000, 7):
            for column in range(5):
                sheet.write_number(row, column, row)
        hidden_row(book, sheet)
    seal(public, certificate)
    with pytest.raises(ProofError, match="the attribute hidden of <row>"):
        check_public(public, [published])


def test_text_that_only_looks_like_markup_may_leave(public, published, certificate):
    title = 'hidden="1" <row hidden="1"> <f>1+1</f> state="hidden"'
    write_xlsx(published, public / "firms.xlsx", title=title)
    seal(public, certificate)
    check_public(public, [published])


def test_what_is_no_workbook_does_not_leave(public, published, certificate):
    (public / "firms.xlsx").write_text("region;turnover", encoding="utf-8")
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"firms\.xlsx is no workbook"):
        check_public(public, [published])


# ── reports ─────────────────────────────────────────────────────────────────────────

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Firms</title><style>p{color:#123}</style></head>
<body><p class="note">3 &lt; 4, see http://example.org</p><svg width="9" viewBox="0 0 9 9">
<line x1="0" x2="9" stroke-width="3"/></svg></body></html>
"""


def report(public, certificate, text):
    (public / "firms.html").write_text(text, encoding="utf-8")
    seal(public, certificate)


def test_a_report_of_text_and_drawings_may_leave(public, published, certificate):
    report(public, certificate, PAGE)
    check_public(public, [published])


def test_what_is_no_style_may_name_an_address(public, published, certificate):
    """A style ends where it ends, and where something else begins."""
    for old in ("<!DOCTYPE html>", "</style>", "3 &lt; 4"):
        new = f"{old} http://example.org " if old != "3 &lt; 4" else "<b>3</b> http://example.org"
        report(public, certificate, PAGE.replace(old, new, 1))
        check_public(public, [published])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("<p ", "<script>f()</script><p ", "the element <script>"),
        ("<p ", "<SCRIPT>f()</SCRIPT><p ", "the element <script>"),
        ("<p ", "<!-- cell 4711 --><p ", "a comment"),
        ("<p ", "<!cell 4711><p ", "a comment|a declaration"),
        ("<p ", "<![cell[4711]]><p ", "a declaration|a comment|markup that cannot be read"),
        ("<p ", "<!DOCTYPE cell4711><p ", "a declaration"),
        ("<p ", "<![CDATA[4711]]><p ", "a declaration|a comment"),
        ("<p ", "<?cell 4711?><p ", "a processing instruction"),
        ("<p ", '<p data-value="4711" ', "the attribute data-value"),
        ("<p ", '<p onclick="f()" ', "the attribute onclick"),
        ("<p ", "<p hidden ", "the attribute hidden"),
        ("<p ", '<p style="display:none" ', "the attribute style"),
        ("<p ", '<a href="http://example.org">x</a><p ', "the element <a>"),
        ("<p ", '<img src="http://example.org/x.png"><p ', "the attribute src"),
        ("<p ", '<link href="x.css"><p ', "the element <link>"),
        ("<p ", "<template>4711</template><p ", "the element <template>"),
        ("<p ", "<svg><rect><title>4711</title></rect></svg><p ", "a title in its body"),
        (
            "<p ",
            '<meta name="viewport" content="4711"><p ',
            "another text in the attribute content",
        ),
        ("<p ", '<meta name="p5"><p ', "another text in the attribute name"),
        ("<p ", '<meta charset="4711"><p ', "another text in the attribute charset"),
        ("<p ", '<p lang="p5" ', "another text in the attribute lang"),
        ("<p ", '<svg width="4711 p"></svg><p ', "another text in the attribute width"),
        ("<p ", "<svg width></svg><p ", "another text in the attribute width"),
        ("<p ", '<b class="first">x</b><p ', "another text in the attribute class"),
        ("<p ", '<b class="note 4711">x</b><p ', "another text in the attribute class"),
        ('"note"', '"https://example.org"', "another text in the attribute class"),
        ('charset="utf-8"', 'http-equiv="refresh"', "the attribute http-equiv"),
        ("color:#123", "display:none", "display:none in its style"),
        ("color:#123", "background:url(x.png)", r"url\( in its style"),
        ("color:#123", "color:red/* 4711 */", r"/\* in its style"),
        ("color:#123}", '}@import "x.css";{}', "@import in its style"),
        ("color:#123", "dis\\70lay:none", "in its style"),
        ("</p>", "< 4711 </p>", "text that looks like markup"),
        ("</body></html>\n", "</body></html><script", "text that looks like|the element <script>"),
        ("<!DOCTYPE html>", "", "no document type"),
    ],
)
def test_a_report_with_something_else_in_it_does_not_leave(
    public, published, certificate, old, new, named
):
    assert old in PAGE
    report(public, certificate, PAGE.replace(old, new, 1))
    with pytest.raises(ProofError, match=f"firms.html has .*({named})"):
        check_public(public, [published])


def test_a_report_in_another_encoding_does_not_leave(public, published, certificate):
    (public / "firms.html").write_bytes(PAGE.encode("utf-16"))
    seal(public, certificate)
    with pytest.raises(ProofError, match=r"firms\.html is no page in UTF-8"):
        check_public(public, [published])
