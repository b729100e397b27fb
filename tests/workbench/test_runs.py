"""A run at the workbench is the command: same bytes, told how far it is, and stopped."""

import os
import re
import signal
import subprocess
import sys
import time

import httpx
import pytest
from benches import client, draft, opened, records

from diskret.workbench.bench import RUNNING, TRIAL, Bench
from diskret.workbench.gate import TOKEN
from diskret.workbench.session import DRAFT

COMMAND = [sys.executable, "-c", "from diskret.cli import run; run()"]


def keys_of(own):
    """The office's keys, the same for the page and the command line."""
    return own.session.folder.parent / "keys-of-both"


def ended(page, path="/api/run"):
    for _ in range(3000):
        told = page.get(path).json()
        if told["state"] != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("it does not end")


def files(folder):
    return {one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture(scope="module")
def protected(tmp_path_factory):
    own, page = opened(tmp_path_factory.mktemp("run"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISKRET_KEYS", str(keys_of(own)))
        assert page.post("/api/protect").status_code == 200
    told = ended(page)
    assert told["state"] == "done", told
    return own, page, told


@pytest.mark.long
def test_the_saved_job_makes_the_same_bytes_on_the_command_line(protected):
    own, page, told = protected
    folder = own.session.folder
    first = files(folder / "out")
    assert page.post("/api/save", json={"name": "job.toml"}).status_code == 200
    command = [*COMMAND, "protect", "job.toml", "--folder", "again"]
    env = {**os.environ, "DISKRET_KEYS": str(keys_of(own))}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=env)
    assert files(folder / "again") == first
    assert {str(one) for one in first} >= {"public/turnover.csv", "internal/turnover.cells.csv"}
    assert told["files"]["public"] == sorted(p.name for p in (folder / "out" / "public").iterdir())


@pytest.mark.long
def test_states_are_those_of_the_released_table(protected):
    own, page, _ = protected
    told = page.get("/api/table").json()
    assert told["protected"]
    public = (
        (own.session.folder / "out" / "public" / "turnover.csv").read_text("utf-8").splitlines()
    )
    hidden = [line.endswith("suppressed") or ",suppressed" in line for line in public[1:]]
    assert [one in "PS" for one in told["states"]] == hidden
    assert "P" in told["states"] and "S" in told["states"]


@pytest.mark.long
def test_a_secondary_is_told_why_and_what_everybody_can_tell(protected):
    _, page, _ = protected
    states = page.get("/api/table").json()["states"]
    cell = page.get(f"/api/cell?at={states.index('S')}").json()
    low, high = cell["interval"]
    assert low <= cell["value"] <= high
    assert cell["why"] and all(len(one["for"]) == 2 for one in cell["why"])
    unsafe = page.get(f"/api/cell?at={states.index('P')}").json()
    assert unsafe["levels"]["lower"] > 0 and unsafe["rule"]
    attack = page.get("/api/attack").json()["cells"]
    assert {one["at"] for one in attack} == {at for at, one in enumerate(states) if one in "PS"}
    assert all(one["lower"] <= one["value"] <= one["upper"] for one in attack)


@pytest.mark.long
def test_what_else_must_go_if_a_cell_is_published(protected):
    own, page, _ = protected
    folder = own.session.folder
    before = files(folder / "out")
    states = page.get("/api/table").json()["states"]
    at = states.index("S")
    assert page.post("/api/whatif", json={"at": at}).status_code == 200
    told = ended(page, "/api/whatif")
    if told["state"] == "done":
        assert at in told["shown"]
        assert not any(states[one] in "PS" for one in told["hidden"])
    assert files(folder / "out") == before  # a trial changes nothing
    assert not (folder / TRIAL).exists() and page.get("/api/state").json()["draft"] == draft()


@pytest.mark.long
def test_what_a_run_has_hidden_is_told_with_its_rules(protected):
    _, page, _ = protected
    states = page.get("/api/table").json()["states"]
    (one,) = page.get("/api/run").json()["tries"]
    assert one["primaries"] == states.count("P") and one["secondaries"] == states.count("S")
    assert one["rules"] == "p_percent (p 10), minimum_frequency (n 3)"
    values = page.get("/api/table").json()["value"]
    hidden = sum(value for value, state in zip(values, states, strict=True) if state == "S")
    assert one["cost_of_secondaries"] == hidden


@pytest.mark.long
def test_states_of_a_run_are_not_shown_for_other_rules(protected):
    _, page, _ = protected
    page.put("/api/draft", json={"draft": draft(rules={"minimum_frequency": {"n": 90}})})
    told = page.get("/api/table").json()
    assert not told["protected"] and "S" not in told["states"]
    assert page.get("/api/attack").status_code == 422
    page.put("/api/draft", json={"draft": draft()})
    told = page.get("/api/table").json()
    assert told["protected"] and not told["stale"]
    codes = page.get(f"/api/cell?at={told['states'].index('.')}").json()["codes"]
    stay = [{"at": {one["name"]: one["code"] for one in codes}}]
    page.put("/api/draft", json={"draft": draft(frozen=stay)})
    assert page.get("/api/table").json()["stale"]
    page.put("/api/draft", json={"draft": draft()})


@pytest.mark.long
def test_several_tables_are_protected_together_and_each_has_its_states(tmp_path):
    own, page = opened(tmp_path)
    job = draft()
    counts = {"name": "firms", "by": {"code": "flat"}, "rules": {"minimum_frequency": {"n": 9}}}
    page.put("/api/draft", json={"draft": {**job, "tables": [*job["tables"], counts]}})
    page.post("/api/protect")
    assert ended(page)["state"] == "done"
    for index, name in enumerate(["turnover", "firms"]):
        told = page.get(f"/api/table?table={index}").json()
        assert told["name"] == name and told["protected"]
        lines = (tmp_path / "out" / "public" / f"{name}.csv").read_text("utf-8").splitlines()[1:]
        assert [one in "PS" for one in told["states"]] == [",suppressed" in one for one in lines]
    assert page.get("/api/table?table=2").status_code == 422
    own.close()


@pytest.mark.long
def test_a_refusal_is_told_and_nothing_is_written(tmp_path):
    _, page = opened(tmp_path)
    states = page.get("/api/table").json()["states"]
    codes = page.get(f"/api/cell?at={states.index('P')}").json()["codes"]
    frozen = [{"at": {one["name"]: one["code"] for one in codes}}]
    page.put("/api/draft", json={"draft": draft(frozen=frozen)})
    page.post("/api/protect")
    told = ended(page)
    assert told["state"] == "failed" and told["messages"]
    assert not (tmp_path / "out").exists() and not (tmp_path / RUNNING).exists()


@pytest.mark.long
def test_a_run_is_stopped_and_leaves_nothing(tmp_path):
    own, page = opened(tmp_path)
    page.post("/api/protect")
    assert page.post("/api/protect").status_code == 422  # one at a time
    assert page.post("/api/cancel").json()["state"] == "cancelled"
    own.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == [DRAFT, "firms.csv"]


def test_nothing_is_attacked_before_it_is_protected(tmp_path):
    records(tmp_path)
    page = client(Bench(tmp_path))
    page.put("/api/draft", json={"draft": draft()})
    answer = page.get("/api/attack")
    assert answer.status_code == 422 and "nothing has been protected" in answer.json()["error"]


def test_a_draft_that_is_no_job_is_not_run(tmp_path):
    _, page = opened(tmp_path)
    page.put("/api/draft", json={"draft": draft(by={"nothing": "unknown"})})
    assert page.post("/api/protect").status_code == 422
    assert page.get("/api/run").json()["state"] == "none"


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_workbench_that_is_stopped_ends_its_run_and_leaves_only_the_draft(tmp_path, number):
    records(tmp_path, rows=3_000)
    process = subprocess.Popen(
        [*COMMAND, "workbench", str(tmp_path), "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    url = re.findall(r"http\S+", process.stdout.readline())[0]
    base, _, token = url.partition("/#token=")
    headers = {TOKEN: token}
    httpx.put(f"{base}/api/draft", json={"draft": draft()}, headers=headers, trust_env=False)
    httpx.post(f"{base}/api/protect", headers=headers, timeout=60, trust_env=False)
    assert (tmp_path / RUNNING).exists()
    process.send_signal(number)
    assert process.wait(20) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == [DRAFT, "firms.csv"]
