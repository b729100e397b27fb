"""Forms at the workbench are what job files take, and what is warned of is said on the page."""

import numpy as np
import pytest
from benches import client, draft, opened
from test_runs import ended

from diskret.jobs.noise import METHODS, noise_parameters
from diskret.jobs.read import read_job
from diskret.rules import BY_NAME
from diskret.workbench.bench import Bench
from diskret.workbench.draft import draft_text
from diskret.workbench.forms import forms

#: A value for each kind of field, as somebody may type it.
TYPED = {"percent": 20, "number": 3.5, "whole": 3, "flag": True, "text": "a", "columns": ["code"]}
DRAWN_BY_HAND = {"apriori", "varying", "missing_safe"}

OF_COUNTS = {("minimum_frequency", "level"), ("marginal_value", "strict")}


def typed(one):
    if one["kind"] == "choice":
        return one["words"][0]
    value = TYPED[one["kind"]]
    if one.get("high") is not None:
        value = min(value, one["high"] / 2)
    return (
        value
        if one["kind"] == "flag" or isinstance(value, str | list)
        else max(value, one.get("low") or 0)
    )


def read(tmp_path, job):
    path = tmp_path / "job.toml"
    path.write_text(draft_text(job), encoding="utf-8")
    return read_job(path)


def test_every_rule_has_a_form():
    assert {*forms()["rules"], *DRAWN_BY_HAND} == {*BY_NAME}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*forms()["rules"]])
def test_what_a_form_of_a_rule_gives_is_a_job(tmp_path, name):
    opened(tmp_path)
    takes = forms()["rules"][name]["takes"]
    for one in takes:
        given = {other["key"]: typed(other) for other in takes if other["required"]}
        given[one["key"]] = typed(one)
        if (name, one["key"]) in OF_COUNTS:
            continue
        if name == "pq":
            given["q"] = 90
        more = {"request": "size"} if name == "request" else {}
        rule = read(tmp_path, draft(rules={name: given}, **more)).tables[0].rule
        if one["kind"] != "columns":
            assert getattr(rule, one["key"]) == given[one["key"]], one


@pytest.mark.parametrize(
    ("method", "value"),
    [
        (method, value)
        for method in METHODS
        for value in (None, "turnover")
        if (method, value) != ("invariant", "turnover")  # of counts only
    ],
)
def test_what_a_form_of_noise_names_is_what_a_job_takes(tmp_path, method, value):
    opened(tmp_path)
    kind = "sums" if value else "counts"
    takes = {one["key"]: one for one in forms()["noise"][kind][method]}
    assert [*takes] == [*noise_parameters(method, bool(value))]
    noise = {"method": method}
    if method == "cell_key":
        noise |= {"key_of": "firm_id", "max_noise": 5, "variance": 3}
        noise |= {"magnitude": {}} if value else {}
    if method == "invariant":
        noise |= {"key_of": "firm_id", "largest": 20}
    alone = {"table", "layout", "reuse", "record_key", "key_modulus", "key_digits", "key_of"}
    for key, one in takes.items():
        if key in alone or one["kind"] == "any":
            continue
        section, _, inner = key.rpartition(".")
        own = {**noise, section: {inner: typed(one)}} if section else {**noise, key: typed(one)}
        if own.get("weighted_count"):
            own.pop("magnitude", None)
        if own.get("weighted_count") and value is None:
            continue
        job = draft(noise=own)
        job["tables"][0]["rules"] = {"minimum_frequency": {"n": 3}}
        if value is None:
            del job["tables"][0]["value"]
        assert read(tmp_path, job).tables[0].noise is not None


def test_warnings_are_said_as_the_command_prints_them(tmp_path):
    _, page = opened(tmp_path, language="de")
    rules = {"dominance": {"n": 1, "k": 75}}
    for _ in range(2):  # a second time, too
        (said,) = page.post("/api/rules", json={"table": 0, "rules": rules}).json()["warnings"]
        assert said.startswith("Warnung: die (1,k)-Dominanzregel")
    rules["dominance"]["quiet"] = True
    assert page.post("/api/rules", json={"table": 0, "rules": rules}).json()["warnings"] == []


@pytest.mark.long
def test_changed_values_are_shown_and_every_public_file_is_handed_out(tmp_path):
    own, page = opened(tmp_path)
    job = draft(noise={"method": "controlled", "base": 500})
    page.put("/api/draft", json={"draft": job})
    page.post("/api/protect")
    told = ended(page)
    assert told["state"] == "done", told
    table = page.get("/api/table").json()
    values = np.array(table["value"])
    assert (values % 500 == 0).all() and table["protected"]
    cells = [page.get(f"/api/cell?at={at}").json() for at in range(values.size)]
    assert [one["published"] for one in cells] == values.tolist()
    assert table["changed"] == sum(one["published"] != one["value"] for one in cells) > 0
    public = tmp_path / "out" / "public"
    for name in told["files"]["public"]:
        assert page.get(f"/api/public/{name}").content == (public / name).read_bytes()
    for name in ("turnover.cells.csv", "..%2Finternal%2Fturnover.cells.csv", "nothing.csv"):
        assert page.get(f"/api/public/{name}").status_code in (404, 422)
    own.close()


def test_before_a_run_there_is_nothing_to_hand_out(tmp_path):
    page = client(Bench(tmp_path))
    assert page.get("/api/public/turnover.csv").status_code == 422
