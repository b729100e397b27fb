"""Commands call the public verbs, show their results, and end with the right exit code."""

import errno
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from diskret import __version__
from diskret.cli.command import Language, reported
from diskret.cli.main import app
from diskret.errors import (
    AdditivityError,
    ContradictionError,
    InputError,
    JobError,
    KeyFileError,
    ProofError,
    ProtectionError,
    VerificationError,
    said_of,
)
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published

JOB = """\
[records]
path = "firms.csv"
[[tables]]
by = { region = "flat" }
rules = { minimum_frequency = { n = 3 } }
[output]
folder = "written"
"""


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert "Traceback" not in result.output or "--debug" in arguments
    return result


def words(text: str) -> str:
    """Text without the frames and line breaks that the terminal's width decides."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


class Verb:
    """Stands in for a verb: remembers its arguments, gives or raises what it was told to."""

    def __init__(self, outcome: Any):
        self.outcome = outcome
        self.called: dict[str | int, Any] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.called = {**dict(enumerate(arguments)), **named}
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def stand_in(monkeypatch: pytest.MonkeyPatch, module: str, name: str, outcome: Any) -> Verb:
    verb = Verb(outcome)
    monkeypatch.setattr(import_module(f"diskret.{module}"), name, verb)
    return verb


def result() -> Any:
    tree = Hierarchy.flat(["N", "S", "W"])
    published = Published(
        name="turnover",
        dimensions=(Dimension("region", tree),),
        measure="turnover",
        frequency=False,
        decimals=0,
        value=np.array([3_000, 0, 0, 1_000]),
        suppressed=np.array([False, True, True, False]),
        empty=np.zeros(4, dtype=bool),
    )
    lines = {"en": ["1 primary (internal)"], "de": ["1 primär (intern)"]}
    return SimpleNamespace(
        published=published,
        certificate=SimpleNamespace(summary=lines.__getitem__),
        settings={},
        losses=lambda language: (),
        table=SimpleNamespace(recomputed=()),
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text("region\nN\n", encoding="utf-8")
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    return path


@pytest.fixture
def written(tmp_path: Path) -> Path:
    for name in ("public/turnover.csv", "internal/turnover.cells.csv"):
        (tmp_path / "out" / name).parent.mkdir(parents=True)
        (tmp_path / "out" / name).touch()
    return tmp_path / "out"


# ── demo ────────────────────────────────────────────────────────────────────────────


def test_demo_shows_table_certificate_and_files(monkeypatch: pytest.MonkeyPatch, written: Path):
    verb = stand_in(monkeypatch, "jobs.demo", "run_demo", (written, [result()]))
    done = run("demo", "--folder", str(written), "--firms", "500", "--seed", "7")
    assert done.exit_code == 0, done.output
    assert list(verb.called.values())[:4] == [written, 500, 7, "en"]
    for expected in ["3,000", " . ", "1 primary (internal)", "turnover.csv", "turnover.cells.csv"]:
        assert expected in done.output
    assert "Stays in the office" in done.output


def test_demo_in_german(monkeypatch: pytest.MonkeyPatch, written: Path):
    verb = stand_in(monkeypatch, "jobs.demo", "run_demo", (written, [result()]))
    done = run("demo", "--language", "de")
    assert verb.called[3] == "de"
    assert "1 primär (intern)" in done.output
    assert "Bleibt im Haus" in done.output


# ── protect ─────────────────────────────────────────────────────────────────────────


def test_protect_carries_out_the_job(monkeypatch: pytest.MonkeyPatch, job: Path, written: Path):
    verb = stand_in(monkeypatch, "jobs.run", "run_job", (written, [result()]))
    done = run("protect", str(job))
    assert done.exit_code == 0, done.output
    assert verb.called[0].output.folder == job.parent / "written"
    assert verb.called["folder"] is None
    assert "3,000" in done.output


def test_protect_writes_elsewhere(monkeypatch: pytest.MonkeyPatch, job: Path, written: Path):
    verb = stand_in(monkeypatch, "jobs.run", "run_job", (written, [result()]))
    run("protect", str(job), "--folder", str(written))
    assert verb.called["folder"] == written


def test_protect_speaks_and_marks_as_the_job_says(
    monkeypatch: pytest.MonkeyPatch, job: Path, written: Path
):
    stand_in(monkeypatch, "jobs.run", "run_job", (written, [result()]))
    options = 'language = "de"\nsymbols = "eurostat"\n'
    job.write_text(JOB + options, encoding="utf-8")
    done = run("protect", str(job))
    assert "1 primär (intern)" in done.output
    assert " :C " in done.output
    assert "1 primary" in run("protect", str(job), "--language", "en").output


def test_protect_names_the_line_of_a_wrong_job(monkeypatch: pytest.MonkeyPatch, job: Path):
    stand_in(monkeypatch, "jobs.run", "run_job", None)
    job.write_text(JOB.replace("n = 3", "n = 0"), encoding="utf-8")
    done = run("protect", str(job))
    assert done.exit_code == 1
    assert "line 5" in done.stderr


def test_protect_prints_a_template():
    done = run("protect", "--template")
    assert done.exit_code == 0
    assert "[[tables]]" in done.stdout.splitlines()


def test_protect_needs_a_job():
    done = run("protect")
    assert done.exit_code == 2
    assert "--template" in words(done.stderr)


# ── verify ──────────────────────────────────────────────────────────────────────────


def report(inside: bool) -> Any:
    return SimpleNamespace(
        tables=("turnover", "firms"),
        suppressed=1234,
        checked_internal=inside,
        sealed=inside,
        lines=("fine",),
    )


@pytest.mark.parametrize("inside", [True, False])
def test_verify_says_what_was_checked(monkeypatch: pytest.MonkeyPatch, inside: bool):
    verb = stand_in(monkeypatch, "publish.verify.folder", "verify", report(inside))
    done = run("verify", "out")
    assert done.exit_code == 0
    assert (verb.called[0], verb.called[1]) == (Path("out"), None)
    assert "Verified: turnover, firms. 1,234 suppressed cells attacked again." in done.output
    assert ("Only the public files" in done.output) is not inside


def test_verify_looks_for_internal_files_where_told(monkeypatch: pytest.MonkeyPatch):
    verb = stand_in(monkeypatch, "publish.verify.folder", "verify", report(True))
    run("verify", "out", "--internal", "safe")
    assert verb.called[1] == Path("safe")


# ── audit ───────────────────────────────────────────────────────────────────────────


def findings(exact: int, outer: int = 0) -> Any:
    frame = pa.table(
        {"region": ["N", "S"], "lower": [5, 0], "upper": pa.array([5 if exact else 9, None])}
    )
    return SimpleNamespace(
        cells=4, suppressed=2, exact=exact, outer=outer, frame=frame, lines=("4 cells",)
    )


def test_audit_passes_trees_and_symbols_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    verb = stand_in(monkeypatch, "protect.audit", "audit", findings(0))
    table = tmp_path / "table.csv"
    table.write_text("region,size,n\n01,Alle,7\n02,1,x\nAlle,Alle,9\n", encoding="utf-8")
    (tmp_path / "region.hrc").write_text("01\n02\n", encoding="utf-8")
    done = run(
        *["audit", str(table), "--value", "n", "--by", f"region={tmp_path / 'region.hrc'}"],
        *["--by", "size=flat", "--total", "Alle", "--suppressed", "x", "--suppressed", "."],
        "--frequency",
    )
    assert done.exit_code == 0, done.output
    assert Path(verb.called[0].path) == table
    trees = verb.called[1]
    assert {name: tree.codes for name, tree in trees.items()} == {
        "region": ("Alle", "01", "02"),
        "size": ("Alle", "1"),
    }
    assert verb.called[2] == "n"
    assert verb.called["suppressed"] == ["x", "."]
    assert verb.called["frequency"] is True
    assert "any" in done.output


def test_audit_refuses_a_table_that_can_be_recomputed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    stand_in(monkeypatch, "protect.audit", "audit", findings(1))
    table = tmp_path / "table.csv"
    table.write_text("region,n\nN,1\n", encoding="utf-8")
    done = run("audit", str(table), "--value", "n", "--by", "region=flat")
    assert done.exit_code == 3
    assert "do not publish" in done.output


def test_audit_calls_no_table_safe_of_which_it_knows_outer_bounds_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    verb = stand_in(monkeypatch, "protect.audit", "audit", findings(0, outer=2))
    table = tmp_path / "table.csv"
    table.write_text("region,n\nN,1\n", encoding="utf-8")
    done = run(*["audit", str(table), "--value", "n", "--by", "region=flat", "--time-limit", "1"])
    assert done.exit_code == 0 and verb.called["time_limit"] == 1
    assert "of 2 only outer bounds" in words(done.output)
    assert "No suppressed cell can" not in done.output


@pytest.mark.parametrize("by", ["region", "=flat", "region="])
def test_audit_explains_how_to_name_a_tree(by: str):
    done = run("audit", "table.csv", "--value", "n", "--by", by)
    assert done.exit_code == 2
    assert "COLUMN=flat" in words(done.stderr)


def test_audit_says_what_to_do_as_options(tmp_path: Path):
    def said(content: bytes, *by: str) -> str:
        (tmp_path / "t.csv").write_bytes(content)
        asked = ["audit", str(tmp_path / "t.csv"), "--value", "n", "--by", *by]
        return words(run(*asked).output)

    assert "are there under another: --total" in said(b"r,n\nAll,7\nN,.\nS,.\n", "r=flat")
    assert '--encoding="cp1252"' in said("r,n\nTotal,7\nSüd,.\n".encode("latin-1"), "r=flat")
    assert "t.csv: there is no column 'q'" in said(b"r,n\nTotal,7\n", "q=flat")


def test_audit_of_a_missing_file_is_bad_input(monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, "protect.audit", "audit", None)
    done = run("audit", "nothing.csv", "--value", "n", "--by", "a=flat")
    assert done.exit_code == 1
    assert "nothing.csv" in done.stderr


# ── how commands end ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("no such column"), 1),
        (JobError("line 3"), 1),
        (AdditivityError("not additive"), 1),
        (KeyFileError("readable by others"), 1),
        (ContradictionError("contradiction"), 1),
        (PermissionError(13, "Permission denied", "/data/out"), 1),
        (ProofError("not proven"), 3),
        (ProtectionError("frozen cells"), 3),
        (VerificationError("changed"), 3),
    ],
)
def test_errors_become_a_message_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
):
    stand_in(monkeypatch, "jobs.demo", "run_demo", error)
    done = run("demo")
    assert done.exit_code == code
    assert said_of(error) in done.stderr
    assert done.stdout == ""


def test_a_mistake_in_the_program_gives_no_values_away(monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, "jobs.demo", "run_demo", KeyError("secret firm 4711"))
    done = run("demo")
    assert done.exit_code == 1
    assert "KeyError" in done.stderr
    assert "4711" not in done.output


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, "jobs.demo", "run_demo", KeyError("secret firm 4711"))
    done = run("demo", "--debug")
    assert "Traceback" in done.stderr
    assert "test_commands.py" in done.stderr


def test_warnings_are_shown_without_source_lines(monkeypatch: pytest.MonkeyPatch, written: Path):
    import warnings

    def warn(*arguments: Any, **named: Any) -> Any:
        warnings.warn("the (1,k) rule is obsolete", stacklevel=1)
        return written, [result()]

    monkeypatch.setitem(sys.modules, "diskret.jobs.demo", SimpleNamespace(run_demo=warn))
    done = run("demo")
    assert done.stderr == "Warning: the (1,k) rule is obsolete\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--firms", "0"],
        ["demo", "--language", "fr"],
        ["prtect"],
        ["verify"],
        ["audit", "x"],
    ],
)
def test_wrong_usage(arguments: list[str]):
    assert run(*arguments).exit_code == 2


def test_version():
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"diskret {__version__}\n")


def test_help_names_commands_and_exit_codes():
    done = run("--help")
    assert done.exit_code == 0
    for word in ["demo", "protect", "verify", "audit", "3 a claim could not be proven"]:
        assert word in words(done.stdout)


@pytest.mark.parametrize(
    ("language", "says"),
    [
        (Language.en, "Error: x.csv: cannot be read or written (No space left on device)"),
        (Language.de, "Fehler: x.csv: lässt sich nicht lesen oder schreiben (kein Platz"),
    ],
)
def test_an_error_of_the_system_is_told_with_its_file(capsys, language, says):
    with pytest.raises(typer.Exit), reported(language, debug=False):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.csv")
    assert capsys.readouterr().err.startswith(says)
