"""Pages, LaTeX, texts, notebooks and workbooks: tables are judged, nothing passes unseen."""

import base64
import io
import json
import zipfile
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Font
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from PIL import Image
from profiles import examples

from diskret.outputs import Profile, folder

RULES = Profile(threshold=10)
GOOD = pd.DataFrame({"region": ["N", "S"], "n": [120, 40]})
FEW = pd.DataFrame({"region": ["N", "S"], "n": [120, 4]})


def checks(place, name, content=None, **options):
    """Check → places."""
    if content is not None:
        (place / name).write_text(content, encoding="utf-8")
    found = folder(place, **{"profile": RULES, **options}).files[name]
    return {one.check: {*one.places} for one in found.findings}


WRITERS = {
    "t.html": lambda frame: frame.to_html(index=False),
    "t.tex": lambda frame: frame.to_latex(index=False),
    "t.txt": lambda frame: frame.to_csv(index=False, sep="\t"),
    "t.log": lambda frame: frame.to_csv(index=False, sep=";"),
    "t.md": lambda frame: (
        f"# Firms\n\n| {frame.columns[0]} | {frame.columns[1]} |\n|:--|--:|\n"
        + "\n".join(f"| {one} | {number} |" for one, number in frame.to_numpy())
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_in_texts_are_judged_as_those_of_data(tmp_path, name):
    write = WRITERS[name]
    assert checks(tmp_path, name, write(GOOD)) == {}
    assert checks(tmp_path, name, write(FEW)) == {"threshold": {("n", "S")}}
    assert checks(tmp_path, name, write(FEW.assign(n=[0, 50]))) == {"zero": {("n", "N")}}
    other = FEW.rename(columns={"n": "women"})
    assert checks(tmp_path, name, write(other)) == {"unknown": {("women",)}}
    assert checks(tmp_path, name, write(other), counts=["women"]) == {"threshold": {("women", "S")}}
    identified = pd.DataFrame({"firm_id": range(30), "n": 20})
    assert "microdata" in checks(tmp_path, name, write(identified))


@given(st.integers(0, 10**6))
@examples(40)
def test_no_small_count_gets_through_whatever_form_a_table_has(tmp_path_factory, seed):
    """Every number below the threshold is found, in tables of one and several levels."""

    draw = np.random.default_rng(seed)
    numbers = draw.integers(5, 30, 4)
    frame = pd.DataFrame({"region": list("NSWE"), "n": numbers})
    if draw.integers(2):
        frame = frame.assign(size=["a", "b", "a", "b"]).set_index(["region", "size"])
    else:
        frame = frame.set_index("region")
    place = tmp_path_factory.mktemp("any")
    for name, text in {
        "t.html": frame.to_html(),
        "t.tex": frame.to_latex(),
        "t.ipynb": json.dumps(notebook(shown(frame), source="")),
    }.items():
        found = checks(place, name, text)
        assert len(found.get("threshold", ())) == (numbers < 10).sum()
        assert found.keys() <= {"threshold"}


HIDDEN_IN_PAGES = {
    "<script>let x = [4, 7]</script>": "embedded",
    "<!-- Meyer Ltd -->": "comments",
    '<p style="display: none">7</p>': "hidden",
    "<p hidden>7</p>": "hidden",
    "<style>.x { visibility: hidden }</style>": "hidden",
    "<style>/* Meyer */ td { color: red }</style>": "comments",
    "<style>td::after { content: '7' }</style>": "embedded",
    '<p style="color: #fff">x</p>': "hidden",
    '<table width="0"><tr><td>x</td></tr></table>': "hidden",
    '<img src="data:image/png;base64,AAAA">': "embedded",
    '<img src="https://example.org/7.png">': "embedded",
    '<iframe src="x"></iframe>': "embedded",
    '<meta name="author" content="Ann Meyer">': "metadata",
    '<b title="Meyer Ltd"></b>': "embedded",
    '<b data-value="7"></b>': "embedded",
    "<p>Three firms have 7.</p>": "prose",
    "<h1>Only 7 firms</h1>": "prose",
    "<svg><text>7</text></svg>": "embedded",
    "<table><tr><td><table></table></td></tr></table>": "unknown",
    "<table><tr><td>a</td></tr><tr><td>a</td><td>7</td></tr></table>": "unknown",
    "<table><tr><td rowspan='99999'>a</td></tr></table>": "unknown",
    "<?php 7 ?>": "unknown",
    "<![CDATA[7]]>": "unknown",
    "<textarea>7</textarea>": "embedded",
    "<noscript>7</noscript>": "embedded",
    "<table><tr><td>7": "unknown",
}


@pytest.mark.parametrize("more", HIDDEN_IN_PAGES)
def test_what_pages_hide(tmp_path, more):
    page = f"<html><body><h1>Firms</h1>{GOOD.to_html(index=False)}</body></html>"
    assert checks(tmp_path, "t.html", page) == {}
    for text in (page.replace("</body>", f"{more}</body>"), more + page):
        found = checks(tmp_path, "t.html", text)
        assert HIDDEN_IN_PAGES[more] in found
        assert all(place for place in found[HIDDEN_IN_PAGES[more]])


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("<thead><tr><th>n</th></tr></thead><tr><td>4<br>0</td></tr>", "unknown"),
        ("<thead><tr><th>n</th></tr></thead><tr><td>4<div>0</div></td></tr>", "unknown"),
        ("<thead><tr><th>n</th></tr><tr><th>4</th></tr></thead><tr><td>40</td></tr>", "unknown"),
        ("<thead><tr><th>4</th></tr></thead><tr><td>40</td></tr>", "threshold"),
        ("<tr><td>n</td></tr><tr><td><b>4</b></td></tr>", "threshold"),
        ("<thead><tr><th>n</th></tr></thead><tr><td>40</td>4</tr>", "prose"),
        ("<thead><tr><th>n</th></tr></thead><tr><td>40</td></tr><caption>4</caption>", "prose"),
    ],
)
def test_small_numbers_in_odd_places(tmp_path, text, check):
    """Also where all is said to be counts."""
    (tmp_path / "results.toml").write_text('["t.html"]\ncounts = "all"\n')
    assert check in checks(tmp_path, "t.html", f"<table>{text}</table>")


