"""``diskret serve`` and ``diskret users``: from a configuration to a service that is killed."""

import os
import re
import signal
import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.serve.client import ServiceError

posix = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")
CONFIG = """\
[service]
title = "Persons"
users = "users.toml"
ledger = "service.db"
port = 0
[[data]]
name = "persons"
records = { path = "persons.csv" }
record_key = "key"
questions = 2
share = 1.0
[data.noise]
max_noise = 3
variance = 2
[data.variables.sex]
codes = ["f", "m"]
[data.variables.town]
codes = { A = "Altdorf", B = "Berg" }
[data.variables.job]
codes = ["x", "y", "z"]
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    draw = np.random.default_rng(1)
    codes = zip(*(draw.choice([*letters], 300) for letters in ("fm", "AB", "xyz")), strict=True)
    keys = draw.integers(2**32, size=300)
    rows = [f"{','.join(own)},{key}\n" for own, key in zip(codes, keys, strict=True)]
    (tmp_path / "persons.csv").write_text("sex,town,job,key\n" + "".join(rows))
    (tmp_path / "service.toml").write_text(CONFIG)
    run("ledger", "create", "--ledger", "service.db")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.output


def token_of(output):
    (found,) = re.findall(r"^dsk_\S+$", output, re.MULTILINE)
    return found


def started():
    """A service as a process, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from diskret.cli import run; run()", "serve", "service.toml"],
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise AssertionError(process.wait())


def ended(process, number):
    process.send_signal(number)
    said = process.communicate(timeout=30)[0]
    return process.returncode, said


def test_users_come_and_go(home):
    first = token_of(run("users", "add", "service.toml", "anne", "--data", "persons"))
    second = token_of(run("users", "token", "service.toml", "anne", "--days", "3"))
    assert first != second
    run("users", "add", "service.toml", "olga", "--role", "owner", "--language", "de")
    listed = run("users", "list", "service.toml").splitlines()
    assert [line for line in listed if line[0] != " "] == [
        "anne: reader, persons",
        "olga: owner, all data sets",
    ]
    assert listed[1].startswith(f"  {first[4:12]}, valid until 20")
    assert listed[2].startswith(f"  {second[4:12]}, valid until 20")
    assert "2 tokens" in run("users", "revoke", "service.toml", "anne")
    assert "no user 'eve'" in run("users", "revoke", "service.toml", "eve", code=1)
    assert "keinen Nutzer" in run(
        "users", "token", "service.toml", "eve", "--language", "de", code=1
    )
    history = run("serve", "service.toml", "--history").splitlines()
    assert [line.partition("changed users: ")[2] for line in history] == [
        *("add anne: reader, persons", "token anne", "token anne"),
        *("add olga: owner, *", "token olga", "revoke anne"),
    ]
    text = (home / "users.toml").read_text()
    assert first.split("_", 2)[2][:40] not in text and second.split("_", 2)[2][:40] not in text


def test_a_token_is_renewed_and_one_is_revoked(home):
    def last_days():
        listed = run("users", "list", "service.toml").splitlines()
        return {line[2:10]: line[-10:] for line in listed if line[0] == " "}

    first = token_of(run("users", "add", "service.toml", "anne"))
    second = token_of(run("users", "token", "service.toml", "anne", "--others-days", "7"))
    days = last_days()
    assert (date.fromisoformat(days[first[4:12]]) - date.today()).days in (6, 7)
    assert (date.fromisoformat(days[second[4:12]]) - date.today()).days in (364, 365)
    said = run("users", "revoke-token", "service.toml", second[4:12], "--language", "de")
    assert "Das Token von anne gilt nicht mehr." in said
    assert [*last_days()] == [first[4:12]]
    assert "no such token" in run("users", "revoke-token", "service.toml", "00000000", code=1)
    history = run("serve", "service.toml", "--history")
    assert "changed users: revoke a token of anne" in history


def test_old_entries_move_into_the_archive_and_are_told_with_the_others(home):
    run("users", "add", "service.toml", "anne")
    before = run("serve", "service.toml", "--history").splitlines()
    archive = home / "archive"
    said = run("serve", "service.toml", "--roll")
    assert said == "2 entries were moved out of the journal into archive.\n"
    assert "0 Einträge wurden" in run("serve", "service.toml", "--roll", "--language", "de")
    after = run("serve", "service.toml", "--history").splitlines()
    assert after[:-1] == before and len(before) == 2
    assert "moved entries out of the journal (2): journal-000000000001.jsonl" in after[-1]
    next(archive.iterdir()).unlink()
    left = run("serve", "service.toml", "--history").splitlines()
    assert "Entries 1 to 2 were moved out of the journal" in left[0] and left[-1] == after[-1]


