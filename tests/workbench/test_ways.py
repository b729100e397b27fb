"""Risk against loss at the workbench: figures of each way, computed again from what it writes."""

import csv
import time

import pyarrow as pa
import pytest
from benches import client, draft, opened, records

import diskret as dk
from diskret.errors import InputError
from diskret.workbench.bench import WAY, Bench
from diskret.workbench.session import DRAFT
from diskret.workbench.ways import varied


def ended(page):
    for _ in range(4500):
        told = page.get("/api/ways").json()
        if told["state"] != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("it does not end")


def test_a_way_changes_only_what_it_names():
    given = draft(frozen=[{"at": {"code": "A1", "size": "s"}}], cost="count")
    assert varied(given, {}) == given
    assert varied(given, {"method": "auto"}) == given
    assert varied(given, {"method": "hypercube"}) == draft(
        frozen=[{"at": {"code": "A1", "size": "s"}}], cost="count", method="hypercube"
    )
    noise = {"method": "controlled", "base": 5}
    assert varied(given, {"noise": noise}) == draft(noise=noise)
    assert varied(draft(noise=noise), {"method": "optimal"}) == draft(method="optimal")
    rules = {"p_percent": {"p": 20}, "minimum_frequency": {"n": 3}}
    assert varied(given, {"rule": "p_percent", "key": "p", "value": 20})["tables"][0]["rules"] == (
        rules
    )
    job = {
        "roles": {"keys": ["a"]},
        "steps": [
            {"do": "recode", "variable": "a", "width": 5},
            {"do": "local_suppression", "k": 3},
        ],
        "release": {"claims": {"k_anonymity": {"k": 3}}},
    }
    made = varied(job, {"k": 7})
    assert made["steps"] == [job["steps"][0], {"do": "local_suppression", "k": 7}]
    assert made["release"]["claims"] == {"k_anonymity": {"k": 7}}
    assert job["steps"][1] == {"do": "local_suppression", "k": 3}


@pytest.mark.parametrize("way", [{"k": "many"}, {"path": "/etc"}, {"method": 3}, {"rule": "pq"}])
def test_there_are_no_other_ways(way):
    with pytest.raises(InputError, match="no way to protect"):
        varied(draft(), way)


def test_ways_are_neither_none_nor_countless(tmp_path):
    _, page = opened(tmp_path)
    for ways in ([], [{}] * 17):
        answer = page.post("/api/ways", json={"ways": ways})
        assert answer.status_code == 422 and "in a row" in answer.json()["error"]
    assert page.get("/api/ways").json()["state"] == "none"


@pytest.mark.long
def test_figures_are_those_of_the_release(tmp_path):
    """Hidden cells, lost values and what is known, counted again from a release of the package."""
    own, page = opened(tmp_path)
    rounded = {"noise": {"method": "controlled", "base": 500}}
    wrong = {"noise": {"method": "controlled", "base": 1}}
    weak = {"rule": "minimum_frequency", "key": "n", "value": 2}
    asked = [{"method": "hypercube"}, {"method": "optimal"}, rounded, wrong, weak]
    page.post("/api/ways", json={"ways": asked})
    told = ended(page)
    assert [one["way"] for one in told["ways"]] == asked
    cube, best, moved, refused, _ = told["ways"]
    assert refused["state"] == "failed" and "base" in "".join(refused["messages"])
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".toml"] == [DRAFT]
    table = dk.tabulate(
        tmp_path / "firms.csv", by={"code": None, "size": None}, value="turnover", unit="firm_id"
    )
    rule = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
    unsafe = rule(table).unsafe
    for one, method in ((cube, "hypercube"), (best, "optimal")):
        result = dk.suppress(table, rule, method=method)
        intervals = dk.attack.intervals(result.published).to_pylist()
        values = {(r["code"], r["size"]): r["turnover"] for r in result.cells.to_pylist()}
        figures = one["figures"]
        assert figures["hidden"] == len(intervals) and figures["changed"] == 0
        whole = sum(values.values())
        hidden = sum(values[r["code"], r["size"]] for r in intervals)
        assert figures["lost"] == pytest.approx(hidden / whole)
        primary = {
            (r["code"], r["size"]) for r in result.cells.to_pylist() if r["status"] == "primary"
        }
        assert figures["unsafe"] == len(primary) == unsafe.sum()
        for percent, number in figures["near"].items():
            near = [
                r
                for r in intervals
                if (at := (r["code"], r["size"])) in primary
                and r["upper"] is not None
                and (r["upper"] - r["lower"]) / 2 * 100 <= int(percent) * values[at]
            ]
            assert number == len(near), percent
    assert best["figures"]["lost"] <= cube["figures"]["lost"]
    assert moved["figures"]["hidden"] == 0 < moved["figures"]["changed"]
    assert 0 < moved["figures"]["lost"] < best["figures"]["lost"]
    largest = max(values[at] for at in primary)
    assert moved["figures"]["near"]["50"] == sum(499 <= values[at] / 2 for at in primary)
    assert moved["figures"]["closest"] == pytest.approx(499 / largest)
    own.close()
    assert not (tmp_path / WAY).exists()


@pytest.mark.long
def test_what_is_published_is_known_exactly(tmp_path):
    """A cell that only a weaker rule lets out counts as told."""
    _, page = opened(tmp_path)
    strict = draft()
    strict["tables"][0]["rules"] = {"minimum_frequency": {"n": 5}}
    page.put("/api/draft", json={"draft": strict})
    weak = {"rule": "minimum_frequency", "key": "n", "value": 2}
    page.post("/api/ways", json={"ways": [{}, weak]})
    safe, open_ = (one["figures"] for one in ended(page)["ways"])
    assert safe["unsafe"] == open_["unsafe"] > 0
    assert safe["near"]["1"] == 0 < open_["near"]["1"]
    page.post("/api/ways/take", json={"way": weak})
    rules = page.get("/api/state").json()["draft"]["tables"][0]["rules"]
    assert rules == {"minimum_frequency": {"n": 2}}


@pytest.mark.long
def test_figures_of_records_are_those_of_the_released_file(tmp_path):
    records(tmp_path)
    page = client(Bench(tmp_path))
    job = {
        "records": {"path": "firms.csv"},
        "roles": {"keys": ["code", "size"]},
        "steps": [{"do": "local_suppression", "k": 3}],
        "release": {"folder": "out", "formats": ["csv"], "claims": {"k_anonymity": {"k": 3}}},
    }
    page.put("/api/draft", json={"draft": job})
    page.post("/api/ways", json={"ways": [{}, {"k": 9}]})
    told = ended(page)
    assert not (tmp_path / "out").exists()
    with (tmp_path / "firms.csv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    columns = pa.table({key: [row[key] for row in rows] for key in ("code", "size")})
    md = dk.Microdata(columns, keys=["code", "size"])
    for one, k in zip(told["ways"], (3, 9), strict=True):
        made = md.local_suppression(k=k)
        hidden = sum(made.frame.column(name).null_count for name in ("code", "size"))
        figures = one["figures"]
        assert (figures["hidden"], figures["cells"]) == (hidden, 400)
        assert figures["lost"] == pytest.approx(hidden / 800)
        assert figures["expected"] == pytest.approx(float(made.risk().risk.sum()))
    assert told["ways"][1]["figures"]["expected"] < told["ways"][0]["figures"]["expected"]
