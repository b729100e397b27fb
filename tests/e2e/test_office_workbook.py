"""The example's workbook as an office program shows it, on paper, in both languages."""

import shutil
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

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


def test_an_office_program_shows_it(made):
    office = shutil.which("soffice")
    assert office, "LibreOffice (soffice) is missing"
    language, folder = made
    command = [
        *(office, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"),
        *("--convert-to", "csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,false,false,"
          "false,-1"),
        *("--outdir", folder / "shown", workbook(made)),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    shown = "\n".join(path.read_text("utf-8") for path in sorted((folder / "shown").iterdir()))
    lines = shown.splitlines()
    title = {"en": "1  Turnover of firms", "de": "1  Umsatz der Unternehmen"}[language]
    assert title in shown
    total = {"en": "Total", "de": "Insgesamt"}[language]
    figures = next(line for line in lines if line.startswith(f"{total};") and line.count(";") > 3)
    assert str(openpyxl.load_workbook(workbook(made)).worksheets[0]["B5"].value) in figures
    meaning = {"en": ". = confidential", "de": ". = Zahlenwert geheim zu halten"}[language]
    assert meaning in shown
    assert "{{" not in shown
