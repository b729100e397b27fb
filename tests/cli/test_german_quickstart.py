"""Whoever leaves out a line of the German quickstart's job gets the message that the page names."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from diskret.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "de" / "quickstart.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """The folder of a reader before the fourth step: records, tree, job; the text of the job."""
    monkeypatch.chdir(tmp_path)
    found = FENCE.findall(PAGE)
    exec(next(text for language, _, text in found if language == "python"), {})
    for _, title, text in found:
        if title in ("wz.csv", "auftrag.toml"):
            Path(title).write_text(text, "utf-8")
    return Path("auftrag.toml").read_text("utf-8")


def remedy(message: str) -> str:
    """What the page advises for a message."""
    (found,) = re.findall(rf"^\|[^|]* \*{re.escape(message)}[^|]*\| (.+) \|$", PAGE, re.MULTILINE)
    return found


@pytest.mark.parametrize(
    ("lines", "message", "advice"),
    [
        (("encoding",), "ist kein UTF-8-Text", 'encoding = "cp1252"'),
        (("header",), "Spalten haben keinen Namen", "header = 3"),
        (("decimal =", "thousands"), "Texte, die keine Zahlen unter 10^20 sind", "decimal ="),
        (
            ("thousands",),
            "in der für diese Datei angegebenen Schreibweise",
            "in der genannten Zeile",
        ),
        (("decimals",), "nicht endlich, zu groß oder", "decimals = 2"),
        (("name",), "kann kein Dateiname sein", "name"),
    ],
)
def test_what_is_left_out_is_named(job, lines, message, advice):
    kept = [line for line in job.splitlines() if not line.startswith(lines)]
    assert len(kept) == len(job.splitlines()) - len(lines)
    Path("auftrag.toml").write_text("\n".join(kept), "utf-8")
    done = CliRunner().invoke(app, ["protect", "auftrag.toml"])
    assert done.exit_code == 1 and message in done.output, done.output
    assert advice in remedy(message)
    assert not Path("ausgabe").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Summe;;;230.000,00;", "kein Code in der Spalte"),
        ("00241;Bonn;4711;;", "ergänzen oder solche Datensätze weglassen"),
        ("00241;Bonn;4711;12,00 €;", "in der für diese Datei"),
    ],
)
def test_lines_that_are_no_records_are_named(job, line, message):
    with open("Betriebe 2025.csv", "a", encoding="cp1252") as file:
        file.write("\n" + line + "\n")
    done = CliRunner().invoke(app, ["protect", "auftrag.toml"])
    assert done.exit_code == 1 and message in done.output, done.output
    assert "Betriebe 2025.csv" in done.output
    assert remedy(message)
