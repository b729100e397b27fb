"""The ledger at the workbench: what is entered, what is tied to it, and a dry run."""

import time

import pyarrow as pa
import pytest
from benches import draft, opened

import diskret as dk
from diskret.workbench.bench import Bench


def ended(page, path):
    for _ in range(3000):
        told = page.get(path).json()
        if told["state"] != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("it does not end")


def test_a_new_ledger_is_made_in_the_folder_and_named_in_the_job(tmp_path):
    _, page = opened(tmp_path)
    assert page.get("/api/ledger").status_code == 422
    made = page.post("/api/ledger", json={"name": "releases.db"}).json()
    assert made["draft"]["output"]["ledger"] == "releases.db"
    assert dk.Ledger(tmp_path / "releases.db").releases() == []
    assert page.get("/api/ledger").json() == []


@pytest.mark.parametrize("name", ["../releases.db", ".hidden.db", "a/b.db", "firms.csv", ""])
def test_ledgers_are_made_nowhere_else(tmp_path, name):
    _, page = opened(tmp_path)
    answer = page.post("/api/ledger", json={"name": name})
    assert answer.status_code == 422 and "no name of a ledger" in answer.json()["error"]


@pytest.mark.long
def test_what_is_released_is_entered_and_tied_and_tried(tmp_path):
    own, page = opened(tmp_path)
    page.post("/api/ledger", json={"name": "releases.db"})
    page.post("/api/protect")
    assert ended(page, "/api/run")["state"] == "done"
    (release,) = page.get("/api/ledger").json()
    (table,) = release["tables"]
    assert release["name"] == "out" and table["variables"] == ["code", "size"]
    assert table["tied"] == ["turnover"] and table["suppressed"] > 0
    other = draft(vintage="2031")
    other["output"]["ledger"] = "releases.db"
    page.put("/api/draft", json={"draft": other})
    assert page.get("/api/ledger").json()[0]["tables"][0]["tied"] == []
    page.post("/api/ledger/check")
    told = ended(page, "/api/ledger/check")
    assert told["state"] == "done" and told["messages"]
    assert len(dk.Ledger(tmp_path / "releases.db").releases()) == 1  # a dry run enters nothing
    own.close()


@pytest.mark.long
def test_a_release_that_would_open_an_earlier_one_is_told(tmp_path):
    """Two tables of the same cells, each with other cells hidden, would open each other."""
    own, page = opened(tmp_path)
    page.post("/api/protect")
    ended(page, "/api/run")
    states = page.get("/api/table").json()["states"]
    frozen = page.get(f"/api/cell?at={states.index('S')}").json()["codes"]
    ledger = dk.Ledger.create(tmp_path / "releases.db")
    table = dk.tabulate(
        tmp_path / "firms.csv", by={"code": None, "size": None}, value="turnover", unit="firm_id"
    )
    rule = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
    stay = pa.Table.from_pylist([{one["name"]: one["code"] for one in frozen}])
    first = dk.suppress(table, rule, name="first", frozen=stay)
    ledger.publish(first, tmp_path / "first", ["csv"], name="first")
    now = draft()
    now["output"]["ledger"] = "releases.db"
    page.put("/api/draft", json={"draft": now})
    page.post("/api/ledger/check")
    told = ended(page, "/api/ledger/check")
    assert told["state"] == "failed" and "first" in "\n".join(told["messages"])
    assert isinstance(own, Bench)
