"""Records that leave themselves: their risk by hand, the same bytes as the command, compared."""

import csv
import os
import random
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest
from benches import client

from diskret.workbench.bench import Bench

COMMAND = [sys.executable, "-c", "from diskret.cli import run; run()"]
JOB: dict[str, Any] = {
    "records": {"path": "persons.csv"},
    "roles": {"keys": ["region", "sex", "age"]},
    "steps": [{"do": "local_suppression", "k": 3}],
    "release": {"folder": "out", "formats": ["csv"], "claims": {"k_anonymity": {"k": 3}}},
}


@pytest.fixture
def bench(tmp_path):
    draw = random.Random(3)
    with (tmp_path / "persons.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["region", "sex", "age", "income"])
        for _ in range(300):
            region, sex = draw.choice("NSWO"), draw.choice("fm")
            lines.writerow([region, sex, min(9, int(draw.expovariate(0.5))), draw.randrange(9_999)])
    own = Bench(tmp_path)
    page = client(own)
    assert page.put("/api/draft", json={"draft": JOB}).status_code == 200
    yield own, page
    own.close()


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_the_risk_is_counted_from_the_records(bench, k):
    own, page = bench
    alike = [
        tuple(row[key] for key in ("region", "sex", "age"))
        for row in rows(own.session.folder / "persons.csv")
    ]
    many = Counter(alike)
    told = page.get(f"/api/risk?k={k}").json()
    assert told["below"] == sum(many[one] < k for one in alike) > 0
    assert told["uniques"] == sum(many[one] == 1 for one in alike)
    assert told["expected"] == pytest.approx(len(many))  # 1/f each, without weights
    assert sum(one["records"] for one in told["groups"]) == told["records"] == 300


def test_rounded_numbers_are_counted_as_such(bench):
    own, page = bench
    job = {**JOB, "steps": [{"do": "recode", "variable": "age", "width": 5}, *JOB["steps"]]}
    page.put("/api/draft", json={"draft": job})
    kept = rows(own.session.folder / "persons.csv")
    alike = [(row["region"], row["sex"], (int(row["age"]) + 2) // 5) for row in kept]
    many = Counter(alike)
    told = page.get("/api/risk?k=12").json()
    assert told["below"] == sum(many[one] < 12 for one in alike) > 0


def test_a_table_is_not_asked_of_records(bench):
    _, page = bench
    assert page.get("/api/table").status_code == 422
    assert page.get("/api/compare").status_code == 422


@pytest.mark.long
def test_the_job_makes_the_same_bytes_on_the_command_line_and_is_compared(bench, tmp_path):
    _, page = bench
    told = page.post("/api/protect").json()
    for _ in range(600):
        told = page.get("/api/run").json()
        if told["state"] != "running":
            break
        time.sleep(0.1)
    assert told["state"] == "done", told
    page.post("/api/save", json={"name": "job.toml"})
    command = [*COMMAND, "anonymize", "job.toml", "--folder", "again"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env={**os.environ})
    for part in ("public", "internal"):
        for path in (tmp_path / "out" / part).iterdir():
            assert (tmp_path / "again" / part / path.name).read_bytes() == path.read_bytes()
    released = rows(tmp_path / "out" / "public" / "microdata.csv")
    for one in page.get("/api/compare").json():
        now = Counter(row[one["name"]] for row in released)
        assert one["missing"] == {"before": 0, "after": now[""]}
        assert {code["code"]: code["after"] for code in one["codes"]} == {
            code["code"]: now[code["code"]] for code in one["codes"]
        }