def test_a_page_without_a_table_or_text_is_for_a_person(tmp_path):
    for text in ("<html></html>", "", "<p></p>"):
        assert folder_verdict(tmp_path, "t.html", text) == "review"


def folder_verdict(place, name, text):
    (place / name).write_text(text)
    return folder(place, profile=RULES).files[name].verdict


LATEX = {
    "% Meyer Ltd has 7": "comments",
    "Three firms.": "prose",
    r"\input{secret}": "prose",
    r"\newcommand{\x}{7}": "prose",
    r"\phantom{7}": "prose",
    r"\caption{Only 7 firms}": "prose",
    r"\begin{tabular}{l}\secret{a} \\ 7 \\ \end{tabular}": "unknown",
    r"\begin{tabular}{ll} a & b \\ 7 \\ \end{tabular}": "unknown",
    r"\begin{tabular}{l} a \\ % 7" + "\n" + r"\end{tabular}": "comments",
    r"\begin{tabular} a \\ \end{tabular}": "unknown",
    r"\begin{tabular}{l} n \\ $7$ \\ \end{tabular}": "unknown",
    r"\begin{tabular}{l} n \\% 7" + "\n" + r"\end{tabular}": "unknown",
}


@pytest.mark.parametrize("more", LATEX)
def test_what_latex_hides(tmp_path, more):
    table = GOOD.to_latex(index=False, caption="Firms")
    whole = rf"\documentclass{{article}}\begin{{document}}{table}\end{{document}}"
    assert checks(tmp_path, "t.tex", whole) == {}
    found = checks(tmp_path, "t.tex", whole.replace(r"\end{document}", f"{more}\n"))
    assert LATEX[more] in found


def test_spans_in_latex(tmp_path):
    text = r"""\begin{tabular}{lrr}
    \hline & \multicolumn{1}{c}{\textbf{n}} & n \\ \cline{2-3}
    \multirow{2}{*}{A \& B} & 20 & 5 \\ [2pt]
    {} & 30 & 40 \\ \hline
    \end{tabular}"""
    assert checks(tmp_path, "t.tex", text) == {"unknown": {("n (3)",)}}
    found = checks(tmp_path, "t.tex", text, counts=["n (3)"])
    assert found == {"threshold": {("n (3)", "A & B")}}


@pytest.mark.parametrize(
    "text",
    [
        "Three firms have 7.",
        "region\tn\nN\t120\nand 7 more",
        "region\tn\nN\t120\t7",
        "n\n7",
        "      n\nN   120\nS     4  x",
    ],
)
def test_texts_that_are_no_table_are_for_a_person(tmp_path, text):
    assert checks(tmp_path, "t.txt", text).keys() == {"prose"}