def test_a_configuration_is_checked_with_its_records(home):
    run("users", "add", "service.toml", "anne")
    said = run("serve", "service.toml", "--check")
    assert "Persons: 1 data set is" in said and "persons: 2 tables may count" in said
    (home / "service.toml").write_text(CONFIG.replace('"x", "y", "z"', '"x", "y"'))
    assert "job" in run("serve", "service.toml", "--check", code=1)
    (home / "service.toml").write_text(CONFIG.replace("port = 0", "prot = 0"))
    assert "line 5" in run("serve", "service.toml", "--check", code=1)


def test_without_users_keys_or_ledger_there_is_no_service(home, monkeypatch):
    assert "diskret users add" in run("serve", "service.toml", "--check", code=1)
    run("users", "add", "service.toml", "anne")
    (home / "service.db").unlink()
    assert "there is no ledger" in run("serve", "service.toml", "--check", code=1)
    monkeypatch.setenv("DISKRET_KEYS", str(home / "other"))
    assert "no key file" in run("serve", "service.toml", "--check", code=1)
    assert not (home / "other").exists()


def test_what_sums_are_worth_is_told_to_the_owner(home):
    rows = (home / "persons.csv").read_text().splitlines()
    paid = [f"{row},{at * 7 % 90}" for at, row in enumerate(rows[1:])]
    (home / "persons.csv").write_text("\n".join([rows[0] + ",pay", *paid]))
    measure = "[data.measures.income]\ncolumn = 'pay'\nnoise = 0.2\n"
    run("users", "add", "service.toml", "anne")
    (home / "service.toml").write_text(CONFIG + measure)
    assert "who is in the data" in run("serve", "service.toml", "--check", code=1)
    public = CONFIG.replace("questions = 2", 'questions = 5\npresence = "public"')
    (home / "service.toml").write_text(public + measure)
    said = run("serve", "service.toml", "--check", "--language", "de")
    assert "höchstens 100,0" in said  # of who is there nothing is claimed
    line = said.splitlines()[-1]
    assert "Wert von income" in line
    assert re.findall(r"\d[\d,]*", line) == ["10", "74,2", "92,9", "5"]
    (home / "service.toml").write_text(public + measure.replace("0.2", "'much'"))
    assert "must be a number above 0" in run("serve", "service.toml", "--check", code=1)


def test_the_template_is_a_configuration(home):
    text = run("serve", "--template")
    (home / "census.parquet").touch()
    (home / "firms.parquet").touch()
    (home / "t.toml").write_text(text)
    from diskret.serve.config import read_config

    service = read_config(home / "t.toml")
    assert service.limits == type(service.limits)() and service.port == 8765
    # what is commented out is what holds
    free = re.sub(r"^# (?=[\w\[]+ ?[\w.]*[\]=])", "", text, flags=re.MULTILINE)
    for pattern in ("host", "certificate", "private_key", "proxies", "impossible"):
        free = re.sub(rf"^{pattern} = .*$", "", free, flags=re.MULTILINE)
    (home / "u.toml").write_text(free.replace('"confidential"', '"public"'))
    whole = read_config(home / "u.toml")
    assert whole.limits == service.limits and whole.remote is service.remote
    for one in ("key_modulus", "most_variables", "most_cells", "small", "share", "each"):
        assert getattr(whole.data[0], one) == getattr(service.data[0], one), one
    assert service.data[0].presence == "confidential" and service.data[0].measures == ()
    assert whole.releases == service.releases
    firms = whole.data[1]
    assert firms.noise is None and firms.suppression.unit == "firm" and firms.questions == 100
    assert firms.suppression.judge("") == dk.rules.MinimumFrequency(3)
    assert "PPercent" in str(firms.suppression.judge("turnover"))
    (measure,) = whole.data[0].measures
    assert measure == type(measure)("income", unit="EUR", label="Income")


@posix
@pytest.mark.long
def test_a_service_that_is_killed_gives_the_same_answers_and_no_more(home):
    token = token_of(run("users", "add", "service.toml", "anne"))
    process, url = started()
    first = dk.connect(url, token=token).table("persons", ["sex", "town"])
    assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
    process, url = started()
    service = dk.connect(url, token=token)
    assert service.table("persons", ["sex", "town"]).equals(first)
    service.table("persons", ["job"])
    with pytest.raises(ServiceError, match="all 2 tables") as refused:
        service.table("persons", ["sex", "job"])
    assert refused.value.status == 403
    run("users", "revoke", "service.toml", "anne")  # holds at once
    with pytest.raises(ServiceError) as error:
        service.table("persons", ["job"])
    assert error.value.status == 401
    code, said = ended(process, signal.SIGTERM)
    assert code == 0 and said.splitlines()[-1] == "Stopped."
    history = run("serve", "service.toml", "--history")
    happened = re.findall(r"(?:anne|): (asked|answered|refused|started|stopped)", history)
    assert happened.count("started") == 2 and happened.count("stopped") == 1
    assert happened.count("asked") == 2 and happened.count("refused") == 1
    assert token.split("_", 2)[2][:40] not in history
