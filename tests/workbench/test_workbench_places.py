"""Files are opened below the folder that was named, and nowhere else."""

import ast
import os

import pytest
from benches import client, draft, opened, records
from source import trees

from diskret.errors import InputError
from diskret.workbench.bench import Bench
from diskret.workbench.places import NAMING, check_places, inside, listed


@pytest.fixture
def folder(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    records(outside)
    (outside / "job.toml").write_text("[records]\n", encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir()
    records(own)
    os.symlink(outside / "firms.csv", own / "leads_out.csv")
    os.symlink(outside, own / "out_there")
    os.symlink(own / "firms.csv", own / "leads_in.csv")
    return own.resolve()


ELSEWHERE = [
    "../outside/firms.csv",
    "/etc/passwd",
    "leads_out.csv",
    "out_there/firms.csv",
    "a/../../outside/firms.csv",
    "firms.csv\0.csv",
    "postgresql://somewhere/else",
]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_lies_elsewhere_is_refused(folder, name):
    with pytest.raises(InputError, match="is not below the folder"):
        inside(folder, name)
    answer = client(Bench(folder)).post("/api/open", json={"path": name})
    assert answer.status_code == 422 and "is not below the folder" in answer.json()["error"]


def test_links_count_as_what_they_lead_to(folder):
    assert inside(folder, "leads_in.csv") == folder / "firms.csv"
    assert [one["name"] for one in listed(folder, "")] == ["firms.csv", "leads_in.csv"]


def test_hidden_files_are_not_listed(folder):
    (folder / ".secret.csv").write_text("a\n", encoding="utf-8")
    assert ".secret.csv" not in [one["name"] for one in listed(folder, "")]


@pytest.mark.parametrize(
    "change",
    [
        {"records": {"path": "../outside/firms.csv"}},
        {"output": {"folder": "../outside"}},
        {"output": {"folder": "/tmp/elsewhere"}},
        {"output": {"ledger": "postgresql://a/b"}},
        {"output": {"template": "../outside/t.xlsx"}},
        {"hierarchies": {"code": {"file": "../outside/t.hrc"}}},
        {"hierarchies": {"code": {"file": "t.hrc", "labels": {"de": "../outside/t.csv"}}}},
        {"tables": [{"previous": "../outside"}]},
        {"tables": [{"rules": {"apriori": {"file": "../outside/t.hst"}}}]},
        {"derived": [{"earlier": ["in", "../outside"]}]},
        {"records": {"url": "postgresql://clerk@db.example/register", "table": "firms"}},
    ],
)
def test_a_draft_that_names_something_elsewhere_is_refused(folder, change):
    with pytest.raises(InputError):
        check_places(folder, {**draft(), **change})


def test_every_key_that_jobs_read_as_a_file_is_known():
    """Otherwise a draft could name a file elsewhere under that key."""
    found = set()
    for path, tree in trees().items():
        if path.parent.name != "jobs":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "existing_file":
                found |= {one.value for one in node.args[:1] if isinstance(one, ast.Constant)}
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                right = node.right
                if isinstance(right, ast.Call) and getattr(right.func, "attr", "") == "text":
                    found |= {one.value for one in right.args[:1] if isinstance(one, ast.Constant)}
    assert {"file", "previous", "folder", "template"} <= found
    of_programmes_and_microdata = {"job", "checkpoint"}
    assert found - NAMING - of_programmes_and_microdata == set()


def test_a_job_of_another_folder_is_not_opened(tmp_path):
    _, page = opened(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "job.toml").write_text("[records]\n", encoding="utf-8")
    answer = page.post("/api/open", json={"path": "below/job.toml"})
    assert answer.status_code == 422 and "start the workbench there" in answer.json()["error"]


@pytest.mark.parametrize("name", ["../job.toml", "a/job.toml", ".hidden.toml", "job.txt", ""])
def test_job_files_are_saved_into_the_folder_itself(tmp_path, name):
    _, page = opened(tmp_path)
    answer = page.post("/api/save", json={"name": name})
    assert answer.status_code == 422 and "is no name of a job file" in answer.json()["error"]
