"""Attacks with chosen knowledge at the workbench, judged by what the records leave open."""

import time

import pytest
from benches import draft, opened

import diskret as dk
from diskret.workbench.bench import REHEARSAL


def ended(page, path):
    for _ in range(3000):
        told = page.get(path).json()
        if told["state"] != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("it does not end")


@pytest.fixture
def bench(tmp_path):
    return opened(tmp_path)


def test_before_protection_a_cell_that_is_alone_in_its_row_is_computed(bench):
    _, page = bench
    page.put("/api/draft", json={"draft": draft(rules={"minimum_frequency": {"n": 3}})})
    told = page.post("/api/attack", json={"table": 0, "hidden": "rules"}).json()["cells"]
    states = page.get("/api/table").json()["states"]
    assert {one["at"] for one in told} == {at for at, one in enumerate(states) if one == "P"}
    hidden = {tuple(one["codes"]) for one in told}
    for one in told:
        code, size = one["codes"]
        alone = sum(other[0] == code for other in hidden) == 1
        alone |= sum(other[1] == size for other in hidden) == 1
        if alone:  # the total of its row or column shows it
            assert one["lower"] == one["upper"] == one["value"] and one["close"]
    assert any(one["close"] for one in told)


def test_who_knows_values_before_knows_no_less(bench):
    _, page = bench
    page.put("/api/draft", json={"draft": draft(rules={"minimum_frequency": {"n": 30}})})
    asked = {"table": 0, "hidden": "rules"}
    free = {one["at"]: one for one in page.post("/api/attack", json=asked).json()["cells"]}
    asked["relative"] = 20
    known = {one["at"]: one for one in page.post("/api/attack", json=asked).json()["cells"]}
    assert free.keys() == known.keys() and len(free) > 2
    for at, one in known.items():
        assert free[at]["lower"] <= one["lower"] <= one["value"] <= one["upper"]
        assert one["upper"] <= 1.2 * one["value"] + 1
        assert free[at]["upper"] is None or one["upper"] <= free[at]["upper"]


def test_a_table_that_would_keep_the_page_waiting_is_not_attacked_in_it(bench, monkeypatch):
    monkeypatch.setattr("diskret.workbench.attacks.MOST", 27)
    answer = bench[1].post("/api/attack", json={"table": 0, "hidden": "rules"})
    assert answer.status_code == 422 and "by a run only" in answer.json()["error"]


@pytest.mark.long
def test_a_dry_run_of_a_draft_enters_nothing_and_tells_what_the_run_would_do(tmp_path):
    own, page = opened(tmp_path)
    page.post("/api/ledger", json={"name": "releases.db"})
    page.post("/api/protect")
    assert ended(page, "/api/run")["state"] == "done"
    before = (tmp_path / "releases.db").read_bytes()
    other = draft(by={"code": "flat"}, name="by_code")
    other["output"] |= {"ledger": "releases.db", "folder": "second"}
    page.put("/api/draft", json={"draft": other})
    page.post("/api/ledger/rehearsal")
    told = ended(page, "/api/ledger/rehearsal")
    assert told["state"] == "done", told
    assert (tmp_path / "releases.db").read_bytes() == before
    assert not (tmp_path / "second").exists() and not (tmp_path / REHEARSAL).exists()
    assert len(dk.Ledger(tmp_path / "releases.db").releases()) == 1
    page.post("/api/protect")
    done = ended(page, "/api/run")
    (now, _) = done["tries"]
    (then,) = told["tables"]
    keys = ("name", "primaries", "secondaries")
    assert [then[key] for key in keys] == [now[key] for key in keys]
    assert len(dk.Ledger(tmp_path / "releases.db").releases()) == 2
    # the name is taken by now, and the dry run says so as the run would
    page.post("/api/ledger/rehearsal")
    refused = ended(page, "/api/ledger/rehearsal")
    assert refused["state"] == "failed" and "second" in "".join(refused["messages"])
    own.close()


def test_without_a_ledger_there_is_no_dry_run(bench):
    assert bench[1].post("/api/ledger/rehearsal").status_code == 422
