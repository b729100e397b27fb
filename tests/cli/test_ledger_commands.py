"""``diskret ledger``, and jobs that publish through a ledger."""

import re

import pytest
from typer.testing import CliRunner

from diskret.cli.main import app
from diskret.ledger.ledger import Ledger

FIRMS = "region,size\n" + "".join(
    f"{region},{size}\n" * number
    for region, size, number in [
        ("N", "a", 9),
        ("N", "b", 4),
        ("S", "a", 2),
        ("S", "b", 5),
        ("W", "a", 7),
        ("W", "b", 6),
    ]
)
JOB = """\
[records]
path = "firms.csv"
[[tables]]
name = "firms"
by = { region = "flat", size = "flat" }
rules = { minimum_frequency = { n = 3 } }
[output]
folder = "firms 2025"
formats = ["csv"]
ledger = "releases.db"
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISKRET_LEDGER", "releases.db")
    (tmp_path / "firms.csv").write_text(FIRMS, encoding="utf-8")
    assert "empty ledger was created" in run("ledger", "create")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return re.sub(r"[\s│┃]+", " ", result.output)


def protect(home, job=JOB, **options):
    (home / "job.toml").write_text(job, encoding="utf-8")
    return run("protect", "job.toml", **options)


def test_a_job_publishes_through_its_ledger(home):
    assert "Recorded in the ledger as firms 2025" in protect(home)
    [release] = Ledger("releases.db").releases()
    assert release.name == "firms 2025"
    assert (home / "firms 2025/internal/ledger.json").exists()


def test_a_job_names_its_release(home):
    job = JOB + 'release = "firms, first edition"\nlanguage = "de"\n'
    assert "Im Register eingetragen als firms, first edition" in protect(home, job)
    assert "Fehler: " in protect(home, job, code=1)


def test_a_job_protects_beside_what_was_published(home):
    """The second table alone would hide nothing, and show what the first one hides."""
    protect(home)
    second = JOB.replace("firms 2025", "second").replace("n = 3", "n = 2")
    alone = second.replace('ledger = "releases.db"\n', "")
    assert "12 cells, 0 of them suppressed" in protect(home, alone)
    assert "12 cells, 4 of them suppressed" in protect(home, second)
    assert run("ledger", "list").count("published") == 2


def test_a_release_needs_a_ledger(home):
    job = JOB.replace('ledger = "releases.db"', 'release = "first"')
    assert "job.toml, line 10: 'release' names an entry of a ledger" in protect(home, job, code=1)


def test_list_and_show_tell_who_and_what_but_no_values(home):
    protect(home)
    listed = run("ledger", "list")
    assert re.search(r"Release Date Who Tables Status .* firms 2025 20\d\d-\d\d-\d\d ", listed)
    shown = run("ledger", "show", "firms 2025")
    assert "firms: count, region × size 12 cells, 4 of them suppressed" in shown
    assert re.search(r"fingerprint of the original table: [0-9a-f]{64}", shown)
    hidden = Ledger("releases.db").tables("firms 2025")[0]
    assert int(hidden.published.suppressed.sum()) == 4


def test_german(home):
    protect(home)
    assert "Veröffentlichung Datum Wer Tabellen Stand" in run("ledger", "list", "--language", "de")
    assert "veröffentlicht" in run("ledger", "show", "firms 2025", "--language", "de")
    said = run("ledger", "withdraw", "firms 2025", "--why", "falsch", "--language", "de")
    assert "als zurückgezogen vermerkt" in said


def test_withdraw_is_noted_with_its_reason(home):
    protect(home)
    said = run("ledger", "withdraw", "firms 2025", "--why", "wrong year", "--who", "head")
    assert "still protected against it" in said
    assert "by head: wrong year" in run("ledger", "list")
    assert "by head: wrong year" in run("ledger", "show", "firms 2025")
    run("ledger", "withdraw", "firms 2025", code=2)  # no reason
    run("ledger", "withdraw", "firms 2024", "--why", "wrong", code=1)


def test_check_says_which_cells_give_away_what(home):
    protect(home)
    assert "Nothing speaks against" in run("ledger", "check", "firms 2025")
    alone = JOB.replace('ledger = "releases.db"\n', "").replace("firms 2025", "open")
    coarse = alone.replace("n = 3", "n = 2")
    protect(home, coarse)
    said = run("ledger", "check", "open", code=3)
    assert "firms must not be published as they are" in said
    cell = "region=S, size=a (firms, firms 2025)"
    assert f"{cell} would be known exactly, because of region=S, size=a (firms)" in said
    assert "dürfen so nicht" in run("ledger", "check", "open", "--language", "de", code=3)


def test_a_ledger_that_is_not_there_is_not_created(home):
    (home / "releases.db").unlink()
    assert "there is no ledger releases.db" in run("ledger", "list", code=1)
    assert "diskret ledger create" in protect(home, code=1)
    assert not (home / "releases.db").exists() and not (home / "firms 2025").exists()


def test_a_ledger_has_to_be_named(home, monkeypatch):
    monkeypatch.delenv("DISKRET_LEDGER")
    assert "DISKRET_LEDGER" in run("ledger", "list", code=2)


def test_a_changed_ledger_is_refused(home):
    import sqlite3

    protect(home)
    connection = sqlite3.connect("releases.db")
    with connection:
        connection.execute("UPDATE diskret_entries SET text = replace(text, 'firms', 'farms')")
    connection.close()
    assert "Refused: the ledger releases.db was changed" in run("ledger", "list", code=3)


def test_a_folder_without_tables_is_refused(home):
    protect(home)
    (home / "empty").mkdir()
    assert "there is no published table here" in run("ledger", "check", "empty", code=1)