def test_texts_in_no_known_encoding(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"n\xe4me\tn\nx\t20")
    (tmp_path / "t.html").write_bytes("<p>7</p>".encode("utf-16"))
    (tmp_path / "t.ipynb").write_text("{}")
    with (tmp_path / "long.html").open("wb") as file:
        file.truncate(11_000_000)
    found = dict(folder(tmp_path, profile=RULES).files)
    assert {one.check for one in found.pop("long.html").findings} == {"too_big"}
    assert {one.check for file in found.values() for one in file.findings} == {"unread"}


def shown(frame) -> list[dict[str, Any]]:
    data = {"text/html": frame.to_html(), "text/plain": frame.to_string()}
    return [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}]


def notebook(outputs=(), source="firms", **more) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "source": source,
        "outputs": [*outputs],
        **more,
    }
    known = {"kernelspec": {"name": "python3"}}
    return {"cells": [cell], "metadata": known, "nbformat": 4, "nbformat_minor": 5}


def test_notebooks(tmp_path):
    def of(*given, **more):
        return checks(tmp_path, "t.ipynb", json.dumps(notebook(*given, **more)))

    good, few = GOOD.set_index("region"), FEW.set_index("region")
    assert of(shown(good)) == {"code": {("cell 1",)}}
    assert of(shown(few), source="")["threshold"] == {("cell 1", "n", "S")}
    assert of(shown(good), source="") == {}
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    drawn = {
        "output_type": "display_data",
        "data": {
            "image/png": base64.b64encode(picture.getvalue() + b"7,Meyer").decode(),
            "text/plain": "<Axes: >",
        },
        "metadata": {},
    }
    assert of([drawn], source="") == {
        "unknown": {("cell 1",)},
        "embedded": {("cell 1", "+7")},
    }
    other = shown(good)
    other[0]["data"]["text/plain"] += "\n7 more"
    assert of(other, source="").keys() == {"prose"}
    other[0]["data"]["application/vnd.plotly.v1+json"] = {"data": [7]}
    assert of(other, source="")["embedded"] == {("cell 1", "application/vnd.plotly.v1+json")}
    stream = [{"output_type": "stream", "name": "stdout", "text": ["three firms\n", "have 7"]}]
    assert of(stream, source="") == {"prose": {("cell 1", "line 1")}}
    error = [{"output_type": "error", "ename": "KeyError", "evalue": "Meyer", "traceback": []}]
    assert of(error, source="") == {"prose": {("cell 1", "error")}}
    assert of(attachments={"data.png": {}}, cell_type="markdown") == {
        "prose": {("cell 1",)},
        "embedded": {("cell 1", "data.png")},
    }
    assert of(source="", comment="7") == {"unknown": {("cell 1", "comment")}}
    assert of(source="", metadata={"data": 7}) == {"metadata": {("cell 1", "data")}}
    whole = notebook(shown(good), source="")
    whole["metadata"]["widgets"] = {"state": 7}
    assert checks(tmp_path, "t.ipynb", json.dumps(whole)) == {"embedded": {("metadata widgets",)}}
    whole["cells"][0]["outputs"][0]["data"]["text/html"] = 7
    assert checks(tmp_path, "t.ipynb", json.dumps(whole)).keys() == {"unread"}


def workbook(place, change):
    GOOD.to_excel(place / "t.xlsx", index=False)
    book = openpyxl.load_workbook(place / "t.xlsx")
    change(book, book.active)
    book.save(place / "t.xlsx")
    return checks(place, "t.xlsx")


def validated(book, sheet):
    rule = DataValidation(type="list", formula1='"Meyer,Schmidt"')
    rule.add("A2")
    sheet.add_data_validation(rule)


def white(book, sheet):
    sheet["A3"].font = Font(color="FFFFFF")


