"""The snapshots are the same in every run, and what differs is found."""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest

from diskret.anonymize.verb import VERBS
from snapshots import releases
from snapshots.compare import main as compare
from snapshots.persons import CALLS, NOT_REPEATABLE
from snapshots.releases import CASES
from snapshots.running import refused

ROOT = Path(__file__).parents[2]
#: One with a ledger, one that is refused, one of the command line.
FEW = ("ledger", "microdata-release-refused", "job-counts-de")


pytestmark = pytest.mark.xdist_group("snapshots")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The cases in this process, whatever it did before."""
    folder = tmp_path_factory.mktemp("one")
    with patch.object(tempfile, "tempdir", str(folder.parent)):
        assert releases.main(folder, [*FEW], 1) == 0
    return folder


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """The same cases in another process, on 16 cores."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "snapshots.releases", "--threads", "16", str(folder), *FEW]
    paths = f"{ROOT / 'src'}:{ROOT / 'tests'}"
    own = {"PYTHONPATH": paths, "TMPDIR": str(folder.parent)}
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.long
def test_two_runs_are_the_same(here, apart, capsys):
    assert compare(here, apart) == 0, capsys.readouterr().out
    ledger = (here / "ledger/releases.txt").read_text("utf-8")
    assert "2026-01-02T03:04:05+00:00" in ledger
    assert "exit 0" in (here / "job-counts-de/protect.txt").read_text("utf-8")
    assert "Error" in refused(here / "microdata-release-refused")


def test_a_difference_is_found(here, capsys, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(here, other)
    (other / "ledger/list.en.txt").write_text("something else", encoding="utf-8")
    (other / "ledger/show.en.txt").unlink()
    assert compare(here, other) == 1
    said = capsys.readouterr().out
    assert "ledger/list.en.txt: differs" in said
    assert "ledger/show.en.txt: only in the old one" in said


@pytest.mark.parametrize("program", ["everywhere", "releases"])
def test_a_word_that_is_in_no_name_is_an_error(program, capsys, monkeypatch, tmp_path):
    """Nothing compared would look like nothing that differs."""
    words = ["python", "--kinds"] if program == "everywhere" else []
    monkeypatch.setattr(sys, "argv", [program, str(tmp_path), *words, "ledger", "legder"])
    monkeypatch.delitem(sys.modules, f"snapshots.{program}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"snapshots.{program}", run_name="__main__")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "no name has 'legder' in it" in said and "job-counts-de" in said
    assert not [*tmp_path.iterdir()]


def test_every_verb_of_microdata_is_there():
    assert {*VERBS} - NOT_REPEATABLE == {*CALLS}
    assert {f"microdata-{name}" for name in CALLS} <= {*CASES}
