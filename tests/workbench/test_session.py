"""The draft of a job: written and read again, undone, and kept over a crash."""

import errno
import os
import re
import stat
import tomllib
from pathlib import Path

import pytest
from benches import draft, records
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import JobError
from diskret.jobs.read import read_job
from diskret.workbench.bench import Bench
from diskret.workbench.draft import draft_text, read_draft
from diskret.workbench.session import DRAFT, Session

NAMES = st.sampled_from(["a", "a b", "rules", "ä", 'q"', "1", "a.b", "="])
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
) | st.sampled_from(["'''", '"', "\\", "\n#x", "[tables]"])
PLAIN = TEXTS | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@examples(150)
@given(st.dictionaries(NAMES | st.just("tables"), VALUES, max_size=4))
def test_what_is_written_is_read_again(content):
    assert tomllib.loads(draft_text(content)) == content


def test_the_job_file_is_one_that_people_read(tmp_path):
    text = draft_text(draft())
    assert "[[tables]]\n" in text and "\n[tables.rules]\np_percent = { p = 10 }\n" in text
    records(tmp_path)
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    assert read_job(tmp_path / "job.toml").tables[0].unit == "firm_id"


@pytest.mark.parametrize("text", ["a =", "when = 2025-01-01", "at = 12:00:00"])
def test_what_is_no_job_is_refused(tmp_path, text):
    with pytest.raises(JobError):
        read_draft(text, tmp_path / "job.toml")


def test_steps_are_undone_one_by_one_and_done_again(tmp_path):
    session = Session(tmp_path)
    for p in (1, 2, 3):
        session.put({"tables": [{"rules": {"p_percent": {"p": p}}}]})
    session.undo()
    session.undo()
    assert session.draft["tables"][0]["rules"] == {"p_percent": {"p": 1}}
    session.redo()
    assert session.draft["tables"][0]["rules"] == {"p_percent": {"p": 2}}
    session.put({"sums": []})
    assert session.can == {"undo": True, "redo": False}


def test_what_is_typed_is_one_step(tmp_path):
    session = Session(tmp_path)
    session.put({"sums": []})
    for p in (1, 10, 105):
        session.put({"sums": [str(p)]}, step="rules 0")
    session.undo()
    assert session.draft == {"sums": []}


def test_unsaved_work_is_there_after_a_crash_and_nobody_else_reads_it(tmp_path):
    Session(tmp_path).put(draft())  # never closed
    assert stat.S_IMODE(os.stat(tmp_path / DRAFT).st_mode) == 0o600
    again = Session(tmp_path)
    assert again.recovered and again.draft == draft()


def test_a_draft_that_names_files_elsewhere_is_not_recovered(tmp_path):
    (tmp_path / DRAFT).write_text('[records]\npath = "../x.csv"\n', encoding="utf-8")
    again = Session(tmp_path)
    assert not again.recovered and again.draft == {}


def test_saved_work_leaves_no_hidden_file(tmp_path):
    records(tmp_path)
    session = Session(tmp_path)
    session.put(draft())
    assert not session.saved
    path = session.save("job.toml")
    assert session.saved and not (tmp_path / DRAFT).exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    session.job()  # needs the hidden file again
    session.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["firms.csv", "job.toml"]


def test_unsaved_work_stays_when_the_workbench_is_closed(tmp_path):
    session = Session(tmp_path)
    session.put(draft())
    session.close()
    assert (tmp_path / DRAFT).exists()


def test_a_folder_that_takes_no_change_is_named_and_the_workbench_closes(tmp_path, monkeypatch):
    """On such a disk even a file that is not there cannot be removed."""

    def refuses(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "a stage")

    own = Bench(tmp_path)
    monkeypatch.setattr("diskret.jobs.text_files.new_file", refuses)
    monkeypatch.setattr(Path, "unlink", refuses)
    with pytest.raises(JobError, match=re.escape(f"{tmp_path / DRAFT}: cannot be written (Read-")):
        own.session.put({"records": {"path": "firms.csv"}})
    own.close()