WORKBOOKS = {
    "formula": (
        lambda b, s: s.__setitem__("B3", "=SUM(4,36)"),
        {"formulas": {("Sheet1", "B3")}},
    ),
    "header": (
        lambda b, s: setattr(s.oddHeader.center, "text", "Meyer Ltd"),
        {"headers": {("Sheet1", "oddHeader")}},
    ),
    "footer": (
        lambda b, s: setattr(s.firstFooter.left, "text", "Meyer"),
        {"headers": {("Sheet1", "firstFooter")}},
    ),
    "name": (
        lambda b, s: b.defined_names.add(DefinedName("Meyer", attr_text="Sheet1!$A$1")),
        {"names": {("Meyer",)}},
    ),
    "name of a sheet": (
        lambda b, s: s.defined_names.add(DefinedName("Meyer", attr_text="7")),
        {"names": {("Sheet1", "Meyer")}},
    ),
    "link": (
        lambda b, s: setattr(s["A2"], "hyperlink", "https://example.org/?firm=7"),
        {"names": {("Sheet1", "A2")}},
    ),
    "validation": (validated, {"cell_rules": {("Sheet1", "A2")}}),
    "format": (
        lambda b, s: s.conditional_formatting.add(
            "B2:B3", ColorScaleRule("min", start_color="FF0000", end_type="max", end_color="00FF00")
        ),
        {"cell_rules": {("Sheet1", "B2:B3")}},
    ),
    "filter": (
        lambda b, s: setattr(s.auto_filter, "ref", "A1:B3"),
        {"cell_rules": {("Sheet1", "A1:B3")}},
    ),
    "blank": (
        lambda b, s: setattr(s["A3"], "number_format", ";;;"),
        {"hidden": {("Sheet1", "A3")}},
    ),
    "white": (white, {"hidden": {("Sheet1", "A3")}}),
    "flat": (
        lambda b, s: setattr(s.row_dimensions[3], "height", 0.5),
        {"hidden": {("Sheet1", "3")}},
    ),
}


@pytest.mark.parametrize("name", WORKBOOKS)
def test_what_workbooks_hold_besides_values(tmp_path, name):
    change, expected = WORKBOOKS[name]
    found = workbook(tmp_path, change)
    found.pop("unknown", None)  # a formula without its value
    assert found == expected


def test_texts_that_no_cell_shows_and_unknown_parts(tmp_path):
    assert workbook(tmp_path, lambda book, sheet: None) == {}
    with zipfile.ZipFile(tmp_path / "t.xlsx") as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}

    def again(changed):
        with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as packed:
            for name, content in {**parts, **changed}.items():
                packed.writestr(name, content)
        return checks(tmp_path, "t.xlsx")

    texts = "xl/sharedStrings.xml"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    left = f'<sst xmlns="{main}"><si><t>Meyer Ltd</t></si></sst>'.encode()
    assert again({texts: left}) == {"embedded": {(texts,)}}
    assert again({texts: left.replace(b"<si><t>Meyer Ltd</t></si>", b"")}) == {}
    assert again({"xl/notes.bin": b"7"}) == {"unknown": {("xl/notes.bin",)}}
    assert again({"xl/printerSettings/p.bin": b"7"}).keys() == {"metadata"}
    whose = parts["docProps/app.xml"].replace(
        b"</Properties>", b"<Company>M</Company></Properties>"
    )
    assert again({"docProps/app.xml": whose}) == {"metadata": {("Company",)}}
    assert again({"xl/threadedComments/t.xml": b"7"}).keys() == {"comments"}
    grown = b'<!DOCTYPE x [<!ENTITY a "7">]>' + left
    assert again({texts: grown}).keys() == {"unread"}


@given(st.integers(0, 10**6))
@examples(60)
def test_damaged_files_are_judged_and_never_an_error(tmp_path_factory, seed):
    draw = np.random.default_rng(seed)
    place = tmp_path_factory.mktemp("torn")
    frame = FEW.set_index("region")
    FEW.to_excel(place / "t.xlsx", index=False)
    files = {
        "t.html": f"<h1>Firms</h1>{frame.to_html()}<script>7</script>".encode(),
        "t.tex": frame.to_latex(caption="Firms").encode(),
        "t.ipynb": json.dumps(notebook(shown(frame))).encode(),
        "t.txt": FEW.to_csv(sep="\t").encode(),
        "t.xlsx": (place / "t.xlsx").read_bytes(),
    }
    for name, content in files.items():
        torn = bytearray(content)
        for _ in range(int(draw.integers(1, 6))):
            at, length = int(draw.integers(len(torn))), int(draw.integers(1, 9))
            kind = int(draw.integers(4))
            if kind == 0:
                del torn[at : at + length]
            elif kind == 1:
                torn[at:at] = draw.bytes(length)
            elif kind == 2:
                torn[at : at + length] = bytes(torn[-length:])
            else:
                del torn[at:]
            torn = torn or bytearray(b" ")
        (place / name).write_bytes(bytes(torn))
    found = folder(place, profile=RULES)
    assert found.files.keys() == files.keys()
    assert found.files["t.ipynb"].verdict != "pass"
    found.summary("de")
