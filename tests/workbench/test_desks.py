"""The checker's desk at the workbench: what waits is shown as the desk says it, and decided."""

import random

import pandas as pd
import pytest
from benches import client

import diskret as dk
from diskret.workbench.bench import Bench


def waiting(folder):
    """A ledger with a project, in which one result waits that passes, and one that does not."""
    draw = random.Random(5)
    firms = pd.DataFrame(
        {
            "region": [draw.choice("NSE") for _ in range(600)],
            "size": ["small"] * 597 + ["large"] * 3,
            "all": ["all"] * 600,
            "turnover": [round(draw.lognormvariate(3, 0.8), 1) for _ in range(600)],
        }
    )
    rules = dk.check.Profile(name="centre", threshold=10, p_percent=10)
    dk.Ledger.create(folder / "centre.db")
    project = dk.check.Project.create(
        "firms", folder / "centre.db", firms, profile=rules, who="Lee"
    )
    for name, column in (("large", "region"), ("all", "size")):
        mean = project.check(
            dk.check.crosstab, firms[column], firms["all"], values=firms.turnover, aggfunc="mean"
        )
        project.submit(mean, name, who="Kim")


@pytest.fixture
def page(tmp_path):
    waiting(tmp_path)
    return client(Bench(tmp_path, "de"))


def asked(**more):
    return {"place_of": "centre.db", "project": "firms", "result": "large", **more}


def test_what_waits_is_listed_as_the_desk_says_it(page, tmp_path):
    told = page.get("/api/desk?place_of=centre.db").json()
    items = dk.check.Desk(tmp_path / "centre.db").items("firms")
    assert [one["result"] for one in told] == [item.name for item in items] == ["large", "all"]
    assert {one["project"] for one in told} == {"firms"}


def test_a_result_is_shown_with_its_reasons_and_decided(page, tmp_path):
    told = page.get("/api/desk/result", params=asked()).json()
    desk = dk.check.Desk(tmp_path / "centre.db")
    assert told["summary"] == desk.judged("firms", "large").summary("de")
    assert any(file["text"] for file in told["files"]) and len(told["history"]) == 1
    after = page.post("/api/desk/result", json=asked(what="accept", who="Lee")).json()
    assert len(after["history"]) == 2 and "Lee" in after["history"][-1]
    assert desk.items("firms")[0].state == "accepted"


@pytest.mark.parametrize("what", ["accept", "refuse"])
def test_what_needs_a_reason_is_not_decided_without_one(page, tmp_path, what):
    answer = page.post("/api/desk/result", json=asked(result="all", what=what, who="Lee"))
    assert answer.status_code == 422 and answer.json()["error"]
    assert dk.check.Desk(tmp_path / "centre.db").items("firms")[1].state == "waiting"


def test_nothing_else_is_done(page):
    assert page.post("/api/desk/result", json=asked(what="release")).status_code == 422
    assert page.get("/api/desk?place_of=../centre.db").status_code == 422
    assert page.get("/api/desk?place_of=nothing.db").status_code == 422
