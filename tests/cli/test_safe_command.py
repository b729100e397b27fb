"""``diskret safe``: a job, what it writes, how it is stopped and goes on."""

import sys
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app

JOB = """\
[records]
path = "persons.parquet"

[roles]
household = "household"

[safe]
tables = [["state", "sex"], { up_to = 2, of = ["age_group", "sex"], always = ["state"] }]
method = "hoehne"

[release]
folder = "out"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    pq.write_table(dk.datasets.census(2_000, seed=3).persons, "persons.parquet")
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def diskret(*arguments):
    return CliRunner().invoke(app, ["safe", *arguments])


def smallest(path) -> int:
    table = csv.read_csv(path)
    counted = table.group_by(table.column_names).aggregate([([], "count_all")])
    return min(counted["count_all"].to_pylist())


def test_a_job_is_carried_out_proven_and_can_be_verified(folder):
    made = diskret("job.toml")
    assert made.exit_code == 0, made.output
    assert "all controlled tables" in made.output
    (file,) = (folder / "out" / "public").rglob("*.csv")
    assert smallest(file) >= 3
    again = CliRunner().invoke(app, ["verify", "out"])
    assert again.exit_code == 0, again.output
    german = diskret("job.toml", "--folder", "aus", "--language", "de")
    assert german.exit_code == 0
    assert "alle kontrollierten Tabellen" in german.output
    assert (folder / "aus" / "public").is_dir()


def test_a_file_that_is_not_safe_is_refused_and_nothing_is_written(folder, monkeypatch):
    from diskret.safe import SafeFile

    def bad(problem, **_):
        return SafeFile(problem.codes, problem.count)

    monkeypatch.setitem(sys.modules, "diskret.safe.hoehne", SimpleNamespace(hoehne=bad))
    made = diskret("job.toml")
    assert made.exit_code == 3
    assert not (folder / "out").exists()


def test_what_the_command_line_adds_reaches_the_search(folder, monkeypatch):
    from diskret.safe.hoehne import hoehne

    seen = []

    def search(problem, **options):
        seen.append(options)
        options["progress"]("search: largest 5, mean 1.00", 1, 2)
        return hoehne(problem, seed=1)

    monkeypatch.setitem(sys.modules, "diskret.safe.search", SimpleNamespace(search=search))
    text = JOB.replace('method = "hoehne"', 'sweeps = 40\ncheckpoint = "old.state"')
    (folder / "job.toml").write_text(text)
    assert diskret("job.toml").exit_code == 0
    more = ["--checkpoint", "new.state", "--time-limit", "9", "--folder", "again"]
    assert diskret("job.toml", *more).exit_code == 0
    assert [one["checkpoint"] for one in seen] == ["old.state", "new.state"]
    assert [(one.get("sweeps"), one.get("time_limit")) for one in seen] == [(40, None), (None, 9)]


def test_ctrl_c_says_how_to_go_on(folder, monkeypatch):
    def stopped(problem, *, checkpoint=None, **_):
        if checkpoint is not None:
            (folder / "state").write_text("so far")
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "diskret.safe.search", SimpleNamespace(search=stopped))
    (folder / "job.toml").write_text(JOB.replace('method = "hoehne"', ""))
    made = diskret("job.toml", "--checkpoint", str(folder / "state"))
    assert made.exit_code == 130
    assert "goes on from there" in made.output
    made = diskret("job.toml", "--language", "de")
    assert made.exit_code == 130
    assert "nichts wurde geschrieben" in made.output
    assert not (folder / "out").exists()


def test_the_template_is_a_job(folder):
    text = diskret("--template").output
    names = ["municipality", "district", "age", "sex", "occupation"]
    pq.write_table(dk.datasets.census(2_000, seed=3).persons.select(names), "persons.parquet")
    (folder / "t.toml").write_text(text.replace("[safe]\n", '[safe]\nmethod = "hoehne"\n'))
    made = diskret("t.toml")
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[safe]", "[save]", "save"),
        ("method =", "methode =", "did you mean 'method'"),
        ("[roles]", "[role]", "role"),
        ('"sex"], {', '"gender"], {', "gender"),
    ],
)
def test_a_job_with_mistakes_is_refused(folder, old, new, message):
    (folder / "job.toml").write_text(JOB.replace(old, new))
    made = diskret("job.toml")
    assert made.exit_code == 1, made.output
    assert message in made.output


def test_a_job_without_safe_is_for_another_command(folder):
    job = '[records]\npath = "persons.parquet"\n[roles]\nkeys = ["sex"]\n'
    (folder / "job.toml").write_text(job + "[release.claims]\nk_anonymity = { k = 3 }\n")
    made = diskret("job.toml")
    assert made.exit_code == 1
    assert "diskret anonymize" in made.output


def test_without_a_job_the_usage_is_said():
    assert diskret().exit_code == 2


def test_anonymize_makes_safe_files_too_even_if_no_key_is_left(folder):
    text = JOB.replace("[safe]", '[[steps]]\ndo = "safe"').replace(
        'household = "household"', 'keys = ["religion"]'
    )
    (folder / "job.toml").write_text(text + "[release.claims]\nsafe = { minimum = 3 }\n")
    made = CliRunner().invoke(app, ["anonymize", "job.toml"])
    assert made.exit_code == 0, made.output
    assert (folder / "out" / "public").is_dir()
