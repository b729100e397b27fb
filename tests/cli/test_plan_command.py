"""``diskret plan``: what is found, what is asked, and two commands to the release."""

import pytest
from plan_templates import NUTS, TEMPLATE, write_records, written
from typer.testing import CliRunner

from diskret.cli.main import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a template, trees and records only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    write_records(tmp_path / "firms.csv", 300, 7)
    return written(tmp_path, **{"template.csv": TEMPLATE, "trees__hrc_nuts.csv": NUTS})


def diskret(*arguments):
    return CliRunner().invoke(app, [*arguments])


GIVEN = ("template.csv", "--trees", "trees", "--records", "firms.csv")


def test_from_a_template_to_the_verified_release(folder):
    asked = diskret("plan", *GIVEN)
    assert asked.exit_code == 1
    assert "template.csv: tables asked for: 6; to protect: 2; clusters: 2." in asked.output
    assert "firms: sales by hrc_nuts, size; holds S1, S2, S3" in asked.output
    assert "What makes a cell unsafe? Say the rules of the office." in asked.output
    assert "(template.csv, line 5, 6, 7): Which of domestic, export, trade is the" in asked.output
    draft = folder / "plan" / "publication.toml"
    text = draft.read_text(encoding="utf-8")
    assert not (folder / "plan" / "programme.toml").exists()
    for line in ('equations = ["trade = domestic + export"]', "[rules]", "p_percent = { p = 10 }"):
        assert f"\n# {line}" in text
        text = text.replace(f"\n# {line}", f"\n{line}")
    draft.write_text(text, encoding="utf-8")
    planned = diskret("plan", "plan/publication.toml")
    assert planned.exit_code == 0, planned.output
    assert "Release it: diskret protect plan/programme.toml" in planned.output
    released = diskret("protect", "plan/programme.toml")
    assert released.exit_code == 0, released.output
    verified = diskret("verify", "plan/out/release")
    assert verified.exit_code == 0, verified.output
    assert "The office's own files agree with them." in verified.output


def test_a_draft_that_somebody_may_have_completed_stays(folder):
    assert diskret("plan", *GIVEN).exit_code == 1
    draft = folder / "plan" / "publication.toml"
    draft.write_text("completed", encoding="utf-8")
    again = diskret("plan", *GIVEN)
    assert again.exit_code == 1 and "publication.toml is there already" in again.output
    assert draft.read_text(encoding="utf-8") == "completed"


def test_trees_can_be_named_one_by_one(folder):
    (folder / "trees" / "hrc_nuts.csv").rename(folder / "nuts.csv")
    asked = diskret("plan", "template.csv", "--trees", "hrc_nuts=nuts.csv", "--out", "a")
    assert "What is the code tree hrc_nuts" not in asked.output
    asked = diskret("plan", "template.csv", "--trees", "nuts.csv", "--out", "b")
    assert "What is the code tree hrc_nuts" in asked.output
    assert "No variable has the code tree nuts" in asked.output
    both = diskret("plan", "template.csv", "--trees", "hrc_nuts=nuts.csv", "--trees", "nuts.csv")
    assert both.exit_code == 2 and "a name to every code tree" in both.output


def test_it_speaks_german(folder):
    asked = diskret("plan", *GIVEN, "--language", "de")
    assert "verlangte Tabellen: 6; zu schützen: 2; Gruppen: 2." in asked.output
    assert "Frage 2 (template.csv, Zeile 5, 6, 7): Welcher Wert ist die Summe" in asked.output
    text = (folder / "plan" / "publication.toml").read_text(encoding="utf-8")
    assert text.startswith("# Was veröffentlicht wird, und was nur ein Mensch wissen kann.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "there is no file or folder none.csv to plan"),
        (["firms.doc"], "firms.doc: a template ends in .csv"),
        ([*GIVEN[:2], "none"], "there is no file none of a code tree"),
        ([*GIVEN[:2], "firms.doc"], "firms.doc: a code tree ends in .csv or .hrc"),
        (["template.csv", "--records", "none.csv"], "there is no file none.csv of records"),
        (["template.csv", "--records", "firms.doc"], "the suffix of firms.doc does not tell"),
        (["firms.csv"], "firms.csv: there is no column 'INDICATOR', so nothing tells what is"),
        (["broken.csv"], "broken.csv, line 3: has 2 fields, and the first line names 3 columns"),
        (["empty"], "empty: there are no workbooks (.xlsx) in this folder"),
    ],
)
def test_bad_input_is_said_in_one_sentence(folder, arguments, said):
    (folder / "firms.doc").touch()
    (folder / "empty").mkdir()
    written(folder, **{"broken.csv": "table_name,indicator,spanning_1\nT1,sales,size\nT2,sales\n"})
    done = diskret("plan", *arguments)
    assert done.exit_code == 1
    assert said in done.output
    assert not (folder / "plan").exists()
