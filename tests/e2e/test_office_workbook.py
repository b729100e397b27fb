"""Workbooks as an office program shows them: of a release, and the example's in both languages."""

import shutil
import subprocess
import sys
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

import diskret as dk

#: Needs LibreOffice, and is run where that is installed.
pytestmark = [pytest.mark.office, pytest.mark.xdist_group("office")]
EXAMPLE = Path(__file__).parents[2] / "examples" / "workbook_template.py"
SECONDS = 180


@pytest.fixture(scope="module", params=["en", "de"])
def made(request, tmp_path_factory):
    """The language, and the folder in which the example has run."""
    folder = tmp_path_factory.mktemp("office")
    command = [sys.executable, EXAMPLE, folder / "out", request.param]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return request.param, folder


def workbook(made):
    language, folder = made
    return folder / "out" / "public" / f"layout-{language}.xlsx"


def test_the_example_fills_every_placeholder(made):
    book = openpyxl.load_workbook(workbook(made))
    texts = [str(c.value) for sheet in book for row in sheet.iter_rows() for c in row if c.value]
    assert not [text for text in texts if "{{" in text]
    assert texts.count(".") >= 5
    assert len(book.worksheets) == 2


def shown_in_office(path: Path, folder: Path) -> str:
    """All sheets as an office program shows them, a line a row."""
    office = shutil.which("soffice")
    assert office, "LibreOffice (soffice) is missing"
    command = [
        *(office, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"),
        *("--convert-to", "csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,false,false,"
          "false,-1"),
        *("--outdir", folder / "shown", path),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return "\n".join(one.read_text("utf-8") for one in sorted((folder / "shown").iterdir()))


@pytest.mark.parametrize(("symbols", "hidden"), [("de-classic", "."), ("eurostat", ":C")])
def test_the_workbooks_of_a_release_open(tmp_path, symbols, hidden):
    cells = pa.table({
        "region": ["Nord", "Süd", "Ost"] * 2,
        "form": ["a"] * 3 + ["b"] * 3,
        "firms": [1, 17, 23, 14, 35, 46],
    })  # fmt: skip
    table = dk.Table.from_cells(cells, by={"region": None, "form": None}, count="firms")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), name="firms")
    result.write(tmp_path / "out", formats=["xlsx"], symbols=symbols)
    (public,) = (tmp_path / "out" / "public").glob("*.xlsx")
    shown = shown_in_office(public, tmp_path / "public")
    fields = [field for line in shown.splitlines() for field in line.split(";")]
    assert fields.count(hidden) >= result.certificate.primaries + result.certificate.secondaries
    assert {"Süd", "46"} <= {*fields}
    assert "1" not in fields[: fields.index("46")]
    for own in (tmp_path / "out" / "internal").glob("*.xlsx"):
        assert "primary" in shown_in_office(own, tmp_path / "internal")


def test_an_office_program_shows_it(made):
    language, folder = made
    shown = shown_in_office(workbook(made), folder)
    lines = shown.splitlines()
    title = {"en": "1  Turnover of firms", "de": "1  Umsatz der Unternehmen"}[language]
    assert title in shown
    total = {"en": "Total", "de": "Insgesamt"}[language]
    figures = next(line for line in lines if line.startswith(f"{total};") and line.count(";") > 3)
    assert str(openpyxl.load_workbook(workbook(made)).worksheets[0]["B5"].value) in figures
    meaning = {"en": ". = confidential", "de": ". = Zahlenwert geheim zu halten"}[language]
    assert meaning in shown
    assert "{{" not in shown
